/* A target that the project does not have: its roles, spaces and units are read by their tables alone. What its schema
 * says parses, prints, and is refused with reasons. */
#include "schedule/make.h"
#include "schedule/nest/nest.h"
#include "tests/check.h"
#include "tests/scratch.h"

#include <stdio.h>
#include <string.h>

static const role roles[] = {
    {.name = "serial", .implied = true, .done = "walked", .serial = true, .shared = true, .own = true, .folded = true},
    {.name = "hops", .done = "walked in hops", .serial = true, .shared = true, .own = true, .folded = true},
    {.name = "toy", .done = "dealt to toys", .parallel = true, .shared = true, .own = true, .most = 2},
    {.name = "fives", .done = "taken by fives", .in_registers = true, .own = true, .folded = true, .trips = 5},
    {.name = "block", .done = "a block's", .in_registers = true, .unit = true, .own = true, .folded = true},
    {.name = "field", .done = "dealt to fields", .parallel = true, .shared = true, .outer = true},
    {.name = "hand", .done = "dealt to hands", .in_registers = true, .group = true, .own = true, .folded = true}};
static const memory_space spaces[] = {
    {.copied = true, .least = 1, .most = 1},
    {.name = "shelf", .copied = true, .least = 1, .most = 2, .bytes = 4096},
    {.name = "tray", .least = 2, .most = 3, .number = 7},
    {.name = "table", .copied = true, .shared = true, .least = 1, .most = 1, .bytes = 8192}};
static const matrix_unit unit[] = {{4, 4, 8, TS_F32, TS_F32, 0, 0, 0}, {8, 8, 8, TS_F32, TS_F32, 0, 0, 0}};

static void shared(const plan *p, const kernel *k, nesting *b)
{
    (void)p;
    for (int a = 0; a < k->n_shared; a++)
        nest_put(b, a, 1, 0);
}

static void each(const plan *p, const kernel *k, int which, nesting *b, text *second)
{
    (void)p, (void)second;
    for (int a = k->n_stage > 1 ? k->n_shared : 0; a < k->stage[which].n_axis; a++)
        nest_put(b, a, 1, 0);
}

static void fetch(const plan *p, kernel *k)
{
    (void)p, (void)k;
}

static const guesser guess = {.shared = shared, .stage = each, .prefetch = fetch};
static target toy = {.kind = "toy",
                     .model = "mk1",
                     .n_role = COUNT(roles),
                     .role = roles,
                     .n_space = COUNT(spaces),
                     .space = spaces,
                     .n_unit = COUNT(unit),
                     .unit = unit,
                     .n_level = 2,
                     .level = {{.name = "shelf", .bytes = 4096}, {.name = "floor", .shared = true}},
                     .workers = 3,
                     .places = 3,
                     .group = 24,
                     .warp = 8,
                     .line = 16,
                     .align = 16,
                     .n_register = 30,
                     .guess = &guess};

/* y[m,n] = sum over k of a[m,k] b[k,n], under a rule with these loops; got: the loops that are used, or the refusal */
static void planned_so(const char *loops, text *got)
{
    err e = {0};
    text schema = {0};
    scratch folder = scratch_make();
    graph *g = ts_graph_make();
    const node *a = g_input(g, "a", &(type){.dtype = TS_F32, .rank = 2, .dim = {16, 24}}, NULL),
               *b = g_input(g, "b", &(type){.dtype = TS_F32, .rank = 2, .dim = {24, 40}}, NULL),
               *y = g_call2(g, "matmul", a, b);
    const char *path = scratch_in(&folder, "test.json");
    text_add(&schema, "{\"format\":\"tiling/1\",\"target\":\"toy\",\"rules\":[{\"loops\":\"%s\"}]}", loops);
    CHECK(file_save(path, schema.s, schema.length, &e));
    plan *p = plan_make(g, 1, &y, &(plan_options){.on = &toy, .target = "toy", .schema = path}, &e);
    const char *why = strstr(e.text, "loops \"");
    if (p)
        nest_print(got, p->kernel, true);
    else
        text_add(got, "%.*s", (int)strcspn(why ? why : e.text, "\n"), why ? why : e.text);
    CHECK(p || e.code == TS_BAD_INPUT);
    plan_free(p), ts_graph_free(g), text_free(&schema), scratch_free(&folder);
}

static void reads(const char *loops)
{
    text got = {0};
    planned_so(loops, &got);
    CHECK_TEXT(text_str(&got), loops);
    text_free(&got);
}

static void is_refused(const char *loops, const char *why)
{
    text got = {0}, want = {0};
    text_add(&want, "loops \"%s\"%s", loops, why);
    planned_so(loops, &got);
    CHECK_TEXT(text_str(&got), want.s);
    text_free(&got), text_free(&want);
}

/* Sums wait in no result while all lanes copy slices together; a worker has whole warps of lanes. */
static void test_group(void)
{
    err e = {0};
    scratch folder = scratch_make();
    const char schema[] = "{\"format\":\"tiling/1\",\"rules\":[{\"loops\":\"m/5@field n/4@field k/8+a@table k m@hand "
                          "n/2@hand n@fives\"}]}";
    graph *g = ts_graph_make();
    const node *y = g_call2(g, "matmul", g_input(g, "a", &(type){.dtype = TS_F32, .rank = 2, .dim = {16, 24}}, NULL),
                            g_input(g, "b", &(type){.dtype = TS_F32, .rank = 2, .dim = {24, 40}}, NULL));
    const char *path = scratch_in(&folder, "test.json");
    CHECK(file_save(path, schema, sizeof schema - 1, &e));
    plan *p = plan_make(g, 1, &y, &(plan_options){.on = &toy, .target = "toy", .schema = path}, &e);
    if (CHECK(p != NULL)) {
        const stage *s = p->kernel->stage;
        CHECK(nest_tile(s) == 2 && nest_unrolled(s) == 4);
        CHECK(nest_group(s) == 10 && nest_group_lanes(p, p->kernel) == 16); /* 5 x 2 */
        CHECK(nest_sums(p, s) == 2);                                        /* of one lane */
        CHECK(nest_parallel(p->kernel) == 0 && nest_chunks(p->kernel) == 2);
    }
    plan_free(p), ts_graph_free(g), scratch_free(&folder);
}

int main(void)
{
    for (int d = 0; d < TS_N_DTYPE; d++)
        toy.lanes[d] = 1;
    reads("n@toy m k");
    reads("m@toy n@toy k");
    reads("n@hops m k/4@hops k");
    reads("m n/8 k/12+b@shelf*2 k n");
    reads("m n/8+b@shelf k n");
    reads("m n/5+a@tray*3 k n@fives");
    reads("m/4@toy n/4 k/8 m@block n@block k@block");
    reads("m@field n/8@field k n@hand");
    reads("m/4@field n/4@field k/8+a@table+b@table k m@hand n/2@hand n@fives");
    reads("m n/8 k/3 k@hand n@hand");
    is_refused("m/4 n@field m k", ", column 5: loop n is inside another: what is dealt to fields stands outside of all "
                                  "other loops");
    is_refused("m/8 n/4 k m@hand n@hand",
               ": the loops over lanes (m 8, n 4) take 32 lanes, a group of mk1 has 24 at most: give a lane larger "
               "steps, or let the loops outside take smaller ones");
    is_refused("n@core m k",
               ", column 3: no role \"core\"; the roles are: hops, toy, fives, block, field, hand (or none)");
    is_refused("m n k@toy",
               ", column 5: axis k folds: it cannot be dealt to toys, as k = 0 and k = 1 both write y[0,0]");
    is_refused("m n k/4@toy k",
               ", column 5: axis k folds: it cannot be dealt to toys, as k = 0 and k = 4 both write y[0,0]");
    is_refused("m n k/64@toy k", ", column 5: axis k folds: it cannot be dealt to toys");
    is_refused("m/8@toy m@toy n@toy k", ", column 15: loop n is number 3 that is dealt to toys, at most 2 expected");
    is_refused("m n/8 k n@fives", ", column 9: n would be taken by fives 8 times; at most 5");
    is_refused("m+b@l2 n k", ", column 5: no space \"l2\"; the spaces are: shelf, tray, table, none");
    is_refused("m+b@tray n+a@shelf*3 k", ", column 21: @shelf holds 1 to 2 slices");
    is_refused("m+b*2 n k", ", column 6: a copy holds one slice; several are held in: @shelf, @tray");
    is_refused("m+y@shelf n k", ", column 10: the result is not copied, only fetched: +y@tray*2");
    is_refused("m+b@shelf*2 n k",
               ": with 2 slices of operand b there are 7680 bytes in @shelf, which has 4096: copy at a loop further "
               "inside, or in smaller steps");
    is_refused("m/4 n/8 k/8 m@block n@block k@block",
               ": mk1 has no matrix unit for 4 x 8 x 8 of f32 into f32; those it has: 4 x 4 x 8 of f32 into f32, "
               "8 x 8 x 8 of f32 into f32");
    is_refused("m n/8 k n@block", ": a matrix unit takes two loops of a product's result and one that is folded");
    test_group();
    return check_done();
}
