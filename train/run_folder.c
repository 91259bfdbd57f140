/* run_folder.c - one process holds the lock; rows of metrics behind the step that is resumed are rolled back, so that
 * no step is told twice. */
#include "train/run_folder.h"

#include "train/files.h"
#include "graph/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char generator[] = "threefry2x32-20/2"; /* graph/base/random.h, step.c */
static const sealed kept = {
    "training/1", "use the Tessera that wrote it",
    "put back a copy; the checkpoints beside it are untouched, and train MODEL ... with the options of "
    "the run in another folder begins anew"};
static const char *const settings[] = {"run.json", "run.copy.json"}; /* the second is for when the first is damaged */
enum { N_SETTINGS = 2 };
enum { MOST_PATH = 4096, LOCK_TRIES = 20 }; /* bytes; tries until a lock counts as held by somebody */

static bool path_in(char out[MOST_PATH], const char *run, const char *name, ts_error *e)
{
    const int n = snprintf(out, MOST_PATH, "%s/%s", run, name);
    return (n > 0 && n < MOST_PATH) ||
           err_set(e, TS_FILES, "the path '%.80s...' has %d bytes, fewer than %d expected", run, n, MOST_PATH);
}

/* A process that was killed keeps its locks until the system has taken it down. */
static bool lock_soon(int fd)
{
    const struct timespec moment = {.tv_nsec = 50000000};
    for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
        if (i == LOCK_TRIES)
            return false;
        nanosleep(&moment, NULL);
    }
    return true;
}

bool run_is(const char *path)
{
    ts_error none = {0};
    char file[MOST_PATH];
    bool there = false;
    for (int i = 0; i < N_SETTINGS && !there; i++)
        there = path_in(file, path, settings[i], &none) && file_exists(file);
    return there;
}

bool run_is_new(const char *path, ts_error *e)
{
    if (!run_is(path))
        return true;
    err_set(e, TS_USAGE, "'%s' holds a run already", path);
    return err_hint(e, "tessera train --resume %s goes on with it; -o names another folder", path);
}

bool run_lock(run_folder *r, const char *path, bool fresh, ts_error *e)
{
    char file[MOST_PATH];
    *r = (run_folder){.path = path, .lock = -1, .metrics = -1};
    if (!file_make_folder(path, e) || !path_in(file, path, "lock", e))
        return false;
    r->lock = file_open(file, O_RDWR | O_CREAT | O_NOFOLLOW, 0666);
    if (r->lock < 0)
        return file_failed(e, "open", file, errno);
    if (!lock_soon(r->lock)) {
        err_set(e, TS_FILES, "another process trains in '%s' now", path);
        return err_hint(e, "wait until it ends, or train in another folder with -o");
    }
    return !fresh || run_is_new(path, e);
}

void run_close(run_folder *r)
{
    if (!r->path) /* never locked */
        return;
    if (r->metrics >= 0)
        close(r->metrics);
    if (r->lock >= 0)
        close(r->lock);
    r->metrics = r->lock = -1;
}

bool run_write(const run_folder *r, const train_options *w, const run_facts *f, ts_error *e)
{
    char path[MOST_PATH];
    ENDED_BY(js_free) cJSON *o = cJSON_CreateObject();
    js_text(o, "format", kept.format);
    cJSON_AddItemToObject(o, "config", option_json(w));
    js_put(o, "model:%s,data:%s,order:%s,numbers:%s,tokens:%s,target:%s,isa:%s,random:%s", f->model, f->data, f->order,
           f->numbers, f->tokens, f->target, f->isa, generator);
    js_put(o, "classes:%g,steps:%g,epoch_steps:%g,total_steps:%g,warmup:%g", (double)f->classes, (double)f->steps,
           (double)f->batch_steps, (double)f->total_steps, (double)f->warmup);
    ENDED_BY(heap_free) char *plain = js_to_text(o, true);
    ENDED_BY(heap_free) char *s = files_seal_text(plain);
    bool ok = true;
    for (int i = 0; ok && i < N_SETTINGS; i++)
        ok = path_in(path, r->path, settings[i], e) && ts_file_write(path, s, strlen(s), e);
    return ok;
}

static void take_text(char *out, size_t size, const cJSON *o, const char *key)
{
    snprintf(out, size, "%s", js_get_text(o, key));
}

static void take_facts(run_facts *f, const cJSON *o)
{
    take_text(f->model, sizeof f->model, o, "model"), take_text(f->data, sizeof f->data, o, "data");
    take_text(f->order, sizeof f->order, o, "order"), take_text(f->numbers, sizeof f->numbers, o, "numbers");
    take_text(f->tokens, sizeof f->tokens, o, "tokens");
    take_text(f->target, sizeof f->target, o, "target"), take_text(f->isa, sizeof f->isa, o, "isa");
    f->redrawn = strcmp(js_get_text(o, "random"), generator) != 0;
    f->classes = (int64_t)js_get_number(o, "classes", 0), f->steps = (int64_t)js_get_number(o, "steps", 0);
    f->batch_steps = (int64_t)js_get_number(o, "epoch_steps", 0);
    f->total_steps = (int64_t)js_get_number(o, "total_steps", 0);
    f->warmup = (int64_t)js_get_number(o, "warmup", 0);
}

bool run_read(const char *run, train_options *w, run_facts *f, bool *found, char note[RUN_NOTE], ts_error *e)
{
    char path[MOST_PATH];
    ts_error first = {0};
    cJSON *o = NULL;
    *found = false, *note = 0;
    for (int i = 0; i < N_SETTINGS && !o; i++) {
        ts_error why = {0};
        if (!path_in(path, run, settings[i], e))
            return false;
        if (file_exists(path) && !(o = files_sealed_read(path, &kept, &why)) && !first.code)
            first = why;
        if (o && i > 0)
            snprintf(note, RUN_NOTE, "'%.150s/%s' is %s; its copy '%s' is used", run, settings[0],
                     first.code ? "damaged" : "gone", settings[i]);
        if (first.code == TS_UNSUPPORTED)
            break;
    }
    if (!o && first.code)
        *e = first;
    if (!o)
        return !e->code;
    const bool ok = option_read(w, cJSON_GetObjectItemCaseSensitive(o, "config"), path, e);
    if (ok)
        *found = true, take_facts(f, o);
    cJSON_Delete(o);
    return ok;
}

/* ---- metrics ---- */
/* Whether the line is a row of an update before `step`. */
static bool row_stays(const char *line, size_t n, int64_t step, int64_t *damaged)
{
    ENDED_BY(js_free) cJSON *row = cJSON_ParseWithLength(line, n);
    const double at = js_get_number(row, "step", -1);
    *damaged += at < 0;
    return at >= 0 && at < (double)step;
}

/* Puts the lines that stay first and the others, from the result on, behind them; gone is room for all. A last line
 * without an end is torn. */
static size_t part_rows(bytes *b, char *gone, int64_t step, int64_t *damaged)
{
    size_t stay = 0, n_gone = 0;
    for (size_t i = 0; i < b->n;) {
        const char *line = b->at + i, *end = memchr(line, '\n', b->n - i);
        const size_t n = end ? (size_t)(end - line) + 1 : b->n - i;
        if (end && row_stays(line, n, step, damaged)) {
            memmove(b->at + stay, line, n);
            stay += n;
        } else {
            memcpy(gone + n_gone, line, n);
            n_gone += n;
        }
        i += n;
    }
    memcpy(b->at + stay, gone, n_gone);
    return stay;
}

static bool append(int fd, const char *s, size_t n)
{
    while (n > 0) {
        const ssize_t done = write(fd, s, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        s += done, n -= (size_t)done;
    }
    return true;
}

static bool roll_back(const char *run, const char *path, int64_t step, int64_t *damaged, ts_error *e)
{
    char aside[MOST_PATH];
    ENDED_BY(bytes_free) bytes b = {0};
    if (!file_exists(path))
        return true;
    if (!path_in(aside, run, "metrics.rolled-back.jsonl", e) || !bytes_read(path, &b, e))
        return false;
    ENDED_BY(heap_free) char *gone = malloc(b.n + 1);
    const size_t stay = gone ? part_rows(&b, gone, step, damaged) : b.n;
    bool ok = gone || err_memory(e, b.n + 1, "the rows of '%s'", path);
    if (stay < b.n) {
        const int fd = file_open(aside, O_WRONLY | O_CREAT | O_APPEND, 0666);
        ok = fd >= 0 && append(fd, b.at + stay, b.n - stay);
        if (fd >= 0)
            close(fd);
        ok = ok ? ts_file_write(path, b.at, stay, e) : file_failed(e, "write", aside, errno);
    }
    return ok;
}

bool run_metrics(run_folder *r, int64_t step, int64_t *damaged, ts_error *e)
{
    char path[MOST_PATH];
    *damaged = 0;
    if (!path_in(path, r->path, "metrics.jsonl", e) || !roll_back(r->path, path, step, damaged, e))
        return false;
    r->metrics = file_open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    return r->metrics >= 0 || file_failed(e, "write", path, errno);
}

bool run_row(run_folder *r, cJSON *row, ts_error *e)
{
    ENDED_BY(text_free) text line = {0};
    ENDED_BY(heap_free) char *s = js_to_text(row, false);
    cJSON_Delete(row);
    text_add(&line, "%s\n", s);
    return append(r->metrics, line.s, line.length) || file_failed(e, "write to the metrics of", r->path, errno);
}
