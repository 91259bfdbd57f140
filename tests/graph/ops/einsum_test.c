/* Blanks in an equation mean nothing, as with numpy; what is no equation is refused by name. */
#include "tests/check.h"
#include "tessera.h"

#include <stdio.h>

static void fill(ts_array *a, int rank, const int64_t *dim)
{
    ts_error e = {0};
    CHECK(ts_array_make(a, TS_F64, rank, dim, &e));
    for (int64_t i = 0; i < ts_array_count(a); i++)
        ((double *)a->data)[i] = (double)(i * 7 % 5) - 2;
}

/* Both equations of a and b give the same. */
static void test_same(const char *spaced, const char *tight)
{
    ts_graph *g = ts_graph_make();
    ts_array a = {0}, b = {0}, y[2] = {{0}};
    ts_error e = {0};
    fill(&a, 2, (int64_t[]){3, 4}), fill(&b, 3, (int64_t[]){2, 4, 5});
    const ts_tensor in[] = {ts_input(g, "a", TS_F64, 2, a.dim), ts_input(g, "b", TS_F64, 3, b.dim)};
    char call[2][128];
    snprintf(call[0], sizeof call[0], "einsum equation=\"%s\"", spaced);
    snprintf(call[1], sizeof call[1], "einsum equation=%s", tight);
    const ts_tensor t[] = {ts_call(g, call[0], 2, in), ts_call(g, call[1], 2, in)};
    const ts_given given[] = {{"a", a}, {"b", b}};
    if (CHECK(ts_graph_ok(g, &e) && ts_eval(2, t, 2, given, &(ts_options){.target = "interp"}, y, &e))) {
        bool same = ts_array_count(&y[0]) == ts_array_count(&y[1]) && ts_array_count(&y[1]) > 0;
        for (int64_t i = 0; same && i < ts_array_count(&y[1]); i++)
            same = ts_array_at(&y[0], i) == ts_array_at(&y[1], i);
        if (!CHECK(same))
            printf("  %s is not %s\n", spaced, tight);
    } else {
        printf("  %s: %s\n", spaced, e.text);
    }
    ts_array_free(&a), ts_array_free(&b), ts_array_free(&y[0]), ts_array_free(&y[1]);
    ts_graph_free(g);
}

/* A number is a place: "row.2, 1.2.out -> row.out" is the product of a column and a row. */
static void test_fixed(void)
{
    ts_graph *g = ts_graph_make();
    ts_array a = {0}, b = {0}, y = {0};
    ts_error e = {0};
    fill(&a, 2, (int64_t[]){3, 4}), fill(&b, 3, (int64_t[]){2, 4, 5});
    const ts_tensor in[] = {ts_input(g, "a", TS_F64, 2, a.dim), ts_input(g, "b", TS_F64, 3, b.dim)};
    const ts_tensor t = ts_call(g, "einsum equation=\"row.2, 1.3.out -> row.out\"", 2, in);
    const ts_given given[] = {{"a", a}, {"b", b}};
    if (CHECK(ts_graph_ok(g, &e) && ts_eval(1, &t, 2, given, &(ts_options){.target = "interp"}, &y, &e)))
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 5; k++)
                CHECK(ts_array_at(&y, i * 5 + k) == ts_array_at(&a, i * 4 + 2) * ts_array_at(&b, (4 + 3) * 5 + k));
    else
        printf("  %s\n", e.text);
    ts_array_free(&a), ts_array_free(&b), ts_array_free(&y);
    ts_graph_free(g);
}

static void test_refused(const char *equation, const char *want)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    char call[128];
    const ts_tensor in[] = {ts_input(g, "a", TS_F64, 2, (int64_t[]){3, 4}),
                            ts_input(g, "b", TS_F64, 2, (int64_t[]){4, 5})};
    snprintf(call, sizeof call, "einsum equation=\"%s\"", equation);
    CHECK(!ts_call(g, call, 2, in) && !ts_graph_ok(g, &e));
    CHECK_TEXT(e.text, want);
    ts_graph_free(g);
}

int main(void)
{
    test_same("i j, g j k -> g i k", "ij,gjk->gik");
    test_same(" ij ,gjk", "ij,gjk");
    test_same("...j , b j k -> ... k b", "...j,bjk->...kb");
    test_same("rows.in, batch.in.out -> batch.rows.out", "ij,gjk->gik");
    test_same("n.i,b.i.k->k.n", "ij,gjk->ki");
    test_fixed();
    test_refused("row.in, in.out", "einsum: equation: -> expected behind the last operand's axes");
    test_refused("row.in, in.out -> row.other",
                 "einsum: einsum: equation: \"ab,bc->ad\" does not fit 2 operands of these "
                 "ranks");
    test_refused("row.in -> row", "einsum: equation: a term for each of 2 operands expected");
    test_refused("row.in.x, in.out -> row", "einsum: equation: it names 3 axes of operand 0, which has 2");
    test_refused("row.4, in.out -> row", "einsum: equation: place 4 along axis 1 of operand 0, which has 4");
    test_refused("row.in, in.out -> 1.row", "einsum: equation: a result has no axis 1");
    test_refused("row..in, in.out -> row", "einsum: equation: a name of an axis expected at \".in, in.out -> row\"");
    test_refused("ij jk", "einsum: equation: \"ij jk\" does not fit 2 operands of these ranks");
    test_refused("ij, jk - > ik", "einsum: equation: \"ij, jk - > ik\" does not fit 2 operands of these ranks");
    test_refused(". . . j, jk", "einsum: equation: \". . . j, jk\" does not fit 2 operands of these ranks");
    test_refused("", "einsum: equation: \"\" does not fit 2 operands of these ranks");
    return check_done();
}
