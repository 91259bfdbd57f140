/* find.c - from a name to its operation, from an operator of ONNX to the one that serves it. One table for all three
 * questions, made when the first is asked: files name thousands of operators, there are hundreds of each. */
#include "graph/ir/op.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { BY_NAME, BY_RULE, BY_FORM, LONGEST_NAME = 128 };

typedef struct entry {
    const char *key; /* NULL: free */
    int by;
    const op *op;
    const onnx_rule *rule;
    int since;
} entry;

static struct {
    entry *at;
    size_t n, cap; /* at most half full */
} known;

static size_t home(int by, const char *key)
{
    return (size_t)quick_hash(key, strlen(key), (uint64_t)by) & (known.cap - 1);
}

static void keep(entry e)
{
    known.n++;
    if (!known.at)
        return; /* counted first */
    size_t i = home(e.by, e.key);
    while (known.at[i].key)
        i = (i + 1) & (known.cap - 1);
    known.at[i] = e;
}

static void keep_rules(const op *o, int by, const onnx_rule *r)
{
    for (; r && r->type; r++)
        keep((entry){.key = r->type, .by = by, .op = o, .rule = r, .since = r->since});
}

static void keep_all(void)
{
    known.n = 0;
    for (const op *o = op_next(NULL); o; o = op_next(o)) {
        keep((entry){.key = o->name, .by = BY_NAME, .op = o});
        keep_rules(o, BY_RULE, o->rule), keep_rules(o, BY_FORM, o->form);
    }
}

static void make(void)
{
    keep_all();
    for (known.cap = 16; known.cap < known.n * 2;)
        known.cap *= 2;
    known.at = heap_array(known.cap, sizeof *known.at);
    keep_all();
}

/* The last of those up to the version that bear the key; of equals the first in the tables' order. */
static const entry *look_up(int by, const char *key, int version)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make);
    const entry *found = NULL;
    for (size_t i = home(by, key); known.at[i].key; i = (i + 1) & (known.cap - 1)) {
        const entry *e = &known.at[i];
        if (e->by == by && e->since <= version && (!found || e->since > found->since) && !strcmp(e->key, key))
            found = e;
    }
    return found;
}

const op *op_find(const char *name)
{
    const entry *e = look_up(BY_NAME, name, 0);
    return e ? e->op : NULL;
}

/* Rules of other domains than the standard one write it in front: "com.microsoft.FastGelu". */
static const entry *for_operator(int by, const char *domain, const char *kind, int version)
{
    if (!*domain || !strcmp(domain, "ai.onnx"))
        return look_up(by, kind, version);
    char whole[LONGEST_NAME];
    const int n = snprintf(whole, sizeof whole, "%s.%s", domain, kind);
    return n > 0 && n < LONGEST_NAME ? look_up(by, whole, version) : NULL;
}

const op *op_for_onnx(const char *domain, const char *kind, int version, const onnx_rule **rule)
{
    static const onnx_rule own = {
        .since = 1, .most = -1, .results = 1}; /* under its own name, with its own attributes */
    if (!strcmp(domain, "tessera")) {
        const op *o = op_find(kind);
        *rule = o && !op_is_bare(o) ? &own : NULL;
        return *rule ? o : NULL;
    }
    const entry *e = for_operator(BY_RULE, domain, kind, version);
    *rule = e ? e->rule : NULL;
    return e ? e->op : NULL;
}

const op *op_for_form(const char *domain, const char *kind, int version, const onnx_rule **form)
{
    const entry *e = for_operator(BY_FORM, domain, kind, version);
    *form = e ? e->rule : NULL;
    return e ? e->op : NULL;
}
