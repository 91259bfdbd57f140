/* train.c - tessera train: a model and data to a run. */
#include "train/run_folder.h"
#include "graph/base/clock.h"
#include "train/train.h"
#include "graph/base/err.h"
#include "cli/outfile.h"
#include "cli/say.h"
#include "cli/session.h"
#include "cli/train_options.h"
#include "train/ranks.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- signals: the first one asks for an end, the second one is an end ---- */
static volatile sig_atomic_t stop;
static int stopped_by = SIGTERM; /* or another rank was asked to */

/* Only what a handler may do: it sets a flag that steps look at. */
static void on_signal(int signal)
{
    if (stop)
        _exit(128 + signal);
    stopped_by = signal;
    stop = 1;
}

/* By whoever started it, as nohup does of SIGHUP: then it stays so. */
static bool ignored(int signal)
{
    struct sigaction now;
    return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

static void listen_to(int signal, void (*by)(int))
{
    struct sigaction now = {0};
    now.sa_handler = by;
    sigaction(signal, &now, NULL);
}

/* ---- what is said on the way ---- */
typedef struct screen {
    const console *console;
    bool open; /* a live line stands */
    double shown;
    train_news last;
    cJSON *evals, *facts;
    const args *args;
} screen;

/* A live line has no end yet: it is written over. */
static void clear(screen *s)
{
    if (s->open)
        fputs("\r\033[K", stderr);
    s->open = false;
}

/* A live line as often as can be read, plain ones every ten steps. */
static bool is_due(screen *s, const train_news *n)
{
    const double at = seconds_now();
    if (s->console->quiet)
        return false;
    if (n->step == n->steps)
        return true;
    if (!s->console->live)
        return n->step % 10 == 1 || n->metric.ms >= 1e4;
    if (at - s->shown < 0.1)
        return false;
    s->shown = at;
    return true;
}

static void show_step(screen *s, const train_news *n)
{
    const bool live = s->console->live;
    const metric *m = &n->metric;
    if (!is_due(s, n))
        return;
    clear(s);
    fprintf(stderr, "step %*lld/%lld  loss %.4f  norm %.3g  lr %.2e  %.0f ms  %.0f %s/s  %.0f MiB", 5,
            (long long)n->step, (long long)n->steps, m->loss, m->norm, m->lr, m->ms, m->rate,
            n->examples ? "examples" : "tok", m->memory / 1048576);
    if (isfinite(n->left_s))
        fprintf(stderr, "  left %.0f s", n->left_s);
    if (live)
        fflush(stderr);
    else
        fputc('\n', stderr);
    s->open = live;
    if (live && n->step == n->steps)
        fputc('\n', stderr), s->open = false;
}

static void show_eval(screen *s, const train_news *n)
{
    const verdict *v = n->verdict;
    clear(s);
    say_notes(s->console,
              js_row(s->evals, "step:%g,n:%g,loss:%g,accuracy:%g,precision:%g,recall:%g,f1:%g", (double)n->step,
                     (double)v->n, v->loss, v->accuracy, v->precision, v->recall, v->f1),
              "after step {step}: {n} examples, loss {loss:%.4f}[accuracy?, accuracy {accuracy:%.2f%} %]"
              "[f1?, F1 {f1:%.2f%} %]");
}

static void tell(void *user, const train_news *n)
{
    screen *s = user;
    switch (n->kind) {
    case NEWS_STEP:
        s->last = *n;
        show_step(s, n);
        return;
    case NEWS_EVAL: show_eval(s, n); return;
    case NEWS_SAVED: return;
    case NEWS_FACTS:
        cJSON_Delete(s->facts);
        s->facts = cJSON_Duplicate(n->facts, true);
        return;
    case NEWS_WARNING:
        clear(s);
        console_warn(s->console, "%s", n->text);
        return;
    case NEWS_NOTE:
    case NEWS_START: clear(s); console_note(s->console, "%s", n->text);
    }
}

/* ---- what was asked for ---- */
static void change(void *user, train_options *w)
{
    train_options_take(w, ((const screen *)user)->args);
}

/* train MODEL -o RUN [--resume], or train --resume RUN: the run as it began. */
static bool take_all(train_options *w, const args *a, const char **run, ts_error *e)
{
    const char *noun = args_noun(a, 0), *out = args_text(a, "out"), *norms = args_text(a, "grad-norms");
    const bool as_it_began = args_flag(a, "resume") && !out;
    *run = as_it_began ? noun : out;
    if (norms && !outfile_check(norms, e)) /* else lost after the first step */
        return false;
    if (!as_it_began) {
        if (!args_needed(a, "out", "-o RUN names the folder of the run", e) || !outfile_folder_check(out, e))
            return false;
        option_set_text(&w->model, noun);
        train_options_take(w, a);
        return true;
    }
    for (const option_field *f = option_fields; f->name; f++)
        if (train_options_said(a, f) && !f->free) {
            err_set(e, TS_USAGE, "train --resume %s: --%s was settled when the run began", noun, f->name);
            return err_hint(e, "leave it out");
        }
    if (run_is(noun))
        return true;
    err_set(e, TS_USAGE, "'%s' holds no run to go on with", noun);
    return err_hint(e, "tessera train MODEL --data FILE -o %s begins one", noun);
}

static void reply(const screen *s, const char *run, int code)
{
    cJSON *root = reply_make("train/1");
    js_put(root, "run:%s,steps:%g,loss:%g,stopped:%i", run, (double)s->last.step, s->last.metric.loss,
           code == TRAIN_STOPPED);
    cJSON_AddItemToObject(root, "step", cJSON_Duplicate(s->facts, true));
    cJSON_AddItemToObject(root, "evals", cJSON_Duplicate(s->evals, true));
    reply_end(root);
}

static int run(const args *a, ts_error *e)
{
    train_options w;
    const char *folder;
    screen s = {.console = &a->console, .evals = cJSON_CreateArray(), .args = a};
    int code = TS_USAGE;
    /* What is large goes back when it is freed. Else the C library keeps some, as small blocks happen to lie, and a run
     * takes more than is foretold. */
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    option_make(&w);
    if (take_all(&w, a, &folder, e)) {
        train_job j = {.asked = &w,
                       .run = folder,
                       .resume = args_flag(a, "resume"),
                       .dry = args_flag(a, "dry-run"),
                       .joins = true,
                       .options = session_options(a),
                       .stop = &stop,
                       .change = change,
                       .tell = tell,
                       .user = &s};
        listen_to(SIGINT, on_signal), listen_to(SIGTERM, on_signal), listen_to(SIGPIPE, SIG_IGN);
        if (!ignored(SIGHUP)) /* nohup */
            listen_to(SIGHUP, on_signal);
        code = train_run(&j, e);
        clear(&s);
        if (code == TRAIN_STOPPED)
            console_note(&a->console, "stopped after step %lld, all saved; tessera train --resume %s goes on",
                         (long long)s.last.step, folder);
        if (!e->code && a->console.json)
            reply(&s, folder, code);
    }
    cJSON_Delete(s.evals), cJSON_Delete(s.facts);
    option_free(&w);
    return code == TRAIN_STOPPED ? 128 + stopped_by : code;
}

static const option main_options[] = {
    {"data", 0, WORD, "FILE|NAME=FILE.npy", "examples; pictures of MNIST, CIFAR as NAME=FILE; repeats", REPEATS},
    {"eval", 0, WORD, "FILE|NAME=FILE.npy", "what to evaluate on; repeats", REPEATS},
    {"out", 'o', A_FOLDER, "RUN", "the folder of the run", ONCE},
    {"resume", 0, FLAG, NULL, "go on with the run: train --resume RUN", ONCE},
    {"labels", 0, INTEGER, "N", "classes (default: as many as the data has)", NULL, false, 1, 1000000},
    {"columns", 0, WORD, "TEXT,LABEL", "columns, members of .jsonl (default: text,label)", ONCE},
    {"epochs", 0, INTEGER, "N", "times through the data", NULL, false, 1, 1000000},
    {0},
};
static const option data_options[] = {
    {"tokenizer", 0, A_FILE, "FILE|bytes", "vocab.txt or tokenizer.json (default: beside the model)", ONCE},
    {"steps", 0, INTEGER, "N", "updates, instead of epochs", NULL, false, 1, MOST_STEPS},
    {"order", 0, A_FILE, "FILE", "the examples of each step: a line of 0-based numbers", ONCE},
    {"seed", 0, INTEGER, "N", "of all that is random", NULL, false, 0, INT64_MAX},
    {0},
};
static const option model_options[] = {
    {"pool", 0, CHOICE, "mean|cls", "one vector from those of all tokens", ONCE},
    {"head", 0, A_FILE, "FILE|none", "initial head.weight, head.bias (default: seeded)", ONCE},
    {"loss", 0, WORD, "NAME", "output that is the loss itself: no head", ONCE},
    {"dim", 0, PAIR, "NAME=N", "extent of a dimension that the data leaves open; repeats", REPEATS},
    {"lora", 0, INTEGER, "N", "train LoRA factors of rank N for the weights of --on, and the head", NULL, false, 1,
     65536},
    {"on", 0, WORD, "GLOB", "weights that get LoRA factors; repeats", REPEATS},
    {0},
};
static const option step_options[] = {
    {"shards", 0, INTEGER, "N", "parts of a batch; they decide bits", NULL, false, 1, MOST_SHARDS},
    {"accumulate", 0, INTEGER, "N", "batches whose mean gradient is one step", NULL, false, 1, 1 << 20},
    {"warmup", 0, INTEGER, "N", "steps of rising learning rate (default: a tenth)", NULL, false, 0, MOST_STEPS},
    {"total-steps", 0, INTEGER, "N", "steps of the schedule (default: those of the run)", NULL, false, 1, MOST_STEPS},
    {"no-decay", 0, WORD, "GLOB|none", "parameters without decay (default: those of rank 1); repeats", REPEATS},
    {"beta1", 0, NUMBER, "X", "decay of the first moment", NULL, false, 0, 1},
    {"beta2", 0, NUMBER, "X", "decay of the second moment", NULL, false, 0, 1},
    {"eps", 0, NUMBER, "X", "what keeps divisors from 0", NULL, false, 0, 1},
    {"momentum", 0, NUMBER, "X", "what a step keeps", NULL, false, 0, 1},
    {"nesterov", 0, FLAG, NULL, "of sgd: Nesterov momentum", ONCE},
    {"label-smoothing", 0, NUMBER, "X", "share of each label spread over all classes", NULL, false, 0, 1},
    {"dropout", 0, NUMBER, "X",
     "dropout rate of the head's input and of the model's own Dropout nodes (default: as the model says)", NULL, false,
     0, 1},
    {"dropout-on", 0, WORD, "GLOB", "layers or operations that get dropout instead, or head; repeats", REPEATS},
    {"ema", 0, NUMBER, "X", "average the weights with this decay a step, evaluate and export the average; 0: none",
     NULL, false, 0, 1},
    {"precision", 0, CHOICE, "f32|bf16|f16", "precision of matrix products and saved activations; weights are f32",
     ONCE},
    {"loss-scale", 0, NUMBER, "X", "f16: loss scale at first", NULL, false, 1, MOST_STEPS},
    {"growth-interval", 0, INTEGER, "N", "f16: steps until the scale doubles", NULL, false, 1, MOST_STEPS},
    {"on-nan", 0, CHOICE, "stop|skip", "what to do on NaN or infinity", ONCE},
    {0},
};
static const option run_options[] = {
    {"save-every", 0, INTEGER, "N", "steps between checkpoints (default: an epoch)", NULL, false, 1, MOST_STEPS},
    {"eval-every", 0, INTEGER, "N", "steps between evaluations (default: an epoch)", NULL, false, 1, MOST_STEPS},
    {"patience", 0, INTEGER, "N", "evaluations without a better one (default: never)", NULL, false, 1, MOST_STEPS},
    {"keep", 0, INTEGER, "N", "newest checkpoints that are kept", NULL, false, 2, 100000},
    {"grad-norms", 0, A_FILE, "FILE", "gradient norms of the first step, by parameter", ONCE},
    {"schema", 's', A_SCHEMA, "FILE|NAME", "tiling schema (default: the built-in guess)", ONCE},
    {"dry-run", 0, FLAG, NULL, "check everything and say what would be done", ONCE},
    {0},
};
static const option_group main_group = {"Options", main_options, train_options_usual},
                          data_group = {"Data", data_options, train_options_usual},
                          model_group = {"Model", model_options, train_options_usual},
                          step_group = {"Step", step_options, train_options_usual},
                          run_group = {"Run", run_options, train_options_usual};
static const option_group *const groups[] = {&main_group, &train_step_options, &data_group,           &model_group,
                                             &step_group, &run_group,          &session_plan_options, NULL};

const verb verb_train = {
    .name = "train",
    .brief = "Train a model on your data",
    .usage = "MODEL",
    .groups = groups,
    .examples = "tessera train minilm.onnx --data train.tsv --eval dev.tsv --labels 2 -o run\n"
                "tessera train --resume run # after a stop, a crash or a power failure\n"
                "tessera train gpt2.onnx --task lm --data book.txt --length 128 -o run\n"
                "tessera train cnn.json --data x=x.npy --data y=y.npy --head none -o run",
    .details =
        "A line of a .tsv is TEXT, a tab, LABEL; of a .csv TEXT,LABEL, quotes around what holds commas; of a .jsonl "
        "{\"text\": ..., \"label\": ...}. A header row that names a column text or label may come first. Labels "
        "are names, or numbers from 0. Arrays walk examples along their first axis; NAME is an input of the model, or "
        "label. For --task lm, data is one text, or raw tokens "
        "in a .bin. Ctrl-C finishes the step, saves and ends with 130; the same bits follow from --resume.",
    .run = run,
};
