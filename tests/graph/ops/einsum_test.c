/* Blanks in an equation mean nothing, as with numpy; what is no equation is refused by name. */
/* ctest: fast */
#include "tests/check.h"
#include "tessera.h"

#include <stdio.h>
#include <string.h>

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

/* Operands a f64[3,4], b f64[2,4,5], c f64[7]; want: the result at i, j, k as numbers of the operands say. */
static double A[3][4], B[2][4][5], C[7];
static double fixed(int i, int j, int k)
{
    return (void)k, A[i][2] * B[1][3][j];
}

static double window(int i, int j, int k) /* sum over l of C[i + 2 l] A[l, j] */
{
    double sum = 0;
    for (int l = 0; l < 3; l++)
        sum += C[i + 2 * l] * A[l][j];
    return (void)k, sum;
}

static double last(int i, int j, int k) /* C[3 + i] A[j, i] */
{
    return (void)k, C[3 + i] * A[j][i];
}

static double joined(int i, int j, int k) /* [a along b of c], of extents 4 and 3 */
{
    return (void)k, i < 4 ? A[j][i] : C[i - 4];
}

static double both(int i, int j, int k) /* c is 3 and 4 long, end to end */
{
    double sum = 0;
    for (int l = 0; l < 3; l++)
        sum += C[l] * A[l][0];
    for (int l = 0; l < 4; l++)
        sum += C[3 + l] * A[0][l];
    return (void)i, (void)j, (void)k, sum;
}

static double first(int i, int j, int k) /* the first three of c */
{
    return (void)k, C[i] * A[i][j];
}

static double largest(int i, int j, int k)
{
    double most = -1e9;
    for (int l = 0; l < 4; l++)
        most = A[i][l] * B[j][l][k] > most ? A[i][l] * B[j][l][k] : most;
    return most;
}

static double product(int i, int j, int k)
{
    double all = 1;
    for (int l = 0; l < 4; l++)
        all *= A[i][l];
    return (void)j, (void)k, all;
}

static double single(int i, int j, int k) /* sum over l of A[i, l] B[1, l, j], and a has one more axis of 1 */
{
    double sum = 0;
    for (int l = 0; l < 4; l++)
        sum += A[i][l] * B[1][l][j];
    return (void)k, sum;
}

static double diagonal(int i, int j, int k)
{
    return i == k ? A[i][j] : 0;
}

static double products(int i, int j, int k) /* of nothing beside the diagonal */
{
    return i == j ? product(i, j, k) : 1;
}

static double highest(int i, int j, int k) /* B[i] along its first axis */
{
    double most = -1e9;
    for (int l = 0; l < 4; l++)
        most = B[i][l][j] > most ? B[i][l][j] : most;
    return (void)k, most;
}

static void test_full(const char *call, const char *letters, int rank, const int64_t *dim,
                      double (*want)(int, int, int))
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    const ts_given given[] = {
        {"a", {TS_F64, 2, {3, 4}, A}}, {"b", {TS_F64, 3, {2, 4, 5}, B}}, {"c", {TS_F64, 1, {7}, C}}};
    ts_given used[4];
    ts_tensor in[4];
    ts_array y = {0};
    int n = 0, n_used = 0;
    for (; letters[n]; n++) {
        const ts_given *v = &given[letters[n] - 'a'];
        if (strchr(letters, letters[n]) == letters + n)
            used[n_used++] = *v;
        in[n] = ts_input(g, v->name, TS_F64, v->value.rank, v->value.dim);
    }
    ts_tensor t = ts_call(g, call, n, in);
    if (CHECK(ts_graph_ok(g, &e) && ts_eval(1, &t, n_used, used, &(ts_options){.target = "interp"}, &y, &e)) &&
        CHECK(y.rank == rank)) {
        int64_t at = 0, d[3] = {1, 1, 1};
        for (int i = 0; i < rank; i++)
            CHECK(y.dim[i] == dim[i]), d[i] = dim[i];
        for (int i = 0; i < d[0]; i++)
            for (int j = 0; j < d[1]; j++)
                for (int k = 0; k < d[2]; k++)
                    CHECK(ts_array_at(&y, at++) == want(i, j, k));
    } else {
        printf("  %s: %s\n", call, e.text);
    }
    ts_array_free(&y);
    ts_graph_free(g);
}

static void test_all(void)
{
    for (int i = 0; i < 12; i++)
        (&A[0][0])[i] = i * 7 % 5 - 2;
    for (int i = 0; i < 40; i++)
        (&B[0][0][0])[i] = i * 11 % 7 - 3;
    for (int i = 0; i < 7; i++)
        C[i] = i * i - 9;
    test_full("einsum equation=i2,13j->ij", "ab", 2, (int64_t[]){3, 5}, fixed);
    test_full("einsum equation=il,1lj->ij", "ab", 2, (int64_t[]){3, 5}, single);
    test_full("einsum equation=\"row.of, 1.of.to -> row.to\"", "ab", 2, (int64_t[]){3, 5}, single);
    test_full("einsum equation=o+2*k,kj->oj", "ca", 2, (int64_t[]){3, 4}, window);
    test_full("einsum equation=\"out + 2*tap, tap.j -> out.j\"", "ca", 2, (int64_t[]){3, 4}, window);
    test_full("einsum equation=\"3+i, j i -> i j\"", "ca", 2, (int64_t[]){4, 3}, last);
    test_full("einsum equation=ja,b->a^bj fold=add", "ac", 2, (int64_t[]){11, 3}, joined);
    test_full("einsum equation=a^b,a0,0b->", "caa", 0, NULL, both);
    test_full("einsum equation=a^b,aj->aj", "ca", 2, (int64_t[]){3, 4}, first);
    test_full("einsum equation=il,jlk->ijk fold=max", "ab", 3, (int64_t[]){3, 2, 5}, largest);
    test_full("einsum equation=\"row.of -> row\" fold=mul", "a", 1, (int64_t[]){3}, product);
    test_full("einsum equation=ij->iji", "a", 3, (int64_t[]){3, 4, 3}, diagonal);
    test_full("einsum equation=\"row.of -> row.of.row\"", "a", 3, (int64_t[]){3, 4, 3}, diagonal);
    test_full("einsum equation=ij->ii fold=mul", "a", 2, (int64_t[]){3, 3}, products);
    test_full("einsum equation=...lk->...k fold=max", "b", 2, (int64_t[]){2, 5}, highest);
    test_full("einsum equation=o+2*k,k...->o...", "ca", 2, (int64_t[]){3, 4}, window);
}

/* An axis of 1 is read at 0 where others are longer; a place leaves a product of matrices. */
static void test_ones(void)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    const double one[] = {2, 3, 5}, ten[] = {10, 20, 30, 40};
    const ts_tensor in[] = {ts_input(g, "one", TS_F64, 2, (int64_t[]){3, 1}),
                            ts_input(g, "ten", TS_F64, 1, (int64_t[]){4}),
                            ts_input(g, "b", TS_F64, 3, (int64_t[]){2, 4, 5})};
    const ts_tensor t = ts_call(g, "einsum equation=\"row.in, in -> row\" fold=max", 2, in);
    const ts_given given[] = {{"one", {TS_F64, 2, {3, 1}, (void *)one}}, {"ten", {TS_F64, 1, {4}, (void *)ten}}};
    ts_array y = {0};
    if (CHECK(ts_graph_ok(g, &e) && ts_eval(1, &t, 2, given, &(ts_options){.target = "interp"}, &y, &e)))
        for (int i = 0; i < 3; i++)
            CHECK(ts_array_at(&y, i) == 40 * one[i]);
    const ts_tensor product = ts_call2(g, "einsum equation=\"m.n, 1.n.k -> m.k\"", in[0], in[2]);
    CHECK(product && !strcmp(ts_op_name(product), "contract"));
    ts_array_free(&y);
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
    test_all();
    test_ones();
    test_refused("i9,jk->ik", "einsum: equation \"i9,jk->ik\": a subscript reaches place 9 of an axis of 4");
    test_refused("i+o j,kl->oi", "einsum: equation \"i+o j,kl->oi\": nothing says how long this axis is: i");
    test_refused("i^j k,kl->il", "einsum: equation \"i^j k,kl->il\": nothing says how long this axis is: i");
    test_refused("ij+k,kl->i+j", "einsum: equation \"ij+k,kl->i+j\": a result has axes, no places or sums");
    test_refused("ij,jk+->i", "einsum: equation \"ij,jk+->i\": an axis expected at ->i");
    test_refused("ij,jk+l", "einsum: equation \"ij,jk+l\": -> expected behind the last operand's axes");
    test_refused("ij,jkl+m->i", "einsum: equation \"ij,jkl+m->i\": it names 3 axes of operand 1, which has 2");
    test_refused("ij,jk->i\" fold=\"sub", "einsum: fold: \"sub\" is no function to fold with");
    test_refused("row.in, in.out", "einsum: equation \"row.in, in.out\": -> expected behind the last operand's axes");
    test_refused("row.in, in.out -> row.other",
                 "einsum: equation \"row.in, in.out -> row.other\": nothing says how long this axis is: other");
    test_refused("row.in -> row",
                 "einsum: equation \"row.in -> row\": a term for each operand expected, with commas between");
    test_refused("row.in.x, in.out -> row",
                 "einsum: equation \"row.in.x, in.out -> row\": it names 3 axes of operand 0, which has 2");
    test_refused("row.4, in.out -> row",
                 "einsum: equation \"row.4, in.out -> row\": a subscript reaches place 4 of an axis of 4");
    test_refused("row.in, in.out -> 1.row",
                 "einsum: equation \"row.in, in.out -> 1.row\": a result has axes, no places or sums");
    test_refused("row..in, in.out -> row",
                 "einsum: equation \"row..in, in.out -> row\": an axis expected at .in, in.out -> row");
    test_refused("row.in, row.out -> in.out",
                 "einsum: equation \"row.in, row.out -> in.out\": axis row has the extents 3 "
                 "and 4, equal ones or 1 expected");
    test_refused("ij jk",
                 "einsum: given f64[3,4] and f64[4,5]; operands with the axes that equation \"ij jk\" names expected");
    test_refused(
        "ij, jk - > ik",
        "einsum: given f64[3,4] and f64[4,5]; operands with the axes that equation \"ij, jk - > ik\" names expected");
    test_refused(
        ". . . j, jk",
        "einsum: given f64[3,4] and f64[4,5]; operands with the axes that equation \". . . j, jk\" names expected");
    test_refused("i+j k l...,kl->ij",
                 "einsum: equation \"i+j k l...,kl->ij\": it names 3 axes of operand 0, which has 2");
    test_refused("", "einsum: given f64[3,4] and f64[4,5]; operands with the axes that equation \"\" names expected");
    return check_done();
}
