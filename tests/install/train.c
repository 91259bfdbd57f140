/* train.c - training from C: w of y = x w, by 200 steps of Adam, each one run of one plan. */
#include <stdio.h>
#include <tessera.h>

static bool give(ts_plan *p, const char *input, ts_array value, ts_error *e)
{
    return ts_plan_set(p, ts_plan_find(p, input), &value, e);
}

int main(void)
{
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    ts_array xs = {TS_F32, 2, {4, 2}, (float[]){1, 0, 0, 1, 1, 1, 2, 1}},
             ys = {TS_F32, 2, {4, 1}, (float[]){3, -2, 1, 4}};
    ts_tensor x = ts_input(g, "x", TS_F32, 2, xs.dim), y = ts_input(g, "y", TS_F32, 2, ys.dim), grad, loss;
    ts_tensor w = ts_input(g, "w", TS_F32, 2, (int64_t[]){2, 1}), step = ts_input(g, "step", TS_F64, 0, NULL);
    loss = ts_call2(g, "mse_loss", ts_call2(g, "matmul", x, w), y);
    ts_optimizer how = {.recipe = "adam", .rate = ts_scalar(g, TS_F64, 0.1), .step = step};
    ts_updates u = {0};
    ts_state state[9]; /* w, and what Adam keeps of it */
    if (ts_chain_rule(g, 1, &loss, NULL, 1, &w, &grad))
        ts_optimize(g, &how, 1, &w, &grad, &u);
    for (int i = 0; i < u.n; i++)
        state[i] = (ts_state){u.update[i].from, u.update[i].to};
    ts_plan *p = ts_graph_ok(g, &e) ? ts_plan_of(g, 1, &loss, u.n, state, NULL, &e) : NULL;
    bool ok = p && give(p, "x", xs, &e) && give(p, "y", ys, &e);
    for (int i = 0; ok && i < u.n; i++) { /* first values: of a parameter its own, of others what `start` says */
        ts_array first = {TS_F32, 2, {2, 1}, (float[]){0, 0}};
        ok = (!u.update[i].start || ts_eval(1, &u.update[i].start, 0, NULL, NULL, &first, &e)) &&
             give(p, ts_name(u.update[i].from), first, &e);
        if (u.update[i].start)
            ts_array_free(&first);
    }
    for (double k = 1; ok && k <= 200; k++)
        ok = give(p, "step", (ts_array){.dtype = TS_F64, .data = &k}, &e) && ts_plan_run(p, &e);
    ts_array trained = {0};
    if (ok && ts_plan_value(p, ts_plan_find(p, "w"), &trained, &e))
        printf("w = %.2f %.2f\n", ts_array_at(&trained, 0), ts_array_at(&trained, 1));
    else
        fprintf(stderr, "%s\n", e.text);
    ts_array_free(&trained), ts_plan_free(p), ts_graph_free(g);
    return e.code;
}
