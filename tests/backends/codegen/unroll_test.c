/* unroll_test.c - trips that a device's compiler writes out of small loops, against numbers worked out by hand. */
/* ctest: fast */
#include "backends/codegen/unroll.h"
#include "backends/codegen/emit.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>

static const cexpr *word(arena *mem, const char *s)
{
    return cexpr_word(mem, s);
}

static stmt *opens(code *c, const char *name, int64_t trips, opening how)
{
    return code_open(c, (stmt){.kind = S_LOOP, .name = name, .trips = trips, .how = how});
}

/* One read of x, by the name given, and one operation */
static void works(code *c, const char *by)
{
    arena *mem = c->mem;
    const cexpr *x = cexpr_element(mem, "x", word(mem, by), 0);
    code_store(c, word(mem, "sum"), cexpr_lanes(mem, "fma", (instance){E_F32, 0}, "fma($0)", 1, &x));
}

static void check(const char *what, const stmt *s, double operations, double copies)
{
    const unrolling got = unroll_of(s);
    const bool same = operations < INFINITY ? fabs(got.operations - operations) < 1e-9 : isinf(got.operations);
    if (!CHECK(same && fabs(got.copies - copies) < 1e-9))
        printf("  %s: %g operations, %g copies; not %g, %g\n", what, got.operations, got.copies, operations, copies);
}

static void test_trips(arena *mem)
{
    static const struct {
        const char *what;
        int64_t trips;
        int works; /* of two operations each */
        opening how;
        double copies;
    } rows[] = {{"all of a few", 16, 1, AS_IT_IS, 16},
                {"just all", 150, 1, AS_IT_IS, 150},
                {"one more: what divides them", 152, 1, AS_IT_IS, 19},
                {"some of many", 256, 10, AS_IT_IS, 2},
                {"trips that are long", 256, 40, AS_IT_IS, 1},
                {"as the text says", 256, 40, WRITTEN_OUT, 256}};
    for (int i = 0; i < COUNT(rows); i++) {
        code c = code_begin(mem);
        const stmt *s = opens(&c, "i", rows[i].trips, rows[i].how);
        for (int k = 0; k < rows[i].works; k++)
            works(&c, "i");
        check(rows[i].what, s, 2 * rows[i].works, rows[i].copies);
    }
}

/* What the loop within makes is written out with it, unless it goes round; what does not move there is read once. */
static void test_nested(arena *mem)
{
    code c = code_begin(mem);
    const stmt *s = opens(&c, "i", 8, AS_IT_IS);
    opens(&c, "j", 4, WRITTEN_OUT), works(&c, "i");
    check("read once", s, 4 + 1, 8);
    c = code_begin(mem), s = opens(&c, "i", 8, AS_IT_IS);
    opens(&c, "j", 4, AS_IT_IS), works(&c, "j");
    check("all trips of both", s, 8, 8);
    c = code_begin(mem), s = opens(&c, "i", 8, AS_IT_IS);
    opens(&c, "j", 1000, AS_IT_IS), works(&c, "j");
    check("one goes round within", s, INFINITY, 1);
}

int main(void)
{
    arena mem = {0};
    test_trips(&mem);
    test_nested(&mem);
    arena_free(&mem);
    return check_done();
}
