/* check.c - tessera check: schema lint, for those who think of the model first. */
#include "cli/lint.h"
#include "cli/session.h"

static int run(const args *a, ts_error *e)
{
    return lint_model(a, args_noun(a, 0), args_text(a, "schema"), e);
}

static const option options[] = {
    {"schema", 's', A_SCHEMA, "FILE|NAME", "tiling schema (default: the built-in guess)", ONCE},
    {0},
};

const verb verb_check = {
    .name = "check",
    .brief = "Say whether a schema fits a model: loops, tiles, memory",
    .usage = "MODEL",
    .own = {"Options", options, NULL},
    .groups = session_model_groups,
    .examples = "tessera check bert-base -s mine.json\n"
                "tessera check resnet-50 -s rows --mem-limit 256M",
    .details = "It is tessera schema lint: nothing is built or run.",
    .run = run,
};
