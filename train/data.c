/* data.c - a file is told by its ending, and its examples are tokens in one array with where each begins. */
#include "train/data_parts.h"

#include "graph/base/base.h"
#include "graph/base/err.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool path_ends(const char *path, const char *ending)
{
    const size_t n = strlen(path), k = strlen(ending);
    return n >= k && strcmp(path + n - k, ending) == 0;
}

size_t data_mark(const bytes *file)
{
    return file->n >= 3 && memcmp(file->at, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

void data_free(data *d)
{
    free(d->text.id), free(d->text.at), free(d->second.id), free(d->second.at);
    free(d->label), free(d->names), free(d->line), free(d->text_at), free(d->text_n), free(d->file.at);
    for (int i = 0; i < d->n_array; i++) {
        free(d->name[i]);
        ts_array_free(&d->array[i]);
    }
    *d = (data){0};
}

const ts_array *data_array(const data *d, const char *name)
{
    for (int i = 0; i < d->n_array; i++)
        if (strcmp(d->name[i], name) == 0)
            return &d->array[i];
    return NULL;
}

/* Tokens of one text as an example has them: cut to `length`, the tokenizer's last token kept. For ts_free. */
static int64_t *encode(const data_want *want, const char *s, size_t n, int64_t *count, bool *cut)
{
    int64_t *id = ts_tokenizer_encode(want->tokenizer, s, n, true, count);
    *cut = *count > want->length;
    if (*cut) { /* what ends a text, as [SEP], stays at its end */
        int64_t bare, *plain = ts_tokenizer_encode(want->tokenizer, "", 0, true, &bare);
        if (bare > 1)
            id[want->length - 1] = id[*count - 1];
        ts_free(plain);
        *count = want->length;
    }
    return id;
}

/* ---- lines ---- */
typedef struct filling {
    rows rows;
    labels labels;
    data *d;
    int64_t cap, cap_text, cap_second;
} filling;

static bool grow(void **p, int64_t need, int64_t *cap, size_t size, ts_error *e)
{
    if (need <= *cap)
        return true;
    int64_t more = *cap ? *cap : 1024;
    while (more < need)
        more *= 2;
    void *grown = reallocarray(*p, (size_t)more, size);
    if (!grown)
        return err_memory(e, (size_t)more * size, "%lld entries of data", (long long)more);
    *p = grown, *cap = more;
    return true;
}

/* Nothing can be said of no place at all: its mean is 0 / 0. */
static bool no_tokens(const rows *r, ts_error *e)
{
    err_set(e, TS_BAD_INPUT, "%s:%lld: a text without tokens", r->path, (long long)r->line);
    return err_hint(e, "this tokenizer adds none of its own, so that every text must have some: leave it out");
}

static bool add_tokens(filling *f, tokens *t, int64_t *cap, const char *s, size_t n, ts_error *e)
{
    const data_want *want = f->rows.want;
    const int64_t i = f->d->n;
    int64_t count;
    bool cut;
    ENDED_BY(heap_free) int64_t *id = encode(want, s, n, &count, &cut);
    if (cut && !f->d->cut++)
        f->d->cut_first = f->rows.line;
    bool ok = count > 0 || no_tokens(&f->rows, e);
    ok = ok && grow((void **)&t->id, t->at[i] + count, cap, sizeof *t->id, e);
    for (int64_t k = 0; ok && k < count; k++)
        t->id[t->at[i] + k] = (int32_t)id[k];
    if (ok)
        t->at[i + 1] = t->at[i] + count;
    return ok;
}

static bool make_room(filling *f, ts_error *e)
{
    data *d = f->d;
    const int64_t need = d->n + 2;
    int64_t cap[6] = {f->cap, f->cap, f->cap, f->cap, f->cap, f->cap};
    const bool first = !f->cap;
    const bool ok = grow((void **)&d->text.at, need, &cap[0], sizeof *d->text.at, e) &&
                    grow((void **)&d->second.at, need, &cap[1], sizeof *d->second.at, e) &&
                    grow((void **)&d->label, need, &cap[2], sizeof *d->label, e) &&
                    grow((void **)&d->text_at, need, &cap[3], sizeof *d->text_at, e) &&
                    grow((void **)&d->text_n, need, &cap[4], sizeof *d->text_n, e) &&
                    grow((void **)&d->line, need, &cap[5], sizeof *d->line, e);
    f->cap = cap[0];
    if (ok && first)
        d->text.at[0] = d->second.at[0] = 0;
    return ok;
}

static bool add_row(filling *f, const row *r, ts_error *e)
{
    data *d = f->d;
    const data_label is = f->rows.want->label;
    if (!make_room(f, e) || !add_tokens(f, &d->text, &f->cap_text, r->text, r->n_text, e))
        return false;
    if (is == LABEL_TEXT && !add_tokens(f, &d->second, &f->cap_second, r->other, r->n_other, e))
        return false;
    d->label[d->n] = 0;
    if ((is == LABEL_CLASS || is == LABEL_REAL) &&
        !labels_add(&f->labels, &f->rows, r->other, r->n_other, &d->label[d->n], e))
        return false;
    d->text_at[d->n] = (size_t)(r->text - d->file.at), d->text_n[d->n] = r->n_text, d->line[d->n] = f->rows.line;
    d->n++;
    return true;
}

static bool read_rows(filling *f, size_t at, ts_error *e)
{
    data *d = f->d;
    while (at < d->file.n) {
        row r;
        const size_t step = row_read(&f->rows, d->file.at + at, d->file.n - at, &r, e);
        if (!step || (r.text && !add_row(f, &r, e)))
            return false;
        at += step;
    }
    if (d->n)
        return labels_end(&f->labels, &f->rows, d, e);
    err_set(e, TS_BAD_INPUT, "'%s' has no lines%s", f->rows.path, f->rows.line ? " but a header" : "");
    return err_hint(e, "a line is an example");
}

static bool read_lines(const data_want *want, const char *path, data *out, ts_error *e)
{
    filling f = {.d = out};
    if (!want->tokenizer) {
        err_set(e, TS_USAGE, "'%s' is text, and no tokenizer is there to number it", path);
        return err_hint(e, "--tokenizer FILE names a vocab.txt or tokenizer.json; arrays are given as NAME=FILE.npy");
    }
    if (!bytes_read(path, &out->file, e))
        return false;
    const size_t mark = data_mark(&out->file);
    rows_open(&f.rows, want, path);
    labels_open(&f.labels, want);
    const bool ok = data_is_text(path, 1, out->file.at + mark, out->file.n - mark, e) && read_rows(&f, mark, e);
    labels_close(&f.labels);
    return ok;
}

bool data_is_text(const char *path, int64_t line, const char *s, size_t n, ts_error *e)
{
    size_t step, from = 0;
    for (size_t i = 0; i < n; i += step) {
        uint32_t code = (unsigned char)s[i];
        step = code && code < 128 ? 1 : utf8_next(s + i, &code);
        if (!step || !code) {
            err_set(e, TS_BAD_INPUT, "%s:%lld:%zu: byte 0x%02X is %s", path, (long long)line, i - from + 1,
                    (unsigned char)s[i], s[i] ? "not UTF-8" : "no text");
            return err_hint(e, s[i] ? "convert it: iconv -f ISO-8859-1 -t UTF-8, or from what it is in"
                                    : "a text holds no NUL: delete it, as tr -d '\\0' does");
        }
        if (s[i] == '\n')
            line++, from = i + 1;
    }
    return true;
}

bool data_texts(const data_want *want, int64_t n, const char *const *all, data *out, ts_error *e)
{
    *out = (data){0};
    filling f = {.rows = {.want = want, .path = "text"}, .d = out};
    if (!want->tokenizer)
        return err_set(e, TS_USAGE, "the model takes no text"),
               err_hint(e, "tessera eval judges arrays; tessera export makes a model that tessera run runs on them");
    for (int64_t i = 0; i < n; i++, out->n++) {
        f.rows.line++;
        const size_t mark = strncmp(all[i], "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
        if (data_is_text("text", i + 1, all[i], strlen(all[i]), e) && make_room(&f, e) &&
            add_tokens(&f, &out->text, &f.cap_text, all[i] + mark, strlen(all[i] + mark), e))
            continue;
        data_free(out);
        return false;
    }
    return true;
}

bool data_is_arrays(const char *files)
{
    char one[4096];
    const size_t n = strcspn(files, "\n");
    snprintf(one, sizeof one, "%.*s", (int)(n < sizeof one ? n : sizeof one - 1), files);
    return strchr(one, '=') && (path_ends(one, ".npy") || data_is_images(one));
}

bool data_read(const data_want *want, data *out, ts_error *e)
{
    *out = (data){0};
    char path[4096];
    const size_t n = strcspn(want->files, "\n");
    snprintf(path, sizeof path, "%.*s", (int)(n < sizeof path ? n : sizeof path - 1), want->files);
    const bool arrays = data_is_arrays(want->files);
    if (!arrays && want->files[n] && want->files[n + 1]) {
        err_set(e, TS_USAGE, "'%s' is not all of the data: only arrays, NAME=FILE.npy, are given as several files",
                path);
        return err_hint(e, "put the texts into one file, as cat does");
    }
    const bool ok = arrays         ? data_arrays(want, out, e)
                    : want->stream ? data_stream(want, path, out, e)
                                   : read_lines(want, path, out, e);
    if (ok && !arrays)
        return ts_file_hash(path, out->hash, e);
    if (!ok)
        data_free(out);
    return ok;
}
