/* Recipes that were spelled out: found in the forms that exporters write, with operands and attributes that compute the
 * same; what only resembles them is left alone; a rule for attention fits however a model writes it. */
/* ctest: fast */
#include "backends/cpu/cpu.h"
#include "graph/ir/recognise.h"
#include "schedule/make.h"
#include "tests/backends/row.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct sample {
    const char *want; /* "": nothing is found */
    const char *row;
} sample;

#define HEADS "q f32[2,3,16,8]; k f32[2,3,20,8]; v f32[2,3,20,8]; t transpose axes=[0,1,3,2] k; "
static const sample attentions[] = {
    {"attention", HEADS "s matmul q t; p softmax s; y matmul p v"},
    {"attention", HEADS "s matmul q t; d divide s 2.5; m f32[2,1,1,20]; a add d m; p softmax a; y matmul p v"},
    {"attention", HEADS "u multiply q 0.5; w multiply t 0.5; s matmul u w; m bool[2,1,16,20]; a where m s -inf; "
                        "p softmax a; n isnan p; z where n 0 p; y matmul z v"},
    /* heads merged into the batch between the products, the softmax spelled out: a group, though several kernels */
    {"attention",
     HEADS "s matmul q t; r reshape shape=[6,16,20] s; m max axes=[2] keepdims=1 r; d subtract r m; e exp d; "
           "n sum axes=[2] keepdims=1 e; p divide e n; o reshape shape=[2,3,16,20] p; y matmul o v"},
    /* products of weights that have a softmax between them; another fold */
    {"", HEADS "w! f32[8,20]; s matmul q w; p softmax s; y matmul p v"},
    {"", HEADS "s matmul q t; c cumsum axis=3 s; p softmax c; y matmul p v"},
};

#define ROWS "x f32[4,6,10]; g! f32[10]; b! f32[10]; "
#define AWAY "m mean axes=[-1] keepdims=1 x; a subtract x m; "
static const sample norms[] = {
    {"layer_norm", ROWS AWAY "s power a 2; v mean axes=[2] keepdims=1 s; e add v 0.001; r sqrt e; d divide a r; "
                             "h multiply d g; y add h b"},
    {"layer_norm", ROWS AWAY "s multiply a a; v mean axes=[2] keepdims=1 s; e add 0.001 v; r rsqrt e; d multiply r a; "
                             "y multiply g d"},
    {"layer_norm", "x f32[4,6,10]; m mean axes=[1,2] keepdims=1 x; a subtract x m; s square a; "
                   "v mean axes=[1,2] keepdims=1 s; e add v 0.001; r sqrt e; y divide a r"},
    {"rms_norm", ROWS "s power x 2; v mean axes=[-1] keepdims=1 s; e add v 0.001; r sqrt e; i divide 1 r; "
                      "d multiply x i; y multiply g d"},
    {"softmax", "x f32[4,6,10]; e exp x; s sum axes=[1] keepdims=1 e; y divide e s"},
    /* not the last axes; no square; another sum */
    {"", ROWS "s power x 2; v mean axes=[1] keepdims=1 s; e add v 0.001; r rsqrt e; y multiply x r"},
    {"", ROWS "s power x 4; v mean axes=[2] keepdims=1 s; e add v 0.001; r rsqrt e; y multiply x r"},
    {"", "x f32[4,6,10]; e exp x; s sum axes=[1] keepdims=1 x; y divide e s"},
};

/* The call that a group stands for computes what its nodes do. */
static void same_values(graph *g, const group *q, const row_inputs *in, const char *row)
{
    ts_array out[2] = {{0}};
    ts_error e = {0};
    int n_attr = 0;
    double off = 0;
    while (q->op->attr[n_attr].name)
        n_attr++;
    const node *both[] = {q->result, g_make(g, q->op, q->n_in, q->in, q->attr, n_attr)};
    if (!CHECK(both[1] && ts_eval(2, both, in->n, in->given, &(ts_options){.target = "interp"}, out, &e)))
        printf("  %s%s\n", e.text, g->err.text);
    for (int64_t i = 0; out[1].data && i < ts_array_count(out); i++)
        off = fmax(off, fabs(ts_array_at(out, i) - ts_array_at(out + 1, i)));
    if (!CHECK(off < 1e-5)) /* of numbers about 1, from sums of up to 60 */
        printf("  off by %g: %s\n", off, row);
    ts_array_free(&out[0]), ts_array_free(&out[1]);
}

static void finds(const sample *s, bool computes)
{
    graph *g = ts_graph_make();
    row_inputs in = {0};
    ts_tensor y = row_build(g, s->row, 0, &in);
    const int before = g->n_group;
    const group *last = NULL;
    g_recognise(g);
    for (int i = before; i < g->n_group; i++)
        last = g->group[i].result == y ? &g->group[i] : last;
    CHECK(y != NULL);
    if (!CHECK_TEXT(last ? last->op->name : "", s->want))
        printf("  %s\n", s->row);
    const int found = g->n_group;
    g_recognise(g);
    CHECK(g->n_group == found); /* once */
    if (last && computes)
        same_values(g, &(group){last->op, last->result, last->n_in, last->in, last->attr, 0, 0}, &in, s->row);
    row_inputs_free(&in);
    ts_graph_free(g);
}

/* One kernel is walked by a rule for attention. */
static void fits_rule(const char *row, const char *path)
{
    graph *g = ts_graph_make();
    row_inputs in = {0};
    ts_tensor y = row_build(g, row, 0, &in);
    machine on;
    err e = {0};
    int fits = 0;
    MUST(y && machine_load(&on, "core:2 isa:avx512", &e));
    target made;
    const plan_options w = {.on = &made, .target = "c", .schema = path};
    cpu_target_of(&made, &on, isa_find("avx512"), 2);
    plan *p = plan_make(g, 1, &y, &w, &e);
    for (int i = 0; p && i < p->n_kernel; i++)
        fits += !strcmp(p->kernel[i].rule, "mine");
    if (!CHECK(p && fits == 1))
        printf("  %d kernels; %s: %s\n", fits, e.text, row);
    plan_free(p);
    row_inputs_free(&in);
    ts_graph_free(g);
}

static void test_rule(void)
{
    static const char rule[] =
        "{\"format\":\"tiling/1\",\"rules\":[{\"name\":\"mine\",\"match\":{\"op\":\"attention\"},"
        "\"loops\":[\"b@core h q/8\",\"h@core q/8\"]}]}";
    scratch folder = scratch_make();
    err e = {0};
    const char *path = scratch_in(&folder, "rule.json");
    CHECK(file_save(path, rule, strlen(rule), &e));
    fits_rule(HEADS "y attention q k v", path);
    for (int i = 0; i < COUNT(attentions); i++)
        if (*attentions[i].want && !strstr(attentions[i].row, "reshape"))
            fits_rule(attentions[i].row, path);
    scratch_free(&folder);
}

int main(void)
{
    for (int i = 0; i < COUNT(attentions); i++)
        finds(&attentions[i], false);
    for (int i = 0; i < COUNT(norms); i++)
        finds(&norms[i], true);
    test_rule();
    return check_done();
}
