/* factors.c - estimates multiply, so each property takes part of a kernel's gap by the logarithm of its own; what no
 * property explains stays open. */
#include "bench/report/factors.h"

#include <math.h>

const char *const property_name[N_PROPERTIES] = {"vectors", "sums in registers", "loads", "unrolling", "edges", "cores",
                                                 "traffic"};

/* What of the two nests an estimate takes: bit i of `fast` set takes property i of the fast one. */
typedef struct pair {
    const report *r;
    const kernel *slow, *fast;
    unsigned fast_of;
} pair;

static const kernel *taken(const pair *p, property i)
{
    return p->fast_of >> i & 1 ? p->fast : p->slow;
}

/* Slots of one multiply-add that a core needs for each of them. A core is taken to start as many loads as multiply-adds
 * at a time, and twice as many instructions in all; a loop costs two. */
static double issue(const pair *p)
{
    const tile *sums = &taken(p, SUMS)->tile, *loads = &taken(p, LOADS)->tile, *body = &taken(p, UNROLLING)->tile;
    double slots = fmax(1, sums->sums_of / sums->sums);
    slots = fmax(slots, loads->loads);
    return fmax(slots, (1 + loads->loads + 2 / body->multiply_adds) / 2);
}

static bool has_sums(const kernel *k)
{
    return k->tile.sums > 0 && k->tile.multiply_adds > 0 && k->tile.loads >= 0;
}

static bool has_lanes(const kernel *k)
{
    return k->tile.lanes > 0 && k->tile.lanes_of > 0;
}

static double arithmetic(const pair *p)
{
    const double peak = report_peak(p->r), threads = result_number(p->r->environment, "threads");
    double ns = p->slow->flops / peak;
    if (has_lanes(p->slow) && has_lanes(p->fast))
        ns *= taken(p, VECTORS)->tile.lanes_of / taken(p, VECTORS)->tile.lanes;
    if (has_sums(p->slow) && has_sums(p->fast))
        ns *= issue(p);
    if (taken(p, EDGES)->waste > 0)
        ns *= 1 + taken(p, EDGES)->waste;
    if (taken(p, CORES)->tile.cores > 0 && threads > 0)
        ns *= threads / taken(p, CORES)->tile.cores;
    return ns > 0 ? ns : 0;
}

const struct cache_name cache_names[3] = {{"L1", "L2", "l2_gbs"}, {"L2", "L3", "l3_gbs"}, {"L3", "memory", "read_gbs"}};

double traffic_ns(const report *r, double bytes, int into) /* GB/s is bytes per ns */
{
    return bytes / result_number(r->ceilings, cache_names[into].ceiling);
}

int level_of(const report *r, const kernel *slow)
{
    int worst = 2;
    double most = 0;
    for (int i = 0; i < 3; i++) {
        const double time = traffic_ns(r, slow->traffic[i], i);
        if (time > most)
            most = time, worst = i;
    }
    return worst;
}

static double movement(const pair *p)
{
    const kernel *k = taken(p, TRAFFIC);
    double most = 0;
    for (int i = 0; i < 3; i++)
        most = fmax(most, traffic_ns(p->r, k->traffic[i] * fmax(1, k->calls), i));
    return most;
}

static double estimate(const report *r, const kernel *slow, const kernel *fast, unsigned fast_of)
{
    const pair p = {r, slow, fast, fast_of};
    return fmax(arithmetic(&p), movement(&p));
}

factors factors_of(const report *r, const kernel *slow, const kernel *fast)
{
    enum { ALL = 1 << N_PROPERTIES };
    double log_of[ALL], factorial[N_PROPERTIES + 1] = {1};
    factors f = {.measured = slow->ns / fast->ns, .estimated = 1};
    bool known = has_lanes(slow) && has_lanes(fast) && slow->ns > 0 && fast->ns > 0;
    for (unsigned s = 0; s < ALL; s++)
        log_of[s] = log(estimate(r, slow, fast, s));
    known &= isfinite(log_of[0]) && isfinite(log_of[ALL - 1]);
    for (int i = 1; i <= N_PROPERTIES; i++)
        factorial[i] = i * factorial[i - 1];
    for (int i = 0; i < N_PROPERTIES; i++) {
        double sum = 0;
        for (unsigned s = 0; s < ALL; s++) {
            const int n = __builtin_popcount(s);
            if (!(s >> i & 1))
                sum += factorial[n] * factorial[N_PROPERTIES - n - 1] * (log_of[s] - log_of[s | 1u << i]);
        }
        f.of[i] = known ? exp(sum / factorial[N_PROPERTIES]) : (double)NAN;
        f.estimated *= f.of[i];
    }
    return f;
}

/* A kind's gain, divided by the logarithms of its factors. */
static void share_out(account *a, const factors *f, double gain)
{
    const double whole = log(f->measured), said = log(f->estimated);
    double left = gain;
    if (isnan(f->estimated) || !(whole * said > 0)) {
        a->open += gain;
        return;
    }
    const double by = fabs(said) > fabs(whole) ? said : whole;
    for (int i = 0; i < N_PROPERTIES; i++) {
        const double ns = gain * log(f->of[i]) / by;
        a->of[i] += ns;
        left -= ns;
    }
    a->open += left;
}

account account_of(const report *r)
{
    account a = {.total = r->of[r->slow].stats.median - r->of[r->fast].stats.median};
    double most = 0;
    for (int i = 0; i < r->n_kind; i++) {
        const kind *k = &r->kinds[i];
        const part *slow = &k->of[r->slow], *fast = &k->of[r->fast];
        const double gain = slow->ns - fast->ns;
        if (!slow->heaviest || !fast->heaviest) {
            a.apart += gain;
            continue;
        }
        if (k->same) {
            a.same += gain;
            continue;
        }
        if (kind_ways_differ(r, k)) {
            a.ways += gain;
            continue;
        }
        const factors f = factors_of(r, slow->heaviest, fast->heaviest);
        share_out(&a, &f, gain);
        if (!isnan(f.estimated) && gain > most)
            most = gain, a.main = k;
    }
    a.outside = r->of[r->slow].gap_ns - r->of[r->fast].gap_ns;
    return a;
}
