/* Section 8: what does each kernel do? For every kind its nest, trip counts, working sets and notes, per candidate,
 * folded. */
#include "bench/report/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KINDS = 40, MAX_NOTES = 12, MAX_LEVEL_ROWS = 16 };

static void levels(page *p, const kernel *k)
{
    sheet_open(p, 5, (const char *const[]){"loop", "#trips", "#working set", "level", "#of it"});
    for (int i = 0; i < k->n_level && i < MAX_LEVEL_ROWS; i++) {
        const level *l = &k->levels[i];
        page_add(p, "<tr><td><span class=\"code\">");
        page_text(p, l->loop);
        page_add(p, "</span></td>");
        td_number(p, word_count(l->trips));
        td_number(p, word_bytes(l->bytes));
        td_text(p, l->level);
        page_add(p, "<td class=\"num\">%s%s</td></tr>\n", word_share(l->share).s,
                 l->share > 1 ? " <span class=\"bad\">✗</span>" : "");
    }
    sheet_close(p);
}

static void notes(page *p, const kernel *k)
{
    const cJSON *n;
    int shown = 0;
    if (!cJSON_IsArray(k->notes))
        return;
    cJSON_ArrayForEach(n, k->notes)
    {
        if (!cJSON_IsString(n) || shown++ >= MAX_NOTES)
            continue;
        page_add(p, "<p class=\"soft\">note: ");
        page_text(p, n->valuestring);
        page_add(p, "</p>\n");
    }
}

/* "shared ; a: loops ; b: loops": a line for each stage. */
static void loops(page *p, const char *s)
{
    static const char between[] = " ; ";
    page_add(p, "<pre>");
    for (const char *end; (end = strstr(s, between)); s = end + strlen(between)) {
        char *stage = strndup(s, (size_t)(end - s));
        page_code(p, stage);
        page_add(p, "\n");
        free(stage);
    }
    page_code(p, s);
    page_add(p, "</pre>\n");
}

static void one(page *p, const report *r, const kind *k, int c)
{
    const part *of = &k->of[c];
    if (!of->heaviest)
        return;
    page_add(p, "<p>");
    mark_name(p, r, c);
    page_add(p, " · %s", word_time(of->ns).s);
    if (of->count > 1)
        page_add(p, " in %d kernels", of->count);
    if (k->flops > 0 && of->ns > 0)
        page_add(p, " · %s GFLOP/s", word_number(k->flops * of->count / of->ns).s);
    if (of->bytes > 0 && of->ns > 0)
        page_add(p, " · %s GB/s", word_number(of->bytes / of->ns).s);
    if (!isnan(of->peak_share))
        page_add(p, " · %s of its roof", word_share(of->peak_share).s);
    if (*of->heaviest->rule)
        page_add(p, " · rule <b class=\"name\">"), page_text(p, of->heaviest->rule), page_add(p, "</b>");
    page_add(p, "</p>\n");
    if (*of->heaviest->loops)
        loops(p, of->heaviest->loops);
    if (of->heaviest->n_level)
        levels(p, of->heaviest);
    notes(p, of->heaviest);
}

const char *part_kernels(page *p, const report *r)
{
    if (!r->n_kind)
        return "the results hold no kernels";
    page_add(p, "<p class=\"lead\">By time, the heaviest first. Kernels that differ only in a number of their names "
                "(layers) are shown once, with the slowest "
                "of them. Working sets are those of one trip of a loop.</p>\n");
    for (int i = 0; i < r->n_kind && i < MAX_KINDS; i++) {
        page_add(p, "<details><summary>");
        kind_name(p, &r->kinds[i]);
        if (r->best >= 0)
            page_add(p, " · %s", word_time(r->kinds[i].of[r->best].ns).s);
        page_add(p, "</summary>\n");
        for (int c = 0; c < r->charted; c++)
            one(p, r, &r->kinds[i], c);
        page_add(p, "</details>\n");
    }
    if (r->n_kind > MAX_KINDS)
        page_add(p, "<p class=\"soft\">%d lighter kinds are in the data that this page carries.</p>\n",
                 r->n_kind - MAX_KINDS);
    return NULL;
}
