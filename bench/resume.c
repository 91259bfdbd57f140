/* resume.c - the old results have to be of the same options, model and contestants; whole launches are taken over. */
#include "bench/resume.h"
#include "graph/base/err.h"
#include "graph/base/formats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- whether it is the same race ---- */

static bool differs(const char *what, const cJSON *was, const cJSON *is, ts_error *e)
{
    ENDED_BY(heap_free) char *x = was ? js_to_text(was, false) : NULL, *y = is ? js_to_text(is, false) : NULL;
    err_set(e, TS_USAGE, "--resume: %s was %.200s and is %.200s", what, x ? x : "not stated", y ? y : "not stated");
    return err_hint(e, "a race goes on with the options, on the machine and with the model that it began with");
}

static bool same_config(const cJSON *old, const cJSON *asked, ts_error *e)
{
    const cJSON *is, *was;
    cJSON_ArrayForEach(is, asked)
    {
        was = js_get(old, is->string);
        if (strcmp(is->string, "rounds") != 0 && !cJSON_Compare(was, is, true))
            return differs(is->string, was, is, e);
    }
    return true;
}

static const cJSON *row_of(const race *r, const cJSON *old, int i)
{
    return i < r->n_candidates ? cJSON_GetArrayItem(js_get(old, "candidates"), i)
                               : cJSON_GetArrayItem(js_get(old, "peers"), i - r->n_candidates);
}

static bool same_contestants(const race *r, const cJSON *old, ts_error *e)
{
    const int n = cJSON_GetArraySize(js_get(old, "candidates")) + cJSON_GetArraySize(js_get(old, "peers"));
    if (n != r->n)
        return err_set(e, TS_USAGE, "--resume: there were %d contestants, and are %d", n, r->n);
    for (int i = 0; i < r->n; i++) {
        const char *was = js_get_text(row_of(r, old, i), "name");
        if (strcmp(was, r->of[i].name) != 0)
            return err_set(e, TS_USAGE, "--resume: contestant %d was %.200s, and is %.200s", i + 1, was, r->of[i].name);
    }
    return true;
}

static bool same_race(const race *r, const cJSON *old, const cJSON *asked, ts_error *e)
{
    if (strcmp(js_get_text(old, "format"), FORMAT_RESULTS) != 0)
        return err_set(e, TS_BAD_INPUT, "--resume: \"format\" is \"%.40s\", expected " FORMAT_RESULTS,
                       js_get_text(old, "format"));
    if (!js_get(old, "partial"))
        return err_set(e, TS_USAGE, "--resume: these results are whole, there is nothing to go on with");
    return same_config(js_get(old, "config"), asked, e) && same_contestants(r, old, e);
}

/* ---- what it had ---- */

static sample sample_of(const cJSON *v)
{
    return (sample){.ns = js_get_number(v, "ns", NAN),
                    .canary = js_get_number(v, "canary_ns", NAN),
                    .taken = (int)js_get_number(v, "taken", js_find(js_get(v, "flags"), NULL, "disturbed") != NULL),
                    .lost = js_get_number(v, "lost_share", NAN),
                    .retaken = (int)js_get_number(v, "retaken", 0),
                    .retaken_lost = js_get_number(v, "retaken_lost", 0)};
}

static void take_kernels(contestant *c, const cJSON *row, int launches)
{
    const cJSON *list = js_get(row, "kernels"), *k;
    const int n = cJSON_GetArraySize(list);
    int at = 0;
    c->kernel_ns = calloc((size_t)launches * (size_t)n + 1, sizeof *c->kernel_ns);
    c->n_kernels = c->kernel_ns ? n : 0;
    c->profiles = c->kernel_ns && n > 0 ? launches : 0;
    cJSON_ArrayForEach(k, list)
    {
        for (int l = 0; l < c->profiles; l++) {
            const cJSON *ns = cJSON_GetArrayItem(js_get(k, "launch_ns"), l);
            c->kernel_ns[l * n + at] = cJSON_IsNumber(ns) ? ns->valuedouble : js_get_number(k, "median_ns", NAN);
        }
        at++;
    }
}

static bool take_contestant(race *r, contestant *c, const cJSON *row)
{
    const int n = r->start[r->launches];
    const cJSON *launches = js_get(row, "samples");
    c->pass_ns = js_get_number(row, "stats/median_ns", 1);
    c->passes = (int)js_get_number(row, "passes_per_sample", 1);
    c->warm = (int)js_get_number(row, "warm_passes", 0);
    c->peak_bytes = js_get_number(row, "memory/peak_bytes", 0);
    c->numerics.max_abs = js_get_number(row, "numerics/max_abs", 0);
    c->numerics.max_rel = js_get_number(row, "numerics/max_rel", 0);
    if (cJSON_GetArraySize(launches) == 0) { /* out of the race, and stays so */
        c->standing = strcmp(js_get_text(row, "status"), "ABSENT") == 0 ? ABSENT : INVALID;
        snprintf(c->reason, sizeof c->reason, "%s", js_get_text(row, "reason"));
        return true;
    }
    c->samples = calloc((size_t)n + 1, sizeof *c->samples);
    for (int l = 0; c->samples && l < r->launches; l++)
        for (int i = 0; i < r->rounds; i++)
            c->samples[r->start[l] + i] = sample_of(cJSON_GetArrayItem(cJSON_GetArrayItem(launches, l), i));
    take_kernels(c, row, r->launches);
    return c->samples != NULL;
}

/* Launches that were measured whole: in the one that was cut the addresses were others, and it is too short to tell. */
static int whole_launches(const race *r, const cJSON *old)
{
    int whole = (int)js_get_number(old, "partial/launches", 0);
    whole = whole < BENCH_MOST_LAUNCHES ? whole : BENCH_MOST_LAUNCHES;
    for (int i = 0; i < r->n; i++) {
        const cJSON *launches = js_get(row_of(r, old, i), "samples");
        int n = 0;
        while (n < cJSON_GetArraySize(launches) && cJSON_GetArraySize(cJSON_GetArrayItem(launches, n)) == r->rounds)
            n++;
        if (cJSON_GetArraySize(launches) > 0 && n < whole)
            whole = n;
    }
    return whole;
}

static bool take_over(race *r, const cJSON *old, ts_error *e)
{
    r->rounds = (int)js_get_number(old, "config/rounds", 0);
    if (r->rounds < 1 || r->rounds > 100)
        return err_set(e, TS_BAD_INPUT, "--resume: %d rounds a launch, expected 1 to 100", r->rounds);
    r->launches = whole_launches(r, old);
    r->load_before = js_get_number(old, "machine_state/load_before", r->load_before);
    for (int l = 0; l < r->launches; l++)
        r->start[l + 1] = r->start[l] + r->rounds;
    for (int i = 0; i < r->n && r->launches > 0; i++)
        if (!take_contestant(r, &r->of[i], row_of(r, old, i)))
            return err_memory(e, 0, "the samples of %s", r->of[i].name);
    return true;
}

bool resume_race(race *r, const cJSON *asked, ts_error *e)
{
    ENDED_BY(js_free) cJSON *old = js_parse(r->o.resume, "--resume", e);
    if (!old)
        return err_hint(e, "give the file that an interrupted bench wrote with -o");
    return same_race(r, old, asked, e) && take_over(r, old, e);
}
