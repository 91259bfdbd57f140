/* export.c - tessera export: a network as an ONNX file for other runtimes. */
#include "train/ask.h"
#include "train/run_folder.h"
#include "graph/base/err.h"
#include "cli/say.h"
#include "cli/session.h"

/* A bound model knows the dtype of every output; one whose file says it need not be bound. */
static bool save(ts_model *m, const args *a, const char *path, ts_error *e)
{
    return session_attempt(m, a, e) && ts_model_save(m, "onnx", path, e);
}

static int run(const args *a, ts_error *e)
{
    const char *what = args_noun(a, 0), *path = args_text(a, "out");
    static const char *const bound[] = {"dim", NULL}, *const limits[] = {"limit", NULL};
    if (!args_needed(a, "out", "-o FILE.onnx says where the model goes", e))
        return e->code;
    if (run_is(what) &&
        (!args_refuse(a, bound, "extents that the data decides stay free, the others are the run's", e) ||
         !args_refuse(a, limits, "the model was read within the usual limits when it was trained", e)))
        return e->code;
    const bool best = args_flag(a, "best");
    if (best && !run_is(what)) {
        err_set(e, TS_USAGE, "export --best: '%s' is no run", what);
        return err_hint(e, "leave it out; a run is a folder that train wrote"), e->code;
    }
    ts_model *m = run_is(what) ? NULL : session_model_make(a, what, e);
    const bool ok = run_is(what) ? run_export(what, best ? run_weights_best : run_weights_read, path, e)
                                 : m && save(m, a, path, e);
    ts_model_free(m);
    if (ok)
        reply_note(a, js_put(reply_make("export/1"), "file:%s", path), "wrote {file}");
    return e->code;
}

static const option options[] = {
    {"out", 'o', A_FILE, "FILE", "the ONNX file to write", ONCE},
    {"best", 0, FLAG, NULL, "of a run, the step of the best evaluation instead of the last", ONCE},
    {0},
};

const verb verb_export = {
    .name = "export",
    .brief = "Write a model as an ONNX file that other runtimes run",
    .usage = "MODEL",
    .own = {"Options", options, NULL},
    .groups = session_dim_groups,
    .examples = "tessera export bert -o bert.onnx # bert: a folder that import wrote\n"
                "tessera export run -o tuned.onnx # run: what train wrote\n"
                "tessera export run --best -o tuned.onnx # the best of its evaluations\n"
                "tessera export bert-base --dim seq=64 -o bert-64.onnx",
    .details =
        "Numbers beyond one GiB lie in FILE.data beside it. A built-in model is written at the extents that --dim "
        "binds, in operators of ONNX. Of a run, extents that the data decides stay free.",
    .run = run,
};
