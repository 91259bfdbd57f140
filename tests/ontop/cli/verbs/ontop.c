/* ontop.c - a verb that the project does not have. */
#include "cli/args.h"
#include "cli/verb.h"

#include <stdio.h>

static int run(const args *a, ts_error *e)
{
    (void)a, (void)e;
    puts("on top");
    return TS_OK;
}

const verb verb_ontop = {
    .name = "ontop",
    .brief = "Print two words",
    .usage = "",
    .examples = "tessera ontop",
    .run = run,
};
