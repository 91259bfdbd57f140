/* notes.c - each note once, from what plans say, from the state of the machine, and from what was compared. */
#include "bench/notes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void note(cJSON *list, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(cJSON *list, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    js_item(list, text);
}

static void note_once(cJSON *list, const char *line)
{
    if (!js_find(list, NULL, line))
        js_item(list, line);
}

/* What a person should know before the verdict: rules that decide nothing, a cache that cannot be written. */
static void note_plan(cJSON *list, const cJSON *plan)
{
    char line[512];
    const cJSON *n;
    cJSON_ArrayForEach(n, js_get(plan, "notes")) note_once(list, n->valuestring);
    if (js_get_number(plan, "launches", INFINITY) < cJSON_GetArraySize(js_get(plan, "kernels")))
        note_once(list, "Some kernels are launched together: the time of each is its share of the launch's, by the "
                        "bytes that it moves.");
    for (const char *at = js_get_text(plan, "build/notes"); *at != 0; at += strcspn(at, "\n"), at += *at == '\n') {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        note_once(list, line);
    }
}

/* What is not in the line on the machine. */
static void note_state(cJSON *list, const measured *m)
{
    const conditions *s = &m->seen;
    const int aside = s->rounds - s->counted;
    if (aside > 0)
        note(list, "%d of %d rounds do not count: other programs took processor time from one of their samples", aside,
             s->rounds);
    if (s->flagged > 0)
        note(list, "the canary was slow beside %.0f %% of the samples: more than 0.5 %% above its median. They count",
             ceil(100 * s->flagged));
}

static void note_amount(cJSON *list, const measured *m)
{
    const race *r = m->r;
    if (m->seen.rounds > 0 && m->seen.rounds < BENCH_SAMPLES)
        note(list, "%d samples each: too few to decide small differences; %d are wanted (--min-time)", m->seen.rounds,
             BENCH_SAMPLES);
    if (m->seen.rounds > 0 && r->launches < 3)
        note(list,
             "%d launch%s: how much launches differ is not known, so intervals are too narrow; %d are wanted "
             "(--launches)",
             r->launches, r->launches == 1 ? "" : "es", bench_usual.launches);
}

void notes_add(cJSON *out, const measured *m)
{
    const race *r = m->r;
    cJSON *list = js_array(out, "notes");
    if (r->signal != 0)
        note(list, "stopped after %d of %d launches, the last of them maybe not whole; --resume goes on from there",
             r->launches, r->o.launches);
    note_state(list, m);
    note_amount(list, m);
    if (r->o.judge)
        note(list, "results are held against target %.40s, which rounds as the model does, and not against f64",
             r->o.judge);
    for (const contestant *c = r->of; c < r->of + r->n; c++)
        if (c->standing == IN_RACE && *c->unverified != 0)
            note(list, "%.60s is timed, its outputs are not compared: %s", c->name, c->unverified);
        else if (c->standing == IN_RACE && c->numerics.max_rel > FEW_BITS && r->o.tolerance == 0)
            note(list, "%.60s is off by %.0f %% of the largest value: the model rounds to few bits again and again",
                 c->name, 100 * c->numerics.max_rel);
    for (int i = 0; i < r->n_candidates; i++)
        note_plan(list, js_get(r->of[i].facts, "plan"));
    if (strcmp(js_get_text(out, "environment/tool/build"), "release") != 0)
        note(list, "this is a %s build: its times mean little", js_get_text(out, "environment/tool/build"));
}
