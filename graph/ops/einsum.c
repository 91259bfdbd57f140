/* einsum.c - sums of products as Einstein wrote them: "ij,jk->ik". Letters may repeat, "..." stands for the axes that a
 * term does not name, blanks mean nothing, and any number of operands is contracted from the left, two at a time. Axes
 * may have names instead, with points between them: "batch.in, in.out -> batch.out". Numbers, sums of axes, axes end to
 * end and other folds: subscripts.c. */
#include "graph/ir/rule.h"
#include "graph/ops/subscripts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_TERM = 64, REST = '0' /* axes of "..." are named 0, 1, ... from the last one backwards */ };
typedef struct term {
    int n;
    char label[MAX_RANK + 1];
} term;
typedef struct equation {
    int n;
    term in[MAX_TERM], out;
    int rest; /* axes that "..." stands for */
} equation;

/* ---- helpers: reading ---- */
/* Reads the term of an operand of `rank` axes, or that of the result (rank -1), where "..." has the meaning that
 * operands gave it. */
static const char *read_term(const char *s, int rank, term *t, int *rest)
{
    int letters = 0, dots = 0;
    for (const char *p = past_blanks(s); isalnum((unsigned char)*p) || *p == '.'; p = past_blanks(p + 1))
        letters += *p != '.', dots += *p == '.';
    const int fill = !dots ? 0 : rank < 0 ? *rest : rank - letters;
    if ((dots && dots != 3) || fill < 0 || letters + fill > MAX_RANK || (rank >= 0 && letters + fill != rank))
        return NULL;
    *t = (term){0};
    for (s = past_blanks(s); isalnum((unsigned char)*s) || *s == '.'; s = past_blanks(s + 1)) {
        if (*s != '.') {
            t->label[t->n++] = *s;
            continue;
        }
        if (strncmp(s, "...", 3))
            return NULL;
        for (int i = fill - 1; i >= 0; i--)
            t->label[t->n++] = (char)(REST + i);
        s += 2;
    }
    if (dots && rank >= 0 && fill > *rest)
        *rest = fill;
    return s;
}

static bool has(const term *t, char label)
{
    return t->n > 0 && memchr(t->label, label, (size_t)t->n);
}

/* Without "->" the result has the axes of "...", then the letters that occur once, in order of the alphabet. */
static void implied(equation *q)
{
    int count[128] = {0};
    for (int k = 0; k < q->n; k++)
        for (int i = 0; i < q->in[k].n; i++)
            count[(unsigned char)q->in[k].label[i]]++;
    q->out = (term){0};
    for (int i = q->rest - 1; i >= 0; i--)
        q->out.label[q->out.n++] = (char)(REST + i);
    for (int c = 'A'; c <= 'z' && q->out.n < MAX_RANK; c++)
        if (count[c] == 1)
            q->out.label[q->out.n++] = (char)c;
}

static bool read_equation(const char *s, int n, const node *const *in, equation *q)
{
    *q = (equation){.n = n};
    for (int k = 0; k < n; k++) {
        s = k < MAX_TERM ? read_term(s, in[k]->type.rank, &q->in[k], &q->rest) : NULL;
        if (!s || (k + 1 < n && *s++ != ','))
            return false;
    }
    if (!*s)
        return implied(q), true;
    if (strncmp(s, "->", 2))
        return false;
    s = read_term(s + 2, -1, &q->out, &q->rest);
    for (int i = 0; s && i < q->out.n; i++) {
        bool known = !memchr(q->out.label, q->out.label[i], (size_t)i);
        for (int k = 0, found = 0; known && k <= n && !found; k++)
            known = k < n, found = k < n && has(&q->in[k], q->out.label[i]);
        if (!known)
            return false;
    }
    return s && !*s;
}

/* ---- ONNX ---- */
static bool adapt_einsum(const onnx_call *c, const node **out, err *e)
{
    const char *s = onnx_word(c, "equation", "");
    if (!onnx_need(c, c->n_in ? c->n_in : 1, e))
        return false;
    if (!*past_blanks(s))
        return err_set(e, TS_BAD_INPUT, "Einsum: no equation, expected letters for the axes as in \"ij,jk->ik\"");
    return onnx_give(c, out, g_apply_n(c->g, "einsum", c->n_in, c->in, ATTRS(attr_word("equation", s))), e);
}

/* ---- shape ---- */
/* Extents of the labels of n's terms: equal where a label repeats, or 1, which is read at 0. */
static bool extents(const node *n, const equation *q, int64_t *dim, err *e)
{
    for (int i = 0; i < 128; i++)
        dim[i] = -1;
    for (int k = 0; k < q->n; k++)
        for (int i = 0; i < q->in[k].n; i++) {
            int64_t *have = &dim[(unsigned char)q->in[k].label[i]], extent = n->in[k]->type.dim[i];
            if (*have < 0 || *have == 1)
                *have = extent < 0 ? *have : extent;
            else if (extent != *have && extent != 1 && extent != OPEN_EXTENT)
                return err_set(e, TS_BAD_INPUT,
                               "equation \"%s\": axis %c has the extents %lld and %lld, equal ones or 1 expected",
                               node_attr(n, "equation")->s, q->in[k].label[i], (long long)*have, (long long)extent);
        }
    return true;
}

static bool read_node(const node *n, equation *q, int64_t *dim, err *e)
{
    const char *s = node_attr(n, "equation")->s;
    if (!read_equation(s, n->n_in, n->in, q))
        return operands_refuse(n->n_in, n->in, e, "operands with the axes that equation \"%s\" names", s);
    return extents(n, q, dim, e);
}

static bool contract_shape(const node *n, type *out, err *e)
{
    equation q;
    int64_t dim[128];
    if (n->n_in < 1 || n->n_in > 2)
        return err_set(e, TS_BAD_INPUT, "%d operands given, takes 1 or 2", n->n_in);
    if (!read_node(n, &q, dim, e))
        return false;
    *out = (type){.dtype = n->in[0]->type.dtype, .rank = q.out.n};
    if (n->n_in > 1)
        out->dtype = dtype_promote(out->dtype, n->in[1]->type.dtype);
    for (int i = 0; i < q.out.n; i++)
        out->dim[i] = dim[(unsigned char)q.out.label[i]];
    return true;
}

/* ---- body ---- */
/* y[out...] = sum over the other labels of a[...] * b[...] */
static const expr *contract_body(defn *d)
{
    equation q;
    int64_t dim[128];
    const expr *axis[128] = {0}, *product = NULL;
    uint32_t folds = 0;
    arena *mem = d->mem;
    if (!read_node(d->node, &q, dim, d->err))
        return NULL;
    for (int i = 0; i < q.out.n; i++)
        axis[(unsigned char)q.out.label[i]] = x_axis(mem, i);
    for (int k = 0; k < q.n; k++) {
        const expr *sub[MAX_RANK];
        for (int i = 0; i < q.in[k].n; i++) {
            const unsigned char c = (unsigned char)q.in[k].label[i];
            if (!axis[c]) {
                const int fold = defn_fold(d, dim[c]);
                folds |= 1u << fold, axis[c] = x_axis(mem, fold);
            }
            sub[i] = d->node->in[k]->type.dim[i] == 1 && dim[c] != 1 ? x_whole(mem, 0) : axis[c];
        }
        const expr *x = x_cast(mem, d->node->type.dtype, defn_at(d, k, sub));
        product = product ? x2(mem, "mul", product, x) : x;
    }
    return folds ? x_fold(mem, "add", folds, product) : product;
}

/* ---- recipes ---- */
/* The term of a and b's product: the labels that later terms or the result still use. */
static term kept(const equation *q, const term *a, const term *b, int next)
{
    term t = {0};
    for (int side = 0; side < 2; side++) {
        const term *from = side ? b : a;
        for (int i = 0; i < from->n; i++) {
            bool needed = has(&q->out, from->label[i]);
            for (int k = next; k < q->n; k++)
                needed = needed || has(&q->in[k], from->label[i]);
            if (needed && !has(&t, from->label[i]) && t.n < MAX_RANK)
                t.label[t.n++] = from->label[i];
        }
    }
    return t;
}

static bool is_named(const char *s) /* a point between two names, not those of "..." */
{
    bool behind = false;
    for (; *s; s = past_blanks(s + 1)) {
        const char next = *s == '.' ? *past_blanks(s + 1) : 0;
        if (behind && in_word(next))
            return true;
        behind = in_word(*s);
    }
    return false;
}

/* Axes of operands that are left open are as long as their letters say. */
static bool einsum_extents(graph *g, const node *n, int64_t (*out)[MAX_RANK])
{
    equation q;
    int64_t dim[128];
    const char *words = node_attr(n, "equation")->s;
    if (is_named(words) || subscripts_needed(words))
        return g_subscripts_extents(g, n, words, is_named(words), out);
    if (!read_node(n, &q, dim, &g->err))
        return false;
    for (int k = 0; k < n->n_in; k++)
        for (int i = 0; i < n->in[k]->type.rank; i++)
            out[k][i] = n->in[k]->type.dim[i] < 0 ? dim[(unsigned char)q.in[k].label[i]] : n->in[k]->type.dim[i];
    return true;
}

/* At each step one label of extent 1 may give way to a longer one in a later term: it is then kept with extent 1. */
static const node *einsum_lower(graph *g, const node *n)
{
    equation q;
    int64_t dim[128];
    char line[4 * MAX_RANK + 16];
    if (n->n_in < 1)
        return g_fail(g, TS_BAD_INPUT, "no operands, at least one expected");
    const char *words = node_attr(n, "equation")->s;
    const bool named = is_named(words),
               usual = !strcmp(node_attr(n, "fold")->s, "add") && !strcmp(node_attr(n, "times")->s, "mul");
    if (!usual || named || subscripts_needed(words))
        return g_subscripts(g, n, words, named);
    if (!read_node(n, &q, dim, &g->err))
        return NULL;
    const attr given = attr_word("equation", line);
    const op *contract = op_find("contract");
    const node *y = n->in[0];
    term left = q.in[0];
    if (q.n == 1) {
        snprintf(line, sizeof line, "%s->%s", left.label, q.out.label);
        return g_make(g, contract, 1, &y, &given, 1);
    }
    for (int k = 1; k < q.n; k++) {
        const term to = k + 1 == q.n ? q.out : kept(&q, &left, &q.in[k], k + 1);
        snprintf(line, sizeof line, "%s,%s->%s", left.label, q.in[k].label, to.label);
        y = g_make(g, contract, NODES(y, n->in[k]), &given, 1);
        left = to;
    }
    return y;
}

/* ---- records ---- */
const op ops_einsum[] = {
    BODY("contract ... equation:s -> g m n | k", contract_body, "contract(x, equation)", NULL,
         "f32[2,3] f32[3,4] equation=ij,jk->ik\nf32[3,3] equation=ii->i\nf64[3,3] equation=ii->\n"
         "f32[2,5,3] f32[5,4,3] equation=bij,ikj->bk\ni32[4] i32[5] equation=i,j->ji\nf32[0,3] equation=ij->j",
         "Sum of products of one or two tensors, axes named by letters: \"ij,jk->ik\".", .shape = contract_shape,
         .extents = einsum_extents),
    RECIPE("einsum ... equation:s fold:s=add times:s=mul", einsum_lower, "np.einsum(equation, *x)", NULL,
           "f32[2,3] f32[3,4] equation=ij,jk->ik\nf32[2,3] f32[3,4] equation=ij,jk\nf32[3,4] equation=ij->ji\n"
           "f32[2,3,4] f32[4,5] equation=...j,jk->...k\nf32[2,3,3] equation=...ii->...i\nf64[3] f64[3] "
           "equation=i,i\nf32[2,3] f32[3,4] f32[4,5] equation=ab,bc,cd->ad\nf32[2,3] f32[3] f32[2] f32[4,2] "
           "equation=ab,b,a,ca->c\nf32[5,2,3] f32[5,3,4] equation=...ij,...jk->...ik\nf32[1,2,3] f32[5,3,4] "
           "equation=...ij,...jk\ni64[3,3,3] equation=iii->i\nf32[4,2,3] equation=b...->...b\n"
           "f32[2,3,4] equation=ijk->\nf32[2,3] f32[] equation=ij,->ij\nf32[0,3] f32[3,2] equation=ij,jk->ik",
           "Sum, or another fold, of products of tensors whose axes have letters, as numpy's einsum, or names.",
           .adapted = ADAPTED({"Einsum 12 N 0.. equation", adapt_einsum}), .extents = einsum_extents),
    {0},
};
