/* What kernels come to on a card, against numbers worked out by hand. */
/* ctest: fast */
#include "backends/gpu/figures.h"
#include "tests/check.h"
#include "tests/schedule/planned.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* 4 processors of 1 GHz that run 256 lanes each; 128 multiply-adds a cycle; memory gives 8 bytes a cycle to each */
static const char card[] = "gpu:tiny processor:4 lane:256(128) warp:32 group:8 register:8192(128) shared:32KB(16KB) "
                           "l2:8MB clock:1GHz memory:1GB(32GB/s)";

static bool find(planned *b, maker *make, const char *what, const char *loops, gpu_figures *f)
{
    char rule[200];
    snprintf(rule, sizeof rule, "{\"match\":{\"op\":[\"%s\"]},\"loops\":\"%s\"}", what, loops);
    if (!make_plan(b, &(setting){.make = make, .machine = card, .rules = rule}))
        return false;
    footprint bytes = {0};
    gpu_figures_find(b->p, b->p->kernel, f, &bytes), footprint_free(&bytes);
    return true;
}

static const gpu_access *access_of(const gpu_figures *f, int load, bool shared, bool copy)
{
    const gpu_access *a = f->access;
    while (a < f->access + f->n_access && !(a->load == load && a->shared == shared && a->copy == copy))
        a++;
    return CHECK(a < f->access + f->n_access) ? a : &f->access[0];
}

static bool touches(const gpu_access *a, int64_t bytes, double times, int64_t parts, int64_t least)
{
    const bool same = a->bytes == bytes && a->times == times && a->parts == parts && a->least == least;
    if (!same)
        printf("  %lld bytes, %g times, %lld of at least %lld\n", (long long)a->bytes, a->times, (long long)a->parts,
               (long long)a->least);
    return same;
}

static bool near(double got, double want)
{
    const bool same = fabs(got - want) <= 1e-9 * want;
    if (!same)
        printf("  %.12g, not %.12g\n", got, want);
    return same;
}

/* matmul m=24 n=36 k=40, a group of 8 rows and 12 columns, a lane each: 96 lanes in 9 groups. */
static void test_lanes(void)
{
    planned b;
    gpu_figures f;
    if (find(&b, small_product, "matmul", "m/8@block n/12@block k m@lane n@lane", &f)) {
        CHECK(f.groups == 9 && f.lanes == 96);
        /* a sum; half of 40 steps with two operands; three pointers, numbers of the lane and of the group, the stack */
        CHECK(f.room.registers == 1 + 40 + 6 + 8 && f.room.shared == 0);
        /* 55 * 32 registers a warp, taken as 56; 8192 / 2048 = 4 warps, one group of three */
        CHECK(f.room.resident == 1 && !strcmp(f.room.limit, "registers"));
        CHECK(near(f.occupancy, 96.0 / 256) && f.waves == 3 && near(f.last, 1.0 / 4)); /* 4 at once */
        /* the first warp: rows 0, 1 and 8 columns of row 2; a row of a is 160 bytes, of b and y 144 */
        CHECK(touches(access_of(&f, 0, false, false), 4, 3 * 40, 3, 1));
        CHECK(touches(access_of(&f, 1, false, false), 4, 3 * 40, 2, 2));    /* 12 columns: 48 bytes */
        CHECK(touches(access_of(&f, MAX_LOADS, false, false), 4, 3, 5, 4)); /* 0..47, 144..191, 288..319 */
        CHECK(near(f.moved, 32 * (40 * 10 + 120 * 2 + (16 + 18 + 16) / 3.0)) &&
              near(f.asked, 32 * (120 * 1 + 120 * 2 + 3 * 4)));
        /* 3 groups on one processor: 8 * 12 * 40 multiply-adds each */
        CHECK(near(f.products, 3 * 8 * 12 * 40 / 128.0));
        CHECK(near(f.cache, 3 * f.moved / 28));
        CHECK(near(f.memory, 4.0 * (24 * 40 + 40 * 36 + 24 * 36) / 8 / 4));
        CHECK(f.shared == 0 &&
              near(f.latency, 3 * (1 + 10) * 500)); /* three rounds; 40 reads by four, and the result */
        CHECK(!strcmp(f.bound, "latency") &&
              near(f.seconds, (f.latency + (f.products + f.cache + f.memory) / 8) / 1e9));
    }
    free_plan(&b);
}

/* matmul m=64 n=1024 k=1024: slices of 16 x 16 and 16 x 64 in shared memory, each lane 2 rows and 4 columns. */
static void test_slices(void)
{
    planned b;
    gpu_figures f;
    if (find(&b, wide_rows, "matmul",
             "m/16@block n/64@block k/16+a@shared+b@shared k m/2@lane n/16@unroll n@lane m@unroll", &f)) {
        CHECK(f.groups == 4 * 16 && f.lanes == 8 * 16);
        /* sums; of steps of six reads and eight multiply-adds four, for 30 operations; pointers, places and counters */
        CHECK(f.room.registers == 8 + 4 * 6 + 19);
        CHECK(f.room.shared == 1280 + 16 * 64 * 4); /* 16 rows of 17, in whole 256 */
        /* copies of a go along k, 16 of each of 2 rows: 64 bytes each; into a slice with rows of 16 m and a gap of
         * one: lanes of one row of a write 68 bytes apart, and one bank alone has two words: of the first row's last
         * lane and the second's first */
        CHECK(touches(access_of(&f, 0, false, true), 4, 64 * 2 * 4, 4, 4));
        CHECK(touches(access_of(&f, 0, true, true), 4, 64 * 2 * 4, 2, 1));
        /* those of b lie as they are: 16 bytes at once */
        CHECK(touches(access_of(&f, 1, false, true), 16, 64 * 2 * 4, 16, 16));
        CHECK(touches(access_of(&f, 1, true, true), 16, 64 * 2 * 4, 4, 4));
        CHECK(touches(access_of(&f, 0, true, false), 4, 1024 * 2 * 4, 1, 1)); /* two words: two rows of lanes */
        CHECK(touches(access_of(&f, 1, true, false), 4, 1024 * 4 * 4, 1, 1));
        CHECK(near(f.banks, 512 * 2 + 2048 + 8192 + 16384) && near(f.banks_least, 512 + 2048 + 8192 + 16384));
        /* 64 * 32 registers a warp: 4 warps; so 16 groups wait one after the other */
        CHECK(f.room.resident == 1 && !strcmp(f.room.limit, "registers"));
        CHECK(near(f.shared, 16 * f.banks) && near(f.latency, 16 * (1 + 64) * 500));
        CHECK_TEXT(f.bound, "latency");
    }
    free_plan(&b);
}

static const node *rows(graph *g)
{
    const type t = {.dtype = TS_F32, .rank = 2, .dim = {64, 512}};
    return g_call1(g, "softmax axis=-1", g_input(g, "x", &t, NULL));
}

/* Rows of 512 in a group of 128 lanes: 16 bytes of each lane, which come in four runs of 128; what stages hand on is in
 * shared memory: a number for the largest, a row, a number for the sum. */
static void test_stages(void)
{
    planned b;
    gpu_figures f;
    if (find(&b, rows, "softmax",
             "r@block ; max: c/4@lane c@vector ; exp: e/4@lane e@vector ; sum: c/4@lane c@vector ; divide: e/4@lane "
             "e@vector",
             &f)) {
        CHECK(f.groups == 64 && f.lanes == 128);
        CHECK(f.room.shared == 256 + 2048 + 256 + 128 * 8); /* and sums that lanes merge */
        CHECK(touches(access_of(&f, 0, false, false), 16, 4, 16, 16));
        CHECK(touches(access_of(&f, 0, true, false), 16, 4, 4, 4)); /* of the sum */
        CHECK(touches(access_of(&f, 1, true, false), 4, 4, 1, 1));  /* one word for all */
        CHECK(f.banks == f.banks_least);
        CHECK(near(f.asked, f.moved) && near(f.moved, 3 * 2048)); /* read by two stages, written by one */
    }
    free_plan(&b);
}

int main(void)
{
    test_lanes();
    test_slices();
    test_stages();
    return check_done();
}
