/* Every record of the operation table keeps the rules of op.h, and every case of it builds. With `table` prints the
 * table as JSON; with `eval` computes what the lines on stdin ask for: "call | in0.npy =in1.npy | out.npy", where =
 * marks an operand whose value is known while the graph is built. tests/graph/ops/oracle.py compares the results with
 * numpy's. */
/* ctest: fast */
#include "graph/eval/eval.h"
#include "graph/ir/problem.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPERAND = 64, MAX_LINE = 4096 };

/* ---- records ---- */
/* Every element of a constant. */
static const node *filled(graph *g, const type *t, double v)
{
    void *data = calloc((size_t)type_bytes(t) + 1, 1);
    for (int64_t i = 0; i < type_count(t); i++)
        if (dtype_class(t->dtype) == D_REAL)
            store_real(t->dtype, data, i, v);
        else
            store_whole(t->dtype, data, i, (int64_t)v);
    const node *n = g_const(g, NULL, t, data);
    free(data);
    return n;
}

/* "f32[2,3]!" at *at becomes an input, "f32[2,3]=1" a constant; what else follows the bracket is for the oracle. */
static const node *operand(graph *g, const char **at, int number)
{
    type t = {0};
    char name[16];
    char *end;
    const size_t n = strcspn(*at, "[");
    snprintf(name, sizeof name, "%.*s", (int)n, *at);
    if (!dtype_parse(name, &t.dtype))
        return NULL;
    for (*at += n + 1; **at && **at != ']'; *at = end + (*end == ','))
        t.dim[t.rank++] = strtoll(*at, &end, 10);
    const char *mark = **at ? ++*at : *at;
    *at += strcspn(*at, " ");
    if (*mark == '=')
        return filled(g, &t, strtod(mark + 1, NULL));
    snprintf(name, sizeof name, "x%d", number);
    return g_input(g, name, &t, 0);
}

/* The node that a case line describes. */
static const node *build_case(graph *g, const op *o, const char *line)
{
    const node *in[MAX_OPERAND], *x;
    int n = 0;
    while (*line && (x = operand(g, &line, n))) {
        in[n++] = x;
        line += strspn(line, " ");
    }
    return g_callf(g, n, in, "%s %s", o->name, line);
}

static void check_definitions(const graph *g, const char *where)
{
    for (int i = 0; i < g->n; i++) {
        arena mem = {0};
        defn d;
        err e = {0};
        if (node_is_leaf(g->node[i]))
            continue;
        if (!CHECK(g_defn(g->node[i], &mem, &d, &e)))
            printf("  %s: %s\n", where, e.text);
        else if (!CHECK(x_count(d.value, X_FOLD) <= 1))
            printf("  %s: a definition has at most one fold\n", where);
        arena_free(&mem);
    }
}

static bool same_operand(const problem_operand *a, const problem_operand *b)
{
    return a->absent == b->absent && a->carries == b->carries && a->known == b->known && a->below == b->below &&
           a->value == b->value && (a->absent || type_equal(&a->type, &b->type));
}

/* As text, of the graph that a line builds; the attributes are what the operation says to them. */
static void build_line(const op *o, const char *line, problem *p, text *out)
{
    graph *g = ts_graph_make();
    problem_build(g, o, line, strlen(line), TS_N_DTYPE, p);
    if (p->y)
        g_print(out, 1, &p->y);
    else
        text_add(out, "%s", g->err.text);
    ts_graph_free(g);
}

/* Printed, a problem is read back to the same one, which builds the same graph and is printed the same. */
static void check_printed(const op *o, const char *line)
{
    problem p, again, built;
    text first = {0}, second = {0}, graphs[2] = {{0}, {0}};
    arena mem = {0};
    err e = {0};
    problem_read(&mem, o, line, strlen(line), &p);
    problem_print(&first, &p);
    const char *words = text_str(&first) + strlen(o->name);
    words += *words == ' ';
    if (!CHECK(problem_check(words, &e)))
        printf("  %s: %s\n", text_str(&first), e.text);
    problem_read(&mem, o, words, strlen(words), &again);
    problem_print(&second, &again);
    CHECK_TEXT(text_str(&second), text_str(&first));
    CHECK_TEXT(again.attributes, p.attributes);
    CHECK(again.op == o && again.n == p.n);
    for (int i = 0; i < p.n; i++)
        if (!CHECK(same_operand(&again.operand[i], &p.operand[i])))
            printf("  %s: operand %d of \"%s\"\n", text_str(&first), i, line);
    build_line(o, line, &built, &graphs[0]), build_line(o, words, &built, &graphs[1]);
    CHECK_TEXT(text_str(&graphs[1]), text_str(&graphs[0]));
    text_free(&first), text_free(&second), text_free(&graphs[0]), text_free(&graphs[1]);
    arena_free(&mem);
}

static void check_cases(const op *o)
{
    char line[MAX_LINE];
    for (const char *s = o->cases; s && *s; s += s[strcspn(s, "\n")] ? strcspn(s, "\n") + 1 : strcspn(s, "\n")) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(s, "\n"), s);
        graph *g = ts_graph_make();
        err e = {0};
        if (!CHECK(build_case(g, o, line)) || !CHECK(g_check(g, &e)))
            printf("  %s: %s: %s\n", o->name, line, e.code ? e.text : g->err.text);
        else
            check_definitions(g, o->name);
        ts_graph_free(g);
        check_printed(o, line);
    }
}

static bool bad(err *e, const op *o, const char *what)
{
    return err_set(e, TS_BUG, "op %s: %s", o->name ? o->name : "?", what);
}

/* Every rule that graph/ir/op.h states. */
static bool op_check(const op *o, err *e)
{
    if (!o->name || !*o->name)
        return bad(e, o, "has no name");
    for (const char *s = o->name; *s; s++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_", *s))
            return bad(e, o, "name is not lower-case words");
    if (op_find(o->name) != o)
        return bad(e, o, "name is taken twice");
    if (!o->doc || !*o->doc || o->doc[strlen(o->doc) - 1] != '.')
        return bad(e, o, "doc is not a sentence");
    if (op_is_bare(o))
        return true;
    if (!!o->text + !!o->body + !!o->lower != 1)
        return bad(e, o, "needs exactly one of text, body, lower");
    if (!o->numpy)
        return bad(e, o, "has no numpy oracle");
    if (!o->cases || !*o->cases)
        return bad(e, o, "has no cases");
    if (o->text && (o->arity < 1 || o->arity > 4))
        return bad(e, o, "text takes 1 to 4 operands");
    if (o->body && !o->shape)
        return bad(e, o, "a body needs a shape rule");
    for (const attr_spec *s = o->attr; s && s->name; s++)
        if (!strchr("ifsIF", s->kind))
            return bad(e, o, "attribute of unknown kind");
    for (const onnx_rule *r = o->rule; r && r->type; r++)
        if (r->since < 1)
            return bad(e, o, "ONNX rule without a version");
        else if (r->adapt && !r->attribute)
            return bad(e, o, "an adapter of an operator whose words do not say what it takes");
    return true;
}

static void check_table(void)
{
    for (const op *o = op_next(NULL); o; o = op_next(o)) {
        err e = {0};
        if (!CHECK(op_check(o, &e)))
            printf("  %s\n", e.text);
        check_cases(o);
    }
}

/* ---- evaluation ---- */
/* Every node on the way to y, by id; values of leaves are given. */
static bool evaluate(const node *y, ts_array *value, err *e)
{
    const node **need = calloc((size_t)y->id + 1, sizeof *need);
    const int n = g_reach(1, &y, need);
    bool ok = true;
    for (int i = 0; ok && i < n; i++) {
        const ts_array *in[MAX_OPERAND];
        for (int k = 0; k < need[i]->n_in; k++)
            in[k] = &value[need[i]->in[k]->id];
        if (need[i]->leaf && need[i]->leaf->kind == LEAF_CONST) {
            ok = ts_array_make(&value[need[i]->id], need[i]->type.dtype, need[i]->type.rank, need[i]->type.dim, e);
            if (ok)
                memcpy(value[need[i]->id].data, need[i]->leaf->data, (size_t)type_bytes(&need[i]->type));
        } else if (!node_is_leaf(need[i]))
            ok = node_eval(need[i], in, &value[need[i]->id], e);
    }
    free(need);
    return ok;
}

static bool run_line(char *line, err *e)
{
    char *rest = line, *call = strtok_r(rest, "|", &rest), *inputs = strtok_r(rest, "|", &rest);
    char *out = strtok_r(rest, " \n", &rest);
    graph *g = ts_graph_make();
    const node *in[MAX_OPERAND];
    ts_array given[MAX_OPERAND] = {0};
    int n = 0;
    bool ok = true;
    for (char *path; ok && (path = strtok_r(inputs, " ", &inputs)); n++) {
        char name[16];
        const bool known = *path == '=';
        ok = ts_npy_read(path + known, &given[n], e);
        snprintf(name, sizeof name, "x%d", n);
        in[n] = !ok     ? NULL
                : known ? ts_constant(g, "", &given[n])
                        : ts_input(g, name, given[n].dtype, given[n].rank, given[n].dim);
    }
    call[strlen(call) - 1] = 0; /* the blank before the bar */
    const node *y = ok ? g_call(g, call, n, in) : NULL;
    ok = ok && ts_graph_ok(g, e);
    if (ok) {
        ts_array *value = calloc((size_t)g->n, sizeof *value);
        for (int i = 0; i < n; i++)
            if (in[i]->leaf->kind == LEAF_INPUT)
                value[in[i]->id] = given[i], given[i].data = NULL;
        ok = evaluate(y, value, e) && ts_npy_write(out, &value[y->id], e);
        for (int i = 0; i < g->n; i++)
            ts_array_free(&value[i]);
        free(value);
    }
    for (int i = 0; i < n; i++)
        ts_array_free(&given[i]);
    ts_graph_free(g);
    return ok;
}

static int evaluate_lines(void)
{
    char line[MAX_LINE];
    while (fgets(line, sizeof line, stdin)) {
        err e = {0};
        puts(run_line(line, &e) ? "ok" : e.text);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "eval"))
        return evaluate_lines();
    if (argc > 1) {
        char *json = ts_ops_json();
        fputs(json, stdout);
        ts_free(json);
        return 0;
    }
    check_table();
    return check_done();
}
