/* trips_test.c - what passes make of trips of loops: small trees, and those of whole plans, printed. */
/* ctest: fast */
#include "tests/backends/codegen/rig.h"
#include "tests/backends/codegen/tree.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static bool noticed[N_TRIPS_PASS]; /* some tree is another one without it */

static strip *begun(emitter *m, tile_phase ph)
{
    return m->tile.made ? trips_of_phase(m, ph) : trips_of_kernel(m);
}

/* What passes make of it; each goes on from what is read of the last one's print. */
static void is(emitter *m, tile_phase ph, const char *want)
{
    const char *s = trips_text(m, begun(m, ph));
    for (int i = 0; i < N_TRIPS_PASS; i++) {
        strip *t = trips_read(m, ph, s);
        CHECK_TEXT(trips_text(m, t), s);
        s = trips_text(m, trips_through(m, t, i, i + 1));
    }
    CHECK_TEXT(s, want);
    CHECK_TEXT(trips_text(m, trips_through(m, begun(m, ph), 0, N_TRIPS_PASS)), want);
    for (int i = 0; i < N_TRIPS_PASS; i++) {
        strip *less = trips_through(m, trips_through(m, begun(m, ph), 0, i), i + 1, N_TRIPS_PASS);
        noticed[i] = noticed[i] || strcmp(trips_text(m, less), want) != 0;
    }
}

static void around_is(emitter *m, const char *want) /* tiles */
{
    is(m, CLEAR, want);
}

/* Loops in registers are written out, few trips of them where nothing is summed up, and rows of sums in memory not. */
static void test_unroll(void)
{
    rig r;
    if (rig_begin(&r, small_product, two_cores, "matmul", "m/5 n/12 k/3 k m@unroll n@vector")) {
        rig_tile(&r);
        is(r.m, CLEAR, "m_4[0,5)x1:5(n_5[0,12)x1:lanes(phase))");
        is(r.m, BODY,
           "k_2[0,13/14)x3(k_3[0,3)x1(fetch apart(m_4[0,5)x1:5(access(n_5[0,12)x1:lanes(phase)))))) "
           "k_2[13,14/14)x1!(k_3[0,1)x1(fetch apart(m_4[0,5)x1:5(access(n_5[0,12)x1:lanes(phase))))))");
        r.m->tile.vectors = (vector_loop){.n = 4, .axis = 1, .count = 4};
        is(r.m, FINISH, "apart(m_4[0,5)x1:5(vectors[0,3)x4:3(phase)))");
        r.m->tile.sums = "sums";
        is(r.m, FINISH, "apart(m_4[0,5)x1(vectors[0,3)x4:3(phase)))");
        r.m->tile.sums = NULL, r.m->stage.fold = NULL;
        r.m->tile.vectors = (vector_loop){.n = 2, .axis = 1, .count = 2};
        is(r.m, FINISH, "apart(m_4[0,5)x1:5(vectors[0,6)x2:4(phase)))");
    }
    rig_end(&r);
}

static void test_cut(void)
{
    rig r;
    if (rig_begin(&r, small_product, two_cores, "matmul",
                  "m/5 k/32 n/12 k m@unroll n@vector")) { /* 24 x 36, sums of 40 */
        around_is(r.m, "stage(m_0[0,4/5)x5(k_1[0,1/2)x32(n_2[0,3)x12(tile)) k_1[1,2/2)x8!(n_2[0,3)x12(tile))) "
                       "m_0[4,5/5)x4!(k_1[0,1/2)x32(n_2[0,3)x12(tile)) k_1[1,2/2)x8!(n_2[0,3)x12(tile))))");
        rig_tile(&r);
        is(r.m, CLEAR, "m_4[0,5)x1:5(n_5[0,12)x1:lanes(phase))");
    }
    rig_end(&r);
    if (rig_begin(&r, small_product, two_cores, "matmul", "m/5 n/12 k/3 k m@unroll n@vector")) { /* 40 = 13 * 3 + 1 */
        rig_tile(&r);
        is(r.m, BODY,
           "k_2[0,13/14)x3(k_3[0,3)x1(fetch apart(m_4[0,5)x1:5(access(n_5[0,12)x1:lanes(phase)))))) "
           "k_2[13,14/14)x1!(k_3[0,1)x1(fetch apart(m_4[0,5)x1:5(access(n_5[0,12)x1:lanes(phase))))))");
        is(r.m, FINISH, "apart(m_4[0,5)x1:5(access(n_5[0,12)x1:lanes(phase))))");
        r.m->tile.vectors = (vector_loop){.n = 8, .axis = 1, .count = 8};
        is(r.m, FINISH, "apart(m_4[0,5)x1:5(vectors[0,1)x8:1(phase) vectors[1,2)x4:1(phase)))");
        is(r.m, CLEAR, "m_4[0,5)x1:5(vectors[0,2)x8:2(phase))");
        r.m->tile.vectors.n = 4;
        r.m->stage.known = 1u << 4; /* what is computed is chosen by m */
        is(r.m, FINISH,
           "apart(m_4[0,1/5)x1:1(vectors[0,3)x4:3(phase)) m_4[1,2/5)x1:1(vectors[0,3)x4:3(phase)) "
           "m_4[2,3/5)x1:1(vectors[0,3)x4:3(phase)) m_4[3,4/5)x1:1(vectors[0,3)x4:3(phase)) "
           "m_4[4,5/5)x1:1(vectors[0,3)x4:3(phase)))");
    }
    rig_end(&r);
}

/* Chunks: all trips of the loop over cores and of those around it; a fold around it keeps parts to their own. */
static void test_shared(void)
{
    rig r;
    if (rig_begin(&r, small_product, two_cores, "matmul", "m/8 n/12@core k m@unroll n@vector")) {
        around_is(r.m, "stage_0(chunks_1[0,9)(m_0[0,3)x8+(n_1[0,3)x12+(tile))))");
    }
    rig_end(&r);
    if (rig_begin(&r, small_product, two_cores, "matmul", "k/20 m/5@core n/12 k m@unroll n@vector")) {
        around_is(r.m, "stage(k_0[0,2)x20(m_1[0,4/5)x5/(n_2[0,3)x12(tile)) m_1[4,5/5)x4!/(n_2[0,3)x12(tile))))");
    }
    rig_end(&r);
}

/* Where a run says the extent: halves of a tile of sums while no more is left; ? where sums may end within the tile */
static void test_varying(void)
{
    rig r;
    if (rig_begin(&r, small_product, two_cores, "matmul", "m/4 n/12 k m@unroll n@vector")) {
        r.b.p->kernel->stage->varies[0] = (varying){.by = 1, .times = {1}, .per = 1};
        around_is(r.m, "stage(m_0[0,6)x4(n_1[0,3)x12(if_m>2(tile) else(if_m>1(tile) else(tile)))))");
    }
    rig_end(&r);
    if (rig_begin(&r, small_product, two_cores, "matmul", "m/4 k/20 n/12 k m@unroll n@vector")) {
        r.b.p->kernel->stage->varies[2] = (varying){.by = 1, .times = {1}, .per = 1};
        around_is(r.m, "stage(m_0[0,6)x4(k_1[0,2)x20(n_2[0,3)x12(if(tile|) else(tile?)))))");
    }
    rig_end(&r);
    if (rig_begin(&r, small_product, two_cores, "matmul", "m/4 n/12 k m@unroll n@vector")) {
        r.b.p->kernel->stage->varies[2] = (varying){.by = 1, .times = {1}, .per = 1};
        around_is(r.m, "stage(m_0[0,6)x4(n_1[0,3)x12(tile?)))");
    }
    rig_end(&r);
}

/* 11 x 12 in steps of 2 and 3, one place of padding around: lines and columns at borders */
static void test_padding(void)
{
    rig r;
    if (rig_begin(&r, strided, two_cores, "conv2d", "n oc/4 oh/2 ic kh kw oc@unroll oh@unroll ow@vector")) {
        around_is(r.m, "stage(n_0[0,2)x1(oc_1[0,2)x4(oh_2[0,1/3)x2(tile) oh_2[1,2/3)x2(tile) oh_2[2,3/3)x2(tile))))");
        rig_tile(&r); /* the first line of the window begins outside: it has one line of the tile */
        is(r.m, BODY,
           "ic_3[0,4)x1(kh_4[0,1/3)x1(kw_5[0,3)x1(fetch "
           "apart(oc_6[0,4)x1:4(oh_7[1,2/2)x1:1(access(ow_8[0,4)x1:lanes(phase))))))) kh_4[1,3/3)x1(kw_5[0,3)x1(fetch "
           "apart(oc_6[0,4)x1:4(oh_7[0,2)x1:2(access(ow_8[0,4)x1:lanes(phase))))))))");
    }
    rig_end(&r);
}

/* Slices of three trips; lanes of which each has rows and a column */
static void test_group(void)
{
    static const char card[] =
        "gpu:tiny processor:4 lane:256(128) warp:32 group:8 register:8192(128) shared:32KB(16KB) "
        "l2:8MB clock:1GHz memory:1GB(32GB/s)";
    rig r;
    if (rig_begin(&r, wide_rows, card, "matmul",
                  "m/16@block n/64@block k/16+a@shared*3+b@shared*3 k m/2@lane n/16@unroll n@lane m@unroll")) {
        rig_tile(&r);
        is(r.m, BODY,
           "ring(k_2[0,64)x16(k_3[0,16)x1(fetch apart(m_4[0,8)x2(n_5[0,4)x16:4(n_6[0,16)x1(m_7[0,2)x1:2(phase))))))))");
        is(r.m, CLEAR, "lanes_4(n_5[0,4)x16:4(lanes_6(m_7[0,2)x1:2(phase))))");
        is(r.m, FINISH, "apart(m_4[0,8)x2(n_5[0,4)x16:4(n_6[0,16)x1(m_7[0,2)x1:2(phase)))))");
    }
    rig_end(&r);
}

/* Vectors along rows of a result that lies along columns: their elements change places in registers. Trips that the
 * call of a tile says. */
static void test_turns(void)
{
    static const function rows[] = {{"turn", "", VECTOR, ""}, {0}};
    dialect with_turns = made_up;
    rig r;
    with_turns.vectors = rows;
    if (rig_begin(&r, small_product, two_cores, "matmul", "m/8 n/12 k/8 k n@unroll m@vector")) {
        r.m->d = &with_turns;
        rig_tile(&r);
        is(r.m, FINISH, "apart(n_4[0,12)x1:12(access(m_5[0,8)x1:lanes(phase))))");
        r.m->tile.vectors = (vector_loop){.n = 8, .axis = 0, .count = 8};
        is(r.m, FINISH, "apart(turn(n_4[0,12)x1:12(vectors[0,1)x8:1(phase))))");
        is(r.m, CLEAR, "n_4[0,12)x1:12(vectors[0,1)x8:1(phase))");
        r.m->d = &made_up, r.tile.counted = 1u << 2;
        is(r.m, BODY, "k_2[0,5)x8{0..k_trips}(k_3[0,8)x1(fetch apart(n_4[0,12)x1:12(vectors[0,1)x8:1(phase)))))");
    }
    rig_end(&r);
    if (rig_begin(&r, small_product, two_cores, "matmul", "m/16 n/4 k n@unroll m/8@unroll m@vector")) {
        r.m->d = &with_turns;
        rig_tile(&r);
        r.m->tile.vectors = (vector_loop){.n = 8, .axis = 0, .count = 8};
        is(r.m, FINISH, "apart(m_4[0,2)x8:2(turn(n_3[0,4)x1:4(vectors[0,1)x8:1(phase)))))");
    }
    rig_end(&r);
}

/* A folded loop in registers: what is cleared has its own trips, what is finished has none. */
static void test_folded(void)
{
    rig r;
    if (rig_begin(&r, small_product, two_cores, "matmul", "m/5 n/12 k/3 m@unroll k@unroll n@vector")) {
        rig_tile(&r);
        is(r.m, CLEAR, "m_3[0,5)x1:5(n_5[0,12)x1:lanes(phase))");
        is(r.m, FINISH, "apart(m_3[0,5)x1:5(access(n_5[0,12)x1:lanes(phase))))");
    }
    rig_end(&r);
}

/* Sums that the run may end: where it does; of loops in registers whole steps, and a trip that has what is left. */
static void ends_are(const char *loops, const char *want)
{
    static const variable size = {.name = "s", .low = 1, .high = 40};
    rig r;
    if (rig_begin(&r, small_product, two_cores, "matmul", loops)) {
        r.b.p->kernel->stage->varies[2] = (varying){.by = 1, .times = {1}, .per = 1};
        r.b.p->n_variable = 1, r.b.p->variable = &size;
        varying_begin(r.m);
        rig_tile(&r);
        r.m->tile.clipped = true;
        is(r.m, BODY, want);
    }
    rig_end(&r);
}

/* The mask says how far sums go, four at a time. */
static void test_masks(void)
{
    static const mask_skip skip = {.rows = 4, .grain = 4, .grains = 10, .along = {2}};
    rig r;
    if (rig_begin(&r, small_product, two_cores, "matmul", "m/4 n/12 k/4 k m@unroll n@vector")) {
        r.b.p->kernel->mask = &skip;
        rig_tile(&r);
        is(r.m, BODY,
           "k_2[0,10)x4~{0..limit}(k_3[0,4)x1(fetch apart(m_4[0,4)x1:4(access(n_5[0,12)x1:lanes(phase))))))");
    }
    rig_end(&r);
}

static const node *bytes(graph *g)
{
    return g_call2(g, "integer_matmul", g_input(g, "x", &(type){TS_U8, 2, {8, 32}}, NULL),
                   g_leaf(g, op_find("weight"), "w", &(type){TS_I8, 2, {32, 24}}, &(leaf){.kind = LEAF_WEIGHT}));
}

/* Products within a vector that no instruction adds as they lie: all trips of the loop over them */
static void test_dots(void)
{
    rig r;
    if (rig_begin(&r, bytes, two_cores, "integer_matmul", "m/4 n/8 k/2 m@unroll n@vector k@dot")) {
        rig_tile(&r);
        r.m->tile.vectors = (vector_loop){.n = 8, .axis = 1, .count = 8};
        is(r.m, BODY, "k_2[0,16)x2(fetch apart(r_3[0,4)x1:4(vectors[0,1)x8:1(k_5[0,2)x1:2(phase)))))");
    }
    rig_end(&r);
}

static const node *halves(graph *g)
{
    return g_call2(g, "matmul", g_input(g, "x", &(type){TS_BF16, 2, {64, 64}}, NULL),
                   g_input(g, "y", &(type){TS_BF16, 2, {64, 64}}, NULL));
}

/* The loops of a unit are what a lane has of it; where it multiplies there is no other. */
static void test_units(void)
{
    rig r;
    if (rig_begin(&r, halves, "gpu:h100", "matmul",
                  "m/64@block n/32@block k/16+a+b k/16@unroll m/16@warp m@mma n@mma k@mma")) {
        rig_tile(&r);
        is(r.m, CLEAR, "lanes_4(unit)");
        is(r.m, BODY, "k_2[0,4)x16:1(fetch product)");
        is(r.m, FINISH, "apart(m_4[0,4)x16(unit))");
    }
    rig_end(&r);
}

int main(void)
{
    ends_are("m/4 n/12 k/4 k m@unroll n@vector",
             "k_2[0,10)x4?{0..MIN(10, (size0 + 3) / 4)}(k_3[0,4)x1?{0..MIN(4, size0 - 4 * k_2)}(fetch "
             "apart(m_4[0,4)x1:4(access(n_5[0,12)x1:lanes(phase))))))");
    ends_are(
        "m/4 n/12 k/4 m@unroll k@unroll n@vector",
        "k_2[0,10)x4|{0..MIN(10, size0 / 4)}(fetch "
        "apart(m_3[0,4)x1:4(k_4[0,4)x1:4(access(n_5[0,12)x1:lanes(phase)))))) k_2[0,10)x4${MAX(0, size0 / 4)..MIN(10, "
        "(size0 + 3) / 4)}(fetch apart(m_3[0,4)x1:4(k_4[0,4)x1:4(access(n_5[0,12)x1:lanes(phase))))))");
    test_folded(), test_masks(), test_dots(), test_units();
    test_cut();
    test_unroll();
    test_shared();
    test_varying();
    test_padding();
    test_group();
    test_turns();
    for (int i = 0; i < N_TRIPS_PASS; i++)
        if (!CHECK(noticed[i]))
            printf("  no tree is another one without %s\n", trips_passes[i].name);
    return check_done();
}
