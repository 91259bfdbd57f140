/* table.c - which operations have gradients, found by asking for them: every case of every record is built, and the
 * gradient of its sum with respect to each real operand wanted. */
#include "autodiff/autodiff.h"
#include "graph/rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPERAND = 16 };
typedef struct built { /* one case: operands that carry reals, and the result */
    const node *in[MAX_OPERAND], *real[MAX_OPERAND], *y;
    int n, n_real;
} built;

/* "f32[2,3]" at *at, with a mark behind, as an input. */
static bool operand(graph *g, built *b, const char **at)
{
    type t = {0};
    char name[16];
    char *end;
    const size_t n = strcspn(*at, "[ \n");
    snprintf(name, sizeof name, "%.*s", (int)n, *at);
    if ((*at)[n] != '[' || b->n == MAX_OPERAND || !dtype_parse(name, &t.dtype))
        return false;
    for (*at += n + 1; **at && **at != ']'; *at = end + (*end == ','))
        t.dim[t.rank++] = strtoll(*at, &end, 10);
    const char *mark = *at + 1;
    *at += strcspn(*at, " \n"), *at += strspn(*at, " ");
    if (*mark == '=' && dtype_class(t.dtype) != D_REAL && type_count(&t) == 1)
        b->in[b->n] = g_fitted(g, g_scalar(g, t.dtype, strtod(mark + 1, NULL)), &t);
    else
        snprintf(name, sizeof name, "x%d", b->n), b->in[b->n] = g_input(g, name, &t, NULL);
    if (dtype_class(t.dtype) == D_REAL)
        b->real[b->n_real++] = b->in[b->n];
    return b->n++, true;
}

/* "": the case says nothing, because no reals go in or come out; else how it went. */
static const char *ask(const op *o, const char *line, size_t n, text *refusal)
{
    graph *g = ts_graph_make();
    built b = {0};
    const node *grad[MAX_OPERAND];
    const char *end = line + n, *answer = "";
    while (line < end && operand(g, &b, &line))
        ;
    b.y = g_callf(g, b.n, b.in, "%s %.*s", o->name, (int)(end > line ? end - line : 0), line);
    if (b.y && b.n_real) {
        const bool real = dtype_class(b.y->type.dtype) == D_REAL;
        const node *seed = real ? g_filled(g, &b.y->type, 1) : NULL;
        if (!real)
            answer = "stops";
        else if (ts_chain_rule(g, 1, &b.y, &seed, b.n_real, b.real, grad))
            answer = o->grad ? "written" : o->lower ? "of its parts" : "derived";
        else
            answer = "refused", refusal->len = 0, text_add(refusal, "%s", g->err.text);
    }
    ts_graph_free(g);
    return answer;
}

static void print_op(text *t, const op *o)
{
    text refusal = {0};
    const char *how = "stops";
    for (const char *at = o->cases; at && *at;) {
        const size_t n = strcspn(at, "\n");
        const char *one = ask(o, at, n, &refusal);
        if (*one && strcmp(one, "stops") && strcmp(how, "refused"))
            how = one;
        at += n + (at[n] == '\n');
    }
    text_add(t, "{\"operation\":\"%s\",\"gradient\":\"%s\",\"reason\":", o->name, how);
    text_json(t, strcmp(how, "refused") ? "" : text_str(&refusal));
    text_add(t, "}");
    text_free(&refusal);
}

char *ts_gradients_json(void)
{
    text t = {0};
    const char *between = "";
    text_add(&t, "{\"format\":\"gradients/1\",\"ops\":[");
    for (const op *const *const *table = op_tables; *table; table++)
        for (const op *const *o = *table; *o; o++) {
            if (!(*o)->text && !(*o)->body && !(*o)->lower && !(*o)->cases)
                continue;
            text_add(&t, "%s", between);
            print_op(&t, *o), between = ",\n";
        }
    text_add(&t, "]}\n");
    return text_take(&t);
}
