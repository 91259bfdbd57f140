/* worker.c - one contestant of ours: a model under one schema, in a process of its own. Protocol: bench/protocol.h. */
#include "bench/bench.h"
#include "backends/probe/clock.h"
#include "graph/base/js.h"
#include "bench/protocol.h"
#include "bench/worker.h"
#include "graph/base/suggest.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { MAX_WORKER_INPUTS = 4096, MOST_LIMITS = 64 }; /* of a model; --limit options */

/* Takes v. One line, flushed: whoever asked waits for it. */
static bool answer_json(const char *word, cJSON *v)
{
    ENDED_BY(heap_free) char *line = js_to_text(v, false);
    printf("%s %s\n", word, line ? line : "{}");
    fflush(stdout);
    cJSON_Delete(v);
    return true;
}

/* planned: whether the schema was read already, so that a mistake in it is told from one in the model. */
static void answer_failure(const worker *w, const ts_error *e)
{
    cJSON *v = cJSON_CreateObject();
    js_put(v, "planned:%i,code:%g,text:%s", w->planned, (double)e->code, e->text);
    answer_json(SAY_FAILED, v);
}

static void tell_progress(void *user, const char *what, int done, int total)
{
    (void)user;
    cJSON *v = cJSON_CreateObject();
    js_put(v, "what:%s,done:%d,total:%d", what, done, total);
    answer_json("PROGRESS", v);
}

/* ---- opening ---- */

static const char *text_or_null(const cJSON *task, const char *key)
{
    const char *s = js_get_text(task, key);
    return *s != 0 ? s : NULL;
}

static int input_index(const worker *w, const char *name)
{
    ts_port port;
    for (int i = 0; i < w->n_inputs; i++)
        if (ts_model_input(w->model, i, &port) && strcmp(port.name, name) == 0)
            return i;
    return -1;
}

static bool unknown_input(const worker *w, const char *name, ts_error *e)
{
    ENDED_BY(suggest_free) suggestion near = {.word = name};
    ts_port port;
    for (int i = 0; i < w->n_inputs; i++)
        if (ts_model_input(w->model, i, &port))
            suggest_offer(&near, port.name);
    err_set(e, TS_USAGE, "the model has no input \"%s\"", name);
    return suggest_hint(&near, "its inputs are", e);
}

/* A weight that the file lets a run give; false without an error: there is none of that name. */
static bool put_default(worker *w, const char *name, const char *path, ts_error *e)
{
    ts_port port;
    ts_array value;
    int i = 0;
    while (ts_model_default(w->model, i, &port) && strcmp(port.name, name) != 0)
        i++;
    if (!ts_model_default(w->model, i, &port) || !ts_npy_read(path, &value, e))
        return false;
    const bool ok = ts_model_put(w->model, name, &value, e);
    ts_array_free(&value);
    return ok;
}

/* Before dimensions are bound: values may decide them. */
static bool read_inputs(worker *w, ts_error *e)
{
    const cJSON *given;
    cJSON_ArrayForEach(given, js_get(w->task, "inputs"))
    {
        const char *name = js_get_text(given, "name"), *path = js_get_text(given, "path");
        int i = input_index(w, name);
        if (i < 0 && put_default(w, name, path, e))
            continue;
        if (i < 0)
            return e->code == TS_OK && unknown_input(w, name, e);
        ts_array_free(&w->values[i]);
        w->values[i].dtype = TS_N_DTYPE;
        if (!ts_npy_read(path, &w->values[i], e))
            return false;
        snprintf(w->paths[i], sizeof w->paths[i], "%s", path);
    }
    return true;
}

static bool bind_model(worker *w, ts_error *e)
{
    const cJSON *dims = js_get(w->task, "dims"), *dim;
    const char *list[64];
    int n = 0;
    cJSON_ArrayForEach(dim, dims)
    {
        if (n == (int)(sizeof list / sizeof *list))
            return err_set(e, TS_USAGE, "%d dimensions are bound, at most %d expected", cJSON_GetArraySize(dims), n);
        list[n++] = dim->valuestring;
    }
    return ts_model_bind(w->model, n, list, w->values, e);
}

/* Integers are drawn below what the model states; where it states nothing, 0 and 1 are legal as tokens,
 * masks and types. */
static bool draw_input(worker *w, int i, const ts_port *port, ts_error *e)
{
    static const uint64_t stride = 1000003; /* each input has its own stream */
    uint64_t seed = (uint64_t)js_get_number(w->task, "seed", 0) + stride * (uint64_t)(i + 1);
    if (!ts_array_make(&w->values[i], port->dtype, port->rank, port->dim, e))
        return false;
    ts_array_random(&w->values[i], seed, port->below > 0 ? port->below : 2);
    const char *folder = js_get_text(w->task, "input_folder");
    if (*folder == 0)
        return true;
    snprintf(w->paths[i], sizeof w->paths[i], "%s/%d.npy", folder, i);
    return ts_npy_write(w->paths[i], &w->values[i], e);
}

static bool set_inputs(worker *w, ts_error *e)
{
    for (int i = 0; i < w->n_inputs; i++) {
        ts_port port;
        if (!ts_model_input(w->model, i, &port))
            return err_set(e, TS_BUG, "input %d has no description", i);
        if (w->values[i].dtype == TS_N_DTYPE && !draw_input(w, i, &port, e))
            return false;
        if (!ts_plan_set(w->plan, i, &w->values[i], e))
            return false;
    }
    return true;
}

/* seconds: [read, bind, plan, build], as results have them. */
static bool make_plan(worker *w, ts_error *e)
{
    ts_options o = {.target = text_or_null(w->task, "target"),
                    .schema = text_or_null(w->task, "schema"),
                    .isa = text_or_null(w->task, "isa"),
                    .cache_folder = text_or_null(w->task, "cache_folder"),
                    .threads = (int)js_get_number(w->task, "threads", 0),
                    .reference = js_get_flag(w->task, "reference"),
                    .as_written = js_get_flag(w->task, "as_written"),
                    .reproducible = js_get_flag(w->task, "reproducible") && !js_get_flag(w->task, "reference"),
                    .mem_limit = text_or_null(w->task, "mem_limit"),
                    .progress = tell_progress};
    int64_t start = clock_ns();
    w->planned = true;
    if (!w->step)
        w->plan = ts_plan_make(w->model, &o, e);
    else if (timed_plan(w->step, &o, e))
        w->plan = w->step->step.plan;
    w->seconds[2] = (double)(clock_ns() - start) * 1e-9;
    return w->plan != NULL;
}

static bool build_plan(worker *w, ts_error *e)
{
    int64_t start = clock_ns();
    bool built = ts_plan_build(w->plan, e);
    w->seconds[3] = (double)(clock_ns() - start) * 1e-9;
    return built;
}

/* Reading and binding are timed apart: binding is done anew for other dimensions. */
static bool mix_precision(worker *w, ts_error *e)
{
    const char *to = text_or_null(w->task, "precision");
    return !to || ts_model_mixed(w->model, strcmp(to, "f16") == 0 ? TS_F16 : TS_BF16, e);
}

static bool open_model(worker *w, ts_error *e)
{
    int64_t start = clock_ns();
    const char *limit[MOST_LIMITS];
    int n_limit = 0;
    const cJSON *own = js_get(w->task, "limits"), *one;
    cJSON_ArrayForEach(one, own) if (n_limit < MOST_LIMITS && cJSON_IsString(one)) limit[n_limit++] = one->valuestring;
    w->model = ts_model_open_within(js_get_text(w->task, "model"), n_limit, limit, e);
    if (!w->model)
        return false;
    w->n_inputs = ts_model_inputs(w->model);
    if (w->n_inputs > MAX_WORKER_INPUTS)
        return err_set(e, TS_UNSUPPORTED, "%d inputs, at most %d expected", w->n_inputs, MAX_WORKER_INPUTS);
    w->values = calloc((size_t)w->n_inputs + 1, sizeof *w->values);
    w->paths = calloc((size_t)w->n_inputs + 1, sizeof *w->paths);
    if (!w->values || !w->paths)
        return err_memory(e, ((size_t)w->n_inputs + 1) * (sizeof *w->values + sizeof *w->paths), "%d inputs",
                          w->n_inputs);
    for (int i = 0; i < w->n_inputs; i++)
        w->values[i].dtype = TS_N_DTYPE; /* not given */
    w->seconds[0] = (double)(clock_ns() - start) * 1e-9;
    if (!read_inputs(w, e))
        return false;
    start = clock_ns();
    bool bound = bind_model(w, e) && mix_precision(w, e);
    w->n_outputs = bound ? ts_model_outputs(w->model) : 0;
    w->seconds[1] = (double)(clock_ns() - start) * 1e-9;
    return bound;
}

/* ---- a step of training in place of a pass ---- */

static bool open_step(worker *w, ts_error *e)
{
    int64_t start = clock_ns();
    w->step = calloc(1, sizeof *w->step);
    if (!w->step)
        return err_memory(e, sizeof *w->step, "a step");
    const bool ok = timed_open(w->step, js_get(w->task, "train"), js_get_text(w->task, "model"), e) &&
                    timed_draw(w->step, (uint64_t)js_get_number(w->task, "seed", 0), e);
    w->n_outputs = 1;
    w->seconds[0] = (double)(clock_ns() - start) * 1e-9;
    return ok;
}

/* For peers, which take the same batch. */
static bool write_batch(const worker *w, ts_error *e)
{
    const char *folder = js_get_text(w->task, "input_folder");
    char path[PATH_SIZE];
    for (int i = 0; *folder != 0 && i < net_n_arrays(&w->step->net); i++) {
        snprintf(path, sizeof path, "%s/%d.npy", folder, i);
        if (w->step->batch[i].data && !ts_npy_write(path, &w->step->batch[i], e))
            return false;
    }
    return true;
}

/* Of the run's first steps, each output as [step]. */
static bool save_steps(worker *w, const char *folder, ts_error *e)
{
    const int64_t n = (int64_t)js_get_number(w->task, "trajectory", 1);
    ENDED_BY(heap_free) float *all = calloc((size_t)n * TIMED_OUTPUTS, sizeof *all); /* [output, step] */
    bool ok = all || err_memory(e, (size_t)n * TIMED_OUTPUTS * sizeof *all, "%lld steps", (long long)n);
    for (int64_t k = 0; ok && k < n; k++) {
        double value[TIMED_OUTPUTS];
        ok = timed_run(w->step, value, e);
        for (int i = 0; ok && i < TIMED_OUTPUTS; i++)
            all[i * n + k] = (float)value[i];
    }
    for (int i = 0; ok && i < TIMED_OUTPUTS; i++) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "%s/%d.npy", folder, i);
        ok = ts_npy_write(path, &(ts_array){.dtype = TS_F32, .rank = 1, .dim = {n}, .data = all + i * n}, e);
    }
    return ok;
}

static bool one_pass(worker *w, ts_error *e)
{
    double value[TIMED_OUTPUTS];
    return w->step ? timed_run(w->step, value, e) : ts_plan_run(w->plan, e);
}

static bool tell_facts(worker *w, ts_error *e)
{
    cJSON *facts = worker_facts(w, e);
    return facts && answer_json(SAY_READY, facts);
}

/* ---- commands ---- */

static bool plan_task(worker *w, const char *rest, ts_error *e)
{
    if (w->task)
        return err_set(e, TS_BUG, "opened twice");
    w->task = js_parse(rest, "the task", e);
    if (!w->task)
        return false;
    return (js_get(w->task, "train") ? open_step(w, e) : open_model(w, e)) && make_plan(w, e);
}

static bool do_plan(worker *w, const char *rest, ts_error *e)
{
    return plan_task(w, rest, e) && puts(SAY_PLANNED) >= 0;
}

static bool do_open(worker *w, const char *rest, ts_error *e)
{
    return plan_task(w, rest, e) && build_plan(w, e) &&
           (w->step ? write_batch(w, e) && timed_begin(w->step, e) : set_inputs(w, e)) && tell_facts(w, e);
}

static bool save_pass(worker *w, const char *folder, ts_error *e)
{
    if (!ts_plan_run(w->plan, e))
        return false;
    for (int i = 0; i < w->n_outputs; i++) {
        char path[PATH_SIZE];
        ts_array out = {0};
        snprintf(path, sizeof path, "%s/%d.npy", folder, i);
        if (!ts_plan_get(w->plan, i, &out, e))
            return false;
        bool saved = ts_npy_write(path, &out, e);
        ts_array_free(&out);
        if (!saved)
            return false;
    }
    return true;
}

static bool do_save(worker *w, const char *folder, ts_error *e)
{
    if (!(w->step ? save_steps(w, folder, e) : save_pass(w, folder, e)))
        return false;
    puts(SAY_SAVED);
    return true;
}

/* How often a processor was taken from one of the threads so far. */
static long preemptions(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) == 0 ? u.ru_nivcsw : 0;
}

/* Nanoseconds that all threads together waited for a processor so far: the second number of schedstat. Negative where
 * the system does not tell. */
static int64_t waited(void)
{
    DIR *d = opendir("/proc/self/task");
    int64_t sum = d ? 0 : -1;
    for (const struct dirent *entry; d && (entry = readdir(d));) {
        char path[300];
        long long ran, waits;
        snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", entry->d_name);
        FILE *f = entry->d_name[0] != '.' ? fopen(path, "re") : NULL;
        if (f && fscanf(f, "%lld %lld", &ran, &waits) == 2)
            sum += waits;
        if (f)
            fclose(f);
    }
    if (d)
        closedir(d);
    return sum;
}

/* "run WARM PASSES": the time is of all passes together, in ns, behind passes that do not count. */
static bool do_run(worker *w, const char *rest, ts_error *e)
{
    int warm = 0, passes = 0;
    if (sscanf(rest, "%d %d", &warm, &passes) != 2 || warm < 0 || passes < 1)
        return err_set(e, TS_BUG, "run %s: two counts are needed", rest);
    for (int i = 0; i < warm; i++)
        if (!one_pass(w, e))
            return false;
    const int64_t waited_before = waited();
    long taken_away = preemptions();
    int64_t start = clock_ns();
    for (int i = 0; i < passes; i++)
        if (!one_pass(w, e))
            return false;
    int64_t ns = clock_ns() - start;
    taken_away = preemptions() - taken_away;
    const int64_t lost = waited() - waited_before;
    printf(SAY_TIME " %lld %ld", (long long)ns, taken_away);
    if (waited_before > 0) /* 0: a system that does not count */
        printf(" %lld", (long long)(lost > 0 ? lost : 0));
    puts("");
    return true;
}

static int kernel_count(worker *w, ts_error *e)
{
    ENDED_BY(heap_free) char *line = ts_plan_json(w->plan, e);
    ENDED_BY(js_free) cJSON *plan = line ? js_parse(line, "the plan", e) : NULL;
    return cJSON_GetArraySize(js_get(plan, "kernels"));
}

/* "profile PASSES": seconds of each kernel in one pass. */
static bool do_profile(worker *w, const char *rest, ts_error *e)
{
    int n = kernel_count(w, e);
    ENDED_BY(heap_free) double *seconds = calloc((size_t)n + 1, sizeof *seconds);
    bool ok = seconds && ts_plan_profile(w->plan, (int)strtol(rest, NULL, 10), seconds, n, e);
    if (ok) {
        cJSON *v = cJSON_CreateObject();
        cJSON_AddItemToObject(v, "seconds", cJSON_CreateDoubleArray(seconds, n));
        answer_json(SAY_PROFILE, v);
    }
    return ok;
}

static const struct command {
    const char *word;
    bool (*obey)(worker *w, const char *rest, ts_error *e);
} commands[] = {{"plan", do_plan}, {"open", do_open}, {"save", do_save}, {"run", do_run}, {"profile", do_profile}};

/* The parent is a program of ours: what it gets wrong is a bug, and said as one. */
static void obey(worker *w, char *line)
{
    ts_error e = {0};
    size_t n = strcspn(line, " ");
    const char *rest = line[n] != 0 ? line + n + 1 : "";
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const struct command *c = &commands[i];
        if (strlen(c->word) != n || strncmp(line, c->word, n) != 0)
            continue;
        if (!w->plan && c->obey != do_open && c->obey != do_plan)
            err_set(&e, TS_BUG, "%s before open", c->word);
        else if (c->obey(w, rest, &e)) {
            fflush(stdout);
            return;
        }
        break;
    }
    err_set(&e, TS_BUG, "unknown command \"%.40s\"", line);
    answer_failure(w, &e);
}

static void release(worker *w)
{
    for (int i = 0; i < w->n_inputs && w->values; i++)
        if (w->values[i].dtype != TS_N_DTYPE)
            ts_array_free(&w->values[i]);
    if (w->step)
        timed_close(w->step);
    else
        ts_plan_free(w->plan);
    free(w->step);
    ts_model_free(w->model);
    cJSON_Delete(w->task);
    free(w->values);
    free(w->paths);
}

/* Ends with its input, so that no worker outlives the race that started it. */
int bench_worker(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    worker w = {0};
    ENDED_BY(heap_free) char *line = NULL;
    size_t cap = 0;
    for (;;) {
        errno = 0;
        ssize_t n = getline(&line, &cap, stdin);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        line[strcspn(line, "\n")] = 0;
        if (strcmp(line, "quit") == 0)
            break;
        obey(&w, line);
    }
    release(&w);
    return TS_OK;
}
