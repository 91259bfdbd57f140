/* Blanks in an equation mean nothing, as with numpy; what is no equation is refused by name. */
/* ctest: fast */
#include "tests/check.h"
#include "tessera.h"

#include <math.h>
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

static double apart(int i, int j, int k) /* sum over l of A[j, l] B[i, l, k] */
{
    double sum = 0;
    for (int l = 0; l < 4; l++)
        sum += A[j][l] * B[i][l][k];
    return sum;
}

static double padded(int i, int j, int k) /* sum over l of C[2 i + l - 1] A[l, j], where there is such a c */
{
    double sum = 0;
    for (int l = 0; l < 3; l++)
        if (2 * i + l - 1 >= 0 && 2 * i + l - 1 < 7)
            sum += C[2 * i + l - 1] * A[l][j];
    return (void)k, sum;
}

static double padded_most(int i, int j, int k) /* the largest of them: what is outside counts for nothing */
{
    double most = -INFINITY;
    for (int l = 0; l < 3; l++)
        if (2 * i + l - 1 >= 0 && 2 * i + l - 1 < 7)
            most = fmax(most, C[2 * i + l - 1] * A[l][j]);
    return (void)k, most;
}

static double logs(int i, int j, int k) /* log of the sum over l of exp(A[i, l] B[j, l, k]) */
{
    double sum = 0;
    for (int l = 0; l < 4; l++)
        sum += exp(A[i][l] * B[j][l][k]);
    return log(sum);
}

static double log_paths(int i, int j, int k) /* sums in place of products */
{
    double sum = 0;
    for (int l = 0; l < 4; l++)
        sum += exp(A[i][l] + B[j][l][k]);
    return log(sum);
}

static double log_both(int i, int j, int k) /* over c, whose first 3 and last 4 meet a's rows and columns */
{
    double sum = 0;
    for (int l = 0; l < 7; l++)
        sum += exp(C[l] * (l < 3 ? A[l][0] : A[0][l - 3]));
    return (void)i, (void)j, (void)k, log(sum);
}

static double shortest(int i, int j, int k)
{
    double least = 1e9;
    for (int l = 0; l < 4; l++)
        least = fmin(least, A[i][l] + B[j][l][k]);
    return least;
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
                    CHECK(fabs(ts_array_at(&y, at++) - want(i, j, k)) <= 1e-14 * fabs(want(i, j, k)));
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
    test_full("einsum equation=o+k*2,k...->o...", "ca", 2, (int64_t[]){3, 4}, window);
    test_full("einsum equation=\"out + tap*2, tap.j -> out.j\"", "ca", 2, (int64_t[]){3, 4}, window);
    test_full("einsum equation=\"row.of, ...of.to -> ...row.to\"", "ab", 3, (int64_t[]){2, 3, 5}, apart);
    test_full("einsum equation=\"row.of, many....of.to -> many.row.to\"", "ab", 3, (int64_t[]){2, 3, 5}, apart);
    test_full("einsum equation=\"row..v.., ... ..v..to -> ...row.to\"", "ab", 3, (int64_t[]){2, 3, 5}, apart);
    test_full("einsum equation=\"..r..l, ..s..lk -> ..s.. ..r..k\"", "ab", 3, (int64_t[]){2, 3, 5}, apart);
    test_full("einsum equation=o*2+k=,kj->oj", "ca", 2, (int64_t[]){4, 4}, padded);
    test_full("einsum equation=\"2*out + tap=, tap.j -> out.j\"", "ca", 2, (int64_t[]){4, 4}, padded);
    test_full("einsum equation=o*2+k=,kj->oj fold=max", "ca", 2, (int64_t[]){4, 4}, padded_most);
    test_full("einsum equation=il,jlk->ijk fold=logsumexp", "ab", 3, (int64_t[]){3, 2, 5}, logs);
    test_full("einsum equation=il,jlk->ijk fold=logsumexp times=add", "ab", 3, (int64_t[]){3, 2, 5}, log_paths);
    test_full("einsum equation=a^b,a0,0b-> fold=logsumexp", "caa", 0, NULL, log_both);
    test_full("einsum equation=il,jlk->ijk fold=min times=add", "ab", 3, (int64_t[]){3, 2, 5}, shortest);
}

/* Windows of 2 x 2 of the numbers 0 to 15, two apart, in max-plus. */
static void test_max_plus(void)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    double x[16], w[] = {0, 1, 2, 3}, want[] = {8, 10, 16, 18};
    const ts_given given[] = {{"x", {TS_F64, 2, {4, 4}, x}}, {"w", {TS_F64, 2, {2, 2}, w}}};
    ts_array y = {0};
    for (int i = 0; i < 16; i++)
        x[i] = i;
    const ts_tensor in[] = {ts_input(g, "x", TS_F64, 2, given[0].value.dim),
                            ts_input(g, "w", TS_F64, 2, given[1].value.dim)};
    const ts_tensor t = ts_call(g, "einsum equation=\"h*2+i w*2+j, i j -> h w\" fold=max times=add", 2, in);
    if (CHECK(ts_graph_ok(g, &e) && ts_eval(1, &t, 2, given, &(ts_options){.target = "interp"}, &y, &e)))
        for (int i = 0; i < 4; i++)
            CHECK(ts_array_at(&y, i) == want[i]);
    ts_array_free(&y);
    ts_graph_free(g);
}

/* The derivative of the sum of squares of the result by each operand, held against differences. */
static void test_slopes(const char *call)
{
    ts_graph *g = ts_graph_make();
    ts_error e = {0};
    double c[] = {0.5, -1, 2, 0.25, -0.75, 1.5, 1}, a[] = {1, -0.5, 0.25, 2, 0.75, -1, 0.5, 1.25, -2, 1, 0.3, 0.7};
    const ts_given given[] = {{"c", {TS_F64, 1, {7}, c}}, {"a", {TS_F64, 2, {3, 4}, a}}};
    const ts_tensor in[] = {ts_input(g, "c", TS_F64, 1, given[0].value.dim),
                            ts_input(g, "a", TS_F64, 2, given[1].value.dim)};
    ts_tensor y = ts_call(g, call, 2, in), slope[2];
    const ts_tensor loss = ts_call1(g, "sum", ts_call2(g, "multiply", y, y));
    const ts_options o = {.target = "interp"};
    ts_array got[2] = {{0}};
    if (CHECK(ts_chain_rule(g, 1, &loss, NULL, 2, in, slope) && ts_eval(2, slope, 2, given, &o, got, &e)))
        for (int k = 0; k < 2; k++)
            for (int64_t i = 0; i < ts_array_count(&got[k]); i++) {
                double *x = (double *)given[k].value.data + i, was = *x, side[2] = {0};
                for (int s = 0; s < 2; s++) {
                    ts_array v = {0};
                    *x = was + (s ? 1e-6 : -1e-6);
                    if (CHECK(ts_eval(1, &loss, 2, given, &o, &v, &e)))
                        side[s] = ts_array_at(&v, 0);
                    ts_array_free(&v);
                }
                *x = was;
                const double want = (side[1] - side[0]) / 2e-6;
                if (!CHECK(fabs(ts_array_at(&got[k], i) - want) <= 1e-6 * (1 + fabs(want))))
                    printf("  %s: %d, %lld: %g, wanted %g\n", call, k, (long long)i, ts_array_at(&got[k], i), want);
            }
    ts_array_free(&got[0]), ts_array_free(&got[1]);
    ts_graph_free(g);
}

/* A parameter of which one axis is not given: the equation says it (y = w x, a batch of 7, from 5 to 3). */
static void test_inferred(void)
{
    ts_graph *g = ts_graph_make();
    const ts_tensor x = ts_input(g, "x", TS_F64, 2, (int64_t[]){7, 5}),
                    w = ts_weight(g, "w", TS_F64, 2, (int64_t[]){3, -1}, 0, 1, 1),
                    y = ts_call2(g, "einsum equation=\"out.in, ...in -> ...out\"", w, x);
    CHECK(y && ts_shape(w)[0] == 3 && ts_shape(w)[1] == 5 && ts_shape(y)[0] == 7 && ts_shape(y)[1] == 3);
    for (int rank = 2; rank <= 5; rank++) { /* the middle of any number of axes */
        const int64_t dim[] = {2, 3, 4, 5, 6};
        char name[16];
        snprintf(name, sizeof name, "r%d", rank);
        const ts_tensor r = ts_input(g, name, TS_F64, rank, dim),
                        t = ts_call1(g, "einsum equation=a..v..b->b..v..a", r);
        CHECK(t && ts_shape(t)[0] == dim[rank - 1] && ts_shape(t)[rank - 1] == 2 && (rank < 3 || ts_shape(t)[1] == 3));
    }
    ts_graph_free(g);
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
    test_max_plus();
    test_slopes("einsum equation=o*2+k=,kj->oj");
    test_slopes("einsum equation=o*2+k=,kj->oj fold=logsumexp");
    test_slopes("einsum equation=o+k,kj->oj fold=max times=add");
    test_inferred();
    test_refused("i*0+j,kl->ij", "einsum: equation \"i*0+j,kl->ij\": a factor of 1 or more expected before +j,kl->ij");
    test_refused("i3=,kl->ij",
                 "einsum: equation \"i3=,kl->ij\": padding is of sums of axes, without numbers, at =,kl->ij");
    test_refused("..r.. ..s..,..s..->",
                 "einsum: equation \"..r.. ..s..,..s..->\": nothing says how many axes ..s.. stands for");
    test_refused("..r..,..r..->..t..",
                 "einsum: equation \"..r..,..r..->..t..\": nothing says how many axes ..t.. stands for");
    test_refused("ij,jk->ik\" times=\"max", "einsum: times: \"max\", expected mul or add");
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
