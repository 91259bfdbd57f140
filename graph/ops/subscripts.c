/* subscripts.c - einsum with more than letters:
 *   3         a fixed place                            "bi3,ij->bj"
 *   o+2*k     a sum of axes, each with a factor        "b o+k c, k c d -> b o d": windows; o is as long as fits
 *   o*2+k=    the same padded, half of it before: o is as long as the axis over its factor, rounded up; what is outside
 *             counts for nothing in the fold
 *   a^b       axes end to end; of each block those terms count that name it or none of the others
 *             "na,nb -> na^b" joins, "n a^b, a, b -> n" is the sum of both products
 *   ...       the axes that a term does not name; ..v.. the same by a name, so that a term may have several
 *   ij->iji   an axis twice in the result: off the diagonal is what a fold of nothing gives
 *   any fold in place of the sum, logsumexp too; times=add: sums in place of products, for max-plus and its like
 * An equation with axes end to end becomes one for each block; what is left is an einsum of letters where all
 * subscripts are axes, else one element spelled out. */
#include "graph/ops/subscripts.h"
#include "graph/ir/rule.h"
#include "graph/ops/equation.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* -- spelled out -- */
static bool has_axis(const term *t, int axis)
{
    for (int i = 0; i < t->n; i++)
        for (int p = 0; p < t->at[i].n; p++)
            if (!t->at[i].joined && t->at[i].axis[p] == axis)
                return true;
    return false;
}

static void write_subscript(text *t, const equation *q, int k, int axis, const int *place)
{
    const subscript *s = &q->term[k].at[axis];
    const bool single = subscript_is_axis(s) && q->in[k]->type.dim[axis] == 1; /* whatever the axis has elsewhere */
    text_add(t, "%lld", (long long)s->offset);
    for (int i = 0; i < s->n && !single; i++)
        text_add(t, "+%lld*i%d", (long long)s->scale[i], place[s->axis[i]]);
}

/* "0<=place?place<dim?x:unit:unit", with x to be written between: what is outside counts for nothing. How many ends it
 * takes is the result. */
static int write_guards(text *t, const equation *q, const int *place)
{
    int n = 0;
    for (int k = 0; k < q->n; k++)
        for (int i = 0; i < q->term[k].n; i++) {
            if (!q->term[k].at[i].padded)
                continue;
            text_add(t, "0<="), write_subscript(t, q, k, i, place), text_add(t, "?");
            write_subscript(t, q, k, i, place), text_add(t, "<%lld?", (long long)q->in[k]->type.dim[i]);
            n += 2;
        }
    return n;
}

static const node *element_of(const equation *q)
{
    const term *y = &q->term[q->n];
    int place[MOST_AXES], n = 0;
    int64_t extent[MAX_AXIS];
    ENDED_BY(text_free) text t = {0};
    if (q->n > MOST_SPELLED)
        return g_fail(q->g, TS_BAD_INPUT, "%d operands given, takes 1 to %d with such an equation", q->n, MOST_SPELLED);
    for (int a = 0; a < q->n_axis; a++)
        place[a] = NONE;
    for (int i = 0; i < y->n; i++)
        place[y->at[i].axis[0]] = n, extent[n++] = q->extent[y->at[i].axis[0]];
    for (int k = 0; k < q->n; k++)
        for (int i = 0; i < q->term[k].n; i++)
            for (int p = 0; p < q->term[k].at[i].n; p++) {
                const int a = q->term[k].at[i].axis[p];
                if (place[a] == NONE && n == MAX_AXIS)
                    return equation_refuse(q, "%d axes or more, at most %d expected", MAX_AXIS + 1, MAX_AXIS), NULL;
                if (place[a] == NONE)
                    place[a] = n, extent[n++] = q->extent[a];
            }
    const int guards = write_guards(&t, q, place);
    for (int k = 0; k < q->n; k++) {
        text_add(&t, "%s%c", !k ? "" : !strcmp(q->times, "mul") ? "*" : "+", 'a' + k);
        for (int i = 0; i < q->term[k].n; i++) {
            text_add(&t, i ? "," : "[");
            write_subscript(&t, q, k, i, place);
        }
        text_add(&t, q->term[k].n ? "]" : "");
    }
    for (int i = 0; i < guards; i++)
        text_add(&t, ":%g", q->unit);
    return g_element(q->g, q->n, q->in, &(spelling){y->n, n - y->n, extent, q->fold, text_str(&t)});
}

/* Operand k at the places that its term has: those axes go. */
static const node *at_places(const equation *q, int k)
{
    const node *x = q->in[k];
    int64_t extent[MAX_RANK];
    ENDED_BY(text_free) text t = {0};
    int rank = 0;
    for (int i = 0; i < q->term[k].n; i++) {
        const subscript *s = &q->term[k].at[i];
        text_add(&t, i ? "," : "a[");
        if (subscript_is_place(s))
            text_add(&t, "%lld", (long long)s->offset);
        else
            text_add(&t, "i%d", rank), extent[rank++] = x->type.dim[i];
    }
    text_add(&t, "]");
    return rank == q->term[k].n ? x : g_element(q->g, 1, &x, &(spelling){rank, 0, extent, "add", text_str(&t)});
}

/* All subscripts are axes and places, and what is folded is summed: products of matrices among them are known as such.
 */
static const node *letters_of(const equation *q)
{
    const node *in[MOST_TERMS];
    ENDED_BY(text_free) text t = {0};
    for (int k = 0; k <= q->n; k++) {
        text_add(&t, k == q->n ? "->" : k ? "," : "");
        for (int i = 0; i < q->term[k].n; i++) {
            const int a = q->term[k].at[i].axis[0];
            if (!subscript_is_place(&q->term[k].at[i]))
                text_add(&t, "%c", a < 26 ? 'a' + a : 'A' + a - 26);
        }
        if (k < q->n)
            in[k] = at_places(q, k);
    }
    return g_apply_n(q->g, "einsum", q->n, in, ATTRS(attr_word("equation", text_str(&t))));
}

/* The first axis of t that stands before, too; NONE: there is none */
static int again(const term *t)
{
    for (int i = 0; i < t->n; i++)
        for (int j = 0; j < i; j++)
            if (t->at[j].axis[0] == t->at[i].axis[0])
                return i;
    return NONE;
}

static const node *made_of(const equation *q);

/* y[i,j,i] = one[i,j] for a result that has an axis twice, `one` without the second of them */
static const node *diagonal_of(const equation *q)
{
    const term *y = &q->term[q->n];
    equation one = *q;
    int64_t extent[MAX_RANK];
    int twin = 0;
    const int gone = again(y);
    while (y->at[twin].axis[0] != y->at[gone].axis[0])
        twin++;
    term *left = &one.term[one.n];
    left->n--;
    memmove(&left->at[gone], &left->at[gone + 1], (size_t)(left->n - gone) * sizeof *left->at);
    const node *x = made_of(&one);
    if (!x)
        return NULL;
    ENDED_BY(text_free) text t = {0};
    text_add(&t, "i%d==i%d?a[", twin, gone);
    for (int i = 0; i < y->n; i++) {
        extent[i] = q->extent[y->at[i].axis[0]];
        if (i != gone)
            text_add(&t, i ? ",i%d" : "i%d", i);
    }
    text_add(&t, "]:%g", q->unit);
    return g_element(q->g, 1, &x, &(spelling){y->n, 0, extent, "add", text_str(&t)});
}

/* log(sum(exp(x))) over the axes that the result lacks, x[result, those] spelled out first. */
static const node *logsumexp_of(const equation *q)
{
    equation whole = *q;
    term *y = &whole.term[q->n];
    ENDED_BY(text_free) text t = {0};
    whole.fold = "add";
    const int kept = y->n;
    for (int a = 0; a < q->n_axis; a++) {
        bool read = false;
        for (int k = 0; k < q->n; k++)
            read = read || has_axis(&q->term[k], a);
        if (!read || has_axis(y, a))
            continue;
        if (y->n == MAX_RANK)
            return equation_refuse(q, "logsumexp over %d axes or more, kept ones among them, at most %d expected",
                                   MAX_RANK + 1, MAX_RANK),
                   NULL;
        text_add(&t, y->n > kept ? ",%d" : "logsumexp axes=[%d", y->n);
        y->at[y->n++] = (subscript){.n = 1, .axis = {a}, .scale = {1}};
    }
    const node *x = made_of(&whole);
    if (x && y->n > kept)
        text_add(&t, "]"), x = g_callf(q->g, 1, &x, "%s", text_str(&t));
    return x;
}

static const node *made_of(const equation *q)
{
    bool plain = !strcmp(q->fold, "add") && !strcmp(q->times, "mul");
    for (int k = 0; k <= q->n; k++)
        for (int i = 0; i < q->term[k].n; i++) {
            const subscript *s = &q->term[k].at[i];
            plain = plain && (subscript_is_axis(s) || (subscript_is_place(s) && k < q->n));
            if (k < q->n)
                continue;
            if (!subscript_is_axis(s))
                return equation_refuse(q, "a result has axes, no places or sums"), NULL;
            bool read = false; /* else it is repeated along that axis */
            for (int j = 0; j < k; j++)
                read = read || has_axis(&q->term[j], s->axis[0]);
            plain = plain && read;
        }
    if (again(&q->term[q->n]) != NONE)
        return diagonal_of(q);
    if (!strcmp(q->fold, "logsumexp"))
        return logsumexp_of(q);
    return plain ? letters_of(q) : element_of(q);
}

/* -- axes end to end -- */
static const subscript *first_joined(const equation *q)
{
    for (int k = q->n; k >= 0; k--)
        for (int i = 0; i < q->term[k].n; i++)
            if (q->term[k].at[i].joined)
                return &q->term[k].at[i];
    return NULL;
}

static bool same_axes(const subscript *a, const subscript *b)
{
    return a->joined && b->joined && a->n == b->n && !memcmp(a->axis, b->axis, (size_t)a->n * sizeof *a->axis);
}

static const node *value_of(const equation *q);

/* The equation where of those axes only one, of[which], is there; *left: there is none. */
static const node *block(const equation *q, const subscript *of, int which, bool *left)
{
    equation one = *q;
    int64_t from = 0;
    one.n = 0;
    for (int i = 0; i < which; i++)
        from += q->extent[of->axis[i]];
    for (int k = 0; k <= q->n; k++) {
        term t = q->term[k];
        const node *x = k < q->n ? q->in[k] : NULL;
        bool counts = true;
        for (int i = 0; i < of->n; i++)
            counts = counts && (i == which || !has_axis(&t, of->axis[i]));
        for (int i = 0; i < t.n && counts; i++) {
            if (!same_axes(&t.at[i], of))
                continue;
            t.at[i] = (subscript){.n = 1, .axis = {of->axis[which]}, .scale = {1}};
            x = x ? g_part(q->g, x, i, from, q->extent[of->axis[which]]) : NULL;
        }
        if (k == q->n && !counts)
            return *left = true, NULL;
        if (k == q->n)
            one.term[one.n] = t;
        else if (counts)
            one.in[one.n] = x, one.term[one.n++] = t;
    }
    if (!one.n)
        equation_refuse(q, "no operand has %s", q->name[of->axis[which]]);
    return err_is(&q->g->err) ? NULL : value_of(&one);
}

static const node *value_of(const equation *q)
{
    const subscript *of = first_joined(q);
    const node *part[PARTS], *total = NULL;
    int along = NONE, n = 0;
    if (!of)
        return made_of(q);
    for (int i = 0; i < q->term[q->n].n; i++)
        if (same_axes(&q->term[q->n].at[i], of))
            along = i;
    for (int i = 0; i < of->n; i++) {
        bool left = false;
        const node *y = block(q, of, i, &left);
        if (y)
            part[n++] = y;
        else if (!left)
            return NULL;
    }
    if (along != NONE)
        return g_joined(q->g, n, part, along);
    const char *both = strcmp(q->fold, "logsumexp")
                           ? arena_format(&q->g->mem, "%s(a,b)", q->fold)
                           : "a == b ? a + 0.6931471805599453 : max(a, b) + log1p(exp(-abs(a - b)))";
    for (int i = 0; i < n; i++)
        if (!total)
            total = part[i];
        else if (!strcmp(q->fold, "add"))
            total = g_added(q->g, total, part[i]);
        else
            total = g_formula(q->g, NODES(total, part[i]), both);
    return total ? total : (equation_refuse(q, "its result has none of the axes that stand end to end"), NULL);
}

/* -- the whole -- */
bool subscripts_needed(const char *words)
{
    const char *result = strstr(words, "->");
    for (const char *s = result ? result + 2 : ""; *s; s++)
        if (isalpha((unsigned char)*s) && strchr(s + 1, *s))
            return true;
    const char *row = strstr(words, "..");
    for (; row && row[2] == '.'; row = strstr(row + 3, ".."))
        ;
    return row || strpbrk(words, "0123456789+*^=") != NULL;
}

bool g_subscripts_extents(graph *g, const node *n, const char *words, bool named, int64_t (*dim)[MAX_RANK])
{
    equation q = {.g = g, .words = words, .named = named, .n = n->n_in};
    if (!equation_read(&q, n))
        return false;
    for (int k = 0; k < q.n; k++)
        for (int i = 0; i < q.term[k].n; i++)
            dim[k][i] = q.in[k]->type.dim[i] == OPEN_EXTENT ? equation_span(&q, &q.term[k].at[i])
                                                            : q.in[k]->type.dim[i];
    return true;
}

const node *g_subscripts(graph *g, const node *n, const char *words, bool named)
{
    equation q = {.g = g, .words = words, .named = named, .n = n->n_in};
    q.fold = node_attr(n, "fold")->s, q.times = node_attr(n, "times")->s;
    const fn *f = fn_find(q.fold);
    const bool logs = !strcmp(q.fold, "logsumexp");
    if (!logs && (!f || f->unit != f->unit))
        return g_fail(g, TS_BAD_INPUT, "fold: \"%s\" is no function to fold with", q.fold);
    if (strcmp(q.times, "mul") && strcmp(q.times, "add"))
        return g_fail(g, TS_BAD_INPUT, "times: \"%s\", expected mul or add", q.times);
    q.unit = logs ? -INFINITY : f->unit;
    return equation_read(&q, n) && equation_known(&q) ? value_of(&q) : NULL;
}
