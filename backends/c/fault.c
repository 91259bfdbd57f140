/* fault.c - of which axis an index may have been outside when a kernel says that one was. */
#include "backends/c/program.h"

#include <string.h>

static void add_axis(text *t, const node *of, int axis)
{
    text one = {0};
    text_add(&one, "0...%lld of axis %d", (long long)of->type.dim[axis] - 1, axis);
    if (!strstr(text_str(t), text_str(&one)))
        text_add(t, "%s%s", t->len ? " or " : "", text_str(&one));
    text_free(&one);
}

static bool is_checked(const expr *x) /* a subscript: whether the kernel asks if it is inside */
{
    bool any = x->kind == X_LOAD || (x->kind == X_CALL && !strcmp(x->fn->name, "at"));
    for (int i = 0; i < x->n && !any; i++)
        any = is_checked(x->arg[i]);
    return any;
}

static void add_axes(text *t, const node *of, const expr *const *subscript, int n)
{
    for (int i = 0; i < n; i++)
        if (is_checked(subscript[i]))
            add_axis(t, of, i);
}

static void find_axes(text *t, const node *result, const expr *x)
{
    if (x->kind == X_LOAD)
        add_axes(t, x->from, x->arg, x->n);
    if (x->kind == X_SCATTER)
        add_axes(t, result, x->arg + 2, x->n - 2);
    for (int i = 0; i < x->n; i++)
        find_axes(t, result, x->arg[i]);
}

bool c_outside(const kernel *k, err *e)
{
    text axes = {0};
    for (int i = 0; i < k->n_stage; i++)
        find_axes(&axes, k->stage[i].node, k->stage[i].value);
    err_set(e, TS_NUMERICS, "%s%s%s%s: an index is outside %s", k->op, *k->label ? " \"" : "", k->label,
            *k->label ? "\"" : "", axes.len ? axes.s : "its axis");
    text_free(&axes);
    return err_hint(e, "check integer inputs against the sizes of the tables they index");
}
