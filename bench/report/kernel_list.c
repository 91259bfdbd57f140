/* Section 8: what does each kernel do? For every kind its nest, trip counts, working sets and notes, per candidate,
 * folded. */
#include "bench/report/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KINDS = 40, MAX_NOTES = 12, MAX_LEVEL_ROWS = 16 }; /* rows of each list; the rest is counted */

static void levels(text *t, const kernel *k)
{
    sheet_open(t, "", "loop|#trips|#working set|level|#of it");
    for (int i = 0; i < k->n_level && i < MAX_LEVEL_ROWS; i++) {
        const level *l = &k->levels[i];
        html_row(t, "<span.code>%s</span>|#%s|#%s|%s|#%s%-s", l->loop, word_count(l->trips).s, word_bytes(l->bytes).s,
                 l->level, word_share(l->share).s, l->share > 1 ? " <span class=\"bad\">✗</span>" : "");
    }
    sheet_close(t);
}

static void notes(text *t, const kernel *k)
{
    const cJSON *n;
    int shown = 0;
    if (!cJSON_IsArray(k->notes))
        return;
    cJSON_ArrayForEach(n, k->notes)
    {
        if (!cJSON_IsString(n) || shown++ >= MAX_NOTES)
            continue;
        html_add(t, "<p.soft>note: %s</p>\n", n->valuestring);
    }
}

/* "shared ; a: loops ; b: loops": a line for each stage. */
static void loops(text *t, const char *s)
{
    static const char between[] = " ; ";
    html_add(t, "<pre>");
    for (const char *end; (end = strstr(s, between)); s = end + strlen(between)) {
        char *stage = strndup(s, (size_t)(end - s));
        html_code(t, stage);
        text_add(t, "\n");
        free(stage);
    }
    html_code(t, s);
    html_add(t, "</pre>\n");
}

static void one(text *t, const report *r, const kind *k, int c)
{
    const part *of = &k->of[c];
    if (!of->heaviest)
        return;
    html_add(t, "<p>%-s · %s", r->of[c].mark, word_time(of->ns).s);
    if (of->count > 1)
        text_add(t, " in %d kernels", of->count);
    if (k->flops > 0 && of->ns > 0)
        text_add(t, " · %s GFLOP/s", word_number(k->flops * of->count / of->ns).s);
    if (of->bytes > 0 && of->ns > 0)
        text_add(t, " · %s GB/s", word_number(of->bytes / of->ns).s);
    if (!isnan(of->peak_share))
        text_add(t, " · %s of its roof", word_share(of->peak_share).s);
    if (*of->heaviest->rule)
        html_add(t, " · rule <b.name>%s</b>", of->heaviest->rule);
    html_add(t, "</p>\n");
    if (*of->heaviest->loops)
        loops(t, of->heaviest->loops);
    if (of->heaviest->n_level)
        levels(t, of->heaviest);
    notes(t, of->heaviest);
}

const char *part_kernels(text *t, const report *r)
{
    if (!r->n_kind)
        return "the results hold no kernels";
    html_add(t, "<p.lead>By time, the heaviest first. Kernels that differ only in a number of their names (layers) are "
                "shown once, with the slowest of them. Working sets are those of one trip of a loop.</p>\n");
    for (int i = 0; i < r->n_kind && i < MAX_KINDS; i++) {
        html_add(t, "<details.full><summary>%-s", r->kinds[i].shown);
        if (r->best >= 0)
            text_add(t, " · %s", word_time(r->kinds[i].of[r->best].ns).s);
        html_add(t, "</summary>\n");
        for (int c = 0; c < r->charted; c++)
            one(t, r, &r->kinds[i], c);
        html_add(t, "</details>\n");
    }
    if (r->n_kind > MAX_KINDS)
        html_add(t, "<p.soft>%d lighter kinds are in the data that this page carries.</p>\n", r->n_kind - MAX_KINDS);
    return NULL;
}
