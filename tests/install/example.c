/* example.c - a program against an installed Tessera: evaluates y = relu(a @ b + 1) with the interpreter and as
 * compiled C, and prints both.   cc example.c $(pkg-config --cflags --libs tessera) && ./a.out */
#include <stdio.h>
#include <tessera.h>

int main(void)
{
    ts_error e = {0};
    ts_graph *g = ts_graph_make();
    float values[] = {1, -2, 3, 4};
    ts_array a = {.dtype = TS_F32, .rank = 2, .dim = {2, 2}, .data = values};
    ts_tensor x = ts_input(g, "a", TS_F32, 2, a.dim);
    ts_tensor b = ts_constant(g, "b", &(ts_array){TS_F32, 2, {2, 2}, (float[]){1, 0, 2, -1}});
    ts_tensor y = ts_call1(g, "relu", ts_call2(g, "add", ts_call2(g, "matmul", x, b), ts_scalar(g, TS_F32, 1)));
    const char *const targets[] = {"interp", "c"};
    bool ok = ts_graph_ok(g, &e);
    for (int i = 0; ok && i < 2; i++) {
        ts_options o = {.target = targets[i]};
        ts_array out = {0};
        if (!(ok = ts_eval(1, &y, 1, &(ts_given){"a", a}, &o, &out, &e)))
            break;
        const float *v = out.data;
        printf("%s: %g %g %g %g\n", targets[i], v[0], v[1], v[2], v[3]);
        ts_array_free(&out);
    }
    if (!ok)
        fprintf(stderr, "%s\n", e.text);
    ts_graph_free(g);
    return e.code;
}
