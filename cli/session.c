/* session.c - opening a model as the command line says. */
#include "cli/session.h"

#include "cli/say.h"
#include "graph/base/suggest.h"

#include <stdlib.h>
#include <string.h>

static const double LONG = 2; /* seconds of waiting that are told what for */

#define DIM                                                                                                            \
    {                                                                                                                  \
        "dim", 0, PAIR, "NAME=N", "extent of a dimension, batch=8, a range, seq=1..128, a sum, total=past+1; repeats", \
            REPEATS                                                                                                    \
    }
static const option dim_options[] = {DIM, {0}};
const option_group session_dim_options = {"Model", dim_options, NULL};

static const option model_options[] = {
    DIM,
    {"in", 0, PAIR, "NAME=FILE.npy", "value (and so shape) of an input; repeats", REPEATS},
    {"from", 0, WORD, "NAME", "run a part: this value inside becomes an input; repeats", REPEATS},
    {"to", 0, WORD, "NAME", "this value becomes an output, in place of the model's; repeats", REPEATS},
    {0},
};
const option_group session_model_options = {"Model", model_options, NULL};

static const option limit_options[] = {
    {"limit", 0, PAIR, "NAME=N",
     "raise or lower a reading limit: steps, folded, known, elements or description; repeats", REPEATS},
    {0},
};
const option_group session_limit_options = {"Limits", limit_options, NULL};

static const option plan_options[] = {
    {"target", 0, A_TARGET, "NAME",
     "back end (doctor lists all), or device of it, as c:numa0, c:cores0-7, BACKEND:1; A,B: over both", ONCE},
    {"threads", 0, INTEGER, "N", "threads (default: one per core)", NULL, false, 1, TS_MAX_THREADS},
    {"isa", 0, AN_ISA, "NAME", "instruction set (default: the best one here)", ONCE},
    {"machine", 0, WORD, "TEXT", "plan for this machine, \"core:8 l3:1(32MB)\", or gpu:h100 (default: this one)", ONCE},
    {"cache-dir", 0, A_FOLDER, "FOLDER|none", "compiled programs (default: the user's cache)", ONCE},
    {"as-written", 0, FLAG, NULL, "no alternatives: neither Strassen nor Winograd", ONCE},
    {"bits", 0, CHOICE, "fast|reproducible", "same bits by every --isa, or the fastest ones", ONCE},
    {"mem-limit", 0, LIMITS, "SIZE", "most to need of each device: 4G or c=4G,c:numa0=2G", ONCE},
    {0},
};
void session_plan_usual(const option *o, char out[OPTION_TEXT_MOST])
{
    snprintf(out, OPTION_TEXT_MOST, "%s", strcmp(o->name, "target") == 0 ? ts_target_usual() : "");
}

const option_group session_plan_options = {"Machine", plan_options, session_plan_usual};
const option_group *const session_model_groups[] = {&session_model_options, &session_limit_options,
                                                    &session_plan_options, NULL};
const option_group *const session_plan_groups[] = {&session_plan_options, NULL};
const option_group *const session_dim_groups[] = {&session_dim_options, &session_limit_options, NULL};

ts_options session_options(const args *a)
{
    return (ts_options){
        .schema = verb_option(a->verb, "schema") ? args_text(a, "schema") : NULL,
        .target = args_text(a, "target"),
        .isa = args_text(a, "isa"),
        .machine = args_text(a, "machine"),
        .cache_folder = args_text(a, "cache-dir"),
        .threads = (int)args_integer(a, "threads"),
        .as_written = args_flag(a, "as-written"),
        .reproducible = args_text(a, "bits") && strcmp(args_text(a, "bits"), "reproducible") == 0,
        .mem_limit = args_text(a, "mem-limit"),
    };
}

bench_options session_contest(const args *a)
{
    const ts_options machine = session_options(a);
    bench_options o = {.model = args_noun(a, 0),
                       .target = machine.target,
                       .isa = machine.isa,
                       .cache_folder = machine.cache_folder,
                       .threads = machine.threads,
                       .as_written = machine.as_written,
                       .reproducible = machine.reproducible,
                       .mem_limit = machine.mem_limit};
    o.dims = args_list(a, "dim", &o.n_dims);
    o.limits = args_list(a, "limit", &o.n_limits);
    o.inputs = args_list(a, "in", &o.n_inputs);
    return o;
}

void session_contest_free(bench_options *o)
{
    free((void *)o->dims), free((void *)o->limits), free((void *)o->inputs);
}

/* Binds dimensions as --dim says, and as `at` does unless it is NULL; value: of each input, or NULL. */
static bool bind(ts_model *m, const args *a, const char *at, const ts_array *value, ts_error *e)
{
    int n;
    ENDED_BY(heap_free) const char **dims = args_list(a, "dim", &n);
    if (at)
        dims[n++] = at;
    bool ok = ts_model_bind(m, n, dims, value, e);
    if (ok && *ts_model_notes(m))
        console_note(&a->console, "%s", ts_model_notes(m));
    return ok;
}

/* With the nearest name, else with all of them. A model that cannot be built has no inputs yet, and says why. */
static bool unknown_input(const session *s, const char *pair, ts_error *e)
{
    if (s->n_inputs == 0 && !bind(s->model, s->args, NULL, NULL, e))
        return false;
    int length = (int)strcspn(pair, "=");
    char name[128];
    snprintf(name, sizeof name, "%.*s", length, pair);
    err_set(e, TS_USAGE, "--in \"%s\": the model has no input \"%s\"", pair, name);
    ts_port port;
    ENDED_BY(suggest_free) suggestion near = {.word = name};
    for (int i = 0; i < s->n_inputs; i++)
        if (ts_model_input(s->model, i, &port))
            suggest_offer(&near, port.name);
    return near.n ? suggest_hint(&near, "its inputs are", e) : err_hint(e, "it has no inputs");
}

/* The input whose name stands before an equals sign in pair (names may hold one themselves), or -1. */
static int find_input(const session *s, const char *pair, const char **file)
{
    int found = -1;
    size_t longest = 0;
    for (int i = 0; i < s->n_inputs; i++) {
        ts_port port;
        if (!ts_model_input(s->model, i, &port))
            continue;
        size_t n = strlen(port.name);
        if (strncmp(pair, port.name, n) != 0 || pair[n] != '=' || (found >= 0 && n <= longest))
            continue;
        found = i, longest = n;
        *file = pair + n + 1;
    }
    return found;
}

/* A weight that the file lets a run give; false without an error: there is none of that name. */
static bool put_default(const session *s, const char *pair, ts_error *e)
{
    ts_port port;
    for (int i = 0; ts_model_default(s->model, i, &port); i++) {
        const size_t n = strlen(port.name);
        ts_array value;
        if (strncmp(pair, port.name, n) != 0 || pair[n] != '=' || !ts_npy_read(pair + n + 1, &value, e))
            continue;
        const bool ok = ts_model_put(s->model, port.name, &value, e);
        ts_array_free(&value);
        return ok;
    }
    return false;
}

/* Before dimensions are bound, since shapes of files, and sometimes their values, bind them. */
static bool read_inputs(session *s, ts_error *e)
{
    const args *a = s->args;
    for (int k = 0; k < args_count(a, "in"); k++) {
        const char *pair = args_at(a, "in", k), *file = NULL;
        int i = find_input(s, pair, &file);
        if (i < 0 && put_default(s, pair, e))
            continue;
        if (i < 0)
            return e->code == TS_OK && unknown_input(s, pair, e);
        if (s->source[i])
            return err_set(e, TS_USAGE, "--in \"%s\": this input has a value already: %s", pair, s->source[i]);
        if (!ts_npy_read(file, &s->value[i], e))
            return false;
        s->source[i] = file;
    }
    return true;
}

bool session_attempt(ts_model *m, const args *a, ts_error *e)
{
    ts_error unbound = {0};
    if (bind(m, a, NULL, NULL, &unbound) || ts_model_waits(m))
        return true;
    if (unbound.code == TS_USAGE && args_count(a, "dim") == 0)
        return true;
    *e = unbound;
    return false;
}

/* Opened, not bound. */
ts_model *session_model_make(const args *a, const char *what, ts_error *e)
{
    int n;
    ENDED_BY(heap_free) const char **limit = args_list(a, "limit", &n);
    return ts_model_open_within(what, n, limit, e);
}

/* Extents of a part are those of the model bound before its inputs are read. */
static bool cut(const session *s, ts_error *e)
{
    int n_from, n_to;
    ENDED_BY(heap_free) const char **from = args_list(s->args, "from", &n_from), **to = args_list(s->args, "to", &n_to);
    bool ok = !session_varies(s);
    if (!ok)
        err_set(e, TS_USAGE, "--%s \"%s\": a part has no ranges", n_from ? "from" : "to", n_from ? from[0] : to[0]),
            err_hint(e, "give one extent, as --dim seq=128");
    ok = ok && ts_model_cut(s->model, n_from, from, n_to, to, e);
    return ok;
}

bool session_whole(const args *a, ts_error *e)
{
    static const char *const parts[] = {"from", "to", NULL};
    return args_clash(a, parts, "", " runs a part of a model in one process, and this is run in several",
                      "show MODEL --from A --to B --stage folded > part.txt makes a model of it", e);
}

/* On failure what there is of it stays for session_close. */
bool session_open(session *s, const args *a, const char *what, ts_error *e)
{
    return session_open_at(s, a, what, NULL, e);
}

bool session_open_at(session *s, const args *a, const char *what, const char *at, ts_error *e)
{
    *s = (session){.args = a, .progress = progress_open(&a->console), .options = session_options(a)};
    s->options.progress = progress_step;
    s->options.user = &s->progress;
    s->model = session_model_make(a, what, e);
    if (!s->model)
        return false;
    const bool part = args_count(a, "from") || args_count(a, "to");
    if (part && !(bind(s->model, a, at, NULL, e) && cut(s, e)))
        return false;
    s->n_inputs = ts_model_inputs(s->model);
    s->value = heap_array((size_t)s->n_inputs + 1, sizeof *s->value);
    s->source = heap_array((size_t)s->n_inputs + 1, sizeof *s->source);
    for (int i = 0; i < s->n_inputs; i++)
        s->value[i].dtype = TS_N_DTYPE;
    return read_inputs(s, e) && (part || bind(s->model, a, at, s->value, e));
}

/* Whether some --dim gives a range, as seq=1..512. */
bool session_varies(const session *s)
{
    bool any = false;
    for (int i = 0; i < args_count(s->args, "dim"); i++) {
        const char *equals = strrchr(args_at(s->args, "dim", i), '=');
        any = any || (equals && strstr(equals, ".."));
    }
    return any;
}

ts_plan *session_plan_make(session *s, ts_error *e)
{
    ts_error own = {0};
    ts_plan *p = session_varies(s) ? session_varying_make(s, &own) : NULL;
    if (p || (session_varies(s) && own.code != TS_USAGE && !ts_model_waits(s->model))) {
        *e = own;
        return p;
    }
    /* A shape waits for a value: the plan is for that one, and the extents that come with it. */
    if (session_varies(s) && !bind(s->model, s->args, NULL, s->value, e))
        return NULL;
    return ts_plan_make(s->model, &s->options, e);
}

ts_plan *session_varying_make(session *s, ts_error *e)
{
    int n;
    ENDED_BY(heap_free) const char **dims = args_list(s->args, "dim", &n);
    return ts_plan_make_varying(s->model, n, dims, &s->options, e);
}

/* For who waited: what took how long, unless a program was found in the cache. */
static void tell_phases(const console *c, const cJSON *build)
{
    const cJSON *phase;
    double all = 0;
    ENDED_BY(text_free) text t = {0};
    cJSON_ArrayForEach(phase, js_get(build, "phases"))
    {
        all += phase->valuedouble;
        text_add(&t, "%s%.*s %.1f s", t.length ? ", " : "", (int)strlen(phase->string) - 2, phase->string,
                 phase->valuedouble);
    }
    if (c->live && all >= LONG && js_get_number(build, "compiled", 0) > 0)
        console_note(c, "%.0f units were compiled for the first run here: %s", js_get_number(build, "compiled", 0),
                     text_str(&t));
}

void session_tell(const session *s, ts_plan *p, cJSON *reply)
{
    const console *c = &s->args->console;
    ts_error ignored = {0};
    ENDED_BY(js_free) cJSON *root = c->quiet && !reply ? NULL : reply_take(ts_plan_json(p, &ignored), &ignored);
    if (reply) {
        js_number(reply, "compiled", js_get_number(root, "build/compiled", 0));
        cJSON_AddItemToObject(reply, "phases", cJSON_Duplicate(js_get(root, "build/phases"), true));
    }
    tell_phases(c, js_get(root, "build"));
    const cJSON *note;
    cJSON_ArrayForEach(note, js_get(root, "notes")) console_note(c, "%s", note->valuestring);
    for (const char *at = js_get_text(root, "build/notes"); *at; at += strcspn(at, "\n"), at += strspn(at, "\n"))
        console_note(c, "%.*s", (int)strcspn(at, "\n"), at);
}

/* Values for those inputs that have none; whole numbers below what the model states. */
bool session_fill(session *s, uint64_t seed, ts_error *e)
{
    static const uint64_t stride = 1000003; /* each input has its own stream, the same one as in bench */
    for (int i = 0; i < s->n_inputs; i++) {
        ts_port port;
        if (s->value[i].data || !ts_model_input(s->model, i, &port))
            continue;
        if (!ts_array_make(&s->value[i], port.dtype, port.rank, port.dim, e))
            return false;
        ts_array_random(&s->value[i], seed + stride * (uint64_t)(i + 1), port.below);
    }
    return true;
}

bool session_feed(const session *s, ts_plan *p, ts_error *e)
{
    bool ok = true;
    for (int i = 0; ok && i < s->n_inputs; i++)
        ok = ts_plan_set(p, i, &s->value[i], e);
    return ok;
}

static bool is_empty(const ts_port *port)
{
    for (int d = 0; d < port->rank; d++)
        if (port->dim[d] == 0)
            return true;
    return false;
}

bool session_require(session *s, ts_error *e)
{
    char list[1024] = "";
    int missing = 0;
    for (int i = 0; i < s->n_inputs; i++) {
        ts_port port;
        if (s->source[i] || !ts_model_input(s->model, i, &port))
            continue;
        if (is_empty(&port)) {
            if (!ts_array_make(&s->value[i], port.dtype, port.rank, port.dim, e))
                return false;
            continue;
        }
        size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s%s", missing++ ? ", " : "", port.name);
    }
    if (missing == 0)
        return true;
    err_set(e, TS_USAGE, "no value for %s: %s", missing == 1 ? "input" : "inputs", list);
    err_hint(e, "--in NAME=FILE.npy gives one; --seed 1 makes random values for those that are missing");
    return false;
}

void session_close(session *s)
{
    progress_close(&s->progress);
    for (int i = 0; s->value && i < s->n_inputs; i++) {
        if (s->value[i].data)
            ts_array_free(&s->value[i]);
    }
    free(s->value);
    free(s->source);
    ts_model_free(s->model);
}
