/* report.c - what was asked, how it went and what went wrong, each section from one of the files that the run left. */
#include "train/report.h"

#include "graph/base/err.h"
#include "bench/report/parts.h"
#include "train/files.h"
#include "train/report_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- how it went ---- */
static void one_figure(text *t, const char *what, const char *value, const char *more)
{
    html_add(t, "<div><dt>%s</dt><dd>%s</dd><dd.soft>%s</dd></div>\n", what, value, more);
}

static double mean_loss(const metrics *m, int from, int to)
{
    double sum = 0;
    int n = 0;
    for (int i = from < 0 ? 0 : from; i < to && i < m->n; i++)
        if (isfinite(m->of[i].loss))
            sum += m->of[i].loss, n++;
    return n ? sum / n : (double)NAN;
}

static void headline(text *t, const story *s)
{
    const metrics *m = &s->metrics;
    const course judged = metrics_course(m);
    const trial *last = m->n_trial ? &judged.last : NULL;
    const double steps = m->of[m->n - 1].step;
    html_add(t, "<p.verdict>");
    if (last && isfinite(last->accuracy))
        text_add(t, "Accuracy after %s steps: %s of %s held-out examples.", word_count(steps).s,
                 word_percent(last->accuracy).s, word_count(last->n).s);
    else if (last)
        text_add(t, "Loss after %s steps: %s on %s held-out examples.", word_count(steps).s, word_real(last->loss).s,
                 word_count(last->n).s);
    else
        text_add(t, "Training loss after %s steps: %s.", word_count(steps).s, word_real(m->of[m->n - 1].loss).s);
    html_add(t, "</p>\n");
    const int ends = m->n / 10 < 1 ? 1 : m->n / 10 > 100 ? 100 : m->n / 10;
    html_add(t, "<p.sure>The training loss went from %s to %s", word_real(mean_loss(m, 0, ends)).s,
             word_real(mean_loss(m, m->n - ends, m->n)).s);
    if (ends > 1)
        text_add(t, " (means of the first and last %d steps)", ends);
    if (judged.since)
        text_add(t, "; the best evaluation was the one after step %s", word_count(judged.best.step).s);
    if (m->n_skipped)
        html_add(t, "; <b>%d steps were skipped</b> because their loss or gradients were not finite", m->n_skipped);
    html_add(t, ".</p>\n");
}

static void figures(text *t, const story *s)
{
    const metrics *m = &s->metrics;
    const metric *last = &m->of[m->n - 1];
    const trial best = metrics_course(m).best;
    double ms = 0, most = 0;
    char more[160];
    for (int i = 0; i < m->n; i++)
        ms += isfinite(m->of[i].ms) ? m->of[i].ms : 0, most = fmax(most, m->of[i].memory);
    html_add(t, "<dl.tiles>\n");
    snprintf(more, sizeof more, "of %s; %.2f epochs", word_count((double)s->facts->steps).s,
             last->step / fmax(1, (double)s->facts->batch_steps));
    one_figure(t, "Steps", word_count(last->step).s, more);
    if (best.step > 0 && isfinite(best.accuracy)) {
        snprintf(more, sizeof more, "after step %s, loss %s", word_count(best.step).s, word_real(best.loss).s);
        one_figure(t, "Best accuracy", word_percent(best.accuracy).s, more);
    } else if (best.step > 0) {
        snprintf(more, sizeof more, "after step %s", word_count(best.step).s);
        one_figure(t, "Best held-out loss", word_real(best.loss).s, more);
    }
    snprintf(more, sizeof more, "%s a step", word_time(1e6 * ms / m->n).s);
    one_figure(t, "Time in steps", word_time(1e6 * ms).s, more);
    if (s->step && s->step->n && isfinite(s->step->of[0].arena_bytes))
        snprintf(more, sizeof more, "%s for values within a step", word_bytes(s->step->of[0].arena_bytes).s);
    else
        snprintf(more, sizeof more, "of the process");
    one_figure(t, "Most memory", word_bytes(most).s, more);
    html_add(t, "</dl>\n");
}

const char *story_outcome(text *t, const story *s)
{
    if (!s->metrics.n)
        return "no step was made";
    headline(t, s);
    figures(t, s);
    return NULL;
}

/* What was not asked for, or does not count in this run. */
static bool left_out(const story *s, const cJSON *i)
{
    static const char *const of_mixed[] = {"loss-scale", "growth-interval"};
    if (cJSON_IsNull(i) || (cJSON_IsArray(i) && !i->child) || (cJSON_IsNumber(i) && i->valuedouble < 0))
        return true;
    if (cJSON_IsNumber(i) && i->valuedouble == 0 && strcmp(i->string, "seed") != 0)
        return true;
    for (int k = 0; k < 2; k++)
        if (!strcmp(i->string, of_mixed[k]) && s->asked->precision && !strcmp(s->asked->precision, "f32"))
            return true;
    return !strcmp(i->string, "epochs") && s->asked->steps > 0;
}

static void set_number(cJSON *o, const char *key, double v)
{
    cJSON_DeleteItemFromObjectCaseSensitive(o, key);
    if (v > 0)
        js_number(o, key, v);
}

static const char *story_options(text *t, const story *s)
{
    ENDED_BY(js_free) cJSON *o = option_json(s->asked);
    for (cJSON *i = o->child, *next; i; i = next) {
        next = i->next;
        if (left_out(s, i))
            cJSON_Delete(cJSON_DetachItemViaPointer(o, i));
    }
    set_number(o, "steps", (double)s->facts->steps); /* as it came to be */
    set_number(o, "warmup", (double)s->facts->warmup);
    if (*s->facts->target)
        js_text(o, "target", s->facts->target);
    if (*s->facts->isa)
        js_text(o, "isa", s->facts->isa);
    facts_list(t, o);
    return NULL;
}

/* ---- the page ---- */
static const struct {
    part_words words;
    story_writer *write;
} sections[] = {
    {{"outcome", "Outcome", "How did it go?"}, story_outcome},
    {{"learning", "Learning", "Does it learn?"}, story_learning},
    {{"misjudged", "Misjudged", "What does it get wrong?"}, story_misjudged},
    {{"steps", "Steps", "Were the steps healthy?"}, story_steps},
    {{"kernels", "Time", "Where does the time of a step go?"}, story_kernels},
    {{"plan", "Memory", "Where does the memory go, and how are the loops?"}, story_plan},
    {{"asked", "Settings", "What was asked for?"}, story_options},
};

static const char style[] =
    ".two{display:grid;grid-template-columns:repeat(auto-fit,minmax(400px,1fr));gap:10px 32px}\n.two h3{margin-top:8px}"
    "\n.two figure{overflow:visible}.two figure>svg{min-width:0}"
    "\n.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:12px 24px;margin:18px 0 0}\n"
    ".tiles div{border-top:3px solid var(--line);padding-top:8px}.tiles dt{color:var(--soft);font-size:.85rem}\n"
    ".tiles dd{margin:0;font-size:1.4rem;font-weight:650}.tiles dd.soft{font-size:.85rem;font-weight:400}\n"
    ".confusion{width:auto}.confusion td,.confusion th{padding:6px 12px;border-bottom:0;vertical-align:middle}\n"
    ".picture{width:48px;height:48px;border:1px solid var(--line);border-radius:4px;fill:var(--ink)}\n";

static void head(text *t, const story *s)
{
    page_open(t, "Training run", path_name(s->run));
    text_bytes(t, style, sizeof style - 1);
    html_add(t,
             "</style></head>\n<body><header>\n<p.brand>TESSERA TRAINING RUN</p>\n<h1>%s</h1><p.soft>%s · --task %s · "
             "batch %s · %s · learning rate %s</p>\n",
             path_name(s->run), path_name(s->asked->model), s->asked->task, word_count((double)s->asked->batch).s,
             s->asked->optimizer, word_number(s->asked->lr).s);
}

static void body(text *t, const story *s)
{
    ENDED_BY(text_free) text parts = {0};
    html_add(t, "<nav>");
    for (int i = 0; i < COUNT(sections); i++) {
        text one = {0};
        const char *lacking = sections[i].write(&one, s);
        page_part(t, &parts, i, &sections[i].words, lacking, &one);
    }
    html_add(t, "</nav></header><main>\n");
    text_bytes(t, text_str(&parts), parts.length);
    html_add(t,
             "</main><footer><p>Made by tessera %s from metrics.jsonl, misjudged.json and step.json of the "
             "run.</p></footer></body></html>\n",
             TS_VERSION);
}

/* ---- what it is made of ---- */
static char *text_of(const char *run, const char *name)
{
    char path[4200];
    bytes b;
    ts_error none = {0};
    snprintf(path, sizeof path, "%s/%s", run, name);
    return access(path, R_OK) == 0 && bytes_read(path, &b, &none) ? b.at : NULL;
}

static void story_read(story *s)
{
    ts_error none = {0};
    char *json = text_of(s->run, "misjudged.json");
    s->misjudged = json ? cJSON_Parse(json) : NULL;
    free(json);
    json = text_of(s->run, "step.json");
    s->step = json ? calloc(1, sizeof *s->step) : NULL;
    if (s->step && !report_read(s->step, json, &none)) {
        free(s->step);
        s->step = NULL;
    }
    free(json);
}

static bool page_of(story *s, char **html, ts_error *e)
{
    text t = {0};
    if (!metrics_read(&s->metrics, s->run, e))
        return false;
    story_read(s);
    head(&t, s);
    body(&t, s);
    metrics_free(&s->metrics);
    cJSON_Delete(s->misjudged);
    if (s->step)
        report_free(s->step);
    free(s->step);
    *html = text_take(&t);
    return true;
}

bool run_report(const char *run, const train_options *w, const run_facts *f, ts_error *e)
{
    story s = {.run = run, .asked = w, .facts = f};
    ENDED_BY(heap_free) char *html = NULL;
    return page_of(&s, &html, e) && files_write(run, "report.html", html, strlen(html), e);
}

bool run_page(const char *run, char **html, ts_error *e)
{
    train_options w;
    run_facts f = {.classes = 0};
    bool found;
    char note[RUN_NOTE];
    option_make(&w);
    story s = {.run = run, .asked = &w, .facts = &f};
    bool ok = run_read(run, &w, &f, &found, note, e);
    ok = ok && (found || err_set(e, TS_FILES, "'%s' holds no run: there is no run.json", run)) && page_of(&s, html, e);
    option_free(&w);
    return ok;
}
