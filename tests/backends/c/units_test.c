/* units_test.c - small kernels share a unit of the compiler, each with functions of its own; large ones, and those that
 * have other names in front, are in one each; a kernel's bits are those that it gives alone.
 * ctest: O3 */
#include "backends/c/units.h"
#include "schedule/make.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

/* Of 12 x 40 and of 12 x 37 numbers: like functions in kernels that are not, chains of instructions beside sums and
 * without, functions of the library; then a routine, and a product of two square matrices. */
static const char *const small[] = {"add", "exp", "tanh", "gelu", "softmax axis=1", "maximum", "logsumexp axes=[1]"};
enum { SMALL = COUNT(small), SORT = 2 * SMALL, PRODUCT, ROOTS };

static const node *call(graph *g, const char *name, const node *x)
{
    const bool two = !strcmp(name, "add") || !strcmp(name, "maximum");
    return two ? ts_call2(g, name, x, ts_call1(g, "negative", x)) : ts_call1(g, name, x);
}

static void make_roots(graph *g, const node *root[ROOTS])
{
    const node *x[] = {ts_input(g, "x", TS_F32, 2, (int64_t[]){12, 40}),
                       ts_input(g, "z", TS_F32, 2, (int64_t[]){12, 37}),
                       ts_input(g, "w", TS_F32, 2, (int64_t[]){256, 256})};
    for (int i = 0; i < SMALL; i++)
        root[i] = call(g, small[i], x[0]), root[SMALL + i] = call(g, small[i], x[1]);
    root[SORT] = ts_call1(g, "argsort axis=1", x[0]);
    root[PRODUCT] = ts_call2(g, "matmul", x[2], x[2]);
}

static int times(const char *in, const char *word)
{
    int n = 0;
    for (; (in = strstr(in, word)); in++)
        n++;
    return n;
}

static const cc_unit *unit_of(const c_units *u, const char *name)
{
    char head[48];
    const cc_unit *found = NULL;
    snprintf(head, sizeof head, "\nvoid %s(", name);
    for (int i = 0; i < u->n; i++)
        if (strstr(u->unit[i].text, head) && CHECK(!found))
            found = &u->unit[i];
    CHECK(found != NULL);
    return found;
}

static void check_kernel(const c_units *u, const kernel_text *k)
{
    const cc_unit *own = unit_of(u, k->name);
    if (!own)
        return;
    if (strstr(k->text, "ROUTINE") || strlen(k->text) > 8000)
        CHECK(!own->shared);
    CHECK(!strcmp(k->op, "matmul") ? own->level && !strcmp(own->level, "-O1") : !own->level);
    if (!own->shared)
        CHECK_TEXT(own->text, k->text);
}

static void test_units(const target *on)
{
    const node *root[ROOTS];
    graph *g = ts_graph_make();
    err e = {0};
    c_program c;
    c_units u;
    int shared = 0, kernels = 0;
    make_roots(g, root);
    plan *p = plan_make(g, ROOTS, root, &(plan_options){.on = on, .target = "c"}, &e);
    if (!CHECK(p && c_program_write(p, &c, &e))) {
        printf("  %s\n", e.text);
        return;
    }
    c_units_write(&c, &u);
    for (int i = 0; i < c.n_text; i++)
        check_kernel(&u, &c.text[i]);
    for (int i = 0; i < u.n; i++) {
        const int n = times(u.unit[i].text, "\nvoid k_");
        CHECK(u.unit[i].shared == (n > 1) && n <= 8);
        shared += u.unit[i].shared, kernels += n;
    }
    if (!CHECK(kernels == c.n_text && shared >= 2 && u.n <= c.n_text - 5))
        printf("  %d kernels, %d in %d units, %d of them shared\n", c.n_text, kernels, u.n, shared);
    c_units_free(&u), c_program_free(&c), plan_free(p), ts_graph_free(g);
}

/* The roots from first to before end, of inputs so far as they need them. */
static bool evaluate(const node *const *root, int first, int end, ts_array *out)
{
    static const char *const name[] = {"x", "z", "w"};
    static const int64_t rows[] = {12, 12, 256}, columns[] = {40, 37, 256};
    const bool needed[] = {first < SMALL || (first <= SORT && end > SORT), first < SORT && end > SMALL, end > PRODUCT};
    ts_given in[COUNT(name)] = {0};
    int n = 0;
    err e = {0};
    bool ok = true;
    for (int i = 0; ok && i < COUNT(name); i++) {
        if (!needed[i])
            continue;
        in[n].name = name[i];
        ok = ts_array_make(&in[n].value, TS_F32, 2, (int64_t[]){rows[i], columns[i]}, &e);
        for (int64_t k = 0; ok && k < rows[i] * columns[i]; k++)
            ((float *)in[n].value.data)[k] = (float)(k * 37 % 101) / 16 - 3;
        n++;
    }
    ok = ok && ts_eval(end - first, root + first, n, in, &(ts_options){.target = "c"}, out, &e);
    if (!CHECK(ok))
        printf("  %s\n", e.text);
    for (int i = 0; i < n; i++)
        ts_array_free(&in[i].value);
    return ok;
}

static void test_bits(void)
{
    const node *root[ROOTS];
    graph *g = ts_graph_make();
    ts_array all[ROOTS] = {0}, alone = {0};
    make_roots(g, root);
    bool ok = evaluate(root, 0, ROOTS, all);
    for (int i = 0; ok && i < ROOTS; i++) {
        ok = evaluate(root, i, i + 1, &alone);
        const size_t bytes = (size_t)ts_array_count(&alone) * (alone.dtype == TS_I64 ? sizeof(int64_t) : sizeof(float));
        if (ok && !CHECK(!memcmp(all[i].data, alone.data, bytes)))
            printf("  result %d\n", i);
        ts_array_free(&alone);
    }
    for (int i = 0; i < ROOTS; i++)
        ts_array_free(&all[i]);
    ts_graph_free(g);
}

int main(void)
{
    arena mem = {0};
    err e = {0};
    const target *on = cpu_target(&mem, &(machine_options){.threads = 2}, &e);
    if (CHECK(on != NULL))
        test_units(on);
    test_bits();
    arena_free(&mem);
    return check_done();
}
