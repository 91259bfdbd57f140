/* Verdicts as sentences: the case, and what headline.form says of it to pages and Markdown alike. */
#include "bench/report/page.h"

#include <math.h>

bool verdict_decided(const report *r)
{
    outcome is = r->match ? outcome_read(r->match->word) : NO_VERDICT;
    if (r->match)
        return is == FASTER || is == SLOWER;
    return r->fast >= 0 && r->of[r->slow].stats.median > 1.01 * r->of[r->fast].stats.median;
}

/* The other candidates that the comparisons do not tell apart from the best */
static void fill_tied(cJSON *list, const report *r)
{
    for (int i = 0; i < r->n_comparison; i++) {
        const pairing *c = &r->comparisons[i];
        const int other = c->ia == r->best ? c->ib : c->ib == r->best ? c->ia : -1;
        const bool equal = outcome_read(c->word) == SAME || outcome_read(c->word) == UNDECIDED;
        if (other >= 0 && equal && c != r->match && !r->of[other].peer)
            view_who(list, NULL, r, other, NULL);
    }
}

/* Times say little between who rounds and who does not. */
static void fill_inaccurate(cJSON *list, const report *r)
{
    for (int i = 0; i < r->n_comparison; i++) {
        const pairing *c = &r->comparisons[i];
        if (isnan(c->a_error) || isnan(c->b_error) || (c->ia != r->best && c->ib != r->best))
            continue;
        view_pairing(js_row(list, "a_error:%g,b_error:%g", c->a_error, c->b_error), r, c);
    }
}

void fill_headline(cJSON *o, const report *r)
{
    const outcome is = r->match ? outcome_read(r->match->word) : NO_VERDICT;
    int valid = 0, candidates = 0;
    for (int i = 0; i < r->n; i++)
        valid += !r->of[i].peer && r->of[i].valid, candidates += !r->of[i].peer;
    js_put(o, "case:%s,n_valid:%d,others:%i",
           r->best < 0              ? "none"
           : r->match && valid == 2 ? "pair"
           : r->slow < 0            ? "alone"
           : is == UNDECIDED        ? "undecided"
           : is == SAME             ? "same"
                                    : "several",
           valid, candidates > 1);
    if (r->best >= 0)
        js_number(o, "best_ns", r->of[r->best].stats.median);
    if (r->slow >= 0)
        js_number(o, "more_share", r->of[r->slow].stats.median / r->of[r->fast].stats.median - 1);
    if (r->best >= 0)
        fill_tied(js_array(o, "tied"), r);
    fill_inaccurate(js_array(o, "inaccurate"), r);
}
