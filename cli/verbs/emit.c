/* emit.c - tessera emit: a model, or a run's training, as a program of its own. */
#include "train/ask.h"
#include "train/run_folder.h"
#include "graph/base/err.h"
#include "cli/outfile.h"
#include "cli/say.h"
#include "cli/session.h"

#include <stdlib.h>
#include <string.h>

/* The run as it began: what it is of was settled then. */
static bool emit_training(const args *a, const char *folder, ts_error *e)
{
    static const char *const settled[] = {"dim", "in", "from", "to", NULL};
    const char *run = args_noun(a, 0);
    train_options w;
    train_job j = {.asked = &w, .run = run, .resume = true, .emit = folder, .options = session_options(a)};
    if (!args_clash(a, settled, "emit --train: ", " was settled when the run began", "leave it out", e))
        return false;
    if (!run_is(run)) {
        err_set(e, TS_USAGE, "'%s' holds no run: there is no run.json", run);
        return err_hint(e, "tessera train MODEL --data FILE -o RUN makes one");
    }
    option_make(&w);
    const bool ok = train_run(&j, e) == TS_OK;
    option_free(&w);
    return ok;
}

/* "relu3(x) = x < 0 ? 0.0 : ...", or the name of a function of the graph or of an operation with its attributes */
static bool emit_function(ts_graph *g, const args *a, const char *file, ts_error *e)
{
    const char *words = args_text(a, "fn"), *close = strchr(words, ')'), *equals = close ? strchr(close, '=') : NULL,
               *derivative = args_text(a, "derivative");
    if (!equals && (strchr(words, '(') || derivative)) {
        err_set(e, TS_USAGE, "emit: --fn \"%s\" has no text", words);
        return err_hint(e, "--fn \"relu3(x) = x < 0 ? 0.0 : x\"; an operation has its own, as have functions of MODEL: "
                           "--fn gelu");
    }
    char *head = strndup(words, equals ? (size_t)(close + 1 - words) : 0),
         *name = strndup(words, equals ? strcspn(words, " (") : strlen(words));
    char *source = NULL;
    if (!head || !name)
        err_memory(e, strlen(words) + 1, "a function");
    else if (equals && !ts_function(g, head, equals + 1, derivative))
        ts_graph_ok(g, e);
    else
        source = ts_function_source(g, name, args_text(a, "what"), e);
    const bool ok = source && outfile_write(file, source, e);
    ts_free(source), free(head), free(name);
    return ok;
}

static bool refuse_options(const args *a, const option_group *of, ts_error *e)
{
    bool ok = true;
    for (const option *o = of->options; ok && o->name; o++)
        ok = args_clash(a, (const char *const[]){o->name, NULL}, "emit --fn: ", " says nothing of a scalar function",
                        "leave it out: the file is plain C of doubles, whatever the machine", e);
    return ok;
}

/* Functions of a model's file are those of its graph. */
static bool emit_source(session *s, const args *a, const char *file, ts_error *e)
{
    static const option apart[] = {{.name = "schema"}, {.name = "train"}, {0}};
    if (!refuse_options(a, &(option_group){.options = apart}, e) || !refuse_options(a, &session_plan_options, e) ||
        (!args_noun(a, 0) && !refuse_options(a, &session_model_options, e)))
        return false;
    if (args_noun(a, 0))
        return session_open(s, a, args_noun(a, 0), e) && emit_function(ts_model_graph(s->model), a, file, e);
    ts_graph *g = ts_graph_make();
    const bool ok = emit_function(g, a, file, e);
    ts_graph_free(g);
    return ok;
}

static bool work(session *s, const args *a, const char *folder, ts_error *e)
{
    static const char *const folders[] = {"fn", "train", "out", NULL};
    const ts_single single = !args_text(a, "single")                      ? TS_FOLDER
                             : !strcmp(args_text(a, "weights"), "beside") ? TS_SINGLE_BESIDE
                                                                          : TS_SINGLE;
    if (single && !outfile_check(folder, e))
        return false;
    if (single && !args_clash(a, folders, "emit --single: ", " writes something else", "leave one of them out", e))
        return false;
    if (!single && (!args_clash(a, (const char *const[]){"weights", NULL}, "emit: ", " is of --single FILE.c",
                                "a folder has them in weights.bin", e) ||
                    !args_needed(a, "out", "-o FOLDER says where the sources go, --single FILE.c one file", e)))
        return false;
    if (args_text(a, "fn"))
        return emit_source(s, a, folder, e);
    if (!args_noun(a, 0)) {
        err_set(e, TS_USAGE, "emit: MODEL is missing");
        return err_hint(e, "tessera help emit");
    }
    if (!single && !outfile_folder_check(folder, e))
        return false;
    if (args_flag(a, "train"))
        return emit_training(a, folder, e);
    if (!session_open(s, a, args_noun(a, 0), e))
        return false;
    ts_plan *plan = session_plan_make(s, e);
    bool ok = plan && ts_plan_emit(plan, folder, &(ts_emission){.single = single}, e);
    if (ok)
        session_tell(s, plan, NULL);
    ts_plan_free(plan);
    return ok;
}

static int run(const args *a, ts_error *e)
{
    const char *file = args_text(a, "single"), *folder = file ? file : args_text(a, "out");
    session s = {0};
    const bool ok = work(&s, a, folder, e);
    session_close(&s);
    if (ok)
        reply_note(a, js_put(reply_make("emit/1"), "folder:%s", folder),
                   args_text(a, "fn") ? "[folder=-?|wrote {folder}]"
                   : file             ? "wrote {folder}; build it with cc -std=c11 {folder} -lm"
                                      : "wrote {folder}; build it with make -C {folder}");
    return TS_OK;
}

static const option options[] = {
    {"out", 'o', A_FOLDER, "FOLDER", "where to write sources, weights and Makefile", ONCE},
    {"single", 0, A_FILE, "FILE", "all of it in one file of C instead, weights too", ONCE},
    {"weights", 0, CHOICE, "inside|beside", "of --single: in the file, or in FILE.bin beside it", "inside", false, 0,
     0},
    {"schema", 's', A_SCHEMA, "FILE|NAME", "tiling schema (default: the built-in guess)", ONCE},
    {"fn", 0, WORD, "TEXT",
     "a scalar function, as one C file: \"sq(x) = x*x\", an operation, as gelu, or one of MODEL's functions", ONCE},
    {"what", 0, CHOICE, "value|jvp|vjp", "of --fn: its value, or a derivative in forward or reverse mode", "value",
     false, 0, 0},
    {"derivative", 0, WORD, "TEXT",
     "of --fn: its partial derivatives, separated by commas (default: derived from the text)", ONCE},
    {"train", 0, FLAG, NULL, "MODEL is a run: the program that trains it, with its data", ONCE},
    {0},
};

const verb verb_emit = {
    .name = "emit",
    .brief = "Write a model, or its training, as a C program",
    .usage = "[MODEL]",
    .own = {"Options", options, NULL},
    .groups = session_model_groups,
    .examples = "tessera emit bert-base -o bert # C sources, weights, Makefile\n"
                "tessera emit model.onnx -s mine.json --dim batch=1 --target c -o generated\n"
                "tessera emit minilm --single m.c --weights beside # cc -std=c11 m.c -lm\n"
                "tessera emit run --train -o trainer # then make -C trainer, and ./train there\n"
                "tessera emit --fn \"relu3(x)=x<0?0.0:x<1?x*x*x/3:x-2/3.0\" --what vjp -o relu3.c",
    .run = run,
};
