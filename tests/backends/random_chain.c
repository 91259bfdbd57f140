#include "tests/backends/random_chain.h"

void chain_split(dice *d, chain *c, int64_t left)
{
    static const int64_t steps[] = {2, 3, 4, 5, 7, 8, 16, 24, 32, 48, 100};
    *c = (chain){.left = left};
    for (int64_t i = roll(d, 3); i > 0; i--) {
        const int64_t step = steps[roll(d, COUNT(steps))];
        if (c->n && step >= c->step[c->n - 1])
            continue;
        c->step[c->n++] = step;
    }
    c->step[c->n++] = 1;
}

int64_t chain_trips(const chain *c)
{
    return c->n > 1 && c->step[c->n - 2] < c->left ? c->step[c->n - 2] : c->left;
}

void chain_put(const stage *s, int a, int64_t step, const char *how, text *t)
{
    text_add(t, "%s%s", t->length && t->s[t->length - 1] != ' ' ? " " : "", s->letter[a]);
    if (step > 1)
        text_add(t, "/%lld", (long long)step);
    text_add(t, "%s", how);
}

void chain_spoil(dice *d, text *t)
{
    static const char some[] = "abkmn/@+*:; 10-,";
    if (t->length > 1 && roll(d, 25) == 0) /* a blank line is no alternative: the whole file is refused */
        t->s[roll(d, (int64_t)t->length)] = some[roll(d, sizeof some - 1)];
}
