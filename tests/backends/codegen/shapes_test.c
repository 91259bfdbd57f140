/* shapes_test.c - how parts of a value are computed in a loop over vectors: what all elements have in common, what lies
 * side by side, choices of each kind; and which parts are used more than once. */
/* ctest: fast */
#include "backends/codegen/vectors.h"
#include "tests/backends/codegen/rig.h"
#include "tests/backends/codegen/tree.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static const char *const called[] = {
    [ONE] = "one",       [SPREAD] = "spread",       [HELD] = "held",   [NEIGHBOURS] = "near",
    [PLACES] = "places", [CONVERTED] = "converted", [OPERATION] = "",  [FUNCTION] = "library ",
    [BLEND] = "blend",   [BRANCH] = "branch",       [APART] = "apart", [BRANCH_BY_ENDS] = "branch by ends"};

/* mul(spread, near*2): of vectors, the second of which is used twice */
static void print(emitter *m, const writer *w, const expr *x, text *out)
{
    const value_part *q = cstyle_part(w, x);
    const shape how = q ? (shape)q->how : shape_of(m, x);
    const bool named = x->kind == X_CALL && (how == OPERATION || how == FUNCTION || how == ONE);
    text_add(out, "%s%s", how == ONE && named ? "" : called[how], named ? x->fn->name : "");
    for (int i = 0; q && x->kind != X_LOAD && how != APART && how != HELD && i < x->n; i++)
        text_add(out, i ? ", " : "("), print(m, w, x->arg[i], out), text_add(out, i < x->n - 1 ? "" : ")");
    if (q && q->uses > 1)
        text_add(out, "*%d", q->uses);
}

static void is(emitter *m, const expr *x, const char *want)
{
    writer w = emit_writer(m);
    text out = {0};
    print(m, &w, shapes_value(m, &w, x), &out);
    CHECK_TEXT(text_str(&out), want);
    text_free(&out);
}

static bool noticed[N_VALUE_PASS]; /* some value is another one without it */

/* What passes make of what is summed up, all but the one given */
static char *made(emitter *m, const expr *x, int without)
{
    writer w = emit_writer(m);
    text out = {0};
    w.sums = true;
    x = value_through(m, &w, value_through(m, &w, x, 0, without), without + 1, N_VALUE_PASS);
    print(m, &w, x, &out);
    return text_take(&out);
}

static void becomes(emitter *m, const expr *x, const char *want)
{
    ENDED_BY(heap_free) char *all = made(m, x, N_VALUE_PASS);
    CHECK_TEXT(all, want);
    for (int i = 0; i < N_VALUE_PASS; i++) {
        ENDED_BY(heap_free) char *less = made(m, x, i);
        noticed[i] = noticed[i] || strcmp(less, all) != 0;
    }
}

/* a[m, k] is the same along n, b[k, n] lies along it. */
static void test_vectors(emitter *m, arena *mem)
{
    const expr *a = m->s->load[0], *b = m->s->load[1], *zero = x_real(mem, 0), *n = x_axis(mem, 1);
    m->tile.vectors = (vector_loop){.n = 8, .axis = 1, .count = 8};
    is(m, x2(mem, "mul", a, b), "mul(spread, near)");
    is(m, x2(mem, "mul", a, a), "spread");
    is(m, x2(mem, "mul", b, b), "mul(near*2, near*2)");
    is(m, x2(mem, "add", x_cast(mem, TS_F32, n), x_state(mem, TS_F32, 0)), "add(converted(places), held)");
    is(m, x1(mem, "sin", b), "library sin(near)");
    is(m, x2(mem, "pow", b, a), "apart");
    is(m, x2(mem, "max", x2(mem, "pow", b, a), b), "max(apart, near)");
    is(m, x3(mem, "select", x2(mem, "lt", b, zero), a, b), "blend(lt(near*2, spread), spread, near*2)");
    is(m, x3(mem, "select", x2(mem, "lt", x_axis(mem, 0), x_whole(mem, 5)), b, zero), "branch(spread, near, spread)");
    is(m, x3(mem, "select", x2(mem, "lt", n, x_whole(mem, 20)), b, zero), "branch by ends(lt, near, spread)");
    m->tile.vectors.count = 4; /* of b four elements lie side by side, too */
    is(m, b, "near");
    m->tile.vectors.axis = 2, m->tile.vectors.count = 8; /* along k a's do, and b's do not */
    is(m, x2(mem, "mul", a, b), "mul(near, apart)");
}

/* One by one: a name is worth it for what is always computed. */
static void test_elements(emitter *m, arena *mem)
{
    const expr *a = m->s->load[0], *b = m->s->load[1], *sum = x2(mem, "add", a, b), *root = x1(mem, "sqrt", sum);
    m->tile.vectors.n = 0;
    is(m, x2(mem, "mul", root, root), "mul(sqrt(add(one, one))*2, sqrt(add(one, one))*2)");
    is(m, x3(mem, "select", x2(mem, "lt", a, b), root, root),
       "select(lt(one, one), sqrt(add(one, one)), sqrt(add(one, one)))");
}

static void test_passes(emitter *m, arena *mem)
{
    const expr *a = m->s->load[0], *b = m->s->load[1], *one = x_cast(mem, TS_F32, x_real(mem, 1)),
               *counted[] = {x2(mem, "sub", x_size(mem, 0), x_axis(mem, 0)), a->arg[1]}; /* from the end on */
    m->tile.vectors.n = 0;
    becomes(m, x2(mem, "mul", b, b), "mul(one*2, one*2)");
    becomes(m, x2(mem, "add", x2(mem, "mul", a, b), x2(mem, "mul", b, b)), "fma(one*3, one*3, mul(one, one*3))");
    becomes(m, x2(mem, "add", x1(mem, "erf", a), one), "one_and_erf(one)");
    ((stage *)m->s)->varies[0] = (varying){.by = 1, .times = {1}, .per = 1};
    becomes(m, x_load(mem, a->from, counted),
            "select(and(le(one, sub(one, one)*2), lt(sub(one, one)*2, one)), one, one)");
    for (int i = 0; i < N_VALUE_PASS; i++)
        if (!CHECK(noticed[i]))
            printf("  no value is another one without %s\n", value_passes[i].name);
}

int main(void)
{
    static const function rows[] = {{"sin@", "", VECTOR, ""}, {0}};
    static const spelling none[] = {{0}};
    dialect with_vectors = made_up;
    rig r;
    with_vectors.vectors = rows, with_vectors.spelling = none;
    if (rig_begin(&r, small_product, two_cores, "matmul", "m/8 n/8 k m@unroll n@vector")) {
        rig_tile(&r);
        r.m->d = &with_vectors;
        test_vectors(r.m, r.m->mem);
        test_elements(r.m, r.m->mem);
        test_passes(r.m, r.m->mem);
    }
    rig_end(&r);
    return check_done();
}
