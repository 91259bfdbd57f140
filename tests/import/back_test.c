/* The way back: every case of every operation that has one is written as calls of ONNX and built again; both graphs
 * give the same numbers. Operations without a counterpart are named. */
#include "graph/ir/problem.h"
#include "import/model.h"
#include "import/writer.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static scratch folder;

static bool has_elements(const problem *p)
{
    for (int i = 0; i < p->n; i++)
        if (type_count(&p->in[i]->type) == 0)
            return false;
    return true;
}

static bool equal_arrays(const ts_array *a, const ts_array *b, text *why)
{
    bool same = a->dtype == b->dtype && a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++)
        same = a->dim[i] == b->dim[i];
    for (int64_t i = 0; same && i < ts_array_count(a); i++) {
        const double x = ts_array_at(a, i), y = ts_array_at(b, i);
        same = x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= 1e-3 * fabs(x);
        if (!same)
            text_add(why, "element %lld is %g, was %g", (long long)i, y, x);
    }
    return same;
}

/* Both evaluated on the same random inputs; where the first cannot be (indices beyond an axis, by chance), nothing is
 * compared. */
static bool same_values(const problem *p, ts_model *again, text *why)
{
    err e = {0};
    ts_given given[PROBLEM_OPERANDS];
    ts_array got[2] = {0};
    const ts_options o = {.target = "interp"};
    ts_tensor second = ts_model_tensor(again, 0);
    int n = 0;
    for (int i = 0; i < p->n; i++) {
        const type *t = &p->in[i]->type;
        if (p->in[i]->leaf->kind != LEAF_INPUT)
            continue;
        given[n].name = p->in[i]->label;
        CHECK(ts_array_make(&given[n].value, t->dtype, t->rank, t->dim, &e));
        ts_array_random(&given[n++].value, (uint64_t)i + 1, 2);
    }
    bool ok = true;
    if (ts_eval(1, &p->y, n, given, &o, &got[0], &e)) {
        ok = ts_eval(1, &second, n, given, &o, &got[1], &e) && equal_arrays(&got[0], &got[1], why);
        text_add(why, "%s", e.text);
    }
    for (int i = 0; i < n; i++)
        ts_array_free(&given[i].value);
    ts_array_free(&got[0]), ts_array_free(&got[1]);
    return ok;
}

/* The node as the only result of a model, written. */
static bool save(const graph *g, const problem *p, const char *path, err *e)
{
    ts_port input[PROBLEM_OPERANDS], output = {.name = "y", .dtype = p->y->type.dtype, .rank = p->y->type.rank};
    made_graph from = {.name = "case", .graph = g, .ports = {.n_output = 1, .input = input, .output = &output}, &p->y};
    model_file f;
    const writer *const *w = writers;
    while (strcmp((*w)->name, "onnx"))
        w++;
    memcpy(output.dim, p->y->type.dim, sizeof output.dim);
    for (int i = 0; i < p->n; i++) {
        const node *n = p->in[i];
        if (n->leaf->kind != LEAF_INPUT)
            continue;
        input[from.ports.n_input] = (ts_port){.name = n->label, .dtype = n->type.dtype, .rank = n->type.rank};
        memcpy(input[from.ports.n_input++].dim, n->type.dim, sizeof n->type.dim);
    }
    const bool ok = restate_graph(&from, &f, e) && (*w)->write(&f, path, e);
    arena_free(&f.mem);
    return ok;
}

static bool round_trip(const op *o, const char *line, size_t n, bool *has)
{
    graph *g = ts_graph_make();
    problem p;
    err e = {0};
    text why = {0};
    const char *path = scratch_in(&folder, "m.onnx");
    problem_build(g, o, line, n, TS_N_DTYPE, &p);
    bool ok = true;
    *has = false;
    if (p.y && !node_is_leaf(p.y) && p.y->op == o) {
        *has = save(g, &p, path, &e);
        ts_model *again = *has ? ts_model_open(path, &e) : NULL;
        if (*has) {
            ok = again && ts_model_bind(again, 0, NULL, NULL, &e) &&
                 (!has_elements(&p) || same_values(&p, again, &why));
            if (!ok)
                fprintf(stderr, "  %s %.*s: %s %s\n", o->name, (int)n, line, e.text, text_str(&why));
        } else {
            CHECK(e.code == TS_UNSUPPORTED);
            ok = strstr(e.text, o->name) != NULL;
        }
        ts_model_free(again);
    }
    text_free(&why);
    ts_graph_free(g);
    return ok;
}

int main(void)
{
    int n_op = 0, n_case = 0;
    folder = scratch_make();
    for (const op *o = op_next(NULL); o; o = op_next(o)) {
        const char *at = o->cases, *line;
        size_t n;
        bool has = false, one;
        while ((line = problem_next(&at, &n))) {
            CHECK(round_trip(o, line, n, &one));
            has = has || one, n_case += one;
        }
        n_op += has;
    }
    fprintf(stderr, "%d operations, %d cases\n", n_op, n_case);
    CHECK(n_op > 60 && n_case > 200);
    scratch_free(&folder);
    return check_done();
}
