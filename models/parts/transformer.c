/* transformer.c - heads are split and merged by reshape and transpose alone, so that fusion sees plain products. */
#include "models/parts/transformer.h"

#include <float.h>

/* table [positions, width] -> [rows, width], from row `first` on */
ts_tensor transformer_places(maker *mk, ts_tensor table, int64_t first, int64_t rows)
{
    return maker_call(mk->g, 1, &table, "slice starts=[%lld,0] sizes=[%lld,%lld]", (long long)first, (long long)rows,
                      (long long)maker_extent(table, 1));
}

ts_tensor transformer_mask(maker *mk, ts_tensor attention_mask)
{
    /* Beside the lowest f32 every score vanishes, in f32 and in f64 alike: a row that is padded throughout becomes the
     * plain mean, the same in every precision, and never NaN. */
    ts_tensor padded = ts_call2(mk->g, "subtract", ts_scalar(mk->g, TS_F32, 1),
                                ts_call1(mk->g, "cast to=f32", attention_mask));              /* [b, t] */
    ts_tensor mask = ts_call2(mk->g, "multiply", padded, ts_scalar(mk->g, TS_F32, -FLT_MAX)); /* [b, t] */
    /* [b, 1, 1, t]: the same for all heads and queries */
    return maker_call(mk->g, 1, &mask, "reshape shape=[%lld,1,1,%lld]", (long long)maker_extent(mask, 0),
                      (long long)maker_extent(mask, 1));
}

ts_tensor transformer_split(maker *mk, ts_tensor x, int heads)
{
    ts_tensor parts = maker_call(mk->g, 1, &x, "reshape shape=[%lld,%lld,%d,%lld]", (long long)maker_extent(x, 0),
                                 (long long)maker_extent(x, 1), heads,
                                 (long long)(maker_extent(x, 2) / heads)); /* [b, s, h, d] */
    return ts_call1(mk->g, "transpose axes=[0,2,1,3]", parts);             /* [b, h, s, d] */
}

ts_tensor transformer_merge(maker *mk, ts_tensor x)
{
    ts_tensor parts = ts_call1(mk->g, "transpose axes=[0,2,1,3]", x); /* [b, s, h, d] */
    return maker_call(mk->g, 1, &parts, "reshape shape=[%lld,%lld,%lld]", (long long)maker_extent(parts, 0),
                      (long long)maker_extent(parts, 1), (long long)(maker_extent(parts, 2) * maker_extent(parts, 3)));
}

ts_tensor transformer_feed(maker *mk, ts_tensor x, const feed *f)
{
    const int64_t width = maker_extent(x, -1);
    ts_tensor y = ts_call1(mk->g, f->function, layer_dense(mk, x, f->inner, 1, f->up)); /* [b, s, inner] */
    return layer_dense(mk, y, width, f->gain, f->down);                                 /* [b, s, width] */
}
