/* Why one schema is faster: fixed rules that look at the numbers and find what one sentence each is filled in with, or
 * nothing. No rule guesses: what is said is in the results, and where no rule speaks the report says that the numbers
 * do not explain it. A rule weighs as much as the time that it speaks of; the report shows the heaviest first. */
#include "bench/report/factors.h"
#include "bench/report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LEAST = 1e-3; /* the weight of what speaks of no time */

static double difference(const report *r)
{
    return r->of[r->slow].stats.median - r->of[r->fast].stats.median;
}

static double most_of_it(const report *r, cJSON *o)
{
    if (!r->groups.differing)
        return 0;
    const group *g = &r->groups.of[0];
    const double gain = g->slow - g->fast, share = gain / difference(r);
    if (!(share > 0.1))
        return 0;
    view_text(o, "name", g->name);
    js_put(o, "all:%i,part_share:%g,gain_ns:%g,of_ns:%g,slow_ns:%g,fast_ns:%g", share <= 1, share, gain, difference(r),
           g->slow, g->fast);
    return 2 * gain;
}

static double gain_of(const report *r, const kind *k)
{
    const bool loops = !k->same && k->of[r->fast].heaviest && k->of[r->slow].heaviest && !kind_ways_differ(r, k);
    return loops ? k->of[r->slow].ns - k->of[r->fast].ns : 0;
}

/* What the verdict would be, were these as long under the fast one as under the slow one, which takes no such way */
static void fill_without(cJSON *o, const report *r, double longer)
{
    const double even = r->of[r->fast].stats.median + longer, ratio = r->of[r->slow].stats.median / even,
                 least = r->match ? r->match->threshold : 0.01;
    js_put(js_object(o, "without_it"), "even_ns:%g,ratio:%g,ahead:%i,behind:%i", even, ratio, ratio >= 1 + least,
           ratio * (1 + least) <= 1);
}

/* What the two go different ways to: all kinds of one operation and way. Loops explain nothing of that. */
static double other_way(const report *r, cJSON *o)
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
        fast += x->ns, slow += y->ns, n += x->count;
    }
    view_who(o, "with", r, *a->by ? r->fast : r->slow, NULL),
        view_who(o, "without", r, *a->by ? r->slow : r->fast, NULL);
    view_text(o, "op", best->op), view_text(o, "by", *a->by ? a->by : b->by), view_text(o, "name", best->name);
    view_text(o, "other_by", *a->by ? b->by : "");
    js_put(o, "n:%d,others:%i,slow_ns:%g,fast_ns:%g", n, n > best->of[r->fast].count, slow, fast);
    if (*a->by && !*b->by)
        fill_without(o, r, slow - fast);
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

static void fill_set(cJSON *o, const char *key, const level *l)
{
    cJSON *set = l ? js_put(js_object(o, key), "set_bytes:%g,of_share:%g", l->bytes, l->share) : NULL;
    if (set)
        view_text(set, "loop", l->loop), view_text(set, "level", l->level);
}

static double cache_overflow(const report *r, cJSON *o)
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
    const level *s = overflow(slow, fast);
    view_text(o, "name", best->name);
    fill_set(o, "over", s), fill_set(o, "within", level_fullest(fast, s->level));
    js_number(o, "of", gain / difference(r));
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
    flow worst = {k, -1, 0};
    for (int i = 0; i < 3 && gain_of(r, k) > 0; i++) {
        const double slow = k->of[r->slow].heaviest->traffic[i], fast = k->of[r->fast].heaviest->traffic[i];
        const double time = traffic_ns(r, (slow - fast) * k->of[r->slow].count, i);
        if (slow > 1.25 * fast && time > worst.time)
            worst = (flow){k, i, time};
    }
    return worst;
}

static double traffic(const report *r, cJSON *o)
{
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
    view_text(o, "name", most.kind->name);
    js_put(o, "slow_bytes:%g,fast_bytes:%g,into:%s,outside:%s,more_ns:%g,of:%g", slow->traffic[most.level],
           fast->traffic[most.level], cache_names[most.level].name, cache_names[most.level].outside,
           most.time / most.kind->of[r->slow].count, time / difference(r));
    return time;
}

static double peak_share(const report *r, cJSON *o)
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
    view_text(o, "name", best->name);
    js_put(o, "fast_share:%g,slow_share:%g", best->of[r->fast].peak_share, best->of[r->slow].peak_share);
    return gain_of(r, best) * 0.9;
}

static double outside_kernels(const report *r, cJSON *o)
{
    double a = r->of[r->fast].gap_ns, b = r->of[r->slow].gap_ns;
    if (!(fmax(a, b) > 0 && fabs(b - a) > 0.05 * difference(r)))
        return 0;
    js_put(o, "slow_ns:%g,fast_ns:%g", b > 0 ? b : 0, a > 0 ? a : 0);
    return fabs(b - a);
}

static double kernel_count(const report *r, cJSON *o)
{
    int a = r->of[r->fast].n_kernel, b = r->of[r->slow].n_kernel;
    if (!a || !b || a == b)
        return 0;
    js_put(o, "fast:%d,slow:%d,fewer:%i", a, b, a < b);
    return 0.1 * difference(r);
}

static double against_it(const report *r, cJSON *o)
{
    const group *worst = NULL;
    for (int i = 0; i < r->groups.differing; i++) {
        const group *g = &r->groups.of[i];
        if (g->fast - g->slow > (worst ? worst->fast - worst->slow : 0.03 * difference(r)))
            worst = g;
    }
    if (!worst)
        return 0;
    view_text(o, "name", worst->name);
    js_put(o, "loss_ns:%g,fast_ns:%g,slow_ns:%g", worst->fast - worst->slow, worst->fast, worst->slow);
    return worst->fast - worst->slow;
}

/* Reasons for a difference that is not sure would be inventions. */
static double not_sure(const report *r, cJSON *o)
{
    if (r->fast < 0 || verdict_decided(r) || !r->groups.n)
        return 0;
    js_flag(o, "any", r->groups.differing > 0);
    if (!r->groups.differing)
        return LEAST;
    const group *g = &r->groups.of[0];
    view_text(o, "name", g->name);
    js_put(o, "same:%i,gap_ns:%g", r->match && outcome_read(r->match->word) == SAME, fabs(g->slow - g->fast));
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
static double also_ran(const report *r, cJSON *o)
{
    cJSON *list = js_array(o, "of");
    for (int c = 0; c < r->charted && r->fast >= 0; c++) {
        const char *op = "";
        const double more = r->of[c].stats.median - r->of[r->best].stats.median;
        if (c == r->fast || c == r->slow || r->of[c].peer || !r->of[c].valid || !(more > 0))
            continue;
        const double in = worst_op(r, c, &op);
        cJSON *one = js_row(list, "more_ns:%g,of:%g,told:%i", more, in / more, in > 0.1 * more);
        view_who(one, "who", r, c, NULL), view_text(one, "op", op);
    }
    return list->child ? 2 * LEAST : 0;
}

/* Kernels that move data as fast as the memory that holds it can: no loop order helps them. */
static double memory_bound(const report *r, cJSON *o)
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
    js_put(o, "n:%d,time_share:%g", n, share);
    return 0.02 * ns;
}

/* How far the best is from what the machine could do: each kernel at the probed peak or at memory speed, whichever
 * is slower. */
static double what_is_left(const report *r, cJSON *o)
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
    js_put(o, "floor_ns:%g,best_ns:%g,floor_share:%g", floor_ns, median, floor_ns / median);
    return 1;
}

/* gives the weight; 0: there is nothing to say */
typedef double finder(const report *r, cJSON *o);
static const struct {
    const char *name; /* in reasons.html, which says it */
    finder *find;
    bool of_decided; /* of a pair that differs for sure */
} rules[] = {
    {"other_way", other_way, true},
    {"inner_loops", inner_loops, true},
    {"most_of_it", most_of_it, true},
    {"traffic", traffic, true},
    {"cache_overflow", cache_overflow, true},
    {"peak_share", peak_share, true},
    {"outside_kernels", outside_kernels, true},
    {"kernel_count", kernel_count, true},
    {"against_it", against_it, true},
    {"not_sure", not_sure, false},
    {"also_ran", also_ran, false},
    {"memory_bound", memory_bound, false},
    {"what_is_left", what_is_left, false},
};

typedef struct reason {
    text html;
    double weight; /* ns that it speaks of */
} reason;

static int by_weight(const void *x, const void *y)
{
    const reason *a = x, *b = y;
    return a->weight != b->weight ? (a->weight < b->weight ? 1 : -1) : strcmp(text_str(&a->html), text_str(&b->html));
}

void view_reasons(cJSON *o, const report *r, int most)
{
    const form_place root = {r->view, NULL};
    const bool decided = r->fast >= 0 && verdict_decided(r);
    cJSON *list = js_array(o, "reasons");
    reason found[COUNT(rules)];
    int n = 0;
    for (int i = 0; i < COUNT(rules); i++) {
        ENDED_BY(js_free) cJSON *one = cJSON_CreateObject();
        found[n] = (reason){.weight = decided || !rules[i].of_decided ? rules[i].find(r, one) : 0};
        if (found[n].weight != 0)
            js_text(one, "rule", rules[i].name),
                page_put(&found[n++].html, r, IN_HTML, &(form_place){one, &root}, "reasons.html");
    }
    qsort(found, (size_t)n, sizeof *found, by_weight);
    for (int i = 0; i < n; i++) {
        if (i < most)
            js_item(list, text_str(&found[i].html));
        text_free(&found[i].html);
    }
}
