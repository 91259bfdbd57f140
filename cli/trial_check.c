/* trial_check.c - derivatives of a problem against differences of its values. */
#include "cli/trial_parts.h"

#include <math.h>

enum { TRIED = 16 }; /* elements of each array, evenly spread */

static double weight(int64_t i) /* of all results a sum with these is taken */
{
    return 1 + (double)(i * 5 % 8) / 8;
}

/* The sum over value v of what moves, where one of them is `up`, and by weights; the plan's inputs are as they are. */
static bool values(trial *t, ts_array *out, ts_error *e)
{
    ts_plan *p = t->plan[trial_exact(t)];
    if (!ts_plan_run(p, e))
        return false;
    for (int v = 0; v < t->p.n_value; v++)
        if (!ts_plan_get(p, v, &out[v], e))
            return false;
    return true;
}

typedef struct group { /* elements of a given array that move at once, as no result depends on two of them */
    int given, n;
    int64_t at[TRIED];
    double step[TRIED], want[TRIED];
} group;

static const slope *slope_of(const trial *t, int value, int given)
{
    int k = 0;
    while (k < t->p.n_slope && (t->p.slope[k].value != value || t->p.slope[k].given != given))
        k++;
    return k < t->p.n_slope ? &t->p.slope[k] : NULL;
}

/* The element on which result j of a value depends; the first one, where by the slopes none is to count. */
static int owner_of(const trial *t, const group *q, int value, int64_t rows, int64_t inner, int64_t j)
{
    const slope *s = slope_of(t, value, q->given);
    const ts_array *x = &t->p.given[q->given].value;
    if (!s || !s->by_rows || !rows)
        return 0;
    const int64_t width = ts_array_count(x) / x->dim[0], row = j / inner,
                  read = s->row < 0 ? row : ((const int64_t *)t->p.given[s->row].value.data)[row];
    for (int i = 0; i < q->n; i++)
        if (q->at[i] / width == read)
            return i;
    return 0;
}

/* All values, with the elements so many steps away from where they are */
static bool moved(trial *t, const group *q, double times, ts_array *out, ts_error *e)
{
    double was[TRIED], *v = t->p.given[q->given].value.data;
    for (int i = 0; i < q->n; i++)
        was[i] = v[q->at[i]], v[q->at[i]] += times * q->step[i];
    const bool ok = trial_set_input(t, trial_exact(t), q->given, e) && values(t, out, e);
    for (int i = 0; i < q->n; i++)
        v[q->at[i]] = was[i];
    return ok;
}

/* How the weighted sum of all values changes by each element of a group, as differences have it */
static bool differ(trial *t, group *q, ts_error *e)
{
    ts_array up[OBJECTIVE_MOST] = {{0}}, down[OBJECTIVE_MOST] = {{0}};
    const double *v = t->p.given[q->given].value.data;
    for (int i = 0; i < q->n; i++)
        q->step[i] = 1e-6 * fmax(1, fabs(v[q->at[i]])), q->want[i] = 0;
    const bool ok = moved(t, q, 1, up, e) && moved(t, q, -1, down, e);
    for (int k = 0; k < t->p.n_value; k++) {
        const int64_t count = ts_array_count(&up[k]), rows = up[k].rank ? up[k].dim[0] : 0;
        for (int64_t j = 0; ok && j < count; j++) {
            const double d = ts_array_at(&up[k], j) - ts_array_at(&down[k], j);
            if (d == 0)
                continue;
            const int i = owner_of(t, q, k, rows, rows ? count / rows : 1, j);
            q->want[i] += weight(j) * d / (2 * q->step[i]);
        }
        ts_array_free(&up[k]), ts_array_free(&down[k]);
    }
    return ok && trial_set_input(t, trial_exact(t), q->given, e);
}

/* What slope k says of that. By rows: of those that read the element's row. */
static double said(const trial *t, int k, int64_t i)
{
    const slope *s = &t->p.slope[k];
    const ts_array *a = &t->got[t->p.n_value + k], *x = &t->p.given[s->given].value;
    const int64_t count = ts_array_count(x), rows = s->by_rows ? ts_shape(t->p.value[s->value])[0] : 1;
    const int64_t width = s->by_rows ? count / x->dim[0] : count, inner = ts_array_count(a) / rows / width;
    const int64_t *which = s->row < 0 ? NULL : t->p.given[s->row].value.data;
    double sum = 0;
    for (int64_t r = 0; r < rows; r++) {
        if (s->by_rows && (which ? which[r] : r) != i / width)
            continue;
        for (int64_t j = r * inner; j < (r + 1) * inner; j++)
            sum += weight(j) * ts_array_at(a, j * width + i % width);
    }
    return sum;
}

/* Whether results that depend on the array read one row of it each; width: of a row */
static bool is_by_rows(const trial *t, int given, int64_t *width, bool *moves)
{
    const ts_array *x = &t->p.given[given].value;
    bool all = true;
    *moves = false;
    for (int k = 0; k < t->p.n_slope; k++)
        if (t->p.slope[k].given == given)
            *moves = true, all = all && t->p.slope[k].by_rows;
    *width = x->rank && x->dim[0] ? ts_array_count(x) / x->dim[0] : 1;
    return all;
}

static bool check_group(trial *t, group *q, ts_error *e)
{
    const bool ok = differ(t, q, e);
    for (int i = 0; ok && i < q->n; i++) {
        double got = 0;
        for (int k = 0; k < t->p.n_slope; k++)
            got += t->p.slope[k].given == q->given ? said(t, k, q->at[i]) : 0;
        t->difference = fmax(t->difference, trial_apart(got, q->want[i]));
    }
    return ok;
}

bool trial_check(trial *t, ts_error *e)
{
    for (int given = 0; given < t->p.n_given; given++) {
        const int64_t n = ts_array_count(&t->p.given[given].value);
        int64_t width;
        bool moves, tried[TRIED] = {false};
        const bool by_rows = is_by_rows(t, given, &width, &moves);
        const int most = !moves ? 0 : n < TRIED ? (int)n : TRIED;
        for (int first = 0; first < most; first++) {
            group q = {.given = given};
            for (int i = first; i < most; i++) {
                const int64_t at = n <= TRIED ? i : i * (n - 1) / (TRIED - 1);
                bool apart = !tried[i] && (by_rows || !q.n);
                for (int k = 0; k < q.n && apart; k++)
                    apart = q.at[k] / width != at / width;
                if (apart)
                    q.at[q.n++] = at, tried[i] = true;
            }
            if (q.n && !check_group(t, &q, e))
                return false;
        }
    }
    return true;
}
