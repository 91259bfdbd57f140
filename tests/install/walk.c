/* walk.c - an evaluator beside Tessera: walks a graph by tessera.h, node after node, and computes what it knows.
 *   cc walk.c $(pkg-config --cflags --libs tessera) -lm && ./a.out */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera.h>

enum { MOST = 64 };

static double add(double a, double b)
{
    return a + b;
}
static double subtract(double a, double b)
{
    return a - b;
}
static double multiply(double a, double b)
{
    return a * b;
}
static double divide(double a, double b)
{
    return a / b;
}
static double relu(double a, double b)
{
    return (void)b, a > 0 ? a : 0;
}
static double exponential(double a, double b)
{
    return (void)b, exp(a);
}
static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* An operation by its name: element by element, or a fold over `axes` that starts with `unit`. */
static const struct known {
    const char *name;
    double (*f)(double a, double b);
    double unit;
} fold[] = {{"sum", add, 0}, {"max", larger, -INFINITY}, {0}}, element[] = {{"add", add, 0},
                                                                            {"subtract", subtract, 0},
                                                                            {"multiply", multiply, 0},
                                                                            {"divide", divide, 0},
                                                                            {"relu", relu, 0},
                                                                            {"exp", exponential, 0},
                                                                            {0}};

static const struct known *find(const struct known *table, const char *name)
{
    while (table->name && strcmp(table->name, name))
        table++;
    return table->name ? table : NULL;
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
    const struct known *f = find(fold, ts_op_name(t)), *e = find(element, ts_op_name(t));
    ts_attribute axes;
    if (!strcmp(ts_op_name(t), "matmul") && y->rank == 2)
        return product(a, b, y), true;
    for (int64_t i = 0; e && i < ts_array_count(y); i++)
        ts_array_set(y, i, e->f(ts_array_at(a, under(a, y, i)), b ? ts_array_at(b, under(b, y, i)) : 0));
    if (e || !f || !ts_attribute_at(t, 0, &axes) || axes.n != 1 || y->rank != a->rank)
        return e != NULL;
    for (int64_t i = 0; i < ts_array_count(y); i++)
        ts_array_set(y, i, f->unit);
    for (int64_t i = 0; i < ts_array_count(a); i++) /* keepdims: the folded axis is there with extent 1 */
        ts_array_set(y, under(y, a, i), f->f(ts_array_at(y, under(y, a, i)), ts_array_at(a, i)));
    return true;
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
    for (int i = 0, at[2]; ok && i < n; i++) { /* operands come before those who read them */
        at[0] = at[1] = -1;
        for (int k = 0; k < 2; k++)
            for (int j = 0; j < i; j++)
                at[k] = ts_operand(all[i], k) == all[j] ? j : at[k];
        ok = ts_array_make(&value[i], ts_type(all[i]), ts_rank(all[i]), ts_shape(all[i]), &e);
        if (all[i] == in)
            memcpy(value[i].data, values, sizeof values);
        else if (at[0] < 0)
            ts_array_free(&value[i]), ok = ts_leaf_value(all[i], &value[i], &e);
        else
            ok = ok && compute(all[i], &value[at[0]], at[1] < 0 ? NULL : &value[at[1]], &value[i]);
        printf("%s, read by %d%s\n", ts_op_name(all[i]), ts_consumers(1, &y, all[i], NULL),
               ok ? "" : ": not known here");
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
