/* A program of its own by nothing but the public header: a scalar function that it defines, over a batch, trained with
 * a parameter that stays, saved and loaded again; and a backward pass apart from the forward one, of what that kept. */
#include "tests/check.h"
#include "tests/scratch.h"
#include "tessera.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 12, IN = 5, HIDDEN = 8, PARAMETERS = 3 };

typedef struct network {
    ts_graph *g;
    ts_tensor x, want, w[PARAMETERS], hidden, loss, grad[PARAMETERS];
} network;

/* One row: relu3(x w0) w1 + w2; a batch of rows; the mean of its squared differences */
static network network_make(void)
{
    network n = {.g = ts_graph_make()};
    CHECK(ts_function(n.g, "relu3(x)", "x < 0 ? 0.0 : x < 1 ? x*x*x/3 : x - 2/3.0", NULL));
    const int64_t dim[PARAMETERS][2] = {{IN, HIDDEN}, {HIDDEN, 1}, {1, 1}}, x_dim[] = {ROWS, IN};
    static const char *const name[PARAMETERS] = {"w0", "w1", "w2"};
    for (int i = 0; i < PARAMETERS; i++)
        n.w[i] = ts_input(n.g, name[i], TS_F32, i < 2 ? 2 : 1, i < 2 ? dim[i] : &dim[2][0]);
    n.x = ts_input(n.g, "x", TS_F32, 2, x_dim), n.want = ts_input(n.g, "want", TS_F32, 2, (int64_t[]){ROWS, 1});
    const ts_tensor row = ts_input(n.g, "row", TS_F32, 1, &x_dim[1]),
                    hidden = ts_call1(n.g, "relu3", ts_call2(n.g, "matmul", row, n.w[0])),
                    y = ts_call2(n.g, "add", ts_call2(n.g, "matmul", hidden, n.w[1]), n.w[2]);
    ts_tensor all[2] = {NULL};
    CHECK(ts_batch(n.g, 2, (ts_tensor[]){y, hidden}, 1, &row, &n.x, all));
    n.hidden = all[1],
    n.loss = ts_call1(n.g, "mean", ts_call1(n.g, "square", ts_call2(n.g, "subtract", all[0], n.want)));
    CHECK(ts_chain_rule(n.g, 1, &n.loss, NULL, PARAMETERS, n.w, n.grad));
    return n;
}

static void fill(ts_plan *p, ts_tensor input, uint64_t seed)
{
    ts_error e = {0};
    ts_array a = {0};
    CHECK(ts_array_make(&a, ts_type(input), ts_rank(input), ts_shape(input), &e));
    ts_array_random(&a, seed, 0);
    CHECK(ts_plan_set(p, ts_plan_find(p, ts_name(input)), &a, &e));
    ts_array_free(&a);
}

static void zero(ts_plan *p, ts_tensor input)
{
    ts_error e = {0};
    ts_array a = {0};
    CHECK(ts_array_make(&a, ts_type(input), ts_rank(input), ts_shape(input), &e));
    CHECK(ts_plan_set(p, ts_plan_find(p, ts_name(input)), &a, &e));
    ts_array_free(&a);
}

static ts_plan *trainer(network *n, ts_updates *u)
{
    ts_error e = {0};
    const ts_tensor rate = ts_scalar(n->g, TS_F64, 0.05), step = ts_input(n->g, "step", TS_F64, 0, NULL);
    const ts_rule frozen = {.names = "w1", .frozen = true};
    const ts_optimizer how = {.recipe = "adamw decay=0", .rate = rate, .step = step, .n_rule = 1, .rule = &frozen};
    CHECK(ts_optimize(n->g, &how, PARAMETERS, n->w, n->grad, u));
    ts_state state[16];
    int count = 0;
    for (int i = 0; i < u->n && count < 16; i++)
        if (u->update[i].from != u->update[i].to)
            state[count++] = (ts_state){u->update[i].from, u->update[i].to};
    ts_plan *p = ts_plan_of(n->g, 1, &n->loss, count, state, &(ts_options){.target = "c", .threads = 1}, &e);
    if (!CHECK(p && ts_plan_build(p, &e)))
        printf("  %s\n", e.text);
    return p;
}

static double run(ts_plan *p, int steps, double first)
{
    ts_error e = {0};
    double loss = 0;
    for (int i = 0; i < steps; i++) {
        ts_array y = {0};
        double at = first + i;
        const ts_array step = {TS_F64, 0, {0}, &at};
        const int k = ts_plan_find(p, "step");
        CHECK(k < 0 || i > 0 || ts_plan_set(p, k, &step, &e));
        if (!CHECK(ts_plan_run(p, &e) && ts_plan_get(p, 0, &y, &e)))
            printf("  %s\n", e.text);
        loss = y.data ? ts_array_at(&y, 0) : 0;
        ts_array_free(&y);
    }
    return loss;
}

/* All that a plan holds, by name */
static int held(ts_plan *p, const ts_updates *u, ts_given *out)
{
    ts_error e = {0};
    int n = 0;
    for (int i = 0; i < u->n; i++) {
        const int k = ts_plan_find(p, ts_name(u->update[i].from));
        out[n].name = ts_name(u->update[i].from);
        if (k >= 0 && CHECK(ts_plan_value(p, k, &out[n].value, &e)))
            n++;
    }
    return n;
}

static void test_trained(const char *path)
{
    network n = network_make();
    ts_updates u;
    ts_error e = {0};
    char sha[65];
    ts_plan *p = trainer(&n, &u);
    const ts_tensor given[] = {n.x, n.want, n.w[0], n.w[1], n.w[2]};
    for (int i = 0; i < 5; i++)
        fill(p, given[i], (uint64_t)i + 1);
    for (int i = 0; i < u.n; i++)
        if (u.update[i].start && u.update[i].start != u.update[i].from)
            zero(p, u.update[i].from);
    ts_array w1 = {0}, now = {0};
    CHECK(ts_plan_value(p, ts_plan_find(p, "w1"), &w1, &e));
    const double first = run(p, 1, 1);
    run(p, 9, 2);
    CHECK(ts_plan_value(p, ts_plan_find(p, "w1"), &now, &e) && !memcmp(now.data, w1.data, HIDDEN * sizeof(float)));
    CHECK(ts_plan_find(p, "w1.m") < 0 && ts_plan_find(p, "w0.m") >= 0); /* what is frozen has no state */
    ts_given saved[16], then[16];
    const int count = held(p, &u, saved);
    CHECK(count >= 7 && ts_tensors_write(path, count, saved, sha, &e));
    const double last = run(p, 5, 11);
    CHECK(last < first / 2);
    const int n_then = held(p, &u, then);
    ts_plan_free(p);
    /* a second one goes on from the file: the same bits */
    ts_tensors *t = ts_tensors_open(path, &e);
    p = trainer(&n, &u);
    fill(p, n.x, 1), fill(p, n.want, 2);
    for (int i = 0; i < count; i++) {
        ts_array a = {0};
        CHECK(ts_tensors_get(t, saved[i].name, &a, &e) && ts_plan_set(p, ts_plan_find(p, saved[i].name), &a, &e));
        ts_array_free(&a);
    }
    CHECK(run(p, 5, 11) == last);
    for (int i = 0; i < n_then; i++) {
        ts_array a = {0};
        CHECK(ts_plan_value(p, ts_plan_find(p, then[i].name), &a, &e));
        CHECK(!memcmp(a.data, then[i].value.data, (size_t)ts_array_count(&a) * (size_t)ts_dtype_bytes(a.dtype)));
        ts_array_free(&a), ts_array_free(&then[i].value);
    }
    for (int i = 0; i < count; i++)
        ts_array_free(&saved[i].value);
    ts_array_free(&w1), ts_array_free(&now);
    ts_tensors_free(t), ts_plan_free(p), ts_graph_free(n.g);
}

/* The backward pass as a program of its own, which reads what the forward one kept: several seeds of one state give
 * what fresh gradients do, to the bit. */
static void test_apart(void)
{
    network n = network_make();
    ts_error e = {0};
    const ts_options o = {.target = "c", .threads = 1};
    const ts_tensor seed = ts_input(n.g, "seed", TS_F32, 2, (int64_t[]){ROWS, HIDDEN}),
                    kept = ts_input(n.g, "kept", TS_F32, 2, (int64_t[]){ROWS, HIDDEN}),
                    turned = ts_call1(n.g, "square", n.hidden);
    ts_tensor fresh, apart;
    CHECK(ts_chain_rule(n.g, 1, &turned, &seed, 1, &n.hidden, &fresh));
    CHECK(ts_replace(n.g, 1, &fresh, 1, &n.hidden, &kept, &apart));
    ts_plan *forward = ts_plan_of(n.g, 1, &n.hidden, 0, NULL, &o, &e),
            *back = ts_plan_of(n.g, 1, &apart, 0, NULL, &o, &e), *whole = ts_plan_of(n.g, 1, &fresh, 0, NULL, &o, &e);
    if (!CHECK(forward && back && whole && ts_plan_build(forward, &e) && ts_plan_build(back, &e) &&
               ts_plan_build(whole, &e)))
        printf("  %s\n", (ts_graph_ok(n.g, &e), e.text));
    fill(forward, n.x, 1), fill(forward, n.w[0], 3), fill(whole, n.x, 1), fill(whole, n.w[0], 3);
    ts_array state = {0};
    CHECK(ts_plan_run(forward, &e) && ts_plan_get(forward, 0, &state, &e));
    CHECK(ts_plan_find(back, "x") < 0 && ts_plan_set(back, ts_plan_find(back, "kept"), &state, &e));
    for (uint64_t i = 7; i < 10; i++) {
        ts_array a = {0}, b = {0};
        fill(back, seed, i), fill(whole, seed, i);
        CHECK(ts_plan_run(back, &e) && ts_plan_get(back, 0, &a, &e));
        CHECK(ts_plan_run(whole, &e) && ts_plan_get(whole, 0, &b, &e));
        CHECK(!memcmp(a.data, b.data, ROWS * HIDDEN * sizeof(float)));
        ts_array_free(&a), ts_array_free(&b);
    }
    ts_array_free(&state);
    ts_plan_free(forward), ts_plan_free(back), ts_plan_free(whole), ts_graph_free(n.g);
}

int main(void)
{
    scratch folder = scratch_make();
    const char *path = scratch_in(&folder, "kept.safetensors");
    test_trained(path), test_apart();
    scratch_free(&folder);
    return check_done();
}
