/* ontop.c - a back end that the project does not have. What the generator writes in its language goes through a C
 * compiler; three groups then take turns at each kernel, each with its hands at once. */
#include "backends/ontop/ontop.h"
#include "backends/derived.h"
#include "graph/eval/eval.h"

#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GROUPS = 3, HANDS = 4 };
typedef void ontop_code(char **given, char *scratch, int *fault, long group, long groups, long hand, void *meeting);
struct program {
    const plan *p;
    kernel_text *text;
    ontop_code **code;
    void *library;
    char *arena, *scratch, **leaf;
};

static void drop(program *g)
{
    for (int k = 0; k < g->p->n_kernel; k++)
        kernel_text_free(&g->text[k]);
    for (int i = 0; i < g->p->n_leaf; i++)
        free(g->leaf[i]);
    if (g->library)
        dlclose(g->library);
    free(g->text), free(g->code), free(g->leaf), free(g->arena), free(g->scratch), free(g);
}

/* ---- the language, by way of a C compiler ---- */
static bool write_units(program *g, const char *folder, const char **argv, int *n, err *e)
{
    for (int k = 0; k < g->p->n_kernel; k++) {
        const kernel_text *u = &g->text[k];
        char path[256];
        snprintf(path, sizeof path, "%s/%s.c", folder, u->name);
        bool known = false;
        for (int i = 0; i < k; i++)
            known = known || !strcmp(g->text[i].name, u->name);
        if (!known && !file_save(path, u->text, strlen(u->text), e))
            return false;
        if (!known && !(argv[(*n)++] = strdup(path)))
            return false;
    }
    return true;
}

static bool compile(program *g, err *e)
{
    char folder[] = "/tmp/ontop.XXXXXX", out[64];
    const char **argv = calloc((size_t)g->p->n_kernel + 16, sizeof *argv);
    int n = 0, status = 1;
    pid_t pid;
    MUST(argv && mkdtemp(folder));
    snprintf(out, sizeof out, "%s/all.so", folder);
    const char *const flags[] = {"cc", "-std=gnu11", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-o"};
    for (n = 0; n < COUNT(flags); n++)
        argv[n] = flags[n];
    argv[n++] = out;
    bool ok = write_units(g, folder, argv, &n, e);
    argv[n++] = "-lm", argv[n] = NULL;
    ok = ok && !posix_spawnp(&pid, "cc", NULL, NULL, (char *const *)(uintptr_t)argv, environ) &&
         waitpid(pid, &status, 0) == pid && status == 0 && (g->library = dlopen(out, RTLD_NOW)) != NULL;
    for (int i = COUNT(flags) + 1; i < n - 1; i++)
        unlink(argv[i]), free((char *)(uintptr_t)argv[i]);
    unlink(out), rmdir(folder), free(argv);
    for (int k = 0; ok && k < g->p->n_kernel; k++)
        *(void **)&g->code[k] = dlsym(g->library, g->text[k].name);
    return ok || err_set(e, TS_UNSUPPORTED, "the compiler does not take what was generated");
}

/* ---- weights and runs ---- */
static bool load(program *g, const build_options *w, err *e)
{
    const plan *p = g->p;
    deriver *d = deriver_make(p, &backend_ontop, w);
    bool ok = true;
    for (int i = 0; ok && i < p->n_leaf; i++) {
        const node *n = p->leaf[i].node;
        char *rows = calloc(1, (size_t)type_bytes(&n->type) + 1);
        const void *from = n->leaf->of ? deriver_value(d, n, e) : rows;
        g->leaf[i] = calloc((size_t)p->leaf[i].layout.size + 1, (size_t)ts_dtype_bytes(n->type.dtype));
        MUST(rows && g->leaf[i]);
        if (!n->leaf->of)
            leaf_read(n, rows, 0, type_count(&n->type));
        if ((ok = from != NULL))
            layout_pack(&p->leaf[i].layout, &n->type, g->leaf[i], from, 0, 1);
        free(rows);
    }
    deriver_free(d);
    return ok;
}

static program *build(const plan *p, const build_options *w, text *facts, err *e)
{
    program *g = calloc(1, sizeof *g);
    int64_t most = 0;
    bool ok = true;
    (void)facts;
    MUST(g);
    g->p = p;
    g->text = calloc((size_t)p->n_kernel + 1, sizeof *g->text),
    g->code = calloc((size_t)p->n_kernel + 1, sizeof *g->code);
    g->leaf = calloc((size_t)p->n_leaf + 1, sizeof *g->leaf), g->arena = calloc(1, (size_t)p->arena_bytes + 64);
    MUST(g->text && g->code && g->leaf && g->arena);
    for (int k = 0; ok && k < p->n_kernel; k++) {
        ok = kernel_write(&ontop_dialect, p, &p->kernel[k], &g->text[k], e);
        most = g->text[k].scratch > most ? g->text[k].scratch : most;
    }
    g->scratch = calloc(1, (size_t)most + 64);
    MUST(g->scratch);
    if (ok && compile(g, e) && load(g, w, e))
        return g;
    return drop(g), NULL;
}

static char *memory_of(const program *g, const operand *o, void *const *input)
{
    const buffer *at = &g->p->buffer[o->node->id];
    return o->leaf >= 0            ? g->leaf[o->leaf]
           : at->where == IN_ARENA ? g->arena + at->offset
                                   : input[input_of(g->p, o->node)];
}

typedef struct turn { /* of one hand */
    ontop_code *code;
    char **given, *scratch;
    int *fault;
    long group, hand;
    pthread_barrier_t *meeting;
} turn;

static void *take_turn(void *arg)
{
    const turn *w = arg;
    w->code(w->given, w->scratch, w->fault, w->group, GROUPS, w->hand, w->meeting);
    return NULL;
}

static void take_turns(const turn *of, int hands)
{
    pthread_t thread[HANDS];
    turn each[HANDS];
    pthread_barrier_t meeting;
    MUST(hands <= HANDS && !pthread_barrier_init(&meeting, NULL, (unsigned)hands));
    for (int i = 0; i < hands; i++) {
        each[i] = *of, each[i].hand = i, each[i].meeting = &meeting;
        MUST(!pthread_create(&thread[i], NULL, take_turn, &each[i]));
    }
    for (int i = 0; i < hands; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&meeting);
}

static bool run(program *g, void *const *input, err *e)
{
    int fault = 0;
    for (int k = 0; k < g->p->n_kernel; k++) {
        const kernel_text *u = &g->text[k];
        char **given = calloc((size_t)u->n_operand + 1, sizeof *given);
        MUST(given);
        for (int i = 0; i < u->n_operand; i++)
            given[i] = memory_of(g, &u->operand[i], input);
        for (int i = GROUPS; i-- > 0;) /* in any order */
            take_turns(&(turn){.code = g->code[k], .given = given, .scratch = g->scratch, .fault = &fault, .group = i},
                       u->lanes);
        free(given);
        if (fault)
            return err_set(e, TS_NUMERICS, "%s: an index is outside its axis", g->p->kernel[k].op);
    }
    return true;
}

static bool get(program *g, int root, ts_array *out, err *e)
{
    const node *n = g->p->root[root];
    (void)e;
    if (n->leaf)
        leaf_read(n, out->data, 0, type_count(&n->type));
    else
        memcpy(out->data, g->arena + g->p->buffer[n->id].offset, (size_t)type_bytes(&n->type));
    return true;
}

static bool takes(const plan *p, err *e)
{
    return !p->reference || err_set(e, TS_UNSUPPORTED, "ontop computes in the dtypes that are asked for");
}

static const void *at(const program *g, const node *n, dtype *stored) /* weights are made of weights by it */
{
    *stored = stored_as(g->p, n);
    return g->arena + g->p->buffer[n->id].offset;
}

const backend backend_ontop = {.name = "ontop",
                               .doc = "A language of its own.",
                               .target = ontop_target,
                               .takes = takes,
                               .build = build,
                               .run = run,
                               .get = get,
                               .at = at,
                               .drop = drop};
