/* checkpoint.c - files are sealed with their sums and get their name by one rename; the oldest beyond --keep go
 * afterwards. */
#include "train/checkpoint.h"

#include "graph/base/base.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const sealed kept = {"checkpoint/1", "go on with the Tessera that wrote it",
                            "go on from an earlier checkpoint of the run"};
enum { LEAST = 2 }; /* that stay: where the newest is damaged there is one before it */

/* ---- writing ---- */
typedef struct listing {
    int64_t *step; /* ascending */
    int n;
} listing;

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void list_steps(const char *folder, listing *out)
{
    *out = (listing){0};
    DIR *d = opendir(folder);
    if (!d)
        return;
    for (const struct dirent *i; (i = readdir(d));) {
        char *end;
        if (strncmp(i->d_name, "step-", 5) != 0)
            continue;
        const long long v = strtoll(i->d_name + 5, &end, 10);
        int64_t *more = *end ? NULL : reallocarray(out->step, (size_t)out->n + 1, sizeof *more);
        if (more)
            out->step = more, out->step[out->n++] = v;
    }
    closedir(d);
    if (out->n)
        qsort(out->step, (size_t)out->n, sizeof *out->step, ascending);
}

static void name_of(char out[4096], const char *run, int64_t step)
{
    snprintf(out, 4096, "%s/checkpoints/step-%08lld", run, (long long)step);
}

static void rotate(const char *run, int64_t keep, int64_t best)
{
    char path[4096];
    listing all;
    snprintf(path, sizeof path, "%s/checkpoints", run);
    list_steps(path, &all);
    for (int i = 0; i < all.n - keep; i++) {
        if (all.step[i] == best)
            continue;
        name_of(path, run, all.step[i]);
        file_remove_tree(path);
    }
    free(all.step);
}

static bool write_files(const char *folder, int64_t step, const checkpoint_set *all, ts_error *e)
{
    char path[4200], weights[65], optimizer[65];
    snprintf(path, sizeof path, "%s/weights.safetensors", folder);
    if (!ts_tensors_write(path, all->n_weight, all->weight, weights, e))
        return false;
    snprintf(path, sizeof path, "%s/optimizer.safetensors", folder);
    if (!ts_tensors_write_parts(path, all->n_optimizer, all->optimizer, all->part, all->user, optimizer, e))
        return false;
    ENDED_BY(text_free) text t = {0};
    json_add(&t, "{format:%s,step:%lld,weights:%s,optimizer:%s}", kept.format, (long long)step, weights, optimizer);
    ENDED_BY(heap_free) char *state = files_seal_text(t.s);
    return files_write(folder, "state.json", state, strlen(state), e);
}

bool checkpoint_save(const char *run, int64_t step, const checkpoint_set *all, int64_t keep, int64_t best, ts_error *e)
{
    char building[4096], path[4096];
    keep = keep < LEAST ? LEAST : keep;
    snprintf(building, sizeof building, "%s/checkpoints/.building", run);
    name_of(path, run, step);
    file_remove_tree(building); /* what a killed process left; the lock says that nobody else is here */
    if (!file_make_folder(building, e) || !write_files(building, step, all, e)) {
        file_remove_tree(building);
        return false;
    }
    file_remove_tree(path); /* of a run that went back behind this step */
    if (!files_publish(building, path, e))
        return false;
    rotate(run, keep, best);
    return true;
}

bool checkpoint_fits(const char *run, int64_t size, int64_t saves, int64_t keep, ts_error *e)
{
    char folder[4096];
    struct statvfs disk;
    listing there;
    keep = keep < LEAST ? LEAST : keep;
    snprintf(folder, sizeof folder, "%s/checkpoints", run);
    list_steps(folder, &there);
    const int64_t room = there.n < keep ? keep - there.n : 0, more = saves <= room ? saves : room + 1;
    free(there.step);
    if (statvfs(run, &disk) != 0 || !disk.f_blocks ||
        (double)more * (double)size <= (double)disk.f_bavail * (double)disk.f_frsize)
        return true;
    text said[2] = {{0}};
    text_size(&said[0], (double)disk.f_bavail * (double)disk.f_frsize), text_size(&said[1], (double)size);
    err_set(e, TS_FILES, "'%s' is on a disk with room for %s; the run needs it for %lld checkpoints of %s", run,
            text_str(&said[0]), (long long)more, text_str(&said[1]));
    text_free(&said[0]), text_free(&said[1]);
    return err_hint(e, "make room there%s", keep > 2 ? ", or keep fewer (--keep)" : "");
}

/* ---- reading ---- */
static ts_tensors *open_checked(const char *folder, const char *name, const char *sum, ts_error *e)
{
    char path[4200], is[65];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!ts_file_hash(path, is, e))
        return NULL;
    if (strcmp(is, sum) != 0) {
        files_damaged(path, &kept, e);
        return NULL;
    }
    return ts_tensors_open(path, e);
}

static bool read_state(const char *folder, checkpoint *out, ts_error *e)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/state.json", folder);
    ENDED_BY(js_free) cJSON *o = files_sealed_read(path, &kept, e);
    out->step = o ? (int64_t)js_get_number(o, "step", -1) : -1;
    return o && (out->weights = open_checked(folder, "weights.safetensors", js_get_text(o, "weights"), e)) &&
           (out->optimizer = open_checked(folder, "optimizer.safetensors", js_get_text(o, "optimizer"), e));
}

void checkpoint_free(checkpoint *c)
{
    ts_tensors_free(c->weights), ts_tensors_free(c->optimizer);
    *c = (checkpoint){0};
}

bool checkpoint_at(const char *run, int64_t step, checkpoint *out, ts_error *e)
{
    *out = (checkpoint){0};
    name_of(out->path, run, step);
    return read_state(out->path, out, e);
}

bool checkpoint_load(const char *run, checkpoint *out, bool *found, ts_error *e)
{
    char folder[4096];
    listing all;
    ts_error first = {0};
    snprintf(folder, sizeof folder, "%s/checkpoints", run);
    list_steps(folder, &all);
    *found = false;
    const bool any = all.n > 0;
    while (all.n > 0 && !*found && first.code != TS_UNSUPPORTED) {
        ts_error here = {0};
        checkpoint c = {0};
        name_of(c.path, run, all.step[--all.n]);
        if (read_state(c.path, &c, &here)) {
            *found = true;
            *out = c;
            if (first.code)
                snprintf(out->note, sizeof out->note, "%.*s; going on from %.200s", (int)strcspn(first.text, "\n"),
                         first.text, c.path);
        } else {
            checkpoint_free(&c);
            first = first.code ? first : here;
        }
    }
    free(all.step);
    if (!any || *found)
        return true;
    *e = first;
    return false;
}
