/* ctest: large timeout=900 O3
 * units_test N SEED: N products under random loops of matrix units on the stand-in for the driver, with all its checks:
 * plain and in batches, transposed, of several stages, convolutions, by one warp and by four together. Sums of small
 * whole numbers give the interpreter's bits. */
#include "tests/backends/cuda/rig.h"
#include "tests/backends/random_row.h"
#include "tests/backends/ruled.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>

enum { CASES = 16, MOST = 40, WARPS = 6, ROOM = 14 << 10 /* bytes of slices */ };

typedef struct drawn {
    dice *d;
    const char *dtype;
    int deep;                               /* of the unit */
    bool together;                          /* four warps form products together */
    int64_t warp_rows, warp_columns, slice; /* elements */
    int64_t rows, columns;                  /* of a group */
    text *t;
} drawn;

static int64_t some(dice *d, int64_t low, int64_t high)
{
    return low + roll(d, high - low + 1);
}

static void draw(drawn *w, dice *d, text *t)
{
    static const char *const dtype[] = {"bf16", "f16", "f32"};
    const int which = (int)roll(d, 3);
    *w = (drawn){.d = d, .dtype = dtype[which], .deep = which == 2 ? 8 : 16, .t = t};
    w->warp_rows = 16 * some(d, 1, 2), w->warp_columns = 8 * some(d, 1, 4), w->slice = w->deep << roll(d, 3);
    w->rows = w->warp_rows * some(d, 1, 3), w->columns = w->warp_columns * some(d, 1, WARPS / 3);
}

/* Rows of four warps, columns of the unit once or more often */
static void draw_together(drawn *w, int64_t rows)
{
    static const int64_t unit[] = {32, 64, 128};
    w->together = true;
    w->warp_rows = 16, w->warp_columns = unit[roll(w->d, 3)];
    w->rows = rows > 112 ? 64 * some(w->d, 1, 2) : 64, w->columns = w->warp_columns << roll(w->d, 2);
}

static void put(drawn *w, const char *axis, int64_t step, const char *how)
{
    text_add(w->t, "%s%s", w->t->length ? " " : "", axis);
    if (step > 1)
        text_add(w->t, "/%lld", (long long)step);
    text_add(w->t, "%s", how);
}

/* From the slices on; copied: the operands of which there are any */
static void put_tile(drawn *w, const char *m, const char *n, const char *k, const char *copied)
{
    int slices = (int)some(w->d, 1, 4);
    while (slices > 1 && slices * (w->rows + w->columns) * w->slice > ROOM / 2)
        slices--;
    while (w->slice > w->deep && (w->rows + w->columns) * w->slice > ROOM / 2)
        w->slice /= 2;
    put(w, k, w->slice, "");
    for (; *copied; copied++)
        text_add(w->t, slices > 1 ? "+%c*%d" : "+%c", *copied, slices);
    if (w->slice > w->deep)
        put(w, k, w->deep, roll(w->d, 2) ? "@unroll" : "");
    if (w->together && w->columns > w->warp_columns && roll(w->d, 2)) /* lanes enough, or registers */
        put(w, n, w->warp_columns, "@warp");
    else if (w->together && w->columns > w->warp_columns)
        put(w, n, w->warp_columns, "@unroll");
    if (w->rows > w->warp_rows)
        put(w, m, w->warp_rows, "@warp");
    if (w->columns > w->warp_columns && !w->together)
        put(w, n, w->warp_columns, "@warp");
    if (w->warp_rows > 16)
        put(w, m, 16, "@unroll");
    if (w->warp_columns > 8 && !w->together)
        put(w, n, 8, "@unroll");
    put(w, m, 1, "@mma"), put(w, n, 1, "@mma"), put(w, k, 1, "@mma");
}

static void put_product(drawn *w)
{
    put(w, "m", w->rows, "@block"), put(w, "n", w->columns, "@block");
    put_tile(w, "m", "n", "k", "ab");
}

/* y = (a b - the largest of each row) v in one kernel */
static void put_stages(drawn *w, int64_t columns)
{
    const drawn first = *w;
    w->rows = w->warp_rows;
    put(w, "r", 1, "@block"), put(w, "r1", w->rows, "@block");
    text_add(w->t, " ; matmul:");
    if (roll(w->d, 2))
        put(w, "n", w->columns, "");
    else
        w->columns = columns > w->warp_columns ? columns : w->warp_columns; /* all at once */
    put_tile(w, "r1", "n", "k", "ab");
    w->columns = first.columns, w->slice = w->deep << roll(w->d, 3);
    text_add(w->t, " ; matmul2:");
    put(w, "n", w->columns, "");
    put_tile(w, "r1", "n", "k", "b");
}

static void put_convolution(drawn *w)
{
    put(w, "oc", w->rows, "@block"), put(w, "oh", 1, "@block"), put(w, "ow", w->columns, "@block");
    put(w, "kh", 1, ""), put(w, "kw", 1, "");
    put_tile(w, "oc", "ow", "ic", "ab");
}

static void draw_case(dice *d, int64_t extent, ruled *out, text *row, text *dim, text *loops)
{
    drawn w;
    draw(&w, d, loops);
    const char *t = w.dtype;
    const long long m = extent, n = some(d, 3, 90), k = some(d, 3, 80), b = some(d, 1, 2), e = some(d, 2, 40);
    const char *op = "matmul", *rows = "m";
    const int64_t kind = roll(d, 5);
    if (kind != 3 && w.deep == 16 && m > 48 && roll(d, 2))
        draw_together(&w, m);
    switch (kind) {
    case 0:
        text_add(row, "a %s[%lld,%lld]; b %s[%lld,%lld]; y matmul a b", t, m, k, t, k, n);
        put_product(&w);
        break;
    case 1:
        text_add(row,
                 "a %s[%lld,%lld]; b %s[%lld,%lld]; c transpose axes=[1,0] a; e transpose axes=[1,0] b; y matmul c e",
                 t, k, m, t, n, k);
        put_product(&w);
        break;
    case 2:
        text_add(row, "a %s[%lld,%lld]; w! %s[%lld,%lld]; c %s[%lld]; p matmul a w; s add p c; y relu s", t, m, k, t, k,
                 n, t, n);
        put_product(&w);
        break;
    case 3:
        rows = "r1";
        text_add(row,
                 "a %s[%lld,%lld,%lld]; b %s[%lld,%lld,%lld]; v %s[%lld,%lld,%lld]; p matmul a b; m max axes=[-1] "
                 "keepdims=1 p; s subtract p m; y matmul s v",
                 t, b + 1, m, e, t, b + 1, e, n, t, b + 1, n, k);
        put_stages(&w, n);
        break;
    default:
        op = "conv2d", rows = "oc";
        text_add(row, "x %s[1,%lld,%lld,%lld]; w %s[%lld,%lld,3,2]; y conv2d pads=[1,1,1,1] strides=[%lld,%lld] x w", t,
                 e + 1, 5 + b, 9 + n % 20, t, m, e + 1, b, 3 - b);
        put_convolution(&w);
    }
    text_add(dim, "\"%s\":%lld", rows, m);
    *out = (ruled){text_str(row), op, text_str(dim), text_str(loops)};
}

int main(int argc, char **argv)
{
    const long asked = argc > 1 ? strtol(argv[1], NULL, 10) : CASES;
    dice d = {.seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    setenv("SIMCUDA_SM", "90", 1);
    const int skipped = rig_cuda(), n = asked < MOST ? (int)asked : MOST;
    static ruled c[MOST];
    static text all[MOST][3];
    if (skipped)
        return skipped;
    for (int i = 0; i < n; i++)
        draw_case(&d, 17 + 7 * i, &c[i], &all[i][0], &all[i][1], &all[i][2]);
    ruled_check(n, c, &(ts_options){.target = "cuda"});
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            text_free(&all[i][k]);
    return check_done();
}
