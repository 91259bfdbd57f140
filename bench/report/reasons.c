/* Why one schema is faster: fixed rules that look at the numbers and say one sentence each, or nothing. No rule
 * guesses: what is said is in the results, and where no rule speaks the report says that the numbers do not explain
 * it. A rule weighs as much as the time that it speaks of; the report shows the heaviest first. */
#include "bench/report/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef bool rule(const report *r, reason *out);

static double difference(const report *r)
{
    return r->of[r->slow].stats.median - r->of[r->fast].stats.median;
}

static void quoted(text *t, const char *s)
{
    text_add(t, "<b class=\"name\">");
    html_name(t, *s ? s : "(no name)");
    text_add(t, "</b>");
}

static bool most_of_it(const report *r, reason *out)
{
    if (!verdict_decided(r) || !r->groups.differing)
        return false;
    const group *g = &r->groups.of[0];
    double gain = g->slow - g->fast, share = gain / difference(r);
    if (!(share > 0.1))
        return false;
    if (share < 1.2)
        text_add(&out->html, "%s of the difference is in ", word_share(share < 1 ? share : 1).s);
    else
        text_add(&out->html, "The largest gain is in ");
    quoted(&out->html, g->name);
    text_add(&out->html, " (%s of %s): %s under ", word_time(gain).s, word_time(difference(r)).s, word_time(g->slow).s);
    mark_name(&out->html, r, r->slow);
    text_add(&out->html, ", %s under ", word_time(g->fast).s);
    mark_name(&out->html, r, r->fast);
    text_add(&out->html, ".");
    out->weight = 2 * gain;
    return true;
}

static double gain_of(const report *r, const kind *k)
{
    return !k->same && k->of[r->fast].heaviest && k->of[r->slow].heaviest ? k->of[r->slow].ns - k->of[r->fast].ns : 0;
}

const level *level_fullest(const kernel *k, const char *name)
{
    const level *most = NULL;
    for (int i = 0; i < k->n_level; i++)
        if (!strcmp(k->levels[i].level, name) && k->levels[i].share > (most ? most->share : 0))
            most = &k->levels[i];
    return most;
}

/* A level that the slow nest overflows and the fast one does not. */
static const level *overflow(const kernel *slow, const kernel *fast)
{
    for (int i = 0; i < slow->n_level; i++) {
        const level *s = &slow->levels[i], *f = level_fullest(fast, s->level);
        if (*s->level && s->share > 1 && (!f || f->share <= 1) && level_fullest(slow, s->level) == s)
            return s;
    }
    return NULL;
}

static void working_set(text *t, const report *r, int c, const level *l)
{
    text_add(t, "loop <code>");
    html_text(t, l->loop);
    text_add(t, "</code> of ");
    mark_name(t, r, c);
    text_add(t, " works on %s, %s of ", word_bytes(l->bytes).s, word_share(l->share).s);
    html_text(t, l->level);
}

static bool cache_overflow(const report *r, reason *out)
{
    const kind *best = NULL;
    double gain = 0; /* of all kinds with an overflow: they share the cause */
    for (int i = 0; i < r->n_kind && verdict_decided(r); i++) {
        const kind *k = &r->kinds[i];
        double g = gain_of(r, k);
        if (!(g > 0) || !overflow(k->of[r->slow].heaviest, k->of[r->fast].heaviest))
            continue;
        gain += g;
        if (!best || g > gain_of(r, best))
            best = k;
    }
    if (!best || gain < 0.05 * difference(r))
        return false;
    const kernel *slow = best->of[r->slow].heaviest, *fast = best->of[r->fast].heaviest;
    const level *s = overflow(slow, fast), *f = level_fullest(fast, s->level);
    quoted(&out->html, best->name);
    text_add(&out->html, ": ");
    working_set(&out->html, r, r->slow, s);
    text_add(&out->html, ": it does not fit, and data is fetched again and again. ");
    if (f) {
        text_add(&out->html, "The ");
        working_set(&out->html, r, r->fast, f);
        text_add(&out->html, ": it stays there. ");
    }
    text_add(&out->html, "Kernels like this take %s of the difference, for this and other reasons.",
             word_share(gain / difference(r)).s);
    out->weight = 0.5 * gain;
    return true;
}

/* ---- traffic: what has to come into a cache again and again ---- */

typedef struct flow {
    const kind *kind;
    int level;         /* 0: into L1 */
    double more, time; /* bytes of one call that the slow nest brings in addition; what all calls take at the ceiling */
} flow;

static flow worst_flow(const report *r, const kind *k)
{
    static const char *const ceiling[] = {"l2_gbs", "l3_gbs", "read_gbs"}; /* of what is outside L1, L2, L3 */
    const kernel *slow = k->of[r->slow].heaviest, *fast = k->of[r->fast].heaviest;
    flow worst = {k, -1, 0, 0};
    for (int i = 0; i < 3; i++) {
        double more = slow->traffic[i] - fast->traffic[i], gbs = result_number(r->ceilings, ceiling[i]);
        double time = more * k->of[r->slow].count / gbs; /* GB/s is bytes per ns */
        if (slow->traffic[i] > 1.25 * fast->traffic[i] && time > worst.time)
            worst = (flow){k, i, more, time};
    }
    return worst;
}

static bool traffic(const report *r, reason *out)
{
    static const char *const name[] = {"L1", "L2", "L3"}, *const outside[] = {"L2", "L3", "memory"};
    flow most = {0};
    double time = 0; /* of all kinds that bring more into the same cache */
    for (int i = 0; i < r->n_kind && verdict_decided(r); i++) {
        if (!(gain_of(r, &r->kinds[i]) > 0))
            continue;
        flow f = worst_flow(r, &r->kinds[i]);
        if (f.time > most.time)
            most = f;
    }
    for (int i = 0; most.kind && i < r->n_kind; i++) {
        const flow f = gain_of(r, &r->kinds[i]) > 0 ? worst_flow(r, &r->kinds[i]) : (flow){.level = -1};
        time += f.level == most.level ? fmin(f.time, gain_of(r, &r->kinds[i])) : 0;
    }
    if (!most.kind || time < 0.1 * difference(r))
        return false;
    const kernel *slow = most.kind->of[r->slow].heaviest, *fast = most.kind->of[r->fast].heaviest;
    quoted(&out->html, most.kind->name);
    text_add(&out->html, ": under ");
    mark_name(&out->html, r, r->slow);
    text_add(&out->html, " its loops bring %s into %s, under ", word_bytes(slow->traffic[most.level]).s,
             name[most.level]);
    mark_name(&out->html, r, r->fast);
    text_add(&out->html,
             " %s (estimated): what was there has gone before it is walked again. At the %s speed of %s that takes "
             "%s more. In all kernels like this that is at most %s of the difference.",
             word_bytes(fast->traffic[most.level]).s, report_source(r), outside[most.level], word_time(most.time).s,
             word_share(time / difference(r)).s);
    out->weight = time;
    return true;
}

static bool peak_share(const report *r, reason *out)
{
    const kind *best = NULL;
    for (int i = 0; i < r->n_kind && verdict_decided(r); i++) {
        const kind *k = &r->kinds[i];
        double a = k->of[r->fast].peak_share, b = k->of[r->slow].peak_share;
        if (a - b > 0.03 && gain_of(r, k) > (best ? gain_of(r, best) : 0))
            best = k;
    }
    if (!best)
        return false;
    quoted(&out->html, best->name);
    text_add(&out->html, " reaches %s of what the %s ceilings allow under ", word_share(best->of[r->fast].peak_share).s,
             report_source(r));
    mark_name(&out->html, r, r->fast);
    text_add(&out->html, " and %s under ", word_share(best->of[r->slow].peak_share).s);
    mark_name(&out->html, r, r->slow);
    text_add(&out->html, ".");
    out->weight = gain_of(r, best) * 0.9;
    return true;
}

static bool outside_kernels(const report *r, reason *out)
{
    if (!verdict_decided(r))
        return false;
    double a = r->of[r->fast].gap_ns, b = r->of[r->slow].gap_ns;
    if (!(fabs(b - a) > 0.05 * difference(r)))
        return false;
    text_add(&out->html, "Time outside kernels (waiting at barriers, starting kernels) is %s under ",
             word_time(b > 0 ? b : 0).s);
    mark_name(&out->html, r, r->slow);
    text_add(&out->html, " and %s under ", word_time(a > 0 ? a : 0).s);
    mark_name(&out->html, r, r->fast);
    text_add(&out->html, ".");
    out->weight = fabs(b - a);
    return true;
}

static bool kernel_count(const report *r, reason *out)
{
    if (!verdict_decided(r))
        return false;
    int a = r->of[r->fast].n_kernel, b = r->of[r->slow].n_kernel;
    if (!a || !b || a == b)
        return false;
    mark_name(&out->html, r, r->fast);
    text_add(&out->html, " runs %d kernels, ", a);
    mark_name(&out->html, r, r->slow);
    text_add(&out->html, " %d: %s fuses more.", b, a < b ? "the faster one" : "the slower one");
    out->weight = 0.1 * difference(r);
    return true;
}

static bool against_it(const report *r, reason *out)
{
    if (!verdict_decided(r))
        return false;
    const group *worst = NULL;
    for (int i = 0; i < r->groups.differing; i++) {
        const group *g = &r->groups.of[i];
        if (g->fast - g->slow > (worst ? worst->fast - worst->slow : 0.03 * difference(r)))
            worst = g;
    }
    if (!worst)
        return false;
    text_add(&out->html, "Against it: in ");
    quoted(&out->html, worst->name);
    text_add(&out->html, ", ");
    mark_name(&out->html, r, r->fast);
    text_add(&out->html, " is the slower one by %s (%s against %s).", word_time(worst->fast - worst->slow).s,
             word_time(worst->fast).s, word_time(worst->slow).s);
    out->weight = worst->fast - worst->slow;
    return true;
}

/* Reasons for a difference that is not sure would be inventions. */
static bool not_sure(const report *r, reason *out)
{
    if (r->fast < 0 || verdict_decided(r) || !r->groups.n)
        return false;
    if (!r->groups.differing) {
        text_add(&out->html, "Both run the same loops in every kernel: there is nothing here that the schemas change.");
        return true;
    }
    const group *g = &r->groups.of[0];
    bool same = r->match && outcome_read(r->match->word) == SAME;
    text_add(&out->html,
             same ? "The two spend their time alike: the largest difference in any %s is %s, in "
                  : "Nothing is sure yet; the largest difference seen in any %s is %s, in ",
             r->groups.by, word_time(fabs(g->slow - g->fast)).s);
    quoted(&out->html, g->name);
    text_add(&out->html, ".");
    out->weight = fabs(g->slow - g->fast);
    return true;
}

/* Kernels that move data as fast as the memory that holds it can: no loop order helps them. */
static bool memory_bound(const report *r, reason *out)
{
    double ns = 0;
    int n = 0;
    if (r->best < 0)
        return false;
    const contestant *best = &r->of[r->best];
    for (int i = 0; i < best->n_kernel; i++) {
        const kernel *k = &best->kernels[i];
        if (!*k->bound || !strcmp(k->bound, "fma") || !(k->peak_share > 0.7) || !(k->ns > 0))
            continue;
        ns += k->ns;
        n++;
    }
    double share = ns / best->stats.median;
    if (!(share > 0.02))
        return false;
    text_add(&out->html, "%d kernel%s of ", n, n == 1 ? "" : "s");
    mark_name(&out->html, r, r->best);
    text_add(
        &out->html,
        " (%s of its time) move data at more than 70 %% of what the memory that holds it delivers: no loop order makes "
        "them much faster, only moving less does.",
        word_share(share).s);
    out->weight = 0.02 * ns;
    return true;
}

/* How far the best is from what the machine could do: each kernel at the probed peak or at memory speed, whichever
 * is slower. */
static bool what_is_left(const report *r, reason *out)
{
    int best = r->best;
    double peak = report_peak(r), floor_ns = 0;
    if (best < 0 || !(peak > 0) || !r->of[best].n_kernel)
        return false;
    for (int i = 0; i < r->of[best].n_kernel; i++)
        floor_ns += r->of[best].kernels[i].flops > 0 ? r->of[best].kernels[i].flops / peak : 0;
    double median = r->of[best].stats.median;
    if (!(floor_ns > 0) || floor_ns > 1.2 * median)
        return false;
    text_add(&out->html, "What is left: all of this arithmetic at the %s FMA peak would take %s; ", report_source(r),
             word_time(floor_ns).s);
    mark_name(&out->html, r, best);
    text_add(&out->html, " takes %s, so it runs at %s of that peak as a whole.", word_time(median).s,
             word_share(floor_ns / median).s);
    out->weight = 1;
    return true;
}

static int by_weight(const void *x, const void *y)
{
    const reason *a = x, *b = y;
    return a->weight != b->weight ? (a->weight < b->weight ? 1 : -1) : strcmp(text_str(&a->html), text_str(&b->html));
}

int reasons_find(const report *r, reason out[MAX_REASONS])
{
    static rule *const rules[] = {inner_loops,  most_of_it, traffic,  cache_overflow, peak_share,  outside_kernels,
                                  kernel_count, against_it, not_sure, memory_bound,   what_is_left};
    int n = 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        out[n] = (reason){0};
        if (rules[i](r, &out[n]))
            n++;
    }
    qsort(out, (size_t)n, sizeof *out, by_weight);
    return n;
}
