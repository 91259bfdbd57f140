/* Verdicts on machines that are imagined, quiet and busy: from samples to results/1 to comparison/1, as bench and
 * compare make them. How often two runs of one thing are called different, whether 3 % are found where they can be,
 * and never called equal where they cannot.
 * ctest: timeout=600 large */
#include "bench/state.h"
#include "graph/base/random.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 100, SOME = 30 }; /* trials: for rates of one in a hundred, and for others */
enum { LAUNCHES = 5, ROUNDS = 8, MOST = 40, N = MOST * ROUNDS, TRIES = 4 };

/* What surrounds a race. Shares and relative times. */
typedef struct weather {
    double noise;  /* of a sample */
    double launch; /* of the times in one launch */
    double drift;  /* of both contestants, from launch to launch */
    double taken;  /* probability that another program interrupts a sample, on average */
    double burst;  /* how much that differs from launch to launch: 0 or 1 */
    double
        unseen;   /* slow-down of undisturbed samples at most: caches and memory that are shared; another in each run */
    double steal; /* of the processors' time */
} weather;

static const weather quiet = {.noise = 0.01, .launch = 0.002, .drift = 0.002, .taken = 0.01};
static const weather loud = {.noise = 0.05, .launch = 0.03, .drift = 0.02, .taken = 0.02};
static const weather busy = {.noise = 0.01, .launch = 0.01, .drift = 0.03, .taken = 0.35, .burst = 1, .unseen = 0.05};
static const weather crowded = {.noise = 0.01, .launch = 0.01, .drift = 0.05, .taken = 0.9, .unseen = 0.1};

static double uniform(uint64_t seed, uint64_t *at)
{
    return (double)(random_bits(seed, (*at)++) >> 11) / 9007199254740992.0;
}

static double bell(uint64_t seed, uint64_t *at)
{
    double sum = 0;
    for (int k = 0; k < 12; k++)
        sum += uniform(seed, at);
    return sum - 6;
}

/* As the protocol takes one: again while it is disturbed. What a neighbour takes has a heavy tail. */
static sample sample_in(const weather *w, double ns, double taken, uint64_t seed, uint64_t *at)
{
    sample s = {0};
    for (int again = 0;; again++) {
        const double lost = uniform(seed, at) < taken ? 0.1 / (0.03 + uniform(seed, at)) : 0;
        s.taken = lost > 0;
        s.lost = lost / (1 + lost);
        s.ns = ns * exp(w->noise * bell(seed, at)) * (1 + lost);
        s.canary = 1e5 * (1 + (lost > 0 ? 0.05 : 0) * uniform(seed, at));
        if (!sample_disturbed(&s) || again == TRIES - 1)
            return s;
        s.retaken++;
        s.retaken_lost += s.lost;
    }
}

/* Two contestants, the second so much slower. Up to `most` launches follow one another while something is open. */
static char *imagined(const weather *w, double slowdown, uint64_t seed, int most)
{
    static sample samples[2][N];
    static int start[MOST + 1];
    contestant of[2] = {{.name = "one"}, {.name = "two"}};
    race r = {.o = {.model = "imagined", .launches = LAUNCHES, .threads = 1, .threshold = 0.01, .seed = 7},
              .of = of,
              .n = 2,
              .n_candidates = 2,
              .rounds = ROUNDS,
              .start = start,
              .ticks_after = {.all = 1, .stolen = w->steal}};
    of[0].samples = samples[0];
    of[1].samples = samples[1];
    uint64_t at = 0;
    const double unseen = w->unseen * uniform(seed, &at);
    for (int l = 0; l < most && (l < LAUNCHES || race_is_open(&r)); l++) {
        const double drift = w->drift * bell(seed, &at),
                     taken = w->taken * (1 + w->burst * (2 * uniform(seed, &at) - 1));
        const double of_launch[2] = {w->launch * bell(seed, &at), w->launch * bell(seed, &at)};
        start[l + 1] = start[l] + ROUNDS;
        r.launches = l + 1;
        for (int k = start[l]; k < start[l + 1]; k++)
            for (int i = 0; i < 2; i++)
                samples[i][k] = sample_in(w, 1e7 * exp(drift + of_launch[i] + unseen + i * slowdown), taken, seed, &at);
    }
    return results_json(&r);
}

typedef struct tally {
    int faster, slower, same, undecided;
    int state[3];
} tally;

static void count(tally *t, const char *json)
{
    cJSON *v = cJSON_Parse(json);
    const char *word = js_get_text(cJSON_GetArrayItem(js_get(v, "comparisons"), 0), "verdict");
    t->faster += strcmp(word, "FASTER") == 0;
    t->slower += strcmp(word, "SLOWER") == 0;
    t->same += strcmp(word, "SAME") == 0;
    t->undecided += strcmp(word, "UNDECIDED") == 0;
    for (int s = QUIET; s <= OVERLOADED; s++)
        t->state[s] += strcmp(js_get_text(v, "machine_state/state"), state_name((machine_state)s)) == 0;
    cJSON_Delete(v);
}

static void print_tally(const char *what, const tally *t)
{
    printf("%s: faster %d, slower %d, same %d, undecided %d; quiet %d, busy %d, overloaded %d\n", what, t->faster,
           t->slower, t->same, t->undecided, t->state[QUIET], t->state[BUSY], t->state[OVERLOADED]);
}

/* A race of one thing against itself made slower. */
static tally races(const char *what, int trials, const weather *w, double slowdown, int most)
{
    tally t = {0};
    for (uint64_t i = 0; i < (uint64_t)trials; i++) {
        char *results = imagined(w, slowdown, 1000 + i, most);
        count(&t, results);
        free(results);
    }
    print_tally(what, &t);
    return t;
}

/* The first contestant of a run against the second of another: two files, compared. */
static tally files(const char *what, int trials, const weather *const *w, double slowdown)
{
    tally t = {0};
    for (uint64_t i = 0; i < (uint64_t)trials; i++) {
        char *x = imagined(w[0], 0, 5000 + 2 * i, LAUNCHES), *y = imagined(w[1], slowdown, 5001 + 2 * i, LAUNCHES),
             *out = NULL;
        cJSON *v = cJSON_Parse(y);
        ts_error e = {0};
        cJSON_DeleteItemFromArray(cJSON_GetObjectItemCaseSensitive(v, "candidates"), 0);
        cJSON_ReplaceItemInObjectCaseSensitive(cJSON_GetArrayItem(js_get(v, "candidates"), 0), "name",
                                               cJSON_CreateString("one"));
        free(y);
        y = js_to_text(v, false);
        cJSON_Delete(v);
        compare_options o = {.before = x, .after = y};
        CHECK(bench_compare(&o, &out, &e));
        if (out != NULL)
            count(&t, out);
        free(x), free(y), free(out);
    }
    print_tally(what, &t);
    return t;
}

static void test_races(void)
{
    tally t = races("quiet, equal", MANY, &quiet, 0, LAUNCHES);
    CHECK(t.faster + t.slower <= MANY / 100 && t.state[QUIET] >= MANY * 9 / 10);
    t = races("quiet, 3 % slower", MANY, &quiet, 0.03, LAUNCHES);
    CHECK(t.faster >= MANY * 19 / 20 && t.same == 0);
    t = races("quiet, but times spread, 3 % slower", SOME, &loud, 0.03, LAUNCHES);
    CHECK(t.undecided >= SOME * 8 / 10 && t.same == 0 && t.slower == 0);
    t = races("busy, equal", MANY, &busy, 0, LAUNCHES);
    CHECK(t.faster + t.slower == 0 && t.state[BUSY] >= MANY * 9 / 10);
    t = races("busy, 3 % slower", SOME, &busy, 0.03, LAUNCHES);
    CHECK(t.slower == 0 && t.same == 0);
    t = races("busy, 2 times slower", SOME, &busy, log(2), LAUNCHES);
    CHECK(t.faster == t.state[BUSY] && t.state[BUSY] >= SOME * 9 / 10);
    t = races("crowded, equal", MANY, &crowded, 0, LAUNCHES);
    CHECK(t.faster + t.slower == 0 && t.state[OVERLOADED] == MANY);
    t = races("crowded, 2 times slower", SOME, &crowded, log(2), LAUNCHES);
    CHECK(t.faster == SOME && t.state[OVERLOADED] == SOME);
    t = races("crowded, 2 times slower, two launches", SOME, &crowded, log(2), FEWEST_LAUNCHES - 1);
    CHECK(t.undecided == SOME && t.state[OVERLOADED] == SOME);
}

/* As long as it takes, which must not be until chance has decided. */
static void test_long_races(void)
{
    tally t = races("quiet, equal, to the end", SOME, &quiet, 0, MOST);
    CHECK(t.faster + t.slower == 0 && t.same >= SOME * 9 / 10);
    t = races("quiet, but times spread, equal, to the end", SOME, &loud, 0, MOST);
    CHECK(t.faster + t.slower == 0);
    t = races("busy, equal, to the end", MANY, &busy, 0, MOST);
    CHECK(t.faster + t.slower == 0);
    t = races("crowded, equal, to the end", MANY, &crowded, 0, MOST);
    CHECK(t.faster + t.slower == 0);
    t = races("busy, 3 % slower, to the end", SOME, &busy, 0.03, MOST);
    CHECK(t.faster >= SOME * 15 / 20 && t.slower + t.same == 0);
    t = races("crowded, 3 % slower, to the end", SOME, &crowded, 0.03, MOST);
    CHECK(t.faster >= SOME * 15 / 20 && t.slower + t.same == 0);
}

static void test_files(void)
{
    const weather *const still[] = {&quiet, &quiet}, *const spread[] = {&loud, &loud}, *const both[] = {&busy, &busy};
    const weather *const later[] = {&quiet, &busy}, *const lost[] = {&quiet, &crowded};
    tally t = files("quiet files, equal", MANY, still, 0);
    CHECK(t.faster + t.slower <= MANY / 100);
    t = files("quiet files, 3 % slower", MANY, still, 0.03);
    CHECK(t.slower >= MANY * 19 / 20 && t.same == 0);
    t = files("quiet files whose times spread, 3 % slower", SOME, spread, 0.03);
    CHECK(t.undecided >= SOME * 8 / 10 && t.same == 0 && t.faster == 0);
    t = files("busy files, equal", MANY, both, 0);
    CHECK(t.faster + t.slower <= MANY / 100);
    t = files("busy files, 3 % slower", SOME, both, 0.03);
    CHECK(t.same == 0 && t.faster == 0);
    t = files("busy files, 4 times slower", SOME, both, log(4));
    CHECK(t.slower >= SOME * 9 / 10);
    t = files("a quiet and a busy file, equal", SOME, later, 0);
    CHECK(t.undecided == SOME);
    t = files("a quiet and a crowded file, 3 % slower", SOME, lost, 0.03);
    CHECK(t.undecided == SOME);
}

int main(void)
{
    test_races();
    test_long_races();
    test_files();
    return check_done();
}
