/* dump.c - a file for each pass and for each kernel at a stage. */
#include "cli/dump.h"

#include "cli/outfile.h"
#include "graph/base/suggest.h"

#include <string.h>

enum { GRAPH, PASSES, PLAN, N_WHOLE = PLAN }; /* the first ones are of no kernel */
static const struct {
    const char *name, *ending;
} stages[DUMP_STAGES] = {[GRAPH] = {"graph", "txt"},
                         [PASSES] = {"passes", "txt"},
                         [PLAN] = {"plan", "json"},
                         {"tree", "tree"},
                         {"text", "c"},
                         {"assembly", "s"}};

static bool unknown(const char *pair, ts_error *e)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(pair, "="), pair);
    err_set(e, TS_USAGE, "--dump \"%s\": there is no stage \"%s\"", pair, name);
    ENDED_BY(suggest_free) suggestion near = {.word = name};
    for (int i = 0; i < DUMP_STAGES; i++)
        suggest_offer(&near, stages[i].name);
    suggest_offer(&near, "all");
    return suggest_hint(&near, "stages are", e);
}

static bool is_word(const char *s, const char *end, const char *word)
{
    return strlen(word) == (size_t)(end - s) && !strncmp(s, word, (size_t)(end - s));
}

bool dump_make(dump *d, const args *a, ts_error *e)
{
    *d = (dump){.e = e};
    for (int k = 0; k < args_count(a, "dump"); k++) {
        const char *pair = args_at(a, "dump", k);
        const char *folder = strchr(pair, '=') + 1;
        bool known = false;
        for (int i = 0; i < DUMP_STAGES; i++)
            if (is_word(pair, folder - 1, "all") || is_word(pair, folder - 1, stages[i].name))
                d->folder[i] = folder, known = true;
        if (!known)
            return unknown(pair, e);
        if (!outfile_folder_check(folder, e) || !outfile_folder(folder, e))
            return false;
    }
    return true;
}

bool dump_of_kernels(const dump *d, ts_error *e)
{
    if (!d->folder[GRAPH] && !d->folder[PASSES])
        return true;
    err_set(e, TS_UNSUPPORTED, "--dump %s: of the step of a run there are the kernels alone",
            stages[d->folder[GRAPH] ? GRAPH : PASSES].name);
    return err_hint(e, "plan, tree, text and assembly are of kernels");
}

static bool write(const dump *d, int stage, const char *name, const char *words, ts_error *e)
{
    ENDED_BY(text_free) text path = {0};
    text_add(&path, "%s/%s.%s", d->folder[stage], name, stages[stage].ending);
    return outfile_write(text_str(&path), words, e);
}

static void passed(void *user, const char *pass, const char *words)
{
    dump *d = user;
    char name[80];
    snprintf(name, sizeof name, "%02d-%s", ++d->passes, pass);
    if (!err_is(d->e))
        write(d, PASSES, name, words, d->e);
}

void dump_passes(dump *d, ts_options *o)
{
    if (d->folder[PASSES])
        o->passed = passed, o->passed_user = d;
}

bool dump_graph(const dump *d, ts_model *m, ts_error *e)
{
    const int n = ts_model_outputs(m);
    if (!d->folder[GRAPH])
        return true;
    ENDED_BY(heap_free) ts_tensor *t = heap_array((size_t)n + 1, sizeof *t);
    for (int i = 0; i < n; i++)
        t[i] = ts_model_tensor(m, i);
    ENDED_BY(heap_free) char *words = ts_print(n, t);
    return write(d, GRAPH, "graph", words, e);
}

bool dump_kernel(const dump *d, ts_plan *p, int i, const cJSON *kernel, ts_error *e)
{
    char name[OUTFILE_NAME], whole[160];
    bool ok = true;
    snprintf(whole, sizeof whole, "%s-%s", js_get_text(kernel, "name"), js_get_text(kernel, "op"));
    outfile_name(name, whole, "", 0, NULL);
    for (int s = N_WHOLE; ok && s < DUMP_STAGES; s++) {
        if (!d->folder[s])
            continue;
        ENDED_BY(heap_free)
        char *words = s == PLAN ? js_to_text(kernel, true) : ts_plan_kernel(p, i, stages[s].name, e);
        ok = words && write(d, s, name, words, e);
    }
    return ok;
}
