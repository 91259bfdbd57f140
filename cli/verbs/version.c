/* version.c - tessera version. */
#include "cli/args.h"
#include "cli/reply.h"
#include "cli/verb.h"

static int run(const args *a, ts_error *e)
{
    (void)e;
    if (!a->console.json) {
        printf("tessera %s\n", TS_VERSION);
        return TS_OK;
    }
    cJSON *o = reply_make("version/1");
    js_put(o, "version:%s,compiler:%s", TS_VERSION, __VERSION__);
    reply_print(o);
    cJSON_Delete(o);
    return TS_OK;
}

static const char *const examples[] = {"tessera version", "tessera version --json # with the compiler that built it",
                                       NULL};

const verb verb_version = {
    .name = "version",
    .brief = "Print the version",
    .usage = "",
    .examples = examples,
    .run = run,
};
