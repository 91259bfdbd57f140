/* values.c - the values that a plan holds: of its inputs, given or lent, on the host or newer on a device, and of
 * states that a run moves on. */
#include "backends/driver.h"
#include "schedule/plan/extents.h"

#include <string.h>

bool driver_bring(const ts_plan *p, int k, err *e)
{
    return !p->held || !p->held->newer[k] || p->by->inputs->bring(p->program, k, p->given[k].data, e);
}

void driver_changed(ts_plan *p, int k)
{
    if (p->held)
        p->held->send[k] = 1, p->held->newer[k] = 0;
}

/* bf16 comes as u16, its bits, since npy has no name for it. */
static bool takes(const node *n, const ts_array *value, ts_error *e)
{
    const bool bits = value->dtype == dtype_in_npy(n->type.dtype);
    const type t = {.dtype = bits ? n->type.dtype : value->dtype, .rank = value->rank};
    type have = t;
    memcpy(have.dim, value->dim, sizeof have.dim);
    for (int i = have.rank; i < MAX_RANK; i++)
        have.dim[i] = n->type.dim[i];
    if (type_equal(&have, &n->type))
        return true;
    ENDED_BY(text_free) text a = {0}, b = {0};
    type_print(&a, &have), type_print(&b, &n->type);
    return err_set(e, TS_BAD_INPUT, "input \"%s\" is %s, the model takes %s", n->label, a.s, b.s);
}

/* Values are copied: the caller may change its array as soon as this returns. */
static bool give(ts_plan *p, int k, const ts_array *value, ts_error *e)
{
    const node *n = p->plan->input[k];
    if (extents_any(p->plan, n))
        return varying_give(p, k, value, e);
    if (!takes(n, value, e) ||
        (!p->given[k].data && !ts_array_make(&p->given[k], n->type.dtype, value->rank, value->dim, e)))
        return false;
    memcpy(p->given[k].data, value->data, (size_t)type_bytes(&n->type));
    return driver_changed(p, k), true;
}

static bool same_array(const ts_array *a, const ts_array *b)
{
    bool same = a->dtype == b->dtype && a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++)
        same = a->dim[i] == b->dim[i];
    return same && !memcmp(a->data, b->data, (size_t)ts_array_count(a) * (size_t)ts_dtype_bytes(a->dtype));
}

static bool is_port(const ts_plan *p, int input, err *e)
{
    return driver_stands(p, e) &&
           ((input >= 0 && input < p->n_port) ||
            err_set(e, TS_USAGE, "input %d, but the plan has %d of them, counted from 0", input, p->n_port));
}

static bool is_value(const ts_plan *p, int input, const ts_array *value, err *e)
{
    if (!is_port(p, input, e) || !array_sound(value, "the value of an input", e))
        return false;
    const ts_array *only = p->preset[input] ? &p->preset[input]->value : NULL;
    if (!only || same_array(only, value))
        return true;
    err_set(e, TS_USAGE, "input %d has another value than the one from which shapes were derived", input);
    return err_hint(e, "bind the model again with this value");
}

bool driver_takes(const ts_plan *p, int input, const ts_array *value, err *e)
{
    return is_value(p, input, value, e) &&
           (p->input_of[input] < 0 || takes(p->plan->input[p->input_of[input]], value, e));
}

bool ts_plan_set(ts_plan *p, int input, const ts_array *value, ts_error *e)
{
    if (!is_value(p, input, value, e))
        return false;
    const int v = varying_counted(p, input);
    return merges_leave(p, p->input_of[input], e) && (v < 0 || varying_count(p, v, value, e)) &&
           (p->input_of[input] < 0 || give(p, p->input_of[input], value, e));
}

bool ts_plan_lend(ts_plan *p, int input, const ts_array *value, ts_error *e)
{
    if (!is_port(p, input, e) || !array_sound(value, "the value of an input", e))
        return false;
    const int k = p->input_of[input];
    if (k < 0 && varying_counted(p, input) < 0)
        return true;
    if (p->preset[input] || varying_counted(p, input) >= 0 || extents_any(p->plan, p->plan->input[k]))
        return err_set(e, TS_USAGE, "input %d decides shapes, and cannot be lent: ts_plan_set copies it", input);
    if (!takes(p->plan->input[k], value, e) || !merges_leave(p, k, e))
        return false;
    if (!p->lent[k])
        ts_array_free(&p->given[k]);
    p->given[k] = *value, p->lent[k] = true;
    return driver_changed(p, k), true;
}

static bool no_value(const plan *p, int input, err *e)
{
    err_set(e, TS_USAGE, "input \"%s\" has no value: ts_plan_set gives it one", p->input[input]->label);
    for (int i = 0; i < p->n_carried; i++)
        if (p->carried[i].input == input)
            err_hint(e, "it is carried from run to run: its first value is that of `start` of its ts_update, evaluated "
                        "by ts_eval, or a parameter's own");
    return false;
}

bool driver_gather(ts_plan *p, void **input, err *e)
{
    if (!appending_places(p, e) || !merges_take(p, e))
        return false;
    for (int i = 0; i < p->plan->n_input; i++) {
        if (!p->given[i].data)
            return no_value(p->plan, i, e);
        input[i] = p->given[i].data;
    }
    input[p->plan->n_input] = (void *)(uintptr_t)p->extent;
    return varying_agree(p, e) && (merges_read(p), true);
}

/* ---- state ---- */
bool driver_copy(ts_array *to, const ts_array *from, err *e)
{
    if (!from->data)
        return err_set(e, TS_USAGE, "an input that is to be copied has no value: ts_plan_set gives it one");
    if (!to->data && !ts_array_make(to, from->dtype, from->rank, from->dim, e))
        return false;
    memcpy(to->data, from->data, (size_t)ts_array_count(from) * (size_t)ts_dtype_bytes(from->dtype));
    return true;
}

/* Roots that are inputs which become something else. */
bool driver_keep_old(ts_plan *p, err *e)
{
    const plan *q = p->plan;
    for (int r = 0; r < q->n_root; r++)
        for (int c = 0; c < q->n_carried; c++)
            if (q->root[r] == q->input[q->carried[c].input] &&
                !(driver_bring(p, q->carried[c].input, e) &&
                  driver_copy(&p->old[r], &p->given[q->carried[c].input], e)))
                return false;
    return true;
}

/* Of three places the right one: what an input was before this run changed it, an input, the program's memory */
bool driver_value(ts_plan *p, int root, ts_array *out, err *e)
{
    const int k = input_of(p->plan, p->plan->root[root]);
    const ts_array *have = p->old[root].data ? &p->old[root] : k >= 0 ? &p->given[k] : NULL;
    return have ? (have == &p->old[root] || driver_bring(p, k, e)) && driver_copy(out, have, e)
                : p->by->get(p->program, root, out, e);
}

/* New states that could not be written where the old ones are, because those were still read. */
bool driver_carry_over(ts_plan *p, err *e)
{
    const plan *q = p->plan;
    for (int i = 0; i < q->n_carried; i++) {
        const carried *c = &q->carried[i];
        const buffer *h = &q->buffer[q->root[c->root]->id];
        if ((h->where == IN_INPUT && h->index == c->input) || (p->held && p->held->moved[i]))
            continue;
        if (!driver_value(p, c->root, &p->given[c->input], e))
            return false;
        driver_changed(p, c->input);
    }
    return true;
}

/* A copy, which the caller frees. */
bool ts_plan_value(ts_plan *p, int input, ts_array *out, ts_error *e)
{
    if (!is_port(p, input, e) || !err_given(out, "the array for a value", e))
        return false;
    const int k = p->input_of[input], home = k < 0 ? k : appending_home(p, k);
    if (k < 0 || !p->given[home].data)
        return err_set(e, TS_USAGE, "input %d has no value: ts_plan_set gives it one", input);
    *out = (ts_array){0};
    return driver_bring(p, home, e) &&
           (extents_any(p->plan, p->plan->input[k]) ? varying_value(p, k, out, e) : driver_copy(out, &p->given[k], e));
}

/* The plan's own memory: good until the input is set or the plan is freed. */
bool ts_plan_view(const ts_plan *p, int input, ts_array *out, ts_error *e)
{
    if (!is_port(p, input, e) || !err_given(out, "the array for a value", e))
        return false;
    const int k = p->input_of[input];
    if (k >= 0 && extents_any(p->plan, p->plan->input[k]))
        return err_set(e, TS_USAGE, "input %d has dimensions that vary: ts_plan_value copies it", input);
    if (k < 0 || !p->given[k].data)
        return err_set(e, TS_USAGE, "input %d has no value: ts_plan_set gives it one", input);
    *out = p->given[k];
    return driver_bring(p, k, e);
}

/* ---- by name ---- */
bool driver_give(ts_plan *p, int n, const ts_given *given, err *e)
{
    for (int i = 0; i < n; i++) {
        bool found = false;
        if (!given[i].name)
            return err_set(e, TS_USAGE, "value %d that is given has no name", i);
        if (!array_sound(&given[i].value, "the value of an input", e))
            return err_in(e, "\"%s\"", given[i].name);
        for (int k = 0; k < p->plan->n_input; k++) {
            if (strcmp(p->plan->input[k]->label, given[i].name))
                continue;
            found = true;
            if (!give(p, k, &given[i].value, e))
                return false;
        }
        if (!found)
            return err_set(e, TS_USAGE, "no input \"%s\" is needed by these tensors", given[i].name);
    }
    return true;
}
