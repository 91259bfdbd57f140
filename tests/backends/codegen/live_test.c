/* live_test.c - registers that small trees of statements take at once, and what goes through memory where there are
 * fewer, against figures worked out by hand. */
/* ctest: fast */
#include "backends/codegen/emit.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LANES = 8, WIDE = 32, STEPS = 10 };

static tile_made live(arena *mem, const code *c, int registers)
{
    const target machine = {.n_register = registers, .lanes = {[TS_F32] = LANES}};
    tile_made t = {.body = c->at};
    plan *p = heap_array(1, sizeof *p);
    emitter *m = heap_array(1, sizeof *m);
    p->on = &machine, m->p = p, m->mem = mem;
    m->tiles.made[0] = &t, m->tiles.n = 1;
    kernel_live(m);
    free(m), free(p);
    return t;
}

static void check(arena *mem, const char *what, const code *c, int registers, double want, double spills)
{
    const tile_made got = live(mem, c, registers);
    if (!CHECK(fabs(got.registers - want) < 1e-9 && fabs(got.spills - spills) < 1e-9))
        printf("  %s, %d registers: %g taken, %g loads; not %g, %g\n", what, registers, got.registers, got.spills, want,
               spills);
}

/* ---- statements, in short ---- */
static const cexpr *word(arena *mem, const char *s)
{
    return cexpr_word(mem, s);
}

static const cexpr *vector(arena *mem, const char *does, int n, const cexpr *const *arg)
{
    static const char *const form[] = {"", "v($0)", "v($0, $1)", "v($0, $1, $2)"};
    return cexpr_lanes(mem, does, (instance){E_F32, LANES}, form[n], n, arg);
}

static const cexpr *memory(arena *mem, const char *does, const char *of, const char *at)
{
    const cexpr *x = cexpr_element(mem, of, word(mem, at), 0);
    return vector(mem, does, 1, &x);
}

static void open_loop(code *c, const char *name, int trips, opening how)
{
    code_open(c, (stmt){.kind = S_LOOP, .name = name, .trips = trips, .how = how});
}

static const cexpr *sum_at(arena *mem)
{
    return cexpr_at(mem, cexpr_at(mem, word(mem, "acc"), word(mem, "i"), IN_REGISTERS), word(mem, "j"), IN_REGISTERS);
}

/* acc[i][j] += a[i] b[j], rows by columns, in some steps */
static code product(arena *mem, int rows, int columns)
{
    code c = code_begin(mem);
    stmt *s = code_array(&c, "f32x8", "acc", "[][]");
    s->bytes = WIDE, s->trips = rows * columns;
    open_loop(&c, "k", STEPS, AS_IT_IS), open_loop(&c, "i", rows, WRITTEN_OUT),
        open_loop(&c, "j", columns, WRITTEN_OUT);
    const cexpr *arg[] = {memory(mem, "splat", "a", "i"), memory(mem, "load", "b", "j"), sum_at(mem)};
    code_store(&c, sum_at(mem), vector(mem, "fma", 3, arg));
    for (int i = 0; i < 3; i++)
        code_close(&c);
    return c;
}

/* Sums, the columns, which wait for the next row, and one element of the row */
static void test_product(arena *mem)
{
    const code c = product(mem, 4, 2);
    check(mem, "a product", &c, 16, 8 + 2 + 1, 0);
    check(mem, "a product", &c, 8 + 2 + 1, 8 + 2 + 1, 0);
    /* a column is read again for each row but the first, in every step */
    check(mem, "a product", &c, 8 + 2, 8 + 2 + 1, STEPS * 3);
    check(mem, "a product", &c, 8 + 1, 8 + 2 + 1, STEPS * 2 * 3);
    /* and the element of each row for the other column; and a sum is loaded and stored, which counts twice */
    check(mem, "a product", &c, 8 - 1, 8 + 2 + 1, STEPS * (2 * 3 + 4 + 3));
    const code row = product(mem, 1, 5);
    check(mem, "a row", &row, 16, 5 + 1 + 1, 0);
}

/* One value is needed until the next is made; of a loop's those that it reads are needed until it ends. */
static void test_ranges(arena *mem)
{
    for (int i = 0; i < 2; i++) {
        code c = code_begin(mem);
        code_let(&c, "f32x8", "u", NULL)->bytes = WIDE;
        code_let(&c, "f32x8", "v", word(mem, "u"))->bytes = WIDE;
        code_let(&c, "f32x8", "w", word(mem, "v"))->bytes = WIDE;
        code_let(&c, "long", "n", NULL); /* no vector */
        check(mem, "a chain", &c, 16, 2, 0);
        open_loop(&c, "k", STEPS, i ? AS_IT_IS : WRITTEN_OUT);
        code_let(&c, "f32x8", "x", word(mem, "w"))->bytes = WIDE;
        code_let(&c, "f32x8", "y", word(mem, "x"))->bytes = WIDE;
        code_let(&c, "f32x8", "z", word(mem, "y"))->bytes = WIDE;
        code_close(&c);
        check(mem, "in a loop", &c, 16, 3, 0);
    }
}

/* What is walked by a loop as it is takes no register. */
static void test_walked(arena *mem)
{
    for (int i = 0; i < 2; i++) {
        code c = code_begin(mem);
        stmt *root = c.at, *s = code_array(&c, "f32x8", "acc", "[][]");
        s->bytes = WIDE, s->trips = 6;
        open_loop(&c, "i", 3, i ? WRITTEN_OUT : AS_IT_IS), open_loop(&c, "j", 2, WRITTEN_OUT);
        code_let(&c, "f32x8", "u", sum_at(mem))->bytes = WIDE;
        check(mem, "walked", &(code){mem, root}, 16, i ? 6 + 1 : 1, 0);
    }
}

/* A vector whose elements come one by one is one register, however long that takes. */
static void test_gathers(arena *mem)
{
    code c = code_begin(mem);
    open_loop(&c, "i", 4, WRITTEN_OUT), open_loop(&c, "k", LANES, WRITTEN_OUT);
    c.at->elements = true;
    code_store(&c, cexpr_element(mem, "e", word(mem, "k"), IN_REGISTERS), cexpr_element(mem, "a", word(mem, "k"), 0));
    code_close(&c), code_close(&c);
    check(mem, "gathered", &c, 16, 1, 0);
}

/* Of a lane: its stack and what is worked out, the pointer, the sum; in a loop that goes round its counter and an
 * address, of all memory or of the group's. Read ahead is half of 8 trips, or of 25 of 1000; of the group's memory what
 * is read in 16 trips of two operations. */
static void test_lanes(arena *mem)
{
    static const struct {
        int trips;
        bool shared;
        double want;
    } rows[] = {{8, false, 5 + 4}, {1000, false, 5 + 1 + 2 + 13}, {1000, true, 5 + 1 + 1 + 16}};
    for (int i = 0; i < COUNT(rows); i++) {
        const target machine = {.n_register = 255, .group = WIDE};
        const cexpr *const pointer = word(mem, "x"), *sum[2] = {NULL, word(mem, "acc")};
        code c = code_begin(mem), call = code_begin(mem);
        cexpr *x = (cexpr *)cexpr_at(mem, pointer, word(mem, "k"), 0);
        x->shared = rows[i].shared, sum[0] = x;
        code_let(&c, "float", "acc", NULL)->bytes = 4;
        tile_made t = {.body = c.at, .parameter = &pointer};
        open_loop(&c, "k", rows[i].trips, AS_IT_IS);
        code_store(&c, sum[1], cexpr_lanes(mem, "add", (instance){E_F32, 0}, "$0 + $1", 2, sum)), code_close(&c);
        code_call(&call, cexpr_tile(mem, 0, 1, &pointer));
        plan *p = heap_array(1, sizeof *p);
        emitter *m = heap_array(1, sizeof *m);
        p->on = &machine, m->p = p, m->mem = mem, m->out.code.at = call.at, m->tiles.made[0] = &t, m->tiles.n = 1;
        kernel_live(m);
        if (!CHECK(t.registers == rows[i].want))
            printf("  %d trips: %g, not %g\n", rows[i].trips, t.registers, rows[i].want);
        free(m), free(p);
    }
}

int main(void)
{
    arena mem = {0};
    test_lanes(&mem);
    test_product(&mem);
    test_ranges(&mem);
    test_walked(&mem);
    test_gathers(&mem);
    arena_free(&mem);
    return check_done();
}
