/* Loops put one by one are what the same notation reads as; the first that cannot be is said, and ends it. */
#include "backends/cpu/cpu.h"
#include "backends/cpu/guess.h"
#include "schedule/nest/nest.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static machine of;
static target on;

typedef struct fake { /* y[m,n] = sum over k of a[m,k] b[k,n], without an expression */
    kernel k;
    stage s;
    node value, input;
    expr load;
    const expr *list[2];
} fake;

static void product(fake *f)
{
    static const int64_t extent[] = {128, 768, 100};
    *f = (fake){.k = {.n_stage = 1}, .load = {.kind = X_LOAD}};
    f->k.stage = &f->s, f->load.from = &f->input, f->list[0] = f->list[1] = &f->load;
    f->s = (stage){.node = &f->value, .n_axis = 3, .n_result = 2, .folds = 4, .n_load = 2, .value = &f->load};
    f->s.load = f->list;
    for (int a = 0; a < 3; a++)
        f->s.extent[a] = extent[a], f->s.letter[a][0] = "mnk"[a];
}

static void prints(const stage *s, const char *want)
{
    text t = {0};
    nest_print_stage(&t, s, true);
    CHECK_TEXT(text_str(&t), want);
    text_free(&t);
}

static void test_same_as_read(void)
{
    static const char source[] = "n/48@core+b m/8+a@l2*3 k/4 k@unroll m@unroll n@vector";
    fake f, read;
    err e = {0};
    product(&f), product(&read);
    nesting b = nest_begin(&on, &f.k, &f.s);
    nest_put(&b, 1, 48, CPU_CORE), nest_copy(&b, &f.s, 1, 1), nest_copy(&b, &f.s, -1, 1);
    nest_put(&b, 0, 8, CPU_SERIAL), nest_stage(&b, &f.s, &(staging){.space = &cpu_space[CPU_L2], .stages = 3});
    nest_put(&b, 2, 4, CPU_SERIAL), nest_put(&b, 2, 1, CPU_UNROLL), nest_put(&b, 0, 1, CPU_UNROLL);
    CHECK(nest_put(&b, 1, 1, CPU_VECTOR) && nest_end(&b));
    prints(&f.s, source);
    CHECK(nest_parse(&on, &read.k, source, &e));
    CHECK(f.s.nest.n == read.s.nest.n && f.s.n_staging == read.s.n_staging);
    for (int i = 0; i < f.s.nest.n; i++)
        CHECK(f.s.nest.loop[i].range == read.s.nest.loop[i].range);
    prints(&read.s, source);
    b = nest_begin(&on, &f.k, &f.s); /* anew: of the loops before nothing stays */
    nest_put(&b, 0, 1, CPU_SERIAL), nest_put(&b, 1, 1, CPU_SERIAL), nest_put(&b, 2, 1, CPU_SERIAL);
    CHECK(nest_end(&b));
    prints(&f.s, "m n k");
}

static void test_refused(void)
{
    fake f;
    product(&f);
    nesting b = nest_begin(&on, &f.k, &f.s);
    CHECK(nest_put(&b, 0, 1, CPU_SERIAL) && !nest_put(&b, 1, 4, CPU_VECTOR) && b.refused == 1);
    CHECK(!nest_put(&b, 1, 1, CPU_SERIAL) && !nest_put(&b, 0, 1, CPU_SERIAL) && !nest_end(&b));
    CHECK_TEXT(b.why, "the vector loop of n must be its last, without a step");
    prints(&f.s, "m");
    b = nest_begin(&on, &f.k, &f.s);
    CHECK(nest_put(&b, 0, 8, CPU_SERIAL) && nest_put(&b, 1, 1, CPU_SERIAL) && nest_put(&b, 2, 1, CPU_SERIAL));
    CHECK(!nest_end(&b) && b.refused == -1);
    CHECK_TEXT(b.why, "no loop m without a step: every axis ends in one");
}

int main(void)
{
    MUST(machine_load(&of, "core:2 isa:avx2", NULL));
    cpu_target_of(&on, &of, of.isa, 2);
    test_same_as_read();
    test_refused();
    return check_done();
}
