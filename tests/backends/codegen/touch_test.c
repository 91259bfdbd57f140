/* touch_test.c - what lanes touch in small trees of statements, against figures worked out by hand. */
/* ctest: fast */
#include "backends/codegen/touch.h"
#include "backends/gpu/figuring.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>

enum { N_LANE = 64, N_WARP = 32, F32 = 4 };

typedef struct sums { /* of one group: accesses of warps; sectors of global memory, passes over banks */
    double times, sectors, passes;
} sums;

static void add(void *user, const touch *t)
{
    sums *all = user;
    all->times += t->share;
    if (t->shared)
        all->passes += t->share * (double)warp_cycles(t->at, t->n, t->bytes);
    else
        all->sectors += t->share * (double)warp_sectors(t->at, t->n, t->bytes);
}

static double waits; /* of the kernel that was followed last */

static sums sums_of(const code *c, tile_made *tile)
{
    static const dialect spoken = {.lane = "lane"};
    static const target machine = {.warp = N_WARP};
    static plan p = {.on = &machine};
    static kernel k;
    static emitter m;
    sums all = {0};
    m = (emitter){.d = &spoken, .p = &p, .k = &k, .group = N_LANE, .out.code.at = c->at, .tiles.made = {tile}};
    touching told = {.each = add, .user = &all};
    kernel_touch(&m, &told);
    waits = told.waits;
    return all;
}

static void check(const char *what, sums got, sums want)
{
    if (!CHECK(fabs(got.times - want.times) + fabs(got.sectors - want.sectors) + fabs(got.passes - want.passes) < 1e-6))
        printf("  %s: %g times, %g sectors, %g passes; not %g, %g, %g\n", what, got.times, got.sectors, got.passes,
               want.times, want.sectors, want.passes);
}

/* ---- statements, in short ---- */
/* so many times that name, and the lane; and `more` */
static const cexpr *index_of(arena *mem, int64_t lanes, const char *name, int64_t times, int64_t more)
{
    return cexpr_sum(mem, more, name ? 2 : 1,
                     (const cexpr *const[]){cexpr_word(mem, "lane"), name ? cexpr_word(mem, name) : NULL},
                     (const int64_t[]){lanes, times});
}

static const cexpr *in_memory(arena *mem, const cexpr *pointer, const cexpr *index, bool shared)
{
    cexpr *x = arena_get(mem, sizeof *x);
    *x = *cexpr_at(mem, pointer, index, 0);
    x->bytes = F32, x->shared = shared;
    return x;
}

static void reads(code *c, const cexpr *index)
{
    code_store(c, cexpr_word(c->mem, "sum"), in_memory(c->mem, cexpr_word(c->mem, "x"), index, false));
}

static void opens(code *c, const char *name, int64_t trips, opening how)
{
    code_open(c, (stmt){.kind = S_LOOP,
                        .how = how,
                        .name = name,
                        .from = cexpr_number(c->mem, 0),
                        .to = cexpr_number(c->mem, trips),
                        .trips = trips});
}

static void opens_below(code *c, const char *name, int64_t bound)
{
    code_if(c, cexpr_whole(c->mem, W_LESS, cexpr_word(c->mem, name), cexpr_number(c->mem, bound)));
}

/* ---- one access ---- */
static void test_places(arena *mem)
{
    static const struct {
        const char *what;
        int64_t lanes, more;
        sums want, shared;
    } rows[] = {
        {"neighbours", 1, 0, {2, 8, 0}, {2, 0, 2}},    {"neighbours across a border", 1, 1, {2, 10, 0}, {2, 0, 2}},
        {"every second", 2, 0, {2, 16, 0}, {2, 0, 4}}, {"every eighth", 8, 0, {2, 64, 0}, {2, 0, 16}},
        {"every 32nd", 32, 0, {2, 64, 0}, {2, 0, 64}}, {"every 33rd", 33, 0, {2, 64, 0}, {2, 0, 2}},
        {"all the same", 0, 5, {2, 2, 0}, {2, 0, 2}}};
    for (int i = 0; i < COUNT(rows); i++) {
        code c = code_begin(mem), s = code_begin(mem);
        const cexpr *index = index_of(mem, rows[i].lanes, NULL, 0, rows[i].more);
        reads(&c, index), code_store(&s, in_memory(mem, cexpr_word(mem, "s"), index, true), cexpr_word(mem, "sum"));
        check(rows[i].what, sums_of(&c, NULL), rows[i].want);
        check(rows[i].what, sums_of(&s, NULL), rows[i].shared);
    }
}

static void test_conditions(arena *mem)
{
    static const struct {
        int64_t bound;
        sums want;
    } rows[] = {{40, {2, 5, 0}}, {20, {1, 3, 0}}, {0, {0, 0, 0}}, {64, {2, 8, 0}}};
    for (int i = 0; i < COUNT(rows); i++) {
        code c = code_begin(mem);
        opens_below(&c, "lane", rows[i].bound), reads(&c, index_of(mem, 1, NULL, 0, 0)), code_close(&c);
        check("under a condition", sums_of(&c, NULL), rows[i].want);
    }
    code c = code_begin(mem); /* the others elsewhere: one sector of 8 lanes; 7 sectors */
    stmt *test = code_open(
        &c, (stmt){.kind = S_IF, .value = cexpr_whole(mem, W_LESS, cexpr_word(mem, "lane"), cexpr_number(mem, 8))});
    reads(&c, index_of(mem, 1, NULL, 0, 0)), code_close(&c);
    code_else(&c, test), reads(&c, index_of(mem, 1, NULL, 0, 0)), code_close(&c);
    check("either way", sums_of(&c, NULL), (sums){3, 8, 0});
}

/* Data say which element it is: each is read, where nobody knows, from where the tensor begins */
static void test_data(arena *mem)
{
    code c = code_begin(mem);
    for (int i = 0; i < 2; i++)
        reads(&c, in_memory(mem, cexpr_word(mem, "chosen"), index_of(mem, 1, NULL, 0, i * N_LANE), false));
    check("elements that data choose", sums_of(&c, NULL), (sums){8, 2 * (8 + 2), 0});
}

/* ---- loops ---- */
static void test_loops(arena *mem)
{
    enum { TRIPS = 4 };
    for (int i = 0; i < 2; i++) {
        code c = code_begin(mem);
        opens(&c, "i", TRIPS, i ? WRITTEN_OUT : AS_IT_IS), reads(&c, index_of(mem, 1, "i", N_LANE, 0)), code_close(&c);
        check("each trip elsewhere", sums_of(&c, NULL), (sums){2 * TRIPS, 8 * TRIPS, 0});
        c = code_begin(mem);
        opens(&c, "i", TRIPS, i ? WRITTEN_OUT : AS_IT_IS), reads(&c, index_of(mem, 1, NULL, 0, 0)), code_close(&c);
        check("all trips the same", sums_of(&c, NULL), (sums){2, 8, 0});
        c = code_begin(mem);
        opens(&c, "i", TRIPS, i ? WRITTEN_OUT : AS_IT_IS), reads(&c, index_of(mem, 1, NULL, 0, 0));
        code_add(&c, (stmt){.kind = S_BARRIER}), code_close(&c);
        check("all trips the same, which wait", sums_of(&c, NULL), (sums){2 * TRIPS, 8 * TRIPS, 0});
    }
}

static void rest(code *c, bool under)
{
    if (under)
        opens_below(c, "lane", N_WARP);
    opens(c, "o", 2, WRITTEN_OUT), reads(c, index_of(c->mem, 1, "o", N_LANE, 0)), code_close(c);
    if (under)
        code_close(c);
}

/* What trips that are written out read, the rest behind them has, unless it is the first to come there, or a barrier
 * is between. */
static void test_rests(arena *mem)
{
    const sums all = {4, 16, 0}, half = {2, 8, 0}, both = {6, 24, 0};
    for (int barrier = 0; barrier < 2; barrier++)
        for (int first = 0; first < 2; first++) {
            code c = code_begin(mem);
            opens(&c, "w", 3, WRITTEN_OUT), rest(&c, first), code_close(&c);
            if (barrier)
                code_add(&c, (stmt){.kind = S_BARRIER});
            code_open(&c, (stmt){.kind = S_BLOCK});
            code_add(&c, (stmt){.kind = S_CONSTANT, .name = "w", .value = cexpr_number(mem, 3)});
            rest(&c, !first), code_close(&c);
            check("trips and their rest", sums_of(&c, NULL), barrier || first ? both : all);
        }
    code c = code_begin(mem);
    rest(&c, true), rest(&c, true);
    check("the same condition twice", sums_of(&c, NULL), half);
}

/* 4,800 trips of warps, of which some are looked at: a quarter of the inner ones touch memory */
static void test_many(arena *mem)
{
    enum { CHUNKS = 150, RUNS = 8 };
    code c = code_begin(mem);
    code_open(&c, (stmt){.kind = S_CHUNKS, .name = "chunk", .trips = CHUNKS});
    opens(&c, "run", RUNS, WRITTEN_OUT), opens(&c, "one", 2, WRITTEN_OUT);
    opens_below(&c, "one", 1), opens_below(&c, "run", RUNS / 2);
    code_store(&c, in_memory(mem, cexpr_word(mem, "y"), index_of(mem, 1, "chunk", N_LANE, 0), false),
               cexpr_word(mem, "sum"));
    for (int i = 0; i < 5; i++)
        code_close(&c);
    check("many trips", sums_of(&c, NULL), (sums){CHUNKS * RUNS, 4 * CHUNKS * RUNS, 0});
}

/* What a copy of a slice names is known behind it: every eighth element, not every one */
static void test_stage(arena *mem)
{
    code c = code_begin(mem);
    code_open(&c, (stmt){.kind = S_STAGE}), code_let(&c, "int", "place", index_of(mem, 7, NULL, 0, 0)), code_close(&c);
    reads(&c, index_of(mem, 1, "place", 1, 0));
    check("a name of a copy", sums_of(&c, NULL), (sums){2, 64, 0});
}

/* ---- tiles ---- */
static void test_tiles(arena *mem)
{
    const cexpr *const takes[] = {cexpr_word(mem, "at")};
    for (int apart = 0; apart < 2; apart++) {
        code c = code_begin(mem), body = code_begin(mem);
        code_store(&body, cexpr_word(mem, "sum"), in_memory(mem, takes[0], index_of(mem, 1, NULL, 0, 0), false));
        for (int i = 0; i < 2; i++) {
            const cexpr *from = cexpr_pointer(mem, "", cexpr_word(mem, "x"), cexpr_number(mem, 4 * i * apart), F32);
            code_call(&c, cexpr_tile(mem, 0, 1, &from));
        }
        tile_made tile = {.body = body.at, .parameter = takes};
        check("calls of a tile", sums_of(&c, &tile), apart ? (sums){4, 8 + 10, 0} : (sums){2, 8, 0});
    }
}

/* What a matrix unit takes: rows of 16 bytes, as many as lanes give; or slices that lie well */
static void test_units(arena *mem)
{
    static const struct {
        moves how;
        int64_t apart, lanes; /* bytes from one row to the next */
        int bytes;
        sums want;
    } rows[] = {{TAKES_ROWS, 16, 32, 16, {2, 0, 8}},
                {TAKES_ROWS, 16, 16, 16, {2, 0, 4}},
                {TAKES_ROWS, 128, 32, 16, {2, 0, 64}},
                {TAKES_SLICE, 0, 0, 1024, {16, 0, 16}}};
    for (int i = 0; i < COUNT(rows); i++) {
        code c = code_begin(mem);
        const cexpr *at = index_of(mem, rows[i].apart, NULL, 0, 0);
        cexpr *x = (cexpr *)cexpr_two(mem, "rows($0, $1)", cexpr_word(mem, "f"), at);
        x->moves = rows[i].how, x->number = rows[i].lanes, x->bytes = rows[i].bytes;
        code_call(&c, x);
        check("what a unit takes", sums_of(&c, NULL), rows[i].want);
    }
}

/* Four trips wait together where lanes do not meet; all trips of a loop in which they do, each for itself; a loop that
 * is written out, and what a group has already, wait for nothing more. */
static void test_waits(arena *mem)
{
    static const struct {
        opening how;
        bool meets, shared;
        double want;
    } rows[] = {{AS_IT_IS, false, false, 3},
                {AS_IT_IS, true, false, 10},
                {WRITTEN_OUT, false, false, 1},
                {AS_IT_IS, true, true, 0}};
    for (int i = 0; i < COUNT(rows); i++) {
        code c = code_begin(mem);
        opens(&c, "i", 10, rows[i].how);
        code_store(&c, cexpr_word(mem, "sum"),
                   in_memory(mem, cexpr_word(mem, "x"), index_of(mem, 1, "i", N_LANE, 0), rows[i].shared));
        if (rows[i].meets)
            code_add(&c, (stmt){.kind = S_BARRIER});
        code_close(&c);
        sums_of(&c, NULL);
        if (!CHECK(fabs(waits - rows[i].want) < 1e-9))
            printf("  row %d: %g waits, not %g\n", i, waits, rows[i].want);
    }
}

int main(void)
{
    arena mem = {0};
    test_places(&mem);
    test_conditions(&mem);
    test_data(&mem);
    test_loops(&mem);
    test_rests(&mem);
    test_many(&mem);
    test_stage(&mem);
    test_tiles(&mem);
    test_units(&mem);
    test_waits(&mem);
    arena_free(&mem);
    return check_done();
}
