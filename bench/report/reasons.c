/* Why one schema is faster: fixed rules that look at the numbers and say one sentence each, or nothing. No rule
 * guesses: what is said is in the results, and where no rule speaks the report says that the numbers do not explain
 * it. A rule weighs as much as the time that it speaks of; the report shows the heaviest first. */
#include "bench/report/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LEAST = 1e-3; /* the weight of what speaks of no time */

static double difference(const report *r)
{
    return r->of[r->slow].stats.median - r->of[r->fast].stats.median;
}

static double most_of_it(const report *r, text *t)
{
    if (!r->groups.differing)
        return 0;
    const group *g = &r->groups.of[0];
    double gain = g->slow - g->fast, share = gain / difference(r);
    if (!(share > 0.1))
        return 0;
    if (share <= 1)
        text_add(t, "%s of the difference is in ", word_share(share).s);
    else
        text_add(t, "The largest gain is in ");
    html_add(t, "<b.name>%1s</b> (%s of %s): %s under %-s, %s under %-s.", g->name, word_time(gain).s,
             word_time(difference(r)).s, word_time(g->slow).s, r->of[r->slow].mark, word_time(g->fast).s,
             r->of[r->fast].mark);
    return 2 * gain;
}

static double gain_of(const report *r, const kind *k)
{
    const bool loops = !k->same && k->of[r->fast].heaviest && k->of[r->slow].heaviest && !kind_ways_differ(r, k);
    return loops ? k->of[r->slow].ns - k->of[r->fast].ns : 0;
}

/* What the two go different ways to: all kinds of one operation and way. Loops explain nothing of that. */
static double other_way(const report *r, text *t)
{
    const kind *best = NULL;
    double most = 0.02 * difference(r), slow = 0, fast = 0;
    int n = 0;
    for (int i = 0; i < r->n_kind; i++) {
        const kind *k = &r->kinds[i];
        const double gap = fabs(k->of[r->slow].ns - k->of[r->fast].ns);
        if (kind_ways_differ(r, k) && gap > most)
            most = gap, best = k;
    }
    if (!best)
        return 0;
    const part *a = &best->of[r->fast], *b = &best->of[r->slow];
    for (int i = 0; i < r->n_kind; i++) {
        const part *x = &r->kinds[i].of[r->fast], *y = &r->kinds[i].of[r->slow];
        if (!x->heaviest || !y->heaviest || strcmp(r->kinds[i].op, best->op) != 0 || strcmp(x->by, a->by) != 0 ||
            strcmp(y->by, b->by) != 0)
            continue;
        fast += x->ns, slow += y->ns;
        n += x->count;
    }
    const int with = *a->by ? r->fast : r->slow, without = *a->by ? r->slow : r->fast;
    html_add(t, "%-s computes %s by <b>%s</b>; %-s ", r->of[with].mark, best->op, *a->by ? a->by : b->by,
             r->of[without].mark);
    if (*a->by && *b->by)
        html_add(t, "by <b>%s</b>. ", b->by);
    else
        text_add(t, "does not. ");
    html_add(t, "That is %d of <b.name>%1s</b>%s: %s under %-s, %s under %-s.", n, best->name,
             n > best->of[r->fast].count ? " and others" : "", word_time(slow).s, r->of[r->slow].mark,
             word_time(fast).s, r->of[r->fast].mark);
    return 4 * fabs(slow - fast);
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
    html_add(t, "loop <code>%s</code> of %-s works on %s, %s of %s", l->loop, r->of[c].mark, word_bytes(l->bytes).s,
             word_share(l->share).s, l->level);
}

static double cache_overflow(const report *r, text *t)
{
    const kind *best = NULL;
    double gain = 0; /* of all kinds with an overflow: they share the cause */
    for (int i = 0; i < r->n_kind; i++) {
        const kind *k = &r->kinds[i];
        double g = gain_of(r, k);
        if (!(g > 0) || !overflow(k->of[r->slow].heaviest, k->of[r->fast].heaviest))
            continue;
        gain += g;
        if (!best || g > gain_of(r, best))
            best = k;
    }
    if (!best || gain < 0.05 * difference(r))
        return 0;
    const kernel *slow = best->of[r->slow].heaviest, *fast = best->of[r->fast].heaviest;
    const level *s = overflow(slow, fast), *f = level_fullest(fast, s->level);
    html_add(t, "<b.name>%1s</b>: ", best->name);
    working_set(t, r, r->slow, s);
    text_add(t, ": it does not fit, and data is fetched again and again. ");
    if (f) {
        text_add(t, "The ");
        working_set(t, r, r->fast, f);
        text_add(t, ": it stays there. ");
    }
    text_add(t, "Kernels like this take %s of the difference, for this and other reasons.",
             word_part(gain / difference(r)).s);
    return 0.5 * gain;
}

/* ---- traffic: what has to come into a cache again and again ---- */

typedef struct flow {
    const kind *kind;
    int level;   /* 0: into L1 */
    double time; /* what the slow nest brings in addition takes at the ceiling, in all calls */
} flow;

static flow worst_flow(const report *r, const kind *k)
{
    static const char *const ceiling[] = {"l2_gbs", "l3_gbs", "read_gbs"}; /* of what is outside L1, L2, L3 */
    flow worst = {k, -1, 0};
    for (int i = 0; i < 3 && gain_of(r, k) > 0; i++) {
        const double slow = k->of[r->slow].heaviest->traffic[i], fast = k->of[r->fast].heaviest->traffic[i];
        /* GB/s is bytes per ns */
        const double time = (slow - fast) * k->of[r->slow].count / result_number(r->ceilings, ceiling[i]);
        if (slow > 1.25 * fast && time > worst.time)
            worst = (flow){k, i, time};
    }
    return worst;
}

static double traffic(const report *r, text *t)
{
    static const char *const name[] = {"L1", "L2", "L3"}, *const outside[] = {"L2", "L3", "memory"};
    flow most = {0};
    double time = 0; /* of all kinds that bring more into the same cache */
    for (int i = 0; i < r->n_kind; i++) {
        const flow f = worst_flow(r, &r->kinds[i]);
        if (f.time > most.time)
            most = f;
    }
    for (int i = 0; most.kind && i < r->n_kind; i++) {
        const flow f = worst_flow(r, &r->kinds[i]);
        time += f.level == most.level ? fmin(f.time, gain_of(r, &r->kinds[i])) : 0;
    }
    if (!most.kind || time < 0.1 * difference(r))
        return 0;
    const kernel *slow = most.kind->of[r->slow].heaviest, *fast = most.kind->of[r->fast].heaviest;
    html_add(t,
             "<b.name>%1s</b>: under %-s its loops bring %s into %s, under %-s %s (estimated): what was there has gone "
             "before it is walked again. At the %s speed of %s that takes %s more. In all kernels like this that is at "
             "most %s of the difference.",
             most.kind->name, r->of[r->slow].mark, word_bytes(slow->traffic[most.level]).s, name[most.level],
             r->of[r->fast].mark, word_bytes(fast->traffic[most.level]).s, report_source(r), outside[most.level],
             word_time(most.time).s, word_part(time / difference(r)).s);
    return time;
}

static double peak_share(const report *r, text *t)
{
    const kind *best = NULL;
    for (int i = 0; i < r->n_kind; i++) {
        const kind *k = &r->kinds[i];
        double a = k->of[r->fast].peak_share, b = k->of[r->slow].peak_share;
        if (a - b > 0.03 && gain_of(r, k) > (best ? gain_of(r, best) : 0))
            best = k;
    }
    if (!best)
        return 0;
    html_add(t, "<b.name>%1s</b> reaches %s of what the %s ceilings allow under %-s and %s under %-s.", best->name,
             word_share(best->of[r->fast].peak_share).s, report_source(r), r->of[r->fast].mark,
             word_share(best->of[r->slow].peak_share).s, r->of[r->slow].mark);
    return gain_of(r, best) * 0.9;
}

static double outside_kernels(const report *r, text *t)
{
    double a = r->of[r->fast].gap_ns, b = r->of[r->slow].gap_ns;
    if (!(fabs(b - a) > 0.05 * difference(r)))
        return 0;
    html_add(t, "Time outside kernels (waiting at barriers, starting kernels) is %s under %-s and %s under %-s.",
             word_time(b > 0 ? b : 0).s, r->of[r->slow].mark, word_time(a > 0 ? a : 0).s, r->of[r->fast].mark);
    return fabs(b - a);
}

static double kernel_count(const report *r, text *t)
{
    int a = r->of[r->fast].n_kernel, b = r->of[r->slow].n_kernel;
    if (!a || !b || a == b)
        return 0;
    html_add(t, "%-s runs %d kernels, %-s %d: %s fuses more.", r->of[r->fast].mark, a, r->of[r->slow].mark, b,
             a < b ? "the faster one" : "the slower one");
    return 0.1 * difference(r);
}

static double against_it(const report *r, text *t)
{
    const group *worst = NULL;
    for (int i = 0; i < r->groups.differing; i++) {
        const group *g = &r->groups.of[i];
        if (g->fast - g->slow > (worst ? worst->fast - worst->slow : 0.03 * difference(r)))
            worst = g;
    }
    if (!worst)
        return 0;
    html_add(t, "Against it: in <b.name>%1s</b>, %-s is the slower one by %s (%s against %s).", worst->name,
             r->of[r->fast].mark, word_time(worst->fast - worst->slow).s, word_time(worst->fast).s,
             word_time(worst->slow).s);
    return worst->fast - worst->slow;
}

/* Reasons for a difference that is not sure would be inventions. */
static double not_sure(const report *r, text *t)
{
    if (r->fast < 0 || verdict_decided(r) || !r->groups.n)
        return 0;
    if (!r->groups.differing) {
        text_add(t, "Both run the same loops in every kernel: there is nothing here that the schemas change.");
        return LEAST;
    }
    const group *g = &r->groups.of[0];
    bool same = r->match && outcome_read(r->match->word) == SAME;
    html_add(t,
             same ? "The two spend their time alike: the largest difference in any %s is %s, in <b.name>%1s</b>."
                  : "Nothing is sure yet; the largest difference seen in any %s is %s, in <b.name>%1s</b>.",
             r->groups.by, word_time(fabs(g->slow - g->fast)).s, g->name);
    return fmax(LEAST, fabs(g->slow - g->fast));
}

/* The operation in which contestant c loses most on the best, and how much. */
static double worst_op(const report *r, int c, const char **op)
{
    double most = 0;
    for (int i = 0; i < r->n_kind; i++) {
        double gap = 0;
        for (int j = 0; j < r->n_kind; j++)
            if (strcmp(r->kinds[i].op, r->kinds[j].op) == 0)
                gap += r->kinds[j].of[c].ns - r->kinds[j].of[r->best].ns;
        if (gap > most)
            most = gap, *op = r->kinds[i].op;
    }
    return most;
}

/* Those beside the pair, each against the best. */
static double also_ran(const report *r, text *t)
{
    for (int c = 0; c < r->charted && r->fast >= 0; c++) {
        const char *op = "";
        const double more = r->of[c].stats.median - r->of[r->best].stats.median;
        if (c == r->fast || c == r->slow || r->of[c].peer || !r->of[c].valid || !(more > 0))
            continue;
        const double in = worst_op(r, c, &op);
        html_add(t, "%s%-s takes %s more than %-s", t->length ? " " : "", r->of[c].mark, word_time(more).s,
                 r->of[r->best].mark);
        if (in > 0.1 * more)
            html_add(t, ", %s of it in <b.name>%1s</b>", word_part(in / more).s, op);
        text_add(t, ".");
    }
    return t->length ? 2 * LEAST : 0;
}

/* Kernels that move data as fast as the memory that holds it can: no loop order helps them. */
static double memory_bound(const report *r, text *t)
{
    double ns = 0;
    int n = 0;
    if (r->best < 0)
        return 0;
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
        return 0;
    html_add(t,
             "%d kernel%s of %-s (%s of its time) move data at more than 70 %% of what the memory that holds it "
             "delivers: no loop order makes them much faster, only moving less does.",
             n, n == 1 ? "" : "s", best->mark, word_share(share).s);
    return 0.02 * ns;
}

/* How far the best is from what the machine could do: each kernel at the probed peak or at memory speed, whichever
 * is slower. */
static double what_is_left(const report *r, text *t)
{
    double peak = report_peak(r), floor_ns = 0;
    if (r->best < 0 || !(peak > 0) || !r->of[r->best].n_kernel)
        return 0;
    const contestant *best = &r->of[r->best];
    for (int i = 0; i < best->n_kernel; i++)
        floor_ns += best->kernels[i].flops > 0 ? best->kernels[i].flops / peak : 0;
    double median = best->stats.median;
    if (!(floor_ns > 0) || floor_ns > 1.2 * median)
        return 0;
    html_add(t,
             "What is left: all of this arithmetic at the %s FMA peak would take %s; %-s takes %s, so it runs at %s of "
             "that peak as a whole.",
             report_source(r), word_time(floor_ns).s, best->mark, word_time(median).s, word_share(floor_ns / median).s);
    return 1;
}

static int by_weight(const void *x, const void *y)
{
    const reason *a = x, *b = y;
    return a->weight != b->weight ? (a->weight < b->weight ? 1 : -1) : strcmp(text_str(&a->html), text_str(&b->html));
}

int reasons_find(const report *r, reason out[MAX_REASONS])
{
    static const struct {
        double (*say)(const report *r, text *t); /* gives the weight; 0: nothing was said */
        bool of_decided;                         /* of a pair that differs for sure */
    } rules[MAX_REASONS] = {{other_way, true},      {inner_loops, true}, {most_of_it, true},      {traffic, true},
                            {cache_overflow, true}, {peak_share, true},  {outside_kernels, true}, {kernel_count, true},
                            {against_it, true},     {not_sure, false},   {also_ran, false},       {memory_bound, false},
                            {what_is_left, false}};
    const bool decided = r->fast >= 0 && verdict_decided(r);
    int n = 0;
    for (int i = 0; i < MAX_REASONS && rules[i].say; i++) {
        out[n] = (reason){0};
        if ((decided || !rules[i].of_decided) && (out[n].weight = rules[i].say(r, &out[n].html)) != 0)
            n++;
    }
    qsort(out, (size_t)n, sizeof *out, by_weight);
    return n;
}
