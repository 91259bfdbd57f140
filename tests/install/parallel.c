/* parallel.c - a step over two devices: each has half of a batch; their gradients are added where w is updated. */
#include <stdio.h>
#include <tessera_shared.h>

static bool give(ts_plan *p, const char *input, int64_t n, float *v, ts_error *e)
{
    return ts_plan_set(p, ts_plan_find(p, input), &(ts_array){TS_F32, n > 1, {n}, v}, e);
}

int main(int argc, char **argv)
{
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    float xs[] = {1, 2, 3, 4}, ys[] = {2, 4, 6, 8}, w0 = 0.5f, sum = 0;
    ts_tensor x = ts_input(g, "x", TS_F32, 1, (int64_t[]){2}), y = ts_input(g, "y", TS_F32, 1, (int64_t[]){2}), dw;
    ts_tensor w = ts_input(g, "w", TS_F32, 0, NULL), d = ts_call2(g, "subtract", ts_call2(g, "multiply", x, w), y);
    ts_tensor loss = ts_call1(g, "sum", ts_call2(g, "multiply", d, d)), grad = ts_input(g, "grad", TS_F32, 0, NULL);
    ts_chain_rule(g, 1, &loss, NULL, 1, &w, &dw);
    ts_state step = {w, ts_call2(g, "subtract", w, ts_call2(g, "multiply", grad, ts_scalar(g, TS_F32, 0.05)))};
    ts_plan *half[2] = {0}, *update = NULL;
    bool ok = ts_graph_ok(g, &e);
    for (int i = 0; ok && i < 2; i++) {
        ts_options on = {.target = argc > 1 + i ? argv[1 + i] : "c"};
        half[i] = ts_plan_of(g, 2, (ts_tensor[]){loss, dw}, 0, NULL, &on, &e);
        ok = half[i] && give(half[i], "x", 2, xs + 2 * i, &e) && give(half[i], "y", 2, ys + 2 * i, &e);
    }
    ok = ok && (update = ts_plan_of(g, 0, NULL, 1, &step, NULL, &e)) && give(update, "w", 1, &w0, &e) &&
         ts_merge_link(update, "grad", half[0], 1, TS_REPLACE, &e) &&
         ts_merge_link(update, "grad", half[1], 1, TS_ADD, &e);
    for (int i = 0; ok && i < 2; i++) {
        ts_array l = {0};
        ok = give(half[i], "w", 1, &w0, &e) && ts_plan_run(half[i], &e) && ts_plan_get(half[i], 0, &l, &e);
        sum += ok ? (float)ts_array_at(&l, 0) : 0;
        ts_array_free(&l);
    }
    ts_array trained = {0};
    if (ok && ts_plan_run(update, &e) && ts_plan_value(update, ts_plan_find(update, "w"), &trained, &e))
        printf("loss %.1f, w = %.1f\n", sum, ts_array_at(&trained, 0));
    else
        fprintf(stderr, "%s\n", e.text);
    ts_array_free(&trained), ts_plan_free(update), ts_plan_free(half[0]), ts_plan_free(half[1]), ts_graph_free(g);
    return e.code;
}
