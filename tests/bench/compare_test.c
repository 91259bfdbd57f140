/* Two result files: verdicts about what was measured after, refusals where the conditions differ,
 * invalid candidates. */
/* ctest: fast */
#include "bench/bench.h"
#include "graph/base/js.h"
#include "bench/stats.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Results of one candidate whose samples lie around `ns`. */
static char *results_of(const char *name, double ns, const char *cpu, const char *status, uint64_t seed)
{
    cJSON *v = cJSON_CreateObject();
    js_text(v, "format", "results/1");
    js_text(js_object(v, "environment"), "cpu", cpu);
    cJSON *c = js_object(js_array(v, "candidates"), NULL);
    js_text(c, "name", name);
    js_text(c, "status", status);
    cJSON *launches = js_array(c, "samples");
    for (int l = 0; l < 5; l++) {
        cJSON *list = js_array(launches, NULL);
        for (int i = 0; i < 10; i++)
            js_number(js_object(list, NULL), "ns", ns * (1 + 0.001 * stats_below(seed, (uint64_t)(l * 10 + i), 5)));
    }
    char *text = js_to_text(v, false);
    cJSON_Delete(v);
    return text;
}

static cJSON *compared(compare_options *o, ts_error *e)
{
    char *text = NULL;
    bool ok = bench_compare(o, &text, e);
    CHECK(ok == (text != NULL) && ok == (e->code == TS_OK));
    cJSON *v = text != NULL ? cJSON_Parse(text) : NULL;
    free(text);
    return v;
}

static void test_verdicts(void)
{
    char *before = results_of("s", 1e7, "cpu", "VALID", 1), *same = results_of("s", 1e7, "cpu", "VALID", 2);
    char *slower = results_of("s", 1.03e7, "cpu", "VALID", 3);
    compare_options o = {.before = before, .after = slower, .before_name = "base.json", .after_name = "new.json"};
    ts_error e = {0};
    char *text = NULL;
    CHECK(bench_compare(&o, &text, &e));
    CHECK(bench_has_verdict(text, "slower") && !bench_has_verdict(text, "faster"));
    CHECK(strstr(text, "s (new.json)") && strstr(text, "s (base.json)"));
    free(text);
    o.after = same;
    cJSON *v = compared(&o, &e);
    const cJSON *c = cJSON_GetArrayItem(js_get(v, "comparisons"), 0);
    CHECK_TEXT(js_get_text(c, "verdict"), "SAME");
    CHECK(fabs(js_get_number(c, "ratio", 0) - 1) < 0.003 && js_get_number(c, "launches", 0) == 5);
    cJSON_Delete(v), free(before), free(same), free(slower);
}

/* Flags the samples at `from` and after of every launch, and makes them twice as long. */
static char *flagged(const char *results, const char *flag, int from)
{
    cJSON *v = cJSON_Parse(results), *launch;
    cJSON_ArrayForEach(launch, js_get(cJSON_GetArrayItem(js_get(v, "candidates"), 0), "samples"))
    {
        for (int i = from; i < cJSON_GetArraySize(launch); i++) {
            cJSON *s = cJSON_GetArrayItem(launch, i);
            double ns = js_get_number(s, "ns", 0);
            cJSON_DeleteItemFromObjectCaseSensitive(s, "ns");
            js_number(s, "ns", 2 * ns);
            js_item(js_array(s, "flags"), flag);
        }
    }
    char *text = js_to_text(v, false);
    cJSON_Delete(v);
    return text;
}

/* States what the machine was like, with a canary of so many ns. */
static char *stated(char *results, const char *state, double lost, double canary)
{
    cJSON *v = cJSON_Parse(results), *m = js_object(v, "machine_state");
    js_text(m, "state", state);
    js_number(m, "lost_share", lost);
    js_number(m, "canary_ns", canary);
    js_number(m, "load_before", strcmp(state, "quiet") == 0 ? 0.1 : 9);
    free(results);
    char *text = js_to_text(v, false);
    cJSON_Delete(v);
    return text;
}

/* What the race did not count does not count here. */
static void test_aside(void)
{
    char *before = stated(results_of("s", 1e7, "cpu", "VALID", 1), "busy", 0, 100);
    char *plain = results_of("s", 1e7, "cpu", "VALID", 2),
         *after = stated(flagged(plain, "set_aside", 4), "busy", 0, 100);
    char *kept = stated(flagged(plain, "disturbed", 4), "busy", 0, 100);
    compare_options o = {.before = before, .after = after};
    ts_error e = {0};
    cJSON *v = compared(&o, &e);
    const cJSON *c = cJSON_GetArrayItem(js_get(v, "comparisons"), 0);
    CHECK_TEXT(js_get_text(c, "verdict"), "SAME");
    CHECK(fabs(js_get_number(c, "ratio", 0) - 1) < 0.003 && js_get_number(c, "pairs", 0) == 20);
    cJSON_Delete(v);
    o.after = kept; /* in a round that counts: of a peer that disturbs itself */
    v = compared(&o, &e);
    c = cJSON_GetArrayItem(js_get(v, "comparisons"), 0);
    CHECK(js_get_number(c, "ratio", 1) < 0.6 && js_get_number(c, "pairs", 0) == 50);
    cJSON_Delete(v), free(before), free(plain), free(after), free(kept);
}

/* Two states are not compared; of two busy ones nothing that their neighbours may have done; nor what the clock did. */
static void test_states(void)
{
    char *quiet = stated(results_of("s", 1e7, "cpu", "VALID", 1), "quiet", 0, 100);
    char *slow = stated(results_of("s", 1.5e7, "cpu", "VALID", 2), "quiet", 0, 160);
    char *busy = stated(results_of("s", 1e7, "cpu", "VALID", 3), "busy", 0.6, 100);
    char *slower = stated(results_of("s", 1.5e7, "cpu", "VALID", 4), "busy", 0.1, 100);
    char *slowest = stated(results_of("s", 3e7, "cpu", "VALID", 5), "busy", 0.1, 100);
    char *lost = stated(results_of("s", 3e7, "cpu", "VALID", 5), "overloaded", 2, 100);
    char *unstated = results_of("s", 3e7, "cpu", "VALID", 5);
    const struct {
        const char *before, *after, *verdict, *reason;
    } row[] = {
        {quiet, slower, "UNDECIDED",
         "the machine was quiet for a.json and busy for b.json: measure both in the same state"},
        {quiet, unstated, "UNDECIDED",
         "the machine was quiet for a.json and in a state that is not stated for b.json: measure both in the same "
         "state"},
        {quiet, lost, "UNDECIDED", "the machine was too busy for b.json: measure again when less runs on it"},
        {quiet, slow, "UNDECIDED", ""}, /* the canary took 1.6 times as long */
        {busy, slower, "UNDECIDED", ""},
        {busy, slowest, "SLOWER", ""}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        compare_options o = {
            .before = row[i].before, .after = row[i].after, .before_name = "a.json", .after_name = "b.json"};
        ts_error e = {0};
        cJSON *v = compared(&o, &e);
        const cJSON *c = cJSON_GetArrayItem(js_get(v, "comparisons"), 0), *d;
        int load = 0;
        CHECK_TEXT(js_get_text(c, "verdict"), row[i].verdict);
        CHECK_TEXT(js_get_text(c, "reason"), row[i].reason);
        cJSON_ArrayForEach(d, js_get(v, "differences"))
            load += strcmp(js_get_text(d, "key"), "machine_state/load_before") == 0;
        CHECK(load == (i == 0 || i == 2)); /* 0.1 and 9 */
        cJSON_Delete(v);
    }
    char *const all[] = {quiet, slow, busy, slower, slowest, lost, unstated};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void test_conditions(void)
{
    char *here = results_of("s", 1e7, "this cpu", "VALID", 1), *there = results_of("s", 1e7, "that cpu", "VALID", 2);
    compare_options o = {.before = here, .after = there};
    ts_error e = {0}, f = {0};
    CHECK(compared(&o, &e) == NULL && e.code == TS_USAGE);
    CHECK_TEXT(e.text, "the results cannot be compared: environment/cpu is this cpu before and that cpu after\n"
                       "  hint: --allow-env-diff compares them nevertheless");
    o.allow_env_diff = true;
    cJSON *v = compared(&o, &f);
    CHECK(cJSON_GetArraySize(js_get(v, "comparisons")) == 1 && cJSON_GetArraySize(js_get(v, "differences")) == 1);
    cJSON_Delete(v), free(here), free(there);
}

/* Results from a machine with so many bytes free, by a tool of that revision. */
static char *results_from(const char *machine, double free_bytes, const char *revision)
{
    char *text = results_of("s", 1e7, "cpu", "VALID", 1);
    cJSON *v = cJSON_Parse(text), *environment = cJSON_GetObjectItemCaseSensitive(v, "environment");
    cJSON *m = js_object(environment, "machine"), *tool = js_object(environment, "tool");
    js_number(m, "free_memory_bytes", free_bytes);
    js_text(m, "text", machine);
    js_text(tool, "version", "1");
    js_text(tool, "revision", revision);
    free(text);
    text = js_to_text(v, false);
    cJSON_Delete(v);
    return text;
}

/* What is free at the time is no difference; what differs is named by itself. */
static void test_machines(void)
{
    char *idle = results_from("core:2", 1e9, "a"), *full = results_from("core:2", 1e6, "a");
    char *other = results_from("core:4", 1e9, "b");
    compare_options o = {.before = idle, .after = full};
    ts_error e = {0};
    cJSON *v = compared(&o, &e);
    CHECK(cJSON_GetArraySize(js_get(v, "differences")) == 0);
    cJSON_Delete(v);
    o.after = other;
    v = compared(&o, &e);
    char *list = js_to_text(js_get(v, "differences"), false);
    CHECK_TEXT(list, "[{\"key\":\"environment/tool/revision\",\"before\":\"a\",\"after\":\"b\"},"
                     "{\"key\":\"environment/machine/text\",\"before\":\"core:2\",\"after\":\"core:4\"}]");
    free(list), cJSON_Delete(v), free(idle), free(full), free(other);
}

static void test_candidates(void)
{
    char *a = results_of("one", 1e7, "cpu", "VALID", 1), *b = results_of("two", 1e7, "cpu", "VALID", 2);
    char *bad = results_of("one", 1e7, "cpu", "INVALID", 2);
    compare_options o = {.before = a, .after = b};
    ts_error e = {0}, f = {0}, g = {0};
    cJSON *v = compared(&o, &e); /* one in each: those are meant */
    CHECK(cJSON_GetArraySize(js_get(v, "comparisons")) == 1);
    cJSON_Delete(v);
    o.after = bad;
    v = compared(&o, &f);
    CHECK(cJSON_GetArraySize(js_get(v, "comparisons")) == 0 && cJSON_GetArraySize(js_get(v, "notes")) == 1);
    cJSON_Delete(v);
    o.after = "{\"format\":\"plan/1\"}";
    CHECK(compared(&o, &g) == NULL && g.code == TS_BAD_INPUT);
    free(a), free(b), free(bad);
}

/* What --fail-on names: a verdict, or the status of a candidate, of a peer. */
static void test_named(void)
{
    static const char *const list[] = {"{\"status\":\"VALID\",\"candidates\":[{\"status\":\"INVALID\"}]}",
                                       "{\"status\":\"VALID\",\"peers\":[{\"status\":\"INVALID\"}]}"};
    for (int i = 0; i < 2; i++)
        CHECK(bench_has_verdict(list[i], "invalid") && !bench_has_verdict(list[i], "slower"));
    CHECK(!bench_has_verdict("{\"status\":\"VALID\",\"peers\":[{\"status\":\"ABSENT\"}]}", "invalid"));
    CHECK(bench_has_verdict("{\"comparisons\":[{\"verdict\":\"SLOWER\"}]}", "slower"));
}

int main(void)
{
    test_named();
    test_verdicts();
    test_aside();
    test_states();
    test_conditions();
    test_machines();
    test_candidates();
    return check_done();
}
