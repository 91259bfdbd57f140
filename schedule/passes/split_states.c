/* split_states.c - states of a fold in parts, in memory. All pieces have one dtype, the widest real one among the
 * states or, without any, the widest; so they are one value, with an axis of its own in front. Whole numbers among
 * reals are cut into digits that those hold exactly, 24 bits in f32:
 *
 *   i32 s  ->  f32(s mod 2^24), f32(floor(s / 2^24))  ->  i32(second) * 2^24 + i32(first) */
#include "schedule/passes/split_states.h"

dtype summed_as(dtype d)
{
    return dtype_real(d) && dtype_bits(d) < 32 ? TS_F32 : d;
}

static dtype common_dtype(const expr *fold)
{
    dtype d = summed_as(fold->arg[0]->dtype);
    for (int k = 1; k < fold->n_state; k++) {
        const dtype o = summed_as(fold->arg[k]->dtype);
        const bool wider = dtype_bits(o) > dtype_bits(d);
        d = dtype_real(o) != dtype_real(d) ? (dtype_real(o) ? o : d) : wider ? o : d;
    }
    return d;
}

static int digit_bits(dtype of)
{
    return of == TS_F64 ? 53 : 24;
}

static int digits(dtype state, dtype of)
{
    return dtype_real(of) && !dtype_real(state) ? (int)int_ceil_div(dtype_bits(state), digit_bits(of)) : 1;
}

/* A power of the base, as a state's own literal */
static const expr *power(arena *mem, dtype state, dtype of, int digit)
{
    return x_cast(mem, state, x_whole(mem, (int64_t)1 << digit * digit_bits(of)));
}

static const expr *digit_of(arena *mem, const expr *s, dtype of, int digit, int n)
{
    const expr *x = digit ? x2(mem, "floordiv", s, power(mem, s->dtype, of, digit)) : s;
    return x_cast(mem, of, digit + 1 < n ? x2(mem, "mod", x, power(mem, s->dtype, of, 1)) : x);
}

void pieces_of(arena *mem, const expr *fold, pieces *out)
{
    *out = (pieces){.dtype = common_dtype(fold)};
    for (int k = 0; k < fold->n_state; k++) {
        const dtype d = fold->arg[k]->dtype;
        out->count[k] = digits(d, out->dtype);
        for (int i = 0; i < out->count[k]; i++)
            out->x[out->n++] = digit_of(mem, x_state(mem, d, k), out->dtype, i, out->count[k]);
    }
}

static const expr *put_together(arena *mem, dtype state, dtype of, int n, const expr *const *piece)
{
    const expr *x = x_cast(mem, state, piece[n - 1]);
    for (int i = n - 1; i-- > 0;)
        x = x2(mem, "add", x2(mem, "mul", x, power(mem, state, of, 1)), x_cast(mem, state, piece[i]));
    return x;
}

typedef struct replacing {
    arena *mem;
    int n;
    const expr *with[MAX_STATE]; /* in place of the states of the second set */
} replacing;

static const expr *replaced_state(void *user, const expr *x)
{
    const replacing *r = user;
    if (x->kind != X_STATE)
        return x;
    return x->axis < r->n ? x_state(r->mem, summed_as(x->dtype), x->axis) : r->with[x->axis - r->n];
}

const expr *pieces_merged(arena *mem, const expr *fold, int along, const expr *const *part)
{
    const int n = fold->n_state;
    const expr *start[MAX_STATE], *step[MAX_STATE], *merge[MAX_STATE];
    replacing r = {.mem = mem, .n = n};
    pieces y;
    pieces_of(mem, fold, &y);
    for (int k = 0; k < n; k++) {
        const dtype d = summed_as(fold->arg[k]->dtype);
        start[k] = x_cast(mem, d, fold->arg[k]);
        r.with[k] = x_state(mem, d, n + k);
    }
    for (int k = 0; k < n; k++)
        merge[k] = x_map(mem, x_merge(fold, k), replaced_state, &r);
    for (int k = 0; k < n; part += y.count[k], k++)
        r.with[k] = put_together(mem, start[k]->dtype, y.dtype, y.count[k], part);
    for (int k = 0; k < n; k++)
        step[k] = x_map(mem, x_merge(fold, k), replaced_state, &r);
    const expr *result = x_map(mem, x_result(fold), replaced_state, &r);
    return x_merged(mem, x_scan(mem, 1u << along, 0, n, start, step, x_cast(mem, fold->dtype, result)), merge);
}
