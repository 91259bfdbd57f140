/* places.c - what goes to places that are computed: put in there, by a scatter, in place of asking every element
 * whether it is meant. */
#include "autodiff/autodiff.h"
#include "graph/ir/rule.h"

#include <string.h>

bool is_computed(int n, const expr *const *sub)
{
    for (int i = 0; i < n; i++)
        if (x_count(sub[i], X_LOAD))
            return true;
    return false;
}

typedef struct placing {
    graph *g;
    arena *mem;
    const putting *of;
    int rank, depth;            /* of what is put together; dimensions that are looked up, the others are whole rows */
    int n_kept;                 /* axes of the places, in front of those of rows */
    int64_t extent[MAX_AXIS];   /* of the axes as renamed: kept ones, rows', then those that are summed up */
    const expr *axis[MAX_AXIS]; /* what each axis becomes */
} placing;

static bool is_row(const putting *p, int dim, int rank, uint32_t used)
{
    const expr *s = p->sub[dim];
    return dim < rank && s->kind == X_AXIS && !(used >> s->axis & 1) && p->extent[s->axis] == p->start->type.dim[dim];
}

/* The last dimensions are rows where plain axes, each used once, go over all of them. */
static void find_rows(placing *q)
{
    uint32_t used = 0;
    q->rank = q->of->start->type.rank, q->depth = q->rank;
    for (int i = 0; i < q->rank; i++) /* of places that look anything up */
        if (q->of->sub[i]->kind != X_AXIS)
            used |= x_axes(q->of->sub[i]);
    while (q->depth > 1 && is_row(q->of, q->depth - 1, q->rank, used)) {
        q->depth--;
        for (int i = 0; i < q->depth; i++) /* not as the diagonal of another */
            if (x_axes(q->of->sub[i]) >> q->of->sub[q->depth]->axis & 1) {
                q->depth++;
                return;
            }
    }
}

static bool set_axes(placing *q, err *e)
{
    uint32_t places = 0, done = 0;
    int n = 0;
    for (int i = 0; i < q->depth; i++)
        places |= x_axes(q->of->sub[i]);
    for (int a = 0; a < q->of->n_axis; a++)
        if (places >> a & 1)
            q->axis[a] = x_axis(q->mem, n), q->extent[n++] = q->of->extent[a], done |= 1u << a;
    q->n_kept = n;
    for (int i = q->depth; i < q->rank; i++) {
        const int a = q->of->sub[i]->axis;
        q->axis[a] = x_axis(q->mem, n), q->extent[n++] = q->of->extent[a], done |= 1u << a;
    }
    if (q->n_kept >= MAX_RANK || n > MAX_RANK)
        return err_set(e, TS_UNSUPPORTED,
                       "what is put into computed places has %d axes along them and %d in all, fewer than %d and at "
                       "most as many expected",
                       q->n_kept, n, MAX_RANK);
    for (int a = 0; a < q->of->n_axis; a++)
        if (!(done >> a & 1))
            q->axis[a] = x_axis(q->mem, n), q->extent[n++] = q->of->extent[a];
    return true;
}

static const node *spelled(placing *q, const expr *x, int rank, int n_axis)
{
    sum s = {.rank = rank, .n_axis = n_axis, .fold = "add"};
    memcpy(s.extent, q->extent, sizeof s.extent);
    s.value = x_rename(q->mem, x, MAX_AXIS, q->axis);
    return emit_sum(q->g, &s);
}

/* [kept axes..., depth]: where each row goes */
static const node *indices(placing *q)
{
    const node *part[MAX_RANK], *none = g_ints(q->g, 1, (const int64_t[]){0});
    int64_t shape[MAX_RANK];
    memcpy(shape, q->extent, (size_t)q->n_kept * sizeof *shape);
    shape[q->n_kept] = 1;
    for (int i = 0; i < q->depth && none; i++) {
        const expr *s = x_cast(q->mem, TS_I64, q->of->sub[i]), *zero = x_whole(q->mem, 0);
        if (!x_count(s, X_LOAD)) /* an element reads something: a 0 */
            s = x2(q->mem, "add", s, x_load(q->mem, none, &zero));
        part[i] = g_reshape(q->g, spelled(q, s, q->n_kept, q->n_kept), q->n_kept + 1, shape);
    }
    return none ? g_joined(q->g, q->depth, part, q->n_kept) : NULL;
}

const node *emit_put(graph *g, arena *mem, const putting *p, err *e)
{
    placing q = {.g = g, .mem = mem, .of = p};
    find_rows(&q);
    if (!set_axes(&q, e))
        return NULL;
    const int rank = q.n_kept + q.rank - q.depth;
    return g_put(g, p->start, indices(&q), spelled(&q, p->value, rank, p->n_axis), p->reduce);
}
