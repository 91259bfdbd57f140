/* walk.c - an evaluator beside Tessera: walks a graph by tessera.h, node after node, and computes what it knows.
 *   cc walk.c $(pkg-config --cflags --libs tessera) -lm && ./a.out */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tessera.h>

enum { MOST = 64 };

/* y of one element of each operand; of a fold, of what there is so far and one more. false: not known here */
static bool element(const char *op, double a, double b, double *y)
{
    const struct known {
        const char *name;
        double value;
    } known[] = {{"add", a + b},       {"subtract", a - b}, {"multiply", a * b}, {"divide", a / b},
                 {"relu", fmax(a, 0)}, {"exp", exp(a)},     {"sum", a + b},      {"max", fmax(a, b)}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (!strcmp(op, known[k].name))
            return *y = known[k].value, true;
    return false;
}

/* The element of a that lies under element i of y, aligned at the last axis as numpy has it */
static int64_t under(const ts_array *a, const ts_array *y, int64_t i)
{
    int64_t at = 0, step = 1;
    for (int k = 1; k <= a->rank; i /= y->dim[y->rank - k], k++)
        at += a->dim[a->rank - k] == 1 ? 0 : i % y->dim[y->rank - k] * step, step *= a->dim[a->rank - k];
    return at;
}

/* y[i,j] = sum over k of a[i,k] b[k,j] */
static void product(const ts_array *a, const ts_array *b, ts_array *y)
{
    for (int64_t i = 0; i < ts_array_count(y); i++) {
        double sum = 0;
        const int64_t row = i / y->dim[1], column = i % y->dim[1];
        for (int64_t k = 0; k < a->dim[1]; k++)
            sum += ts_array_at(a, row * a->dim[1] + k) * ts_array_at(b, k * b->dim[1] + column);
        ts_array_set(y, i, sum);
    }
}

/* y from the values of t's operands; false: an operation that is not known here */
static bool compute(ts_tensor t, const ts_array *a, const ts_array *b, ts_array *y)
{
    const char *op = ts_op_name(t);
    ts_attribute keepdims; /* a folded axis is there with extent 1 */
    const bool fold = ts_attribute_at(t, 1, &keepdims) && !strcmp(keepdims.name, "keepdims") && keepdims.i;
    bool known = true;
    if (!strcmp(op, "matmul") && y->rank == 2)
        return product(a, b, y), true;
    for (int64_t i = 0; fold && i < ts_array_count(y); i++)
        ts_array_set(y, i, strcmp(op, "max") ? 0 : -INFINITY);
    for (int64_t i = 0; known && i < ts_array_count(fold ? a : y); i++) {
        const int64_t to = fold ? under(y, a, i) : i;
        const double x = fold ? ts_array_at(y, to) : ts_array_at(a, under(a, y, i));
        double r = fold ? ts_array_at(a, i) : b ? ts_array_at(b, under(b, y, i)) : 0;
        known = element(op, x, r, &r);
        ts_array_set(y, to, r);
    }
    return known;
}

int main(void)
{
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    float values[] = {1, -2, 3, 4, 0, 1};
    const ts_given x = {"x", {TS_F32, 2, {2, 3}, values}};
    ts_tensor in = ts_input(g, "x", TS_F32, 2, x.value.dim),
              w = ts_weight(g, "w", TS_F32, 2, (int64_t[]){3, 4}, 0, 1, 1),
              h = ts_call1(g, "relu", ts_call2(g, "matmul", in, w)), y = ts_call1(g, "softmax axis=-1", h), all[MOST];
    ts_array value[MOST] = {{0}}, want = {0};
    bool ok = ts_graph_ok(g, &e) && ts_nodes(1, &y, NULL) <= MOST;
    const int n = ok ? ts_nodes(1, &y, all) : 0;
    for (int i = 0; ok && i < n; i++) { /* operands come before those who read them */
        const ts_array *of[2] = {NULL, NULL};
        for (int j = 0; j < i; j++)
            for (int k = 0; k < 2; k++)
                of[k] = ts_operand(all[i], k) == all[j] ? &value[j] : of[k];
        ok = all[i] != in && !of[0] ? ts_leaf_value(all[i], &value[i], &e)
                                    : ts_array_make(&value[i], ts_type(all[i]), ts_rank(all[i]), ts_shape(all[i]), &e);
        if (ok && all[i] == in)
            memcpy(value[i].data, values, sizeof values);
        ok = ok && (!of[0] || compute(all[i], of[0], of[1], &value[i]));
        printf("%s, read by %d%s\n", ts_op_name(all[i]), ts_consumers(1, &y, all[i], NULL), ok ? "" : ": not known");
    }
    double far = 0;
    ok = ok && ts_eval(1, &y, 1, &x, NULL, &want, &e);
    for (int64_t i = 0; ok && i < ts_array_count(&want); i++)
        far = fmax(far, fabs(ts_array_at(&want, i) - ts_array_at(&value[n - 1], i)));
    printf(ok && far < 1e-6 ? "both give the same\n" : "%s differ by %g\n", e.text, far);
    for (int i = 0; i < n; i++)
        ts_array_free(&value[i]);
    ts_array_free(&want), ts_graph_free(g);
    return ok && far < 1e-6 ? 0 : 1;
}
