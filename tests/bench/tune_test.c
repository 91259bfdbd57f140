/* A search on a small model with times that are made up: what is tried is verified, logged and gone on from; what is
 * quicker becomes rules over ranges, which a plan follows. No clock decides anything here.
 * ctest: large */
#include "bench/tune/tune.h"
#include "graph/base/base.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char model[] = "{\"format\":\"graph/1\",\"name\":\"two\",\"opset\":{\"\":17},"
                            "\"inputs\":[{\"name\":\"x\",\"dtype\":\"f32\",\"shape\":[24,32]},{\"name\":\"w\","
                            "\"dtype\":\"f32\",\"shape\":[32,64]},"
                            "{\"name\":\"v\",\"dtype\":\"f32\",\"shape\":[64,96]}],\"outputs\":[{\"name\":\"y\"}],"
                            "\"nodes\":[{\"name\":\"p\",\"op\":\"MatMul\",\"in\":[\"x\",\"w\"],\"out\":[\"h\"]},"
                            "{\"name\":\"q\",\"op\":\"MatMul\",\"in\":[\"h\",\"v\"],\"out\":[\"y\"]}]}";

typedef struct clock_of { /* times that are made up: a product takes half of them with such loops, else twice */
    const char *quick;
    int asked;
    int disturbed; /* in this trial, from 1, the base takes ten times as long */
} clock_of;

static bool made_up(void *user, ts_plan *base, ts_plan *trial, const int n[2], double *seconds[2], ts_error *e)
{
    clock_of *c = user;
    char *s = ts_plan_json(trial, e);
    cJSON *plan = s ? js_parse(s, "the plan", e) : NULL;
    free(s);
    for (int k = 0; plan && k < n[0]; k++)
        seconds[0][k] = c->disturbed && c->asked == c->disturbed ? 1e-2 : 1e-3;
    for (int k = 0; plan && base != trial && k < n[1]; k++) {
        char *kernel = js_to_text(cJSON_GetArrayItem(js_get(plan, "kernels"), k), false);
        seconds[1][k] = c->quick && strstr(kernel, c->quick) ? 0.5e-3 : 2e-3;
        free(kernel);
    }
    c->asked++;
    cJSON_Delete(plan);
    return plan != NULL;
}

typedef struct searched {
    cJSON *report;
    char *found;
    ts_error e;
} searched;

/* In folder, whose log is kept from search to search */
static searched search_by(clock_of c, const scratch *folder, const char *schema, const char *base, int most,
                          int threads)
{
    searched r = {0};
    const char *path = scratch_in(folder, "two.json");
    const tune_options o = {.folder = folder->path,
                            .schema = schema,
                            .base = base,
                            .log = scratch_in(folder, "log"),
                            .budget = 600,
                            .most = most,
                            .time = made_up,
                            .user = &c};
    const ts_options plan = {.target = "interp",
                             .threads = threads,
                             .machine = "l3:1(32MB) l2:2(1MB) l1d:2(32KB) core:2 isa:avx2",
                             .isa = "avx2",
                             .cache_folder = "none"};
    ts_array value[3] = {{0}};
    ts_model *m = ts_file_write(path, model, strlen(model), &r.e) ? ts_model_open(path, &r.e) : NULL;
    bool ok = m && ts_model_bind(m, 0, NULL, NULL, &r.e);
    for (int i = 0; ok && i < 3; i++) {
        ts_port port;
        ok = ts_model_input(m, i, &port) && ts_array_make(&value[i], port.dtype, port.rank, port.dim, &r.e);
        for (int64_t k = 0; ok && k < ts_array_count(&value[i]); k++)
            ((float *)value[i].data)[k] = (float)(k % 7) - 3;
    }
    if (ok)
        r.report = tune_run(m, value, &plan, &o, &r.found, &r.e);
    for (int i = 0; i < 3; i++)
        ts_array_free(&value[i]);
    ts_model_free(m);
    return r;
}

static searched search(const scratch *folder, const char *quick, int most, int threads)
{
    return search_by((clock_of){.quick = quick}, folder, "guess", "guess", most, threads);
}

static void drop(searched *r)
{
    cJSON_Delete(r->report), free(r->found);
}

static char *log_text(const scratch *folder)
{
    text t = {0};
    CHECK(file_read(scratch_in(folder, "log"), 1 << 20, &t, NULL));
    return text_take(&t);
}

static void put_log(const scratch *folder, const char *s, size_t n)
{
    CHECK(ts_file_write(scratch_in(folder, "log"), s, n, NULL));
}

/* Nothing is quicker: nothing is found, and why is said. All of it is in the log, right, each once. */
static void nothing_quicker(const scratch *folder)
{
    searched r = search(folder, NULL, 6, 2);
    char *log = log_text(folder);
    if (!CHECK(r.report && !r.found))
        printf("  %s\n", r.e.text);
    CHECK_TEXT(js_get_text(r.report, "why"), "no rules were quicker than those that there are");
    CHECK(js_get_number(r.report, "trials", 0) >= 6 && check_count(log, "\"loops\"") == 2 * 6 &&
          check_count(log, "\"layout\"") >= 8);
    CHECK(!strstr(log, "wrong") && strstr(log, "\"kernel\":\"matmul f32 m=24 n=64 k=32\""));
    /* an order of what one product gives is that of what the other one takes: the same plan, tried once */
    CHECK(check_count(log, "{\"y\":\"n/8 m n\"}") + check_count(log, "{\"a\":\"k/8 m k\"}") == 3);
    free(log), drop(&r);
}

/* Killed within a line: that line alone is lost, and no other is tried again. */
static void goes_on(const scratch *folder)
{
    char *before = log_text(folder);
    const size_t n = strlen(before);
    put_log(folder, before, n - 9);
    searched r = search(folder, NULL, 6, 2);
    char *after = log_text(folder);
    CHECK(r.report && js_get_number(r.report, "trials", 0) == 1);
    CHECK(check_count(after, "\n") == check_count(before, "\n") && strncmp(before, after, n - 200) == 0);
    drop(&r), free(after);
    r = search(folder, NULL, 8, 2);
    after = log_text(folder);
    CHECK(js_get_number(r.report, "trials", 0) == 2 && check_count(after, "\n") == check_count(before, "\n") + 4);
    drop(&r), free(after), free(before);
}

/* Another search's times, and what is no log, are refused and stay as they are. */
static void refuses(const scratch *folder)
{
    char *before = log_text(folder);
    searched r = search(folder, NULL, 6, 1);
    CHECK(!r.report && r.e.code == TS_BAD_INPUT && strstr(r.e.text, "not the log of a search with this target"));
    drop(&r);
    char *same = log_text(folder);
    CHECK_TEXT(same, before);
    const size_t n = strcspn(before, "\n") + 1;
    text t = {0};
    text_bytes(&t, before, n), text_add(&t, "{\"loops\":1}\n");
    put_log(folder, text_str(&t), t.length);
    r = search(folder, NULL, 6, 2);
    CHECK(!r.report && r.e.code == TS_BAD_INPUT && strstr(r.e.text, "a line without kernel, change and status"));
    drop(&r), text_free(&t), free(same);
    put_log(folder, "notes",
            5); /* a file of one line without an end: somebody's, unless a log's first line begins so */
    r = search(folder, NULL, 6, 2);
    same = log_text(folder);
    CHECK(!r.report && r.e.code == TS_BAD_INPUT);
    CHECK_TEXT(same, "notes");
    drop(&r), free(same);
    put_log(folder, before, n - 9);
    r = search(folder, NULL, 6, 2);
    same = log_text(folder);
    CHECK(r.report && check_count(same, "\"loops\"") == 2 * 6 && strncmp(same, before, n) == 0);
    drop(&r), free(same), free(before);
}

/* A trial looks quick where something else took the processor from its base: it counts for nothing, whichever it is. */
static void disturbed(void)
{
    for (int at = 1; at < 24; at++) {
        scratch folder = scratch_make();
        searched r = search_by((clock_of){.disturbed = at}, &folder, "guess", "guess", 4, 2);
        const cJSON *kernel;
        CHECK(r.report && !r.found);
        cJSON_ArrayForEach(kernel, js_get(r.report, "kernels")) CHECK_TEXT(js_get_text(kernel, "best"), "");
        drop(&r), scratch_free(&folder);
    }
}

/* Loops that are quicker for both products are one rule over the extents of both, which plans follow. */
static void quicker(void)
{
    scratch folder = scratch_make();
    searched r = search(&folder, "m/4", 64, 2);
    if (CHECK(r.found != NULL)) {
        ts_error e = {0};
        cJSON *s = js_parse(r.found, "found", &e);
        const cJSON *rule = cJSON_GetArrayItem(js_get(s, "rules"), 0);
        CHECK_TEXT(js_get_text(s, "format"), "tiling/1");
        CHECK(cJSON_GetArraySize(js_get(s, "rules")) == 1);
        CHECK_TEXT(js_get_text(rule, "match/op"), "matmul");
        CHECK_TEXT(js_get_text(rule, "match/dims/k"), "32..64");
        CHECK_TEXT(js_get_text(rule, "match/dims/n"), "64..128"); /* 96, up to a power of two */
        CHECK(strstr(js_get_text(rule, "loops"), "m/4") != NULL);
        cJSON_Delete(s);
    } else
        printf("  %s%s\n", r.e.text, js_get_text(r.report, "why"));
    CHECK(js_get_number(r.report, "tuned_ns", 0) < js_get_number(r.report, "base_ns", 0));
    drop(&r);
    scratch_free(&folder);
}

/* From loops that a rule has no rule without loops is tried: the guess's would be found that way, by no search. */
static void own_way(void)
{
    static const char own[] =
        "{\"format\":\"tiling/1\",\"name\":\"own\",\"extends\":\"guess\",\"rules\":[{\"name\":\"own\","
        "\"match\":{\"op\":\"matmul\"},\"loops\":\"m n k\"}]}";
    scratch folder = scratch_make();
    const char *path = scratch_in(&folder, "own.json");
    CHECK(ts_file_write(path, own, strlen(own), NULL));
    searched r = search_by((clock_of){0}, &folder, path, "own.json", 4, 2);
    char *log = log_text(&folder);
    CHECK(r.report && check_count(log, "\"loops\"") >= 2 * 4 && !strstr(log, "layout") && !strstr(log, "alternative"));
    free(log), drop(&r);
    scratch_free(&folder);
}

/* A plan cites what its log has of each kernel; one for another machine does not. */
static void cites(const scratch *folder)
{
    ts_error e = {0};
    const char *log = scratch_in(folder, "log");
    ENDED_BY(js_free)
    cJSON *plan = js_parse("{\"target\":\"interp\",\"isa\":\"avx2\",\"threads\":3,\"kernels\":[{\"op\":\"matmul\","
                           "\"dtype\":\"f32\",\"dims\":{\"m\":24,\"n\":64,\"k\":32}},{\"op\":\"add\",\"dims\":{}}]}",
                           "plan", &e);
    CHECK(!tune_tried(log, plan, &e) && strstr(e.text, "not the log of a search with this target") &&
          strstr(e.text, "hint: give the --target, --isa") && !strstr(e.text, "delete"));
    ENDED_BY(heap_free) char *said = log_text(folder);
    said[strcspn(said, "\n")] = 0;
    ENDED_BY(js_free) cJSON *head = js_parse(said, "log", &e);
    e = (ts_error){0};
    cJSON_SetNumberValue(cJSON_GetObjectItem(plan, "threads"), 2),
        js_text(plan, "machine", js_get_text(head, "machine"));
    CHECK(tune_tried(log, plan, &e));
    const cJSON *kernel = js_get(plan, "kernels")->child;
    CHECK(js_get_number(kernel, "tried/n", 0) >= 6 && js_get_number(kernel, "tried/share", 0) == 2);
    CHECK_TEXT(js_get_text(kernel, "tried/schema"), "guess");
    CHECK(*js_get_text(kernel, "tried/best") && !js_get(kernel->next, "tried"));
    ENDED_BY(text_free) text bare = {0};
    text_add(&bare, "%s\n", said);
    for (int k = 3; k; k--) /* two sets of loops, the second quicker; the base's time is in no line */
        text_add(&bare,
                 "{\"kernel\":\"matmul f32 m=24 n=64 k=32\",\"change\":{\"loops\":\"m/%d n k\"},"
                 "\"status\":\"%s\",\"time_ns\":%d}\n",
                 k, k > 1 ? "correct" : "wrong", k);
    put_log(folder, text_str(&bare), bare.length);
    cJSON_DeleteItemFromObject(js_get(plan, "kernels")->child, "tried");
    CHECK(tune_tried(log, plan, &e) && js_get_number(kernel, "tried/n", 0) == 3);
    CHECK_TEXT(js_get_text(kernel, "tried/best"), "m/2 n k");
    CHECK(cJSON_IsNull(js_get(kernel, "tried/share")));
}

/* An order of the value between both products: timed by all kernels that it changes, and a rule of its own. */
static void quicker_order(void)
{
    scratch folder = scratch_make();
    searched r = search(&folder, "/8 m ", 4, 2);
    ts_error e = {0};
    cJSON *s = r.found ? js_parse(r.found, "found", &e) : NULL;
    const cJSON *rule = cJSON_GetArrayItem(js_get(s, "rules"), 0);
    if (!CHECK(rule != NULL))
        printf("  %s%s\n", r.e.text, js_get_text(r.report, "why"));
    CHECK_TEXT(js_get_text(rule, "layout/y"), "n/8 m n");
    CHECK_TEXT(js_get_text(rule, "match/dims/k"), "32");
    CHECK(!js_get(rule, "loops") &&
          js_get_number(r.report, "base_ns", 0) == 2 * js_get_number(r.report, "tuned_ns", 0));
    const cJSON *kernel; /* the time of one is its own, though what is saved is of all that change */
    cJSON_ArrayForEach(kernel, js_get(r.report, "kernels")) CHECK(js_get_number(kernel, "best_ns", 0) > 0);
    cJSON_Delete(s), drop(&r);
    scratch_free(&folder);
}

int main(void)
{
    scratch folder = scratch_make();
    nothing_quicker(&folder);
    goes_on(&folder);
    refuses(&folder);
    cites(&folder);
    scratch_free(&folder);
    disturbed();
    quicker();
    own_way();
    quicker_order();
    return check_done();
}
