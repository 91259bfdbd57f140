/* injected_test.c - races of real programs, one of which does 3 in 100 more work than the other: passes of one product,
 * and for one contestant a chain of multiplications behind each. On the machine as it is, and beside programs that
 * burn its processors. Where a race was quiet and could have told 3 %, it is found in 19 of 20; nowhere are the two
 * called equal. Where no race was, the test says so and counts as skipped. And the same without the work: at most one
 * race in all calls them different.
 *
 * The program races itself: started as "bench-worker" it is a contestant. TRIALS: races of a kind (20).
 *
 * ctest: long serial timeout=3000 wrap=ts_plan_make,ts_plan_run */
#include "bench/bench.h"
#include "backends/probe/clock.h"
#include "graph/base/js.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHARE 0.03 /* of a pass */
enum { BURNERS = 3, CALIBRATIONS = 200, CHAIN = 20000, LAUNCHES = 5 };

/* ---- as a contestant ---- */
ts_plan *__real_ts_plan_make(ts_model *m, const ts_options *o, ts_error *e);
ts_plan *__wrap_ts_plan_make(ts_model *m, const ts_options *o, ts_error *e);
bool __real_ts_plan_run(ts_plan *p, ts_error *e);
bool __wrap_ts_plan_run(ts_plan *p, ts_error *e);

static bool slowed;           /* this contestant is the one */
static int passes, more = -1; /* passes so far; multiplications behind each, -1: not calibrated */
static volatile double sink;  /* keeps the chain */

static void work(int n)
{
    double x = 1.0000001;
    for (int i = 0; i < n; i++)
        x = x * 0.9999999 + 1e-7; /* each waits for the one before: cycles, whatever the caches hold */
    sink = x;
}

ts_plan *__wrap_ts_plan_make(ts_model *m, const ts_options *o, ts_error *e)
{
    slowed = o->schema != NULL && strstr(o->schema, "slowed") != NULL;
    return __real_ts_plan_make(m, o, e);
}

/* The least of many times is what a pass, and a chain, take undisturbed: ns. */
static bool calibrate(ts_plan *p, ts_error *e)
{
    int64_t pass = INT64_MAX, chain = INT64_MAX;
    for (int i = 0; i < CALIBRATIONS; i++) {
        const int64_t start = clock_ns();
        if (!__real_ts_plan_run(p, e))
            return false;
        const int64_t middle = clock_ns();
        work(CHAIN);
        const int64_t end = clock_ns();
        pass = middle - start < pass ? middle - start : pass;
        chain = end - middle < chain ? end - middle : chain;
    }
    more = (int)(SHARE * CHAIN * (double)pass / (double)chain);
    return true;
}

bool __wrap_ts_plan_run(ts_plan *p, ts_error *e)
{
    if (slowed && more < 0 && passes++ > 0 && !calibrate(p, e)) /* the first pass is compared, not timed */
        return false;
    if (!__real_ts_plan_run(p, e))
        return false;
    if (more > 0)
        work(more);
    return true;
}

/* ---- as the one that asks for races ---- */
typedef struct tally {
    int races, quiet, able; /* able: quiet, and 3 % could have been told */
    int found, found_able;  /* the verdict says that the first is faster */
    int equal, wrong;       /* SAME; the verdict says that the first is slower */
} tally;

static void count(tally *t, const cJSON *results)
{
    const cJSON *c = cJSON_GetArrayItem(js_get(results, "comparisons"), 0);
    const char *verdict = js_get_text(c, "verdict");
    const bool quiet = strcmp(js_get_text(results, "machine_state/state"), "quiet") == 0;
    const bool able = quiet && js_get_number(c, "detectable", 1) <= SHARE, found = strcmp(verdict, "FASTER") == 0;
    t->races++;
    t->quiet += quiet;
    t->able += able;
    t->found += found;
    t->found_able += able && found;
    t->equal += strcmp(verdict, "SAME") == 0;
    t->wrong += strcmp(verdict, "SLOWER") == 0;
}

static tally races(const char *what, const char *const schemas[2], int trials)
{
    char self[4096];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    tally t = {0};
    for (int k = 0; k < trials; k++) {
        const char *const dims[] = {"m=64", "k=64", "n=64", "layers=4"};
        const bench_options o = {.model = "products",
                                 .n_dims = 4,
                                 .dims = dims,
                                 .n_schemas = 2,
                                 .schemas = schemas,
                                 .threads = 1,
                                 .launches = LAUNCHES,
                                 .min_time = 0.5,
                                 .seed = (uint64_t)k + 1,
                                 .program = self};
        ts_error e = {0};
        char *text = NULL;
        CHECK(bench_run(&o, &text, &e));
        CHECK_TEXT(e.text, "");
        cJSON *v = text != NULL ? js_parse(text, "results", &e) : NULL;
        count(&t, v);
        cJSON_Delete(v), free(text);
    }
    printf("%s: %d races, %d quiet, of these %d could tell 3 %%: found in %d; found in %d of all, called equal in %d, "
           "the other way round in %d\n",
           what, t.races, t.quiet, t.able, t.found_able, t.found, t.equal, t.wrong);
    fflush(stdout);
    return t;
}

static void burn(pid_t *pid)
{
    for (int i = 0; i < BURNERS; i++)
        if ((pid[i] = fork()) == 0)
            for (;;)
                work(CHAIN);
}

static void write_schema(const char *path)
{
    FILE *f = fopen(path, "w");
    CHECK(f != NULL &&
          fputs("{\"format\": \"tiling/1\", \"rules\": [{\"name\": \"all\", \"loops\": \"guess\"}]}", f) >= 0);
    if (f != NULL)
        CHECK(fclose(f) == 0);
}

/* Gives the number of races that could have told the slower one. */
static int both_kinds(const char *where, const char *const slower[2], const char *const alike[2], int trials)
{
    char what[64];
    snprintf(what, sizeof what, "3 %% more, %s", where);
    const tally t = races(what, slower, trials);
    CHECK(t.found_able * 20 >= t.able * 19);
    CHECK(t.equal == 0 && t.wrong == 0);
    snprintf(what, sizeof what, "nothing more, %s", where);
    const tally same = races(what, alike, trials);
    CHECK(same.found + same.wrong <= 1);
    return t.able;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "bench-worker") == 0)
        return bench_worker(argc, argv);
    const char *given = getenv("TRIALS");
    const int trials = given != NULL ? (int)strtol(given, NULL, 10) : 20;
    scratch s = scratch_make();
    char one[160], two[160], slow[160];
    snprintf(one, sizeof one, "%s/one.json", s.path);
    snprintf(two, sizeof two, "%s/two.json", s.path);
    snprintf(slow, sizeof slow, "%s/slowed.json", s.path);
    write_schema(one);
    write_schema(two);
    write_schema(slow);
    int able = both_kinds("alone", (const char *const[]){one, slow}, (const char *const[]){one, two}, trials);
    pid_t burner[BURNERS];
    burn(burner);
    able += both_kinds("beside burners", (const char *const[]){one, slow}, (const char *const[]){one, two}, trials);
    for (int i = 0; i < BURNERS; i++)
        if (kill(burner[i], SIGKILL) == 0)
            waitpid(burner[i], NULL, 0);
    scratch_free(&s);
    const int result = check_done();
    return result == 0 && able == 0 ? check_skip("no race was quiet enough to tell 3 %") : result;
}
