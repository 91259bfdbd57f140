/* Layouts: text there and back, where elements come to lie, ragged blocks, packing in parts, and refusals. */
#include "schedule/plan/layout.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const letter[] = {"i", "j", "k", "l"};

static type of(dtype d, int rank, const int64_t *dim)
{
    type t = {.dtype = d, .rank = rank};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    return t;
}

/* ---- text ---- */
static void reads(int rank, const int64_t *dim, const char *source, const char *want)
{
    const type t = of(TS_F32, rank, dim);
    layout y, again;
    text out = {0};
    err e = {0};
    if (!CHECK(layout_parse(&y, &t, letter, NULL, source, &e))) {
        printf("  %s\n", e.text);
        return;
    }
    layout_print(&out, &y, letter);
    CHECK_TEXT(text_str(&out), want);
    CHECK(layout_parse(&again, &t, letter, NULL, text_str(&out), &e) && layout_same(&y, &again) &&
          y.size == again.size);
    text_free(&out);
}

static void refuses(int rank, const int64_t *dim, const char *source, const char *want)
{
    const type t = of(TS_F32, rank, dim);
    layout y;
    err e = {0};
    CHECK(!layout_parse(&y, &t, letter, NULL, source, &e) && e.code == TS_BAD_INPUT);
    CHECK_TEXT(e.text, want);
}

static void test_text(void)
{
    static const int64_t matrix[] = {100, 200}, cube[] = {8, 1, 6};
    reads(2, matrix, "i/64 j/64 i/8 j/16 i j", "i/64 j/64 i/8 j/16 i j");
    reads(2, matrix, "  j   i ", "j i");
    reads(2, matrix, "i/8 i j", "i j");         /* neighbours of one dimension are one digit */
    reads(2, matrix, "i/8 i/4 j i", "i/4 j i"); /* the same in the middle */
    reads(2, matrix, "j/500 i j", "j/200 i j"); /* a step beyond the extent: one block */
    reads(3, cube, "k/2 i k", "k/2 i k");       /* one element need not be walked */
    reads(3, cube, "i j k", "i j k");
    refuses(2, matrix, "i", "layout \"i\": j never reaches step 1");
    refuses(2, matrix, "j i/8", "layout \"j i/8\": i never reaches step 1");
    refuses(2, matrix, "i q j", "layout \"i q j\": the tensor has no dimension q\n  hint: its dimensions are: i j");
    refuses(2, matrix, "/4 i j", "layout \"/4 i j\": the tensor has no dimension \n  hint: its dimensions are: i j");
    refuses(2, matrix, "i/0 j i", "layout \"i/0 j i\": a step >= 1 expected after i/");
    refuses(2, matrix, "i/x j", "layout \"i/x j\": a step >= 1 expected after i/");
    refuses(2, matrix, "i/32 j/32 i/31 j/31 i/30 j/30 i/29 j/29 i/28 j/28 i/27 j/27 i/26 j/26 i/25 j/25 i j",
            "layout \"i/32 j/32 i/31 j/31 i/30 j/30 i/29 j/29 i/28 j/28 i/27 j/27 i/26 j/26 i/25 j/25 i j\": "
            "17 digits or more, at most 16 expected");
}

/* ---- the order of elements: a (4,4) matrix that holds 0..15 ---- */
static void orders(const char *source, const char *want)
{
    static const int64_t dim[] = {4, 4};
    const type t = of(TS_I32, 2, dim);
    layout y;
    err e = {0};
    int32_t from[16], to[16];
    text out = {0};
    for (int i = 0; i < 16; i++)
        from[i] = i;
    CHECK(layout_parse(&y, &t, letter, NULL, source, &e) && y.size == 16);
    layout_pack(&y, &t, to, from, 0, 1);
    for (int64_t i = 0; i < 16; i++)
        CHECK(to[layout_place(&y, (int64_t[MAX_RANK]){i / 4, i % 4})] == i);
    for (int i = 0; i < 16; i++)
        text_add(&out, "%s%d", i == 0 ? "" : i % 4 ? "," : " / ", to[i]);
    CHECK_TEXT(out.s, want);
    text_free(&out);
}

static void test_orders(void)
{
    orders("i j", "0,1,2,3 / 4,5,6,7 / 8,9,10,11 / 12,13,14,15");
    orders("j i", "0,4,8,12 / 1,5,9,13 / 2,6,10,14 / 3,7,11,15");
    orders("i/2 j/2 i j", "0,1,4,5 / 2,3,6,7 / 8,9,12,13 / 10,11,14,15");
    orders("j/2 i/2 i j", "0,1,4,5 / 8,9,12,13 / 2,3,6,7 / 10,11,14,15"); /* the grid of tiles transposed */
    orders("j/2 i/2 j i", "0,4,1,5 / 8,12,9,13 / 2,6,3,7 / 10,14,11,15"); /* grid and tiles transposed */
}

/* ---- random layouts against the definition: each digit takes its part of what those outside it left ---- */
typedef struct any {
    type t;
    layout y;
    char source[256];
} any;

static int64_t roll(uint64_t *at, int64_t low, int64_t high)
{
    return low + (int64_t)(random_bits(11, (*at)++) % (uint64_t)(high - low + 1));
}

static void make_any(any *a, uint64_t *at)
{
    static const dtype types[] = {TS_F32, TS_F64, TS_I8, TS_F16};
    int64_t dim[4], left[4];
    const int rank = (int)roll(at, 1, 4);
    text t = {0};
    err e = {0};
    for (int d = 0; d < rank; d++)
        dim[d] = left[d] = roll(at, 1, 9);
    for (int i = 0; i < 6; i++) {
        const int64_t d = roll(at, 0, rank - 1);
        if (left[d] > 2)
            text_add(&t, "%s/%lld ", letter[d], (long long)(left[d] = roll(at, 2, left[d] - 1)));
    }
    const int64_t first = roll(at, 0, rank - 1);
    for (int d = 0; d < rank; d++)
        text_add(&t, "%s ", letter[(d + first) % rank]);
    a->t = of(types[roll(at, 0, 3)], rank, dim);
    snprintf(a->source, sizeof a->source, "%s", t.s);
    if (!CHECK(layout_parse(&a->y, &a->t, letter, NULL, t.s, &e)))
        printf("  %s\n", e.text);
    text_free(&t);
}

static int64_t place(const layout *y, const int64_t *index)
{
    int64_t at = 0, left[MAX_RANK];
    memcpy(left, index, sizeof left);
    for (int i = 0; i < y->n; i++) {
        const digit *g = &y->digit[i];
        int64_t inner = 1; /* elements of the digits within */
        for (int j = i + 1; j < y->n; j++)
            inner *= (y->digit[j].span + y->digit[j].step - 1) / y->digit[j].step;
        at += left[g->dim] / g->step * inner;
        left[g->dim] %= g->step;
    }
    return at;
}

static int64_t affine_at(const affine *a, const int64_t *v)
{
    int64_t sum = a->c;
    for (int i = 0; i < a->n; i++)
        sum += a->t[i].coef * (a->t[i].a->kind == A_VAR ? v[a->t[i].a->var]
                                                        : int_floor_div(affine_at(a->t[i].a->of, v), a->t[i].a->by));
    return sum;
}

static bool one_case(const any *a, uint64_t *at)
{
    arena mem = {0};
    space s = {.mem = &mem};
    const affine *axis[4];
    const int64_t n = type_count(&a->t);
    const size_t width = (size_t)ts_dtype_bytes(a->t.dtype);
    const int parts = (int)roll(at, 1, 5);
    unsigned char *from = arena_array(&mem, (size_t)n, width), *to = arena_array(&mem, (size_t)a->y.size, width);
    char *seen = arena_array(&mem, (size_t)a->y.size, 1);
    bool ok = a->y.size >= n;
    for (int d = 0; d < a->t.rank; d++)
        axis[d] = affine_var(&s, var_add(&s, letter[d], 0, a->t.dim[d] - 1));
    const affine *offset = layout_offset(&s, &a->y, axis);
    for (int64_t i = 0; i < n * (int64_t)width; i++)
        from[i] = (unsigned char)(1 + random_bits(3, (uint64_t)i) % 255);
    memset(to, 0xEE, (size_t)a->y.size * width);
    for (int p = 0; p < parts; p++)
        layout_pack(&a->y, &a->t, to, from, p, parts);
    for (int64_t i = 0; i < n && ok; i++) {
        int64_t index[MAX_RANK] = {0}, rest = i;
        for (int d = a->t.rank; d-- > 0; rest /= a->t.dim[d])
            index[d] = rest % a->t.dim[d];
        const int64_t k = place(&a->y, index);
        ok = k < a->y.size && !seen[k]++ && affine_at(offset, index) == k &&
             !memcmp(to + (size_t)k * width, from + (size_t)i * width, width);
    }
    bool even = true; /* blocks that are cut evenly have padding at the tensor's end alone, and that is zero */
    for (int i = 0; i < a->y.n; i++)
        even = even &&
               (a->y.digit[i].span == a->t.dim[a->y.digit[i].dim] || a->y.digit[i].span % a->y.digit[i].step == 0);
    for (int64_t k = 0; k < a->y.size * (int64_t)width && ok && even; k++)
        ok = seen[k / (int64_t)width] || !to[k];
    arena_free(&mem);
    return ok;
}

static void test_random(void)
{
    int wrong = 0;
    uint64_t at = 0;
    for (int i = 0; i < 3000 && wrong < 5; i++) {
        any a;
        text t = {0};
        make_any(&a, &at);
        if (one_case(&a, &at))
            continue;
        wrong++;
        type_print(&t, &a.t);
        printf("  layout %s of %s\n", a.source, t.s);
        text_free(&t);
    }
    CHECK(wrong == 0);
}

static void test_rows(void)
{
    static const int64_t dim[] = {3, 1, 5}, none[] = {3, 0};
    const type t = of(TS_F32, 3, dim), scalar = {.dtype = TS_F64}, empty = of(TS_F32, 2, none);
    layout y, z;
    err e = {0};
    layout_rows(&y, &t);
    CHECK(layout_is_rows(&y, &t) && y.size == 15);
    CHECK(layout_parse(&z, &t, letter, NULL, "i j k", &e) && layout_same(&y, &z));
    CHECK(layout_parse(&z, &t, letter, NULL, "k i j", &e) && !layout_is_rows(&z, &t));
    layout_rows(&y, &scalar);
    double from = 2.5, to = 0;
    layout_pack(&y, &scalar, &to, &from, 0, 2);
    layout_pack(&y, &scalar, &to, &from, 1, 2);
    CHECK(y.size == 1 && to == 2.5);
    layout_rows(&y, &empty);
    CHECK(y.size == 0);
    layout_pack(&y, &empty, &to, &from, 0, 1);
    CHECK(to == 2.5);
}

int main(void)
{
    test_text();
    test_orders();
    test_random();
    test_rows();
    return check_done();
}
