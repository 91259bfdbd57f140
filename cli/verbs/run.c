/* run.c - tessera run: inputs to outputs. */
#include "graph/base/base.h"
#include "cli/against.h"
#include "bench/measure.h"
#include "cli/outfile.h"
#include "cli/say.h"
#include "cli/session.h"
#include "cli/shards.h"
#include "cli/trace.h"
#include "cli/values.h"
#include "train/ranks.h"

#include <stdlib.h>

typedef struct job {
    session session;
    ts_plan *plan;
    shard_run shards;           /* --shards; n 0: the batch is whole */
    const char *folder;         /* of --out, or NULL */
    char (*file)[OUTFILE_NAME]; /* of each output */
    cJSON *root;                /* the reply */
    cJSON *outputs;             /* in it: what is told of each one */
    against other;              /* --against */
    int n_own;                  /* outputs of the model; values inside it stand behind them, and come before them */
    int n_told;                 /* of all, those that people asked for */
    cJSON *values;              /* --trace-values; NULL: nobody asks */
} job;

/* Before anything is planned: what is missing is said at once. */
static bool gather(job *j, const args *a, ts_error *e)
{
    bool random = args_flag(a, "seed") || args_flag(a, "random");
    if (!random)
        return session_require(&j->session, e);
    return session_fill(&j->session, (uint64_t)args_integer(a, "seed"), e);
}

/* Values inside the model, as outputs too: --all, --nodes. */
static bool reveal(job *j, const args *a, ts_error *e)
{
    for (int i = 0; i < args_count(a, "nodes"); i++) {
        const char *glob = args_at(a, "nodes", i);
        const int n = ts_model_reveal(j->session.model, glob, e);
        if (n == 0)
            err_set(e, TS_USAGE, "no value inside the model is called \"%s\", or it is an output already", glob),
                err_hint(e, "run --all lists them all");
        if (n <= 0)
            return false;
    }
    j->n_told = ts_model_outputs(j->session.model);
    if (!args_flag(a, "all") && !args_text(a, "trace-values"))
        return true;
    const bool ok = ts_model_reveal(j->session.model, "*", e) >= 0;
    j->n_told = args_flag(a, "all") ? ts_model_outputs(j->session.model) : j->n_told;
    return ok;
}

static bool save(job *j, int i, const char *name, bool changed, const ts_array *value, ts_error *e)
{
    if (changed)
        console_note(&j->session.args->console, "output \"%s\" is written to %s/%s%s", name, j->folder, j->file[i],
                     *j->file[i] == '.' ? ", which ls shows with -a" : "");
    ENDED_BY(text_free) text path = {0};
    text_add(&path, "%s/%s", j->folder, j->file[i]);
    return ts_npy_write(text_str(&path), value, e);
}

static void describe(job *j, int i, const char *name, const ts_array *value, double far)
{
    measure m = measure_array(value);
    if (m.bad)
        console_warn(&j->session.args->console, "output \"%s\": %lld of %lld values are NaN or infinite", name,
                     (long long)m.bad, (long long)m.count);
    cJSON *o = js_row(j->outputs, "name:%s,dtype:%s", name, ts_dtype_name(value->dtype));
    cJSON *shape = js_array(o, "shape");
    for (int d = 0; d < value->rank; d++)
        cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)value->dim[d]));
    js_put(o, "min:%g,max:%g,mean:%g,not_finite:%g", m.min, m.max, m.mean, (double)m.bad);
    if (j->folder)
        js_text(o, "file", j->file[i]);
    if (far >= 0)
        js_number(o, "difference", far);
}

/* Values inside are computed before the outputs behind which they stand. */
static int place_of(const job *j, int i)
{
    const int n = ts_model_outputs(j->session.model);
    return i < j->n_own ? n - j->n_own + i : i - j->n_own;
}

static bool look(job *j, int i, const char *name, const ts_array *value, double *far, ts_error *e)
{
    return !j->other.folder ||
           against_look(&j->other, &(against_value){place_of(j, i), name, j->file[i], value}, far, e);
}

static bool collect(job *j, ts_error *e)
{
    int n = ts_model_outputs(j->session.model);
    for (int i = 0; i < n; i++) {
        ts_array value = {0};
        ts_port port = {.name = ""};
        ts_model_output(j->session.model, i, &port);
        if (j->shards.n)
            value = j->shards.out[i], j->shards.out[i] = (ts_array){0};
        else if (!ts_plan_get(j->plan, i, &value, e))
            return false;
        if (j->values)
            values_put(j->values, place_of(j, i), port.name, &value);
        if (i >= j->n_told) {
            ts_array_free(&value);
            continue;
        }
        const bool changed = outfile_name(j->file[i], port.name, ".npy", i, j->file);
        double far = -1;
        bool ok = look(j, i, port.name, &value, &far, e) && (!j->folder || save(j, i, port.name, changed, &value, e));
        if (ok)
            describe(j, i, port.name, &value, far);
        ts_array_free(&value);
        if (!ok)
            return false;
    }
    return !j->other.folder || j->other.compared ||
           err_set(e, TS_FILES, "%s has a file of none of these values", j->other.folder);
}

static const char form[] =
    "[against?{outputs!name|dtype|shape|>min|>max|>mean|>difference}"
    "[first?first that differs: {first/name} at element {first/element}: {first/here:%.9g}, and {first/there:%.9g} in "
    "{against}|none of {compared:%.0f} values differs]\n"
    "|{outputs!name|dtype|shape|>min|>max|>mean}]";

/* --against: the first value that differs */
static void add_first(const against *t, cJSON *root)
{
    if (t->folder)
        js_put(root, "against:%s,compared:%d", t->folder, t->compared);
    if (*t->name)
        js_put(js_object(root, "first"), "name:%s,element:%g,here:%g,there:%g", t->name, (double)t->element, t->here,
               t->there);
}

static bool in_shards(job *j, const args *a, ts_error *e)
{
    session *s = &j->session;
    if (ranks_started() > 1)
        return err_set(e, TS_USAGE, "--shards: this is one of %d processes, each of which would run all of them",
                       ranks_started()),
               err_hint(e, "start one, whose devices share them: --target c:numa0,c:numa1; train and bench --ranks "
                           "share them among processes");
    if (args_flag(a, "all") || args_count(a, "nodes"))
        return err_set(e, TS_USAGE, "--shards: values inside the model are those of a whole run"),
               err_hint(e, "leave out --all and --nodes, or --shards");
    if (session_varies(s))
        return err_set(e, TS_USAGE, "--shards: a shard is of one extent, and --dim gives a range"),
               err_hint(e, "give --dim one extent each");
    if ((j->folder && !outfile_folder_check(j->folder, e)) ||
        !shard_run_make(&j->shards, s, (int)args_integer(a, "shards"), e))
        return false;
    progress_close(&s->progress);
    session_tell(s, j->shards.plan[0], j->root);
    return shard_run_all(&j->shards, args_text(a, "trace"), e) && (!j->folder || outfile_folder(j->folder, e)) &&
           collect(j, e);
}

/* --trace: when each thread or device worked on which kernel */
static bool compute(job *j, const args *a, ts_error *e)
{
    const char *path = args_text(a, "trace");
    if (!path)
        return ts_plan_run(j->plan, e);
    trace t = trace_make();
    const bool ok = trace_plan(&t, args_noun(a, 0), j->plan, &(trace_runs){.passes = 1}, e) && trace_write(&t, path, e);
    trace_free(&t);
    return ok;
}

/* --trace-values: what every value is, in few numbers */
static bool collect_values(job *j, const args *a, ts_error *e)
{
    const char *path = args_text(a, "trace-values");
    if (!path)
        return collect(j, e);
    cJSON *root = js_put(reply_make(FORMAT_VALUES), "model:%s", args_noun(a, 0));
    j->values = js_array(root, "values");
    char *words = collect(j, e) ? js_to_text(root, true) : NULL;
    const bool ok = words && outfile_write(path, words, e);
    free(words), cJSON_Delete(root);
    return ok;
}

static bool work(job *j, const args *a, ts_error *e)
{
    session *s = &j->session;
    j->folder = args_text(a, "out");
    j->other = (against){.folder = args_text(a, "against"), .tolerance = args_number(a, "tolerance")};
    if (j->other.folder && !file_is_folder(j->other.folder)) {
        err_set(e, TS_FILES, "--against %s: no such folder", j->other.folder);
        return err_hint(e, "name one that a run with -o wrote; add --all to both for the values inside");
    }
    static const char *const files[] = {"trace", "trace-values"};
    for (int i = 0; i < COUNT(files); i++)
        if (args_text(a, files[i]) && !outfile_check(args_text(a, files[i]), e))
            return false;
    if (!session_open(s, a, args_noun(a, 0), e) || !gather(j, a, e))
        return false;
    j->n_own = ts_model_outputs(s->model);
    if (!reveal(j, a, e))
        return false;
    j->file = heap_array((size_t)ts_model_outputs(s->model) + 1, sizeof *j->file);
    if (args_integer(a, "shards") > 0)
        return in_shards(j, a, e);
    const bool inside = args_flag(a, "all") || args_count(a, "nodes") ||
                        args_text(a, "trace-values"); /* values inside are those of one extent */
    j->plan = inside ? ts_plan_make(s->model, &s->options, e) : session_plan_make(s, e);
    /* That the folder cannot be written shows before anything takes long; it is made when there is something for it. */
    if (!j->plan || !session_feed(s, j->plan, e) || (j->folder && !outfile_folder_check(j->folder, e)) ||
        !ts_plan_build(j->plan, e))
        return false;
    progress_close(&s->progress);
    session_tell(&j->session, j->plan, j->root);
    return compute(j, a, e) && (!j->folder || outfile_folder(j->folder, e)) && collect_values(j, a, e);
}

static int run(const args *a, ts_error *e)
{
    cJSON *root = reply_make("run/1");
    job j = {.root = root, .outputs = js_array(root, "outputs")};
    bool ok = work(&j, a, e);
    progress_close(&j.session.progress);
    if (ok)
        add_first(&j.other, root);
    reply_done(a, ok, root, form);
    free(j.file);
    ts_plan_free(j.plan);
    shard_run_free(&j.shards);
    session_close(&j.session);
    return *j.other.name ? TS_FAILED : TS_OK;
}

static const option options[] = {
    {"out", 'o', A_FOLDER, "FOLDER", "write every output to FOLDER/NAME.npy", ONCE},
    {"nodes", 0, WORD, "GLOB", "values inside the model too, by name or as in 'n12.*'; repeats", REPEATS},
    {"all", 0, FLAG, NULL, "all values inside the model too", ONCE},
    {"against", 0, A_FOLDER, "FOLDER", "values that run -o wrote, to compare with: exit 1 where some differ", ONCE},
    {"tolerance", 0, NUMBER, "X", "of --against: largest |x - y| / max(1, |x| + |y|)", "1e-4", false, 0, 1},
    {"shards", 0, INTEGER, "N",
     "parts of the batch, each on a device of --target, or through all where these share the model", NULL, false, 1,
     4096},
    {"schema", 's', A_SCHEMA, "FILE|NAME", "tiling schema (default: the built-in guess)", ONCE},
    {"trace", 0, A_FILE, "FILE", "write when each thread or device worked on which kernel, for Perfetto", ONCE},
    {"trace-values", 0, A_FILE, "FILE", "write what every value inside is, in few numbers, for trace-diff", ONCE},
    {"seed", 0, INTEGER, "N", "seed of random values for inputs that are not given", NULL, false, 0, INT64_MAX},
    {"random", 0, FLAG, NULL, "the same as --seed 0", ONCE},
    {0},
};

const verb verb_run = {
    .name = "run",
    .brief = "Run a model once: inputs to outputs",
    .usage = "MODEL",
    .own = {"Options", options, NULL},
    .groups = session_model_groups,
    .examples = "tessera run minilm --seed 1                       # random inputs\n"
                "tessera run model.onnx --in ids=ids.npy --out out # one file per output\n"
                "tessera run bert-base --dim seq=64 --seed 1 --json\n"
                "tessera run m.onnx --in x=x.npy --shards 8 --target c:numa0,c:numa1\n"
                "tessera run m.onnx --seed 1 --shards 8 -s cut.json --trace t.json # a pipeline\n"
                "tessera run m.onnx --seed 1 --trace-values c.json # then trace-diff\n"
                "tessera run m.onnx --seed 1 --all --against out # what differs first",
    .details = "MODEL is a built-in name, an .onnx or .json file, a folder, or one operation with its operands, as "
               "\"matmul f32[64,32] f32[32,48]\". In file names every character of an output's name outside "
               "[A-Za-z0-9._-] becomes _.",
    .run = run,
};
