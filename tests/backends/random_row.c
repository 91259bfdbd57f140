#include "tests/backends/growing.h"

static bool binary(growing *w, int a)
{
    static const char *const name[] = {"add", "subtract", "maximum", "minimum", "multiply", "mod"};
    value v = w->v[a];
    const int64_t which = roll(w->d, COUNT(name) - 1 + (v.dtype == TS_I64 || v.dtype == TS_I32));
    int b = known_like(w, a, v.dtype); /* what was there before: residuals */
    const double other = b < 0 ? LEAF_BOUND : w->v[b].bound;
    v.bound = which == 4 ? v.bound * other : v.bound + other;
    if (!fits(&v, 1))
        return false;
    if (b < 0)
        b = add_beside(w, v.dtype, &v);
    const bool turned = roll(w->d, 2);
    text_add(&w->call, "%s v%d v%d", name[which], turned ? b : a, turned ? a : b);
    add_result(w, &v);
    return true;
}

static bool unary(growing *w, int a)
{
    static const char *const name[] = {"relu", "negative", "abs", "sign"};
    text_add(&w->call, "%s v%d", name[roll(w->d, COUNT(name))], a);
    add_result(w, &w->v[a]);
    return true;
}

const growth arithmetic_growths[] = {{binary, true, false, 0}, {binary, true, false, 0}, {unary, true, false, 0}, {0}};

static const growth *pick(dice *d)
{
    static const growth *const kinds[] = {arithmetic_growths, sum_growths, move_growths, mask_growths};
    const growth *of = kinds[roll(d, COUNT(kinds))];
    int n = 0;
    while (of[n].grow)
        n++;
    return &of[roll(d, n)];
}

void random_row(dice *d, text *row)
{
    static const ts_dtype often[] = {TS_F32, TS_F32, TS_F32, TS_F32,  TS_F32, TS_F64,
                                     TS_I64, TS_I32, TS_F16, TS_BF16, TS_I16, TS_I8};
    growing w = {.d = d, .row = row};
    value first = {.rank = 2 + (int)roll(d, 3)};
    for (int i = 0; i < first.rank; i++)
        first.dim[i] = some_extent(d);
    while (value_count(&first) > MOST_ELEMENTS)
        first.dim[roll(d, first.rank)] = 3;
    add_leaf(&w, often[roll(d, COUNT(often))], first.rank, first.dim);
    const int64_t most = 2 + roll(d, 7);
    for (int done = 0, tried = 0; done < most && tried < 80 && has_room(&w); tried++) {
        const int last = w.n - 1; /* so that all is needed in the end */
        const growth *g = pick(d);
        if ((w.v[last].dtype == TS_BOOL ? g->truths : g->numbers) && w.v[last].rank >= g->rank)
            done += g->grow(&w, last);
    }
    if (w.n == 1)
        unary(&w, 0);
    text_free(&w.call);
}
