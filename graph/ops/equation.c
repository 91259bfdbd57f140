/* equation.c - equations of einsum: their terms, and how long their axes are. */
#include "graph/ops/equation.h"
#include "graph/ops/subscripts.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool equation_refuse(const equation *q, const char *fmt, ...)
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
        return equation_refuse(q, "a name of %zu letters, at most %d expected at %s", n, NAME - 1, s), NONE;
    if (i == MOST_AXES)
        return equation_refuse(q, "%d axes, at most %d expected, at %s", i + 1, MOST_AXES, s), NONE;
    if (i == q->n_axis)
        memcpy(q->name[i], s, n), q->name[i][n] = 0, q->extent[q->n_axis++] = NONE;
    return i;
}

static bool read_number(equation *q, const char **at, size_t n, int64_t *out)
{
    char digits[NAME] = "";
    memcpy(digits, *at, n < NAME ? n : NAME - 1);
    if (!n || digits[strspn(digits, "0123456789")] || n > 9)
        return equation_refuse(q, "a number of up to nine digits, or a name, expected at %s", *at);
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
        return equation_refuse(q, "an axis expected at %s", **at ? *at : "its end");
    const int axis = axis_of(q, *at, n);
    if (axis == NONE)
        return false;
    *at = past_blanks(*at + n);
    if (**at == '*' && scale == 1) {
        *at = past_blanks(*at + 1);
        if (!read_number(q, at, strspn(*at, "0123456789"), &scale) || !scale)
            return scale ? false : equation_refuse(q, "a factor of 1 or more expected before %s", *at);
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
        return equation_refuse(q, "sums and axes end to end stand in one place at %s", *at);
    for (int i = 0; t->joined && i < t->n; i++)
        if (t->scale[i] != 1 || t->offset)
            return equation_refuse(q, "axes end to end have no numbers: %s", q->name[t->axis[i]]);
    if (**at == '=' && (t->joined || t->offset || !t->n))
        return equation_refuse(q, "padding is of sums of axes, without numbers, at %s", *at);
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
        return equation_refuse(q, "a name of %zu letters, at most %d expected at %s", n, NAME - 5, *at);
    int i = 0;
    while (i < q->n_row && (strncmp(q->row[i], s + 2, n) || q->row[i][n]))
        i++;
    if (i == MOST_ROWS || of->n == MOST_ROWS)
        return equation_refuse(q, "%d rows of axes, at most %d expected, at %s", MOST_ROWS + 1, MOST_ROWS, *at);
    if (i == q->n_row)
        memcpy(q->row[i], s + 2, n), q->row[i][n] = 0, q->row_n[q->n_row++] = NONE;
    for (int k = 0; k < of->n; k++)
        if (of->row[k] == i)
            return equation_refuse(q, "a row twice in one term at %s", *at);
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
            return equation_refuse(q, "nothing says how many axes ..%s.. stands for", q->row[of->row[k]]);
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
            return equation_refuse(q, "%d axes of one operand, at most %d expected, at ...", t->n + fill[k], MAX_RANK);
        memmove(&t->at[at + fill[k]], &t->at[at], (size_t)(t->n - at) * sizeof *t->at);
        for (int i = 0; i < fill[k]; i++) {
            char name[NAME + 16];
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
            return equation_refuse(q, "%d axes of one operand, at most %d expected, at %s", MAX_RANK + 1, MAX_RANK,
                                   *at);
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
            return equation_refuse(q, "an axis expected at %s", **at ? *at : "its end");
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
            return equation_refuse(q, "it names %d axes of operand %d, which has %d", q->term[k].n, k,
                                   q->in[k]->type.rank);
        if (k + 1 < q->n && *at++ != ',')
            return equation_refuse(q, "a term for each operand expected, with commas between");
    }
    if (strncmp(at, "->", 2))
        return equation_refuse(q, "-> expected behind the last operand's axes");
    at += 2;
    return read_term(q, &at, &q->term[q->n], -1) && (!*at || equation_refuse(q, "its end expected at %s", at));
}

/* -- extents -- */
static bool set_extent(equation *q, int axis, int64_t extent) /* equal wherever it stands, or 1, which is read at 0 */
{
    if (q->extent[axis] == NONE || q->extent[axis] == 1)
        q->extent[axis] = extent;
    return q->extent[axis] == extent || extent == 1 ||
           equation_refuse(q, "axis %s has the extents %lld and %lld, equal ones or 1 expected", q->name[axis],
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
        return equation_refuse(q, "a subscript reaches place %lld of an axis of %lld", (long long)last, (long long)dim);
    if (s->joined && (rest < 0 || (!n_open && rest)))
        return equation_refuse(q, "axes end to end have not %lld places", (long long)dim);
    return !n_open || set_extent(q, s->axis[open], s->joined ? rest : (dim - 1 - last) / s->scale[open] + 1);
}

bool subscript_is_axis(const subscript *s)
{
    return s->n == 1 && !s->joined && !s->padded && s->scale[0] == 1 && !s->offset;
}

bool subscript_is_place(const subscript *s)
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
                if (subscript_is_axis(s) ? !set_extent(q, s->axis[0], dim) : pass > 0 && !solve(q, s, dim))
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

bool equation_known(equation *q)
{
    for (int a = 0; a < q->n_axis; a++)
        if (q->extent[a] == NONE)
            return equation_refuse(q, "nothing says how long this axis is: %s", q->name[a]);
    for (int k = 0; k < q->n; k++)
        for (int i = 0; i < q->term[k].n; i++)
            shift_padded(q, &q->term[k].at[i], q->in[k]->type.dim[i]);
    return true;
}

int64_t equation_span(const equation *q, const subscript *s)
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
    return subscript_is_place(s) ? OPEN_EXTENT : span;
}

/* -- the whole -- */
bool equation_read(equation *q, const node *n)
{
    if (n->n_in < 1 || n->n_in > MOST_TERMS)
        return g_fail(q->g, TS_BAD_INPUT, "%d operands given, takes 1 to %d with such an equation", n->n_in,
                      MOST_TERMS),
               false;
    for (int k = 0; k < n->n_in; k++)
        q->in[k] = n->in[k];
    return read_all(q) && find_extents(q);
}
