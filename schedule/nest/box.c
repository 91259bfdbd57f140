/* box.c - a load's place as a sum over dimensions of a tensor, and a slice as a box of that. */
#include "schedule/nest/box.h"
#include "graph/affine/index.h"
#include "schedule/plan/extents.h"
#include "schedule/nest/nest.h"

typedef struct finding {
    const plan *p;
    const kernel *k;
    const stage *s;
    const box_limits *limits;
    int load;
    space sp;
    const affine *axis[MAX_AXIS];
    const affine *rest; /* of the place, in elements: what no dimension has yet */
    box *out;
} finding;

/* ---- dimensions ---- */
static const char *add_dim(finding *f, const affine *place, int64_t low, int64_t extent, int64_t step)
{
    if (f->out->n == f->limits->dims)
        return "it has too many dimensions";
    if (step < 0)
        return "it is walked backwards";
    if (extent > INT32_MAX || step > INT64_C(1) << 36)
        return "it is too large";
    box_dim *d = &f->out->dim[f->out->n++];
    *d = (box_dim){.extent = extent, .stride = step * f->out->size, .count = 1, .at = place->c - low};
    for (int a = 0; a < f->s->n_axis; a++)
        d->by[a] = affine_coef(place, a);
    f->rest = affine_add(&f->sp, f->rest, affine_add(&f->sp, place, affine_const(&f->sp, -low), 1), -step);
    return NULL;
}

/* By how much the operand's place moves when this one does by one; 0: not by one number */
static int64_t step_of(const finding *f, const affine *place)
{
    int64_t step = 0;
    for (int i = 0; i < place->n; i++) {
        const int64_t by = place->t[i].coef, own = affine_coef(f->rest, place->t[i].a->var);
        if (!own || own % by || (step && own / by != step))
            return 0;
        step = own / by;
    }
    return step;
}

typedef struct sides { /* what comparisons say of one place */
    const affine *place;
    int64_t low, high; /* inclusive */
} sides;

static const char no_padding[] = "its padding is no end of a dimension";

/* A comparison of a place with a number; others are refused. */
static const char *read_side(finding *f, const expr *x, int *n, sides *all)
{
    enum { LEAST, MOST };
    const bool strict = x_is_call(x, "lt");
    if (!strict && !x_is_call(x, "le"))
        return no_padding;
    const int side = x->arg[0]->kind == X_LIT ? LEAST : MOST;
    const expr *bound = x->arg[side], *place = x->arg[!side];
    if (bound->kind != X_LIT || !bound->is_whole || place->dtype != TS_I64)
        return no_padding;
    const affine *at = affine_of(&f->sp, place, f->axis);
    int i = 0;
    while (i < *n && !affine_same(all[i].place, at))
        i++;
    if (!affine_pure(at) || i == BOX_DIMS)
        return no_padding;
    if (i == *n) {
        all[(*n)++].place = at;
        affine_range(&f->sp, at, &all[i].low, &all[i].high);
    }
    if (side == LEAST)
        all[i].low = int_max(all[i].low, bound->whole + strict);
    else
        all[i].high = int_min(all[i].high, bound->whole - strict);
    return NULL;
}

static const char *read_guard(finding *f, const expr *x, int *n, sides *all)
{
    if (!x_is_call(x, "and"))
        return read_side(f, x, n, all);
    const char *why = read_guard(f, x->arg[0], n, all);
    return why ? why : read_guard(f, x->arg[1], n, all);
}

static const char *padded_dims(finding *f)
{
    const expr *guard = stage_guard(f->s, f->load);
    sides all[BOX_DIMS];
    int n = 0;
    const char *why = guard ? read_guard(f, guard->arg[0], &n, all) : NULL;
    for (int i = 0; i < n && !why; i++) {
        const int64_t step = step_of(f, all[i].place);
        if (!step || all[i].high < all[i].low)
            return no_padding;
        why = add_dim(f, all[i].place, all[i].low, all[i].high - all[i].low + 1, step);
        for (int j = 0; j < all[i].place->n && !why; j++)
            if (affine_coef(f->rest, all[i].place->t[j].a->var))
                why = no_padding;
    }
    return why;
}

static const char *find_dims(finding *f)
{
    const char *why = padded_dims(f);
    for (int a = 0; a < f->s->n_axis && !why; a++)
        if (affine_coef(f->rest, a))
            why = add_dim(f, f->axis[a], 0, f->s->extent[a], affine_coef(f->rest, a));
    if (why)
        return why;
    box *b = f->out;
    for (int i = 1; i < b->n; i++) /* neighbours first */
        for (int j = i; j > 0 && b->dim[j].stride < b->dim[j - 1].stride; j--) {
            const box_dim d = b->dim[j];
            b->dim[j] = b->dim[j - 1], b->dim[j - 1] = d;
        }
    b->first = f->rest->c * b->size;
    if (!b->n || b->dim[0].stride != b->size)
        return "no neighbours of it lie beside each other";
    for (int i = 1; i < b->n; i++)
        if (b->dim[i].stride % f->limits->grain)
            return "its rows begin at no multiples of 16 bytes";
    return b->first < 0 || b->first % f->limits->grain ? "it begins at no multiple of 16 bytes" : NULL;
}

static int64_t grain_of(const plan *p, const node *n) /* bytes at multiples of which its memory begins */
{
    for (int i = 0; p->input_grain && i < p->n_input; i++)
        if (p->input[i] == n || (p->buffer[n->id].where == IN_INPUT && p->buffer[n->id].index == i))
            return p->input_grain[i];
    return p->on->align;
}

static int operands_of(const kernel *k) /* at most */
{
    int n = 0;
    for (int i = 0; i < k->n_stage; i++)
        n += k->stage[i].n_load + 1;
    return n;
}

static const char *begin(finding *f)
{
    enum { OPERANDS = 256 }; /* beside whose addresses maps fit into what a kernel takes */
    const expr *x = f->s->load[f->load];
    const affine *sub[MAX_RANK];
    const layout *y = f->s->leaf && f->s->leaf[f->load] >= 0 ? &f->p->leaf[f->s->leaf[f->load]].layout
                                                             : &f->p->buffer[x->from->id].layout;
    f->limits = f->p->on->boxes;
    if (!f->limits)
        return f->p->on->no_boxes ? f->p->on->no_boxes : "the machine copies none by itself";
    if (operands_of(f->k) > OPERANDS)
        return "its kernel has more than 256 operands";
    if (f->p->reference)
        return "it is read as reals of 8 bytes";
    for (int a = 0; a < f->s->n_axis; a++)
        if (f->s->extent[a] < 1)
            return "it has no elements";
        else
            f->axis[a] = affine_var(&f->sp, var_add(&f->sp, "", 0, f->s->extent[a] - 1));
    for (int i = 0; i < x->from->type.rank; i++)
        sub[i] = affine_of(&f->sp, x->arg[i], f->axis);
    f->rest = layout_offset(&f->sp, y, sub);
    *f->out = (box){.size = ts_dtype_bytes(x->from->type.dtype)};
    if (!affine_pure(f->rest))
        return "its places are no sums of steps";
    if (grain_of(f->p, x->from) % f->limits->grain)
        return "it begins at no multiple of 16 bytes";
    return find_dims(f);
}

/* ---- boxes ---- */
static int dim_of(const box *b, int axis) /* the one that it moves along by steps of one; -1: there is none */
{
    int found = -1;
    for (int i = 0; i < b->n; i++)
        if (b->dim[i].by[axis])
            found = b->dim[i].by[axis] == 1 ? i : -1;
    return found;
}

/* Behind the end of a folded axis zeros must come: the tensor ends there, too, or no slice goes beyond. */
static bool ends_well(const finding *f, const staging *g, const slice *y, int a)
{
    const box_dim *d = &f->out->dim[dim_of(f->out, a)];
    bool alone = d->extent == f->s->extent[a] && !d->at;
    for (int x = 0; x < f->s->n_axis; x++)
        alone = alone && (x == a || !d->by[x]);
    for (int l = 0; l <= g->loop; l++)
        if (f->s->nest.loop[l].axis == a && f->s->nest.loop[l].step % y->extent[a])
            return false;
    return alone || f->s->extent[a] % y->extent[a] == 0;
}

static const char *find_counts(finding *f, const staging *g, const slice *y)
{
    box *b = f->out;
    int64_t lies = 1;
    const int inner = y->order[y->n - 1];
    if (dim_of(b, inner) != 0)
        return "its slices are turned";
    for (int i = 0; i < y->n; i++) {
        const int a = y->order[i], d = dim_of(b, a);
        if (y->extent[a] <= 1)
            continue;
        if (d < 0 || b->dim[d].count > 1)
            return "its slices are no boxes";
        b->dim[d].count = a == inner && y->block ? y->block : y->extent[a];
        if (f->s->folds >> a & 1 && !ends_well(f, g, y, a))
            return "its slices end within a part of the sum";
    }
    for (int d = 0; d < b->n; d++) { /* boxes lie as slices do */
        for (int i = 0; i < y->n; i++)
            if (y->extent[y->order[i]] > 1 && dim_of(b, y->order[i]) == d && y->stride[y->order[i]] != lies)
                return "its slices are no boxes";
        if (b->dim[d].count > f->limits->count)
            return "its slices have more rows than a box";
        lies *= b->dim[d].count;
    }
    b->pieces = y->block ? y->extent[inner] / y->block : 1, b->apart = lies * b->size;
    b->bytes = b->pieces * b->apart;
    return y->block && y->apart != lies ? "its slices are no boxes" : NULL;
}

static const char *find_rows(finding *f, const slice *y)
{
    enum { PIECE = 16, LEAST = 32, MOST = 128 };
    const int64_t row = f->out->dim[0].count * f->out->size;
    f->out->row = y->mask ? (int)row : 0;
    if (row % PIECE || row > MOST || (row & (row - 1)))
        return "rows of its slices are no powers of two up to 128 bytes";
    return y->mask + 1 == row / PIECE && (!y->mask || row >= LEAST) ? NULL : "rows of its slices lie otherwise";
}

static const char *find(finding *f, const staging *g)
{
    slice y;
    if (g->shared || g->stages < 2 || !staging_copies(g))
        return "it has no ring of slices";
    if (stage_varying(f->s))
        return "a run says how much of them there is";
    slice_find(f->p, f->k, f->s, g, &y);
    if (!y.whole || !y.multiple)
        return "warps load its slices one by one";
    const char *why = begin(f);
    why = why ? why : find_counts(f, g, &y);
    return why ? why : find_rows(f, &y);
}

const char *box_find(const plan *p, const kernel *k, const stage *s, const staging *g, box *out)
{
    arena mem = {0};
    finding f = {.p = p, .k = k, .s = s, .load = g->load, .sp = {.mem = &mem}, .out = out};
    const char *why = find(&f, g);
    arena_free(&mem);
    return why;
}

const char *box_may(const plan *p, const kernel *k, const stage *s, int load, int own, int folded)
{
    arena mem = {0};
    box b;
    finding f = {.p = p, .k = k, .s = s, .load = load, .sp = {.mem = &mem}, .out = &b};
    const char *why = begin(&f);
    if (!why && (dim_of(&b, own) < 0 || dim_of(&b, folded) < 0 || dim_of(&b, own) == dim_of(&b, folded) ||
                 (dim_of(&b, own) && dim_of(&b, folded))))
        why = "its slices are no boxes";
    arena_free(&mem);
    return why;
}

int box_barriers(const plan *p, const kernel *k, const stage *s, int l)
{
    box b;
    int slots = 0;
    for (int i = 0; i < s->n_staging; i++)
        if (!s->staging[i].shared && s->staging[i].loop == l && !box_find(p, k, s, &s->staging[i], &b))
            slots = s->staging[i].stages;
    return slots && p->on->boxes ? (int)target_aligned(p->on, (int64_t)slots * p->on->boxes->barrier) : 0;
}
