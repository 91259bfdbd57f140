/* version.c - tessera version. */
#include "cli/args.h"
#include "cli/field.h"
#include "cli/verb.h"

static int run(const args *a, ts_error *e)
{
    (void)e;
    if (!a->console.json) {
        printf("tessera %s\n", TS_VERSION);
        return TS_OK;
    }
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "format", "version/1");
    cJSON_AddStringToObject(o, "version", TS_VERSION);
    cJSON_AddStringToObject(o, "compiler", __VERSION__);
    field_print(o, stdout);
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
