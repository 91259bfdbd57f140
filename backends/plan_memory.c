/* plan_memory.c - whether the memory that a plan needs is there, and what it holds. */
#include "backends/driver.h"
#include "backends/host_memory.h"
#include "schedule/plan/checkpointing.h"

#include <string.h>

static int64_t bytes_weighing(const plan *p)
{
    int64_t need = 0;
    for (int i = 0; i < p->n_leaf; i++) {
        int64_t bytes;
        if (!int_mul(p->leaf[i].layout.size, ts_dtype_bytes(p->leaf[i].node->type.dtype), &bytes) ||
            !int_add(need, bytes, &need))
            need = INT64_MAX;
    }
    return need;
}

static int64_t bytes_needed(const plan *p) /* values, weights and inputs */
{
    int64_t need;
    return int_add(plan_given(p), p->arena_bytes, &need) && int_add(need, bytes_weighing(p), &need) ? need : INT64_MAX;
}

static const node *larger(const node *a, const node *b)
{
    return !a || type_bytes(&b->type) > type_bytes(&a->type) ? b : a;
}

static const node *largest(const plan *p) /* of values and weights: what there is too much of */
{
    const node *most = NULL;
    for (int k = 0; k < p->n_kernel; k++)
        for (int i = 0; i < p->kernel[k].n_stage; i++)
            if (!p->kernel[k].stage[i].scratch)
                most = larger(most, p->kernel[k].stage[i].node);
    for (int i = 0; i < p->n_leaf; i++)
        most = larger(most, p->leaf[i].node);
    return most;
}

typedef struct needed {
    int64_t all, values, have; /* bytes */
    const char *how;           /* these are there */
} needed;

static bool fits_memory(const plan *p, const needed *n, err *e)
{
    const node *most = n->all > n->have ? largest(p) : NULL;
    ENDED_BY(text_free) text name = {0}, all = {0}, values = {0}, have = {0};
    if (n->all <= n->have)
        return true;
    if (most)
        text_add(&name, "; the largest is %s ", *most->label ? most->label : most->op->name),
            type_print(&name, &most->type);
    text_size(&all, (double)n->all), text_size(&values, (double)n->values), text_size(&have, (double)n->have);
    err_set(e, TS_MEMORY, "the plan needs %s (%s of them for values, the rest for weights and inputs), %s are %s%s",
            all.s, values.s, have.s, n->how, text_str(&name));
    if (p->checkpointing && p->checkpointing->backward)
        return err_hint(e, "all that can be computed again already is: take fewer examples at once, or raise the limit "
                           "with --mem-limit");
    return err_hint(
        e, "bind smaller dimensions, spread it over devices (--target A,B), or raise the limit with --mem-limit");
}

/* A part with what it is allowed, else, where it does not lie in this process's memory, with what its target has */
static bool part_fits(const site *s, err *e)
{
    const plan *q = s->part;
    const int64_t there = sites_backend(s)->in_host ? 0 : s->on->level[s->on->n_level - 1].bytes;
    const int64_t have = s->most ? s->most : there;
    return !have ||
           fits_memory(q, &(needed){bytes_needed(q), q->arena_bytes, have, s->most ? "allowed" : "there"}, e) ||
           err_in(e, "device %s", s->name);
}

/* Of a plan over several devices: what lies in this process's memory, the inputs at least, is all together the whole
 * processor's. A limit of each device is none of all; one that names the processor is. */
static bool parts_fit(const plan *p, const char *limits, err *e)
{
    const char *whole = p->finder->otherwise;
    const int64_t limit = size_named(limits, whole);
    int64_t need = plan_given(p), values = 0;
    for (int i = 0; i < p->n_site; i++) {
        const plan *q = p->site[i].part;
        if (q && !part_fits(&p->site[i], e))
            return false;
        if (q && sites_backend(&p->site[i])->in_host)
            need = int_add(need, bytes_needed(q) - plan_given(q), &need) ? need : INT64_MAX, values += q->arena_bytes;
    }
    const needed all = {need, values, limit ? limit : host_memory_free(), limit ? "allowed" : "free"};
    return fits_memory(p, &all, e) || err_in(e, "device %s", whole);
}

bool driver_fits(const plan *p, const char *limits, err *e)
{
    if (p->n_site)
        return parts_fit(p, limits, e);
    const int64_t most = p->site->most, have = most ? most : host_memory_free();
    return fits_memory(p, &(needed){bytes_needed(p), p->arena_bytes, have, most ? "allowed" : "free"}, e) ||
           err_in(e, "device %s", p->site->name);
}

static bool is_among(int n, const site *s, const char *name, size_t length)
{
    bool is = false;
    for (int i = 0; i < n; i++)
        is = is || word_is(s[i].name, name, length);
    return is;
}

bool driver_limits(const char *limits, const plan *p, err *e)
{
    const int n_site = p->n_site > p->n_given ? p->n_site : p->n_given;
    for (named_size x; size_next(&limits, &x);) {
        if (!x.bytes)
            return err_set(e, TS_USAGE,
                           "mem-limit \"%.*s\": a size in bytes expected, as 512M or 4G, of each device or "
                           "of one, as c:numa0=4G",
                           (int)x.length, x.s);
        if (x.name && !word_is(p->finder->otherwise, x.s, x.name) && !is_among(n_site, p->site, x.s, x.name)) {
            ENDED_BY(text_free) text have = {0};
            for (int i = 0; i < n_site; i++)
                text_add(&have, "%s%s", i ? ", " : "", p->site[i].name);
            err_set(e, TS_USAGE, "mem-limit \"%.*s\": the plan is for no such device", (int)x.length, x.s);
            return err_hint(e, "it is for %s", text_str(&have));
        }
    }
    return true;
}

/* ---- what is held ---- */
const char *ts_tag_name(ts_tag t)
{
    static const char *const name[TS_N_TAG] = {"inputs", "weights", "values", "plan"};
    return (unsigned)t < TS_N_TAG ? name[t] : "";
}

/* Of values that are there between kernels at - 1 and at, or while kernel at runs */
static int64_t bytes_alive(const plan *p, int at, bool runs)
{
    int64_t all = 0;
    for (int id = 0; id < p->n_buffer; id++) {
        const buffer *h = &p->buffer[id];
        if (h->where == IN_ARENA && !h->over && h->first < at + runs && h->last >= at)
            all += h->bytes;
    }
    return all;
}

static void tell_values(const ts_plan *p, ts_memory *m)
{
    const plan *q = p->plan;
    const int64_t now = bytes_alive(q, p->at, false);
    int64_t peak = now;
    for (int k = p->from; k < p->to; k++)
        peak = int_max(peak, bytes_alive(q, k, true));
    *m = (ts_memory){now, peak};
}

static int64_t bytes_held(const ts_plan *p) /* of values given by inputs, but for those that are lent */
{
    int64_t all = 0;
    for (int i = 0; i < p->plan->n_input + p->plan->n_told; i++)
        if (p->given[i].data && !p->lent[i])
            all += ts_array_count(&p->given[i]) * ts_dtype_bytes(p->given[i].dtype);
    return all;
}

bool ts_plan_memory(const ts_plan *p, ts_memory out[TS_N_TAG], ts_error *e)
{
    if (!driver_stands(p, e) || !err_given(out, "what a plan holds", e))
        return false;
    int64_t now[TS_N_TAG] = {
        [TS_TAG_INPUTS] = bytes_held(p), [TS_TAG_PLAN] = (int64_t)(arena_bytes(&p->mem) + arena_bytes(&p->plan->mem))};
    for (int i = 0; i < TS_N_TAG; i++)
        out[i] = (ts_memory){now[i], now[i]};
    for (int i = 0; p->program && i < p->plan->n_site; i++) { /* parts have orders of their own: all of their values */
        const plan *q = p->plan->site[i].part;
        const int64_t values = q ? q->arena_bytes : 0, weights = q ? bytes_weighing(q) : 0;
        out[TS_TAG_VALUES].now += values, out[TS_TAG_VALUES].peak += values;
        out[TS_TAG_WEIGHTS].now += weights, out[TS_TAG_WEIGHTS].peak += weights;
    }
    if (!p->program || p->plan->n_site)
        return true;
    out[TS_TAG_WEIGHTS].now = out[TS_TAG_WEIGHTS].peak = bytes_weighing(p->plan);
    tell_values(p, &out[TS_TAG_VALUES]);
    return true;
}

void ts_plan_mark(ts_plan *p)
{
    if (p)
        p->from = p->to = p->at;
}
