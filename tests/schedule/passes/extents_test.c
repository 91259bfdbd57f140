/* Extents that are sums of what a run says: caches that grow (past + seq), windows, slices from the end, several
 * variables at once, steps. Every run gives what a plan for its extents alone gives; what is no such sum is refused by
 * the name of the first operation that forbids it.
 * ctest: Og */
#include "tests/check.h"
#include "tests/scratch.h"

#include "graph/base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIMS = 3, MOST_INPUTS = 4 };
static scratch folder;

/* ---- networks ---- */
/* "Concat x z > y | axis 1", a line each: an operator, what it takes (lists of whole numbers as [1,2]), what it gives,
 * its attributes. */
static void add_step(text *nodes, const char *line, int *n_list)
{
    char copy[256], *at = NULL;
    text in = {0};
    snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
    char *attrs = strstr(copy, " | "), *op;
    if (attrs)
        *attrs = 0, attrs += 3;
    op = strtok_r(copy, " ", &at);
    for (char *word = strtok_r(NULL, " ", &at); word && *word != '>'; word = strtok_r(NULL, " ", &at)) {
        if (*word == '[')
            text_add(nodes, "%s{\"op\":\"Constant\",\"in\":[],\"out\":[\"list%d\"],\"attr\":{\"value_ints\":%s}}",
                     nodes->length ? "," : "", *n_list, word);
        text_add(&in, "%s\"", in.length ? "," : "");
        if (*word == '[')
            text_add(&in, "list%d\"", (*n_list)++);
        else
            text_add(&in, "%s\"", word);
    }
    text_add(nodes, "%s{\"op\":\"%s\",\"in\":[%s],\"out\":[\"%s\"]", nodes->length ? "," : "", op, text_str(&in),
             strtok_r(NULL, " ", &at));
    if (attrs) {
        const int name = (int)strcspn(attrs, " ");
        text_add(nodes, ",\"attr\":{\"%.*s\":%s}", name, attrs, attrs + name + 1);
    }
    text_add(nodes, "}");
    text_free(&in);
}

/* inputs: "x 2,\"seq\",4; ...", all f32 but those called mask, i64 */
static ts_model *open_network(const char *inputs, const char *steps)
{
    err e = {0};
    text t = {0}, nodes = {0};
    int n_list = 0;
    text_add(&t, "{\"format\":\"graph/1\",\"opset\":{\"\":17},\"inputs\":[");
    for (const char *s = inputs; *s; s += strcspn(s, ";"), s += strspn(s, "; ")) {
        const int name = (int)strcspn(s, " ");
        text_add(&t, "%s{\"name\":\"%.*s\",\"dtype\":\"%s\",\"shape\":[%.*s]}", s == inputs ? "" : ",", name, s,
                 strncmp(s, "mask", 4) ? "f32" : "i64", (int)strcspn(s, ";") - name - 1, s + name + 1);
    }
    for (const char *s = steps; *s; s += strcspn(s, "\n"), s += *s == '\n')
        add_step(&nodes, s, &n_list);
    text_add(&t, "],\"outputs\":[{\"name\":\"y\"}],\"nodes\":[%s]}", text_str(&nodes));
    const char *path = scratch_in(&folder, "graph.json");
    CHECK(file_save(path, t.s, t.length, &e));
    ts_model *m = ts_model_open(path, &e);
    if (!CHECK(m != NULL))
        fprintf(stderr, "%s\n%s\n", e.text, t.s);
    text_free(&t), text_free(&nodes);
    return m;
}

/* ---- runs ---- */
static int split(const char *list, char part[MOST_DIMS][32], const char *out[MOST_DIMS]) /* by blanks */
{
    int n = 0;
    for (const char *s = list; *s && n < MOST_DIMS; s += strcspn(s, " "), s += *s == ' ', n++)
        snprintf(part[n], sizeof part[n], "%.*s", (int)strcspn(s, " "), s), out[n] = part[n];
    return n;
}

static bool run(ts_plan *p, ts_model *m, ts_array *y, err *e) /* m: bound at the extents of the run */
{
    ts_port port;
    bool ok = true;
    for (int i = 0; ok && ts_model_input(m, i, &port); i++) {
        ts_array x = {0};
        ok = ts_array_make(&x, port.dtype, port.rank, port.dim, e);
        ts_array_random(&x, (uint64_t)i + 1, strncmp(port.name, "mask", 4) ? port.below : 2);
        ok = ok && ts_plan_set(p, i, &x, e);
        ts_array_free(&x);
    }
    return ok && ts_plan_run(p, e) && ts_plan_get(p, 0, y, e);
}

static double apart(const ts_array *a, const ts_array *b) /* by the largest number; infinite: of two shapes */
{
    double most = 0, scale = 1;
    bool same = a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++)
        same = a->dim[d] == b->dim[d];
    for (int64_t i = 0; same && i < ts_array_count(a); i++) {
        const double x = ts_array_at(a, i), y = ts_array_at(b, i);
        most = fmax(most, x == y || (isnan(x) && isnan(y)) ? 0 : isnan(x - y) ? INFINITY : fabs(x - y));
        scale = fmax(scale, fabs(x));
    }
    return same ? most / scale : INFINITY;
}

typedef struct network {
    const char *inputs, *steps, *range;
    const char *at[48]; /* extents of runs, as many as there are */
} network;

static void test_runs(const network *w)
{
    char part[MOST_DIMS][32];
    const char *dim[MOST_DIMS];
    err e = {0};
    ts_model *m = open_network(w->inputs, w->steps), *alone = open_network(w->inputs, w->steps);
    const ts_options o = {.threads = 2}, reference = {.target = "interp"};
    ts_plan *p = ts_plan_make_varying(m, split(w->range, part, dim), dim, &o, &e);
    if (!CHECK(p != NULL))
        fprintf(stderr, "%s\n%s\n", w->steps, e.text);
    for (int i = 0; p && i < COUNT(w->at) && w->at[i]; i++) {
        ts_array got = {0}, want = {0};
        const int n = split(w->at[i], part, dim);
        CHECK(ts_model_bind(alone, n, dim, NULL, &e));
        ts_plan *q = ts_plan_make(alone, &reference, &e);
        const bool ok = q && run(q, alone, &want, &e) && run(p, alone, &got, &e);
        if (!CHECK(ok && apart(&want, &got) < 2e-5))
            fprintf(stderr, "%s\nat %s: %g apart %s\n", w->steps, w->at[i], ok ? apart(&want, &got) : 0, e.text);
        ts_array_free(&got), ts_array_free(&want), ts_plan_free(q);
    }
    ts_plan_free(p), ts_model_free(m), ts_model_free(alone);
}

#define SEQ "x 2,\"seq\",4"
#define IMAGE "x 1,3,\"h\",\"w\"; k 4,3,3,3"
#define ROWS "x \"b\",\"s\",4; mask \"b\",\"s\"; k 4,6"
#define LOOKED_UP "x 2,5; mask \"n\""
#define SHAPES "x \"n\",3; p \"m\",3"
#define CACHE "past 2,\"past\",4; x 2,\"seq\",4; mask 1,\"total\""
#define TABLE                                                                                            \
    "Shape mask > s\nSlice s [1] [2] > n\nSqueeze n > c\nSqueeze [0] > zero\nSqueeze [1] > one\n"        \
    "Range zero c one > columns\nMul [0,1] n > from\nUnsqueeze from [1] > rows\nAdd rows columns > at\n" \
    "Gather flat at > m\nCast m > f | to 1\nUnsqueeze f [2] > u\nMul x u > y"
#define BYTES                                                                                                         \
    "Reshape [1,-2,3,-4,5,-6,7,-8,9,-10,11,-12,13,-14,15,-127] [4,4] > i\nCast i > w | to 3\n"                        \
    "Constant > s | value_float 0.0625\nQuantizeLinear x s > q\nDequantizeLinear q s > r\nDequantizeLinear w s > d\n" \
    "MatMul r d > y"

static const network networks[] = {
    {SEQ "; z 2,3,4", /* what was kept, then what is new, which looks at all of it */
     "Concat x z > all | axis 1\nTranspose all > t | perm [0,2,1]\nMatMul z t > s\nSoftmax s > p | axis -1\n"
     "MatMul p all > y",
     "seq=1..16",
     {"seq=16", "seq=11", "seq=3", "seq=1"}},
    {SEQ "; z 2,3,4", "Concat z x z > all | axis 1\nReduceSum all > y", "seq=1..16", {"seq=16", "seq=7", "seq=1"}},
    {SEQ, "Concat x x > y | axis 1", "seq=1..16", {"seq=16", "seq=9", "seq=1"}},
    {SEQ, "Flatten x > y | axis 2", "seq=1..16", {"seq=16", "seq=9", "seq=1"}},
    {SEQ, "Slice x [-1] [4096] [1] > last\nTanh last > y", "seq=1..16", {"seq=16", "seq=9", "seq=1"}},
    {SEQ, "Slice x [1] [4096] [1] > rest\nTanh rest > y", "seq=1..16", {"seq=16", "seq=9", "seq=2"}},
    {SEQ, "Slice x [-1] [-4096] [1] [-1] > turned\nSoftmax turned > y | axis 1", "seq=1..16", {"seq=16", "seq=5"}},
    /* rows at places that data say, of which the list is read from its end */
    {LOOKED_UP,
     "Slice mask [-1] [-4096] [0] [-1] > turned\nGather x turned > y | axis 1",
     "n=1..36",
     {"n=36", "n=4", "n=1"}},
    {LOOKED_UP, "Slice mask [-1] [-4096] [0] [-1] > turned\nGather x turned > y", "n=1..9", {"n=9", "n=4", "n=1"}},
    {LOOKED_UP,
     "Slice mask [-1] [-4096] [0] [-1] > turned\nGather x turned > g\nReduceSum g [0] > y",
     "n=1..40",
     {"n=40", "n=17", "n=1"}},
    {SEQ, "Pad x [0,2,0,0,1,3] > y", "seq=1..16", {"seq=16", "seq=9", "seq=1"}},
    {SEQ, "ReduceMean x > y | axes [1]", "seq=1..16", {"seq=16", "seq=9", "seq=1"}},
    /* equal constants, computed while the graph is built where they are small */
    {"x 2,\"seq\",4096",
     "Shape x > s\nConstantOfShape s > z\nExp z > a\nExp z > b\nMul a x > c\nAdd c b > y",
     "seq=1..32",
     {"seq=32", "seq=9", "seq=2"}},
    /* windows: every extent, and in steps where windows go by two */
    {IMAGE, "Conv x k > y", "h=3..12 w=3..9", {"h=12 w=9", "h=5 w=8", "h=3 w=3"}},
    {IMAGE,
     "Conv x k > c | pads [1,1,1,1]\nMaxPool c > y | kernel_shape [2,2]",
     "h=2..12 w=4",
     {"h=12 w=4", "h=5 w=4"}},
    {IMAGE,
     "Conv x k > c | strides [2,2]\nRelu c > r\nConcat r r > y | axis 2",
     "h=4..16/4 w=4..12/2",
     {"h=16 w=12", "h=8 w=6", "h=4 w=4"}},
    /* two variables, and a third dimension that is tied to them */
    {CACHE,
     "Concat past x > all | axis 1\nTranspose all > t | perm [0,2,1]\nMatMul x t > s\nUnsqueeze mask [1] > m3\n"
     "Cast m3 > mf | to 1\nAdd s mf > sm\nSoftmax sm > p | axis -1\nMatMul p all > y",
     "past=1..8 seq=1..6 total=past+seq",
     {"past=8 seq=6 total=14", "past=3 seq=1 total=4", "past=1 seq=5 total=6", "past=1 seq=1 total=2"}},
    {CACHE,
     "Concat past x > all | axis 1\nCast mask > f | to 1\nReduceSum f > n\nMul all n > y",
     "past=1..8 seq=1 total=past+1",
     {"past=8 seq=1 total=9", "past=2 seq=1 total=3"}},
    /* inputs of which nothing but the shape is read say extents like all others */
    {SHAPES, "Shape p > s\nConstantOfShape s > y", "n=1..6 m=1..9", {"n=6 m=9", "n=1 m=1", "n=4 m=3"}},
    {SHAPES, "EyeLike p > y", "n=1..6 m=1..9", {"n=6 m=9", "n=1 m=1", "n=4 m=3"}},
    {SHAPES, "Shape p > s\nExpand x s > y", "n=1 m=1..9", {"n=1 m=9", "n=1 m=1", "n=1 m=3"}},
    {SHAPES, "Size p > y", "n=1..6 m=1..9", {"n=6 m=9", "n=1 m=1", "n=4 m=3"}},
    {SHAPES, "RandomNormalLike p > r\nSub r r > y", "n=1..6 m=1..9", {"n=6 m=9", "n=1 m=1", "n=4 m=3"}},
    {SHAPES, /* positions behind what was kept */
     "Shape p > s\nShape x > t\nSlice s [0] [1] > from\nSlice t [0] [1] > more\nAdd from more > to\n"
     "Squeeze from > a\nSqueeze to > b\nSqueeze [1] > one\nRange a b one > r\nCast r > f | to 1\n"
     "Unsqueeze f [1] > u\nAdd x u > y",
     "n=1..6 m=1..9",
     {"n=6 m=9", "n=1 m=1", "n=4 m=3"}},
    {SEQ, "Shape x > s\nSlice s [1] [2] > n\nCast n > f | to 1\nDiv x f > y", "seq=1..9", {"seq=9", "seq=1", "seq=4"}},
    /* a mask that is looked up as one list, by a table of places, row * extent + column */
    {"mask 2,\"n\"; x 2,\"n\",4", "Reshape mask [-1] > flat\n" TABLE, "n=1..40", {"n=40", "n=17", "n=2", "n=1"}},
    {"mask 2,\"n\"; x 2,\"n\",4",
     "Reshape mask [-1] > row\nNeg row > flat\n" TABLE,
     "n=1..40",
     {"n=40", "n=17", "n=2", "n=1"}},
    {"x \"n\",0; w 0,2", "MatMul x w > y", "n=1..9", {"n=9", "n=3", "n=1"}}, /* of which no element is */
    /* several variables whose product is an extent between: rows one below the other, and a sum over all of them */
    {ROWS,
     "Reshape x [-1,4] > r\nMatMul r k > m\nAdd m m > a\nSoftmax a > p | axis -1\nReduceMax p > q | axes [-1]\n"
     "Shape x > s\nSlice s [0] [2] > t\nReshape q t > y",
     "b=1..4 s=1..9",
     {"b=4 s=9", "b=2 s=5", "b=1 s=9", "b=4 s=1", "b=1 s=1", "b=3 s=2"}},
    {ROWS,
     "Reshape x [-1,4] > r\nTanh r > t\nMatMul t k > m\nReduceSum m [0] > y",
     "b=1..4 s=1..9",
     {"b=4 s=9", "b=2 s=5", "b=1 s=9", "b=4 s=1", "b=1 s=1"}},
    {SEQ, "CumSum x [1] > y", "seq=1..9", {"seq=9", "seq=1", "seq=4"}},
    {"x \"n\",4", BYTES, "n=2..16", {"n=16", "n=5", "n=2"}}, /* there is a graph at a small extent; there is none */
    {"x \"b\",\"n\",4", BYTES, "b=1..3 n=1..5", {"b=3 n=5", "b=2 n=3", "b=1 n=1"}},
};

/* Parts of a variable, rounded: every extent of the range is run. */
static const struct {
    const char *inputs, *steps, *dim;
    int low, high;
} parts[] = {
    {SEQ, "Slice x [0] [4096] [1] [2] > y", "seq", 1, 9},
    {SEQ, "Slice x [-1] [-4096] [1] [-2] > y", "seq", 1, 10},
    {SEQ, "Slice x [1] [4096] [1] [3] > s\nSoftmax s > y | axis 1", "seq", 2, 12},
    {SEQ, "Slice x [0] [4096] [1] [2] > s\nReduceSum s [1] > y", "seq", 1, 9},
    {SEQ, "Slice x [0] [4096] [1] [3] > s\nConcat s x > y | axis 1", "seq", 1, 12},
    {SEQ, "Slice x [0] [4096] [1] [2] > s\nSlice s [0] [4096] [1] [2] > t\nTanh t > y", "seq", 1, 14},
    {SEQ, "Slice x [3] [4096] [1] [3] > y", "seq", 11, 16}, /* (seq - 3) / 3, a half of it at all but one of these */
    {SEQ, "Slice x [0] [5] [1] [2] > y", "seq", 5, 12},
    /* as many rows as there are, up to so many, from either end */
    {SEQ, "Slice x [0] [2] [1] > y", "seq", 1, 9},
    {SEQ, "Slice x [0] [5] [1] > y", "seq", 1, 40},
    {SEQ, "Slice x [0] [5] [1] > s\nReduceSum s [1] > y", "seq", 1, 40},
    {SEQ, "Slice x [2] [7] [1] > s\nSoftmax s > y | axis 1", "seq", 3, 40},
    {SEQ, "Slice x [0] [6] [1] [2] > y", "seq", 1, 40},
    {SEQ, "Slice x [-5] [4096] [1] > y", "seq", 1, 40},
    {LOOKED_UP, "Slice mask [0] [4096] [0] [2] > half\nGather x half > y | axis 1", "n", 1, 36},
    {LOOKED_UP, "Slice mask [0] [4096] [0] [2] > half\nGather x half > g\nReduceSum g [0] > y", "n", 1, 20},
    /* and what is compared otherwise where it has one element */
    {"x \"seq\",4; k 4,4",
     "MatMul x k > m\nReshape m [1,-1,2,2] > r\nTranspose r > t | perm [0,2,1,3]\nSlice t [0] [4096] [2] [2] > y",
     "seq", 1, 9},
    {IMAGE, "Conv x k > y | strides [2,2]", "h", 3, 12},
    {IMAGE, "Conv x k > c | strides [3,2],\"pads\":[1,1,1,1]\nRelu c > y", "h", 1, 12},
    {IMAGE, "MaxPool x > y | kernel_shape [3,3],\"strides\":[2,2],\"pads\":[1,1,1,1]", "h", 1, 11},
    {IMAGE,
     "Conv x k > c | strides [2,2],\"pads\":[1,1,1,1]\nMaxPool c > p | kernel_shape [3,3],\"strides\":[2,2],\"pads\":"
     "[1,1,1,1]\nReduceMax p > y | axes [2]",
     "h", 4, 20},
};

static void test_parts(int i)
{
    static char range[32], at[COUNT(((network *)0)->at)][16];
    network one = {parts[i].inputs, parts[i].steps, range, {0}};
    const char *rest = strcmp(parts[i].dim, "h") ? "" : " w=8";
    snprintf(range, sizeof range, "%s=%d..%d%s", parts[i].dim, parts[i].low, parts[i].high, rest);
    for (int n = parts[i].high, k = 0; n >= parts[i].low; n--, k++)
        snprintf(at[k], sizeof at[k], "%s=%d%s", parts[i].dim, n, rest), one.at[k] = at[k];
    test_runs(&one);
}

/* ---- what is refused ---- */
static void test_refused(void)
{
    static const struct {
        const char *inputs, *steps, *range, *text;
    } wrong[] = {
        {"x \"a\",\"b\",4", "Flatten x > y | axis 2", "a=1..5 b=1..8",
         "dimension \"a\" cannot vary from run to run: reshape \"y\" has an extent of 40, and of 1 where all "
         "dimensions are least: that is no sum of multiples of them"},
        {IMAGE, "Conv x k > y | strides [2,2]", "h=4..2000000 w=4",
         "dimension \"h\" cannot vary from run to run: extents are parts of it, which are compared at every extent, "
         "1999997 of them, and at most 349525 are"},
        {IMAGE, "Conv x k > y | strides [2,2]", "h=4..900 w=4..900",
         "dimension \"h\" cannot vary from run to run: extents are parts of it, which are compared at every extent, "
         "804609 of them, and at most "},
        {IMAGE, "Conv x k > y | strides [2,2],\"auto_pad\":\"SAME_UPPER\"", "h=4..16 w=4",
         "dimension \"h\" cannot vary from run to run: conv2d \"y\" has the extent in the formula of its elements"},
        {SEQ "; z 2,\"more\",4", "Concat x z > a | axis 1\nSlice a [0] [5] [1] > y", "seq=1..9 more=1..9",
         "dimension \"seq\" cannot vary from run to run: slice \"y\" has an extent of 5, and of 2 where all dimensions "
         "are least: that is no sum of multiples of them"},
        {SEQ, "Squeeze x > y", "seq=1..9",
         "dimension \"seq\" cannot vary from run to run: reshape \"y\" is computed in another way at another extent"},
        {IMAGE, "Conv x k > y", "h=1..16 w=4", "dimension \"h\" cannot vary from run to run: where it is 1, "},
    };
    for (int i = 0; i < COUNT(wrong); i++) {
        char part[MOST_DIMS][32];
        const char *dim[MOST_DIMS];
        err e = {0};
        ts_model *m = open_network(wrong[i].inputs, wrong[i].steps);
        CHECK(!ts_plan_make_varying(m, split(wrong[i].range, part, dim), dim, NULL, &e) && e.code == TS_UNSUPPORTED);
        e.text[strcspn(e.text, "\n")] = 0;
        if (!CHECK(!strncmp(e.text, wrong[i].text, strlen(wrong[i].text))))
            fprintf(stderr, "got:  %s\nwant: %s\n", e.text, wrong[i].text);
        ts_model_free(m);
    }
}

static ts_array whole(int64_t a, int64_t b, int64_t c)
{
    ts_array x = {0};
    err e = {0};
    CHECK(ts_array_make(&x, c ? TS_F32 : TS_I64, c ? 3 : 2, (int64_t[]){a, b, c}, &e));
    return x;
}

/* A value whose extent belongs to none of the others is refused, and the plan goes on. */
static void test_values(void)
{
    char part[MOST_DIMS][32];
    const char *dim[MOST_DIMS];
    err e = {0};
    ts_model *m = open_network(CACHE, "Concat past x > all | axis 1\nCast mask > f | to 1\nReduceSum f > n\n"
                                      "Mul all n > y");
    ts_plan *p = ts_plan_make_varying(m, split("past=2..8/2 seq=1..4 total=past+seq", part, dim), dim, NULL, &e);
    ts_array past = whole(2, 6, 4), odd = whole(2, 5, 4), x = whole(2, 3, 4), mask = whole(1, 9, 0),
             other = whole(1, 8, 0), y = {0};
    CHECK(p && !ts_plan_set(p, 0, &odd, &e));
    CHECK_TEXT(e.text, "input \"past\": dimension 1 is 5, outside of past=2..8/2");
    e = (err){0};
    CHECK(ts_plan_set(p, 0, &past, &e) && ts_plan_set(p, 1, &x, &e) && ts_plan_set(p, 2, &other, &e) &&
          !ts_plan_run(p, &e));
    CHECK_TEXT(e.text, "input \"mask\": dimension 1 is 8, and past + seq is 9 by other inputs");
    e = (err){0};
    CHECK(ts_plan_set(p, 2, &mask, &e) && ts_plan_run(p, &e) && ts_plan_get(p, 0, &y, &e) && y.dim[1] == 9);
    ts_array_free(&past), ts_array_free(&odd), ts_array_free(&x), ts_array_free(&mask), ts_array_free(&other),
        ts_array_free(&y);
    ts_plan_free(p), ts_model_free(m);
}

/* What no value that was given says is asked for. */
static void test_unsaid(void)
{
    char part[MOST_DIMS][32];
    const char *dim[MOST_DIMS];
    err e = {0};
    ts_model *m = open_network(SHAPES, "Shape p > s\nConstantOfShape s > k\nSlice x [0] [1] > r\nAdd r k > y");
    ts_plan *p = ts_plan_make_varying(m, split("n=1 m=1..9", part, dim), dim, NULL, &e);
    ts_array x = {0}, kept = {0}, y = {0};
    CHECK(p && ts_array_make(&x, TS_F32, 2, (int64_t[]){1, 3}, &e) &&
          ts_array_make(&kept, TS_F32, 2, (int64_t[]){4, 3}, &e));
    CHECK(ts_plan_set(p, 0, &x, &e) && !ts_plan_run(p, &e) && e.code == TS_USAGE);
    CHECK_TEXT(e.text, "no input that has a value says what \"m\" is in this run");
    e = (err){0};
    CHECK(ts_plan_set(p, 1, &kept, &e) && ts_plan_run(p, &e) && ts_plan_get(p, 0, &y, &e) && y.dim[0] == 4);
    ts_array_free(&x), ts_array_free(&kept), ts_array_free(&y);
    ts_plan_free(p), ts_model_free(m);
}

int main(void)
{
    folder = scratch_make();
    for (int i = 0; i < COUNT(networks); i++)
        test_runs(&networks[i]);
    for (int i = 0; i < COUNT(parts); i++)
        test_parts(i);
    test_refused();
    test_values();
    test_unsaid();
    scratch_free(&folder);
    return check_done();
}
