/* What of the weights a run has in memory: how far cheaper ways let it grow, and that a run keeps to it. Weights from
 * seeds are there as a whole; of a table that stands in a file, only the rows that are read.
 * ctest: large */
#include "schedule/plan/resident.h"
#include "graph/ir/graph.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/schedule/planned.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 30000, WIDTH = 768, INNER = 3072, LAYERS = 8, PLACES = 128 };

typedef struct source { /* of weights: the places in a file, one after the other; NULL: seeds */
    const char *at;
    int64_t bytes;
} source;

static const node *weight(graph *g, source *from, int64_t rows, int64_t columns)
{
    const type t = {TS_F32, 2, {rows, columns}};
    char name[24];
    snprintf(name, sizeof name, "w%lld", (long long)from->bytes);
    from->bytes += type_bytes(&t);
    return from->at ? g_weight(g, name, &t, from->at + from->bytes - type_bytes(&t))
                    : ts_weight(g, name, TS_F32, 2, t.dim, 0, 0.02, (uint64_t)from->bytes);
}

/* A table of words, then layers of two wide products, which do not all fit. */
static const node *layers(graph *g, source *from)
{
    const node *id = ts_input(g, "id", TS_I64, 1, (int64_t[]){PLACES}),
               *x = ts_call2(g, "gather", weight(g, from, WORDS, WIDTH), id);
    for (int i = 0; i < LAYERS; i++) {
        const node *y = ts_call1(g, "relu", ts_call2(g, "matmul", x, weight(g, from, WIDTH, INNER)));
        x = ts_call2(g, "add", x, ts_call2(g, "matmul", y, weight(g, from, INNER, WIDTH)));
    }
    return x;
}

static int64_t bytes_of(void) /* of all weights */
{
    source from = {0};
    graph *g = ts_graph_make();
    layers(g, &from);
    ts_graph_free(g);
    return from.bytes;
}

/* In the child: exit status 0 when all went well. */
static int child(const char *file, int threads, const char *cache)
{
    const int64_t bytes = bytes_of();
    source from = {0};
    err e = {0};
    if (file) {
        const int fd = open(file, O_RDONLY | O_CLOEXEC);
        from.at = fd < 0 ? MAP_FAILED : mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        if (from.at == MAP_FAILED)
            return 1;
    }
    graph *g = ts_graph_make();
    const node *y = layers(g, &from);
    ts_plan *p = ts_plan_of(g, 1, &y, 0, NULL, &(ts_options){.threads = threads, .cache_folder = cache}, &e);
    ts_array id = {0};
    const bool ok = p && ts_plan_build(p, &e) && ts_array_make(&id, TS_I64, 1, (int64_t[]){PLACES}, &e) &&
                    ts_plan_set(p, 0, &id, &e) && ts_plan_run(p, &e);
    if (!ok)
        fprintf(stderr, "%s\n", e.text);
    return !ok;
}

/* The largest resident set over the bytes of the weights */
static double peak(const char *file, int threads, const char *cache)
{
    struct rusage used;
    int status = 1;
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0)
        _exit(child(file, threads, cache));
    CHECK(pid > 0 && wait4(pid, &status, 0, &used) == pid && status == 0);
    return (double)used.ru_maxrss * 1024 / (double)bytes_of();
}

static void within(const char *file, int threads, const char *cache)
{
    static const double MOST = 1.4;
    const double got = peak(file, threads, cache);
    if (!CHECK(got > 0.5 && got < MOST))
        printf("  %s, %d threads: %.3f of the weights resident, %.2f promised\n", file ? "file" : "seeds", threads, got,
               MOST);
}

/* ---- which ways are taken ---- */
static const node *seeded(graph *g)
{
    return layers(g, &(source){0});
}

static const char *place; /* of weights that are never read */

static const node *placed(graph *g)
{
    return layers(g, &(source){.at = place});
}

static const node *tied(graph *g) /* the table that words are looked up in gives their scores, too */
{
    source from = {.at = place};
    const node *id = ts_input(g, "id", TS_I64, 1, (int64_t[]){1}), *table = weight(g, &from, WORDS, WIDTH);
    return ts_call2(g, "matmul", ts_call2(g, "gather", table, id), ts_call1(g, "transpose", table));
}

static const node *tied_seeded(graph *g)
{
    place = NULL;
    return tied(g);
}

static void tables(maker *make, int want) /* so many times the table is in memory */
{
    planned b;
    arena mem = {0};
    if (make_plan(&b, &(setting){make, two_cores, "avx512", NULL, 1})) {
        const int *times = resident_times(b.p, &mem);
        for (int id = 0; id < b.p->g->n; id++)
            CHECK(!b.p->g->node[id]->leaf || b.p->g->node[id]->leaf->kind != LEAF_WEIGHT || times[id] == want);
        const double got = (double)resident_weights(b.p) / (4.0 * WORDS * WIDTH);
        if (!CHECK(got >= want && got < want + 0.01))
            printf("  the table is %.3f times in memory, %d wanted\n", got, want);
    }
    arena_free(&mem);
    free_plan(&b);
}

static void takes(maker *make, int want, double resident)
{
    planned b;
    int n = 0;
    const bool made = make_plan(&b, &(setting){make, two_cores, "avx512", NULL, 1});
    for (int i = 0; made && i < b.p->n_kernel; i++)
        n += !strcmp(b.p->kernel[i].op, "contract");
    if (!CHECK(n == want))
        printf("  %d products in fewer operations, %d wanted\n", n, want);
    const double got = !made ? 0 : (double)resident_weights(b.p) / (double)bytes_of();
    if (!CHECK(got > resident - 0.01 && got < resident + 0.01))
        printf("  %.3f of the weights in memory, %.3f wanted\n", got, resident);
    free_plan(&b);
}

int main(void)
{
    scratch folder = scratch_make();
    const char *file = scratch_in(&folder, "weights");
    const int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && ftruncate(fd, (off_t)bytes_of()) == 0); /* zeros that take no room on the disk */
    close(fd);
    within(NULL, 1, folder.path), within(NULL, 2, folder.path), within(file, 2, folder.path);

    const double all = (double)bytes_of(), table = 4.0 * WORDS * WIDTH, wide = 4.0 * LAYERS * WIDTH * INNER;
    place = mmap(NULL, (size_t)all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(place != MAP_FAILED);
    takes(seeded, LAYERS + 2, (all + 0.75 * wide * (LAYERS + 2) / LAYERS) / all);
    takes(placed, 2 * LAYERS, (all - table + 2 * 0.75 * wide) / all);
    tables(tied, 1), tables(tied_seeded, 2);
    scratch_free(&folder);
    return check_done();
}
