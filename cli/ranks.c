/* ranks.c - explain --ranks: a step of a run by the number of processes, over a network as asked. */
#include "cli/ranks.h"

#include "cli/run_step.h"
#include "cli/say.h"
#include "graph/base/base.h"
#include "train/forecast.h"
#include "train/run_folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char ranks_form[] =
    "target {target}  {shards} shards  a message {latency_ns}, {bytes_per_s:%.3g} bytes/s  times of kernels "
    "[measured?measured by the run|predicted]\n\n"
    "[cores=0?|all share {cores} core[cores=1?|s], and take turns where a core has several\n\n]"
    "[rows!  >ranks|>by core|>step|>exchange|>hidden|>exposed|>efficiency|>memory|>optimizer\n"
    "{ranks}\t{by_core:%.2g}\t{step_ns}\t{exchange_ns}\t{hidden:%.0f%} %\t{share:%.1f%} %\t{efficiency:%.0f%} "
    "%\t{step_bytes}\t{optimizer_bytes}]"
    "\nfastest with {fastest} rank[fastest=1?|s]; more than {pays} save less than a tenth of a step\n"
    "[limit?the run has {shards} shards: no more ranks can share them\n]";

typedef struct measure_unit {
    const char *name;
    double is;
} measure_unit;
static const measure_unit waits[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {0}},
                          speeds[] = {{"MB/s", 1e6}, {"GB/s", 1e9}, {"Mbit/s", 125e3}, {"Gbit/s", 125e6}, {0}};

static bool read_unit(const char *word, size_t n, const measure_unit *known, double *out)
{
    char *end = NULL;
    *out = strtod(word, &end);
    const size_t rest = end > word && end <= word + n ? n - (size_t)(end - word) : 0;
    for (; rest && known->name; known++)
        if (strlen(known->name) == rest && strncmp(end, known->name, rest) == 0)
            return *out *= known->is, *out >= 0 && *out < INFINITY;
    return false;
}

/* "latency:2us bandwidth:12GB/s", in any order, each once, by blanks or commas */
static bool read_net(const char *net, forecast *f)
{
    static const struct {
        const char *name;
        const measure_unit *known;
    } parts[] = {{"latency:", waits}, {"bandwidth:", speeds}};
    double *const to[] = {&f->net.latency, &f->net.bandwidth};
    bool read[COUNT(parts)] = {false}, ok = true;
    for (const char *s = net; ok && *(s += strspn(s, " ,"));) {
        const size_t n = strcspn(s, " ,");
        int i = 0;
        while (i < COUNT(parts) && strncmp(s, parts[i].name, strlen(parts[i].name)) != 0)
            i++;
        const size_t at = i < COUNT(parts) ? strlen(parts[i].name) : 0;
        ok = at && !read[i] && read_unit(s + at, n - at, parts[i].known, to[i]);
        if (ok)
            read[i] = true;
        s += n;
    }
    return ok && read[0] && read[1] && f->net.bandwidth > 0;
}

bool ranks_explain(const args *a, ts_error *e)
{
    const char *net = args_needed(a, "net", "--net \"latency:2us bandwidth:12GB/s\" says what is between the ranks", e);
    forecast f = {.most = (int)args_integer(a, "ranks"), .core = (double)args_integer(a, "cores")};
    if (!net)
        return false;
    if (!read_net(net, &f)) {
        err_set(e, TS_USAGE, "--net \"%s\": \"latency:2us bandwidth:12GB/s\" expected", net);
        return err_hint(e, "units are ns, us, ms, s and MB/s, GB/s, Mbit/s, Gbit/s");
    }
    if (!run_is(args_noun(a, 0))) {
        err_set(e, TS_USAGE, "explain: --ranks is about steps of training, and '%s' is no run", args_noun(a, 0));
        return err_hint(e, "tessera train MODEL --data FILE --shards 8 --steps 1 -o RUN begins one");
    }
    if (run_forecast(a, args_noun(a, 0), args_text(a, "schema"), &f, e) != TS_OK)
        return false;
    reply_give(a, f.reply, ranks_form);
    return true;
}
