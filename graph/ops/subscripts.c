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

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_AXES = 48, NAME = 32, PARTS = 4, MOST_TERMS = 64, MOST_ROWS = 4, NONE = -1 };
typedef struct subscript { /* offset + the sum of scale[i] * axis[i]; or axes end to end */
    bool joined, padded;
    int n;
    int axis[PARTS];
    int64_t scale[PARTS], offset;
} subscript;
typedef struct term {
    int n;
    subscript at[MAX_RANK];
} term;
typedef struct equation {
    graph *g;
    const char *words, *fold, *times;
    double unit; /* what a fold of nothing gives */
    bool named;
    int n_axis, n, n_row;
    char row[MOST_ROWS][NAME]; /* the v of "..v..", "" of "..." */
    int row_n[MOST_ROWS];      /* axes that it stands for, most of all terms; NONE: not met yet */
    char name[MOST_AXES][NAME];
    int64_t extent[MOST_AXES]; /* NONE: not known yet */
    const node *in[MOST_TERMS];
    term term[MOST_TERMS + 1]; /* of the operands, then of the result */
} equation;

static bool __attribute__((format(printf, 2, 3))) refuse(const equation *q, const char *fmt, ...)
{
    char what[1024];
    va_list list;
    va_start(list, fmt);
    vsnprintf(what, sizeof what, fmt, list);
    va_end(list);
    return g_fail(q->g, TS_BAD_INPUT, "equation \"%s\": %s", q->words, what), false;
}

/* -- reading -- */
const char *past_blanks(const char *s)
{
    return s + strspn(s, " \t\n\v\f\r");
}

static size_t word(const char *s) /* its length */
{
    return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

/* A name or a number: of letters each is one, and so is each digit that stands for a place. */
static size_t length_of(const equation *q, const char *s)
{
    const size_t n = word(s);
    if (q->named || !n)
        return n;
    const size_t digits = strspn(s, "0123456789");
    return digits && *past_blanks(s + digits) == '*' ? digits : 1;
}

/* The number of an axis by its name; NONE: refused, as there are too many, or the name is too long. */
static int axis_of(equation *q, const char *s, size_t n)
{
    int i = 0;
    while (i < q->n_axis && (strncmp(q->name[i], s, n) || q->name[i][n]))
        i++;
    if (n >= NAME)
        return refuse(q, "a name of %zu letters, at most %d expected at %s", n, NAME - 1, s), NONE;
    if (i == MOST_AXES)
        return refuse(q, "%d axes, at most %d expected, at %s", i + 1, MOST_AXES, s), NONE;
    if (i == q->n_axis)
        memcpy(q->name[i], s, n), q->name[i][n] = 0, q->extent[q->n_axis++] = NONE;
    return i;
}

static bool read_number(equation *q, const char **at, size_t n, int64_t *out)
{
    char digits[NAME] = "";
    memcpy(digits, *at, n < NAME ? n : NAME - 1);
    if (!n || digits[strspn(digits, "0123456789")] || n > 9)
        return refuse(q, "a number of up to nine digits, or a name, expected at %s", *at);
    return *out = strtoll(digits, NULL, 10), *at = past_blanks(*at + n), true;
}

/* One part: a name, a number, or both with a * between. */
static bool read_part(equation *q, const char **at, subscript *t)
{
    int64_t scale = 1;
    size_t n = length_of(q, *at);
    if (n && isdigit((unsigned char)**at)) {
        if (!read_number(q, at, n, &scale))
            return false;
        if (**at != '*')
            return t->offset += scale, true;
        *at = past_blanks(*at + 1), n = length_of(q, *at);
    }
    if (!n || isdigit((unsigned char)**at) || t->n == PARTS || scale < 1)
        return refuse(q, "an axis expected at %s", **at ? *at : "its end");
    const int axis = axis_of(q, *at, n);
    if (axis == NONE)
        return false;
    *at = past_blanks(*at + n);
    if (**at == '*' && scale == 1) {
        *at = past_blanks(*at + 1);
        if (!read_number(q, at, strspn(*at, "0123456789"), &scale) || !scale)
            return scale ? false : refuse(q, "a factor of 1 or more expected before %s", *at);
    }
    t->axis[t->n] = axis, t->scale[t->n++] = scale;
    return true;
}

static bool read_subscript(equation *q, const char **at, subscript *t)
{
    *t = (subscript){0};
    if (!read_part(q, at, t))
        return false;
    const char how = **at;
    while ((how == '+' || how == '^') && **at == how) {
        *at = past_blanks(*at + 1), t->joined = how == '^';
        if (!read_part(q, at, t))
            return false;
    }
    if (**at == '+' || **at == '^')
        return refuse(q, "sums and axes end to end stand in one place at %s", *at);
    for (int i = 0; t->joined && i < t->n; i++)
        if (t->scale[i] != 1 || t->offset)
            return refuse(q, "axes end to end have no numbers: %s", q->name[t->axis[i]]);
    if (**at == '=' && (t->joined || t->offset || !t->n))
        return refuse(q, "padding is of sums of axes, without numbers, at %s", *at);
    t->padded = **at == '=';
    return *at = past_blanks(*at + t->padded), true;
}

/* -- rows: "..." and "..v.." -- */
typedef struct rows { /* of one term: each before t->at[at] */
    int n, at[MOST_ROWS], row[MOST_ROWS];
} rows;

/* A row, if one stands at *at. In equations of names a point may part it from those beside it. */
static bool read_row(equation *q, const char **at, const term *t, rows *of, bool *is_row)
{
    const char *s = *at + (q->named && t->n + of->n && !strncmp(*at, "....", 4) && (*at)[4] != '.');
    const size_t n = strncmp(s, "..", 2) ? 0 : word(s + 2);
    *is_row = !strncmp(s, "...", 3) || (n && !strncmp(s + 2 + n, "..", 2));
    if (!*is_row)
        return true;
    if (n >= NAME - 4)
        return refuse(q, "a name of %zu letters, at most %d expected at %s", n, NAME - 5, *at);
    int i = 0;
    while (i < q->n_row && (strncmp(q->row[i], s + 2, n) || q->row[i][n]))
        i++;
    if (i == MOST_ROWS || of->n == MOST_ROWS)
        return refuse(q, "%d rows of axes, at most %d expected, at %s", MOST_ROWS + 1, MOST_ROWS, *at);
    if (i == q->n_row)
        memcpy(q->row[i], s + 2, n), q->row[i][n] = 0, q->row_n[q->n_row++] = NONE;
    for (int k = 0; k < of->n; k++)
        if (of->row[k] == i)
            return refuse(q, "a row twice in one term at %s", *at);
    of->at[of->n] = t->n, of->row[of->n++] = i;
    *at = past_blanks(s + (n ? n + 4 : 3));
    *at += q->named && **at == '.' && word(*at + 1) > 0;
    return true;
}

/* How many axes each row of a term stands for: what the operand has beside those named and those of rows met before. */
static bool find_rows(equation *q, const term *t, const rows *of, int rank, int *fill)
{
    int left = rank - t->n, open = NONE;
    for (int k = 0; k < of->n; k++) {
        const int known = rank < 0 || of->n > 1 ? q->row_n[of->row[k]] : NONE;
        if (known == NONE && (open != NONE || (rank < 0 && *q->row[of->row[k]])))
            return refuse(q, "nothing says how many axes ..%s.. stands for", q->row[of->row[k]]);
        if (known == NONE)
            open = k;
        left -= known == NONE ? 0 : known, fill[k] = known == NONE ? 0 : known;
    }
    if (open != NONE && rank >= 0)
        fill[open] = left > 0 ? left : 0; /* one too few is refused behind the term */
    return true;
}

/* The axes of a row are named ...0, ...1 from the last one backwards: so rows of several lengths are aligned there. */
static bool fill_rows(equation *q, term *t, const rows *of, int rank)
{
    int fill[MOST_ROWS];
    if (!find_rows(q, t, of, rank, fill))
        return false;
    for (int k = of->n - 1; k >= 0; k--) {
        const int at = of->at[k], row = of->row[k];
        if (t->n + fill[k] > MAX_RANK)
            return refuse(q, "%d axes of one operand, at most %d expected, at ...", t->n + fill[k], MAX_RANK);
        memmove(&t->at[at + fill[k]], &t->at[at], (size_t)(t->n - at) * sizeof *t->at);
        for (int i = 0; i < fill[k]; i++) {
            char name[NAME];
            snprintf(name, sizeof name, "%s...%d", q->row[row], fill[k] - 1 - i);
            const int axis = axis_of(q, name, strlen(name));
            if (axis == NONE)
                return false;
            t->at[at + i] = (subscript){.n = 1, .axis = {axis}, .scale = {1}};
        }
        t->n += fill[k], q->row_n[row] = fill[k] > q->row_n[row] ? fill[k] : q->row_n[row];
    }
    return true;
}

/* Of an operand of `rank` axes, or of the result: -1 */
static bool read_term(equation *q, const char **at, term *t, int rank)
{
    rows of = {0};
    for (*at = past_blanks(*at);; *at = past_blanks(*at)) {
        bool is_row;
        if (!read_row(q, at, t, &of, &is_row))
            return false;
        if (is_row)
            continue;
        if (!word(*at))
            break;
        if (t->n == MAX_RANK)
            return refuse(q, "%d axes of one operand, at most %d expected, at %s", MAX_RANK + 1, MAX_RANK, *at);
        if (!read_subscript(q, at, &t->at[t->n++]))
            return false;
        if (!q->named)
            continue;
        if (!read_row(q, at, t, &of, &is_row))
            return false;
        if (is_row && (word(*at) || **at == '.'))
            continue;
        if (is_row || **at != '.')
            break;
        *at = past_blanks(*at + 1);
        if (!word(*at))
            return refuse(q, "an axis expected at %s", **at ? *at : "its end");
    }
    return fill_rows(q, t, &of, rank);
}

static bool read_all(equation *q)
{
    const char *at = q->words;
    for (int k = 0; k < q->n; k++) {
        if (!read_term(q, &at, &q->term[k], q->in[k]->type.rank))
            return false;
        if (q->term[k].n != q->in[k]->type.rank)
            return refuse(q, "it names %d axes of operand %d, which has %d", q->term[k].n, k, q->in[k]->type.rank);
        if (k + 1 < q->n && *at++ != ',')
            return refuse(q, "a term for each operand expected, with commas between");
    }
    if (strncmp(at, "->", 2))
        return refuse(q, "-> expected behind the last operand's axes");
    at += 2;
    return read_term(q, &at, &q->term[q->n], -1) && (!*at || refuse(q, "its end expected at %s", at));
}

/* -- extents -- */
static bool set_extent(equation *q, int axis, int64_t extent) /* equal wherever it stands, or 1, which is read at 0 */
{
    if (q->extent[axis] == NONE || q->extent[axis] == 1)
        q->extent[axis] = extent;
    return q->extent[axis] == extent || extent == 1 ||
           refuse(q, "axis %s has the extents %lld and %lld, equal ones or 1 expected", q->name[axis],
                  (long long)q->extent[axis], (long long)extent);
}

/* Of one subscript along `dim` places: the one axis that is not known yet is as long as fits. */
static bool solve(equation *q, const subscript *s, int64_t dim)
{
    int open = NONE, n_open = 0;
    int64_t last = s->offset, rest = dim;
    if (s->padded)
        return set_extent(q, s->axis[0], (dim + s->scale[0] - 1) / s->scale[0]);
    for (int i = 0; i < s->n; i++) {
        const int64_t extent = q->extent[s->axis[i]];
        if (extent == NONE)
            open = i, n_open++;
        else
            last += s->scale[i] * (extent - 1), rest -= extent;
    }
    if (n_open > 1)
        return true; /* later, or never */
    if (!s->joined && last >= dim)
        return refuse(q, "a subscript reaches place %lld of an axis of %lld", (long long)last, (long long)dim);
    if (s->joined && (rest < 0 || (!n_open && rest)))
        return refuse(q, "axes end to end have not %lld places", (long long)dim);
    return !n_open || set_extent(q, s->axis[open], s->joined ? rest : (dim - 1 - last) / s->scale[open] + 1);
}

static bool is_axis(const subscript *s)
{
    return s->n == 1 && !s->joined && !s->padded && s->scale[0] == 1 && !s->offset;
}

static bool is_place(const subscript *s)
{
    return !s->n;
}

static bool find_extents(equation *q)
{
    for (int pass = 0; pass < 2 + q->n_axis; pass++) /* axes alone, then what follows from them */
        for (int k = 0; k < q->n; k++)
            for (int i = 0; i < q->term[k].n; i++) {
                const subscript *s = &q->term[k].at[i];
                const int64_t dim = q->in[k]->type.dim[i];
                if (dim == OPEN_EXTENT)
                    continue;
                if (is_axis(s) ? !set_extent(q, s->axis[0], dim) : pass > 0 && !solve(q, s, dim))
                    return false;
            }
    return true;
}

/* What a padded sum reaches beyond its axis is half before it, rounded down. */
static void shift_padded(const equation *q, subscript *s, int64_t dim)
{
    int64_t beyond = 1 - dim;
    for (int i = 0; i < s->n; i++)
        beyond += s->scale[i] * (q->extent[s->axis[i]] - 1);
    s->offset = s->padded && beyond > 0 ? -(beyond / 2) : s->offset;
}

static bool all_known(equation *q)
{
    for (int a = 0; a < q->n_axis; a++)
        if (q->extent[a] == NONE)
            return refuse(q, "nothing says how long this axis is: %s", q->name[a]);
    for (int k = 0; k < q->n; k++)
        for (int i = 0; i < q->term[k].n; i++)
            shift_padded(q, &q->term[k].at[i], q->in[k]->type.dim[i]);
    return true;
}

/* As long as it must be for s to stay inside; OPEN_EXTENT where that is not known */
static int64_t span_of(const equation *q, const subscript *s)
{
    if (s->padded)
        return OPEN_EXTENT;
    int64_t span = s->joined ? 0 : s->offset + 1;
    for (int i = 0; i < s->n; i++) {
        const int64_t extent = q->extent[s->axis[i]];
        if (extent == NONE)
            return OPEN_EXTENT;
        span += s->joined ? extent : s->scale[i] * (extent - 1);
    }
    return is_place(s) ? OPEN_EXTENT : span;
}

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
    const bool single = is_axis(s) && q->in[k]->type.dim[axis] == 1; /* whatever the axis has elsewhere */
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
    text t = {0};
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
                    return refuse(q, "%d axes or more, at most %d expected", MAX_AXIS + 1, MAX_AXIS), NULL;
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
    const node *made = g_element(q->g, q->n, q->in, &(spelling){y->n, n - y->n, extent, q->fold, text_str(&t)});
    return text_free(&t), made;
}

/* Operand k at the places that its term has: those axes go. */
static const node *at_places(const equation *q, int k)
{
    const node *x = q->in[k];
    int64_t extent[MAX_RANK];
    text t = {0};
    int rank = 0;
    for (int i = 0; i < q->term[k].n; i++) {
        const subscript *s = &q->term[k].at[i];
        text_add(&t, i ? "," : "a[");
        if (is_place(s))
            text_add(&t, "%lld", (long long)s->offset);
        else
            text_add(&t, "i%d", rank), extent[rank++] = x->type.dim[i];
    }
    text_add(&t, "]");
    const node *y = rank == q->term[k].n ? x
                                         : g_element(q->g, 1, &x, &(spelling){rank, 0, extent, "add", text_str(&t)});
    return text_free(&t), y;
}

/* All subscripts are axes and places, and what is folded is summed: products of matrices among them are known as such.
 */
static const node *letters_of(const equation *q)
{
    const node *in[MOST_TERMS];
    text t = {0};
    for (int k = 0; k <= q->n; k++) {
        text_add(&t, k == q->n ? "->" : k ? "," : "");
        for (int i = 0; i < q->term[k].n; i++) {
            const int a = q->term[k].at[i].axis[0];
            if (!is_place(&q->term[k].at[i]))
                text_add(&t, "%c", a < 26 ? 'a' + a : 'A' + a - 26);
        }
        if (k < q->n)
            in[k] = at_places(q, k);
    }
    const node *y = g_apply_n(q->g, "einsum", q->n, in, ATTRS(attr_word("equation", text_str(&t))));
    return text_free(&t), y;
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
    text t = {0};
    text_add(&t, "i%d==i%d?a[", twin, gone);
    for (int i = 0; i < y->n; i++) {
        extent[i] = q->extent[y->at[i].axis[0]];
        if (i != gone)
            text_add(&t, i ? ",i%d" : "i%d", i);
    }
    text_add(&t, "]:%g", q->unit);
    const node *made = g_element(q->g, 1, &x, &(spelling){y->n, 0, extent, "add", text_str(&t)});
    return text_free(&t), made;
}

/* log(sum(exp(x))) over the axes that the result lacks, x[result, those] spelled out first. */
static const node *logsumexp_of(const equation *q)
{
    equation whole = *q;
    term *y = &whole.term[q->n];
    text t = {0};
    whole.fold = "add";
    const int kept = y->n;
    for (int a = 0; a < q->n_axis; a++) {
        bool read = false;
        for (int k = 0; k < q->n; k++)
            read = read || has_axis(&q->term[k], a);
        if (!read || has_axis(y, a))
            continue;
        if (y->n == MAX_RANK)
            return refuse(q, "logsumexp over %d axes or more, kept ones among them, at most %d expected", MAX_RANK + 1,
                          MAX_RANK),
                   NULL;
        text_add(&t, y->n > kept ? ",%d" : "logsumexp axes=[%d", y->n);
        y->at[y->n++] = (subscript){.n = 1, .axis = {a}, .scale = {1}};
    }
    const node *x = made_of(&whole);
    if (x && y->n > kept)
        text_add(&t, "]"), x = g_callf(q->g, 1, &x, "%s", text_str(&t));
    return text_free(&t), x;
}

static const node *made_of(const equation *q)
{
    bool plain = !strcmp(q->fold, "add") && !strcmp(q->times, "mul");
    for (int k = 0; k <= q->n; k++)
        for (int i = 0; i < q->term[k].n; i++) {
            const subscript *s = &q->term[k].at[i];
            plain = plain && (is_axis(s) || (is_place(s) && k < q->n));
            if (k < q->n)
                continue;
            if (!is_axis(s))
                return refuse(q, "a result has axes, no places or sums"), NULL;
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
        refuse(q, "no operand has %s", q->name[of->axis[which]]);
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
    return total ? total : (refuse(q, "its result has none of the axes that stand end to end"), NULL);
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

static bool read(equation *q, const node *n)
{
    if (n->n_in < 1 || n->n_in > MOST_TERMS)
        return g_fail(q->g, TS_BAD_INPUT, "%d operands given, takes 1 to %d with such an equation", n->n_in,
                      MOST_TERMS),
               false;
    for (int k = 0; k < n->n_in; k++)
        q->in[k] = n->in[k];
    return read_all(q) && find_extents(q);
}

bool g_subscripts_extents(graph *g, const node *n, const char *words, bool named, int64_t (*dim)[MAX_RANK])
{
    equation q = {.g = g, .words = words, .named = named, .n = n->n_in};
    if (!read(&q, n))
        return false;
    for (int k = 0; k < q.n; k++)
        for (int i = 0; i < q.term[k].n; i++)
            dim[k][i] = q.in[k]->type.dim[i] == OPEN_EXTENT ? span_of(&q, &q.term[k].at[i]) : q.in[k]->type.dim[i];
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
    return read(&q, n) && all_known(&q) ? value_of(&q) : NULL;
}
