/* trips_test.c - what passes make of trips of loops: small trees, and those of whole plans, printed. */
/* ctest: fast */
#include "backends/codegen/trips.h"
#include "tests/backends/codegen/rig.h"
#include "tests/backends/codegen/tree.h"
#include "tests/check.h"

static const char *const kinds[] = {"",     "stage",   "chunks", "carried", "tile",    "if",    "else",
                                    "ring", "access",  "lanes",  "apart",   "vectors", "first", "turn",
                                    "unit", "product", "fetch",  "dot",     "phase"};

static const char *const made_by[] = {[BY_EACH] = "", [BY_PARTS] = "/", [AS_CHUNKS] = "+"};

/* m_0[0,4)x6(...): four trips of six elements each; ! of a rest, ~ where a mask ends it, / where each part has its own,
 * + where they are of chunks, =from..to as texts say */
static void print(const emitter *m, const strip *t, text *out)
{
    for (; t; t = t->next) {
        text_add(out, out->length && out->s[out->length - 1] != '(' ? " " : "");
        if (t->kind == T_CHUNKS)
            text_add(out, "chunks_%lld", (long long)t->end);
        else if (t->kind == T_IF && t->left)
            text_add(out, "if_%s>%lld", m->s->letter[t->loop], (long long)t->left);
        else if (t->kind == T_VECTORS)
            text_add(out, "vectors[%lld,%lld)x%lld", (long long)t->first, (long long)t->end, (long long)t->left);
        else if (t->kind != T_LOOP)
            text_add(out, "%s%s", kinds[t->kind], t->kind == T_TILE && t->way == TRIPS_LEFT ? "?" : "");
        else
            text_add(out, "%s_%d[%lld,%lld)x%lld%s%s%s", m->s->letter[trips_loop(m, t)->axis], t->loop,
                     (long long)t->first, (long long)t->end, (long long)t->left, t->rest ? "!" : "",
                     t->masked ? "~" : "", made_by[t->made]);
        if (t->to)
            text_add(out, "=%s..%s", cexpr_text(m->mem, t->from), cexpr_text(m->mem, t->to));
        if (t->in)
            text_add(out, "("), print(m, t->in, out), text_add(out, ")");
    }
}

/* k:3 where as many trips are written out together, k:lanes where they are elements, k where they are made */
static void print_ways(const emitter *m, const strip *t, text *out)
{
    for (; t; t = t->next) {
        const bool loops = t->kind == T_LOOP || t->kind == T_VECTORS;
        if (loops)
            text_add(out, "%s%s", out->length ? " " : "", m->s->letter[trips_loop(m, t)->axis]);
        if (loops && t->how == WRITTEN_OUT)
            text_add(out, ":%lld", (long long)t->together);
        text_add(out, loops && t->how == IN_LANES ? ":lanes" : "");
        print_ways(m, t->in, out);
    }
}

static void printed(void (*by)(const emitter *m, const strip *t, text *out), const emitter *m, const strip *t,
                    const char *want)
{
    ENDED_BY(text_free) text out = {0};
    by(m, t, &out);
    CHECK_TEXT(text_str(&out), want);
}

static void ways_are(const emitter *m, const strip *t, const char *want)
{
    printed(print_ways, m, t, want);
}

/* Loops in registers are written out, few trips of them where nothing is summed up, and rows of sums in memory not. */
static void test_unroll(void)
{
    rig r;
    if (rig_begin(&r, small_product, two_cores, "matmul", "m/5 n/12 k/3 k m@unroll n@vector")) {
        rig_tile(&r);
        ways_are(r.m, trips_of_phase(r.m, CLEAR), "m:5 n:lanes");
        ways_are(r.m, trips_of_phase(r.m, BODY), "k k m:5 n:lanes k k m:5 n:lanes");
        r.m->tile.vectors = (vector_loop){.n = 4, .axis = 1, .count = 4};
        ways_are(r.m, trips_of_phase(r.m, FINISH), "m:5 n:3");
        r.m->tile.sums = "sums";
        ways_are(r.m, trips_of_phase(r.m, FINISH), "m n:3");
        r.m->tile.sums = NULL, r.m->stage.fold = NULL;
        r.m->tile.vectors = (vector_loop){.n = 2, .axis = 1, .count = 2};
        ways_are(r.m, trips_of_phase(r.m, FINISH), "m:5 n:4");
    }
    rig_end(&r);
}

static void is(const emitter *m, const strip *t, const char *want)
{
    printed(print, m, t, want);
}

static void test_cut(void)
{
    rig r;
    if (rig_begin(&r, small_product, two_cores, "matmul",
                  "m/5 k/32 n/12 k m@unroll n@vector")) { /* 24 x 36, sums of 40 */
        is(r.m, trips_of_kernel(r.m),
           "stage(m_0[0,4)x5(k_1[0,1)x32(n_2[0,3)x12(tile)) k_1[1,2)x8!(n_2[0,3)x12(tile))) "
           "m_0[4,5)x4!(k_1[0,1)x32(n_2[0,3)x12(tile)) k_1[1,2)x8!(n_2[0,3)x12(tile))))");
        rig_tile(&r);
        is(r.m, trips_of_phase(r.m, CLEAR), "m_4[0,5)x1(n_5[0,12)x1(phase))");
    }
    rig_end(&r);
    if (rig_begin(&r, small_product, two_cores, "matmul", "m/5 n/12 k/3 k m@unroll n@vector")) { /* 40 = 13 * 3 + 1 */
        rig_tile(&r);
        is(r.m, trips_of_phase(r.m, BODY),
           "k_2[0,13)x3(k_3[0,3)x1(fetch apart(m_4[0,5)x1(access(n_5[0,12)x1(phase)))))) "
           "k_2[13,14)x1!(k_3[0,1)x1(fetch apart(m_4[0,5)x1(access(n_5[0,12)x1(phase))))))");
        is(r.m, trips_of_phase(r.m, FINISH), "apart(m_4[0,5)x1(access(n_5[0,12)x1(phase))))");
        r.m->tile.vectors = (vector_loop){.n = 8, .axis = 1, .count = 8};
        is(r.m, trips_of_phase(r.m, FINISH), "apart(m_4[0,5)x1(vectors[0,1)x8(phase) vectors[1,2)x4(phase)))");
        is(r.m, trips_of_phase(r.m, CLEAR), "m_4[0,5)x1(vectors[0,2)x8(phase))");
        r.m->tile.vectors.n = 4;
        r.m->stage.known = 1u << 4; /* what is computed is chosen by m */
        is(r.m, trips_of_phase(r.m, FINISH),
           "apart(m_4[0,1)x1(vectors[0,3)x4(phase)) m_4[1,2)x1(vectors[0,3)x4(phase)) "
           "m_4[2,3)x1(vectors[0,3)x4(phase)) m_4[3,4)x1(vectors[0,3)x4(phase)) m_4[4,5)x1(vectors[0,3)x4(phase)))");
    }
    rig_end(&r);
}

/* Chunks: all trips of the loop over cores and of those around it; a fold around it keeps parts to their own. */
static void test_shared(void)
{
    rig r;
    if (rig_begin(&r, small_product, two_cores, "matmul", "m/8 n/12@core k m@unroll n@vector")) {
        is(r.m, trips_of_kernel(r.m), "stage(chunks_9(m_0[0,3)x8+(n_1[0,3)x12+(tile))))");
    }
    rig_end(&r);
    if (rig_begin(&r, small_product, two_cores, "matmul", "k/20 m/5@core n/12 k m@unroll n@vector")) {
        is(r.m, trips_of_kernel(r.m),
           "stage(k_0[0,2)x20(m_1[0,4)x5/(n_2[0,3)x12(tile)) m_1[4,5)x4!/(n_2[0,3)x12(tile))))");
    }
    rig_end(&r);
}

/* Where a run says the extent: halves of a tile of sums while no more is left; ? where sums may end within the tile */
static void test_varying(void)
{
    rig r;
    if (rig_begin(&r, small_product, two_cores, "matmul", "m/4 n/12 k m@unroll n@vector")) {
        r.b.p->kernel->stage->varies[0] = (varying){.by = 1, .times = {1}, .per = 1};
        is(r.m, trips_of_kernel(r.m), "stage(m_0[0,6)x4(n_1[0,3)x12(if_m>2(tile) else(if_m>1(tile) else(tile)))))");
    }
    rig_end(&r);
    if (rig_begin(&r, small_product, two_cores, "matmul", "m/4 k/20 n/12 k m@unroll n@vector")) {
        r.b.p->kernel->stage->varies[2] = (varying){.by = 1, .times = {1}, .per = 1};
        is(r.m, trips_of_kernel(r.m), "stage(m_0[0,6)x4(k_1[0,2)x20(n_2[0,3)x12(if(tile) else(tile?)))))");
    }
    rig_end(&r);
    if (rig_begin(&r, small_product, two_cores, "matmul", "m/4 n/12 k m@unroll n@vector")) {
        r.b.p->kernel->stage->varies[2] = (varying){.by = 1, .times = {1}, .per = 1};
        is(r.m, trips_of_kernel(r.m), "stage(m_0[0,6)x4(n_1[0,3)x12(tile?)))");
    }
    rig_end(&r);
}

/* 11 x 12 in steps of 2 and 3, one place of padding around: lines and columns at borders */
static void test_padding(void)
{
    rig r;
    if (rig_begin(&r, strided, two_cores, "conv2d", "n oc/4 oh/2 ic kh kw oc@unroll oh@unroll ow@vector")) {
        is(r.m, trips_of_kernel(r.m),
           "stage(n_0[0,2)x1(oc_1[0,2)x4(oh_2[0,1)x2(tile) oh_2[1,2)x2(tile) oh_2[2,3)x2(tile))))");
        rig_tile(&r); /* the first line of the window begins outside: it has one line of the tile */
        is(r.m, trips_of_phase(r.m, BODY),
           "ic_3[0,4)x1(kh_4[0,1)x1(kw_5[0,3)x1(fetch apart(oc_6[0,4)x1(oh_7[1,2)x1(access(ow_8[0,4)x1(phase))))))) "
           "kh_4[1,3)x1(kw_5[0,3)x1(fetch apart(oc_6[0,4)x1(oh_7[0,2)x1(access(ow_8[0,4)x1(phase))))))))");
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
        is(r.m, trips_of_phase(r.m, BODY),
           "ring(k_2[0,64)x16(k_3[0,16)x1(fetch "
           "apart(m_4[0,8)x2(n_5[0,4)x16(n_6[0,16)x1(m_7[0,2)x1(phase))))))))");
        is(r.m, trips_of_phase(r.m, CLEAR), "lanes(n_5[0,4)x16(lanes(m_7[0,2)x1(phase))))");
        is(r.m, trips_of_phase(r.m, FINISH), "apart(m_4[0,8)x2(n_5[0,4)x16(n_6[0,16)x1(m_7[0,2)x1(phase)))))");
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
        is(r.m, trips_of_phase(r.m, FINISH), "apart(n_4[0,12)x1(access(m_5[0,8)x1(phase))))");
        r.m->tile.vectors = (vector_loop){.n = 8, .axis = 0, .count = 8};
        is(r.m, trips_of_phase(r.m, FINISH), "apart(turn(n_4[0,12)x1(vectors[0,1)x8(phase))))");
        is(r.m, trips_of_phase(r.m, CLEAR), "n_4[0,12)x1(vectors[0,1)x8(phase))");
        r.m->d = &made_up, r.tile.counted = 1u << 2;
        is(r.m, trips_of_phase(r.m, BODY),
           "k_2[0,5)x8=0..k_trips(k_3[0,8)x1(fetch apart(n_4[0,12)x1(vectors[0,1)x8(phase)))))");
    }
    rig_end(&r);
    if (rig_begin(&r, small_product, two_cores, "matmul", "m/16 n/4 k n@unroll m/8@unroll m@vector")) {
        r.m->d = &with_turns;
        rig_tile(&r);
        r.m->tile.vectors = (vector_loop){.n = 8, .axis = 0, .count = 8};
        is(r.m, trips_of_phase(r.m, FINISH), "apart(m_4[0,2)x8(turn(n_3[0,4)x1(vectors[0,1)x8(phase)))))");
    }
    rig_end(&r);
}

int main(void)
{
    test_cut();
    test_unroll();
    test_shared();
    test_varying();
    test_padding();
    test_group();
    test_turns();
    return check_done();
}
