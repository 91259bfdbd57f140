/* The calls of tessera.h on models in every state that a model can be in: each is done, or refused with a sentence;
 * never a crash. The header is read: a function that takes a model and has no row is a failure. */
/* ctest: fast */
#include "tessera.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char network[] = "{ \"format\": \"graph/1\", \"name\": \"tiny\", \"opset\": { \"\": 17 },\n"
                              "  \"inputs\": [ { \"name\": \"x\", \"dtype\": \"f32\", \"shape\": [\"n\", 3] } ],\n"
                              "  \"outputs\": [ { \"name\": \"y\", \"dtype\": \"f32\", \"shape\": [\"n\", 3] } ],\n"
                              "  \"nodes\": [ { \"op\": \"Exp\", \"in\": [\"x\"], \"out\": [\"h\"] },\n"
                              "    { \"op\": \"Neg\", \"in\": [\"h\"], \"out\": [\"y\"] } ] }\n";
static scratch place;
static char source[160], saved[160];
static const ts_options interp = {.target = "interp"};

enum { OPENED, FAILED, BOUND, TWICE, TAKEN, N_STATE };
static const char *const states[] = {"opened", "bind failed", "bound", "bound twice", "taken"};

static bool bind_to(ts_model *m, const char *dim, ts_error *e)
{
    return ts_model_bind(m, 1, &dim, NULL, e);
}

static ts_model *bring_to(int state, const char *what, const char *dim)
{
    ts_error e = {0};
    ts_model *m = ts_model_open(what, &e);
    bool ok = CHECK(m);
    if (ok && state != OPENED)
        ok = state == FAILED ? !bind_to(m, "nowhere=1", &(ts_error){0}) : bind_to(m, dim, &e);
    if (ok && state == TWICE)
        ok = bind_to(m, dim, &e);
    if (ok && state == TAKEN)
        ts_bound_free(ts_model_take(m)), ok = !ts_model_take(m);
    if (!CHECK(ok))
        printf("%s: %s\n", states[state], e.text);
    return m;
}

/* ---- calls: whether they did what they are for ---- */
static bool given(char *text)
{
    ts_free(text);
    return text != NULL;
}
static bool bind_again(ts_model *m, ts_error *e)
{
    return ts_model_bind(m, 0, NULL, (const ts_array[]){{.dtype = TS_F32, .rank = 2, .dim = {2, 3}}}, e);
}
static bool bind_values(ts_model *m, ts_error *e)
{
    return ts_model_bind_values(m, &(ts_binding){.n_dim = 1, .dim = (const char *const[]){"nowhere=2"}}, e);
}
static bool reveal(ts_model *m, ts_error *e)
{
    return ts_model_reveal(m, "*", e) >= 0;
}
static bool cut(ts_model *m, ts_error *e)
{
    return ts_model_cut(m, 0, NULL, 0, NULL, e);
}
static bool cut_nothing(ts_model *m, ts_error *e)
{
    return ts_model_cut(m, 1, NULL, 1, (const char *const[]){NULL}, e);
}
static bool steps(ts_model *m, ts_error *e)
{
    return given(ts_model_steps(m, e));
}
static bool json(ts_model *m, ts_error *e)
{
    return given(ts_model_json(m, e));
}
static bool extend(ts_model *m, ts_error *e)
{
    return ts_model_extend(m, "{ \"nothing\": 1 }", e);
}
static bool extend_nothing(ts_model *m, ts_error *e)
{
    return ts_model_extend(m, NULL, e);
}
static bool put(ts_model *m, ts_error *e)
{
    return ts_model_put(m, "w", &(ts_array){.dtype = TS_F32, .data = &(float){1}}, e);
}
static bool mixed(ts_model *m, ts_error *e)
{
    return ts_model_mixed(m, TS_F16, e);
}
static bool mixed_nothing(ts_model *m, ts_error *e)
{
    return ts_model_mixed(m, TS_N_DTYPE, e);
}
static bool hash(ts_model *m, ts_error *e)
{
    char hex[65];
    return ts_model_hash(m, hex, e);
}
static bool hash_nothing(ts_model *m, ts_error *e)
{
    return ts_model_hash(m, NULL, e);
}
static bool save(ts_model *m, ts_error *e)
{
    return ts_model_save(m, "json", saved, e);
}
static bool save_nothing(ts_model *m, ts_error *e)
{
    return ts_model_save(m, "soup", saved, e);
}
static bool plan(ts_model *m, ts_error *e)
{
    ts_plan *p = ts_plan_make(m, &interp, e);
    return ts_plan_free(p), p != NULL;
}
static bool plan_varying(ts_model *m, ts_error *e)
{
    ts_plan *p = ts_plan_make_varying(m, 1, (const char *const[]){"nowhere=1..9"}, &interp, e);
    return ts_plan_free(p), p != NULL;
}
static bool runner(ts_model *m, ts_error *e)
{
    ts_runner *r = ts_runner_make(m, 0, NULL, &interp, e);
    return ts_runner_free(r), r != NULL;
}
static bool guess(ts_model *m, ts_error *e)
{
    return given(ts_schema_guess(m, &interp, e));
}

/* They have nowhere to say anything: what is asked for is there, or not. */
static bool graph(ts_model *m, ts_error *e)
{
    return (void)e, ts_model_graph(m) != NULL;
}
static bool tensor(ts_model *m, ts_error *e)
{
    CHECK(!ts_model_tensor(m, -1) && !ts_model_tensor(m, 1000));
    return (void)e, ts_model_tensor(m, 0) != NULL;
}
static bool take(ts_model *m, ts_error *e)
{
    ts_bound *b = ts_model_take(m);
    return (void)e, ts_bound_free(b), b != NULL;
}
static bool restore(ts_model *m, ts_error *e)
{
    ts_graph *g = ts_model_graph(m);
    ts_bound *b = ts_model_take(m);
    ts_model_restore(m, NULL), ts_model_restore(m, b);
    return (void)e, b && ts_model_graph(m) == g && ts_model_tensor(m, 0) && ts_model_outputs(m) > 0;
}
static bool ports(ts_model *m, ts_error *e)
{
    ts_port p;
    CHECK(!ts_model_input(m, -1, &p) && !ts_model_output(m, 1000, &p) && !ts_model_default(m, 0, &p));
    return (void)e,
           ts_model_inputs(m) > 0 && ts_model_outputs(m) > 0 && ts_model_input(m, 0, &p) && ts_model_output(m, 0, &p);
}
static bool notes(ts_model *m, ts_error *e)
{
    return (void)e, !*ts_model_notes(m) && !ts_model_waits(m) && ts_dim(m, "nowhere") == -1;
}
static bool building(ts_model *m, ts_error *e) /* calls of builders, of what no builder made */
{
    (void)e, ts_result(m, "y", NULL), ts_below(m, NULL, 1);
    return true;
}

static const struct call {
    const char *functions; /* that it calls, between blanks */
    bool (*go)(ts_model *m, ts_error *e);
    const char *file, *built_in; /* in each state: - refused, + done; without a sentence: . not there, = there */
} calls[] = {
    {" ts_model_bind ", bind_again, "+++++", "+++++"},
    {" ts_model_bind_values ", bind_values, "-----", "-----"},
    {" ts_model_reveal ", reveal, "--++-", "--++-"},
    {" ts_model_cut ", cut, "--++-", "--++-"},
    {" ts_model_cut ", cut_nothing, "-----", "-----"},
    {" ts_model_steps ", steps, "+++++", "-----"},
    {" ts_model_json ", json, "+++++", "+++++"},
    {" ts_model_extend ", extend, "-----", "-----"},
    {" ts_model_extend ", extend_nothing, "-----", "-----"},
    {" ts_model_put ", put, "+++++", "--++-"},
    {" ts_model_separate ", ts_model_separate, "+++++", "+++++"},
    {" ts_model_mixed ", mixed, "--++-", "--++-"},
    {" ts_model_mixed ", mixed_nothing, "-----", "-----"},
    {" ts_model_trained ", ts_model_trained, "+++++", "--++-"},
    {" ts_model_hash ", hash, "+++++", "+++++"},
    {" ts_model_hash ", hash_nothing, "-----", "-----"},
    {" ts_model_save ", save, "+++++", "--++-"},
    {" ts_model_save ", save_nothing, "-----", "-----"},
    {" ts_plan_make ", plan, "--++-", "--++-"},
    {" ts_plan_make_varying ", plan_varying, "-----", "-----"},
    {" ts_runner_make ", runner, "+++++", "+++++"},
    {" ts_schema_guess ", guess, "--++-", "--++-"},
    {" ts_model_graph ", graph, "..==.", "..==."},
    {" ts_model_tensor ", tensor, "..==.", "..==."},
    {" ts_model_take ", take, "..==.", "..==."},
    {" ts_model_restore ", restore, "..==.", "..==."},
    {" ts_model_inputs ts_model_input ts_model_outputs ts_model_output ts_model_default ", ports, "=====", "====="},
    {" ts_model_notes ts_model_waits ts_dim ", notes, "=====", "====="},
    {" ts_result ts_below ", building, "=====", "====="},
    {" ts_model_free ", NULL, NULL, NULL}, /* of each, below */
};

static void check_calls(const char *what, const char *dim, bool built_in)
{
    for (int state = 0; state < N_STATE; state++)
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
            const struct call *c = &calls[i];
            const char want = !c->go ? 0 : (built_in ? c->built_in : c->file)[state];
            ts_error e = {0};
            ts_model *m = bring_to(state, what, dim);
            const bool done = m && c->go && c->go(m, &e), says = e.code != TS_OK && *e.text;
            if (c->go && (!CHECK(done == (want == '+' || want == '=')) || !CHECK(says == (want == '-')) ||
                          !CHECK(e.code != TS_BUG)))
                printf("%s, %s,%s: \"%s\"\n", what, states[state], c->functions, e.text);
            ts_model_free(m);
        }
}

static bool known(const char *name)
{
    char word[130];
    bool is = false;
    snprintf(word, sizeof word, " %s ", name);
    for (size_t i = 0; i < sizeof calls / sizeof *calls && !is; i++)
        is = strstr(calls[i].functions, word) != NULL;
    return is;
}

/* Declarations begin with TS_API, and their first parameter is on the same line. */
static void look_through(FILE *header)
{
    char line[512], name[128];
    int n = 0;
    while (fgets(line, sizeof line, header)) {
        const char *open = strncmp(line, "TS_API ", 7) ? NULL : strchr(line, '('), *at = open;
        if (!open || (strncmp(open, "(ts_model *", 11) && strncmp(open, "(const ts_model *", 17)))
            continue;
        while (at[-1] != ' ' && at[-1] != '*')
            at--;
        snprintf(name, sizeof name, "%.*s", (int)(open - at), at);
        n++;
        if (!CHECK(known(name)))
            printf("%s has no row here\n", name);
    }
    CHECK(n > 25);
}

int main(void)
{
    ts_error e = {0};
    place = scratch_make();
    snprintf(source, sizeof source, "%s/graph.json", place.path), snprintf(saved, sizeof saved, "%s/saved", place.path);
    CHECK(ts_file_write(source, network, strlen(network), &e));
    check_calls(source, "n=2", false);
    check_calls("products", "layers=1", true);
    const char *root = getenv("SOURCE");
    char path[4096];
    snprintf(path, sizeof path, "%s/include/tessera.h", root ? root : ".");
    FILE *header = fopen(path, "r");
    if (CHECK(header))
        look_through(header), fclose(header);
    scratch_free(&place);
    return check_done();
}
