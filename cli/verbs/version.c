/* version.c - tessera version. */
#include "cli/say.h"

static int run(const args *a, ts_error *e)
{
    (void)e;
    reply_give(a, js_put(reply_make("version/1"), "version:%s,compiler:%s", TS_VERSION, __VERSION__),
               "tessera {version}\n");
    return TS_OK;
}

const verb verb_version = {
    .name = "version",
    .brief = "Print the version",
    .usage = "",
    .examples = "tessera version\n"
                "tessera version --json # with the compiler that built it",
    .run = run,
};
