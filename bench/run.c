/* run.c - the measuring protocol: the reference once, then launches of all contestants, rounds in random order within
 * each. Reasons for every step and number: docs/bench.md, "How it measures". */
#include "bench/bench.h"
#include "backends/probe/clock.h"
#include "graph/base/base.h"
#include "bench/machine/probe.h"
#include "bench/report/report.h"
#include "bench/resume.h"
#include "bench/state.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const bench_options bench_usual = {
    .launches = 5, .min_time = 3, .max_time = 60, .timeout = 600, .threshold = USUAL_THRESHOLD, .python = "python3"};
enum { FEWEST_ROUNDS = 2, MOST_ROUNDS = 100, MOST_CONTESTANTS = 60 };
static const double SAMPLE_NS = 1e6;    /* a shorter one would measure the timer and the waking up */
static const double COLD_SHARE = 0.01;  /* of a pass: caches that are filled in less need no pass before it */
static const double REFILL_NS = 2e6;    /* 32 MB at 16 GB/s, where sizes or bandwidth are not told */
static const double PATIENCE_NS = 60e9; /* for the samples wanted: slower contestants get fewer, with a note */

/* ---- signals: asked for while waiting, so that contestants and files are gone before the process is ---- */

typedef struct signals {
    sigset_t before, watched;
} signals;

static int signals_hold(signals *s)
{
    static const int asking[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction is;
    sigemptyset(&s->watched);
    for (size_t i = 0; i < sizeof asking / sizeof *asking; i++)
        if (sigaction(asking[i], NULL, &is) == 0 && is.sa_handler != SIG_IGN) /* as nohup leaves SIGHUP */
            sigaddset(&s->watched, asking[i]);
    int fd = signalfd(-1, &s->watched, SFD_CLOEXEC | SFD_NONBLOCK);
    sigset_t held = s->watched;
    sigaddset(&held, SIGPIPE); /* a contestant that dies while it is written to is an answer, not an end */
    sigprocmask(SIG_BLOCK, &held, &s->before);
    return fd;
}

/* A signal that asked to stop is still pending, and now takes its course. */
static void signals_release(const signals *s, int fd)
{
    sigset_t pipe_only;
    const struct timespec now = {0};
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    if (!sigismember(&s->before, SIGPIPE))
        while (sigtimedwait(&pipe_only, NULL, &now) == SIGPIPE) {}
    if (fd >= 0)
        close(fd);
    sigprocmask(SIG_SETMASK, &s->before, NULL);
}

/* ---- setting up ---- */

static bool make_folder(race *r, ts_error *e)
{
    const int n = snprintf(r->folder, sizeof r->folder, "%s/tessera-bench-XXXXXX", file_temporary());
    errno = ENAMETOOLONG;
    if (n < (int)sizeof r->folder && mkdtemp(r->folder))
        return true;
    err_set(e, TS_FILES, "cannot make a temporary folder %s: %s", r->folder, strerror(errno));
    r->folder[0] = 0;
    return err_hint(e, "set TMPDIR to a folder that can be written");
}

/* A network that comes as text becomes a file. */
static bool write_graph(race *r, ts_error *e)
{
    const bench_options *o = &r->o;
    const int n = o->graph ? snprintf(r->model, sizeof r->model, "%s/%s.json", r->folder, o->model)
                           : snprintf(r->model, sizeof r->model, "%s", o->model);
    if (n >= (int)sizeof r->model)
        return err_set(e, TS_USAGE, "the model's path has %d bytes, of %d at most", n, RACE_PATH - 1);
    return !o->graph || file_save(r->model, o->graph, strlen(o->graph), e);
}

static bool fill_defaults(race *r, ts_error *e)
{
    bench_options *o = &r->o;
    if (!o->model)
        return err_set(e, TS_USAGE, "no model is given, a file or the name of a built-in one expected");
    if (o->launches < 0 || o->launches > BENCH_MOST_LAUNCHES)
        return err_set(e, TS_USAGE, "%d launches, 1 to %d expected, or 0 for as many as usual", o->launches,
                       BENCH_MOST_LAUNCHES);
    if (!(o->min_time >= 0) || !(o->max_time >= 0) || !(o->threshold >= 0) || !(o->tolerance >= 0) ||
        !(o->timeout >= 0))
        return err_set(e, TS_USAGE,
                       "min_time %g, max_time %g, threshold %g, tolerance %g, timeout %g: none below 0 expected",
                       o->min_time, o->max_time, o->threshold, o->tolerance, o->timeout);
    if (o->threads < 0 || o->threads > r->cpus.n) {
        err_set(e, TS_USAGE, "%d threads, 1 to %d expected: so many processors this process may use", o->threads,
                r->cpus.n);
        return err_hint(e, "leave --threads out for one per core; run and emit take more, which then take turns");
    }
    o->launches = o->launches > 0 ? o->launches : bench_usual.launches;
    if (o->max_time == 0 && o->min_time == 0)
        o->max_time = bench_usual.max_time;
    o->threads = o->threads > 0 ? o->threads : r->cpus.cores;
    o->threshold = o->threshold > 0 ? o->threshold : bench_usual.threshold;
    o->timeout = o->timeout > 0 ? o->timeout : bench_usual.timeout;
    o->program = o->program ? o->program : "/proc/self/exe";
    o->python = o->python ? o->python : bench_usual.python;
    return true;
}

static bool name_taken(const race *r, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(r->of[i].name, name) == 0)
            return true;
    return false;
}

/* A file's name without its folder where that is enough to tell it from the others; equal ones are numbered. */
static void name_contestant(race *r, int i)
{
    contestant *c = &r->of[i];
    const char *given = c->peer ? c->peer : c->schema ? c->schema : "guess";
    const char *slash = strrchr(given, '/');
    snprintf(c->name, sizeof c->name, "%.240s", slash && slash[1] != 0 ? slash + 1 : given);
    if (name_taken(r, i, c->name))
        snprintf(c->name, sizeof c->name, "%.240s", given);
    for (int k = 2; name_taken(r, i, c->name); k++)
        snprintf(c->name, sizeof c->name, "%.240s #%d", given, k);
}

static bool enter_contestants(race *r, ts_error *e)
{
    const bench_options *o = &r->o;
    r->n_candidates = o->n_schemas > 0 ? o->n_schemas : 1;
    r->n = r->n_candidates + o->n_peers;
    if (r->n > MOST_CONTESTANTS)
        return err_set(e, TS_USAGE, "%d contestants: at most %d", r->n, MOST_CONTESTANTS);
    r->of = calloc((size_t)r->n, sizeof *r->of);
    r->start = calloc(BENCH_MOST_LAUNCHES + 1, sizeof *r->start);
    if (!r->of || !r->start)
        return err_memory(e, (size_t)r->n * sizeof *r->of, "%d contestants", r->n);
    for (int i = 0; i < r->n; i++) {
        contestant *c = &r->of[i];
        if (i < o->n_schemas)
            c->schema = o->schemas[i];
        if (i >= r->n_candidates)
            c->peer = o->peers[i - r->n_candidates];
        if (c->peer && !peer_script(r, c->peer, c->script, e))
            return false;
        name_contestant(r, i);
    }
    return o->n_peers == 0 || peer_model(r, e);
}

static void tell(const race *r, const char *what, int done, int total)
{
    if (r->o.progress)
        r->o.progress(r->o.user, what, done, total);
}

/* A mistake in a schema is told at once, not after minutes. */
static bool check_all(race *r, ts_error *e)
{
    bool ok = true;
    tell(r, "planning", 0, r->n);
    for (int i = r->n - 1; ok && i >= 0; i--) /* peers first: theirs is a matter of tenths of a second */
        ok = contestant_check(r, &r->of[i], e);
    return ok;
}

static bool probe_ceilings(race *r, ts_error *e)
{
    tell(r, "probing the ceilings of this machine", 0, 1);
    const double effort = r->o.min_time > 0 ? r->o.min_time / bench_usual.min_time : 1;
    ENDED_BY(heap_free) char *json = probe_json(r->o.isa, r->o.threads, effort, e);
    r->ceilings = json ? cJSON_Parse(json) : NULL;
    return r->ceilings != NULL;
}

/* The inputs that it drew and the outputs that it computed stay as files; the process itself is not needed any more. */
static bool run_judge(race *r, ts_error *e)
{
    tell(r, "computing the reference", 0, 1);
    snprintf(r->judge.name, sizeof r->judge.name, "reference");
    r->judge.reference = true;
    bool ok = contestant_open(r, &r->judge, e);
    contestant_close(&r->judge);
    return ok && r->judge.standing == IN_RACE;
}

/* ---- launches ---- */

/* By how much a pass that finds empty caches is longer at most, ns: the last of them, filled from memory. */
static double refill_ns(const race *r)
{
    const double bytes = (double)cpus_caches().l3, memory = js_get_number(r->ceilings, "read_gbs", 0);
    return bytes > 0 && memory > 0 ? bytes / memory : REFILL_NS;
}

/* Rounds from the slowest, passes from each: everybody gets the wanted time, and one sample in every round. */
static void plan_rounds(race *r)
{
    bool given = r->o.min_time > 0;
    double budget = (given ? r->o.min_time : bench_usual.min_time) * 1e9 / r->o.launches, slowest = SAMPLE_NS;
    for (int i = 0; i < r->n; i++)
        if (r->of[i].standing == IN_RACE)
            slowest = fmax(slowest, r->of[i].pass_ns);
    double wanted = given ? FEWEST_ROUNDS : ceil((double)BENCH_SAMPLES / r->o.launches);
    double affordable = fmax(FEWEST_ROUNDS, floor(PATIENCE_NS / r->o.launches / slowest));
    r->rounds = (int)fmin(MOST_ROUNDS, fmax(ceil(budget / slowest), fmin(wanted, affordable)));
    for (int i = 0; i < r->n; i++) {
        contestant *c = &r->of[i];
        double pass = fmax(c->pass_ns, 1);
        c->passes = (int)fmin(INT_MAX, fmax(1, ceil(fmax(SAMPLE_NS, budget / r->rounds) / pass - 0.5)));
        c->warm = refill_ns(r) < COLD_SHARE * pass ? 0 : (int)fmin(INT_MAX, ceil(SAMPLE_NS / pass));
    }
}

/* What a schema calls itself; "" where it cannot be known. */
static const char *schema_name(const contestant *c)
{
    return !c->peer && c->schema ? js_get_text(c->facts, "plan/schema/name") : "";
}

/* Schemas go by the names that they give themselves, where these tell them apart. */
static void rename_contestants(race *r)
{
    for (int i = 0; i < r->n; i++) {
        const char *name = schema_name(&r->of[i]);
        bool own = *name != 0;
        for (int k = 0; k < r->n && own; k++)
            own = k == i || (strcmp(r->of[k].name, name) != 0 && strcmp(schema_name(&r->of[k]), name) != 0);
        if (own)
            snprintf(r->of[i].name, sizeof r->of[i].name, "%.240s", name);
    }
}

/* "launch 6 of 5" would be a riddle: those that come because nothing is decided yet say so. */
static void tell_launch(const race *r, int launch, const char *doing, const char *whom, int done, int total)
{
    char what[360];
    if (launch < r->o.launches)
        snprintf(what, sizeof what, "launch %d of %d: %s%s", launch + 1, r->o.launches, doing, whom);
    else
        snprintf(what, sizeof what, "launch %d, to decide more: %s%s", launch + 1, doing, whom);
    tell(r, what, done < total ? done : total, total);
}

static bool open_all(race *r, int launch, ts_error *e)
{
    for (int i = 0; i < r->n; i++) {
        tell_launch(r, launch, "starting and verifying ", r->of[i].name, launch, r->o.launches);
        if (!contestant_open(r, &r->of[i], e))
            return false;
    }
    if (launch == 0)
        rename_contestants(r);
    return true;
}

/* A new order in every round (Fisher and Yates, from the seed). */
static void shuffle(const race *r, int launch, int round, int *order)
{
    uint64_t at = ((uint64_t)launch * MOST_ROUNDS + (uint64_t)round) * MOST_CONTESTANTS;
    for (int i = 0; i < r->n; i++)
        order[i] = i;
    for (int i = r->n - 1; i > 0; i--) {
        int j = stats_below(r->o.seed, at + (uint64_t)i, i + 1), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

/* On the first of the contestants' processors, where everybody stands still. */
static double canary_there(const race *r)
{
    cpus_pin(&r->cpus, 0, 1);
    double ns = canary_measure();
    cpus_pin(&r->cpus, 0, r->cpus.n);
    return ns;
}

enum { MOST_RETAKES = 3 }; /* of one sample */

/* A sample, and once more while it is disturbed: its round is to count. As many as a launch has rounds may be taken
 * again, so that a race takes at most twice its time. */
static bool take_sample(race *r, contestant *c, int at, double *canary_before, ts_error *e)
{
    sample *s = &c->samples[at];
    *s = (sample){0};
    for (int again = 0;; again++) {
        if (!contestant_turn(r, c, s, e))
            return false;
        double after = canary_there(r);
        s->canary = fmax(*canary_before, after);
        *canary_before = after;
        if (c->standing != IN_RACE || !sample_disturbed(s) || again == MOST_RETAKES || c->retakes == 0)
            return true;
        c->retakes--;
        s->retaken++;
        s->retaken_lost += sample_lost(s);
    }
}

static bool race_round(race *r, int launch, int round, ts_error *e)
{
    int order[MOST_CONTESTANTS], at = r->start[launch] + round;
    shuffle(r, launch, round, order);
    double before = canary_there(r);
    for (int i = 0; i < r->n; i++) {
        contestant *c = &r->of[order[i]];
        if (c->standing != IN_RACE)
            continue;
        if (!take_sample(r, c, at, &before, e))
            return false;
    }
    return true;
}

static bool make_room(race *r, int launch)
{
    int n = r->start[launch] + r->rounds;
    for (int i = 0; i < r->n; i++) {
        sample *more = reallocarray(r->of[i].samples, (size_t)n, sizeof *more);
        if (!more)
            return false;
        r->of[i].samples = more;
        r->of[i].retakes = r->rounds;
    }
    r->start[launch + 1] = n;
    r->launches = launch + 1;
    return true;
}

static bool race_launch(race *r, int launch, ts_error *e)
{
    if (!open_all(r, launch, e))
        return false;
    if (launch == 0)
        plan_rounds(r);
    if (!make_room(r, launch))
        return err_memory(e, (size_t)(r->start[launch] + r->rounds) * sizeof *r->of->samples,
                          "the samples of launch %d", launch + 1);
    for (int round = 0; round < r->rounds; round++) {
        tell_launch(r, launch, "timing", "", launch * r->rounds + round, r->o.launches * r->rounds);
        if (!race_round(r, launch, round, e)) {
            r->start[launch + 1] = r->start[launch] + round;
            r->launches = round > 0 ? launch + 1 : launch;
            return false;
        }
    }
    for (int i = 0; i < r->n; i++)
        if (!contestant_profile(r, &r->of[i], e))
            return false;
    for (int i = 0; i < r->n; i++)
        contestant_close(&r->of[i]);
    return true;
}

static bool resume(race *r, ts_error *e)
{
    ENDED_BY(js_free) cJSON *asked = race_config_make(r);
    return resume_race(r, asked, e);
}

/* Those that are wanted; then, while one more of their length fits into the time and something is open, others. */
static bool race_launches(race *r, ts_error *e)
{
    const int64_t start = clock_ns();
    int64_t longest = 0;
    for (int l = r->launches; l < BENCH_MOST_LAUNCHES; l++) {
        const int64_t begin = clock_ns();
        if (l >= r->o.launches && ((double)(begin - start + longest) > r->o.max_time * 1e9 || !race_is_open(r)))
            break;
        if (!race_launch(r, l, e))
            return false;
        const int64_t took = clock_ns() - begin;
        longest = took > longest ? took : longest;
    }
    return true;
}

static bool race_all(race *r, ts_error *e)
{
    if (!fill_defaults(r, e) || !make_folder(r, e) || !write_graph(r, e) || !enter_contestants(r, e) ||
        !check_all(r, e) || !probe_ceilings(r, e) || !run_judge(r, e))
        return false;
    if (r->o.resume && !resume(r, e))
        return false;
    r->ticks_before = cpu_ticks_now();
    if (!race_launches(r, e))
        return false;
    r->ticks_after = cpu_ticks_now();
    tell(r, "done", r->o.launches, r->o.launches);
    return true;
}

static race *race_make(const bench_options *o, ts_error *e)
{
    race *r = calloc(1, sizeof *r);
    if (!r)
        return err_memory(e, sizeof *r, "a race"), NULL;
    r->o = *o;
    cpus_allowed(&r->cpus);
    r->load_before = load_now();
    return r;
}

static void race_free(race *r)
{
    if (!r)
        return;
    contestant_free(&r->judge);
    for (int i = 0; i < r->n && r->of; i++)
        contestant_free(&r->of[i]);
    if (r->folder[0] != 0)
        file_remove_tree(r->folder);
    cJSON_Delete(r->ceilings);
    free(r->of);
    free(r->start);
    free(r);
}

/* Whole rounds that were measured until a signal are results; the signal is the caller's then (bench_stopped). */
static bool keep_measured(race *r, ts_error *e)
{
    struct signalfd_siginfo info;
    if (!r->stopped || r->launches == 0 || read(r->interrupt, &info, sizeof info) != sizeof info)
        return false;
    r->signal = (int)info.ssi_signo;
    r->ticks_after = cpu_ticks_now();
    for (int i = 0; i < r->n; i++)
        contestant_close(&r->of[i]);
    *e = (ts_error){0};
    return true;
}

bool bench_run(const bench_options *o, char **results, ts_error *e)
{
    ts_error own = {0};
    e = e ? e : &own;
    *results = NULL;
    race *r = race_make(o, e);
    if (!r)
        return false;
    signals held;
    r->interrupt = signals_hold(&held);
    bool ok = race_all(r, e) || keep_measured(r, e);
    if (ok)
        *results = results_json(r);
    int interrupt = r->interrupt;
    race_free(r);
    signals_release(&held, interrupt);
    return ok;
}
