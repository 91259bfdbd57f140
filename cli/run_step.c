/* run_step.c - planning the step of a run as it began. */
#include "cli/run_step.h"

#include "cli/session.h"
#include "graph/base/err.h"
#include "train/train.h"

typedef struct looking {
    const args *a;
    step_look *look;
} looking;

static bool planned(void *user, ts_plan *step, ts_error *e)
{
    const looking *l = user;
    return l->look((void *)(uintptr_t)l->a, step, e);
}

int run_step(const args *a, const char *run, const char *schema, step_look *look, ts_error *e)
{
    static const char *const settled[] = {"dim", "in", "limit"};
    train_options w;
    looking l = {a, look};
    train_job j = {.asked = &w, .run = run, .resume = true, .planned = planned, .user = &l};
    j.options = session_options(a);
    j.options.schema = schema;
    for (size_t i = 0; i < sizeof settled / sizeof *settled; i++)
        if (args_count(a, settled[i])) {
            err_set(e, TS_USAGE, "%s: --%s was settled when the run in '%s' began", a->verb->name, settled[i], run);
            return err_hint(e, "leave it out"), TS_USAGE;
        }
    option_make(&w);
    const int code = train_run(&j, e);
    option_free(&w);
    return code;
}
