/* Models from ONNX files written here: how names, order and dimensions are resolved, what becomes constant, and in
 * which words everything that is wrong or not supported is said. */
/* ctest: fast */
#include "import/model.h"
#include "tests/check.h"
#include "tests/import/wire.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[160];

static ts_model *open_model(wire_model *m, err *e)
{
    text file = {0};
    wire_end(m, &file);
    CHECK(file_save(path, text_str(&file), file.length, NULL));
    text_free(&file);
    return ts_model_open(path, e);
}

static void said(const err *e, ts_code code, const char *part)
{
    CHECK(e->code == code);
    if (!CHECK(strstr(e->text, part)))
        fprintf(stderr, "  said: %s\n  want: %s\n", e->text, part);
}

static void refuse_open(wire_model *m, const char *part)
{
    err e = {0};
    ts_model *opened = open_model(m, &e);
    CHECK(!opened);
    said(&e, TS_BAD_INPUT, part);
    ts_model_free(opened);
}

static void refuse_bind(wire_model *m, int n, const char *const *given, ts_code code, const char *part)
{
    err e = {0};
    ts_model *opened = open_model(m, &e);
    if (CHECK(opened != NULL))
        CHECK(!ts_model_bind(opened, n, given, NULL, &e) && !ts_model_graph(opened));
    said(&e, code, part);
    ts_model_free(opened);
}

/* The graph of a model that must bind, printed; NULL otherwise. Shapes belong to its first input. */
static char *bound_text(wire_model *m, int n, const char *const *given)
{
    err e = {0};
    char *s = NULL;
    ts_model *opened = open_model(m, &e);
    if (CHECK(opened && ts_model_bind(opened, n, given, NULL, &e))) {
        ts_tensor y = ts_model_tensor(opened, 0);
        s = ts_print(1, &y);
    } else
        fprintf(stderr, "  said: %s\n", e.text);
    ts_model_free(opened);
    return s;
}

static void check_bound(wire_model *m, int n, const char *const *given, const char *want)
{
    char *got = bound_text(m, n, given);
    CHECK_TEXT(got, want);
    ts_free(got);
}

static void begin(wire_model *m)
{
    wire_begin(m);
    wire_input(m, "x f32 batch,3");
    wire_output(m, "y f32 batch,3");
}

static const char *const batch2[] = {"batch=2"};

/* ---- names and order ---- */
static void test_links(void)
{
    wire_model m;
    begin(&m);
    wire_node(&m, "last", "Relu t y"); /* before what it needs */
    wire_node(&m, "first", "Neg x t");
    wire_node(&m, "unused", "com.acme.Foo x u");
    check_bound(&m, 1, batch2,
                "n0 = input \"x\" : f32[2,3]\nn1 = negative(n0) : f32[2,3]\nn2 = relu(n1) : f32[2,3]\n"
                "return n2\n");
    begin(&m);
    wire_node(&m, "a", "Add x,t9 y");
    refuse_open(&m, "M012 node[0] \"a\": input \"t9\" is not defined");
    begin(&m);
    wire_node(&m, "a", "Relu x t");
    refuse_open(&m, "M012 output \"y\" is not defined");
    begin(&m);
    wire_node(&m, "a", "Add x,t2 t1");
    wire_node(&m, "b", "Relu t1 t2");
    wire_node(&m, "c", "Relu t2 y");
    refuse_open(&m,
                "M012 cycle: node[1] \"b\" needs \"t1\" of node[0] \"a\", which itself needs what node[1] \"b\" makes");
    begin(&m);
    wire_node(&m, "self", "Relu y y");
    refuse_open(&m, "M012 cycle: node[0] \"self\" needs \"y\" of node[0] \"self\"");
    begin(&m);
    wire_node(&m, "a", "Relu x y");
    wire_node(&m, "b", "Neg x y");
    refuse_open(&m, "M013 value \"y\" is produced by node[0] \"a\" and by node[1] \"b\"");
    begin(&m);
    wire_node(&m, "a", "Relu y x");
    refuse_open(&m, "M013 value \"x\" is produced by input[0] and by node[0] \"a\"");
    begin(&m);
    wire_input(&m, "x f32 3");
    wire_node(&m, "a", "Relu x y");
    refuse_open(&m, "M013 value \"x\" is produced by input[0] and by input[1]");
    begin(&m);
    wire_tensor(&m, "w", 1, 0, NULL, "1234", 4);
    wire_tensor(&m, "w", 1, 0, NULL, "1234", 4);
    refuse_open(&m, "M013 value \"w\" is produced by tensor[0] of the file and by tensor[1] of the file");
}

/* A long chain: neither order nor depth of nesting may cost a stack frame a step. */
static void test_long(void)
{
    enum { LONG = 20000 };
    wire_model m;
    begin(&m);
    wire_node(&m, "end", "Relu t0 y");
    for (int i = 0; i < LONG; i++) {
        char spec[64];
        snprintf(spec, sizeof spec, "Neg t%d t%d", i + 1, i);
        wire_node(&m, "", spec);
    }
    char spec[64];
    snprintf(spec, sizeof spec, "Neg x t%d", LONG);
    wire_node(&m, "", spec);
    err e = {0};
    ts_model *opened = open_model(&m, &e);
    CHECK(opened && ts_model_bind(opened, 1, batch2, NULL, &e) && ts_model_graph(opened)->n == LONG + 3);
    ts_model_free(opened);
}

/* ---- dimensions ---- */
static void two_inputs(wire_model *m)
{
    wire_begin(m);
    wire_input(m, "a f32 batch,seq");
    wire_input(m, "b f32 batch,seq");
    wire_output(m, "y f32 batch,seq");
    wire_node(m, "sum", "Add a,b y");
}

static void refuse_shapes(const ts_array *shapes, ts_code code, const char *part)
{
    wire_model m;
    err e = {0};
    two_inputs(&m);
    ts_model *opened = open_model(&m, &e);
    CHECK(opened && !ts_model_bind(opened, 1, batch2, shapes, &e));
    said(&e, code, part);
    ts_model_free(opened);
}

/* "seq" of a mask that spans what was kept and what is new: two extents under one name. */
static void test_labels(void)
{
    const ts_array ids = {.dtype = TS_F32, .rank = 2, .dim = {2, 3}},
                   mask = {.dtype = TS_F32, .rank = 2, .dim = {2, 7}};
    wire_model m;
    err e = {0};
    ts_port p;
    wire_begin(&m);
    wire_input(&m, "ids f32 batch,seq");
    wire_input(&m, "mask f32 batch,seq");
    wire_output(&m, "y f32 batch,seq");
    wire_node(&m, "joined", "Concat ids,mask y axis=1");
    ts_model *opened = open_model(&m, &e);
    if (!CHECK(opened && ts_model_bind(opened, 0, NULL, (const ts_array[]){ids, mask}, &e))) {
        ts_model_free(opened);
        return;
    }
    CHECK(ts_model_output(opened, 0, &p) && p.dim[1] == 10);
    static const char note[] =
        "dimension \"seq\" is 3 by the value of input \"ids\"; dimension 1 of input \"mask\", of the "
        "same name, is 7";
    CHECK(!strcmp(ts_model_notes(opened), note));
    CHECK(ts_model_bind(opened, 0, NULL, (const ts_array[]){ids, ids}, &e) && !*ts_model_notes(opened));
    /* whoever says how long it is means it */
    CHECK(!ts_model_bind(opened, 1, (const char *const[]){"seq=3"}, (const ts_array[]){ids, mask}, &e));
    said(&e, TS_BAD_INPUT, "dimension \"seq\" is 3 by --dim seq=3 and 7 by the value of input \"mask\"");
    ts_model_free(opened);
    /* where it was meant, an operation refuses them, and the note says why */
    two_inputs(&m);
    opened = open_model(&m, &e);
    e = (err){0};
    CHECK(opened && !ts_model_bind(opened, 0, NULL, (const ts_array[]){ids, mask}, &e));
    CHECK(e.code == TS_BAD_INPUT && strstr(e.text, "Add") && strstr(e.text, "hint: dimension \"seq\" is 3 by"));
    ts_model_free(opened);
}

static void test_dims(void)
{
    wire_model m;
    err e = {0};
    ts_port p;
    two_inputs(&m);
    ts_model *opened = open_model(&m, &e);
    const ts_array none = {.dtype = TS_N_DTYPE}, b = {.dtype = TS_F32, .rank = 2, .dim = {2, 5}};
    CHECK(opened && ts_model_inputs(opened) == 2 && ts_model_outputs(opened) == 1);
    CHECK(ts_model_input(opened, 1, &p) && p.dim[1] == -1 && !strcmp(p.symbol[1], "seq"));
    CHECK(ts_model_bind(opened, 0, NULL, (const ts_array[]){none, b}, &e)); /* the shape of b binds both */
    CHECK(ts_model_input(opened, 0, &p) && p.dim[0] == 2 && p.dim[1] == 5 && !strcmp(p.symbol[1], "seq"));
    CHECK(ts_model_output(opened, 0, &p) && p.dim[0] == 2 && p.dim[1] == 5 && p.dtype == TS_F32);
    CHECK(ts_model_bind(opened, 2, (const char *const[]){"seq=7", "batch=0"}, NULL, &e)); /* again, and empty */
    CHECK(ts_model_output(opened, 0, &p) && p.dim[0] == 0 && p.dim[1] == 7);
    CHECK(!ts_model_bind(opened, 1, batch2, NULL, &e));
    said(&e, TS_USAGE, "dimension \"seq\" of input \"a\" has no extent\n  hint: give it one: --dim seq=N");
    e = (err){0};
    CHECK(!ts_model_bind(opened, 0, NULL, NULL, &e));
    said(&e, TS_USAGE,
         "2 dimensions have no extent: \"batch\", \"seq\"\n  hint: give each of them one: --dim batch=N --dim seq=N");
    CHECK(!ts_model_graph(opened) && !ts_model_tensor(opened, 0));
    ts_model_free(opened);
    static const char *const wrong[][2] = {
        {"sq=3", "the model has no dimension \"sq\"\n  hint: did you mean seq?\n  hint: its dimensions are batch, seq"},
        {"seq", "--dim \"seq\" is not of the form NAME=EXTENT"},
        {"seq=x", "--dim \"seq=x\": an extent is a whole number"},
        {"seq=-1", "--dim \"seq=-1\": an extent is a whole number"},
        {"seq=99999999999999999999", "an extent is a whole number from 0 to 2^40"},
        {"seq=3 ", "\"seq=3 \": an extent"},
    };
    for (int i = 0; i < COUNT(wrong); i++) {
        two_inputs(&m);
        refuse_bind(&m, 1, &wrong[i][0], TS_USAGE, wrong[i][1]);
    }
    two_inputs(&m);
    refuse_bind(&m, 2, (const char *const[]){"seq=3", "seq=4"}, TS_BAD_INPUT,
                "dimension \"seq\" is 3 by --dim seq=3 and 4 by --dim seq=4");
    const ts_array other = {.dtype = TS_F32, .rank = 2, .dim = {3, 5}}, flat = {.dtype = TS_F32, .rank = 1, .dim = {2}};
    refuse_shapes((const ts_array[]){other, none}, TS_BAD_INPUT,
                  "dimension \"batch\" is 2 by --dim batch=2 and 3 by the value of input \"a\"");
    refuse_shapes((const ts_array[]){flat, none}, TS_BAD_INPUT, "input \"a\" has rank 2, the value given has rank 1");
    begin(&m);
    wire_node(&m, "a", "Relu x y");
    opened = open_model(&m, &e);
    e = (err){0};
    CHECK(!ts_model_bind(opened, 0, NULL, &b, &e));
    said(&e, TS_BAD_INPUT, "input \"x\": dimension 1 is 5 in the value given, 3 in the model");
    ts_model_free(opened);
}

/* No shape in the file at all: only a value can give one. */
static void test_shapeless(void)
{
    wire_model m;
    err e = {0};
    wire_begin(&m);
    wire_input(&m, "x f32 *");
    wire_output(&m, "y f32 *");
    wire_node(&m, "a", "Relu x y");
    ts_model *opened = open_model(&m, &e);
    CHECK(opened && !ts_model_bind(opened, 0, NULL, NULL, &e));
    said(&e, TS_USAGE, "the model does not state the shape of input \"x\"\n  hint: give a value: --in x=FILE.npy");
    const ts_array x = {.dtype = TS_F32, .rank = 1, .dim = {4}};
    ts_port p;
    CHECK(ts_model_bind(opened, 0, NULL, &x, NULL) && ts_model_output(opened, 0, &p) && p.rank == 1 && p.dim[0] == 4);
    ts_model_free(opened);
}

/* ---- nodes ---- */
static void test_folding(void)
{
    wire_model m;
    wire_begin(&m);
    wire_input(&m, "x f32 batch,6");
    wire_output(&m, "y f32 *");
    wire_tensor(&m, "two", 7, 1, (int64_t[]){1}, (int64_t[]){2}, 8);
    wire_tensor(&m, "rest", 7, 1, (int64_t[]){1}, (int64_t[]){-1}, 8);
    wire_node(&m, "s", "Shape x s");
    wire_node(&m, "g", "Gather s,zero g axis=0");
    wire_tensor(&m, "zero", 7, 1, (int64_t[]){1}, (int64_t[]){0}, 8);
    wire_node(&m, "c", "Concat g,two,rest c axis=0");
    wire_node(&m, "r", "Reshape x,c y");
    check_bound(&m, 1, (const char *const[]){"batch=4"},
                "n0 = input \"x\" : f32[4,6]\nn1 = reshape(n0) shape=[4,2,-1] : f32[4,2,3]\nreturn n1\n");
}

static void test_weights(void)
{
    wire_model m;
    err e = {0};
    const float w[4] = {0, 1, 2, 3}, scale = 2;
    begin(&m);
    wire_tensor(&m, "w", 1, 1, (int64_t[]){3}, w, 12);
    wire_tensor(&m, "scale", 1, 0, NULL, &scale, 4);
    wire_node(&m, "add", "Add x,w t");
    wire_node(&m, "", "Mul t,scale y");
    ts_model *opened = open_model(&m, &e);
    if (CHECK(opened && ts_model_bind(opened, 1, batch2, NULL, &e))) {
        const node *y = ts_model_tensor(opened, 0), *t = y->in[0], *weight = t->in[1];
        CHECK(weight->leaf && weight->leaf->kind == LEAF_WEIGHT && !memcmp(weight->leaf->data, w, 12));
        CHECK((const unsigned char *)weight->leaf->data > opened->file.map.at); /* not copied */
        CHECK_TEXT(weight->label, "w");
        CHECK(y->in[1]->leaf && y->in[1]->leaf->kind == LEAF_CONST); /* a single number */
        CHECK_TEXT(t->label, "add");
        CHECK_TEXT(y->label, "y"); /* a node without a name goes by its result */
    }
    ts_model_free(opened);
}

static void test_below(void)
{
    wire_model m;
    err e = {0};
    ts_port p;
    static float table[50], other[20];
    wire_begin(&m);
    wire_input(&m, "ids i64 seq");
    wire_input(&m, "mask i64 seq");
    wire_input(&m, "free i64 seq");
    wire_output(&m, "y f32 *");
    wire_tensor(&m, "table", 1, 2, (int64_t[]){10, 5}, table, sizeof table);
    wire_tensor(&m, "other", 1, 2, (int64_t[]){4, 5}, other, sizeof other);
    wire_tensor(&m, "two", 7, 1, (int64_t[]){2}, (int64_t[]){1, -1}, 16);
    wire_node(&m, "a", "Gather table,ids a axis=0");
    wire_node(&m, "b", "Reshape ids,two b");
    wire_node(&m, "c", "Gather other,b c axis=0"); /* through a reshape, and fewer rows */
    wire_node(&m, "d", "Cast mask d to=9");
    wire_node(&m, "e", "Unsqueeze d,one e");
    wire_tensor(&m, "one", 7, 1, (int64_t[]){1}, (int64_t[]){1}, 8);
    wire_node(&m, "f", "Where e,a,c f");
    wire_node(&m, "g", "Cast free g to=1");
    wire_node(&m, "h", "Unsqueeze g,one h");
    wire_node(&m, "i", "Add f,h y");
    ts_model *opened = open_model(&m, &e);
    if (!CHECK(opened && ts_model_bind(opened, 1, (const char *const[]){"seq=3"}, NULL, &e)))
        fprintf(stderr, "  said: %s\n", e.text);
    CHECK(ts_model_input(opened, 0, &p) && p.below == 4);
    CHECK(ts_model_input(opened, 1, &p) && p.below == 2);
    CHECK(ts_model_input(opened, 2, &p) && p.below == 0);
    ts_model_free(opened);
}

static void test_unsupported(void)
{
    wire_model m;
    begin(&m);
    wire_node(&m, "one", "com.acme.Foo x a");
    wire_node(&m, "two", "com.acme.Foo a b");
    wire_node(&m, "three", "com.acme.Foo x c");
    wire_node(&m, "four", "Bar x d");
    wire_node(&m, "five", "Sum a,b,c,d y");
    refuse_bind(&m, 1, batch2, TS_UNSUPPORTED,
                "M016 not supported:\n  com.acme.Foo (opset 1, f32); 2 times, first in node[0] \"one\"\n"
                "  com.acme.Foo (opset 1); in node[1] \"two\"\n  Bar (opset 17, f32); in node[3] \"four\"");
    begin(&m); /* more than an error can hold */
    char from[16] = "x";
    for (int i = 0; i < 400; i++) {
        char spec[64];
        snprintf(spec, sizeof spec, "com.acme.Op%d %s t%d", i, from, i);
        snprintf(from, sizeof from, "t%d", i);
        wire_node(&m, "deep", spec);
    }
    wire_node(&m, "end", "Relu t399 y");
    refuse_bind(&m, 1, batch2, TS_UNSUPPORTED, "\n  and 3");
    begin(&m); /* said before what is not bound */
    wire_node(&m, "four", "Bar x y");
    refuse_bind(&m, 0, NULL, TS_UNSUPPORTED, "Bar (opset 17); in node[0] \"four\"");
    begin(&m); /* an operator of this name, but of a version with another meaning */
    m.opset = 6;
    wire_node(&m, "a", "GroupNormalization x,x,x y");
    refuse_bind(&m, 1, batch2, TS_UNSUPPORTED, "GroupNormalization (opset 6, f32)");
    begin(&m); /* a tensor of a type without a dtype, used */
    wire_tensor(&m, "w", 8, 0, NULL, "", 0);
    wire_node(&m, "a", "Add x,w y");
    refuse_bind(&m, 1, batch2, TS_UNSUPPORTED, "tensor \"w\": elements of type string");
}

static void test_bad_nodes(void)
{
    wire_model m;
    static const char *const rows[][2] = {
        {"Add x y", "M024 node[0] \"n\" Add: "},
        {"Add x,-,x y", "M024 node[0] \"n\" Add: input 1 is missing"},
        {"Relu x y,z", "M024 node[0] \"n\" Relu: 2 outputs, gives 1"},
        {"Relu x y gain=2.5", "M024 node[0] \"n\" Relu: no attribute gain"},
        {"Softmax x y axes=1", "M024 node[0] \"n\" Softmax: no attribute axes\n  hint: did you mean axis?"},
        {"Softmax x,x y", "M024 node[0] \"n\" Softmax: 2 inputs, takes 1"},
        {"Shape x y,z", "M024 node[0] \"n\" Shape: 2 outputs, gives 1"},
        {"If one y cond=1", "M024 node[0] \"n\" If: no attribute cond"},
        {"Reshape x,two y", "M024 node[0] \"n\" Reshape: "},
        {"Add x,two5 y", "M024 node[0] \"n\" Add: "},
        {"Softmax x y axis=5", "M024 node[0] \"n\" Softmax: "},
        {"Softmax x y axis=1.5", "M024 node[0] \"n\" Softmax: "},
        {"Transpose x y perm=[0,0]", "M024 node[0] \"n\" Transpose: "},
        {"Concat x,x y axis=7", "M024 node[0] \"n\" Concat: "},
        {"MatMul x,x y", "M024 node[0] \"n\" MatMul: "},
        {"Squeeze x,one y", "M024 node[0] \"n\" Squeeze: "},
    };
    static const float five[5] = {0};
    for (int i = 0; i < COUNT(rows); i++) {
        begin(&m);
        wire_tensor(&m, "two", 7, 1, (int64_t[]){2}, (int64_t[]){4, 2}, 16);
        wire_tensor(&m, "one", 7, 1, (int64_t[]){1}, (int64_t[]){1}, 8);
        wire_tensor(&m, "two5", 1, 1, (int64_t[]){5}, five, sizeof five);
        wire_node(&m, "n", rows[i][0]);
        refuse_bind(&m, 1, batch2, TS_BAD_INPUT, rows[i][1]);
    }
}

/* Tiny files that ask for the impossible, or for the merely huge. */
static void test_budget(void)
{
    wire_model m;
    const int64_t big[] = {1 << 20, 1 << 20, 4};
    wire_begin(&m);
    wire_input(&m, "x f32 1");
    wire_output(&m, "y f32 *");
    wire_tensor(&m, "s", 7, 1, (int64_t[]){3}, big, sizeof big);
    wire_node(&m, "bomb", "Expand x,s y");
    refuse_bind(&m, 0, NULL, TS_MEMORY,
                "M025 node[0] \"bomb\" Expand: output f32[1048576,1048576,4] has 4398046511104 elements, "
                "the limit is 1099511627776\n  hint: --limit elements=4398046511104 allows it");
    const int64_t huge[] = {INT64_MAX, INT64_MAX, 2};
    wire_begin(&m);
    wire_input(&m, "x f32 1");
    wire_output(&m, "y f32 *");
    wire_tensor(&m, "s", 7, 1, (int64_t[]){3}, huge, sizeof huge);
    wire_node(&m, "bomb", "Expand x,s y");
    refuse_bind(&m, 0, NULL, TS_MEMORY, "M025 node[0] \"bomb\" Expand");
    wire_begin(&m); /* constants that could be computed, but not for so little */
    wire_output(&m, "y f32 *");
    wire_tensor(&m, "s", 7, 1, (int64_t[]){1}, (int64_t[]){INT64_C(1) << 39}, 8);
    wire_node(&m, "fill", "ConstantOfShape s y");
    err e = {0};
    ts_model *opened = open_model(&m, &e);
    CHECK(opened && ts_model_bind(opened, 0, NULL, NULL, &e));
    CHECK(opened && ts_model_graph(opened) && arena_bytes(&ts_model_graph(opened)->mem) < 100000);
    ts_model_free(opened);
}

static void test_paths(void)
{
    err e = {0};
    CHECK(!ts_model_open("/tmp/tessera-no-such-model", &e));
    said(&e, TS_FILES, "there is no file, folder or built-in model \"/tmp/tessera-no-such-model\"");
    e = (err){0};
    char folder[] = "/tmp/tessera-folder-XXXXXX", inside[128];
    CHECK(mkdtemp(folder) != NULL);
    CHECK(!ts_model_open(folder, &e));
    said(&e, TS_FILES, "holds no graph.json or model.onnx");
    snprintf(inside, sizeof inside, "%s/model.onnx", folder);
    wire_model m;
    text file = {0};
    begin(&m);
    wire_node(&m, "n", "Relu x y");
    wire_end(&m, &file);
    CHECK(file_save(inside, file.s, file.length, NULL));
    ts_model *opened = ts_model_open(folder, NULL);
    CHECK(opened != NULL);
    ts_model_free(opened);
    unlink(inside);
    snprintf(inside, sizeof inside, "%s/weights", folder); /* the format shows in the bytes */
    CHECK(file_save(inside, file.s, file.length, NULL));
    opened = ts_model_open(inside, NULL);
    CHECK(opened != NULL);
    ts_model_free(opened);
    e = (err){0};
    CHECK(file_save(inside, "hello", 5, NULL) && !ts_model_open(inside, &e));
    said(&e, TS_BAD_INPUT, "M001");
    unlink(inside);
    rmdir(folder);
    text_free(&file);
}

int main(void)
{
    scratch folder = scratch_make();
    snprintf(path, sizeof path, "%s/model.onnx", folder.path);
    test_links();
    test_long();
    test_labels();
    test_dims();
    test_shapeless();
    test_folding();
    test_weights();
    test_below();
    test_unsupported();
    test_bad_nodes();
    test_budget();
    test_paths();
    scratch_free(&folder);
    return check_done();
}
