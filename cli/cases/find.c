/* find.c - which cases there are. */
#include "cli/cases/cases.h"
#include "graph/base/base.h"
#include "cli/outfile.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INDEX_BYTES = 64 << 20 }; /* of an index file */

bool filter_lists(const char *list, const char *word, size_t length)
{
    while (*list) {
        const size_t n = strcspn(list, ",");
        if (n == length && memcmp(list, word, n) == 0)
            return true;
        list += n + (list[n] == ',');
    }
    return false;
}

static bool passes(const case_filter *f, const char *tier, const char *name, const char *op)
{
    return (!f->tiers || filter_lists(f->tiers, tier, strlen(tier))) && (!f->name || !fnmatch(f->name, name, 0)) &&
           (!f->op || filter_lists(f->op, op, strlen(op)) || filter_lists(f->op, op, strcspn(op, "-")));
}

static bool is_file(const char *folder, const char *name)
{
    char path[4096];
    const int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    return n > 0 && n < (int)sizeof path && file_exists(path) && !file_is_folder(path);
}

static bool add(cases *c, const char *folder, const char *tier, const char *name, const char *op, ts_error *e)
{
    c->all = heap_grown(c->all, c->n, &c->cap, sizeof *c->all);
    test_case *own = &c->all[c->n];
    *own = (test_case){strdup(folder), strdup(tier), strdup(name), strdup(op)};
    c->n++;
    return (own->folder && own->tier && own->name && own->op) ||
           err_memory(e, strlen(folder) + strlen(tier) + strlen(name) + strlen(op) + 4, "a case");
}

/* ---- with an index ---- */
static bool take_row(cases *c, const char *folder, char *row, const case_filter *f, ts_error *e)
{
    char *tier = strsep(&row, "\t"), *name = strsep(&row, "\t"), *op = strsep(&row, "\t");
    ENDED_BY(text_free) text path = {0};
    if (!tier || !name || !*tier || !*name)
        return true;
    if (!passes(f, tier, name, op ? op : ""))
        return c->skipped++, true;
    if (strstr(tier, "..") || strstr(name, "..") || strchr(tier, '/') || strchr(name, '/'))
        return err_set(e, TS_BAD_INPUT, "%s/index.tsv: \"%s/%s\" is no name of a case", folder, tier, name);
    text_add(&path, "%s/%s/%s", folder, tier, name);
    return add(c, path.s, tier, name, op ? op : "", e);
}

static bool read_index(cases *c, const char *folder, const case_filter *f, ts_error *e)
{
    ENDED_BY(text_free) text path = {0};
    text_add(&path, "%s/index.tsv", folder);
    char *all = outfile_text(path.s, INDEX_BYTES, e), *rest = all;
    if (!all)
        return false;
    bool ok = strsep(&rest, "\n") != NULL; /* the heading */
    for (char *row; ok && (row = strsep(&rest, "\n"));)
        ok = take_row(c, folder, row, f, e);
    free(all);
    return ok;
}

/* ---- without ---- */
static int shown(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static const char *last_part(const char *path)
{
    const char *s = strrchr(path, '/');
    return s ? s + 1 : path;
}

/* A case's tier is the name of the folder that it lies in. */
static bool walk(cases *c, const char *folder, const char *above, const case_filter *f, ts_error *e)
{
    struct dirent **entry = NULL;
    if (is_file(folder, "model.onnx")) {
        const char *name = last_part(folder);
        const bool in = passes(f, above, name, "");
        c->skipped += !in;
        return !in || add(c, folder, above, name, "", e);
    }
    const int n = scandir(folder, &entry, shown, alphasort);
    bool ok = n >= 0 || err_set(e, TS_FILES, "cannot read the folder %s", folder);
    for (int i = 0; i < n; i++) {
        char path[4096];
        const int length = snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
        if (ok && length < (int)sizeof path && file_is_folder(path))
            ok = walk(c, path, last_part(folder), f, e);
        free(entry[i]);
    }
    free(entry);
    return ok;
}

static bool in_folder(cases *c, const char *path, const case_filter *f, ts_error *e)
{
    ENDED_BY(heap_free) char *whole = realpath(path, NULL);
    if (!whole)
        return err_set(e, TS_FILES, "cannot read the folder %s", path);
    ENDED_BY(heap_free) char *above = strdup(whole);
    *strrchr(above, '/') = 0;
    return is_file(whole, "index.tsv") ? read_index(c, whole, f, e) : walk(c, whole, last_part(above), f, e);
}

static bool in_archive(cases *c, const char *path, const case_filter *f, ts_error *e)
{
    int janitor;
    char *folder = archive_folder_make(&janitor, e);
    if (!folder)
        return false;
    c->unpacked = reallocarray(c->unpacked, (size_t)c->n_unpacked + 1, sizeof *c->unpacked);
    c->janitor = reallocarray(c->janitor, (size_t)c->n_unpacked + 1, sizeof *c->janitor);
    if (!c->unpacked || !c->janitor)
        memory_failed(((size_t)c->n_unpacked + 1) * sizeof *c->unpacked, "the list of archives");
    c->unpacked[c->n_unpacked] = folder;
    c->janitor[c->n_unpacked++] = janitor;
    return archive_unpack(path, f->tiers, folder, e) && in_folder(c, folder, f, e);
}

bool cases_find(cases *c, const char *path, const case_filter *f, ts_error *e)
{
    struct stat st;
    const int before = c->n + c->skipped;
    if (stat(path, &st) != 0)
        return err_set(e, TS_FILES, "there is no file or folder \"%s\"", path);
    const bool ok = S_ISDIR(st.st_mode) ? in_folder(c, path, f, e) : in_archive(c, path, f, e);
    if (ok && c->n + c->skipped == before) {
        err_set(e, TS_BAD_INPUT, "%s holds no case", path);
        return err_hint(e, "a case is a folder with model.onnx and test_data_set_0");
    }
    return ok;
}

void cases_free(cases *c)
{
    for (int i = 0; i < c->n; i++) {
        free(c->all[i].folder), free(c->all[i].tier), free(c->all[i].name), free(c->all[i].op);
    }
    for (int i = 0; i < c->n_unpacked; i++) {
        close(c->janitor[i]);
        free(c->unpacked[i]);
    }
    free(c->all), free(c->unpacked), free(c->janitor);
    *c = (cases){0};
}
