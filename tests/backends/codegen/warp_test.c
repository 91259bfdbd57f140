/* warp_test.c - what expressions of a text come to in each lane of a warp, against numbers worked out by hand. */
/* ctest: fast */
#include "backends/codegen/warp.h"
#include "schedule/nest/slice.h"
#include "tests/check.h"

#include <stdio.h>

enum { N_WARP = 32, N_LANE = 48, I = 0, J = 1 };

typedef struct asked { /* a warp; a walk that knows names of two loops, of a number and of what follows from it */
    arena mem;
    warp *w;
    walk walk;
} asked;

static const cexpr *sum(asked *a, int64_t more, const char *x, int64_t times, const char *y, int64_t also)
{
    return cexpr_sum(&a->mem, more, 2, (const cexpr *const[]){cexpr_word(&a->mem, x), cexpr_word(&a->mem, y)},
                     (const int64_t[]){times, also});
}

static integer *loop_number(asked *a, int which)
{
    integer *t = arena_get(&a->mem, sizeof *t);
    *t = (integer){.kind = OF_LOOP, .number = which, .step = 1, .loops = UINT64_C(1) << which};
    return t;
}

static void begin(asked *a)
{
    static const function none[] = {{0}};
    static const dialect spoken = {.lane = "lane", .function = none};
    static const target machine = {.warp = N_WARP};
    static plan p = {.on = &machine};
    static kernel k;
    static emitter m = {.d = &spoken, .p = &p, .k = &k, .group = N_LANE};
    *a = (asked){.walk.m = &m};
    static callees uses;
    m.mem = m.sp.mem = &a->mem, m.out.uses = &uses;
    a->w = arena_get(&a->mem, sizeof *a->w), a->walk.mem = &a->mem;
    warp_make(a->w, &m, &a->mem);
    walk_name(&a->walk, "i", loop_number(a, I)), walk_name(&a->walk, "j", loop_number(a, J));
    walk_name(&a->walk, "ten", integer_of(&a->walk, cexpr_number(&a->mem, 10)));
    walk_name(&a->walk, "at", integer_of(&a->walk, sum(a, 0, "i", 3, "ten", 1)));
    warp_forget(a->w);
}

/* Of that lane where i is 4 and j is 2, in the first warp */
static int64_t in_lane(asked *a, integer *v, int lane)
{
    bool there[LANES] = {true};
    warp_enter(a->w, 0);
    warp_loop(a->w, I, 4, NULL, NULL, there), warp_loop(a->w, J, 2, NULL, NULL, there);
    return warp_numbers(a->w, v)[lane];
}

static void test_numbers(void)
{
    enum { FIFTH = 5 };
    asked a;
    begin(&a);
    const cexpr *lane = cexpr_word(&a.mem, "lane"), *i = cexpr_word(&a.mem, "i"), *seven = cexpr_number(&a.mem, 7),
                *four = cexpr_number(&a.mem, 4);
    emitter *m = (emitter *)(uintptr_t)a.walk.m;
    const cexpr *swizzled = copy_index(m, &(source){.shift = 2, .mask = 3, .piece = 8},
                                       affine_const(&m->sp, FIFTH)); /* as kernels say it */
    const cexpr *read = cexpr_element(&a.mem, "x", sum(&a, 1, "lane", 1, "i", 8), 0);
    ((cexpr *)read)->bytes = 4;
    const struct {
        const char *what;
        const cexpr *of;
        int64_t want;
    } rows[] = {
        {"a number", seven, 7},
        {"the lane", lane, FIFTH},
        {"a loop", i, 4},
        {"a sum", sum(&a, 1, "lane", 2, "j", -3), 1 + 2 * FIFTH - 3 * 2},
        {"a name of a sum of names", cexpr_word(&a.mem, "at"), 3 * 4 + 10},
        {"a name that nobody gave", cexpr_word(&a.mem, "x0"), 0},
        {"a quotient below 0", cexpr_floor(&a.mem, sum(&a, -8, "lane", 1, "j", 0), 4, true), -1},
        {"a rest", cexpr_whole(&a.mem, W_REST, lane, cexpr_number(&a.mem, 3)), 2},
        {"less", cexpr_whole(&a.mem, W_LESS, lane, seven), 1},
        {"not less", cexpr_whole(&a.mem, W_LEAST, lane, seven), 0},
        {"the same", cexpr_whole(&a.mem, W_SAME, i, four), 1},
        {"the least", cexpr_whole(&a.mem, W_MIN, lane, i), 4},
        {"the most", cexpr_whole(&a.mem, W_MAX, lane, i), FIFTH},
        {"both",
         cexpr_whole(&a.mem, W_BOTH, cexpr_whole(&a.mem, W_LESS, lane, seven), cexpr_whole(&a.mem, W_LESS, i, four)),
         0},
        {"bits", cexpr_whole(&a.mem, W_BITS, lane, four), FIFTH ^ 4},
        {"pieces that change places", swizzled, slice_swizzled(FIFTH, 2, 3, 8)},
        {"a cast", cexpr_cast(&a.mem, "(int64_t)($0)", lane), FIFTH},
        {"a negation, which nobody works out", cexpr_one(&a.mem, "!$0", lane), 0},
        {"what data say", read, 0},
    };
    for (int r = 0; r < COUNT(rows); r++) {
        const int64_t got = in_lane(&a, integer_of(&a.walk, rows[r].of), FIFTH);
        if (!CHECK(got == rows[r].want))
            printf("  %s: %lld, not %lld\n", rows[r].what, (long long)got, (long long)rows[r].want);
    }
    CHECK(in_lane(&a, integer_place(&a.walk, read), FIFTH) == 4 * (1 + FIFTH + 8 * 4)); /* bytes */
    arena_free(&a.mem);
}

/* Of what nobody says nothing is known; but where memory begins does not matter for where in it. */
static void test_unknown(void)
{
    asked a;
    begin(&a);
    const cexpr *x = cexpr_word(&a.mem, "x0"), *both = sum(&a, 0, "lane", 1, "x0", 1);
    cexpr *read = (cexpr *)cexpr_element(&a.mem, "x0", cexpr_word(&a.mem, "lane"), 0);
    read->bytes = 4;
    CHECK(integer_of(&a.walk, x)->known == BASED && integer_of(&a.walk, both)->known == GUESSED);
    CHECK(integer_of(&a.walk, read)->known == GUESSED && integer_place(&a.walk, read)->known == SURE);
    arena_free(&a.mem);
}

/* The second warp has the lanes that are left; those whose bound is reached are not there. */
static void test_loops(void)
{
    asked a;
    begin(&a);
    integer *to = integer_of(&a.walk, sum(&a, 0, "lane", 1, "j", 0)),
            *from = integer_of(&a.walk, cexpr_number(&a.mem, 30)),
            *at = integer_of(&a.walk, sum(&a, 0, "i", 10, "lane", 1));
    bool there[LANES];
    for (int k = 0; k < LANES; k++)
        there[k] = true;
    warp_enter(a.w, N_WARP);
    CHECK(a.w->n == N_LANE - N_WARP);
    warp_loop(a.w, I, 4, from, to, there); /* 34, which is below 35 and more */
    CHECK(!there[2] && there[3] && warp_numbers(a.w, at)[3] == 340 + 35);
    warp_leave(a.w), warp_enter(a.w, N_WARP);
    warp_loop(a.w, I, 5, from, to, there); /* it moved: what follows from it is worked out again */
    CHECK(!there[3] && there[4] && warp_numbers(a.w, at)[4] == 350 + 36);
    arena_free(&a.mem);
}

static void test_trips(void)
{
    asked a;
    begin(&a);
    integer *from = integer_of(&a.walk, cexpr_number(&a.mem, 3)), *to = integer_of(&a.walk, cexpr_number(&a.mem, 12));
    CHECK(warp_trips(a.w, &(stmt){.kind = S_LOOP, .trips = 5, .step = 1}, from, to) == 5); /* it says so */
    CHECK(warp_trips(a.w, &(stmt){.kind = S_LOOP, .step = 4}, from, to) == 3);
    CHECK(warp_trips(a.w, &(stmt){.kind = S_LOOP, .step = 4}, to, from) == 0);
    CHECK(warp_trips(a.w, &(stmt){.kind = S_LOOP, .step = 4}, from, NULL) == 1);
    arena_free(&a.mem);
}

static void test_same(void)
{
    asked a;
    begin(&a);
    integer *i = integer_of(&a.walk, sum(&a, 1, "lane", 2, "i", 8)),
            *again = integer_of(&a.walk, sum(&a, 1, "lane", 2, "i", 8)),
            *j = integer_of(&a.walk, sum(&a, 1, "lane", 2, "j", 8)),
            *other = integer_of(&a.walk, sum(&a, 1, "lane", 2, "i", 9));
    const int stays[] = {I, J}, turned[] = {J, I};
    CHECK(integer_same(i, again, stays) && !integer_same(i, j, stays) && !integer_same(i, other, stays));
    CHECK(integer_same(i, j, turned) && !integer_same(i, again, turned));
    arena_free(&a.mem);
}

int main(void)
{
    test_numbers();
    test_unknown();
    test_loops();
    test_trips();
    test_same();
    return check_done();
}
