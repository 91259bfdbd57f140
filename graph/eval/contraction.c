/* contraction.c - sums of products, a run of neighbouring lanes at a time. */
#include "graph/eval/contraction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POINT = 256, MIN_ROW = 16 };

typedef struct run { /* lanes [lane, lane + n) read elements at, at + step, ... */
    int lane, n;
    int64_t at, step;
} run;
/* Of a block: its lanes fall into runs that walk the operand in equal steps. */
typedef struct runs {
    bool known;
    int n;
    run *run; /* owned, of LANES */
} runs;
typedef struct operand {
    const expr *load, *guard; /* guard: NULL when there is none */
    const char *data;
    dtype dtype;                         /* of data */
    uint32_t axes[MAX_RANK], guard_axes; /* of its subscripts */
    /* In the block at hand: */
    uint32_t dims; /* whose subscripts differ between lanes */
    uint32_t keys; /* folded axes that move the runs */
    bool keep;
    runs table[MAX_POINT]; /* by point of keys; the first alone when there are too many to keep */
} operand;
struct contraction {
    block *b;
    const expr *fold;
    operand side[2];
};

/* ---- recognition ---- */
static const expr *without_cast(const expr *x) /* one that keeps every value */
{
    const expr *a = x->kind == X_CAST ? x->arg[0] : x;
    return a->dtype == TS_F32 && x->dtype == TS_F64 ? a : x;
}

static bool is_zero(const expr *x)
{
    return x->kind == X_LIT && x->lit == 0 && !signbit(x->lit);
}

static bool read_operand(const block *b, const expr *x, operand *o)
{
    x = without_cast(x);
    if (x_is_choice(x) && is_zero(x->arg[2]))
        o->guard = x->arg[0], o->guard_axes = x_axes(o->guard), x = without_cast(x->arg[1]);
    if (x->kind != X_LOAD || (x->dtype != TS_F32 && x->dtype != TS_F64))
        return false;
    o->load = x, o->data = block_array(b, x)->data, o->dtype = block_array(b, x)->dtype;
    for (int i = 0; i < x->n; i++)
        o->axes[i] = x_axes(x->arg[i]);
    return true;
}

static uint32_t all_axes(const operand *o)
{
    uint32_t axes = o->guard_axes;
    for (int i = 0; i < o->load->n; i++)
        axes |= o->axes[i];
    return axes;
}

/* The last axes that move one side alone: along them the other is one number. */
static int64_t row_of(const contraction *c, int64_t count)
{
    const type *t = &c->b->n->type;
    const uint32_t axes[2] = {all_axes(&c->side[0]), all_axes(&c->side[1])};
    uint32_t moved = 0;
    int64_t row = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        const uint32_t here = (axes[0] >> i & 1) | (axes[1] >> i & 1) << 1;
        if (t->dim[i] != 1 && (moved | here) == 3)
            break;
        row *= t->dim[i], moved |= t->dim[i] == 1 ? 0 : here;
    }
    return row < MIN_ROW ? count : row;
}

contraction *contraction_make(block *b, const expr *x, int64_t *row)
{
    const expr *fold = x_find(x, X_FOLD);
    if (!fold || !x_folds_by(fold, "add") || (fold->dtype != TS_F32 && fold->dtype != TS_F64))
        return NULL;
    const expr *product = fold->arg[0];
    if (!x_is_call(product, "mul"))
        return NULL;
    contraction *c = heap_array(1, sizeof *c);
    c->b = b, c->fold = fold;
    if (!read_operand(b, product->arg[0], &c->side[0]) || !read_operand(b, product->arg[1], &c->side[1]))
        return contraction_free(c), NULL;
    return *row = row_of(c, *row), c;
}

void contraction_free(contraction *c)
{
    for (int k = 0; c && k < 2; k++)
        for (int i = 0; i < MAX_POINT; i++)
            free(c->side[k].table[i].run);
    free(c);
}

const expr *contraction_of(const contraction *c)
{
    return c->fold;
}

/* ---- where a block reads ---- */
void contraction_start(contraction *c)
{
    const block *b = c->b;
    for (int k = 0; k < 2; k++) {
        operand *o = &c->side[k];
        uint32_t axes = o->guard_axes;
        o->dims = 0;
        for (int i = 0; i < o->load->n; i++)
            if (o->axes[i] & b->varying)
                o->dims |= 1u << i, axes |= o->axes[i];
        o->keys = axes & c->fold->folds;
        int64_t points = 1;
        for (int i = 0; i < MAX_AXIS && points <= MAX_POINT; i++)
            points *= o->keys >> i & 1 ? b->extent[i] : 1;
        o->keep = points <= MAX_POINT;
        for (int i = 0; i < MAX_POINT; i++)
            o->table[i].known = false;
    }
}

static void gather_runs(const block *b, const vec *at, const vec *active, runs *r)
{
    r->n = 0;
    for (int l = 0; l < b->lanes; l++) {
        run *last = r->n ? &r->run[r->n - 1] : NULL;
        const int64_t place = at->v[at->same ? 0 : l].i;
        if (active && !active->v[l].i)
            continue;
        if (last && last->lane + last->n == l && last->n == 1)
            last->step = place - last->at, last->n = 2;
        else if (last && last->lane + last->n == l && place == last->at + last->n * last->step)
            last->n++;
        else
            r->run[r->n++] = (run){l, 1, place, 0};
    }
}

static const runs *runs_of(contraction *c, operand *o)
{
    block *b = c->b;
    int64_t point = 0;
    for (int i = 0; i < MAX_AXIS && o->keep; i++)
        if (o->keys >> i & 1)
            point = point * b->extent[i] + b->axis[i];
    runs *r = &o->table[point];
    if (r->known)
        return r;
    if (!r->run)
        MUST(r->run = calloc(LANES, sizeof *r->run));
    vec *at = block_borrow(b), *guard = o->guard ? block_borrow(b) : NULL;
    if (guard)
        block_eval(b, o->guard, NULL, guard);
    bool any = !guard;
    for (int l = 0; guard && l < (guard->same ? 1 : b->lanes); l++)
        any = any || guard->v[l].i;
    r->known = o->keep, r->n = 0;
    if (any) {
        const vec *active = guard && !guard->same ? guard : NULL;
        block_place(b, o->load, o->dims, active, at);
        gather_runs(b, at, active, r);
    }
    block_give(b, at);
    if (guard)
        block_give(b, guard);
    return r;
}

/* What the subscripts add that are the same in all lanes. */
static int64_t base_of(block *b, const operand *o)
{
    int64_t at = 0;
    vec *s = NULL;
    for (int i = 0; i < o->load->n; i++) {
        const expr *x = o->load->arg[i];
        int64_t place = 0;
        if (!(o->dims >> i & 1)) {
            if (x->kind == X_AXIS)
                place = b->axis[x->axis];
            else {
                s = s ? s : block_borrow(b);
                block_eval(b, x, NULL, s);
                place = s->v[0].i;
            }
            if (block_outside(b, place, o->load->from->type.dim[i], i))
                break;
        }
        at = at * o->load->from->type.dim[i] + place;
    }
    if (s)
        block_give(b, s);
    return at;
}

/* ---- sums ---- */
/* acc[i] += a * x[i * step] */
static void scale_floats(value *restrict acc, int n, const char *restrict x, int64_t step, double a)
{
    float v;
    if (step == 1)
        for (int i = 0; i < n; i++)
            memcpy(&v, x + (size_t)i * sizeof v, sizeof v), acc[i].d += a * (double)v;
    else
        for (int i = 0; i < n; i++)
            memcpy(&v, x + i * step * (int64_t)sizeof v, sizeof v), acc[i].d += a * (double)v;
}

static void scale_doubles(value *restrict acc, int n, const char *restrict x, int64_t step, double a)
{
    double v;
    for (int i = 0; i < n; i++)
        memcpy(&v, x + i * step * (int64_t)sizeof v, sizeof v), acc[i].d += a * v;
}

static void scaled(const operand *o, const runs *r, int64_t base, double a, vec *acc)
{
    const bool wide = o->dtype == TS_F64;
    for (const run *q = r->run; q < r->run + r->n; q++) {
        const char *x = o->data + (base + q->at) * (wide ? 8 : 4);
        (wide ? scale_doubles : scale_floats)(acc->v + q->lane, q->n, x, q->step, a);
    }
}

static void fetch(const block *b, const operand *o, const runs *r, int64_t base, vec *out)
{
    for (int l = 0; l < b->lanes && o->guard; l++)
        out->v[l].d = 0;
    for (const run *q = r->run; q < r->run + r->n; q++)
        for (int i = 0; i < q->n; i++)
            out->v[q->lane + i].d = load_real(o->dtype, o->data, base + q->at + i * q->step);
}

void contraction_step(contraction *c, vec *acc)
{
    block *b = c->b;
    const runs *r[2];
    int64_t base[2] = {0};
    for (int k = 0; k < 2; k++) {
        r[k] = runs_of(c, &c->side[k]);
        if (!err_is(b->e) && r[k]->n)
            base[k] = base_of(b, &c->side[k]);
        if (err_is(b->e))
            return;
    }
    for (int k = 0; k < 2; k++) { /* one number times the other side; a guarded 0 times a finite one adds nothing */
        const operand *one = &c->side[k], *other = &c->side[1 - k];
        if (one->dims || one->guard)
            continue;
        const double a = load_real(one->dtype, one->data, base[k]);
        if (other->guard && !isfinite(a))
            continue;
        scaled(other, r[1 - k], base[1 - k], a, acc);
        return;
    }
    vec *x = block_borrow(b), *y = block_borrow(b);
    fetch(b, &c->side[0], r[0], base[0], x), fetch(b, &c->side[1], r[1], base[1], y);
    for (int l = 0; l < b->lanes; l++)
        acc->v[l].d += x->v[l].d * y->v[l].d;
    block_give(b, x), block_give(b, y);
}
