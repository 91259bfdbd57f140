/* data_arrays.c - examples that are no lines: arrays whose first axis walks them, and streams of tokens. */
#include "graph/base/base.h"
#include "train/data_parts.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- NAME=FILE.npy ---- */
static bool add_array(data *out, const char *line, ts_error *e)
{
    const char *equals = strchr(line, '=');
    if (!equals || equals == line) {
        err_set(e, TS_USAGE, "\"%s\": arrays are given as NAME=FILE.npy", line);
        return err_hint(e, "NAME is an input of the model, or label");
    }
    if (out->n_array == MOST_ARRAYS)
        return err_set(e, TS_USAGE, "\"%s\" is array %d of the data, at most %d expected", line, MOST_ARRAYS + 1,
                       MOST_ARRAYS);
    ts_array *a = &out->array[out->n_array];
    for (int i = 0; i < out->n_array; i++)
        if (strncmp(out->name[i], line, (size_t)(equals - line)) == 0 && !out->name[i][equals - line])
            return err_set(e, TS_USAGE, "\"%s\" is given twice", out->name[i]), err_hint(e, "leave one of them out");
    char *name = strndup(line, (size_t)(equals - line));
    MUST(name);
    if (!(data_is_images(equals + 1) ? data_images(name, equals + 1, a, e) : ts_npy_read(equals + 1, a, e)))
        return free(name), false;
    out->name[out->n_array++] = name;
    if (a->rank == 0)
        return err_set(e, TS_BAD_INPUT, "'%s' is one number: its first axis must walk the examples", equals + 1);
    if (out->n_array > 1 && a->dim[0] != out->n) {
        err_set(e, TS_BAD_INPUT, "'%s' has %lld examples, \"%s\" has %lld", equals + 1, (long long)a->dim[0],
                out->name[0], (long long)out->n);
        return err_hint(e, "the first axis of every array walks the same examples");
    }
    out->n = a->dim[0];
    return out->n > 0 || err_set(e, TS_BAD_INPUT, "'%s' is %s: at least one example along its first axis expected",
                                 equals + 1, array_type(a).s);
}

static bool check_labels(const data_want *want, data *out, ts_error *e)
{
    const ts_array *a = data_array(out, "label");
    if (want->label == LABEL_NONE)
        return true;
    if (!a || want->label == LABEL_TEXT) {
        err_set(e, TS_USAGE, a ? "--task pairs is for texts" : "there is no array of labels among the data");
        return err_hint(e, a ? "--loss NAME trains on an output that is the loss itself"
                             : "--data label=FILE.npy, or --eval label=FILE.npy, gives one number an example");
    }
    if (a->rank != 1) {
        err_set(e, TS_BAD_INPUT, "the labels have rank %d: one number an example", a->rank);
        return err_hint(e, "their shape is to be [%lld]", (long long)out->n);
    }
    out->label = calloc((size_t)out->n, sizeof *out->label);
    if (!out->label)
        return err_memory(e, (size_t)out->n * sizeof *out->label, "the labels");
    for (int64_t i = 0; i < out->n; i++) {
        const rows r = {.want = want, .path = "the array of labels", .line = i};
        if (!label_number(&r, ts_array_at(a, i), &out->label[i], e))
            return false;
        if (want->label == LABEL_CLASS && (int64_t)out->label[i] >= out->classes)
            out->classes = (int64_t)out->label[i] + 1;
    }
    return true;
}

bool data_arrays(const data_want *want, data *out, ts_error *e)
{
    const char *at = want->files;
    char line[4096], one[65];
    char all[MOST_ARRAYS * 64 + 1] = "";
    while (*at) {
        const size_t n = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1), at);
        if (!add_array(out, line, e) || !ts_file_hash(strchr(line, '=') + 1, one, e))
            return false;
        memcpy(all + strlen(all), one, 65);
        at += n + (at[n] == '\n');
    }
    ts_hash_bytes(all, strlen(all), out->hash);
    return check_labels(want, out, e);
}

/* ---- streams of tokens: raw u16 or u32 of a .bin, the texts of a .jsonl, or any other file as text ---- */
static bool raw_tokens(const data_want *want, const char *path, data *out, ts_error *e)
{
    const size_t width = want->vocabulary > 65536 ? 4 : 2;
    if (out->file.n % width) {
        err_set(e, TS_BAD_INPUT, "'%s' has %zu bytes, no whole number of %zu-byte tokens", path, out->file.n, width);
        return err_hint(e, "tokens are little-endian, of 2 bytes, or 4 for more than 65536 of them");
    }
    out->n = (int64_t)(out->file.n / width);
    out->text.id = calloc((size_t)out->n + 1, sizeof *out->text.id);
    if (!out->text.id)
        return err_memory(e, ((size_t)out->n + 1) * sizeof *out->text.id, "%lld tokens", (long long)out->n);
    for (int64_t i = 0; i < out->n; i++) {
        const unsigned char *b = (const unsigned char *)out->file.at + (size_t)i * width;
        uint32_t v = (uint32_t)b[0] | (uint32_t)b[1] << 8;
        if (width == 4)
            v |= (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
        if (want->vocabulary && v >= want->vocabulary) {
            err_set(e, TS_BAD_INPUT, "'%s': token %lld, at byte %zu, is %u; the model has %lld", path, (long long)i,
                    (size_t)i * width, v, (long long)want->vocabulary);
            return err_hint(e, "the file must hold tokens of the model's own vocabulary");
        }
        out->text.id[i] = (int32_t)v;
    }
    return true;
}

/* JSON Lines as the texts in them, a line each, in place of the file: escapes only ever get shorter. */
static bool join_lines(const data_want *want, const char *path, bytes *file, ts_error *e)
{
    rows r;
    size_t kept = 0, step;
    rows_open(&r, want, path);
    for (size_t i = data_mark(file); i < file->n; i += step) {
        row one;
        step = row_read(&r, file->at + i, file->n - i, &one, e);
        if (!step)
            return false;
        memmove(file->at + kept, one.text, one.n_text);
        kept += one.n_text;
        file->at[kept++] = '\n';
    }
    file->n = kept;
    return true;
}

static bool text_tokens(const data_want *want, const char *path, data *out, ts_error *e)
{
    if (!want->tokenizer)
        return err_set(e, TS_USAGE, "'%s' is text, and no tokenizer is there to number it", path),
               err_hint(e, "--tokenizer FILE names a vocab.txt or tokenizer.json, or is the word bytes");
    const size_t mark = data_mark(&out->file);
    if (!data_is_text(path, 1, out->file.at + mark, out->file.n - mark, e) ||
        (path_ends(path, ".jsonl") && !join_lines(want, path, &out->file, e)))
        return false;
    const size_t skip = data_mark(&out->file);
    ENDED_BY(heap_free)
    int64_t *id = ts_tokenizer_encode(want->tokenizer, out->file.at + skip, out->file.n - skip, false, &out->n);
    out->text.id = calloc((size_t)out->n + 1, sizeof *out->text.id);
    bool ok = out->text.id ||
              err_memory(e, ((size_t)out->n + 1) * sizeof *out->text.id, "%lld tokens", (long long)out->n);
    for (int64_t i = 0; ok && i < out->n; i++) {
        out->text.id[i] = (int32_t)id[i];
        if (want->vocabulary && id[i] >= want->vocabulary)
            ok = err_set(e, TS_BAD_INPUT, "'%s': token %lld is %lld, the model has %lld", path, (long long)i,
                         (long long)id[i], (long long)want->vocabulary),
            err_hint(e, "--tokenizer must name the one that the model was trained with");
    }
    return ok;
}

bool data_stream(const data_want *want, const char *path, data *out, ts_error *e)
{
    if (!bytes_read(path, &out->file, e))
        return false;
    if (!(path_ends(path, ".bin") ? raw_tokens(want, path, out, e) : text_tokens(want, path, out, e)))
        return false;
    bytes_free(&out->file);
    if (out->n > want->length)
        return true;
    err_set(e, TS_BAD_INPUT, "'%s' has %lld tokens, too few for one window of %lld and the token behind it", path,
            (long long)out->n, (long long)want->length);
    return err_hint(e, "say a smaller --length");
}
