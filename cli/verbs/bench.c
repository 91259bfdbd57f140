/* bench.c - tessera bench: which of several schemas, or which runtime, is faster. */
#include "bench/bench.h"
#include "bench/report/report.h"
#include "bench/concurrent.h"
#include "graph/base/base.h"
#include "cli/outfile.h"
#include "cli/profile.h"
#include "cli/results.h"
#include "cli/session.h"
#include "cli/sweep.h"
#include "cli/trace.h"
#include "cli/train_options.h"
#include "cli/unraced.h"
#include "train/ranks.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Between single quotes a shell reads everything as it is, except these. */
static void add_quoted(text *t, const char *s)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=/.,:@%";
    const bool bare = *s && !s[strspn(s, plain)];
    text_add(t, bare ? " %s" : " '", s);
    for (; !bare && *s; s++)
        text_add(t, *s == '\'' ? "'\\''" : "%c", *s);
    text_add(t, bare ? "" : "'");
}

/* The command line that gives these results again, with what was set elsewhere, quoted for a shell; for free(). */
static char *repro(const args *a)
{
    text t = {0};
    text_add(&t, "tessera %s", a->verb->name);
    for (int i = 0; i < a->n_nouns; i++)
        add_quoted(&t, a->noun[i]);
    for (int i = 0; i < a->n_given; i++) {
        text_add(&t, " --%s", a->given[i].option->name);
        if (a->given[i].value)
            add_quoted(&t, a->given[i].value);
    }
    const option *o;
    for (int i = 0; (o = setting_at(i)); i++) {
        const char *set = setting_of(&a->config, o->name)->value;
        if (!set || !verb_option(a->verb, o->name) || args_count(a, o->name) || !strcmp(set, "false"))
            continue;
        text_add(&t, " --%s", o->name);
        if (o->kind != FLAG)
            add_quoted(&t, set);
    }
    return text_take(&t);
}

/* What runs in this process, against nobody, has no verdict. */
static const struct {
    const char *name, *gives;
    unraced *run;
} modes[] = {{"at", "ratios", extents_race},
             {"concurrent", "rates", concurrent_bench},
             {"decode", "rates", decoding_bench},
             {"ranks", "times of each process", ranked_bench}};

static bool fits_without_race(const args *a, const char *which, const char *gives, ts_error *e)
{
    static const char *const all[] = {"train",     "precision", "peer",   "launches", "max-time",
                                      "threshold", "tolerance", "judge",  "fail-on",  "timeout",
                                      "out",       "resume",    "report", "profile",  NULL};
    const char *const *others = strcmp(which, "ranks") == 0 ? all + 2 : all; /* which times steps, too */
    char said[120], hint[80];
    snprintf(said, sizeof said, " belongs to a race with a verdict, and --%s gives %s", which, gives);
    snprintf(hint, sizeof hint, "leave it out; --json prints the %s for programs", gives);
    if (!args_clash(a, others, "bench: ", said, hint, e))
        return false;
    if (args_count(a, "schema") > 1) {
        err_set(e, TS_USAGE, "bench: --%s times one schema, and there are %d", which, args_count(a, "schema"));
        return err_hint(e, "give one -s at a time");
    }
    return strcmp(which, "at") == 0 || (!args_count(a, "at") && !args_count(a, "sweep")) ||
           err_set(e, TS_USAGE, "bench: --%s is for one extent; leave out --at and --sweep", which);
}

static const char one_of_them[] = "leave one of them out";
#define NAMES(...)        \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }
static const clash clashes[] = {
    {"trace", NULL, NAMES("train", "precision", "sweep", "at", "concurrent"), "bench --trace: ", " is not traced",
     one_of_them},
    {NULL, "ranks", NAMES("shards"), "bench: ", " is shared out over processes, and none is asked",
     "add --ranks, or leave it out; tessera run has shards, too"},
    {"decode", NULL, NAMES("concurrent", "in", "limit"), "bench: ", " does not go with --decode, which draws tokens",
     one_of_them},
    {"sweep", NULL, NAMES("at", "train", "profile", "fail-on"),
     "bench: ", " belongs to one race, and --sweep runs many", one_of_them},
    {NULL, "at", NAMES("kernels"), "bench: ", " says of --at which kernels cost more, and none is given",
     "add --at NAME=N, or leave it out: --report shows kernels of a race"}};

/* Options of a step that --decode has, too. */
static bool is_of_texts(const char *name)
{
    return strcmp(name, "batch") == 0 || strcmp(name, "length") == 0;
}

/* Options of a step without one are mistakes, and so are values of inputs with one: a batch is drawn. */
static bool options_fit(const args *a, ts_error *e)
{
    for (int i = 0; i < COUNT(modes); i++)
        if (args_count(a, modes[i].name) && !fits_without_race(a, modes[i].name, modes[i].gives, e))
            return false;
    if (!args_clashes(a, COUNT(clashes), clashes, e))
        return false;
    const bool train = args_flag(a, "train");
    for (const option *o = train_step_options.options; !train && o->name; o++)
        if (!(args_count(a, "decode") && is_of_texts(o->name)) &&
            !args_clash(a, NAMES(o->name), "bench: ", " says what a training step is, and none is timed",
                        "add --train, or leave it out", e))
            return false;
    if (args_count(a, "peer-python") && !args_count(a, "peer")) {
        err_set(e, TS_USAGE, "bench: --peer-python %s runs peers, and none is timed", args_text(a, "peer-python"));
        return err_hint(e, "add --peer NAME, or leave it out");
    }
    if (train && args_count(a, "in")) {
        err_set(e, TS_USAGE, "bench --train: --in gives inputs of a pass, a step takes a batch that is drawn");
        return err_hint(e, "leave it out; --batch and --length say how large the batch is");
    }
    return true;
}

/* 0 stands for what bench takes by itself. Lists are freed by release; their texts are argv's. */
static bench_options options_of(const args *a, progress *p)
{
    bench_options o = session_contest(a);
    o.judge = args_text(a, "judge");
    o.min_time = args_number(a, "min-time"), o.max_time = args_number(a, "max-time");
    o.launches = (int)args_integer(a, "launches");
    o.threshold = args_number(a, "threshold"), o.tolerance = args_number(a, "tolerance");
    o.timeout = args_number(a, "timeout");
    o.python = args_text(a, "peer-python");
    o.seed = (uint64_t)args_integer(a, "seed");
    o.repro = repro(a);
    o.progress = progress_step, o.user = p;
    const char *precision = args_text(a, "precision");
    if (!args_flag(a, "train") && precision && strcmp(precision, "f32") != 0)
        o.precision = precision;
    o.schemas = args_list(a, "schema", &o.n_schemas);
    o.peers = args_list(a, "peer", &o.n_peers);
    return o;
}

static void release(bench_options *o)
{
    session_contest_free(o);
    free((void *)o->schemas), free((void *)o->peers), free((void *)o->repro);
}

static bool show(const args *a, const char *results, ts_error *e)
{
    const paper on = console_paper(&a->console);
    if (!results_show(&on, results, a->console.quiet, e) || (args_flag(a, "profile") && !profile_show(&on, results, e)))
        return false;
    if (args_count(a, "report"))
        console_note(&a->console, "the report is in %s", args_text(a, "report"));
    return true;
}

static bool publish(const args *a, const char *results, ts_error *e)
{
    const char *spans = args_text(a, "trace");
    return results_publish(a, results, &(published){report_write, show}, e) && (!spans || trace_schemas(a, spans, e));
}

/* Results that a signal cut short are safe now: how to go on, and then the signal takes its course. */
static void stop(const args *a, const char *results)
{
    const int signal = bench_stopped(results);
    const char *out = args_text(a, "out");
    if (signal == 0)
        return;
    if (out && strcmp(out, "-") != 0)
        console_note(&a->console, "stopped; what was measured is in %s. To go on: the same command with --resume %s",
                     out, out);
    else
        console_note(&a->console, "stopped; with -o FILE what was measured would be kept, and --resume FILE goes on");
    fflush(stdout);
    raise(signal);
}

/* The exit status, for scripts: a timeout before a verdict that was asked about. */
static int verdict(const args *a, const char *results)
{
    if (bench_timed_out(results))
        return TS_TIMEOUT;
    for (int i = 0; i < args_count(a, "fail-on"); i++) {
        if (bench_has_verdict(results, args_at(a, "fail-on", i)))
            return TS_FAILED;
    }
    return TS_OK;
}

/* Mistakes in options and paths first: minutes of timing must not end with one. */
static int run(const args *a, ts_error *e)
{
    static const char *const files[] = {"out", "report", "trace"};
    for (int i = 0; i < COUNT(files); i++)
        if (args_text(a, files[i]) && !outfile_check(args_text(a, files[i]), e))
            return e->code;
    train_options step;
    if (!options_fit(a, e) || !session_whole(a, e))
        return e->code;
    for (int i = 0; i < COUNT(modes); i++)
        if (args_count(a, modes[i].name))
            return modes[i].run(a, e) ? TS_OK : e->code;
    option_make(&step);
    train_options_take(&step, a);
    const char *resume = args_text(a, "resume");
    ENDED_BY(heap_free) char *partial = resume ? outfile_text(resume, RESULTS_MOST, e) : NULL;
    if (resume && !partial) {
        option_free(&step);
        return e->code;
    }
    progress p = progress_open(&a->console);
    bench_options o = options_of(a, &p);
    o.resume = partial;
    o.train = args_flag(a, "train") ? &step : NULL;
    ENDED_BY(heap_free) char *results = NULL;
    const bool sweeps = args_count(a, "sweep") > 0;
    int code = sweeps ? sweep_race(a, &o, e) : TS_OK;
    const bool ok = !sweeps && bench_run(&o, &results, e);
    progress_close(&p);
    release(&o);
    option_free(&step);
    if (ok && publish(a, results, e)) {
        stop(a, results);
        code = verdict(a, results);
    }
    return code;
}

static const option options[] = {
    {"schema", 's', A_SCHEMA, "FILE|NAME", "a schema to time; repeats (default: the guess)", REPEATS},
    {"peer", 0, A_PEER, "NAME", "time another runtime, as in onnxruntime; repeats", REPEATS},
    {"report", 0, A_FILE, "FILE", "write one HTML page that explains the verdict", ONCE},
    {"out", 'o', A_FILE, "FILE", "write results/1 as JSON", ONCE},
    {"min-time", 0, SECONDS, "TIME", "time that a contestant is sampled for, all launches", ONCE},
    {"max-time", 0, SECONDS, "TIME", "more launches follow in this time while an interval is too wide to decide", ONCE},
    {"launches", 0, INTEGER, "N", "processes per contestant", NULL, false, 1, BENCH_MOST_LAUNCHES},
    {"threshold", 0, PERCENT, "PERCENT", "least difference that matters", ONCE},
    {"tolerance", 0, PERCENT, "PERCENT", "by how much of the largest a result may be off (default: by its dtype)",
     ONCE},
    {"fail-on", 0, CHOICE, "slower|faster|undecided|invalid", "exit 1 on such a verdict; repeats", REPEATS},
    {"precision", 0, CHOICE, "f32|bf16|f16", "precision of matrix products and saved activations", ONCE},
    {"sweep", 0, PAIR, "NAME=V,V,...",
     "a race at each extent, number of threads, or model (models=: MODEL and these); repeats: at each combination",
     REPEATS},
    {"profile", 0, FLAG, NULL, "print the kernels of each candidate, the heaviest first", ONCE},
    {"trace", 0, A_FILE, "FILE", "write when each thread or device did what, of three passes a schema, for Perfetto",
     ONCE},
    {"at", 0, PAIR, "NAME=N,N,...", "with --dim NAME=1..M: the program for all extents against one for each; repeats",
     REPEATS},
    {"kernels", 0, FLAG, NULL, "with --at: also times of each kernel, where both have the same", ONCE},
    {"concurrent", 0, INTEGER, "N", "requests in parallel in place of a race: passes a second, p50, p99", NULL, false,
     1, CONCURRENT_MOST},
    {"decode", 0, INTEGER, "N",
     "in place of a race: tokens a second of --batch prompts of --length tokens, and of N behind each", NULL, false, 2,
     1 << 20},
    {"ranks", 0, FLAG, NULL,
     "in place of a race: the processes that mpirun started, a pass of shares of the batch or a step", ONCE},
    {"shards", 0, INTEGER, "N", "of --ranks: parts of the batch, which decide bits (default: one a process)", NULL,
     false, 1, MOST_SHARDS},
    {"judge", 0, A_TARGET, "NAME", "target whose results count as right (default: plain f64 loops, slow)", ONCE},
    {"peer-python", 0, A_FILE, "PATH", "the Python that runs peers", ONCE},
    {"timeout", 0, SECONDS, "TIME", "how long a contestant may take for one answer", ONCE},
    {"seed", 0, INTEGER, "N", "seed of inputs, orders and resampling", NULL, false, 0, INT64_MAX},
    {"resume", 0, A_FILE, "FILE", "go on from what an interrupted bench wrote to FILE", ONCE},
    {"train", 0, FLAG, NULL, "time a step of training: forward, loss, backward, clipping and update", ONCE},
    {0},
};

static void usual(const option *o, char out[OPTION_TEXT_MOST])
{
    const usual_number usuals[] = {{"launches", bench_usual.launches},
                                   {"min-time", bench_usual.min_time},
                                   {"max-time", bench_usual.max_time},
                                   {"timeout", bench_usual.timeout},
                                   {"threshold", bench_usual.threshold},
                                   {"seed", (double)bench_usual.seed},
                                   {0}};
    if (strcmp(o->name, "peer-python") == 0)
        snprintf(out, OPTION_TEXT_MOST, "%s of PATH", bench_usual.python);
    else if (strcmp(o->name, "precision") == 0)
        train_options_usual(o, out);
    else
        option_usual(usuals, o, out);
}

static const option_group *const groups[] = {&train_step_options, &session_model_options, &session_limit_options,
                                             &session_plan_options, NULL};

const verb verb_bench = {
    .name = "bench",
    .brief = "Time a model under several schemas, with a verdict",
    .usage = "MODEL",
    .own = {"Options", options, usual},
    .groups = groups,
    .examples = "tessera bench bert-base --dim seq=128 -s a.json -s b.json --report report.html\n"
                "tessera bench model.onnx --peer onnxruntime --threads 2 -o results.json\n"
                "tessera bench model.onnx --profile # where the time goes, kernel by kernel\n"
                "tessera bench model.onnx --trace trace.json # thread by thread\n"
                "tessera bench minilm --sweep seq=32,64 --sweep threads=1,2 --report map.html\n"
                "tessera bench minilm.onnx --train --batch 32 --length 64 --peer pytorch\n"
                "tessera bench minilm --train --ranks # behind mpirun -n 4\n"
                "tessera bench minilm --dim seq=1..512 --at seq=77,128 # one program for all\n"
                "tessera bench minilm --concurrent 4 # requests in parallel, in place of a race\n"
                "tessera bench decoder.onnx --decode 64 --batch 4 # tokens a second\n"
                "tessera bench resnet-18 --min-time 2s --launches 1 --json # quick, for scripts",
    .details = "Contestants are checked against plain f64 loops, then timed in turns. Verdicts are FASTER, SLOWER, "
               "SAME, UNDECIDED.",
    .run = run,
};
