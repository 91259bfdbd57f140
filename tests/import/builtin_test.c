/* Built-in models through the public header: ports with their dimensions before anything is bound, shapes that bind,
 * refusals, and the description as JSON; and a recipe of the test's own, in the place of a line's. */
/* ctest: fast */
#include "import/model.h"
#include "tests/check.h"

#include <cJSON.h>
#include <stdio.h>
#include <string.h>

static void said(const ts_error *e, ts_code code, const char *part)
{
    CHECK(e->code == code);
    if (!CHECK(strstr(e->text, part)))
        fprintf(stderr, "  said: %s\n  want: %s\n", e->text, part);
}

static void test_table(void)
{
    int n = 0;
    for (const ts_builder *b; (b = ts_builder_at(n)); n++) {
        ts_error e = {0};
        ts_model *m = ts_model_open(b->name, &e);
        CHECK(m && b->doc && *b->doc);
        if (!CHECK(ts_model_bind(m, 0, NULL, NULL, &e)))
            fprintf(stderr, "  %s: %s\n", b->name, e.text);
        CHECK(ts_model_inputs(m) > 0 && ts_model_outputs(m) > 0 && ts_model_tensor(m, 0));
        CHECK(!ts_model_tensor(m, ts_model_outputs(m)) && !ts_model_tensor(m, -1));
        ts_model_free(m);
    }
    CHECK(n > 0);
}

static void test_ports(void)
{
    ts_error e = {0};
    ts_model *m = ts_model_open("bert-tiny", &e);
    ts_port p;
    CHECK(m && ts_model_inputs(m) == 3 && !ts_model_graph(m));
    CHECK(ts_model_input(m, 0, &p) && p.rank == 2 && p.dim[0] == -1 && p.dim[1] == -1 && p.below > 2);
    CHECK_TEXT(p.symbol[0], "batch");
    CHECK_TEXT(p.symbol[1], "seq");
    CHECK(!ts_model_input(m, 3, &p) && !ts_model_input(m, -1, &p) && !ts_model_output(m, 99, &p));
    CHECK(ts_model_output(m, 0, &p) && p.dim[0] == -1 && p.dim[1] == -1 && p.dim[2] > 0);
    ts_array shapes[] = {{.dtype = TS_N_DTYPE}, {.dtype = TS_I64, .rank = 2, .dim = {3, 7}}, {.dtype = TS_N_DTYPE}};
    CHECK(ts_model_bind(m, 0, NULL, shapes, &e));
    CHECK(ts_model_input(m, 0, &p) && p.dim[0] == 3 && p.dim[1] == 7 && !strcmp(p.symbol[1], "seq"));
    CHECK(ts_model_output(m, 0, &p) && p.dim[0] == 3 && p.dim[1] == 7);
    CHECK(!ts_model_bind(m, 1, (const char *const[]){"batch=2"}, shapes, &e));
    said(&e, TS_BAD_INPUT, "dimension \"batch\" is 2 by --dim batch=2 and 3 by the value of input");
    e = (ts_error){0};
    CHECK(!ts_model_bind(m, 1, (const char *const[]){"sequence=2"}, NULL, &e));
    said(&e, TS_USAGE, "the model has no dimension \"sequence\"\n  hint: its dimensions are batch, seq");
    e = (ts_error){0};
    CHECK(!ts_model_bind(m, 1, (const char *const[]){"seq=1000000"}, NULL, &e)); /* more than it has positions */
    CHECK(e.code == TS_BAD_INPUT);
    ts_model_free(m);
}

/* An extent that is a sum of dimensions belongs to neither, and is checked against what the recipe makes of them. */
static void test_sums(void)
{
    ts_error e = {0};
    ts_model *m = ts_model_open("gpt2-tiny", &e);
    ts_port p;
    int mask = 0;
    for (; CHECK(m && ts_model_input(m, mask, &p)); mask++)
        if (!strcmp(p.name, "attention_mask"))
            break;
    CHECK(p.dim[1] == -1 && !p.symbol[1]);
    ts_array shapes[64];
    for (int i = 0; i < 64; i++)
        shapes[i] = (ts_array){.dtype = TS_N_DTYPE};
    shapes[mask] = (ts_array){.dtype = TS_I64, .rank = 2, .dim = {1, 9}};
    CHECK(ts_model_bind(m, 2, (const char *const[]){"seq=9", "past=0"}, shapes, &e));
    CHECK(!ts_model_bind(m, 2, (const char *const[]){"seq=4", "past=0"}, shapes, &e));
    said(&e, TS_BAD_INPUT, "input \"attention_mask\": dimension 1 is 9 in the value given, 4 in the model");
    ts_model_free(m);
}

/* y = the sum of x's rows, by a scan */
static bool sum_rows(ts_model *m, ts_graph *g, ts_error *e)
{
    ts_tensor y;
    ts_scan *s = ts_scan_begin(g, 3);
    ts_tensor state = ts_scan_state(s, ts_scalar(g, TS_F32, 0));
    ts_tensor row = ts_scan_slice(s, ts_input(g, "x", TS_F32, 1, (const int64_t[]){3}), false);
    ts_scan_step(s, state, ts_call2(g, "add", state, row));
    ts_scan_end(s, &y);
    ts_result(m, "y", y);
    return ts_graph_ok(g, e);
}

/* What stands for something in a trip is no input of the model. */
static void test_scan(void)
{
    const ts_builder own = {"relu f32[3]", NULL, NULL, sum_rows};
    ts_error e = {0};
    ts_model *m = ts_model_open(own.name, &e);
    CHECK(m);
    m->builder = &own;
    ts_port p;
    CHECK(ts_model_bind(m, 0, NULL, NULL, &e) && ts_model_inputs(m) == 1 && ts_model_input(m, 0, &p));
    CHECK_TEXT(p.name, "x");
    ts_model_free(m);
}

static double number(const cJSON *o, const char *key)
{
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(o, key);
    return cJSON_IsNumber(x) ? x->valuedouble : -1;
}

static void test_json(void)
{
    ts_error e = {0};
    ts_model *m = ts_model_open("bert-tiny", &e);
    char *s = ts_model_json(m, &e);
    cJSON *o = cJSON_Parse(s);
    CHECK(o && cJSON_IsFalse(cJSON_GetObjectItem(o, "bound")) &&
          cJSON_GetArraySize(cJSON_GetObjectItem(o, "inputs")) == 3);
    cJSON_Delete(o);
    ts_free(s);
    CHECK(ts_model_bind(m, 2, (const char *const[]){"batch=2", "seq=5"}, NULL, &e));
    s = ts_model_json(m, &e);
    o = cJSON_Parse(s);
    const cJSON *nodes = cJSON_GetObjectItem(o, "nodes"), *n;
    ts_tensor y[] = {ts_model_tensor(m, 0), ts_model_tensor(m, 1)};
    CHECK(cJSON_GetArraySize(nodes) == ts_nodes(ts_model_outputs(m) < 2 ? 1 : 2, y, NULL));
    double flops = 0, parameters = 0;
    int id = 0;
    cJSON_ArrayForEach(n, nodes)
    {
        double count = 1;
        const cJSON *d;
        CHECK(number(n, "id") == id++);
        cJSON_ArrayForEach(d, cJSON_GetObjectItem(n, "shape")) count *= d->valuedouble;
        cJSON_ArrayForEach(d, cJSON_GetObjectItem(n, "in")) CHECK(d->valueint < id - 1);
        flops += number(n, "flops");
        if (!strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(n, "op")), "weight"))
            parameters += count;
    }
    CHECK(number(o, "flops") == flops && flops > 1000);
    CHECK(number(o, "parameters") == parameters && number(o, "weight_bytes") == 4 * parameters);
    const cJSON *out = cJSON_GetArrayItem(cJSON_GetObjectItem(o, "outputs"), 0);
    CHECK(number(out, "node") > 0 && number(out, "node") < id);
    CHECK(number(cJSON_GetObjectItem(o, "dims"), "seq") == 5);
    cJSON_Delete(o);
    ts_free(s);
    ts_model_free(m);
}

int main(void)
{
    test_table();
    test_ports();
    test_sums();
    test_scan();
    test_json();
    return check_done();
}
