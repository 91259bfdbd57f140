/* scans_test.c - plans of scans: nothing grows with the trips but what is gathered; weights are laid out once, for
 * the kernels of a trip; little work is planned for one worker. And scans of which one makes all that another does are
 * one. Scans of one worker stand beside one another. */
/* ctest: fast */
#include "backends/cpu/cpu.h"
#include "backends/gpu/gpu.h"
#include "schedule/make.h"
#include "schedule/nest/nest.h"
#include "tests/check.h"

#include <stdio.h>

typedef struct planning {
    ts_graph *g;
    ts_tensor out[4];
    int n;
} planning;

/* h' = tanh(x[t] + h w) over `trips` rows of a batch of 2, in which h is n wide */
static void make_cell(planning *m, int64_t trips, int64_t n, bool slope)
{
    ts_graph *g = m->g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F32, 3, (const int64_t[]){trips, 2, n}),
              h0 = ts_input(g, "h", TS_F32, 2, (const int64_t[]){2, n}),
              w = ts_weight(g, "w", TS_F32, 2, (const int64_t[]){n, n}, 0, 0.1, 1), out[2];
    ts_scan *s = ts_scan_begin(g, trips);
    ts_tensor h = ts_scan_state(s, h0),
              next = ts_call1(g, "tanh", ts_call2(g, "add", ts_scan_slice(s, x, false), ts_call2(g, "matmul", h, w)));
    ts_scan_step(s, h, next), ts_scan_gather(s, next, false);
    CHECK(ts_scan_end(s, out));
    m->out[m->n++] = out[1];
    ts_tensor sum = ts_call1(g, "sum", out[1]);
    if (slope && CHECK(ts_chain_rule(g, 1, &sum, NULL, 1, &x, &m->out[m->n])))
        m->n++;
}

static plan *plan_of(const planning *m, arena *mem, int threads)
{
    machine *on = arena_get(mem, sizeof *on);
    target *made = arena_get(mem, sizeof *made);
    err e = {0};
    if (!CHECK(machine_load(on, "l3:1(32MB) l2:4(1MB) l1d:4(32KB) core:4 isa:avx2", &e)))
        return NULL;
    cpu_target_of(made, on, on->isa, threads);
    plan *p = plan_make(m->g, m->n, m->out, &(plan_options){.on = made, .target = "c"}, &e);
    if (!CHECK(p != NULL))
        printf("  %s\n", e.text);
    return p;
}

static const scan_plan *scan_of(const plan *p, int which, int *n) /* counts all in *n */
{
    const scan_plan *found = NULL;
    *n = 0;
    for (int k = 0; k < p->n_kernel; k++)
        if (p->kernel[k].scan && (*n)++ == which)
            found = p->kernel[k].scan;
    return found;
}

static void check_growth(void)
{
    arena mem = {0};
    int64_t arena_bytes[2], trip_bytes[2];
    int kernels[2], within[2], leaves[2];
    for (int i = 0; i < 2; i++) {
        planning m = {0};
        int n;
        make_cell(&m, i ? 512 : 32, 64, false);
        plan *p = plan_of(&m, &mem, 1);
        const scan_plan *s = scan_of(p, 0, &n);
        CHECK(n == 1 && s->trips == (i ? 512 : 32));
        kernels[i] = p->n_kernel, within[i] = s->plan->n_kernel, leaves[i] = p->n_leaf;
        arena_bytes[i] = p->arena_bytes, trip_bytes[i] = s->plan->arena_bytes;
        plan_free(p), ts_graph_free(m.g);
    }
    CHECK(kernels[0] == kernels[1] && within[0] == within[1] && leaves[0] == 1 && leaves[1] == 1);
    CHECK(trip_bytes[0] == trip_bytes[1]);
    /* the last state and all rows, once more as a result */
    CHECK(arena_bytes[1] - arena_bytes[0] == 2 * (512 - 32) * 2 * 64 * 4);
    arena_free(&mem);
}

static void check_workers(void)
{
    arena mem = {0};
    for (int i = 0; i < 2; i++) {
        planning m = {0};
        int n;
        make_cell(&m, 20, i ? 2048 : 16, false);
        plan *p = plan_of(&m, &mem, 4);
        const scan_plan *s = scan_of(p, 0, &n);
        CHECK(n == 1 && s->plan->threads == (i ? 4 : 1) && s->inside == !i);
        plan_free(p), ts_graph_free(m.g);
    }
    arena_free(&mem);
}

/* A group of a card makes the trips of little work: its lanes are those of the kernel that asks for most. Where work is
 * worth more than what the launches of its kernels take, all groups have a part of it. */
static void check_cards(void)
{
    for (int i = 0; i < 2; i++) {
        arena mem = {0};
        planning m = {0};
        err e = {0};
        gpu_facts card;
        int n;
        make_cell(&m, 20, i ? 2048 : 64, true);
        const target *on = CHECK(gpu_read(&card, "gpu:h100", &e)) ? gpu_target(&mem, &card, &e) : NULL;
        plan *p = on ? plan_make(m.g, m.n, m.out, &(plan_options){.on = on, .target = "cuda"}, &e) : NULL;
        if (!CHECK(p != NULL)) {
            printf("  %s\n", e.text);
            break;
        }
        const scan_plan *s = scan_of(p, 0, &n);
        int64_t most = 1;
        for (int k = 0; k < s->plan->n_kernel; k++)
            most = int_max(most, nest_group_lanes(s->plan, &s->plan->kernel[k]));
        CHECK(s->plan->threads == (i ? card.processors : 1) && s->inside == !i && s->lanes == (i ? 1 : most));
        plan_free(p), ts_graph_free(m.g), arena_free(&mem);
    }
}

/* The way back needs states that the way forth has: one scan makes what is asked for and keeps them. */
static void check_joined(void)
{
    arena mem = {0};
    planning m = {0};
    int n;
    make_cell(&m, 20, 16, true);
    plan *p = plan_of(&m, &mem, 1);
    scan_of(p, 0, &n);
    CHECK(n == 2);
    plan_free(p), ts_graph_free(m.g);
    arena_free(&mem);
}

/* Two directions of a cell over the same rows, each with its own weights, and a scan over what one of them gathers */
static void make_directions(planning *m)
{
    ts_graph *g = m->g = ts_graph_make();
    ts_tensor x = ts_input(g, "x", TS_F32, 3, (const int64_t[]){20, 2, 16}), all[2][2], over[1];
    for (int i = 0; i < 2; i++) {
        ts_tensor w = ts_weight(g, i ? "back" : "forth", TS_F32, 2, (const int64_t[]){16, 16}, 0, 0.1, 1);
        ts_scan *s = ts_scan_begin(g, 20);
        ts_tensor h = ts_scan_state(s, ts_call1(g, "index key=0", x)),
                  sum = ts_call2(g, "add", ts_scan_slice(s, x, i), ts_call2(g, "matmul", h, w)),
                  next = ts_call1(g, "tanh", sum);
        ts_scan_step(s, h, next), ts_scan_gather(s, next, i);
        CHECK(ts_scan_end(s, all[i]));
        m->out[m->n++] = ts_call1(g, "exp", all[i][1]);
    }
    ts_scan *s = ts_scan_begin(g, 20);
    ts_tensor h = ts_scan_state(s, all[0][0]);
    ts_scan_step(s, h, ts_call2(g, "multiply", h, ts_scan_slice(s, all[0][1], false)));
    CHECK(ts_scan_end(s, over));
    m->out[m->n++] = over[0];
}

static bool meet(const buffer *a, const buffer *b)
{
    return a->where == IN_ARENA && b->where == IN_ARENA && a->offset < b->offset + b->bytes &&
           b->offset < a->offset + a->bytes;
}

/* Workers make scans of one worker at once, where these do not need one another: those lie apart. One worker does not,
 * and its values lie over one another. */
static void check_beside(void)
{
    arena mem = {0};
    for (int threads = 1; threads < 4; threads++) {
        planning m = {0};
        int n;
        make_directions(&m);
        plan *p = plan_of(&m, &mem, threads);
        scan_of(p, 0, &n);
        CHECK(n == 3);
        int at = 0;
        while (at < p->n_kernel &&
               !(p->kernel[at].scan && at + 1 < p->n_kernel && p->kernel[at + 1].scan && p->kernel[at + 1].beside))
            at++;
        CHECK((at < p->n_kernel) == (threads > 1));
        for (int k = 0; k < p->n_kernel; k++)
            CHECK(!p->kernel[k].beside || k == at + 1);
        if (at < p->n_kernel) {
            const kernel *k = &p->kernel[at];
            const buffer *one[] = {k->scan->room, &p->buffer[k->stage->node->id]},
                         *other[] = {k[1].scan->room, &p->buffer[k[1].stage->node->id]};
            for (int i = 0; i < 4; i++)
                CHECK(!meet(one[i / 2], other[i % 2]));
        }
        plan_free(p), ts_graph_free(m.g);
    }
    arena_free(&mem);
}

int main(void)
{
    check_growth(), check_workers(), check_cards(), check_joined(), check_beside();
    return check_done();
}
