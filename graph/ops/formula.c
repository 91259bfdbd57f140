/* formula.c - operations spelled out in their call: what gradients, and people, write when no named operation fits.
 * Operands are a, b, c, ... in order. */
#include "graph/affine/linear.h"
#include "graph/ir/custom.h"
#include "graph/ir/rule.h"
#include "graph/ir/scalar.h"

#include <math.h>
#include <string.h>

enum { MAX_OPERAND = MOST_SPELLED };
static const char letters[MAX_OPERAND][2] = {"a", "b", "c", "d", "e", "f", "g", "h"};
static const char places[MAX_AXIS][4] = {"i0",  "i1",  "i2",  "i3",  "i4",  "i5",  "i6",  "i7",  "i8",  "i9",
                                         "i10", "i11", "i12", "i13", "i14", "i15", "i16", "i17", "i18", "i19"};

/* ---- helpers ---- */
static bool operands(const node *n, err *e)
{
    return (n->n_in >= 1 && n->n_in <= MAX_OPERAND) ||
           err_set(e, TS_BAD_INPUT, "%d operands given, takes 1 to %d", n->n_in, MAX_OPERAND);
}

static const expr *at_zero(arena *mem, const node *a)
{
    const expr *sub[MAX_RANK];
    for (int i = 0; i < a->type.rank; i++)
        sub[i] = x_whole(mem, 0);
    return x_load(mem, a, sub);
}

/* The dtype that a text gives; extents play no part in it. */
static bool dtype_of(const node *n, const names *known, arena *mem, dtype *out, err *e)
{
    const expr *x = x_parse(mem, node_attr(n, "text")->s, known, e);
    err own = {0}; /* an expression too long for one node is cut into several, or refused, by op.unrolled */
    if (!x || (!x_expand(mem, n->scalars, x, &own) && own.code != TS_UNSUPPORTED))
        return x ? err_set(e, own.code, "%s", own.text) : false;
    if (x->dtype == TS_N_DTYPE)
        return err_set(e, TS_BAD_INPUT, "text: \"%s\" uses no operand, one of a, b, ... expected",
                       node_attr(n, "text")->s);
    return *out = x->dtype, true;
}

static int64_t extents(const node *n, int64_t *extent, err *e)
{
    const attr *dims = node_attr(n, "dims"), *folds = node_attr(n, "folds");
    int total = 0;
    if (dims->n > MAX_RANK || dims->n + folds->n > MAX_AXIS)
        return err_set(e, TS_BAD_INPUT, "dims, folds: %d and %d axes, at most %d and together %d expected", dims->n,
                       folds->n, MAX_RANK, MAX_AXIS),
               -1;
    for (int i = 0; i < dims->n; i++)
        extent[total++] = dims->ints[i];
    for (int i = 0; i < folds->n; i++)
        extent[total++] = folds->ints[i];
    for (int i = 0; i < total; i++)
        if (extent[i] < 0)
            return err_set(e, TS_BAD_INPUT, "extent %lld, 0 or more expected", (long long)extent[i]), -1;
    return total;
}

static names known_to(const node *n, arena *mem, int n_axis)
{
    names known = {.n = n->n_in + n_axis, .own = n->scalars};
    for (int i = 0; i < n->n_in; i++)
        known.name[i] = letters[i], known.value[i] = at_zero(mem, n->in[i]);
    for (int i = 0; i < n_axis; i++)
        known.name[n->n_in + i] = places[i], known.value[n->n_in + i] = x_axis(mem, i);
    return known;
}

static const expr *spelled(const node *n, arena *mem, int n_axis, err *e)
{
    const names known = known_to(n, mem, n_axis);
    return x_parse(mem, node_attr(n, "text")->s, &known, e);
}

/* have >= 0 implies want >= 0, as some times the former and what the extents keep from being negative. */
static bool implied(const linear *have, linear want, const int64_t *extent)
{
    int64_t times = 1;
    for (int i = 0; i < want.n && have->n; i++)
        if (x_same(want.atom[i], have->atom[0]) && have->by[0] && want.by[i] % have->by[0] == 0)
            times = want.by[i] / have->by[0];
    if (times <= 0 || !linear_add(&want, -times, have, &want))
        return false;
    range rest = range_of(want.plus, want.plus);
    for (int i = 0; i < want.n; i++)
        rest = range_sum(rest, range_times(x_range(want.atom[i], extent), want.by[i]));
    return rest.known && rest.low >= 0;
}

typedef struct ordered { /* low <= high, or low < high */
    const expr *low, *high;
    bool apart;
} ordered;

typedef struct scope { /* what is known of the order of places where an expression is evaluated */
    const int64_t *extent;
    int n;
    ordered fact[2 * MAX_AXIS];
} scope;

/* Whether that says 0 <= x, or x < limit. */
static bool promised(const scope *s, const expr *x, bool low, int64_t limit)
{
    for (int i = 0; i < s->n; i++) {
        linear a, b, c, want;
        if (!linear_of(s->fact[i].low, &a) || !linear_of(s->fact[i].high, &b) || !linear_of(x, &c))
            continue;
        /* fact: 0 <= b - a - apart; wanted: 0 <= x, or 0 <= limit - 1 - x: it follows if the difference is >= 0 */
        linear have = b;
        const linear edge = {.plus = low ? 0 : limit - 1};
        if (!linear_add(&b, -1, &a, &have) || !linear_add(&edge, low ? 1 : -1, &c, &want))
            continue;
        have.plus -= s->fact[i].apart;
        if (implied(&have, want, s->extent))
            return true;
    }
    return false;
}

/* Of a condition that holds, or that does not */
static void believe(scope *s, const expr *condition, bool holds)
{
    if (condition->kind != X_CALL)
        return;
    const char *is = condition->fn->name;
    if (!strcmp(is, holds ? "and" : "or"))
        believe(s, condition->arg[0], holds), believe(s, condition->arg[1], holds);
    else if (!strcmp(is, "not"))
        believe(s, condition->arg[0], !holds);
    else if ((!strcmp(is, "lt") || !strcmp(is, "le")) && s->n < COUNT(s->fact))
        s->fact[s->n++] = (ordered){condition->arg[!holds], condition->arg[holds], !strcmp(is, holds ? "lt" : "le")};
}

/* A place that is read must lie inside: by the extents of the axes, or by a condition around it. Places that are
 * loaded are checked when they are met. */
static bool inside(const expr *x, const scope *s, err *e)
{
    if (x_is_choice(x)) {
        scope then = *s, otherwise = *s;
        believe(&then, x->arg[0], true), believe(&otherwise, x->arg[0], false);
        return inside(x->arg[0], s, e) && inside(x->arg[1], &then, e) && inside(x->arg[2], &otherwise, e);
    }
    for (int i = 0; i < x->n; i++)
        if (!inside(x->arg[i], s, e))
            return false;
    for (int i = 0; x->kind == X_LOAD && i < x->n; i++) {
        const int64_t dim = x->from->type.dim[i];
        const bool tested = x_is_call(x->arg[i], "at") && x->arg[i]->arg[1]->kind == X_LIT &&
                            x->arg[i]->arg[1]->whole <= dim;
        if (tested || x_count(x->arg[i], X_LOAD))
            continue;
        const range at = x_range(x->arg[i], s->extent);
        if (!at.known)
            return err_set(e, TS_UNSUPPORTED,
                           "text: the range of subscript %d cannot be told; an affine one, or a condition around it "
                           "that bounds it, expected",
                           i);
        if ((at.low < 0 && !promised(s, x->arg[i], true, dim)) ||
            (at.high >= dim && !promised(s, x->arg[i], false, dim)))
            return err_set(e, TS_BAD_INPUT, "text: subscript %d reaches from %lld to %lld, 0 to %lld expected", i,
                           (long long)at.low, (long long)at.high, (long long)dim - 1);
    }
    return true;
}

const node *g_formula(graph *g, int n, const node *const *in, const char *source)
{
    return g_apply_n(g, "formula", n, in, ATTRS(attr_word("text", source)));
}

const node *g_element(graph *g, int n, const node *const *in, const spelling *s)
{
    return g_apply_n(g, "element", n, in,
                     ATTRS(attr_ints("dims", s->rank, s->extent), attr_ints("folds", s->n_fold, s->extent + s->rank),
                           attr_word("fold", s->fold), attr_word("text", s->text)));
}

typedef struct lettered {
    bool element; /* with subscripts; else pointwise */
    int n, n_state;
    const node *in[MAX_OPERAND + 1];
} lettered;

static int letter_of(lettered *o, const node *n)
{
    int i = 0;
    while (i < o->n && o->in[i] != n)
        i++;
    if (i == o->n && o->n <= MAX_OPERAND)
        o->in[o->n++] = n;
    return i;
}

/* Of a fold of several values: those it has, and those of another set of points */
static const char states[2 * MAX_STATE][3] = {"s0", "s1", "s2", "s3", "t0", "t1", "t2", "t3"};

static void write_leaf(text *t, const expr *x, void *user)
{
    const lettered *o = user;
    if (x->kind == X_AXIS) {
        text_add(t, "%s", places[x->axis]);
        return;
    }
    if (x->kind == X_STATE) {
        text_add(t, "%s", states[x->axis < o->n_state ? x->axis : MAX_STATE + x->axis - o->n_state]);
        return;
    }
    text_add(t, "%c", 'a' + letter_of(user, x->from));
    for (int i = 0; o->element && i < x->n; i++) {
        text_add(t, i ? "," : "[");
        x_write(t, x->arg[i], write_leaf, user);
    }
    text_add(t, o->element && x->n ? "]" : "");
}

/* False: it reads no tensor, or more than there are letters. */
static bool spell(graph *g, const expr *x, lettered *o, text *t)
{
    x_write(t, x, write_leaf, o);
    if (o->n >= 1 && o->n <= MAX_OPERAND)
        return true;
    g_fail(g, TS_UNSUPPORTED, "what is spelled out reads 1 to %d tensors, this %s", MAX_OPERAND,
           o->n ? "more" : "none");
    return false;
}

const node *g_formula_of(graph *g, const expr *x)
{
    lettered o = {0};
    ENDED_BY(text_free) text t = {0};
    return spell(g, x, &o, &t) ? g_formula(g, o.n, o.in, text_str(&t)) : NULL;
}

const node *g_element_of(graph *g, const spelling *s, const expr *x)
{
    lettered o = {.element = true};
    ENDED_BY(text_free) text t = {0};
    spelling full = *s;
    const bool ok = spell(g, x, &o, &t);
    full.text = text_str(&t);
    return ok ? g_element(g, o.n, o.in, &full) : NULL;
}

typedef struct list { /* what stands between the commas outside brackets */
    int n;
    const char *part[MAX_STATE + 1];
} list;

static list parts_of(arena *mem, const char *source)
{
    list l = {0};
    const char *from = source;
    int depth = 0;
    for (const char *c = source; *source && l.n <= MAX_STATE; c++) {
        depth += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
        if (*c && (*c != ',' || depth))
            continue;
        l.part[l.n++] = arena_format(mem, "%.*s", (int)(c - from), from), from = c + 1;
        if (!*c)
            break;
    }
    return l;
}

/* One for each state, in x, or an error that names the attribute. */
static bool parse_each(const node *n, arena *mem, const char *name, int n_state, const names *known, const expr **x,
                       err *e)
{
    const list l = parts_of(mem, node_attr(n, name)->s);
    if (l.n != n_state)
        return err_set(e, TS_BAD_INPUT, "%s: \"%s\" has %d part%s between commas, the states are %d", name,
                       node_attr(n, name)->s, l.n, l.n == 1 ? "" : "s", n_state);
    for (int k = 0; k < n_state; k++)
        if (!(x[k] = x_parse(mem, l.part[k], known, e)))
            return err_in(e, "%s", name);
    return true;
}

/* A start that says no dtype has operand a's. */
static bool starts(const node *n, arena *mem, int rank, int *n_state, const expr **start, err *e)
{
    const names known = known_to(n, mem, rank);
    *n_state = parts_of(mem, node_attr(n, "start")->s).n;
    if (*n_state < 1 || *n_state > MAX_STATE)
        return err_set(e, TS_BAD_INPUT, "start: \"%s\", values of 1 to %d states between commas expected",
                       node_attr(n, "start")->s, MAX_STATE);
    if (!parse_each(n, mem, "start", *n_state, &known, start, e))
        return false;
    for (int k = 0; k < *n_state; k++)
        if (start[k]->dtype == TS_N_DTYPE)
            start[k] = x_cast(mem, n->in[0]->type.dtype, start[k]);
    return true;
}

/* NULL with e: it says no fold. */
static const expr *spelled_fold(const node *n, arena *mem, uint32_t axes, err *e)
{
    const int rank = node_attr(n, "dims")->n, total = rank + node_attr(n, "folds")->n;
    const expr *start[MAX_STATE], *step[MAX_STATE], *merge[MAX_STATE], *y;
    int k;
    if (!starts(n, mem, rank, &k, start, e))
        return NULL;
    names inner = known_to(n, mem, total), outer = known_to(n, mem, rank);
    names *const all[] = {&inner, &outer};
    for (int i = 0; i < COUNT(all); i++)
        for (int j = 0; j < (i + 1) * k; j++) {
            const int which = j < k ? j : MAX_STATE + j - k;
            all[i]->name[all[i]->n] = states[which];
            all[i]->value[all[i]->n++] = x_state(mem, start[j % k]->dtype, j);
        }
    const char *said = node_attr(n, "merge")->s;
    const bool merges = said && *said;
    if (!parse_each(n, mem, "step", k, &inner, step, e) ||
        (merges && !parse_each(n, mem, "merge", k, &outer, merge, e)))
        return NULL;
    outer.n -= k;
    if (!(y = x_parse(mem, node_attr(n, "text")->s, &outer, e)))
        return NULL;
    if (y->dtype == TS_N_DTYPE)
        return err_set(e, TS_BAD_INPUT, "text: \"%s\" uses no state, one of s0, s1, ... expected",
                       node_attr(n, "text")->s),
               NULL;
    return x_merged(mem, x_scan(mem, axes, 0, k, start, step, y), merges ? merge : NULL);
}

static const char *write_each(arena *mem, int n, const expr *const *x, bool typed, lettered *o)
{
    ENDED_BY(text_free) text t = {0};
    for (int k = 0; k < n; k++) {
        text_add(&t, k ? "," : "");
        if (typed)
            text_add(&t, "%s(", ts_dtype_name(x[k]->dtype));
        x_write(&t, x[k], write_leaf, o);
        text_add(&t, typed ? ")" : "");
    }
    return arena_format(mem, "%s", text_str(&t));
}

const node *g_fold_of(graph *g, const spelling *s, const expr *x)
{
    const int k = x->n_state;
    lettered o = {.element = true, .n_state = k};
    ENDED_BY(arena_free) arena mem = {0};
    const expr *plain = x_scan(&mem, x->folds, 0, k, x->arg, x->arg + k, x_result(x));
    const bool given = x_merge(x, 0) && !x_same(x_merged(&mem, plain, NULL), x); /* it does not follow */
    const attr all[] = {attr_ints("dims", s->rank, s->extent),
                        attr_ints("folds", s->n_fold, s->extent + s->rank),
                        attr_word("start", write_each(&mem, k, x->arg, true, &o)),
                        attr_word("step", write_each(&mem, k, x->arg + k, false, &o)),
                        attr_word("text", write_each(&mem, 1, (const expr *const[]){x_result(x)}, true, &o)),
                        attr_word("merge", given ? write_each(&mem, k, x->arg + 2 * k + 1, false, &o) : "")};
    const node *y = NULL;
    if (o.n >= 1 && o.n <= MAX_OPERAND)
        y = g_make(g, op_find("fold"), o.n, o.in, all, COUNT(all));
    else
        g_fail(g, TS_UNSUPPORTED, "a fold that is spelled out reads 1 to %d tensors", MAX_OPERAND);
    return y;
}

/* ---- shape ---- */
static bool formula_shape(const node *n, type *out, err *e)
{
    ENDED_BY(arena_free) arena mem = {0};
    const type *in[MAX_OPERAND];
    if (!operands(n, e))
        return false;
    for (int i = 0; i < n->n_in; i++)
        in[i] = &n->in[i]->type;
    const names known = known_to(n, &mem, 0);
    return type_broadcast(n->n_in, in, out, e) && dtype_of(n, &known, &mem, &out->dtype, e);
}

static bool refuse_fold(const char *name, err *e)
{
    ENDED_BY(text_free) text known = {0};
    for (int i = 0; fn_at(i); i++)
        if (!isnan(fn_at(i)->unit))
            text_add(&known, "%s%s", known.length ? ", " : "", fn_at(i)->name);
    return err_set(e, TS_BAD_INPUT, "fold: \"%.40s\", one of %s expected", name, text_str(&known));
}

/* Operands and extents, how many; -1 with an error */
static int spelled_axes(const node *n, type *out, int64_t *extent, bool *empty, err *e)
{
    const int total = operands(n, e) ? (int)extents(n, extent, e) : -1;
    *out = (type){.rank = total < 0 ? 0 : node_attr(n, "dims")->n}, *empty = false;
    memcpy(out->dim, extent, (size_t)out->rank * sizeof *extent);
    for (int i = 0; i < total; i++)
        *empty = *empty || extent[i] == 0;
    return total;
}

static bool element_shape(const node *n, type *out, err *e)
{
    ENDED_BY(arena_free) arena mem = {0};
    int64_t extent[MAX_AXIS];
    bool empty;
    const int total = spelled_axes(n, out, extent, &empty, e);
    const fn *f = fn_find(node_attr(n, "fold")->s);
    if (total < 0)
        return false;
    if (!f || isnan(f->unit))
        return refuse_fold(node_attr(n, "fold")->s, e);
    const expr *x = spelled(n, &mem, total, e);
    bool ok = x && x_expand(&mem, n->scalars, x, e) && (empty || inside(x, &(scope){.extent = extent}, e));
    if (ok && x->dtype == TS_N_DTYPE)
        ok = err_set(e, TS_BAD_INPUT, "text: \"%s\" uses no operand, one of a, b, ... expected",
                     node_attr(n, "text")->s);
    if (ok)
        out->dtype = f->result == R_BOOL && total > out->rank ? TS_BOOL : x->dtype;
    return ok;
}

static bool fold_shape(const node *n, type *out, err *e)
{
    ENDED_BY(arena_free) arena mem = {0};
    int64_t extent[MAX_AXIS];
    bool empty;
    const int total = spelled_axes(n, out, extent, &empty, e);
    if (total < 0)
        return false;
    if (total == out->rank)
        return err_set(e, TS_BAD_INPUT,
                       "%d extents, one for each dim of the result: one more for each folded axis expected", total);
    const expr *x = spelled_fold(n, &mem, 1u << out->rank, e);
    bool ok = x != NULL;
    for (int i = 0; ok && i < x->n; i++)
        ok = x_expand(&mem, n->scalars, x->arg[i], e) && (empty || inside(x->arg[i], &(scope){.extent = extent}, e));
    if (ok)
        out->dtype = x->dtype;
    return ok;
}

/* ---- body ---- */
static const expr *formula_body(defn *d)
{
    names known = {.n = d->node->n_in, .own = d->node->scalars};
    for (int i = 0; i < known.n; i++)
        known.name[i] = letters[i], known.value[i] = defn_in(d, i);
    return x_parse(d->mem, node_attr(d->node, "text")->s, &known, d->err);
}

static uint32_t folded(defn *d)
{
    const attr *folds = node_attr(d->node, "folds");
    uint32_t set = 0;
    for (int i = 0; i < folds->n; i++)
        set |= 1u << defn_fold(d, folds->ints[i]);
    return set;
}

static const expr *element_body(defn *d)
{
    const uint32_t set = folded(d);
    d->value = spelled(d->node, d->mem, d->n_axis, d->err);
    if (d->value && set)
        return x_fold(d->mem, node_attr(d->node, "fold")->s, set, d->value);
    return d->value;
}

static const expr *fold_body(defn *d)
{
    return spelled_fold(d->node, d->mem, folded(d), d->err);
}

/* ---- records ---- */
const op ops_formula[] = {
    BODY("formula ... text:s -> e", formula_body, "formula(text, x)", NULL,
         "f32[2,3] text=a*a\nf32[2,3] f32[3] text=a*exp(-abs(b))\nf64[4,1] f32[3] f64[] text=a-b/(2+c*c)\n"
         "f32[5] f32[5] text=select(lt(a,b),a,b*0.5)\ni32[4] i32[4] text=a+3*b\nf32[3] i64[3] text=a*f32(b)\n"
         "f32[4] text=a<0.5\nf32[0,2] text=sqrt(abs(a))",
         "A function of operands a, b, c, ... spelled out without blanks, element by element: a*exp(-b).",
         .unrolled = call_unrolled, .shape = formula_shape, .extents = extents_pointwise),
    BODY("element ... dims:I folds:I=[] fold:s=add text:s", element_body, "element(text, x, dims, folds, fold)", NULL,
         "f32[2,3] dims=[3,2] text=a[i1,i0]\nf32[4,5] f32[5,3] dims=[4,3] folds=[5] text=a[i0,i2]*b[i2,i1]\n"
         "f32[7] dims=[5] folds=[3] fold=max text=a[i0+i1]\nf32[6] dims=[] folds=[6] fold=mul text=a[i0]+1\n"
         "f64[4] dims=[6] text=select(and(le(1,i0),lt(i0,5)),a[i0-1],0)\n"
         "f32[6] i64[4]<6 dims=[4] text=a[abs(b[i0])]\nf32[3,2] dims=[2,0] text=a[i1,i0]\n"
         "f32[2,3] dims=[3] folds=[2] text=a[i1,i0]*f32(i0)\ni64[4] dims=[2] folds=[2] text=a[i0*2+i1]",
         "One element at i0, i1, ... spelled out without blanks, over axes `dims`, then `folds` to be folded away.",
         .shape = element_shape),
    BODY("fold ... dims:I folds:I start:s step:s merge:s= text:s", fold_body,
         "several(worth, x, dims, folds, start, step, text)", NULL,
         "f32[3,70] dims=[3] folds=[70] start=0,-9 step=s0+a[i0,i1],max(s1,a[i0,i1]) text=s0-8*s1\nf32[40,3] dims=[3] "
         "folds=[40] start=-inf,i64(-1) step=select(le(s0,a[i1,i0]),a[i1,i0],s0),select(le(s0,a[i1,i0]),i1,s1) "
         "text=s1\nf64[60] dims=[] folds=[60] start=0,0,0 "
         "step=s0+1,s1+(a[i0]-s1)/(s0+1),s2+(a[i0]-s1)*(a[i0]-(s1+(a[i0]-s1)/(s0+1))) text=s2/s0\ni64[5,6] i64[6] "
         "dims=[5] folds=[6] start=1,0 step=select(lt(a[i0,i1],b[i1]),0-s0,s0),select(lt(a[i0,i1],b[i1]),s1+1,s1) "
         "merge=s0*t0,s1+t1 text=s0*(s1+1)\nf32[4] dims=[2] folds=[2,0] start=1,2 step=s0+a[i0],s1 text=s0+s1+f32(i0)\n"
         "f32[9] u8[9]<9 dims=[70,20] folds=[3] start=u8(mod(i0+i1,9)),0 "
         "step=b[at(i64(s0),9)],s1+a[i64(b[at(i64(s0),9)])] text=s1+f32(s0)\nf32[9] u8[9]<9 dims=[20] folds=[3] "
         "start=u8(mod(i0,9)) step=b[at(i64(s0),9)] text=a[at(i64(s0),9)]",
         "Several values folded at once: states s0, s1, ... begin as `start` and become `step` at every point of "
         "the axes `folds`; `text` is the element. `merge`: states after two sets of points, s and t; most follow.",
         .shape = fold_shape),
    {0},
};
