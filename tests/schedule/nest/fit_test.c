/* Working sets against counting element by element, and traffic against a cache that is played through. */
#include "schedule/nest/fit.h"
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

static void use_element(lru *c, int64_t element)
{
    const bool here = c->stamp[element] != 0;
    c->stamp[element] = ++c->clock;
    c->queue[c->tail++] = element, c->queue[c->tail++] = c->clock;
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
        for (int level = 0; level <= target_last(b.p->on); level++) {
            const double got = fit_traffic(b.p, b.p->kernel, level),
                         want = simulated(b.p->kernel, target_bytes(b.p->on, level));
            if (!CHECK(got < 1.25 * want && want < 1.25 * got))
                printf("  %s, %s: estimated %.0f bytes, counted %.0f\n", loops[i], b.p->on->level[level].name, got,
                       want);
        }
        free_plan(&b);
    }
}

/* ---- working sets, by brute force ---- */
static int64_t value_of(const expr *x, const int64_t *axis)
{
    if (x->kind == X_LIT)
        return x->whole;
    if (x->kind == X_AXIS)
        return axis[x->axis];
    MUST(x->kind == X_CALL && x->n == 2);
    const int64_t a = value_of(x->arg[0], axis), c = value_of(x->arg[1], axis);
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
            const int64_t i = value_of(sub[d], axis);
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
    for (int i = 0; i < k->n_stage; i++)
        for (int l = 0; l < k->stage[i].nest.n; l++) {
            const stage *s = &k->stage[i];
            const double got = fit_bytes(b.p, k, s, k->shared.n + l + 1), want = counted(k, s, l);
            if (!CHECK(got >= want && got <= over * want))
                printf("  %s, stage %s, loop %d: %.0f bytes, counted %.0f\n", loops ? loops : "guess", s->name, l, got,
                       want);
        }
    free_plan(&b);
}

static void test_working_sets(void)
{
    working_sets(small_product, "n/7 m/5 k/9 k m n", 1);
    working_sets(small_product, NULL, 1);
    working_sets(convolution, "oh/3 oc/4 ic/2 ow/5 kh ic oh kw oc ow", 1);
    working_sets(convolution, NULL, 1);
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
    CHECK(fit_bytes_shared(b.p, k, k->stage, 2) == 4 * (2 * 64 * 32 + 4 * (32 * 16 + 64 * 16)));
    CHECK(fit_bytes_shared(b.p, k, k->stage, 0) == fit_bytes(b.p, k, k->stage, 0));
    free_plan(&b);
}

int main(void)
{
    test_cores();
    test_simulated();
    test_working_sets();
    return check_done();
}
