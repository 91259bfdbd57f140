/* merge.c - values that go from plan to plan (ts_merge_link): what has arrived, what was read. One that replaces is
 * read where it lies, if that is in this process's memory, or in that of the input's device. Where others are added, a
 * plan of that device sums them up, of which all are inputs that are replaced, and the input is replaced by the sum. */
#include "backends/driver.h"
#include "schedule/plan/extents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct merge {
    ts_plan *to, *from; /* from NULL: it was freed */
    int input, output;  /* their numbers in these plans */
    ts_merging how;
    const char *output_name, *names; /* of `to`'s arena; names: input "x" of c takes output "y" of c */
    int64_t read;                    /* the run of `from` that was read last */
    merge *next, *more;              /* of `to`: what replaces, then others as they were linked; of `from` */
    ts_graph *g;                     /* of the first that is added to an input: the sum of all */
    ts_plan *sum;
};

static const type *type_of(const merge *m)
{
    return &m->from->plan->root[m->output]->type;
}

static merge *first_of(const ts_plan *p, int input, ts_merging how) /* NULL: there is none */
{
    merge *m = p->comes;
    while (m && (m->input != input || m->how != how))
        m = m->next;
    return m;
}

/* ---- values ---- */
static bool is_written(const ts_plan *p, int k)
{
    bool is = false;
    for (int i = 0; i < p->plan->n_carried; i++)
        is = is || p->plan->carried[i].input == k;
    return is;
}

/* In rows, in this process's memory, where kernels can read it; NULL: it is not */
static void *address_of(const ts_plan *p, int root)
{
    enum { ALIGNED = 64 };
    const node *n = p->plan->root[root];
    dtype stored;
    if (!p->by->in_host || n->leaf || p->plan->buffer[n->id].where != IN_ARENA)
        return NULL;
    void *at = (void *)(uintptr_t)p->by->at(p->program, n, &stored);
    return stored == n->type.dtype && (uintptr_t)at % ALIGNED == 0 ? at : NULL;
}

static void let_go(ts_plan *p, int k) /* of a value that is not its own */
{
    if (p->lent[k])
        p->given[k] = (ts_array){0}, p->lent[k] = false;
}

/* A value that lies with `from` is there no longer. */
static void forget(const merge *m)
{
    ts_plan *to = m->to;
    if (m->how != TS_REPLACE || is_written(to, m->input) || first_of(to, m->input, TS_ADD))
        return;
    let_go(to, m->input), ts_array_free(&to->given[m->input]);
    driver_changed(to, m->input);
}

/* stays: nobody writes the input, and its value is wanted until `from` runs again */
static bool take(ts_plan *p, int k, ts_plan *from, int root, bool stays, err *e)
{
    const node *n = from->plan->root[root];
    void *at = stays ? address_of(from, root) : NULL;
    if (stays)
        let_go(p, k);
    if (at)
        ts_array_free(&p->given[k]), p->given[k] = type_array(&n->type, at), p->lent[k] = true;
    else if (!p->given[k].data && !ts_array_make(&p->given[k], n->type.dtype, n->type.rank, n->type.dim, e))
        return false;
    if (stays && p->by->shared && p->by == from->by && p->by->shared->lies(p->program, k, from->program, n, e))
        return true;
    return !err_is(e) && (at || driver_value(from, root, &p->given[k], e)) && (driver_changed(p, k), true);
}

/* ---- sums ---- */
/* Of what replaces the input, or of what it holds, with all that is added */
static bool make_sum(merge *first, const type *t, err *e)
{
    ts_plan *p = first->to;
    merge *head = first_of(p, first->input, TS_REPLACE);
    char name[16];
    int n = 0;
    ts_graph *g = ts_graph_make();
    ts_tensor sum = head ? NULL : ts_input(g, "0", t->dtype, t->rank, t->dim);
    for (const merge *m = p->comes; m; m = m->next)
        if (m->input == first->input && m->how != TS_COMPARE) {
            snprintf(name, sizeof name, "%d", n += sum != NULL);
            const ts_tensor x = ts_input(g, name, t->dtype, t->rank, t->dim);
            sum = sum ? ts_call2(g, "add", sum, x) : x;
        }
    const ts_options o = {.target = p->by == &several ? NULL : p->device,
                          .threads = p->sites.asked.threads,
                          .cache_folder = p->asked.cache_folder};
    ts_plan *made = ts_graph_ok(g, e) ? ts_plan_of(g, 1, &sum, 0, NULL, &o, e) : NULL;
    if (!made)
        return ts_graph_free(g), err_in(e, "%s", first->names);
    if (head) /* what lies with the sum that was */
        let_go(p, first->input), ts_array_free(&p->given[first->input]), driver_changed(p, first->input);
    ts_plan_free(first->sum), ts_graph_free(first->g);
    return first->sum = made, first->g = g, true;
}

static bool sum_up(merge *first, bool instead, err *e)
{
    ts_plan *p = first->to, *s = first->sum;
    const int k = first->input;
    char name[16];
    bool ok = ts_plan_build(s, e);
    int n = 0;
    if (ok && !instead)
        ok = driver_bring(p, k, e) && ts_plan_lend(s, ts_plan_find(s, "0"), &p->given[k], e) && ++n;
    for (const merge *m = p->comes; ok && m; m = m->next)
        if (m->input == k && m->how != TS_COMPARE) {
            snprintf(name, sizeof name, "%d", n++);
            ok = take(s, ts_plan_find(s, name), m->from, m->output, true, e);
        }
    return ok && ts_plan_run(s, e) && take(p, k, s, 0, instead && !is_written(p, k), e);
}

/* ---- a run ---- */
static bool wrong(const merge *m, const char *why, const char *remedy, err *e)
{
    err_set(e, TS_USAGE, "%s, %s", m->names, why);
    return err_hint(e, "%s", remedy);
}

static bool arrived(const merge *m, err *e)
{
    static const char turn[] = "run the plan of the output before each run of the input's";
    if (!m->from)
        return wrong(m, "whose plan was freed", "free plans behind those that take their values", e);
    if (m->from->last == RUN_FAILED)
        return wrong(m, "whose last run failed", turn, e);
    return (m->from->last == RAN && m->from->runs > m->read) ||
           wrong(m, m->read ? "which has not run since that was read" : "which has not run yet", turn, e);
}

static bool same(const merge *m, err *e)
{
    const ts_array *have = &m->to->given[m->input];
    const int size = ts_dtype_bytes(have->dtype);
    const int64_t n = ts_array_count(have);
    ts_array other = {0};
    int64_t i = 0;
    bool ok = driver_bring(m->to, m->input, e) && ts_array_make(&other, have->dtype, have->rank, have->dim, e) &&
              driver_value(m->from, m->output, &other, e);
    while (ok && i < n && !memcmp((char *)have->data + i * size, (char *)other.data + i * size, (size_t)size))
        i++;
    if (ok && i < n)
        ok = err_set(e, TS_FAILED, "%s, and they differ: element %lld is %.9g in the one, %.9g in the other", m->names,
                     (long long)i, ts_array_at(have, i), ts_array_at(&other, i));
    ts_array_free(&other);
    return ok;
}

bool merges_await(ts_plan *p, err *e)
{
    for (const merge *m = p->goes; m; m = m->more)
        if (p->last == RAN && p->runs > m->read)
            return wrong(m, "which it has not read since the last run", "run the input's plan between two runs", e);
    for (const merge *m = p->goes; m; m = m->more)
        forget(m);
    return true;
}

bool merges_take(ts_plan *p, err *e)
{
    bool ok = true;
    for (const merge *m = p->comes; ok && m; m = m->next)
        ok = arrived(m, e) && driver_stands(m->from, e);
    for (merge *m = p->comes; ok && m; m = m->next) {
        const merge *head = first_of(p, m->input, TS_REPLACE);
        merge *sum = first_of(p, m->input, TS_ADD);
        if (m == sum && (head || p->given[m->input].data))
            ok = sum_up(sum, head != NULL, e);
        else if (m == head && !sum)
            ok = take(p, m->input, m->from, m->output, !is_written(p, m->input), e);
    }
    for (const merge *m = p->comes; ok && m; m = m->next)
        ok = m->how != TS_COMPARE || !p->given[m->input].data || same(m, e);
    return ok;
}

void merges_read(ts_plan *p)
{
    for (merge *m = p->comes; m; m = m->next)
        m->read = m->from->runs;
}

/* ---- links ---- */
bool merges_leave(const ts_plan *p, int k, err *e)
{
    const merge *m = first_of(p, k, TS_REPLACE);
    return !m || wrong(m, "and nothing else", "link it by TS_ADD to add to what it is set to", e);
}

bool merges_none(const ts_plan *p, err *e)
{
    const merge *m = p->comes ? p->comes : p->goes;
    return !m || wrong(m, "which a pipeline would not wait for", "run it run by run", e);
}

static bool fits(const merge *m, err *e)
{
    const node *in = m->to->plan->input[m->input], *out = m->from->plan->root[m->output];
    const merge *other = m->how == TS_REPLACE ? first_of(m->to, m->input, TS_REPLACE) : NULL;
    if (other)
        return wrong(other, "and is replaced by one output only", "link others by TS_ADD or TS_COMPARE", e);
    if (extents_any(m->to->plan, in) || extents_any(m->from->plan, out))
        return err_set(e, TS_UNSUPPORTED, "%s: their extents vary from run to run", m->names);
    return type_equal(&in->type, &out->type) || err_set(e, TS_BAD_INPUT, "%s: the one is %s, the other %s", m->names,
                                                        type_said(&in->type).s, type_said(&out->type).s);
}

static void name_both(merge *m)
{
    const char *label = m->from->output ? m->from->output[m->output] : m->from->plan->root[m->output]->label;
    m->output_name = *label ? arena_string(&m->to->mem, label) : arena_format(&m->to->mem, "%d", m->output);
    m->names = arena_format(&m->to->mem, "input \"%s\" of %s takes output \"%s\" of %s",
                            m->to->plan->input[m->input]->label, m->to->device, m->output_name, m->from->device);
}

static void drop(merge *m)
{
    for (merge **at = m->from ? &m->from->goes : NULL; at; at = *at == m ? (*at = m->more, NULL) : &(*at)->more)
        MUST(*at);
    ts_plan_free(m->sum), ts_graph_free(m->g), free(m);
}

static void join(merge *m)
{
    merge **at = &m->to->comes;
    while (*at && m->how != TS_REPLACE)
        at = &(*at)->next;
    m->next = *at, *at = m;
    m->more = m->from->goes, m->from->goes = m;
}

bool ts_merge_link(ts_plan *p, const char *input, ts_plan *from, int output, ts_merging how, ts_error *e)
{
    if (!driver_stands(p, e) || !driver_stands(from, e) || !err_given(input, "the name of the input", e))
        return false;
    const int port = ts_plan_find(p, input), n = from->plan->n_root - from->plan->n_carried;
    if (port < 0 || p->preset[port] || (int)how < TS_ADD || how > TS_COMPARE || output < 0 || output >= n || p == from)
        return err_set(e, TS_USAGE,
                       "input \"%s\" takes output %d of %d: an input that the plan needs, which decides no shapes, and "
                       "an output of another plan expected, TS_ADD, TS_REPLACE or TS_COMPARE",
                       input, output, n);
    merge *m = heap_array(1, sizeof *m);
    *m = (merge){.to = p, .from = from, .input = p->input_of[port], .output = output, .how = how};
    name_both(m);
    if (!fits(m, e))
        return m->from = NULL, drop(m), false;
    join(m);
    merge *sum = first_of(p, m->input, TS_ADD);
    if (!sum || how == TS_COMPARE || make_sum(sum, type_of(m), e))
        return true;
    for (merge **at = &p->comes; at; at = *at == m ? (*at = m->next, NULL) : &(*at)->next)
        MUST(*at);
    return drop(m), false;
}

void merges_end(ts_plan *p)
{
    for (merge *m = p->goes; m; m = m->more)
        forget(m), m->from = NULL;
    for (merge *m = p->comes, *next; m; m = next)
        next = m->next, drop(m);
}

/* ---- as the ledger has them ---- */
static void say(const merge *m, const char *key, const char *name, const char *device, text *out)
{
    static const char *const hows[] = {[TS_ADD] = "add", [TS_REPLACE] = "replace", [TS_COMPARE] = "compare"};
    const char *state = !m->from                                          ? "freed"
                        : m->from->last == RAN && m->from->runs > m->read ? "arrived"
                        : m->read                                         ? "read"
                                                                          : "missing";
    json_add(out, "{%s:%s,device:%s,by:%s,state:%s}", key, name, device, hows[m->how], state);
}

void merges_say(const ts_plan *p, int input, int output, text *out)
{
    for (const merge *m = input >= 0 ? p->comes : NULL; m; m = m->next)
        if (m->input == input)
            say(m, "output", m->output_name, m->from ? m->from->device : "", out);
    for (const merge *m = output >= 0 ? p->goes : NULL; m; m = m->more)
        if (m->output == output)
            say(m, "input", m->to->plan->input[m->input]->label, m->to->device, out);
}
