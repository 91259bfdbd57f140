/* suite.c - a suite/1 document as rows, the same on its page, in Markdown and in the terminal. */
#include "bench/report/page.h"
#include "bench/report/report.h"
#include "graph/base/err.h"

#include <math.h>
#include <string.h>

static const cJSON *ours(const cJSON *race)
{
    return cJSON_GetArrayItem(js_get(race, "results/candidates"), 0);
}

/* "110 ms † ± 2 %": the median, † where the machine was busy, and half of its 95 % interval. */
static void put_time(text *t, const cJSON *race)
{
    const cJSON *c = ours(race);
    const double ns = js_get_number(c, "stats/median_ns", NAN),
                 half = (js_get_number(c, "stats/high_ns", NAN) - js_get_number(c, "stats/low_ns", NAN)) / 2;
    const bool quiet = strcmp(js_get_text(race, "results/machine_state/state"), "quiet") == 0;
    if (js_get(race, "error"))
        text_add(t, "failed: %s", js_get_text(race, "error"));
    else if (!(ns > 0))
        text_add(t, "%s", js_get_text(c, "status"));
    else
        text_add(t, "%s%s", word_time(ns).s, quiet ? "" : " †");
    if (half >= 0)
        text_add(t, " ± %s", word_share(half / ns).s);
}

/* How many times as long a peer takes, with its 99 % interval. */
static void put_ratio(text *t, const cJSON *race, const char *peer)
{
    const cJSON *c, *of = js_find(js_get(race, "results/peers"), "name", peer);
    cJSON_ArrayForEach(c, js_get(race, "results/comparisons"))
    {
        if (strcmp(js_get_text(c, "a"), js_get_text(ours(race), "name")) != 0 ||
            strcmp(js_get_text(c, "b"), peer) != 0 || !js_get(c, "ratio"))
            continue;
        text_add(t, "%.2f (%.2f to %.2f%s)", js_get_number(c, "ratio", NAN), js_get_number(c, "low", NAN),
                 js_get_number(c, "high", NAN),
                 strcmp(js_get_text(c, "verdict"), "UNDECIDED") == 0 ? ", undecided" : "");
        return;
    }
    text_add(t, "%s", of && strcmp(js_get_text(of, "status"), "ABSENT") != 0 ? js_get_text(of, "status") : "–");
}

/* That have a time somewhere, with their versions: {name: version}. */
static cJSON *peers_make(const cJSON *suite)
{
    cJSON *all = cJSON_CreateObject();
    const cJSON *r, *p;
    cJSON_ArrayForEach(r, js_get(suite, "races")) cJSON_ArrayForEach(p, js_get(r, "results/peers"))
    {
        const char *name = js_get_text(p, "name");
        if (*name && strcmp(js_get_text(p, "status"), "ABSENT") != 0 && !cJSON_GetObjectItemCaseSensitive(all, name))
            js_text(all, name, js_get_text(p, "version"));
    }
    return all;
}

static void take(cJSON *row, const char *key, text *t)
{
    plain_spaces(t);
    js_text(row, key, text_str(t));
    text_free(t);
}

/* Of all races; NULL where they differ, as of suites that were put together. */
static const char *isa_of(const cJSON *suite)
{
    const cJSON *r;
    const char *all = "";
    cJSON_ArrayForEach(r, js_get(suite, "races"))
    {
        const char *own = js_get_text(r, "results/environment/isa");
        if (*all && *own && strcmp(all, own) != 0)
            return NULL;
        all = *own ? own : all;
    }
    return all;
}

static void fill_rows(cJSON *rows, const cJSON *suite)
{
    const bool several = !isa_of(suite);
    cJSON *peers = peers_make(suite);
    const cJSON *r, *p, *w;
    cJSON_ArrayForEach(r, js_get(suite, "races"))
    {
        text t = {0};
        cJSON *row = js_row(rows, "model:%s", js_get_text(r, "name"));
        text_add(&t, "%.0f", js_get_number(r, "threads", NAN)), take(row, "threads", &t);
        if (several)
            js_text(row, "isa", js_get_text(r, "results/environment/isa"));
        put_time(&t, r), take(row, "time", &t);
        cJSON_ArrayForEach(w, js_get(r, "ways"))
        {
            if (cJSON_IsString(w))
                text_add(&t, "%s%s", t.length ? ", " : "", w->valuestring);
        }
        text_add(&t, "%s", t.length ? "" : "–"), take(row, "alternatives", &t);
        cJSON_ArrayForEach(p, peers)
        {
            ENDED_BY(text_free) text head = {0};
            text_add(&head, "%s ÷ ours", p->string);
            put_ratio(&t, r, p->string), take(row, text_str(&head), &t);
        }
    }
    cJSON_Delete(peers);
}

/* "AMD EPYC, avx512, 2 cores · tessera 0.9 · onnxruntime 1.32" */
static void put_machine(text *t, const cJSON *suite)
{
    const cJSON *r, *e = NULL, *p;
    cJSON_ArrayForEach(r, js_get(suite, "races")) e = e ? e : js_get(r, "results/environment");
    const char *isa = isa_of(suite);
    text_add(t, "%s%s%s, %.0f cores · %s", js_get_text(e, "cpu"), isa ? ", " : "", isa ? isa : "",
             js_get_number(e, "cores", NAN), js_get_text(suite, "tool"));
    ENDED_BY(js_free) cJSON *peers = peers_make(suite);
    cJSON_ArrayForEach(p, peers) text_add(t, " · %s %s", p->string, p->valuestring);
}

cJSON *report_suite_view(const char *suite_json, ts_error *e)
{
    ENDED_BY(js_free) cJSON *suite = js_parse(suite_json, "the suite", e);
    cJSON *view = suite ? cJSON_CreateObject() : NULL, *heads = suite ? js_array(view, "heads") : NULL,
          *rows = suite ? js_array(view, "rows") : NULL;
    const cJSON *cell;
    text machine = {0};
    if (!suite)
        return NULL;
    fill_rows(rows, suite);
    put_machine(&machine, suite), take(view, "machine", &machine);
    cJSON_ArrayForEach(cell, rows->child) js_item(heads, cell->string);
    if (rows->child)
        return view;
    err_set(e, TS_BAD_INPUT, "the suite has no race yet"), err_hint(e, "give a file that tessera suite wrote with -o");
    cJSON_Delete(view);
    return NULL;
}

bool report_suite(const char *suite_json, char **html, ts_error *e)
{
    ENDED_BY(js_free) cJSON *view = report_suite_view(suite_json, e);
    text t = {0};
    if (!view)
        return false;
    page_open(&t, "Tessera suite", js_get_text(view, "machine"));
    page_put(&t, NULL, IN_HTML, &(form_place){view, NULL}, "suite.html");
    text_add(&t, "\n");
    *html = text_take(&t);
    return true;
}
