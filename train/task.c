/* task.c - the table of tasks, by name. */
#include "train/task.h"

#include "graph/base/err.h"

#include <string.h>

const task *task_named(const char *name, ts_error *e)
{
    const task *const *t = tasks;
    while (*t && strcmp((*t)->name, name))
        t++;
    if (!*t) {
        err_set(e, TS_USAGE, "there is no task \"%s\"", name);
        err_hint(e, "those there are: %s", task_names);
    }
    return *t;
}

const task *task_of(const train_options *w)
{
    const task *t = task_named(w->task, NULL);
    MUST(t);
    return t;
}
