/* run_step.c - planning the step of a run as it began. */
#include "cli/run_step.h"

#include "cli/session.h"
#include "train/forecast.h"
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

static int begin(const args *a, train_job *j, const char *schema, ts_error *e)
{
    static const char *const settled[] = {"dim", "in", "from", "to", "limit", NULL};
    char before[32], why[4200];
    train_options w;
    j->asked = &w, j->resume = true, j->options = session_options(a), j->options.schema = schema;
    snprintf(before, sizeof before, "%s: ", a->verb->name);
    snprintf(why, sizeof why, " was settled when the run in '%s' began", j->run);
    if (!args_clash(a, settled, before, why, "leave it out", e))
        return TS_USAGE;
    option_make(&w);
    const int code = train_run(j, e);
    option_free(&w);
    return code;
}

int run_step(const args *a, const char *run, const char *schema, step_look *look, ts_error *e)
{
    looking l = {a, look};
    return begin(a, &(train_job){.run = run, .planned = planned, .user = &l}, schema, e);
}

int run_forecast(const args *a, const char *run, const char *schema, forecast *f, ts_error *e)
{
    return begin(a, &(train_job){.run = run, .forecast = f}, schema, e);
}
