/* Work in proportion to the model: of each kind of long graph, one four times as long is read, bound, described, drawn
 * and planned with some four times as much work, never sixteen times. Work is counted in blocks of code gone through,
 * so that the test says the same on every machine. Operations are not compiled to count; passes over graphs are. Where
 * nothing is counted, as under sanitizers, fewer nodes are gone through.
 *
 * ctest: counts large */
#include "cli/draw/dot.h"
#include "cli/draw/tree.h"
#include "import/model.h"
#include "schedule/plan/plan.h"
#include "tests/check.h"
#include "tests/import/wire.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void __sanitizer_cov_trace_pc(void);
static int64_t blocks;

#ifdef WORK_IS_COUNTED
enum { FEW = 500, COUNTED = 1 };
#else
enum { FEW = 200, COUNTED = 0 };
#endif

void __sanitizer_cov_trace_pc(void)
{
    blocks++;
}

/* ---- graphs of n nodes ---- */
typedef struct shape {
    const char *name;
    const char *step;  /* node i: a is the result of the one before, b of the one eight before, y its own */
    const char *label; /* its name */
    enum {
        LAST,
        ALL,
        ONCE
    } how; /* the last node is the result, or all are, or there is one, of all entries of `long` */
} shape;

static const shape shapes[] = {
    {"sums of neighbours", "Add t%a,t%b t%y", "", LAST},
    {"pointwise", "Relu t%a t%y", "", LAST},
    {"products", "MatMul t%a,w t%y", "", LAST},
    {"concatenations", "Concat t%a,x t%y axis=0", "", LAST},
    {"turned", "Transpose t%a t%y perm=[1,0]", "", LAST},
    {"folds", "ReduceSum t%a t%y keepdims=1", "", LAST},
    {"recipes", "Softmax t%a t%y axis=-1", "", LAST},
    {"reshapes of sums", "CumSum t%a,axis t%y", "", LAST},
    {"side by side", "Add x,t0 t%y", "", ALL},
    {"readers of one value", "Mul t0,c%y t%y", "", ALL},
    {"results", "Exp t%a t%y", "", ALL},
    {"layers with names", "MatMul t%a,w t%y", "/layer.%y/attention/MatMul", LAST},
    {"names of their own", "Neg t%a t%y", "/a%y/b/c", LAST},
    {"inputs", "Add t%a,c%y t%y", "", LAST},
    {"steps of a recurrent network", "RNN long,rw,rw t%y hidden_size=4", "", ONCE},
    {"entries of a sequence", "ConcatFromSequence entries t%y axis=0 new_axis=1", "", ONCE},
};

static const char *filled(char out[64], const char *form, int i) /* "t%a" -> "t7" */
{
    size_t n = 0;
    for (; *form; form++) {
        const int at = form[0] != '%' ? -1 : form[1] == 'a' ? i : form[1] == 'b' ? (i > 8 ? i - 8 : 0) : i + 1;
        if (at < 0)
            out[n++] = *form;
        else
            n += (size_t)snprintf(out + n, 64 - n, "%d", at), form++;
    }
    out[n] = 0;
    return out;
}

static void write_model(const char *path, const shape *s, int n)
{
    char call[64], label[64], port[64];
    text file = {0};
    wire_model m;
    wire_begin(&m);
    wire_input(&m, "x f32 4,4");
    wire_tensor(&m, "w", 1, 2, (int64_t[]){4, 4}, (float[16]){1}, 64);
    wire_tensor(&m, "axis", 7, 0, NULL, &(int64_t){0}, 8);
    wire_tensor(&m, "rw", 1, 3, (int64_t[]){1, 4, 4}, (float[16]){1}, 64);
    snprintf(port, sizeof port, "long f32 %d,4,4", n);
    wire_input(&m, port);
    wire_node(&m, "", "Sigmoid x t0");
    wire_node(&m, "", "SplitToSequence long entries");
    for (int i = s->how == ONCE ? n - 1 : 0; i < n; i++) {
        if (strstr(s->step, "c%y"))
            wire_input(&m, filled(port, "c%y f32 4,4", i));
        wire_node(&m, filled(label, s->label, i), filled(call, s->step, i));
        if (s->how == ALL || i == n - 1)
            wire_output(&m, filled(port, "t%y f32 *", i));
    }
    wire_end(&m, &file);
    CHECK(file_save(path, text_str(&file), file.length, NULL));
    text_free(&file);
}

/* ---- what is done with them ---- */
typedef struct work {
    int64_t open, describe, draw, plan;
} work;

static int64_t since(int64_t *last)
{
    const int64_t n = blocks - *last;
    *last = blocks;
    return n;
}

static int64_t draw(ts_model *m, err *e)
{
    char *json = ts_model_json(m, e);
    cJSON *root = cJSON_Parse(json);
    int64_t last = blocks;
    branch *tree = tree_make(root);
    FILE *f = fopen("/dev/null", "w");
    tree_print(tree, 4, f, false);
    fclose(f);
    tree_free(tree);
    int drawn;
    free(dot_text(root, &(fold){0}, &drawn));
    last = since(&last);
    cJSON_Delete(root);
    ts_free(json);
    return last;
}

static bool measure(const char *path, work *w, err *e)
{
    const ts_options o = {
        .target = "c", .isa = "avx512", .machine = "l3:1(32MB) l2:2(1MB) l1d:2(32KB) core:2 isa:avx512", .threads = 2};
    int64_t last = blocks;
    ts_model *m = ts_model_open(path, e);
    bool ok = m && ts_model_bind(m, 0, NULL, NULL, e);
    w->open = since(&last);
    if (ok) {
        ts_free(ts_model_json(m, e));
        w->describe = since(&last);
        w->draw = draw(m, e);
        since(&last);
        ts_plan *p = ts_plan_make(m, &o, e);
        w->plan = since(&last);
        ok = p != NULL;
        ts_plan_free(p);
    }
    ts_model_free(m);
    return ok;
}

static void compare(const shape *s, const char *what, int64_t one, int64_t four)
{
    if (!CHECK(COUNTED ? one > 0 && four < 5 * one : one == 0 && four == 0))
        fprintf(stderr, "  %s, %s: %lld blocks, of four times as many nodes %lld (%.1f times)\n", s->name, what,
                (long long)one, (long long)four, (double)four / (double)one);
}

static void grow(const scratch *folder, const shape *s)
{
    work one, four;
    err e = {0};
    const char *path = scratch_in(folder, "long.onnx");
    write_model(path, s, FEW);
    bool ok = measure(path, &one, &e);
    write_model(path, s, 4 * FEW);
    if (!CHECK(ok && measure(path, &four, &e))) {
        fprintf(stderr, "  %s: %s\n", s->name, e.text);
        return;
    }
    compare(s, "opened", one.open, four.open);
    compare(s, "described", one.describe, four.describe);
    compare(s, "drawn", one.draw, four.draw);
    compare(s, "planned", one.plan, four.plan);
}

int main(void)
{
    scratch folder = scratch_make();
    for (int i = 0; i < COUNT(shapes); i++)
        grow(&folder, &shapes[i]);
    scratch_free(&folder);
    return check_done();
}
