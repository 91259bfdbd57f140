/* The notation of loops: what prints parses, how far loops reach, and every refusal in its words. */
/* ctest: fast */
#include "backends/cpu/cpu.h"
#include "schedule/nest/nest.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static target on; /* a processor's */
static machine of;

/* ---- kernels made by hand: letters, extents, folds and operands are all that nests know ---- */
typedef struct fake {
    kernel k;
    stage s[2];
    node value[2], input;
    expr load[2]; /* of what the kernel computes first, of an input */
    const expr *list[3];
} fake;

/* Operands of a stage: inputs, and the first stage's value as the first one if it computes with that. */
static void operands(fake *f, stage *s, int n, bool computed)
{
    f->load[0] = (expr){.kind = X_LOAD, .from = &f->value[0]}, f->load[1] = (expr){.kind = X_LOAD, .from = &f->input};
    for (int i = 0; i < 3; i++)
        f->list[i] = &f->load[1];
    s->n_load = n;
    s->load = f->list;
    if (computed)
        f->list[0] = &f->load[0];
    s->value = f->list[0];
}

static void axes(stage *s, const char *letters, const int64_t *extent, int result, int shared)
{
    for (const char *at = letters; *at; at++) {
        snprintf(s->letter[s->n_axis], MAX_LETTER, "%c", *at);
        if (s->n_axis >= result)
            s->folds |= 1u << s->n_axis;
        s->extent[s->n_axis] = extent[s->n_axis];
        s->n_axis++;
    }
    s->n_result = result, s->n_shared = shared;
}

static void product(fake *f) /* y[m,n] = sum over k of a[m,k] b[k,n], a bias c */
{
    static const int64_t extent[] = {128, 768, 100};
    *f = (fake){.k = {.n_stage = 1}};
    f->k.stage = f->s;
    snprintf(f->s[0].name, sizeof f->s[0].name, "product");
    axes(&f->s[0], "mnk", extent, 2, 0);
    f->s[0].node = &f->value[0];
    operands(f, &f->s[0], 3, false);
}

static void two_stages(fake *f) /* scores of a head and block of queries, then what they weigh */
{
    static const int64_t scores[] = {12, 128, 128, 64}, context[] = {12, 128, 64, 128};
    *f = (fake){.k = {.n_stage = 2, .n_shared = 2, .main = 0}};
    f->k.stage = f->s;
    snprintf(f->s[0].name, sizeof f->s[0].name, "scores");
    snprintf(f->s[1].name, sizeof f->s[1].name, "context");
    axes(&f->s[0], "hqnk", scores, 3, 2);
    axes(&f->s[1], "hqds", context, 3, 2);
    for (int i = 0; i < 2; i++)
        f->s[i].node = &f->value[i], operands(f, &f->s[i], 2, true);
}

static const op rows_and_columns = {.name = "product", .axes = "m n | k"};
static void one_row(fake *f) /* the same of one row: there is no axis m */
{
    static const int64_t extent[] = {768, 100};
    *f = (fake){.k = {.n_stage = 1}};
    f->k.stage = f->s;
    snprintf(f->s[0].name, sizeof f->s[0].name, "product");
    axes(&f->s[0], "nk", extent, 1, 0);
    f->s[0].node = &f->value[0], f->s[0].whole = &f->value[0];
    f->value[0].op = &rows_and_columns;
    operands(f, &f->s[0], 3, false);
}

typedef void maker(fake *f);

static bool loops_alike(const stage *a, const stage *b) /* field by field: bytes between fields say nothing */
{
    bool same = a->nest.n == b->nest.n && a->n_staging == b->n_staging;
    for (int i = 0; i < a->nest.n && same; i++) {
        const loop *x = &a->nest.loop[i], *y = &b->nest.loop[i];
        same = x->axis == y->axis && x->step == y->step && x->range == y->range && x->role == y->role;
    }
    for (int i = 0; i < a->n_staging && same; i++) {
        const staging *x = &a->staging[i], *y = &b->staging[i];
        same = x->loop == y->loop && x->shared == y->shared && x->load == y->load && x->space == y->space &&
               x->stages == y->stages && x->derived == y->derived;
    }
    return same;
}

static void reads(maker *make, const char *source, const char *want)
{
    fake f, again;
    err e = {0};
    text t = {0}, u = {0};
    make(&f), make(&again);
    if (!CHECK(nest_parse(&on, &f.k, source, &e))) {
        printf("  %s\n", e.text);
        return;
    }
    nest_print(&t, &f.k, true);
    CHECK_TEXT(t.s, want);
    CHECK(nest_parse(&on, &again.k, t.s, &e));
    nest_print(&u, &again.k, true);
    CHECK_TEXT(text_str(&u), t.s);
    for (int i = 0; i < f.k.n_stage; i++)
        CHECK(loops_alike(&f.s[i], &again.s[i]));
    text_free(&t), text_free(&u);
}

static void same(maker *make, const char *source)
{
    reads(make, source, source);
}

static void test_round_trip(void)
{
    same(product, "m n k");
    same(product, "n/384@core n/48 m/8 k/4 k@unroll m@unroll n@vector");
    same(product, "n/48@core m/8 k m@unroll n@vector");
    same(product, "n/48+b@l2*2 m/8+a k m@unroll n@vector");
    same(product, "n/48+b@l1*3+a@l2*2 m/8+c@none k m@unroll n@vector");
    same(product, "n/48 m/8+y@l2*2 k m@unroll n@vector");
    same(product, "n/48+b@nta*2 m/8 k m@unroll n@vector");
    same(product, "n/48 m/8+y@none k m@unroll n@vector");
    reads(product, "  n/48+b@l2   m/8  k m@unroll n@vector ", "n/48+b@l2*2 m/8 k m@unroll n@vector");
    same(product, "m/1000 m n k/100 k"); /* one clipped trip */
    same(two_stages, "h@core q/32 ; scores: q/8 n/32 k q@unroll n@vector ; context: q s d@vector");
    same(two_stages, "h@core+scores.b q/32+context.b ; scores: q n k ; context: q/8 s/4 s@unroll q@unroll d@vector");
}

static void lost(const char *source, const char *want) /* what is said of m in vain */
{
    fake f;
    err e = {0};
    one_row(&f);
    CHECK(nest_parse(&on, &f.k, source, &e));
    CHECK_TEXT(f.k.lost, want);
}

static void test_once(void) /* an axis of one element can be named; it takes no loop */
{
    reads(one_row, "m n k", "n k");
    reads(one_row, "m/8 n/48@core k m@unroll n@vector", "n/48@core k n@vector");
    reads(one_row, "n/48 m/8+a k/4 k@unroll m@unroll n@vector", "n/48+a k/4 k@unroll n@vector");
    reads(one_row, "n/48 m/8+b@l2*2+a@none k m@unroll n@vector", "n/48+a@none k n@vector");
    reads(one_row, "m/tile n k", "n k");
    lost("m n k", ""), lost("n m/8+a k", ""), lost("m/8 m+b@l2*2 n k", "");
    lost("m@core n k", "m@core"), lost("m/8+a n k", "m/8+a"), lost("n k m@vector", "m@vector");
}

/* A stage's loops by themselves may name what is walked outside, by the name that its operation has for it. */
static void test_alone(void)
{
    fake f;
    err e = {0};
    text t = {0};
    two_stages(&f);
    snprintf(f.s[0].own[0], MAX_LETTER, "b"), snprintf(f.s[0].own[1], MAX_LETTER, "m");
    CHECK(nest_parse_shared(&on, &f.k, "h q/32", &e));
    CHECK(nest_parse_stage(&on, &f.k, 0, "b@core m/8 n/32 k m@unroll n@vector", &e));
    nest_print_stage(&t, &f.s[0], false);
    CHECK_TEXT(t.s, "q/8 n/32 k q@unroll n@vector");
    CHECK_TEXT(f.k.lost, "b@core");
    CHECK(!nest_parse_stage(&on, &f.k, 0, "b b m n k", &e));
    CHECK_TEXT(e.text, "loops \"b b m n k\", column 3: axis b is walked twice");
    e = (err){0};
    CHECK(!nest_parse_stage(&on, &f.k, 0, "m@core n k", &e));
    CHECK_TEXT(e.text, "loops \"m@core n k\", column 1: @core belongs to the loops that the stages share");
    text_free(&t);
}

static void test_reach(void)
{
    fake f;
    err e = {0};
    product(&f);
    CHECK(nest_parse(&on, &f.k, "n/100 n/48 k/300 m/8 k/4 k@unroll m@unroll n@vector", &e));
    const stage *s = f.s;
    const nest *q = &s->nest;
    CHECK(q->loop[0].range == 768 && loop_trips(&q->loop[0]) == 8); /* the last trip clipped: 68 */
    CHECK(q->loop[1].range == 100 && loop_trips(&q->loop[1]) == 3);
    CHECK(q->loop[2].range == 100 && loop_trips(&q->loop[2]) == 1);
    CHECK(loop_trips(&q->loop[7]) == 48);
    CHECK(nest_left(&f.k, s, 1, -1) == 768 && nest_left(&f.k, s, 1, 0) == 100 && nest_left(&f.k, s, 1, 1) == 48);
    CHECK(nest_left(&f.k, s, 2, 2) == 100 && nest_left(&f.k, s, 2, 4) == 4 && nest_left(&f.k, s, 2, 7) == 1);
    CHECK(nest_unrolled(s) == 5 && nest_tile(s) == 4); /* k/4 folds inside the tile, m/8 is outside */
    CHECK(nest_parse(&on, &f.k, "n/48 m/8 k/300+a k/4 k m@unroll n@vector", &e));
    CHECK(nest_unrolled(s) == 5 && nest_tile(s) == 3); /* a copy is made outside the tile */
    two_stages(&f);
    CHECK(nest_parse(&on, &f.k, "h q/32 ; scores: q/8 n/32 k q@unroll n@vector ; context: q s d@vector", &e));
    CHECK(nest_left(&f.k, &f.s[0], 0, -1) == 1 && nest_left(&f.k, &f.s[0], 1, -1) == 32 &&
          nest_left(&f.k, &f.s[0], 1, 0) == 8);
    CHECK(nest_left(&f.k, &f.s[1], 1, -1) == 32 && nest_left(&f.k, &f.s[1], 3, -1) == 128);
}

/* ---- refusals ---- */
typedef struct refusal {
    maker *make;
    const char *source, *want; /* want: after the source and its column */
    int column;                /* 0: the message names none */
} refusal;

static const refusal refusals[] = {
    {product, "m n q", "no axis \"q\" here; the axes are: m n k", 5},
    {product, "m n, k", "a blank expected between loops", 4},
    {product, "m n k @core", "no axis \"@core\" here; the axes are: m n k", 7},
    {product, "m n k m", "axis m is walked twice", 7},
    {product, "m@unroll m@vector", "axis m is walked twice", 10},
    {product, "m n", "no loop k without a step: every axis ends in one", 4},
    {product, "m n/48 k", "no loop n without a step: every axis ends in one", 9},
    {product, "", "no loop m without a step: every axis ends in one", 1},
    {product, "m/0 m n k", "a number of at least 1 expected", 3},
    {product, "m/ m n k", "a number of at least 1 expected", 3},
    {product, "m/+8 m n k", "a number of at least 1 expected", 3},
    {product, "m/tile m n k", "the guess has no register tile here; a number of at least 1 expected", 3},
    {product, "m/tiles m n k", "a number of at least 1 expected", 3},
    {product, "m/99999999999 m n k", "a number of at most 1073741824 expected", 3},
    {product, "k@core m@core n", "a second @core loop: one loop is spread over the cores", 8},
    {product, "m@cores n k", "no role \"cores\"; the roles are: core, unroll, vector, dot (or none)", 3},
    {product, "m n/4@vector n k", "the vector loop of n must be its last, without a step", 3},
    {product, "m n@vector k", "the vector loop must be the last", 3},
    {product, "m/8 m@unroll n k", "serial loop n inside an unrolled one", 14},
    {product, "n/48 m@unroll k n@vector", "m would be unrolled 128 times; at most 64", 6},
    {product, "m@core n/48@core k n@vector", "a second @core loop: one loop is spread over the cores", 8},
    {product, "m+d n k", "no operand \"d\"; product reads 3: a, b, ... in the order of its definition, and writes y",
     3},
    {product, "m+y n k", "the result is not copied, only fetched: +y@l2*2", 4},
    {product, "m+ab n k", "no operand \"ab\"; product reads 3: a, b, ... in the order of its definition, and writes y",
     3},
    {product, "n/48 m/8 k m@unroll+a n@vector",
     "loop m is within the register tile: operand a can be staged at the loops outside it", 22},
    {product, "m+b@l3 n k", "no space \"l3\"; the spaces are: l1, l2, nta, none", 5},
    {product, "m+b@l2*9 n k", "@l2 holds 2 to 8 slices", 9},
    {product, "m+b*2 n k", "a copy holds one slice; several are held in: @l1, @l2, @nta", 6},
    {product, "m+b@none*2 n k", "@none holds nothing; several are held in: @l1, @l2, @nta", 11},
    {product, "m+a+b+c+a+b+c+a+b+c n k", "operand c is number 9 that is staged, at most 8 expected", 20},
    {product,
     "m/64 m/63 m/62 m/61 m/60 m/59 m/58 m/57 m/56 m/55 m/54 m/53 m/52 m/51 m/50 m/49 m/48 m/47 m/46 m/45 m/44 m/43 "
     "m/42 m n k",
     "loop 25, at most 24 expected", 118},
    {one_row, "m n q", "no axis \"q\" here; the axes are: n k", 5},
    {one_row, "m n m k", "axis m is walked twice", 5},
    {one_row, "m/0 n k", "a number of at least 1 expected", 3},
    {one_row, "m@cores n k", "no role \"cores\"; the roles are: core, unroll, vector, dot (or none)", 3},
    {one_row, "n m/8@vector k", "the vector loop of m must be its last, without a step", 3},
    {two_stages, "h+context.a q ; scores: n k", "operand a is computed in this kernel: it is in scratch already", 12},
    {two_stages, "h q@unroll ; scores: n k", "loops that stages share are serial or @core", 3},
    {two_stages, "h n ; scores: q k",
     "no axis \"n\" here; the axes that its stages share are: h q; a stage's own come behind them: \"; scores: n k\" "
     "(stages: scores context)",
     3},
    {two_stages, "h q ; scores: n@core k", "@core belongs to the loops that the stages share", 15},
    {two_stages, "h q ; scores: n k h", "axis h is walked twice", 19},
    {two_stages, "h q ; softmax: n k", "the kernel has no stage \"softmax\"", 0},
    {two_stages, "h+softmax.a q ; scores: n k", "the kernel has no stage \"softmax\"", 3},
    {two_stages, "h q ; scores: n+context.b k",
     "what context reads is staged at its own loops, or at those that "
     "stages share",
     0},
    {two_stages, "h q ; scores: n k ; context: d s ; scores: k n", "stage \"scores\" is given twice", 0},
    {product, "m n k ; product: n m k", "what follows ';' are a stage's own loops, and here is one stage", 0},
    {two_stages, "h q ; scores n k", "a stage's name and ':' expected after ';'", 0},
};

static void test_refusals(void)
{
    for (int i = 0; i < COUNT(refusals); i++) {
        const refusal *r = &refusals[i];
        fake f;
        err e = {0};
        char want[500], column[30] = "";
        r->make(&f);
        if (r->column)
            snprintf(column, sizeof column, ", column %d", r->column);
        snprintf(want, sizeof want, "loops \"%s\"%s: %s", r->source, column, r->want);
        if (!CHECK(!nest_parse(&on, &f.k, r->source, &e) && e.code == TS_BAD_INPUT))
            printf("  not refused: %s\n", r->source);
        if (r->column)
            CHECK_TEXT(e.text, want);
        else if (!CHECK(strstr(e.text, r->want)))
            printf("  got:  %s\n  want: %s\n", e.text, r->want);
    }
}

int main(void)
{
    MUST(machine_load(&of, "core:2 isa:avx2", NULL));
    cpu_target_of(&on, &of, of.isa, 2);
    test_round_trip();
    test_once();
    test_alone();
    test_reach();
    test_refusals();
    return check_done();
}
