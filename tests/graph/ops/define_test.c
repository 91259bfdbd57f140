/* What calls give: the type and definition of the result, or the sentence that refuses it. A row is "operands ; call =>
 * result". A way of reading (reshape, transpose, slice, broadcast) must come out as one load, and what may be out of
 * range under a select. */
/* ctest: fast */
#include "graph/ir/graph.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, MAX_TEXT = 1024 };
static const char *const rows[] = {
    "f32[2,3,64] ; reshape shape=[2,3,8,8] => f32[2,3,8,8] n0[i, j, ((k * 8) + l)]",
    "f32[2,3,8,8] ; reshape shape=[2,3,64] => f32[2,3,64] n0[i, j, floordiv(k, 8), (k % 8)]",
    "f32[6,4] ; reshape shape=[4,6] => f32[4,6] n0[floordiv(((i * 6) + j), 4), (((i * 6) + j) % 4)]",
    "f32[1,5,1] ; reshape shape=[5] => f32[5] n0[0, i, 0]",
    "f32[2,3,4] ; transpose axes=[0,2,1] => f32[2,4,3] n0[i, k, j]",
    "f32[3,1] ; broadcast_to shape=[2,3,4] => f32[2,3,4] n0[j, 0]",
    "f32[9,9] ; slice starts=[8,2] sizes=[3,2] steps=[-2,3] => f32[3,2] n0[((i * -2) + 8), ((j * 3) + 2)]",
    "f32[4,6] ; split axis=1 parts=2 part=1 => f32[4,3] n0[i, (j + 3)]",
    "f32[4,6] ; index key=1,::2 => f32[3] n1[0, i]",
    "f32[2,3] f32[2,1] f32[2,2] ; concat axis=1 => f32[2,6] select((j < 3), n0[i, j], select((j < 4), n1[i, (j + -3)], "
    "n2[i, (j + -4)]))",
    "f32[3,4] ; pad pads=[1,0,0,2] => f32[4,6] select((((0 <= (i + -1)) && ((i + -1) < 3)) && ((0 <= j) && (j < 4))), "
    "n0[(i + -1), j], 0.0)",
    "f32[3,4] ; pad pads=[0,1,0,1] mode=edge => f32[3,6] n0[i, max(min((j + -1), 3), 0)]",
    "f32[5] ; pad pads=[2,2] mode=reflect => f32[9] n0[(4 - abs((abs((i + -2)) - 4)))]",
    "f32[2,3] ; tile reps=[2,1] => f32[4,3] n0[(i % 2), j]",
    "f32[9,4] i64[2,3] ; gather => f32[2,3,4] n0[at(select((n1[i, j] < 0), (n1[i, j] + 9), n1[i, j]), 9), k]",
    "f32[9,4] u8[2] ; gather axis=1 => f32[9,2] n0[i, at(i64(n1[j]), 4)]",
    "f32[4,5] i64[3,2] ; gather_nd => f32[3] n0[at(select((n1[i, 0] < 0), (n1[i, 0] + 4), n1[i, 0]), 4), "
    "at(select((n1[i, 1] < 0), (n1[i, 1] + 5), n1[i, 1]), 5)]",
    "f32[2,3,4] f32[4,5] ; matmul => f32[2,3,5] fold add l ((n0[i, j, l] * n1[l, k]))",
    "f32[7,1,2,3] f32[6,3,4] ; matmul => f32[7,6,2,4] fold add m ((n0[i, 0, k, m] * n1[j, m, l]))",
    "f32[3] f32[3] ; matmul => f32[] fold add i ((n0[i] * n1[i]))",
    "f32[1,3,8,8] f32[4,3,3,3] ; conv2d pads=[1,1,1,1] strides=[2,2] => f32[1,4,4,4] fold add m n o ((select((((0 <= "
    "(((k * 2) + -1) + n)) && ((((k * 2) + -1) + n) < 8)) && ((0 <= (((l * 2) + -1) + o)) && ((((l * 2) + -1) + o) < "
    "8))), n0[i, m, (((k * 2) + -1) + n), (((l * 2) + -1) + o)], 0.0) * n1[j, m, n, o]))",
    "f32[1,4,8] f32[6,2,1] ; conv1d group=2 => f32[1,6,8] fold add l m ((n0[i, ((floordiv(j, 3) * 2) + l), k] * n1[j, "
    "l, m]))",
    "i8[1,2,5] ; max_pool kernel=[2] pads=[1,0] => i8[1,2,5] fold max l (select((0 <= ((k + -1) + l)), n0[i, j, ((k + "
    "-1) + l)], -128))",
    "f32[1,2,5] ; average_pool kernel=[3] pads=[1,0] strides=[2] => f32[1,2,2] (fold add l (select((0 <= (((k * 2) + "
    "-1) + l)), n0[i, j, (((k * 2) + -1) + l)], 0.0)) / f32((min((5 - ((k * 2) + -1)), 3) - max((0 - ((k * 2) + -1)), "
    "0))))",
    "f32[3,4] ; sum axes=[0] keepdims=1 => f32[1,4] fold add k (n0[k, j])",
    "i8[3,4] ; mean axes=[-1] => f64[3] (fold add j (f64(n0[i, j])) / 4.0)",
    "u8[3] ; sum => u64[] fold add i (u64(n0[i]))",
    "f32[3,4] ; max axes=[] => f32[3,4] n0[i, j]",
    "bool[4] f32[4,4] f64[] ; where => f64[4,4] select(n0[j], f64(n1[i, j]), n2[])",
    "bool[3] ; max => bool[] fold or i (n0[i])",
    "i32[2] ; exp => f64[2] exp(f64(n0[i]))",
    "i8[2] ; sqrt => f16[2] sqrt(f16(n0[i]))",
    "f32[2] ; cast to=i64 => i64[2] i64(n0[i])",
    "f32[3,3] ; trilu k=1 => f32[3,3] select(((i + 1) <= j), n0[i, j], 0.0)",
    "; iota count=4 to=f32 => f32[4] f32(i)",
    "f32[2] ; leaky_relu alpha=0.5 => f32[2] select((n0[i] < 0.0), (0.5 * n0[i]), n0[i])",
    "f32[2] ; gelu => f32[2] ((0.5 * n0[i]) * (1.0 + erf((n0[i] * 0.70710678118654757))))",
    "f32[2] ; gelu approximate=tanh => f32[2] ((0.5 * n0[i]) * (1.0 + tanh((0.79788456080286541 * (n0[i] + "
    "(((0.044714999999999998 * n0[i]) * n0[i]) * n0[i]))))))",
    "f32[2] f32[2] ; power => f32[2] pow(n0[i], n1[i])",
    "f32[2,3] f32[4] ; add => !add: shapes do not broadcast: f32[2,3] and f32[4] differ in axis -1",
    "f32[2,3] ; reshape shape=[5] => !reshape: 6 elements do not fit the shape [5]",
    "f32[2,3] ; reshape shape=[-1,-1] => !reshape: shape: more than one -1, at axes 0 and 1",
    "f32[2,3] ; reshape shape=[2,-3] => !reshape: shape: extent -3 of axis 1, 0 or more expected, or -1",
    "f32[2,3] ; reshape => !reshape: attribute shape is missing",
    "f32[2,3] ; transpose axes=[0] => !transpose: axes: 1 listed, the operand has 2: each of them expected",
    "f32[2,3] ; transpose axes=[0,0] => !transpose: axes: axis 0 is listed twice, once expected",
    "f32[5] ; order count=6 => !order: count: 6 of 5 elements, at most all of them expected, or -1 for all",
    "f32[0] ; pad pads=[1,1] mode=edge => !pad: axis 0 is empty: nothing to repeat, mode \"constant\" expected",
    "f32[2,3] ; transpose axes=[0,2] => !transpose: axes: axis 2 is out of range for rank 2",
    "f32[2,3] ; broadcast_to shape=[3] => !broadcast_to: given f32[2,3]; what repeats to f32[3] expected",
    "f32[2,3] ; slice starts=[0,1] sizes=[2,3] => !slice: axis 1 of extent 3 does not hold 3 elements from 1 on in "
    "steps of 1",
    "f32[2,3] ; slice starts=[0] sizes=[2] => !slice: starts, sizes and steps: 1, 1 and 2 numbers, 2 of each expected",
    "f32[5] ; split parts=2 => !split: part 0 of 2 of an axis of extent 5",
    "f32[5] ; split sizes=[2,2] => !split: the sizes add up to 4 of 5",
    "f32[4,6] ; index key=4 => !index: 4 is outside axis 0 of extent 4",
    "f32[4,6] ; index key=0,0,0 => !index: [0,0,0] does not fit rank 2 with 0 lists",
    "f32[4,6] ; index key=a => !index: [a] does not fit rank 2 with 0 lists",
    "f32[2,3] f32[2] ; concat => !concat: operand 2 is f32[2], the first is f32[2,3]: they differ beside axis 0",
    "f32[2,3] f32[3,3] ; concat axis=1 => !concat: operand 2 is f32[3,3], the first is f32[2,3]: they differ beside "
    "axis 1",
    "f32[2,3] ; pad pads=[1] => !pad: pads: 1 numbers for rank 2, 4 expected: all beginnings, then all ends",
    "f32[2,3] ; pad pads=[-2,0,-1,0] => !pad: pads: -2 and -1 beside the 2 elements of axis 0, 0 to 2^63 - 1 in all "
    "expected",
    "f32[9,4] f32[2] ; gather => !gather: places are of dtype f32, integers expected",
    "f32[2] i64[1] ; gather axis=1 => !gather: axis: axis 1 is out of range for rank 1",
    "f32[2,3] f32[2,3] ; matmul => !matmul: inner extents 3 and 2 differ, equal ones expected",
    "i64[3] f32[2] ; one_hot depth=-1 => !one_hot: depth: -1, 0 or more expected, and a place for one more axis",
    "f32[3,4] i64[3,4,1] ; take_along_axis => !take_along_axis: places have rank 3, the operand 2: equal ranks "
    "expected",
    "f32[3,4] f32[4,5] ; einsum equation=ij,ik->jk => !einsum: equation \"ij,ik->jk\": axis i has the extents 3 "
    "and 4, equal ones or 1 expected",
    "f32[1,2,5] f32[3,2,3,3] ; conv2d => !conv2d: input of rank 3, weight of rank 4: equal ranks expected",
    "f32[] f32[2,3] ; matmul => !matmul: given f32[] and f32[2,3]; an axis of each to sum over (multiply takes "
    "scalars) expected",
    "f32[1,3,8,8] f32[4,2,3,3] ; conv => !conv: conv2d: 3 input channels in 1 groups, of which the weight "
    "takes 2 each and gives 4; groups that divide both, and a weight for one of them, expected",
    "f32[1,3,2,2] f32[4,3,3,3] ; conv => !conv: conv2d: a window of 3, dilated by 1, does not fit spatial axis 0 of "
    "extent 2 with pads of 0 and 0",
    "f32[3,4] f32[3,4] ; conv => !conv: rank 2: 1 to 3 spatial axes are supported",
    "f32[1,3,8,8] f32[4,3,3,3] ; conv strides=[0,1] => !conv: conv2d: strides: 0, at least 1 expected",
    "f32[1,3,8,8] f32[4,3,3,3] ; conv pads=[1,1] => !conv: conv2d: pads: 2 numbers, 4 expected",
    "f32[1,2,5] ; max_pool kernel=[2] pads=[2,0] => !max_pool: spatial axis 0: 5 elements under a window of 2, dilated "
    "by 1, with pads of 2 and 0, which would hold padding only; smaller pads expected",
    "f32[3,0] ; max axes=[1] => !max: axis 1 is empty and has no extreme element",
    "f32[3,4] ; sum axes=[2] => !sum: axes: axis 2 is out of range for rank 2",
    "f32[3,4] ; sum axes=[0,-2] => !sum: axes: axis -2 is listed twice, once expected",
    "f32[2,3] f32[3,4] ; einsum equation=1j,jk->1k => !einsum: equation \"1j,jk->1k\": a result has axes, no places or "
    "sums",
    "f32[2] ; cast to=f99 => !cast: to: \"f99\" is not a dtype; known are f32, f64, f16, bf16, i64, i32, i16, i8, u64, "
    "u32, u16, u8, bool, f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f8e8m0, f4e2m1, i4, u4, i2, u2",
    "f32[2,3] ; softmax axis=2 => !softmax: axis: axis 2 is out of range for rank 2",
    "f32[2,3] f32[4] ; layer_norm => !layer_norm: multiply: shapes do not broadcast: f32[2,3] and f32[4] differ in "
    "axis -1",
    "f32[2,3] f32[3] f32[3] f32[3] ; layer_norm => !layer_norm: 4 operands given, takes 1 to 3",
    "f32[2,3] f32[4] f32[4] f32[4] f32[4] ; batch_norm => !batch_norm: given f32[2,3] and f32[4]; x [batch, channel, "
    "...] and a vector [channel] expected",
    "f32[3] f32[2,3] ; attention => !attention: 2 operands given, takes q, k, v and perhaps a mask",
    "f32[3] f32[2,3] f32[2,3] ; attention => !attention: given f32[3] and f32[2,3]; q [..., queries, width] and k "
    "[..., "
    "keys, width] expected",
    "f32[1,5,3] f32[1,2,5] f32[2] ; nms most=3 => !nms: given f32[1,5,3], f32[1,2,5] and f32[2]; boxes [batch, n, "
    "4], scores [batch, class, n] and limits [2] expected",
    "f32[1,5,4] f32[1,2,5] f32[2] ; nms most=-3 => !nms: most: -3, 0 or more expected",
    "f32[1,2,5,4] f32[3,2,2,2] f32[1,7,4,3] f32[1,4,4,3] ; deform_conv => !deform_conv: given f32[1,2,5,4], "
    "f32[3,2,2,2], f32[1,7,4,3] and f32[1,4,4,3]; as operand 3 reals [1, 8, the result's places...] expected",
    "i64[1,2,5,4] i64[3,2,2,2] f32[1,8,4,3] f32[1,4,4,3] ; deform_conv => !deform_conv: given i64[1,2,5,4] and "
    "i64[3,2,2,2]; reals expected",
    "f32[2,3] f32[4,2] f32[4,2] ; resample axis=0 => !resample: given f32[2,3], f32[4,2] and f32[4,2]; x, places, "
    "integers [size, neighbours], and weights of their shape expected",
    "f32[2] f32[2] ; one_hot depth=2 => !one_hot: given f32[2] and f32[2]; places, integers, and values [2], "
    "elsewhere and there, expected",
    "f32[2,3] ; det => !det: given f32[2,3]; square matrices [..., n, n] of reals expected",
    "f32[2,3] i64[2,3] ; nll_loss => !nll_loss: given f32[2,3] and i64[2,3]; logarithms [batch, class, ...] and "
    "labels, integers [batch, ...], expected",
    "f32[2,3] i64[1] i64[1] ; quantize to=u8 => !quantize: given f32[2,3] and i64[1]; as the second the scale, a real "
    "number, expected",
    "i64[2,3] i64[2,3] ; linear_scan axis=0 => !linear_scan: given i64[2,3] and i64[2,3]; reals of one type expected",
    "f32[1,2] f32[2,3] ; ngrams => !ngrams: given f32[1,2] and f32[2,3]; rows [n, elements] and sequences [m, "
    "elements] of i64 expected",
    "i64[1,2] i64[2,3] ; ngrams skips=-1 => !ngrams: skips: -1, 0 or more expected",
    "f32[2,3] ; dft axis=0 => !dft: given f32[2,3]; [..., 1] or [..., 2] of reals, to be transformed along another "
    "axis than the last, axis 0, expected",
    "f32[] ; nonzero => !nonzero: given f32[]; a tensor of one axis or more expected",
    "f32[1,2,3] f32[2,1,2] f32[1,2,2] ; causal_conv => !causal_conv: given f32[1,2,3], f32[2,1,2] and f32[1,2,2]; x "
    "[batch, channel, time], kernels [channel, 1, k], the past [batch, channel, k - 1] expected",
    "f32[1,2,3,4] f32[5,3] i64[5] ; roi_align bins=[1,1] points=1 most=1 => !roi_align: given f32[1,2,3,4], f32[5,3] "
    "and i64[5]; images [batch, channel, height, width], boxes [n, 4] and their images, integers [n], expected",

    "f32[2,3] f32[3] f32[3] ; group_norm groups=2 => !group_norm: 3 channels in 2 groups, a divisor of the "
    "channels expected",
    "f32[2,3] ; attention => !attention: 1 operands given, takes q, k, v and perhaps a mask",
    "f32[2,3] f32[2,3] ; multi_head_attention heads=1 => !multi_head_attention: 2 operands given, takes 7: q, k, v and "
    "the weights of q, k, v and the result; then perhaps 4 biases; then perhaps a mask",
    "f32[2,4] f32[2,4] f32[2,4] f32[4,4] f32[4,4] f32[4,4] f32[4,4] ; multi_head_attention heads=3 => "
    "!multi_head_attention: the weight of queries gives 4 columns, which 3 heads do not share alike",
    "f32[2,4] f32[2,4] f32[2,4] f32[4,4] f32[4,4] f32[4,4] f32[4,4] ; multi_head_attention heads=0 => "
    "!multi_head_attention: heads: 0 is below 1",
    "f32[2,4] f32[2,4] f32[2,4] f32[4,4] f32[4,4] f32[3,4] f32[4,4] ; multi_head_attention heads=2 => "
    "!multi_head_attention: the weight of values takes rows of 3, the operand's are of 4; [in, out] expected",
    "f32[2,3] f32[3,4] ; feed_forward => !feed_forward: 2 operands given, takes 3: x and two weights; then perhaps 2 "
    "biases",
    "f32[2,3] f32[3,4] f32[4,3] ; feed_forward activation=add => !feed_forward: activation: \"add\" is no operation on "
    "one tensor; gelu, relu, silu are some",
    "f32[2,3] f32[3,4] f32[4,3] ; feed_forward activation=sum => !feed_forward: activation: sum gives another shape or "
    "dtype than it takes",
    "f32[2,3] f32[3,5] f32[2,3] ; feed_forward gated=1 => !feed_forward: the first weight gives 5 columns, which "
    "gated=1 cannot halve",
    "f32[2,3] f32[3,4] f32[4,3] f32[5] f32[3] ; feed_forward => !feed_forward: the bias of the first weight is f32[5], "
    "not one number for each of 4 columns",
    "f32[1,2,5] f32[2,2,3] f32[2] ; residual_block => !residual_block: 3 operands given, takes x, then a weight, "
    "scale, "
    "bias, mean and variance for each convolution, with project=1 one more",
    "f32[1,2,5] f32[2,2,4] f32[2] f32[2] f32[2] f32[2] ; residual_block => !residual_block: a window of 4 has no "
    "middle; odd extents expected",
    "f32[1,2,5] f32[3,2,3] f32[3] f32[3] f32[3] f32[3] ; residual_block => !residual_block: x is f32[1,2,5], what its "
    "convolutions give f32[1,3,5]: these cannot be added; project=1 takes weights that bring x there",
    "f32[2] f32[2] ; relu => !relu: 2 operands given, takes 1",
    "f32[2] ; relu slope=1 => !relu: no attribute \"slope\"; it has: none",
    "f32[2,3] ; softmax axis=0 axis=1 => !softmax: attribute axis is given twice",
    "f32[2,3] ; softmax axis=9223372036854775808 => !softmax: attribute axis: \"axis=9223372036854775808\" is not an "
    "integer",
    "f32[2,3] ; sum axes=[0,-9223372036854775809] => !sum: attribute axes: \"axes=[0,-9223372036854775809]\" is not a "
    "list like [1,2]",
    "f32[3] ; element dims=[3] folds=[2] fold=sub text=a[i0] => !element: fold: \"sub\", one of add, mul, max, min, "
    "and, or, bitand, bitor, bitxor expected",
    "f32[1,4,9] ; col2im image=[4,4] block=[5,5] => !col2im: spatial axis 0: a block of 5, dilated by 1, in an image "
    "of 4 with 0 and 0 of padding; one that fits expected, and fewer than 2^63 blocks",
    "f32[4] ; trilu => !trilu: given f32[4]; matrices [..., rows, columns] expected",
    "f32[2] ; bitwise_not => !bitwise_not: operand 1 is of dtype f32, integers expected",
    "f32[2] ; softly => !no operation \"softly\"; `tessera ops` lists them",
    "f32[2,1,1,1,1,1] ; expand_dims axes=[0,1,2] => !expand_dims: rank 9, at most 8 expected",
    "f32[2,3] ; squeeze axes=[1] => !squeeze: axis 1 has extent 3, not 1",
};

static const char *axis_name(void *user, int axis)
{
    static const char *const letter[MAX_AXIS] = {"i", "j", "k", "l", "m", "n", "o", "p", "q", "r",
                                                 "s", "t", "u", "v", "w", "x", "y", "z", "A", "B"};
    (void)user;
    return letter[axis];
}

static const node *read_operand(graph *g, const char *s, int number)
{
    type t = {0};
    char name[16], *end;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(s, "["), s);
    if (!CHECK(dtype_parse(name, &t.dtype)))
        return NULL;
    for (s += strcspn(s, "[") + 1; *s != ']'; s = end + (*end == ','))
        t.dim[t.rank++] = strtoll(s, &end, 10);
    snprintf(name, sizeof name, "x%d", number);
    return g_input(g, name, &t, 0);
}

static void define(graph *g, char *row, text *t)
{
    const node *in[MOST];
    int n = 0;
    char *rest = row, *word;
    while ((word = strtok_r(rest, " ", &rest)) && strcmp(word, ";"))
        in[n] = read_operand(g, word, n), n++;
    const node *y = g_call(g, rest, n, in);
    if (!y) {
        text_add(t, "!%s", g->err.text);
        return;
    }
    arena mem = {0};
    defn d;
    err e = {0};
    type_print(t, &y->type);
    text_add(t, " ");
    if (CHECK(node_is_leaf(y) || g_defn(y, &mem, &d, &e)))
        x_print(t, d.value, axis_name, NULL);
    arena_free(&mem);
}

static void check_row(const char *row)
{
    char copy[MAX_TEXT];
    const char *want = strstr(row, " => ") + 4;
    snprintf(copy, sizeof copy, "%.*s", (int)(want - 4 - row), row);
    graph *g = ts_graph_make();
    text got = {0};
    define(g, copy, &got);
    const size_t line = strcspn(text_str(&got), "\n"); /* the hint goes without saying */
    if (!CHECK(line == strlen(want) && !strncmp(text_str(&got), want, line)))
        printf("  %s\n  got: %.*s\n", row, (int)line, text_str(&got));
    text_free(&got);
    ts_graph_free(g);
}

int main(void)
{
    for (int i = 0; i < COUNT(rows); i++)
        check_row(rows[i]);
    return check_done();
}
