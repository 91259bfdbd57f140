/* Random ways of moving elements. */
#include "tests/backends/growing.h"

#include <string.h>

static bool transpose(growing *w, int a)
{
    const value *v = &w->v[a];
    value y = *v;
    int64_t axes[TS_MAX_RANK];
    for (int i = 0; i < v->rank; i++) {
        const int k = (int)roll(w->d, i + 1);
        axes[i] = axes[k], axes[k] = i;
    }
    for (int i = 0; i < v->rank; i++)
        y.dim[i] = v->dim[axes[i]];
    text_add(&w->call, "transpose");
    put_ints(w, "axes", v->rank, axes);
    text_add(&w->call, " v%d", a);
    add_result(w, &y);
    return true;
}

static bool reshape(growing *w, int a) /* two neighbours become one, or one becomes two */
{
    value y = w->v[a];
    const int at = (int)roll(w->d, y.rank);
    if (roll(w->d, 2) && at + 1 < y.rank) {
        y.dim[at] *= y.dim[at + 1];
        memmove(&y.dim[at + 1], &y.dim[at + 2], (size_t)(y.rank - at - 2) * sizeof *y.dim);
        y.rank--;
    } else {
        int64_t part = 2 + roll(w->d, 3);
        if (y.dim[at] % part || y.rank == 5)
            return false;
        memmove(&y.dim[at + 2], &y.dim[at + 1], (size_t)(y.rank - at - 1) * sizeof *y.dim);
        y.dim[at + 1] = y.dim[at] / part, y.dim[at] = part, y.rank++;
    }
    text_add(&w->call, "reshape");
    put_ints(w, "shape", y.rank, y.dim);
    text_add(&w->call, " v%d", a);
    add_result(w, &y);
    return true;
}

static bool slice(growing *w, int a)
{
    value y = w->v[a];
    int64_t start[TS_MAX_RANK], step[TS_MAX_RANK];
    for (int i = 0; i < y.rank; i++) {
        const int64_t n = y.dim[i], low = roll(w->d, (n + 1) / 2), stride = 1 + roll(w->d, 2);
        const bool back = roll(w->d, 4) == 0;
        y.dim[i] = (n - low + stride - 1) / stride;
        start[i] = back ? n - 1 - low : low, step[i] = back ? -stride : stride;
        if (back)
            y.dim[i] = start[i] / stride + 1;
    }
    text_add(&w->call, "slice");
    put_ints(w, "starts", y.rank, start), put_ints(w, "sizes", y.rank, y.dim), put_ints(w, "steps", y.rank, step);
    text_add(&w->call, " v%d", a);
    add_result(w, &y);
    return true;
}

static bool concat(growing *w, int a) /* with something new, or with what is there, itself among it */
{
    value y = w->v[a];
    int64_t dim[TS_MAX_RANK];
    const int at = (int)roll(w->d, y.rank);
    int b = roll(w->d, 4) ? -1 : known_like(w, a, y.dtype);
    if (b < 0 && roll(w->d, 6) == 0)
        b = a;
    memcpy(dim, y.dim, sizeof dim);
    dim[at] = b < 0 ? 1 + roll(w->d, 9) : w->v[b].dim[at];
    y.dim[at] += dim[at];
    const double other = b < 0 ? LEAF_BOUND : w->v[b].bound;
    y.bound = y.bound > other ? y.bound : other;
    if (!fits(&y, 1))
        return false;
    if (b < 0)
        b = add_leaf(w, y.dtype, y.rank, dim);
    const bool turned = roll(w->d, 2);
    text_add(&w->call, "concat axis=%d v%d v%d", at, turned ? b : a, turned ? a : b);
    add_result(w, &y);
    return true;
}

static bool pad(growing *w, int a) /* also negative ones, and by more than there is */
{
    static const char *const mode[] = {"constant", "constant", "reflect", "edge", "wrap"};
    value y = w->v[a];
    const char *how = mode[roll(w->d, COUNT(mode))];
    int64_t pads[2 * TS_MAX_RANK];
    for (int i = 0; i < 2 * y.rank; i++)
        pads[i] = roll(w->d, 2) ? 0 : roll(w->d, 5) - (roll(w->d, 4) == 0);
    for (int i = 0; i < y.rank; i++)
        y.dim[i] += pads[i] + pads[i + y.rank];
    for (int i = 0; i < y.rank; i++)
        if (y.dim[i] < 1)
            return false;
    if (!fits(&y, 1))
        return false;
    text_add(&w->call, "pad mode=%s value=%d", how, y.dtype == TS_BOOL || roll(w->d, 2) ? 0 : 1);
    put_ints(w, "pads", 2 * y.rank, pads);
    text_add(&w->call, " v%d", a);
    add_result(w, &y);
    return true;
}

static bool gather(growing *w, int a)
{
    value y = w->v[a];
    const int at = (int)roll(w->d, y.rank);
    const int64_t below = y.dim[at];
    const bool alone = roll(w->d, 2);
    y.dim[at] = some_extent(w->d);
    if (!fits(&y, 1))
        return false;
    const int i = alone ? add_places(w, 1, &y.dim[at], below) : add_places(w, y.rank, y.dim, below);
    text_add(&w->call, "%s axis=%d v%d v%d", alone ? "gather" : "take_along_axis", at, a, i);
    add_result(w, &y);
    return true;
}

static bool repeat(growing *w, int a)
{
    value y = w->v[a];
    int64_t reps[TS_MAX_RANK];
    for (int i = 0; i < y.rank; i++)
        y.dim[i] *= reps[i] = roll(w->d, 3) ? 1 : 2 + roll(w->d, 2);
    if (!fits(&y, 1))
        return false;
    text_add(&w->call, "tile");
    put_ints(w, "reps", y.rank, reps);
    text_add(&w->call, " v%d", a);
    add_result(w, &y);
    return true;
}

const growth move_growths[] = {
    {transpose, true, true, 1}, {reshape, true, true, 1}, {slice, true, true, 1},  {concat, true, true, 1},
    {pad, true, true, 1},       {gather, true, true, 1},  {repeat, true, true, 1}, {0}};
