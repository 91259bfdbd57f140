/* log.c - the log of a search: a first line that says what was searched, then a line for each attempt. The lines of a
 * trial are written at once; a last line without an end is what a killed process left, and is cut off. */
#include "bench/tune/parts.h"
#include "graph/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* What times are about: others say nothing of these kernels here. */
static char *head(const tuner *t)
{
    text s = {0};
    json_add(&s, "{format:'tune-log/2',target:%s,isa:%s,threads:%d,machine:%s,schema:%s}",
             js_get_text(t->json, "target"), js_get_text(t->json, "isa"), (int)js_get_number(t->json, "threads", 0),
             js_get_text(t->json, "machine"), t->o->schema);
    text_add(&s, "\n");
    return text_take(&s);
}

static bool write_all(const tuner *t, const char *s, size_t n, ts_error *e)
{
    return file_write(t->fd, s, n) || err_set(e, TS_FILES, "%s: cannot write: %s", t->o->log, strerror(errno));
}

/* Whole lines of it; *whole: bytes of these. What does not begin as a log, or has a line that is no attempt, is
 * somebody else's file, in which nothing is cut off. remedy: what to do about that */
static bool take(tuner *t, const char *s, size_t *whole, const char *remedy, ts_error *e)
{
    ENDED_BY(heap_free) char *own = head(t);
    const bool torn = strlen(s) < strlen(own) && strncmp(s, own, strlen(s)) == 0; /* its first line has no end */
    bool ok = torn || strncmp(s, own, strlen(own)) == 0;
    if (!ok) {
        err_set(e, TS_BAD_INPUT,
                "%s: not the log of a search with this target, machine and schema; it begins \"%.80s\"", t->o->log, s);
        err_hint(e, "%s", remedy);
    }
    const char *at = ok && !torn ? s + strlen(own) : s;
    for (const char *end; ok && (end = strchr(at, '\n')); at = end + 1) {
        text line = {0};
        text_bytes(&line, at, (size_t)(end - at));
        cJSON *one = js_parse(text_str(&line), t->o->log, e);
        text_free(&line);
        if (one && !(*js_get_text(one, "kernel") && js_get(one, "change") && *js_get_text(one, "status")))
            err_set(e, TS_BAD_INPUT, "%s: a line without kernel, change and status: it is no log of tune", t->o->log);
        ok = !e->code;
        if (ok)
            cJSON_AddItemToArray(t->log, one);
        else
            cJSON_Delete(one);
    }
    *whole = (size_t)(at - s);
    return ok;
}

bool log_read(tuner *t, ts_error *e)
{
    ENDED_BY(text_free) text s = {0};
    size_t whole;
    t->fd = -1, t->log = cJSON_CreateArray();
    return file_read(t->o->log, LOG_MOST, &s, e) &&
           take(t, text_str(&s), &whole, "give the --target, --isa, --threads and --machine of the search", e);
}

bool log_open(tuner *t, ts_error *e)
{
    ENDED_BY(text_free) text s = {0};
    size_t whole = 0;
    t->fd = -1, t->log = cJSON_CreateArray();
    if (!t->o->log)
        return true;
    bool ok = access(t->o->log, F_OK) != 0 || file_read(t->o->log, LOG_MOST, &s, e);
    if (ok && s.length)
        ok = take(t, text_str(&s), &whole, "name another file with --log, or delete it", e);
    if (ok && (t->fd = open(t->o->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) < 0)
        ok = err_set(e, TS_FILES, "%s: %s", t->o->log, strerror(errno));
    if (ok && whole < s.length && ftruncate(t->fd, (off_t)whole))
        ok = err_set(e, TS_FILES, "%s: cannot cut off its last line: %s", t->o->log, strerror(errno));
    if (ok && !whole) {
        ENDED_BY(heap_free) char *own = head(t);
        ok = write_all(t, own, strlen(own), e);
    }
    return ok;
}

bool log_add(tuner *t, int n, const attempt *of, ts_error *e)
{
    ENDED_BY(text_free) text s = {0};
    for (int i = 0; i < n; i++) {
        const attempt *a = &of[i];
        cJSON *one = js_put(cJSON_CreateObject(), "kernel:%s", a->of->key);
        cJSON_AddItemToObject(one, "change", cJSON_Duplicate(a->change, true));
        js_put(one, "status:%s,predicted_ns:%g,base_ns:%g,time_ns:%g", a->status, a->predicted * 1e9, a->base * 1e9,
               a->time * 1e9);
        if (*a->why)
            js_text(one, "why", a->why);
        ENDED_BY(heap_free) char *line = js_to_text(one, false);
        text_add(&s, "%s\n", line);
        cJSON_AddItemToArray(t->log, one);
    }
    return t->fd < 0 || write_all(t, text_str(&s), s.length, e);
}

const cJSON *log_find(const tuner *t, const char *kernel, const cJSON *change)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, t->log) if (!strcmp(js_get_text(one, "kernel"), kernel) &&
                                        cJSON_Compare(js_get(one, "change"), change, true)) return one;
    return NULL;
}

double log_ratio(const cJSON *one)
{
    const double base = js_get_number(one, "base_ns", 0);
    return base > 0 && !strcmp(js_get_text(one, "status"), "correct") ? js_get_number(one, "time_ns", 0) / base
                                                                      : INFINITY;
}

double log_saved(const cJSON *one)
{
    const double ratio = log_ratio(one);
    return isinf(ratio) ? 0 : (1 - ratio) * js_get_number(one, "base_ns", 0) * 1e-9;
}

/* By their shares; where no base was timed, by their times */
static bool is_quicker(const cJSON *a, const cJSON *b)
{
    const double x = log_ratio(a), y = log_ratio(b);
    return x < y || (x == y && js_get_number(a, "time_ns", 0) < js_get_number(b, "time_ns", 0));
}

const cJSON *log_best(const tuner *t, const char *kernel, int *tried, int *right)
{
    const cJSON *one, *best = NULL;
    *tried = *right = 0;
    cJSON_ArrayForEach(one, t->log)
    {
        if (strcmp(js_get_text(one, "kernel"), kernel) != 0)
            continue;
        const bool ok = !strcmp(js_get_text(one, "status"), "correct");
        *tried += 1, *right += ok;
        best = ok && (!best || is_quicker(one, best)) ? one : best;
    }
    return best;
}
