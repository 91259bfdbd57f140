/* lane_value_test.c - what expressions of a text come to in each lane of a warp, against numbers worked out by hand. */
/* ctest: fast */
#include "backends/codegen/lane_value.h"
#include "schedule/nest/slice.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>

enum { N_WARP = 32, N_LANE = 48, I = 0, J = 1 };

typedef struct asked { /* a warp, and names of two loops, of a number and of what follows from it */
    arena mem;
    plan *p;
    kernel *k;
    emitter *m;
    warp *w;
    const meaning *names;
} asked;

static const cexpr *word(asked *a, const char *s)
{
    return cexpr_word(&a->mem, s);
}

static const cexpr *number(asked *a, int64_t n)
{
    return cexpr_number(&a->mem, n);
}

static const cexpr *sum(asked *a, int64_t more, const char *x, int64_t times, const char *y, int64_t also)
{
    return cexpr_sum(&a->mem, more, 2, (const cexpr *const[]){word(a, x), word(a, y)}, (const int64_t[]){times, also});
}

static const cexpr *whole(asked *a, whole_op does, const cexpr *x, const cexpr *y)
{
    return cexpr_whole(&a->mem, does, x, y);
}

static void begin(asked *a)
{
    static const dialect spoken = {.lane = "lane"};
    static const target machine = {.warp = N_WARP};
    *a = (asked){.p = calloc(1, sizeof *a->p),
                 .k = calloc(1, sizeof *a->k),
                 .m = calloc(1, sizeof *a->m),
                 .w = calloc(1, sizeof *a->w)};
    MUST(a->p && a->k && a->m && a->w);
    a->p->on = &machine;
    a->m->d = &spoken, a->m->p = a->p, a->m->k = a->k, a->m->group = N_LANE;
    warp_make(a->w, a->m, &a->mem);
    a->names = meaning_add(a->w, NULL, "i", NULL, NULL, I);
    a->names = meaning_add(a->w, a->names, "j", NULL, NULL, J);
    a->names = meaning_add(a->w, a->names, "ten", number(a, 10), a->names, 0);
    a->names = meaning_add(a->w, a->names, "at", sum(a, 0, "i", 3, "ten", 1), a->names, 0);
    warp_forget(a->w);
}

static void end(asked *a)
{
    warp_free(a->w);
    free(a->w), free(a->m), free(a->k), free(a->p), arena_free(&a->mem);
}

/* Of that lane where i is 4 and j is 2, in the first warp */
static int64_t in_lane(asked *a, const lane_value *v, int lane)
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
    const cexpr *lane = word(&a, "lane"), *i = word(&a, "i"), *seven = number(&a, 7), *four = number(&a, 4);
    const cexpr *const swizzled[] = {lane, number(&a, 2), number(&a, 3), number(&a, 8)};
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
        {"a name of a sum of names", word(&a, "at"), 3 * 4 + 10},
        {"a name that nobody gave", word(&a, "x0"), 0},
        {"a quotient below 0", cexpr_floor(&a.mem, sum(&a, -8, "lane", 1, "j", 0), 4, true), -1},
        {"a rest", whole(&a, W_REST, lane, number(&a, 3)), 2},
        {"less", whole(&a, W_LESS, lane, seven), 1},
        {"not less", whole(&a, W_LEAST, lane, seven), 0},
        {"the same", whole(&a, W_SAME, i, four), 1},
        {"the least", whole(&a, W_MIN, lane, i), 4},
        {"the most", whole(&a, W_MAX, lane, i), FIFTH},
        {"both", whole(&a, W_BOTH, whole(&a, W_LESS, lane, seven), whole(&a, W_LESS, i, four)), 0},
        {"bits", whole(&a, W_BITS, lane, four), FIFTH ^ 4},
        {"pieces that change places", cexpr_whole_as(&a.mem, W_SWIZZLED, "swizzled($0, $1, $2, $3)", 4, swizzled),
         slice_swizzled(FIFTH, 2, 3, 8)},
        {"what data say", read, 0},
    };
    for (int r = 0; r < COUNT(rows); r++) {
        const lane_value *v = lane_value_of(a.w, rows[r].of, a.names, GUESSED);
        const int64_t got = in_lane(&a, v, FIFTH);
        if (!CHECK(got == rows[r].want))
            printf("  %s: %lld, not %lld\n", rows[r].what, (long long)got, (long long)rows[r].want);
    }
    const lane_value *place = lane_value_place(a.w, read, a.names, GUESSED);
    CHECK(in_lane(&a, place, FIFTH) == 4 * (1 + FIFTH + 8 * 4)); /* bytes */
    end(&a);
}

/* Nothing is made up where it must be sure; but where memory begins does not matter for where in it. */
static void test_unknown(void)
{
    asked a;
    begin(&a);
    const cexpr *x = word(&a, "x0"), *both = sum(&a, 0, "lane", 1, "x0", 1);
    cexpr *read = (cexpr *)cexpr_element(&a.mem, "x0", word(&a, "lane"), 0);
    read->bytes = 4;
    CHECK(!lane_value_of(a.w, x, a.names, SURE) && !lane_value_of(a.w, both, a.names, SURE));
    CHECK(!lane_value_of(a.w, read, a.names, SURE) && lane_value_place(a.w, read, a.names, SURE) != NULL);
    end(&a);
}

/* The second warp has the lanes that are left; those whose bound is reached are not there. */
static void test_loops(void)
{
    asked a;
    begin(&a);
    const lane_value *to = lane_value_of(a.w, sum(&a, 0, "lane", 1, "j", 0), a.names, SURE),
                     *from = lane_value_of(a.w, number(&a, 30), a.names, SURE),
                     *at = lane_value_of(a.w, sum(&a, 0, "i", 10, "lane", 1), a.names, SURE);
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
    end(&a);
}

static void test_trips(void)
{
    asked a;
    begin(&a);
    const lane_value *from = lane_value_of(a.w, number(&a, 3), a.names, SURE),
                     *to = lane_value_of(a.w, number(&a, 12), a.names, SURE);
    CHECK(warp_trips(a.w, &(stmt){.kind = S_LOOP, .trips = 5, .step = 1}, from, to) == 5); /* it says so */
    CHECK(warp_trips(a.w, &(stmt){.kind = S_LOOP, .step = 4}, from, to) == 3);
    CHECK(warp_trips(a.w, &(stmt){.kind = S_LOOP, .step = 4}, to, from) == 0);
    CHECK(warp_trips(a.w, &(stmt){.kind = S_LOOP, .step = 4}, from, NULL) == 1);
    end(&a);
}

static void test_same(void)
{
    asked a;
    begin(&a);
    const lane_value *i = lane_value_of(a.w, sum(&a, 1, "lane", 2, "i", 8), a.names, SURE),
                     *again = lane_value_of(a.w, sum(&a, 1, "lane", 2, "i", 8), a.names, SURE),
                     *j = lane_value_of(a.w, sum(&a, 1, "lane", 2, "j", 8), a.names, SURE),
                     *other = lane_value_of(a.w, sum(&a, 1, "lane", 2, "i", 9), a.names, SURE);
    const int stays[] = {I, J}, turned[] = {J, I};
    CHECK(lane_value_same(i, again, stays) && !lane_value_same(i, j, stays) && !lane_value_same(i, other, stays));
    CHECK(lane_value_same(i, j, turned) && !lane_value_same(i, again, turned));
    CHECK(!lane_value_same(i, NULL, stays) && lane_value_same(NULL, NULL, stays));
    end(&a);
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
