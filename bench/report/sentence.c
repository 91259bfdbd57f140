/* Verdicts as sentences, for people who have not read how comparing works. The same words go to HTML and Markdown. */
#include "bench/report/parts.h"

#include <math.h>
#include <string.h>

bool verdict_decided(const report *r)
{
    outcome is = r->match ? outcome_read(r->match->word) : NO_VERDICT;
    if (r->match)
        return is == FASTER || is == SLOWER;
    return r->fast >= 0 && r->of[r->slow].stats.median > 1.01 * r->of[r->fast].stats.median;
}

static void faster(text *t, const report *r, const pairing *c, name_writer *name)
{
    bool first = outcome_read(c->word) == FASTER;
    double times = first ? c->ratio : 1 / c->ratio; /* how much longer the slower one takes */
    int win = first ? c->ia : c->ib, lose = first ? c->ib : c->ia;
    const char *winner = first ? c->a : c->b, *loser = first ? c->b : c->a;
    name(t, r, win, winner);
    if (times >= 2) {
        text_add(t, " is %.*f times as fast as ", times < 9.95 ? 2 : 1, times);
        name(t, r, lose, loser);
    } else {
        text_add(t, " is faster: ");
        name(t, r, lose, loser);
        if (times > 1)
            text_add(t, " takes %s more time", word_share(times - 1).s);
        else
            text_add(t, " takes more time");
    }
    text_add(t, ".");
}

void verdict_sentence(text *t, const report *r, const pairing *c, name_writer *name)
{
    outcome is = outcome_read(c->word);
    if (is == FASTER || is == SLOWER) {
        faster(t, r, c, name);
        return;
    }
    name(t, r, c->ia, c->a);
    text_add(t, is == UNDECIDED ? " or " : " and ");
    name(t, r, c->ib, c->b);
    text_add(t, is == SAME ? " take the same time." : is == UNDECIDED ? ": not decided." : " were not compared.");
}

static void detectable(text *t, const pairing *c)
{
    if (isnan(c->detectable))
        return;
    if (outcome_read(c->word) == UNDECIDED)
        text_add(t, " With these samples only differences of %s or more can be detected.", word_share(c->detectable).s);
    else
        text_add(t, " A difference of %s or more would have been seen.", word_share(c->detectable).s);
}

void verdict_certainty(text *t, const report *r, const pairing *c)
{
    static const char *const lies[] = {
        [FASTER] = "lies wholly beyond the ±%s that count as equal.",
        [SLOWER] = "lies wholly beyond the ±%s that count as equal.",
        [SAME] = "lies inside the ±%s that count as equal.",
        [UNDECIDED] = "reaches across the edge of the ±%s that count as equal. More time (--max-time) narrows it."};
    double confidence = result_number(r->config, "confidence");
    word sure = word_share(confidence > 0 && confidence < 1 ? confidence : 0.99);
    outcome is = outcome_read(c->word);
    if (is == NO_VERDICT)
        return;
    if (isnan(c->low) || isnan(c->high)) {
        text_add(t, "The results hold no interval, so how sure this is cannot be told.");
        return;
    }
    text_add(t, "%s %s interval of the ratio of times, %s … %s, ", is == UNDECIDED ? "The" : "This is sure: the",
             sure.s, word_ratio(c->low).s, word_ratio(c->high).s);
    text_add(t, lies[is], word_share(c->threshold).s);
    detectable(t, c);
}

/* The other candidates that the comparisons do not tell apart from the best, after `before`; how many. */
static int tied(text *t, const report *r, const char *before, name_writer *name)
{
    const int best = r->best;
    int n = 0;
    for (int i = 0; i < r->n_comparison; i++) {
        const pairing *c = &r->comparisons[i];
        int other = c->ia == best ? c->ib : c->ib == best ? c->ia : -1;
        bool equal = outcome_read(c->word) == SAME || outcome_read(c->word) == UNDECIDED;
        if (other < 0 || !equal || c == r->match || r->of[other].peer)
            continue;
        text_add(t, "%s", n++ ? ", " : before);
        name(t, r, other, r->of[other].name);
    }
    return n;
}

static void ties(text *t, const report *r, name_writer *name)
{
    if (tied(t, r, " Not measurably slower: ", name))
        text_add(t, ".");
}

static void undecided(text *t, const report *r, int valid, name_writer *name)
{
    text_add(t, "Undecided: ");
    name(t, r, r->match->ia, r->match->a);
    text_add(t, " and ");
    name(t, r, r->match->ib, r->match->b);
    text_add(t, " are the fastest of %d, but not measurably different", valid);
    tied(t, r, "; not ruled out either: ", name);
    text_add(t, ".");
}

static int candidates(const report *r)
{
    int n = 0;
    for (int i = 0; i < r->n; i++)
        n += !r->of[i].peer;
    return n;
}

static void among_several(text *t, const report *r, int valid, name_writer *name)
{
    outcome is = r->match ? outcome_read(r->match->word) : NO_VERDICT;
    if (is == UNDECIDED) {
        undecided(t, r, valid, name);
        return;
    }
    if (is == SAME) {
        text_add(t, "Of %d candidates, the two fastest: ", valid);
        verdict_sentence(t, r, r->match, name);
        ties(t, r, name);
        return;
    }
    text_add(t, "Of %d candidates, ", valid);
    name(t, r, r->fast, r->of[r->fast].name);
    text_add(t, " is the fastest: ");
    name(t, r, r->slow, r->of[r->slow].name);
    text_add(t, ", the next one, takes %s more time.",
             word_share(r->of[r->slow].stats.median / r->of[r->fast].stats.median - 1).s);
    ties(t, r, name);
}

/* Times say little between who rounds and who does not. */
static void accuracies(text *t, const report *r, name_writer *name)
{
    for (int i = 0; i < r->n_comparison; i++) {
        const pairing *c = &r->comparisons[i];
        if (isnan(c->a_error) || isnan(c->b_error) || (c->ia != r->best && c->ib != r->best))
            continue;
        text_add(t, " Not equally accurate: ");
        name(t, r, c->ia, c->a);
        text_add(t, " is off by %s of the largest value, ", word_number(c->a_error).s);
        name(t, r, c->ib, c->b);
        text_add(t, " by %s.", word_number(c->b_error).s);
    }
}

void verdict_headline(text *t, const report *r, name_writer *name)
{
    int best = r->best, valid = 0;
    for (int i = 0; i < r->n; i++)
        valid += !r->of[i].peer && r->of[i].valid;
    if (best < 0) {
        text_add(t, "No candidate is valid: there is no time to compare.");
    } else if (r->match && valid == 2) {
        verdict_sentence(t, r, r->match, name);
    } else if (r->slow >= 0) {
        among_several(t, r, valid, name);
    } else {
        name(t, r, best, r->of[best].name);
        text_add(t, " takes %s%s.", word_time(r->of[best].stats.median).s,
                 candidates(r) > 1 ? "; no other candidate is valid" : "");
    }
    accuracies(t, r, name);
}
