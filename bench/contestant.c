/* contestant.c - one contestant through one launch: started, opened, verified, warmed up, sampled, profiled, closed. */
#include "backends/probe/clock.h"
#include "bench/machine/shares.h"
#include "graph/base/err.h"
#include "bench/protocol.h"
#include "bench/race.h"
#include "train/timed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_WARM_UPS = 200, PROFILE_REPEATS = 20 }; /* runs before any counts; runs by kernels */
/* Steps of which losses are compared. The second shows a wrong gradient or update, the third and fourth a wrong state
 * of the optimizer or number of the step; roundings have not grown yet. */
enum { TRAJECTORY = 4 };
/* the last a share: three runs that agree so end the warming up */
static const double WARM_UP_SECONDS = 0.5, PROFILE_SECONDS = 0.3, STEADY = 0.01;

/* It keeps its row, with the reason in place of times. */
static void out_of_race(contestant *c, standing s, const char *reason)
{
    c->standing = s;
    snprintf(c->reason, sizeof c->reason, "%s", reason);
}

/* Lines that come before the answer; what is no JSON says nothing. */
static void pass_on_progress(void *user, const char *line)
{
    const race *r = user;
    ENDED_BY(js_free) cJSON *v = cJSON_Parse(line);
    if (v && r->o.progress)
        r->o.progress(r->o.user, js_get_text(v, "what"), (int)js_get_number(v, "done", 0),
                      (int)js_get_number(v, "total", 0));
}

/* Between samples: what was measured before is written by the caller, if there is any. */
static bool stopped(race *r, ts_error *e)
{
    r->stopped = true;
    return err_set(e, TS_FAILED, "stopped by a signal; nothing was written");
}

/* Mistakes in what the person gave. They end the run with their message: a race without the schema in question is not
 * what was asked for. */
static bool is_mistake(ts_code code)
{
    return code == TS_USAGE || code == TS_BAD_INPUT || code == TS_UNSUPPORTED || code == TS_FILES || code == TS_DEVICE;
}

/* False where the run ends with e. A message about a schema names it, since several are in the race. */
static bool refused(contestant *c, const char *json, ts_error *e)
{
    ENDED_BY(js_free) cJSON *v = cJSON_Parse(json);
    ts_code code = (ts_code)(int)js_get_number(v, "code", TS_BUG);
    const char *text = js_get_text(v, "text");
    bool ours = !c->peer && (is_mistake(code) || c->reference);
    const bool by_schema = c->schema && code != TS_USAGE && js_get_flag(v, "planned");
    if (ours && by_schema && !strstr(text, c->schema))
        err_set(e, code, "schema %s: %s", c->schema, text);
    else if (ours)
        err_set(e, code, "%s", text);
    out_of_race(c, INVALID, *text != 0 ? text : "failed without a reason");
    return !ours;
}

/* Asks; rest is what follows the expected word, or NULL when the contestant is out of the race (or all
 * must stop: false). */
static bool ask(race *r, contestant *c, const char *text, const char *expected, const char **rest, ts_error *e)
{
    question q = {text, r->o.timeout, r->interrupt, pass_on_progress, r};
    const char *line;
    char why[REASON], reason[REASON];
    answer a = process_ask(&c->process, &q, &line);
    size_t n = strlen(expected);
    *rest = NULL;
    if (a == INTERRUPTED)
        return stopped(r, e);
    if (a == ANSWERED && strncmp(line, expected, n) == 0 && (line[n] == ' ' || line[n] == 0)) {
        *rest = line[n] == ' ' ? line + n + 1 : line + n;
        return true;
    }
    bool go_on = true;
    if (a == ANSWERED && strncmp(line, SAY_FAILED " ", sizeof SAY_FAILED) == 0)
        go_on = refused(c, line + sizeof SAY_FAILED, e);
    else if (a == ANSWERED && strncmp(line, SAY_ABSENT " ", sizeof SAY_ABSENT) == 0) {
        ENDED_BY(js_free) cJSON *v = cJSON_Parse(line + sizeof SAY_ABSENT);
        out_of_race(c, ABSENT, js_get_text(v, "text"));
    } else if (a == ANSWERED) {
        snprintf(reason, sizeof reason, "answered \"%.100s\" to \"%.40s\"", line, text);
        out_of_race(c, INVALID, reason);
    } else if (a == TOO_LATE) {
        snprintf(reason, sizeof reason, "timeout: no answer to \"%.40s\" in %g s", text, r->o.timeout);
        out_of_race(c, INVALID, reason);
        c->late = true;
    } else {
        process_close(&c->process, why, sizeof why);
        snprintf(reason, sizeof reason, "its process %.1900s", why);
        out_of_race(c, INVALID, reason);
    }
    process_close(&c->process, NULL, 0);
    if (c->reference && go_on) {
        err_set(e, c->late ? TS_TIMEOUT : TS_FAILED, "the reference, which every result is compared with: %.1800s",
                c->reason);
        return c->late ? err_hint(e, "a longer --timeout, or a smaller model") : false;
    }
    return go_on;
}

/* ---- opening ---- */

/* Once the reference has drawn inputs, everyone reads its files: all compute with the same bits. */
static void add_inputs(cJSON *task, const race *r)
{
    cJSON *list = js_array(task, "inputs");
    const cJSON *port;
    cJSON_ArrayForEach(port, js_get(r->judge.facts, "inputs"))
        js_row(list, "name:%s,path:%s", js_get_text(port, "name"), js_get_text(port, "path"));
    for (int i = 0; !r->judge.facts && i < r->o.n_inputs; i++) {
        const char *text = r->o.inputs[i];
        size_t n = strcspn(text, "=");
        char name[512];
        snprintf(name, sizeof name, "%.*s", (int)n, text);
        js_row(list, "name:%s,path:%s", name, text[n] == '=' ? text + n + 1 : "");
    }
}

/* COMMAND and one line of JSON; the caller frees it. NULL where memory is short. */
static char *task_line(const race *r, const contestant *c, const char *command)
{
    const bench_options *o = &r->o;
    ENDED_BY(js_free) cJSON *task = cJSON_CreateObject();
    js_text(task, "model", c->peer ? r->peer_model : r->model);
    cJSON *dims = js_array(task, "dims");
    for (int i = 0; i < o->n_dims; i++)
        js_item(dims, o->dims[i]);
    cJSON *limits = js_array(task, "limits");
    for (int i = 0; i < o->n_limits; i++)
        js_item(limits, o->limits[i]);
    add_inputs(task, r);
    if (o->train) {
        cJSON_AddItemToObject(task, "train", option_json(o->train));
        js_put(task, "trajectory:%d,schedule_steps:%d", TRAJECTORY, TIMED_SCHEDULE);
    }
    js_put(task, "seed:%g,threads:%d,as_written:%i,reproducible:%i", (double)o->seed, o->threads, o->as_written,
           o->reproducible);
    if (o->mem_limit)
        js_text(task, "mem_limit", o->mem_limit);
    if (o->precision)
        js_text(task, "precision", o->precision);
    js_flag(task, "reference", c->reference && !o->judge);
    if (c->reference)
        js_text(task, "input_folder", r->folder);
    const char *target = c->reference ? o->judge : o->target;
    if (target)
        js_text(task, "target", target);
    if (!c->reference && o->isa)
        js_text(task, "isa", o->isa);
    if (c->schema)
        js_text(task, "schema", c->schema);
    if (o->cache_folder)
        js_text(task, "cache_folder", o->cache_folder);
    char *text = js_to_text(task, false), *line = NULL;
    if (asprintf(&line, "%s %s", command, text) < 0)
        line = NULL;
    free(text);
    return line;
}

/* Its own output goes to a log, so that nothing is taken for an answer. */
static bool start(race *r, contestant *c, ts_error *e)
{
    const char *ours[] = {r->o.program, "bench-worker", NULL}, *theirs[] = {r->o.python, "-B", "-u", c->script, NULL};
    char log[RACE_PATH];
    snprintf(log, sizeof log, "%s/%d.log", r->folder, c->reference ? -1 : (int)(c - r->of));
    process_spec s = {c->peer ? theirs : ours, &r->cpus, r->o.threads, log};
    return process_open(&c->process, &s, e);
}

/* What it says of itself is the same in every launch, and kept from the first. */
static bool open_model(race *r, contestant *c, ts_error *e)
{
    ENDED_BY(heap_free) char *line = task_line(r, c, "open");
    if (!line)
        return err_memory(e, 0, "what %s is asked", c->name);
    const char *rest;
    bool go_on = ask(r, c, line, SAY_READY, &rest, e);
    if (go_on && rest && !c->facts) {
        c->facts = cJSON_Parse(rest);
        const int n = cJSON_GetArraySize(js_get(c->facts, "plan/kernels"));
        if (n != c->n_kernels) /* those of a race that goes on were of another plan */
            c->profiles = 0;
        c->n_kernels = n;
        if (!c->facts)
            out_of_race(c, INVALID, "what it says about itself is not JSON");
        cJSON *stated = !c->peer ? ceilings_stated(js_get(c->facts, "plan")) : NULL;
        if (stated) {
            cJSON_Delete(r->ceilings);
            r->ceilings = stated;
        }
    }
    return go_on;
}

/* A race without the peer that was asked for is not what was asked for. */
static bool check_peer(race *r, contestant *c, ts_error *e)
{
    const char *rest;
    const bool go_on = start(r, c, e) && ask(r, c, "check", SAY_PLANNED, &rest, e);
    process_close(&c->process, NULL, 0);
    if (!go_on || c->standing == IN_RACE)
        return go_on;
    if (r->o.absent_peers)
        return c->standing = ABSENT, true;
    err_set(e, TS_USAGE, "peer %s cannot run with %.500s: %.1000s", c->peer, r->o.python, c->reason);
    return err_hint(e,
                    "install what is missing for that interpreter, name another with --peer-python PATH, or leave "
                    "--peer %s out",
                    c->peer);
}

/* Plans alone: mistakes in schemas are found before anything is compiled or timed. */
bool contestant_check(race *r, contestant *c, ts_error *e)
{
    if (c->standing == IN_RACE && c->peer)
        return check_peer(r, c, e);
    ENDED_BY(heap_free) char *line = c->standing == IN_RACE ? task_line(r, c, "plan") : NULL;
    const char *rest;
    const bool go_on = !line || (start(r, c, e) && ask(r, c, line, SAY_PLANNED, &rest, e));
    process_close(&c->process, NULL, 0);
    return go_on;
}

static double eps_of(const char *precision)
{
    return strcmp(precision, "bf16") == 0 ? 0x1p-8 : strcmp(precision, "f16") == 0 ? 0x1p-11 : 0;
}

/* Of a pass in fewer bits, whose judge rounds nothing: eps times the root of 256 roundings from input to output. Loss
 * and norm of a step are sums over examples and weights, in which most of that cancels. */
static double tolerance_of(const bench_options *o)
{
    const double usual = o->train ? 4 * eps_of(o->train->precision) : o->precision ? 16 * eps_of(o->precision) : 0;
    return o->tolerance > 0 ? o->tolerance : usual;
}

/* ---- verifying ---- */

/* Rounded to few bits, a last bit moves whole steps, and later steps grow them: such results are those of a less
 * accurate contestant, and not wrong. A peer chooses its own numbers; ours are those of the model, which may round:
 * then only what is as far off as zeros are is wrong. docs/bench.md says so too. */
static double coarse_tolerance(const race *r, const contestant *c)
{
    return r->o.tolerance > 0 ? 0 : js_get_flag(r->judge.facts, "rounds") ? 1 : c->peer ? FEW_BITS : 0;
}

/* Against files of the reference, so that both need not be in memory at once. Anew in each launch: errors are the
 * largest of all. */
static bool verify(race *r, contestant *c, ts_error *e)
{
    char folder[RACE_PATH], reference[RACE_PATH], command[RACE_PATH + 16];
    snprintf(reference, sizeof reference, "%s/reference", r->folder);
    snprintf(folder, sizeof folder, "%s/%s", r->folder, c->reference ? "reference" : "outputs");
    snprintf(command, sizeof command, "save %s", folder);
    mkdir(folder, 0700);
    const char *rest;
    if (!ask(r, c, command, SAY_SAVED, &rest, e) || !rest || c->reference)
        return e->code == TS_OK;
    snprintf(c->unverified, sizeof c->unverified, "%s", c->peer ? rest : "");
    if (*c->unverified != 0)
        return true;
    const cJSON *port = js_get(r->judge.facts, "outputs");
    const int n_output = (int)js_get_number(c->facts, "compared", cJSON_GetArraySize(port));
    verify_task t = {reference, folder, n_output, tolerance_of(&r->o), port, r->o.train != NULL};
    numerics n;
    ts_error wrong = {0};
    bool right = verify_outputs(&t, &n, &wrong);
    t.tolerance = coarse_tolerance(r, c);
    if (!right && wrong.code == TS_NUMERICS && t.tolerance > 0)
        wrong = (ts_error){0}, right = verify_outputs(&t, &n, &wrong);
    c->numerics.max_abs = fmax(c->numerics.max_abs, n.max_abs);
    c->numerics.max_rel = fmax(c->numerics.max_rel, n.max_rel);
    c->numerics.tolerance = n.tolerance;
    if (!right)
        out_of_race(c, INVALID, wrong.text);
    return true;
}

/* ---- timing ---- */

/* Its own clock, in ns: the way to and from it takes no part. lost: the share of the time that threads waited for a
 * processor. */
static bool run_passes(race *r, contestant *c, int warm, int passes, sample *s, ts_error *e)
{
    char command[64];
    const char *rest;
    snprintf(command, sizeof command, "run %d %d", warm, passes);
    if (!ask(r, c, command, SAY_TIME, &rest, e))
        return false;
    char *end = NULL;
    double total = rest ? strtod(rest, &end) : NAN;
    if (rest && (end == rest || !(total > 0)))
        out_of_race(c, INVALID, "its clock did not move");
    s->ns = total / passes;
    s->taken = rest && *end == ' ' ? (int)strtol(end, &end, 10) : 0;
    s->lost = rest && *end == ' ' ? strtod(end, NULL) / total : NAN;
    return true;
}

/* Until three passes in a row agree, or half a second is over. The fastest of all estimates a pass: samples are to be
 * equally long for everybody, and what disturbs a pass only makes it longer. */
static bool warm_up(race *r, contestant *c, ts_error *e)
{
    double last[3] = {NAN, NAN, NAN}, best = INFINITY;
    int64_t end = clock_ns() + (int64_t)(WARM_UP_SECONDS * 1e9);
    for (int i = 0; i < MOST_WARM_UPS && c->standing == IN_RACE; i++) {
        sample s = {0};
        if (!run_passes(r, c, 0, 1, &s, e))
            return false;
        last[i % 3] = s.ns;
        best = fmin(best, s.ns);
        double low = fmin(last[0], fmin(last[1], last[2])), high = fmax(last[0], fmax(last[1], last[2]));
        bool agree = i >= 2 && high - low <= STEADY * low;
        if (agree || clock_ns() >= end)
            break;
    }
    if (c->pass_ns == 0)
        c->pass_ns = best;
    return true;
}

/* Halted when it is ready: while others are timed, nothing of it runs. */
bool contestant_open(race *r, contestant *c, ts_error *e)
{
    if (c->standing != IN_RACE)
        return true;
    if (!start(r, c, e) || !open_model(r, c, e))
        return false;
    if (c->standing == IN_RACE && !verify(r, c, e))
        return false;
    if (c->standing == IN_RACE && !c->reference && !warm_up(r, c, e))
        return false;
    if (c->standing != IN_RACE)
        process_close(&c->process, NULL, 0);
    process_halt(&c->process);
    return true;
}

/* The process goes on where it was halted by being asked. */
bool contestant_turn(race *r, contestant *c, sample *s, ts_error *e)
{
    bool go_on = run_passes(r, c, c->warm, c->passes, s, e);
    process_halt(&c->process);
    return go_on;
}

/* Behind all samples, since timing kernel by kernel leaves caches in another state. A row of kernel_ns for each launch.
 */
bool contestant_profile(race *r, contestant *c, ts_error *e)
{
    if (c->standing != IN_RACE || c->n_kernels == 0)
        return true;
    double repeats = fmin(PROFILE_REPEATS, fmax(1, PROFILE_SECONDS * 1e9 / fmax(c->pass_ns, 1)));
    char command[64];
    const char *rest;
    snprintf(command, sizeof command, "profile %d", (int)repeats);
    if (!ask(r, c, command, SAY_PROFILE, &rest, e))
        return false;
    ENDED_BY(js_free) cJSON *v = rest ? cJSON_Parse(rest) : NULL;
    const cJSON *seconds = js_get(v, "seconds"), *s;
    size_t n = (size_t)c->n_kernels, rows = (size_t)c->profiles + 1;
    bool whole = cJSON_GetArraySize(seconds) == c->n_kernels;
    double *all = whole ? reallocarray(c->kernel_ns, rows * n, sizeof *all) : NULL;
    if (all) {
        c->kernel_ns = all;
        double *row = all + (rows - 1) * n;
        cJSON_ArrayForEach(s, seconds) *row++ = s->valuedouble * 1e9;
        c->profiles++;
    }
    process_halt(&c->process);
    return true;
}

/* The peak is asked for while there is a process. */
void contestant_close(contestant *c)
{
    double peak = process_peak_bytes(&c->process);
    if (peak > c->peak_bytes)
        c->peak_bytes = peak;
    process_close(&c->process, NULL, 0);
}

void contestant_free(contestant *c)
{
    process_close(&c->process, NULL, 0);
    cJSON_Delete(c->facts);
    free(c->samples);
    free(c->kernel_ns);
}
