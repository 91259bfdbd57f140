/* place_test.c - plans over several devices: which kernels go where, what crosses, that every value is where it is read
 * when it is read, however devices overlap, and what is refused. The devices are made up: near and far, far/1 told
 * ahead; slow and narrow. */
#include "schedule/explain/explain.h"
#include "tests/check.h"
#include "schedule/plan/hazard.h"
#include "tests/schedule/planned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static machine host;
static target target_of[4];
static const char *const device[] = {"near", "far:0", "ahead", "little"};
static const char *untaken; /* the operation that no device but near takes */

static bool find(void *user, const char *name, site *out, err *e)
{
    (void)user;
    for (int i = 0; i < 4; i++)
        if (!strncmp(device[i], name, strlen(name)) && (!device[i][strlen(name)] || device[i][strlen(name)] == ':')) {
            *out = (site){.name = device[i], .by = "made up", .on = &target_of[i], .apart = i == 2};
            return true;
        }
    return err_set(e, TS_BAD_INPUT, "no device \"%s\"", name);
}

static bool takes(void *user, const site *s, const kernel *k, err *e)
{
    (void)user;
    if (!untaken || strcmp(k->op, untaken) || !strcmp(s->name, "near"))
        return true;
    return err_set(e, TS_UNSUPPORTED, "it is beyond it");
}

static const site_finder finder = {.find = find, .takes = takes, .otherwise = "near"};

static void make_devices(void)
{
    err e = {0};
    CHECK(machine_load(&host, two_cores, &e));
    for (int i = 0; i < 4; i++) {
        cpu_target_of(&target_of[i], &host, isa_find("avx2"), 2);
        target_of[i].cost.cycles_per_second = i ? 30e9 : 3e9;
    }
    target_of[3].level[target_of[3].n_level - 1].bytes = 20 << 20;
}

/* ---- plans ---- */
typedef struct made {
    graph *g;
    plan *p;
    scratch folder;
    err e;
} made;

static made make(maker *what, const char *rules, int n_given, const char *const *given)
{
    made m = {.g = ts_graph_make(), .folder = scratch_make()};
    text t = {0};
    site named[MAX_SITE];
    for (int i = 0; i < n_given; i++)
        CHECK(find(NULL, given[i], &named[i], &m.e));
    const char *path = scratch_in(&m.folder, "test.json");
    text_add(&t, "{\"format\":\"tiling/1\",\"rules\":[\n%s]}", rules);
    CHECK(file_save(path, t.s, t.length, &m.e));
    const node *root = what(m.g);
    m.p = plan_make(m.g, 1, &root,
                    &(plan_options){.on = named[0].on,
                                    .target = "c",
                                    .schema = path,
                                    .as_written = true,
                                    .finder = &finder,
                                    .n_site = n_given,
                                    .site = named},
                    &m.e);
    text_free(&t);
    return m;
}

static void drop(made *m)
{
    plan_free(m->p), ts_graph_free(m->g), scratch_free(&m->folder);
}

static void print_cut(text *t, const plan *p) /* "near: matmul; near to far:0; far:0: softmax" */
{
    for (int i = 0; i < p->n_kernel; i++) {
        const kernel *k = &p->kernel[i];
        text_add(t, "%s", i ? "; " : "");
        if (k->moves)
            text_add(t, "%s to %s", p->site[k->moves->from].name, p->site[k->moves->to].name);
        else
            text_add(t, "%s: %s", p->n_site ? p->site[k->site].name : "one", k->op);
    }
}

static void check_cut(maker *what, const char *rules, const char *want)
{
    made m = make(what, rules, 1, (const char *const[]){"near"});
    text t = {0};
    if (CHECK(m.p != NULL))
        print_cut(&t, m.p);
    else
        printf("  %s\n", m.e.text);
    CHECK_TEXT(text_str(&t), want);
    text_free(&t), drop(&m);
}

/* ---- memory: who wrote each cell last, when a kernel or a transfer reads it ---- */
enum { CELL = 32 };
typedef struct memory_of {
    int *owner; /* by cell: the id of the node */
} memory_of;

static bool holds(const plan *q, const memory_of *m, const node *n)
{
    const buffer *h = &q->buffer[n->id];
    bool all = true;
    for (int64_t at = h->offset / CELL; h->where == IN_ARENA && all && at < (h->offset + h->bytes) / CELL; at++)
        all = m->owner[at] == n->id;
    return all;
}

static void put(const plan *q, memory_of *m, const node *n)
{
    const buffer *h = &q->buffer[n->id];
    for (int64_t at = h->offset / CELL; h->where == IN_ARENA && at < (h->offset + h->bytes) / CELL; at++)
        m->owner[at] = n->id;
}

static bool run_kernel(const plan *q, memory_of *m, const kernel *k)
{
    bool ok = true;
    for (int i = 0; i < k->n_stage; i++)
        for (int j = 0; j < k->stage[i].n_load; j++) {
            const node *n = k->stage[i].load[j]->from;
            bool own = false;
            for (int s = 0; s < k->n_stage; s++)
                own = own || k->stage[s].node == n;
            ok = ok && (own || node_is_leaf(n) || holds(q, m, n));
        }
    for (int i = 0; i < k->n_stage; i++)
        if (!k->stage[i].scratch)
            put(q, m, k->stage[i].node);
    return ok;
}

/* Of the first device from `from` on that may go on: its next kernel; -1: none may */
static int next_kernel(const plan *p, const hazards *h, const bool *done, int from)
{
    for (int s = 0; s < p->n_site; s++) {
        int k = 0;
        while (k < p->n_kernel && (done[k] || p->kernel[k].site != (from + s) % p->n_site))
            k++;
        bool may = k < p->n_kernel;
        for (int i = may ? h->first[k] : 0; may && i < h->first[k + 1]; i++)
            may = done[h->wait[i]];
        if (may)
            return k;
    }
    return -1;
}

/* Each device in its order, all of them as far as the hazards let them: the first ORDERS one ahead of the others. */
enum { ORDERS = 6 };
static bool run_once(const plan *p, int order)
{
    memory_of m[MAX_SITE] = {{0}};
    hazards h = {0};
    bool ok = true, *done = calloc((size_t)p->n_kernel + 1, sizeof *done);
    MUST(done);
    for (int k = 0; k < p->n_kernel; k++)
        hazards_add_kernel(&h, p, &p->kernel[k]);
    for (int i = 0; i < p->n_site; i++)
        if (p->site[i].part) {
            m[i].owner = calloc((size_t)p->site[i].part->arena_bytes / CELL + 1, sizeof(int));
            MUST(m[i].owner);
        }
    for (int i = 0; i < p->n_kernel && ok; i++) {
        const int k = next_kernel(
            p, &h, done,
            order < p->n_site ? order : (int)(quick_hash(&i, sizeof i, (uint64_t)order) % (uint64_t)p->n_site));
        if (k < 0)
            return printf("  nobody can go on\n"), false;
        const transfer *t = p->kernel[k].moves;
        const int at = p->kernel[k].site;
        done[k] = true;
        if (!t)
            ok = run_kernel(p->site[at].part, &m[at], &p->site[at].part->kernel[p->kernel[k].within]);
        else if ((ok = holds(p->site[t->from].part, &m[t->from], t->node)))
            put(p->site[t->to].part, &m[t->to], t->node);
        if (!ok)
            printf("  kernel %d reads what is gone\n", k);
    }
    for (int i = 0; i < p->n_root && ok && p->n_site; i++)
        for (int s = 0; s < p->n_site; s++)
            if (p->site[s].part && p->site[s].part->n_root)
                ok = ok && holds(p->site[s].part, &m[s], p->site[s].part->root[0]);
    for (int i = 0; i < p->n_site; i++)
        free(m[i].owner);
    hazards_free(&h), free(done);
    return ok;
}

static bool run_all(const plan *p)
{
    bool ok = true;
    for (int order = 0; order < ORDERS && ok; order++)
        ok = run_once(p, order);
    return ok;
}

/* ---- cuts ---- */
static void test_cuts(void)
{
    check_cut(network, "", "one: matmul; one: matmul; one: matmul; one: softmax");
    check_cut(network, "{\"place\":\"near\"}", "one: matmul; one: matmul; one: matmul; one: softmax");
    check_cut(network, "{\"match\":{\"op\":\"softmax\"},\"place\":\"far\"}",
              "near: matmul; near: matmul; near: matmul; near to far:0; far:0: softmax");
    check_cut(network, "{\"place\":\"far:0\"}", "far:0: matmul; far:0: matmul; far:0: matmul; far:0: softmax");
    /* the first rule with a place decides; one that says loops as well decides these where it is the first, too */
    check_cut(network,
              "{\"match\":{\"name\":\"l.0\"},\"place\":\"near\"},{\"match\":{\"op\":\"matmul\"},\"loops\":[\"guess\"],"
              "\"place\":\"far\"}",
              "near: matmul; near to far:0; far:0: matmul; far:0: matmul; far:0 to near; near: softmax; near to far:0; "
              "far:0: matmul");
    /* what was one kernel is taken apart, and movement goes with what it moves */
    check_cut(attention, "{\"match\":{\"op\":\"softmax\"},\"place\":\"far\"}",
              "near: matmul; near to far:0; far:0: softmax; far:0 to near; near: matmul");
    check_cut(normalized, "{\"match\":{\"op\":\"tanh\"},\"place\":\"far\"}",
              "far:0: tanh; far:0 to near; near: layer_norm");
}

static const node *branches(graph *g) /* two products that know nothing of each other, and that of both */
{
    const int64_t dim[] = {48, 48};
    const node *x = g_input(g, "x", &(type){.dtype = TS_F32, .rank = 2, .dim = {48, 48}}, 0),
               *a = ts_call1(g, "tanh", ts_call2(g, "matmul", x, ts_weight(g, "a", TS_F32, 2, dim, 0, 1, 1))),
               *b = ts_call1(g, "tanh", ts_call2(g, "matmul", x, ts_weight(g, "b", TS_F32, 2, dim, 0, 1, 2)));
    return ts_call2(g, "matmul", a, b);
}

/* What is ready on a device is done together; what is elsewhere is sent for when it is read. */
static void test_order(void)
{
    check_cut(triples, "{\"match\":{\"name\":\"[qk]?\"},\"place\":\"far\"}",
              "far:0: matmul; far:0: matmul; far:0 to near; far:0 to near; near: matmul; near: matmul; near to far:0; "
              "far:0: matmul; far:0: matmul; far:0 to near; far:0 to near; near: matmul; near: matmul");
    check_cut(branches, "{\"match\":{\"name\":\"a\"},\"place\":\"far\"}",
              "far:0: matmul; near: matmul; far:0 to near; near: matmul");
    check_cut(branches, "{\"match\":{\"name\":\"a\"},\"place\":\"ahead\"}",
              "ahead: matmul; near: matmul; ahead to near; near: matmul");
}

/* ---- parts ---- */
static void check_memory(maker *what, const char *rules)
{
    made m = make(what, rules, 1, (const char *const[]){"near"});
    if (!CHECK(m.p != NULL))
        printf("  %s\n", m.e.text);
    else if (CHECK(m.p->n_site > 1) && !CHECK(run_all(m.p)))
        printf("  %s\n", rules);
    drop(&m);
}

static void test_memory(void)
{
    static maker *const all[] = {network, attention, triples};
    static const char *const name[] = {"far", "ahead"}, *const word[] = {"softmax", "matmul", "add", "tanh", "gelu"};
    char rules[200];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            for (int o = 0; o < 5; o++) {
                made m = make(all[i], "", 1, (const char *const[]){"near"});
                bool any = false;
                for (int n = 0; n < m.g->n; n++)
                    any = any || !strcmp(m.g->node[n]->op->name, word[o]);
                drop(&m);
                snprintf(rules, sizeof rules, "{\"match\":{\"op\":\"%s\"},\"place\":\"%s\"}", word[o], name[k]);
                if (any)
                    check_memory(all[i], rules);
            }
}

static void test_parts(void)
{
    made m = make(network, "{\"match\":{\"op\":\"softmax\"},\"place\":\"far\"}", 1, (const char *const[]){"near"});
    if (CHECK(m.p && m.p->n_site == 2)) {
        const plan *near = m.p->site[0].part, *far = m.p->site[1].part;
        CHECK(near->n_kernel == 3 && far->n_kernel == 1 && near->n_leaf == 3 && far->n_leaf == 1);
        CHECK(near->n_input == 1 && far->n_input == 0 && near->n_root == 0 && far->n_root == 1);
        CHECK(m.p->arena_bytes == near->arena_bytes + far->arena_bytes && far->arena_bytes >= 33 * 70 * 4);
        CHECK(m.p->kernel[3].moves && m.p->kernel[3].moves->bytes == 33 * 70 * 4 && m.p->kernel[4].site == 1);
        CHECK(m.p->kernel[4].shared.n + m.p->kernel[4].stage[0].nest.n > 0); /* the whole has the parts' loops */
    }
    drop(&m);
}

/* ---- refusals ---- */
static void check_refused(const char *rules, const char *want)
{
    made m = make(network, rules, 1, (const char *const[]){"near"});
    const size_t n = strlen(m.folder.path);
    char *at = strstr(m.e.text, m.folder.path);
    if (at)
        memmove(at, at + n + 1, strlen(at + n + 1) + 1);
    CHECK(!m.p);
    CHECK_TEXT(m.e.text, want);
    drop(&m);
}

static void test_refusals(void)
{
    check_refused("{\"place\":\"moon\"}", "test.json:2:10 (/rules/0/place): no device \"moon\"");
    untaken = "softmax";
    check_refused(
        "{\"name\":\"s\",\"match\":{\"op\":\"softmax\"},\"place\":\"far\"}",
        "test.json:2:46 (/rules/0/place): rule \"s\" puts k3 softmax head on far:0, which cannot take it: it is "
        "beyond it\n  hint: leave it out of the rule's match, or put a rule for it with \"place\": \"near\" "
        "before");
    untaken = NULL;
    setting s = {.make = network, .machine = two_cores, .isa = "avx2", .threads = 2, .rules = "{\"place\":\"far\"}"};
    plan_is_refused(&s, TS_UNSUPPORTED, "test.json:2:10 (/rules/0/place): place \"far\": this plan is for one device");
}

/* Nobody asked for the device by a rule for that kernel: what it cannot take is done elsewhere, and said. */
static void check_unfit(const char *rules, const char *by)
{
    untaken = "softmax";
    made m = make(network, rules, 1, (const char *const[]){by});
    text t = {0}, json = {0};
    if (CHECK(m.p != NULL)) {
        print_cut(&t, m.p), plan_explain(m.p, "made up", "", &json);
        CHECK(run_all(m.p) && strstr(json.s, "\"1 kernel is elsewhere, for far:0 cannot take it: k3 softmax head: it "
                                             "is beyond it\""));
    }
    CHECK_TEXT(text_str(&t), "far:0: matmul; far:0: matmul; far:0: matmul; far:0 to near; near: softmax");
    untaken = NULL;
    text_free(&t), text_free(&json), drop(&m);
}

static void test_unfit(void)
{
    check_unfit("", "far");
    check_unfit("{\"place\":\"far\"}", "near");
}

/* ---- the guess ---- */
static void check_guess(maker *what, const char *a, const char *b, const char *want, const char *says)
{
    made m = make(what, "", 2, (const char *const[]){a, b});
    text t = {0};
    if (CHECK(m.p != NULL)) {
        print_cut(&t, m.p);
        if (!CHECK(m.p->spread && strstr(m.p->spread, says)))
            printf("  %s\n", m.p->spread);
    }
    CHECK_TEXT(text_str(&t), want);
    text_free(&t), drop(&m);
}

static void test_guess(void)
{
    /* sending 9 KB costs more than the whole network */
    check_guess(network, "near", "far", "far:0: matmul; far:0: matmul; far:0: matmul; far:0: softmax",
                "on one alone: near ");
    /* 16 MiB a weight, room for one of them: the others stay */
    check_guess(triples, "near", "little",
                "little: matmul; near: matmul; little to near; near: matmul; near: matmul; near: matmul; near: matmul; "
                "near: matmul; near: matmul",
                "little cannot hold it all");
}

/* Eight weights of 16 MiB, and values: room for four and four, or for four and five, which the quicker one takes. */
static void test_spans(void)
{
    memory_level *near = &target_of[0].level[target_of[0].n_level - 1],
                 *far = &target_of[1].level[target_of[1].n_level - 1];
    const int64_t had[] = {near->bytes, far->bytes};
    near->bytes = far->bytes = 80 << 20;
    check_guess(triples, "near", "far",
                "near: matmul; near: matmul; near: matmul; near: matmul; near to far:0; far:0: matmul; far:0: matmul; "
                "far:0: matmul; far:0: matmul",
                "near 4 of 8 kernels, weights 64.0 MiB, far:0 4 of 8 kernels, weights 64.0 MiB");
    far->bytes = 100 << 20;
    check_guess(triples, "near", "far",
                "near: matmul; near: matmul; near: matmul; near to far:0; far:0: matmul; far:0: matmul; "
                "far:0: matmul; far:0: matmul; far:0: matmul",
                "no device holds it all: the guess cuts it into spans by time, the slowest of ");
    near->bytes = had[0], far->bytes = had[1];
}

int main(void)
{
    make_devices();
    test_cuts();
    test_order();
    test_memory();
    test_parts();
    test_refusals();
    test_unfit();
    test_guess();
    test_spans();
    return check_done();
}
