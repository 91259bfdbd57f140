/* show.c - what people see of a plan on its way: behind its passes, and kernel by kernel. */
#include "backends/driver.h"
#include "schedule/nest/nest.h"
#include "tessera.h"

typedef struct showing {
    const backend *by;
    const char *as; /* the stage */
    const build_options *asked;
} showing;

static bool show(const showing *o, const plan *p, const kernel *k, text *t, err *e)
{
    bool ok = true;
    if (k->moves)
        return text_line(t, "a transfer between devices"), true;
    if (!o->by->texts)
        return err_set(e, TS_UNSUPPORTED, "target %s makes nothing of kernels that could be shown", o->by->name);
    if (!k->scan || k->scan->inside)
        return o->by->texts->show(p, k, o->as, o->asked, t, e);
    for (int i = 0; ok && i < k->scan->plan->n_kernel; i++)
        ok = show(o, k->scan->plan, &k->scan->plan->kernel[i], t, e);
    return ok;
}

char *ts_plan_kernel(ts_plan *p, int number, const char *as, ts_error *e)
{
    ENDED_BY(text_free) text t = {0};
    if (!driver_stands(p, e) || !err_given(as, "the stage", e))
        return NULL;
    if (number < 0 || number >= p->plan->n_kernel)
        return err_set(e, TS_USAGE, "kernel %d: the plan has 0 to %d", number, p->plan->n_kernel - 1), NULL;
    const kernel *k = &p->plan->kernel[number];
    const site *at = p->plan->n_site && !k->moves ? &p->plan->site[k->site] : NULL;
    const showing how = {at ? sites_backend(at) : p->target, as, &p->asked};
    const bool ok = at ? show(&how, at->part, &at->part->kernel[k->within], &t, e) : show(&how, p->plan, k, &t, e);
    if (ok)
        return text_take(&t);
    return NULL;
}

/* Nodes as ts_print has them; then kernels, where there are some, with the loops that they have by then. */
void show_pass(void *user, const plan *p, int pass)
{
    const ts_options *o = user;
    ENDED_BY(text_free) text t = {0};
    ENDED_BY(heap_free) char *nodes = ts_print(p->n_root, p->root);
    text_add(&t, "%s", nodes);
    for (int i = 0; i < p->n_kernel; i++) {
        const kernel *k = &p->kernel[i];
        text_add(&t, "%sk%d %s %s:", i ? "" : "\n", i, k->op, k->label);
        for (int s = 0; s < k->n_stage; s++)
            text_add(&t, " %s%%%d", k->stage[s].node->op->name, k->stage[s].node->id);
        if (pass >= PASS_LOOPS && !k->moves)
            text_add(&t, "\n    "), nest_print(&t, k, true);
        text_add(&t, "\n");
    }
    o->passed(o->passed_user, p->passes[pass].name, text_str(&t));
}
