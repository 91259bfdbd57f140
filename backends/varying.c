/* varying.c - plans of which a run says extents: values go to where they lie at the bounds, and results come from
 * there. What lies behind them there is left over from other runs: valid, and read by nothing that counts. */
#include "backends/boxes.h"
#include "backends/driver.h"
#include "schedule/plan/extents.h"

#include <stdlib.h>
#include <string.h>

typedef long long ll;

/* ---- making ---- */
enum { MOST_OTHER = 2 * MOST_VARIABLES + 2 }; /* with the small one */
typedef struct making {
    ts_model *m;
    arena mem;
    const ts_options *o;
    int n;
    const char *const *dim;
    variable of[MOST_VARIABLES];
    int at[MOST_VARIABLES]; /* which of dim it is */
    variables all;
    other_extents other[MOST_OTHER];
    ts_bound *bound[MOST_OTHER + 1]; /* the last one: of `any` */
    int n_bound;
    other_extents any;
} making;

static bool bind(making *k, err *e)
{
    return ts_model_bind(k->m, k->n, k->dim, NULL, e);
}

/* "seq=1..512", or "width=64..512/64", of which the variable is how many steps it has. What is no range at all, binding
 * says. */
static bool is_range(const char *dim, variable *x)
{
    const char *equals = dim ? strrchr(dim, '=') : NULL, *dots = equals ? strstr(equals, "..") : NULL;
    char *end = NULL;
    *x = (variable){0};
    if (!dots)
        return false;
    x->low = strtoll(equals + 1, NULL, 10), x->high = strtoll(dots + 2, &end, 10);
    x->step = *end == '/' ? strtoll(end + 1, NULL, 10) : 1;
    if (x->step < 1)
        return false;
    x->low = dots == equals + 1 ? 1 : x->low / x->step, x->high /= x->step;
    return x->low < x->high;
}

static bool find_ranges(making *k, err *e)
{
    k->all.of = k->of;
    for (int i = 0; i < k->n; i++) {
        variable x;
        if (!is_range(k->dim[i], &x))
            continue;
        x.name = arena_format(&k->mem, "%.*s", (int)(strrchr(k->dim[i], '=') - k->dim[i]), k->dim[i]);
        const char *why = x.low < 1    ? "a dimension that varies has at least one element"
                          : x.high < 3 ? "a range ends at 3 or more: what an extent does is seen at two from 2 on"
                          : k->all.n == MOST_VARIABLES
                              ? arena_format(&k->mem, "at most %d dimensions vary", MOST_VARIABLES)
                              : NULL;
        if (why && bind(k, e))
            err_set(e, TS_UNSUPPORTED, "--dim %s: %s", k->dim[i], why),
                err_hint(e, "give it one extent: --dim %s=N", x.name);
        if (why)
            return false;
        k->at[k->all.n] = i, k->of[k->all.n++] = x;
    }
    return true;
}

/* A range of one extent: the graph is built as that of a range. */
static bool bind_at(making *k, const int64_t *size, err *e)
{
    const char **dim = arena_array(&k->mem, (size_t)k->n + 1, sizeof *dim);
    memcpy(dim, k->dim, (size_t)k->n * sizeof *dim);
    for (int v = 0; v < k->all.n; v++) {
        const ll at = size[v] * k->of[v].step;
        dim[k->at[v]] = arena_format(&k->mem, "%s=%lld..%lld", k->of[v].name, at, at);
    }
    return ts_model_bind(k->m, k->n, dim, NULL, e);
}

/* The graph with other extents, and its roots. Where the model does not fit the bounds either, that is said. */
static ts_bound *bound_at(making *k, const int64_t *size, other_extents *x, err *e)
{
    err own = {0};
    if (!bind_at(k, size, &own)) {
        int which = 0; /* the first that is less */
        while (which + 1 < k->all.n && size[which] == k->of[which].high)
            which++;
        if (!bind(k, e))
            return NULL;
        own.text[strcspn(own.text, "\n")] = 0; /* without its hint */
        err_set(e, TS_UNSUPPORTED, "dimension \"%s\" cannot vary from run to run: where it is %lld, %s",
                k->of[which].name, (ll)(size[which] * k->of[which].step), own.text);
        err_hint(e, "give it one extent: --dim %s=N", k->of[which].name);
        return NULL;
    }
    const int n = ts_model_outputs(k->m) + (k->o ? k->o->n_append : 0);
    const node **made = appending_roots(k->m, k->o, NULL, e),
               **root = arena_array(&k->mem, (size_t)n + 1, sizeof *root);
    if (!made)
        return NULL;
    memcpy(root, made, (size_t)n * sizeof *root);
    free(made);
    *x = (other_extents){.graph = ts_model_graph(k->m), .root = root};
    memcpy(x->size, size, sizeof x->size);
    return ts_model_take(k->m);
}

static bool add_other(making *k, const int64_t *size, err *e)
{
    k->bound[k->n_bound] = bound_at(k, size, &k->other[k->n_bound], e);
    return k->bound[k->n_bound] && ++k->n_bound;
}

/* While the model is bound at the bounds, for the plan that is made of it */
static const other_extents *any_other(void *user, const int64_t *size, err *e)
{
    making *k = user;
    ts_bound *own = ts_model_take(k->m);
    ts_bound_free(k->bound[MOST_OTHER]);
    k->bound[MOST_OTHER] = bound_at(k, size, &k->any, e);
    ts_model_restore(k->m, own);
    return k->bound[MOST_OTHER] ? &k->any : NULL;
}

static bool add_less(making *k, int which, int64_t extent, err *e) /* it alone */
{
    int64_t size[MOST_VARIABLES] = {0};
    for (int v = 0; v < k->all.n; v++)
        size[v] = v == which ? extent : k->of[v].high;
    return add_other(k, size, e);
}

/* From one step below the bound follows what each variable does; where it is least, alone and with the others, shows
 * what is cut off at a number of its own, and what follows a product. */
static bool add_others(making *k, err *e)
{
    const variable *x = k->of;
    const int64_t small = (x->low + (x->high - x->low) / 8) / 2 * 2;
    int64_t least[MOST_VARIABLES] = {0};
    for (int v = 0; v < k->all.n; v++)
        if (least[v] = k->of[v].low, !add_less(k, v, k->of[v].high - 1, e))
            return false;
    for (int v = 0; v < k->all.n && k->all.n > 1; v++)
        if (!add_less(k, v, k->of[v].low, e))
            return false;
    if (k->all.n && !add_other(k, least, e))
        return false;
    k->all.n_other = k->n_bound, k->all.other = k->other;
    k->all.at = any_other, k->all.user = k;
    if (k->all.n != 1 || x->high % 2 || small < x->low || small < 2)
        return true;
    k->all.small = &k->other[k->n_bound];
    return add_less(k, 0, small, e);
}

ts_plan *ts_plan_make_varying(ts_model *m, int n, const char *const *dim, const ts_options *o, ts_error *e)
{
    making k = {.m = m, .o = o, .n = n, .dim = dim};
    ts_plan *p = NULL;
    if (err_given(m, "the model", e) && (!n || err_given(dim, "the list of dimensions", e)) && find_ranges(&k, e) &&
        add_others(&k, e) && bind(&k, e))
        p = driver_make(m, k.all.n ? &k.all : NULL, o, e);
    for (int i = 0; i <= MOST_OTHER; i++)
        ts_bound_free(k.bound[i]);
    arena_free(&k.mem);
    return p;
}

/* ---- values ---- */
static void copy_box(const type *all, const int64_t *box, void *whole, void *dense, bool out)
{
    box_copy(whole, dense, all->rank, all->dim, box, ts_dtype_bytes(all->dtype), out);
}

static bool wrong(const node *n, int d, int64_t have, const char *wanted, err *e)
{
    return err_set(e, TS_BAD_INPUT, "input \"%s\": dimension %d is %lld, %s", n->label, d, (ll)have, wanted);
}

static bool single(const varying *x) /* one variable is in it */
{
    return x->by && !(x->by & (x->by - 1));
}

static int first_of(uint32_t by)
{
    int v = 0;
    while (!(by >> v & 1))
        v++;
    return v;
}

/* What variable v is where x is `have` and the others are known; -1: nothing within its range gives that. */
static int64_t solved(const plan *p, const varying *x, int v, int64_t have, const int64_t *known)
{
    int64_t size[MOST_VARIABLES];
    memcpy(size, known, sizeof size);
    size[v] = 0;
    varying rest = *x;
    rest.per = 1;
    size[v] = (have * x->per - extents_at(&rest, size)) / x->times[v];
    const bool ok = size[v] >= p->variable[v].low && size[v] <= p->variable[v].high;
    return ok && extents_at(x, size) == have ? size[v] : -1;
}

static void outside(const plan *p, const varying *x, text *t)
{
    const variable *v = &p->variable[first_of(x->by)];
    const bool plain = x->times[first_of(x->by)] == v->step && !x->plus && x->per == 1;
    text_add(t, "outside of ");
    if (!plain)
        extents_print(t, p, x), text_add(t, " with ");
    text_add(t, "%s=%lld..%lld", v->name, (ll)(v->low * v->step), (ll)(v->high * v->step));
    if (v->step > 1)
        text_add(t, "/%lld", (ll)v->step);
}

/* said: what this input says of each variable, 0 where it says nothing; two dimensions of one input must agree. What
 * follows several variables is compared when the run's are known. */
static bool take_extent(const plan *p, const node *n, int d, int64_t have, int64_t *said, err *e)
{
    static const int64_t none[MOST_VARIABLES];
    const varying x = extents_of(p, n, d);
    ENDED_BY(text_free) text t = {0};
    if (!x.by && have != n->type.dim[d])
        text_add(&t, "the model takes %lld", (ll)n->type.dim[d]);
    if (single(&x)) {
        const int v = first_of(x.by);
        const int64_t now = solved(p, &x, v, have, none);
        if (now < 0)
            outside(p, &x, &t);
        else if (said[v] && said[v] != now)
            text_add(&t, "and \"%s\" is %lld in another one", p->variable[v].name, (ll)(said[v] * p->variable[v].step));
        said[v] = now;
    }
    return !t.length || wrong(n, d, have, t.s, e);
}

/* The value goes into the corner of memory for the bound; on failure all is as before. */
bool varying_give(ts_plan *p, int k, const ts_array *value, err *e)
{
    const node *n = p->plan->input[k];
    int64_t said[MOST_VARIABLES] = {0};
    bool ok = true;
    if ((value->dtype != n->type.dtype && value->dtype != dtype_in_npy(n->type.dtype)) || value->rank != n->type.rank)
        return err_set(e, TS_BAD_INPUT, "input \"%s\" is %s of rank %d, the model takes %s of rank %d", n->label,
                       ts_dtype_name(value->dtype), value->rank, ts_dtype_name(n->type.dtype), n->type.rank);
    for (int d = 0; ok && d < n->type.rank; d++)
        ok = take_extent(p->plan, n, d, value->dim[d], said, e) &&
             (value->dim[d] <= n->type.dim[d] || wrong(n, d, value->dim[d], "more than its ranges allow", e));
    const int home = appending_home(p, k);
    const type *t = &p->plan->input[home]->type;
    ok = ok && (p->given[home].data || ts_array_make(&p->given[home], t->dtype, t->rank, t->dim, e));
    if (!ok)
        return false;
    memcpy(&p->said[k * MAX_RANK], value->dim, (size_t)n->type.rank * sizeof *value->dim);
    copy_box(t, value->dim, p->given[home].data, value->data, false);
    return driver_changed(p, home), true;
}

/* ---- inputs whose value is a variable ---- */
void varying_count_ports(ts_plan *p, ts_model *m)
{
    ts_port port;
    for (int v = 0; v < MOST_VARIABLES; v++)
        p->counted[v] = -1;
    for (int v = 0; v < p->plan->n_variable; v++) {
        const char *name = p->plan->variable[v].name;
        bool extent = false; /* a dimension has that name, too */
        for (int i = 0; ts_model_input(m, i, &port); i++) {
            for (int d = 0; d < port.rank; d++)
                extent = extent || (port.symbol[d] && !strcmp(port.symbol[d], name));
            if (!strcmp(port.name, name) && dtype_class(port.dtype) == D_WHOLE && port.rank <= 1)
                p->counted[v] = i;
        }
        p->counted[v] = extent ? -1 : p->counted[v];
    }
}

int varying_counted(const ts_plan *p, int port)
{
    int v = MOST_VARIABLES - 1;
    while (v >= 0 && !(p->plan && v < p->plan->n_variable && p->counted[v] == port))
        v--;
    return v;
}

bool varying_count(ts_plan *p, int v, const ts_array *value, err *e)
{
    const variable *of = &p->plan->variable[v];
    if (dtype_class(value->dtype) != D_WHOLE || ts_array_count(value) != 1)
        return err_set(e, TS_BAD_INPUT, "input \"%s\" is %s of %lld elements, the model takes one whole number",
                       of->name, ts_dtype_name(value->dtype), (ll)ts_array_count(value));
    const int64_t n = load_whole(value->dtype, value->data, 0);
    if (n % of->step || n / of->step < of->low || n / of->step > of->high)
        return err_set(e, TS_BAD_INPUT, "input \"%s\" is %lld, outside of %lld..%lld%s", of->name, (ll)n,
                       (ll)(of->low * of->step), (ll)(of->high * of->step), of->step > 1 ? " in its steps" : "");
    return p->count[v] = n / of->step, true;
}

/* Dimensions of inputs say what a variable is of which nothing is known yet, or have to agree; by[v]: the input that
 * said it first, or NULL. Those that follow one variable alone come first. */
static bool agree(ts_plan *p, bool alone, const char *by[MOST_VARIABLES], err *e)
{
    const plan *of = p->plan;
    for (int k = 0; k < of->n_input + of->n_told; k++)
        for (int d = 0; p->given[appending_home(p, k)].data && d < of->input[k]->type.rank; d++) {
            const varying x = extents_of(of, of->input[k], d);
            const int64_t have = p->said[k * MAX_RANK + d];
            uint32_t open = 0;
            for (int v = 0; v < of->n_variable; v++)
                open |= !by[v] ? x.by & 1u << v : 0;
            if (!x.by || single(&x) != alone || open & (open - 1))
                continue;
            const int v = first_of(open ? open : x.by);
            const int64_t now = solved(of, &x, v, have, p->extent), step = of->variable[v].step;
            ENDED_BY(text_free) text t = {0};
            if (alone && now < 0) /* it grew from run to run */
                return wrong(of->input[k], d, have, "more than its ranges allow", e);
            if (open && now >= 0)
                by[v] = of->input[k]->label, p->extent[v] = now;
            else if (alone && now != p->extent[v])
                return err_set(e, TS_BAD_INPUT, "dimension \"%s\" is %lld by input \"%s\" and %lld by input \"%s\"",
                               of->variable[v].name, (ll)(p->extent[v] * step), by[v], (ll)(now * step),
                               of->input[k]->label);
            else if (open || extents_at(&x, p->extent) != have) {
                text_add(&t, "and "), extents_print(&t, of, &x);
                text_add(&t, " is %lld by other inputs", (ll)extents_at(&x, p->extent));
                wrong(of->input[k], d, have, t.s, e);
                return false;
            }
        }
    return true;
}

/* extent[v] is what the run has of each variable: the one all inputs say. */
bool varying_agree(ts_plan *p, err *e)
{
    const char *by[MOST_VARIABLES] = {0};
    for (int v = 0; v < p->plan->n_variable; v++)
        if (p->count[v])
            by[v] = p->plan->variable[v].name, p->extent[v] = p->count[v];
    if (!agree(p, true, by, e) || !agree(p, false, by, e))
        return false;
    for (int v = 0; v < p->plan->n_variable; v++)
        if (!by[v])
            return err_set(e, TS_USAGE, "no input that has a value says what \"%s\" is in this run",
                           p->plan->variable[v].name);
    return true;
}

/* Of memory for the bound the corner that this run has. */
static void box_of(const ts_plan *p, const node *n, int64_t box[MAX_RANK])
{
    for (int d = 0; d < n->type.rank; d++) {
        const varying x = extents_of(p->plan, n, d);
        box[d] = x.by ? extents_at(&x, p->extent) : n->type.dim[d];
    }
}

bool varying_value(const ts_plan *p, int k, ts_array *out, err *e)
{
    const int home = appending_home(p, k);
    const node *n = p->plan->input[home];
    const int64_t *box = &p->said[k * MAX_RANK];
    if (!ts_array_make(out, n->type.dtype, n->type.rank, box, e))
        return false;
    copy_box(&n->type, box, p->given[home].data, out->data, true);
    return true;
}

/* Straight from the program's memory where that has it in the dtype asked for; else by way of a copy of the whole. */
bool varying_get(ts_plan *p, int root, ts_array *out, err *e)
{
    const node *n = p->plan->root[root];
    int64_t box[MAX_RANK];
    ts_array whole = {0};
    dtype stored = TS_N_DTYPE;
    const char *at = NULL;
    box_of(p, n, box);
    if (p->by->at && p->plan->buffer[n->id].where == IN_ARENA)
        at = p->by->at(p->program, n, &stored);
    if (!at || stored != n->type.dtype) {
        if (!ts_array_make(&whole, n->type.dtype, n->type.rank, n->type.dim, e) || !driver_value(p, root, &whole, e))
            return ts_array_free(&whole), false;
        at = whole.data;
    }
    const bool ok = ts_array_make(out, n->type.dtype, n->type.rank, box, e);
    if (ok)
        copy_box(&n->type, box, (void *)(uintptr_t)at, out->data, true);
    ts_array_free(&whole);
    return ok;
}
