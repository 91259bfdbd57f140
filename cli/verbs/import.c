/* import.c - tessera import: a network as a folder that people can read, edit and compare. */
#include "cli/outfile.h"
#include "cli/say.h"
#include "cli/session.h"

/* Dimensions stay free where nothing binds them. All that is unsupported is told before anything is written. */
static int run(const args *a, ts_error *e)
{
    const char *folder = args_text(a, "out");
    if (!args_needed(a, "out", "-o FOLDER says where graph.json and weights.safetensors go", e) ||
        !outfile_folder_check(folder, e))
        return e->code;
    ts_model *m = session_model_make(a, args_noun(a, 0), e);
    bool ok = m && session_attempt(m, a, e);
    ok = ok && ts_model_save(m, "json", folder, e);
    if (ok)
        reply_note(a,
                   js_put(reply_make("import/1"), "folder:%s,inputs:%d,outputs:%d", folder, ts_model_inputs(m),
                          ts_model_outputs(m)),
                   "wrote {folder}: graph.json, and weights.safetensors if there are any");
    ts_model_free(m);
    return e->code;
}

static const option options[] = {
    {"out", 'o', A_FOLDER, "FOLDER", "where to write graph.json and weights.safetensors", ONCE},
    {0},
};

const verb verb_import = {
    .name = "import",
    .brief = "Write a model as graph.json and weights.safetensors",
    .usage = "MODEL",
    .own = {"Options", options, NULL},
    .groups = session_dim_groups,
    .examples = "tessera import model.onnx -o bert # then: tessera show bert --hash",
    .details = "Names, operator versions and symbols of dimensions stay as the file has them, and numbers keep their "
               "bits. Everything unsupported is listed at once, and nothing is written then.",
    .run = run,
};
