/* Weights where a program reads them, and the same packed and handed to a back end whose memory is elsewhere: read in
 * place, packed, seeded, computed from others. */
#include "backends/weights.h"
#include "backends/cpu/cpu.h"
#include "schedule/make.h"
#include "tests/backends/row.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, PARTS = 3 };
typedef struct away {
    void *at[MOST];
    size_t bytes[MOST];
    int parts;
} away;

static bool spread(void *user, weight_work *work, void *arg, err *e)
{
    (void)user, (void)e;
    for (int i = PARTS; i-- > 0;)
        work(arg, i, PARTS);
    return true;
}

static bool upload(void *user, int i, const void *from, size_t bytes, err *e)
{
    away *a = user;
    (void)e;
    CHECK(i < MOST && !a->at[i]);
    a->at[i] = malloc(bytes + 1), a->bytes[i] = bytes;
    memcpy(a->at[i], from, bytes);
    return true;
}

static bool refuse(void *user, int i, const void *from, size_t bytes, err *e)
{
    (void)user, (void)from, (void)bytes;
    return err_set(e, TS_DEVICE, "weight %d does not fit", i);
}

static void check_alike(const plan *p, const backend *c)
{
    const build_options asked = {0};
    away there = {0};
    weights here, none;
    err e = {0};
    CHECK(weights_load(&here, p, &(weight_host){.by = c, .asked = &asked, .spread = spread}, &e));
    CHECK(weights_load(
        &none, p, &(weight_host){.by = c, .asked = &asked, .spread = spread, .upload = upload, .user = &there}, &e));
    for (int i = 0; i < p->n_leaf; i++) {
        const size_t bytes = (size_t)p->leaf[i].layout.size * (size_t)ts_dtype_bytes(p->leaf[i].node->type.dtype);
        CHECK(there.bytes[i] == bytes && !memcmp(there.at[i], here.at[i], bytes) && !none.at[i]);
        free(there.at[i]);
    }
    weights_free(&none);
    CHECK(!weights_load(&none, p, &(weight_host){.by = c, .asked = &asked, .spread = spread, .upload = refuse}, &e));
    CHECK_TEXT(e.text, "weight 0 does not fit");
    weights_free(&none), weights_free(&here);
}

int main(void)
{
    ts_graph *g = ts_graph_make();
    row_inputs in = {0};
    machine on;
    target made;
    err e = {0};
    const ts_tensor seeded = ts_weight(g, "seeded", TS_F32, 2, (int64_t[]){60, 50}, 0, 1, 7);
    const ts_tensor root[] = {
        row_build(g,
                  "x f32[1,64,24,24]; w! f32[64,64,3,3]; c! f32[1,64,1,1]; p conv2d pads=[1,1,1,1] x w; q add p c; "
                  "y relu q",
                  1, &in),
        row_build(g, "a f32[37,70]; w! f32[70,53]; y matmul a w", 2, &in),
        ts_call2(g, "matmul", ts_input(g, "s", TS_F32, 2, (int64_t[]){9, 60}), seeded)};
    const backend *c = backend_find("c", &e);
    if (CHECK(machine_load(&on, NULL, &e) && root[0] && root[1] && ts_graph_ok(g, &e))) {
        cpu_target_of(&made, &on, on.isa, 1);
        plan *p = plan_make(g, COUNT(root), root, &(plan_options){.on = &made, .target = "c"}, &e);
        int derived = 0, drawn = 0;
        for (int i = 0; p && i < p->n_leaf; i++) {
            derived += p->leaf[i].node->leaf->of != NULL;
            drawn += !p->leaf[i].node->leaf->of && !p->leaf[i].node->leaf->data;
        }
        if (CHECK(p && derived && drawn && p->n_leaf <= MOST))
            check_alike(p, c);
        else
            printf("  %s\n", e.text);
        plan_free(p);
    }
    row_inputs_free(&in), ts_graph_free(g);
    return check_done();
}
