/* footprint_test.c - bytes that small trees of statements work on, against figures worked out by hand; of plans, those
 * of loops against counting element by place, and traffic against a cache that is played through. */
#include "backends/c/explain.h"
#include "backends/codegen/emit.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cache that forgets what was used longest ago, element by element: how many come in under the nest. */
typedef struct lru {
    int64_t size, n, clock, misses;
    int64_t *stamp; /* of each element of memory; 0: not here */
    int64_t *queue; /* elements in order of use, with stale entries */
    int64_t head, tail;
} lru;

static void use_element(lru *c, int64_t place)
{
    const bool here = c->stamp[place] != 0;
    c->stamp[place] = ++c->clock;
    c->queue[c->tail++] = place, c->queue[c->tail++] = c->clock;
    c->misses += !here;
    c->n += !here;
    while (c->n > c->size) {
        const int64_t old = c->queue[c->head++], when = c->queue[c->head++];
        if (c->stamp[old] == when)
            c->stamp[old] = 0, c->n--;
    }
}

static void walk(lru *c, const kernel *k, int l, int64_t *axis, const int64_t *end)
{
    const stage *s = k->stage;
    if (l == s->nest.n) { /* m n k: a[m,k] b[k,n] y[m,n] of 24 x 40, 40 x 36 */
        use_element(c, axis[0] * 40 + axis[2]);
        use_element(c, 24 * 40 + axis[2] * 36 + axis[1]);
        use_element(c, 24 * 40 + 40 * 36 + axis[0] * 36 + axis[1]);
        return;
    }
    const loop *q = &s->nest.loop[l];
    const int64_t first = axis[q->axis], last = end[q->axis];
    int64_t within[3];
    memcpy(within, end, sizeof within);
    for (int64_t i = first; i < last; i += q->step) {
        axis[q->axis] = i;
        within[q->axis] = i + q->step < last ? i + q->step : last;
        walk(c, k, l + 1, axis, within);
    }
    axis[q->axis] = first;
}

static double simulated(const kernel *k, int64_t bytes)
{
    enum { ELEMENTS = 24 * 40 + 40 * 36 + 24 * 36, USES = 3 * 24 * 40 * 36 };
    lru c = {.size = bytes / 4, .stamp = calloc(ELEMENTS, sizeof *c.stamp), .queue = calloc(2 * USES, sizeof *c.queue)};
    int64_t axis[3] = {0}, end[3] = {24, 36, 40};
    MUST(c.stamp && c.queue);
    walk(&c, k, 0, axis, end);
    free(c.stamp), free(c.queue);
    return 4.0 * (double)c.misses;
}

/* The estimate of what comes into a cache, against a cache. It looks at whole trips, so it may say more by what one
 * trip leaves behind for the next, and less by what the next one brings too early: a quarter either way is enough to
 * compare nests. */
static void test_simulated(void)
{
    static const char *const loops[] = {"m n k",          "n k m",          "k m n",
                                        "n/12 m/8 k m n", "m/8 n/12 k m n", "k/10 n/12 m/6 k m n",
                                        "m/8 k/10 n m k", "n/6 k m n",      "n/18 m/12 k/20 n/6 m/4 k m n"};
    static const char small[] = "l1d:1(600B) l2:1(2KB) l3:1(6KB) core:1 isa:plain";
    for (int i = 0; i < COUNT(loops); i++) {
        char rule[200];
        planned b;
        snprintf(rule, sizeof rule, "{\"loops\":\"%s\"}", loops[i]);
        if (!make_plan(&b, &(setting){small_product, small, "plain", rule, 1}))
            continue;
        op_counts counts;
        footprint bytes = {0};
        CHECK(c_count(b.p, b.p->kernel, &counts, &bytes));
        for (int level = 0; level <= target_last(b.p->on); level++) {
            const double got = bytes.traffic[level], want = simulated(b.p->kernel, target_bytes(b.p->on, level));
            if (!CHECK(got < 1.25 * want && want < 1.25 * got))
                printf("  %s, %s: estimated %.0f bytes, counted %.0f\n", loops[i], b.p->on->level[level].name, got,
                       want);
        }
        footprint_free(&bytes);
        free_plan(&b);
    }
}

/* ---- working sets, by brute force ---- */
static int64_t subscript(const expr *x, const int64_t *axis)
{
    if (x->kind == X_LIT)
        return x->whole;
    if (x->kind == X_AXIS)
        return axis[x->axis];
    MUST(x->kind == X_CALL && x->n == 2);
    const int64_t a = subscript(x->arg[0], axis), c = subscript(x->arg[1], axis);
    const char *f = x->fn->name;
    return !strcmp(f, "add")   ? a + c
           : !strcmp(f, "sub") ? a - c
           : !strcmp(f, "mul") ? a * c
           : !strcmp(f, "mod") ? int_floor_mod(a, c)
                               : int_floor_div(a, c);
}

static double count_touched(const stage *s, const expr *const *sub, const type *t, const int64_t *left)
{
    char *seen = calloc((size_t)type_count(t) + 1, 1);
    int64_t axis[MAX_AXIS] = {0};
    double n = 0;
    MUST(seen);
    for (bool more = true; more;) {
        int64_t offset = 0;
        bool inside = true;
        for (int d = 0; d < t->rank; d++) {
            const int64_t i = subscript(sub[d], axis);
            inside = inside && i >= 0 && i < t->dim[d];
            offset = offset * t->dim[d] + i;
        }
        if (inside && !seen[offset])
            seen[offset] = 1, n++;
        more = false;
        for (int a = s->n_axis - 1; a >= 0 && !more; a--) {
            more = ++axis[a] < left[a];
            axis[a] = more ? axis[a] : 0;
        }
    }
    free(seen);
    return n * ts_dtype_bytes(t->dtype);
}

static double counted(const kernel *k, const stage *s, int l) /* under the stage's loop l; each value once */
{
    int64_t left[MAX_AXIS];
    for (int a = 0; a < s->n_axis; a++)
        left[a] = nest_left(k, s, a, l);
    double sum = count_touched(s, s->store, &s->node->type, left);
    for (int j = 0; j < s->n_load; j++)
        sum += count_touched(s, s->load[j]->arg, &s->load[j]->from->type, left);
    return sum;
}

static void working_sets(maker *make, const char *loops, double over)
{
    char rule[300] = "";
    planned b;
    if (loops)
        snprintf(rule, sizeof rule, "{\"loops\":\"%s\"}", loops);
    if (!make_plan(&b, &(setting){make, two_cores, "avx2", loops ? rule : NULL, 2}))
        return;
    const kernel *k = &b.p->kernel[b.p->n_kernel - 1];
    op_counts counts;
    footprint bytes = {0};
    CHECK(c_count(b.p, k, &counts, &bytes));
    for (int i = 0; i < k->n_stage; i++)
        for (int l = 0; l < nest_tile(&k->stage[i]); l++) { /* further in sums are in registers */
            const stage *s = &k->stage[i];
            const double got = footprint_of(&bytes, i, k->shared.n + l + 1)->bytes, want = counted(k, s, l);
            if (!CHECK(got >= want && got <= over * want))
                printf("  %s, stage %s, loop %d: %.0f bytes, counted %.0f\n", loops ? loops : "guess", s->name, l, got,
                       want);
        }
    footprint_free(&bytes);
    free_plan(&b);
}

static void test_working_sets(void)
{
    working_sets(small_product, "n/7 m/5 k/9 k m n", 1);
    working_sets(small_product, NULL, 1);
    working_sets(convolution, "oh/3 oc/4 ic/2 ow/5 kh ic oh kw oc ow", 1);
    working_sets(convolution, NULL, 1.33);                               /* of weights the copy, too */
    working_sets(strided, "n oh/3 oc/4 ic/2 kh ow/2 ic oh kw oc ow", 2); /* a box around what strides step over */
    working_sets(normalized, NULL, 1);
    working_sets(attention, NULL, 1);
    working_sets(network, NULL, 1);
}

static const node *batched(graph *g)
{
    const node *in[2];
    for (int i = 0; i < 2; i++)
        in[i] = g_input(g, i ? "b" : "a", &(type){.dtype = TS_F32, .rank = 3, .dim = {2, i ? 32 : 64, i ? 48 : 32}}, 0);
    return ts_call2(g, "matmul", in[0], in[1]);
}

/* Four cores on 2 x 3 units have two pieces of what moves with the outer loop only, four of what moves with both. */
static void test_cores(void)
{
    planned b;
    const setting s = {batched, two_cores, "avx2", "{\"loops\":\"b n/16@core m/4 k m@unroll n@vector\"}", 4};
    if (!make_plan(&b, &s))
        return;
    const kernel *k = b.p->kernel;
    op_counts counts;
    footprint bytes = {0};
    CHECK(c_count(b.p, k, &counts, &bytes));
    CHECK(footprint_of(&bytes, 0, 2)->bytes == 4 * (64 * 32 + 32 * 16 + 64 * 16));
    CHECK(footprint_of(&bytes, 0, 2)->all == 4 * (2 * 64 * 32 + 4 * (32 * 16 + 64 * 16)));
    footprint_free(&bytes);
    free_plan(&b);
}

/* ---- small trees: of one tile function at most, in a cache of 4 KiB ---- */
enum { F32 = 4, CACHE = 4096 };

static footprint footprint_found(const code *c, tile_made *tile, int64_t lanes)
{
    static const dialect spoken = {.lane = "lane"};
    static const target one = {.level = {{.bytes = CACHE}, {.name = "memory"}}, .n_level = 2};
    static stage only;
    static plan p = {.on = &one, .threads = 1};
    static kernel k = {.n_stage = 1, .stage = &only};
    static node n = {.type.dtype = TS_F32};
    static const layout y = {.size = INT32_MAX};
    static emitter m;
    footprint found;
    m = (emitter){.d = &spoken, .p = &p, .k = &k, .group = lanes, .out.code.at = c->at, .tiles.made = {tile}};
    m.data.n_operand = 3;
    m.data.operand[0] = (operand){.node = &n, .layout = &y, .name = "x"};
    m.data.operand[1] = (operand){.node = &n, .layout = &y, .leaf = 1, .name = "index"};
    m.data.operand[2] = (operand){.node = &n, .layout = &y, .name = "same"};
    kernel_footprint(&m, &found);
    return found;
}

/* bytes: of one trip of the loop that is entered first, of all trips in `traffic` */
static void works_on(const char *what, const code *c, tile_made *tile, double bytes, double traffic)
{
    footprint found = footprint_found(c, tile, 1);
    const double got = footprint_of(&found, 0, 1)->bytes;
    if (!CHECK(got == bytes && found.traffic[0] == traffic))
        printf("  %s: %g bytes, %g come; not %g, %g\n", what, got, found.traffic[0], bytes, traffic);
    footprint_free(&found);
}

static void opens(code *c, const char *name, int64_t first, int64_t end, int depth)
{
    code_open(c, (stmt){.kind = S_LOOP,
                        .name = name,
                        .from = cexpr_number(c->mem, first),
                        .to = cexpr_number(c->mem, end),
                        .trips = end - first,
                        .depth = depth});
}

static void closes(code *c, int n)
{
    while (n-- > 0)
        code_close(c);
}

static const cexpr *sum_of(arena *mem, int64_t number, const char *a, int64_t n_a, const char *b, int64_t n_b)
{
    return cexpr_sum(mem, number, b ? 2 : 1, (const cexpr *const[]){cexpr_word(mem, a), b ? cexpr_word(mem, b) : NULL},
                     (const int64_t[]){n_a, n_b});
}

static void reads(code *c, const cexpr *pointer, const cexpr *index)
{
    cexpr *x = (cexpr *)cexpr_at(c->mem, pointer, index, 0);
    x->bytes = F32;
    code_store(c, cexpr_word(c->mem, "sum"), x);
}

static void reads_row(code *c, int64_t number, const char *a, int64_t n_a, const char *b, int64_t n_b)
{
    reads(c, cexpr_word(c->mem, "x"), sum_of(c->mem, number, a, n_a, b, n_b));
}

/* x[i * each + j * other], i of 6 trips, j of 10 */
static void test_strides(arena *mem)
{
    static const struct {
        const char *what;
        int64_t each, other;
        double one, all; /* elements */
    } rows[] = {{"rows of neighbours", 10, 1, 10, 60},
                {"rows that overlap", 4, 1, 10, 30},
                {"windows a step apart", 1, 1, 10, 15},
                {"every second one, between", 1, 2, 10, 24},
                {"every third one, none between", 30, 3, 10, 60},
                {"always the same row", 0, 1, 10, 10},
                {"backwards", -10, 1, 10, 60},
                {"one of each row", 7, 0, 1, 6}};
    for (int i = 0; i < COUNT(rows); i++) {
        code c = code_begin(mem);
        opens(&c, "i", 0, 6, 1), opens(&c, "j", 0, 10, 2), reads_row(&c, 3, "i", rows[i].each, "j", rows[i].other);
        closes(&c, 2);
        works_on(rows[i].what, &c, NULL, F32 * rows[i].one, F32 * rows[i].all);
    }
}

/* Pieces of a loop, and what several statements read, count once. */
static void test_pieces(arena *mem)
{
    code c = code_begin(mem);
    opens(&c, "i", 0, 6, 1);
    opens(&c, "j", 0, 4, 2), reads_row(&c, 0, "i", 10, "j", 1), reads_row(&c, 2, "i", 10, "j", 1), closes(&c, 1);
    opens(&c, "j", 4, 9, 2), reads_row(&c, 1, "i", 10, "j", 1), closes(&c, 2);
    works_on("pieces", &c, NULL, F32 * 10, F32 * 60);
}

/* Memory of two names is one: what is written and read again */
static void test_names(arena *mem)
{
    code c = code_begin(mem);
    opens(&c, "i", 0, 6, 1);
    reads_row(&c, 0, "i", 1, NULL, 0), reads(&c, cexpr_word(mem, "same"), cexpr_word(mem, "i")), closes(&c, 1);
    works_on("two names", &c, NULL, F32, F32 * 6);
}

/* What data say is another row each time. */
static void test_data(arena *mem)
{
    code c = code_begin(mem);
    const cexpr *row = cexpr_element(mem, "index", cexpr_word(mem, "i"), 0);
    ((cexpr *)row)->bytes = F32;
    opens(&c, "i", 0, 6, 1), code_let(&c, "long", "place", row);
    opens(&c, "j", 0, 10, 2), reads_row(&c, 0, "place", 10, "j", 1), closes(&c, 2);
    works_on("rows that data choose", &c, NULL, F32 * 11, F32 * 66);
}

/* A rest is no sum of loops: another number in each trip of those that it is over, the innermost of which goes on by
 * one; of the others alone it is the same again. */
static void test_rests(arena *mem)
{
    code c = code_begin(mem);
    opens(&c, "i", 0, 6, 1), opens(&c, "e", 0, 5, 2), opens(&c, "j", 0, 10, 3);
    const cexpr *rest = cexpr_whole(mem, W_REST, sum_of(mem, 0, "i", 3, "j", 1), cexpr_number(mem, 7));
    reads(&c, cexpr_word(mem, "x"), rest), closes(&c, 3);
    works_on("rests", &c, NULL, F32 * 10, F32 * 60);
}

/* Pointers that begin so many elements before an element: 10 rows that overlap by all but 4 elements each */
static void test_addresses(arena *mem)
{
    code c = code_begin(mem);
    cexpr *x = (cexpr *)cexpr_at(mem, cexpr_word(mem, "x"), sum_of(mem, 0, "i", 10, NULL, 0), 0);
    x->bytes = F32;
    const cexpr *at = cexpr_whole_as(mem, W_ADDRESS, "&$0 - $1", 2,
                                     (const cexpr *const[]){x, sum_of(mem, 0, "i", 6, NULL, 0)});
    opens(&c, "i", 0, 10, 1), opens(&c, "j", 0, 12, 2), reads(&c, at, cexpr_word(mem, "j")), closes(&c, 2);
    works_on("addresses", &c, NULL, F32 * 12, F32 * (12 + 9 * 4));
}

/* A tile reads where it is told: 4 rows of 8 elements from each of 3 places that share two rows. */
static void test_tile(arena *mem)
{
    code c = code_begin(mem), body = code_begin(mem);
    const cexpr *const takes[] = {cexpr_word(mem, "at")}, *const from = cexpr_pointer(mem, "", cexpr_word(mem, "x"),
                                                                                      sum_of(mem, 0, "i", 16, NULL, 0),
                                                                                      F32);
    opens(&body, "r", 0, 4, 2), opens(&body, "e", 0, 8, 3), reads(&body, takes[0], sum_of(mem, 0, "r", 8, "e", 1));
    closes(&body, 2);
    tile_made tile = {.body = body.at, .parameter = takes};
    opens(&c, "i", 0, 3, 1), code_call(&c, cexpr_tile(mem, 0, 1, &from)), closes(&c, 1);
    works_on("a tile", &c, &tile, F32 * 32, F32 * 64);
}

/* n elements that each of 5 trips reads: they come once where they stay, else again for each. */
static void test_again(arena *mem)
{
    for (int64_t n = CACHE / F32; n <= 2 * CACHE / F32; n *= 2) {
        code c = code_begin(mem);
        opens(&c, "i", 0, 5, 1), opens(&c, "j", 0, n, 2), reads_row(&c, 0, "i", 0, "j", 1), closes(&c, 2);
        works_on("again", &c, NULL, F32 * (double)n, F32 * (double)(n * (n > CACHE / F32 ? 5 : 1)));
    }
}

/* Of 8 lanes each has an element of its own, in each of 6 trips; in a tile, too. */
static void test_lanes(arena *mem)
{
    const cexpr *const takes[] = {cexpr_word(mem, "i")};
    for (int in_tile = 0; in_tile < 2; in_tile++) {
        code c = code_begin(mem), body = code_begin(mem);
        reads_row(&body, 0, "i", 8, "lane", 1);
        tile_made tile = {.body = body.at, .parameter = takes};
        opens(&c, "i", 0, 6, 1);
        if (in_tile)
            code_call(&c, cexpr_tile(mem, 0, 1, takes));
        else
            reads_row(&c, 0, "i", 8, "lane", 1);
        closes(&c, 1);
        footprint found = footprint_found(&c, in_tile ? &tile : NULL, 8);
        CHECK(footprint_of(&found, 0, 1)->bytes == F32 * 8 && found.traffic[0] == F32 * 48);
        footprint_free(&found);
    }
}

int main(void)
{
    arena mem = {0};
    test_strides(&mem);
    test_pieces(&mem);
    test_names(&mem);
    test_data(&mem);
    test_rests(&mem);
    test_addresses(&mem);
    test_tile(&mem);
    test_again(&mem);
    test_lanes(&mem);
    arena_free(&mem);
    test_cores();
    test_simulated();
    test_working_sets();
    return check_done();
}
