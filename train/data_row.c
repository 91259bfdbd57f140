/* data_row.c - one record of a text file as an example: JSON Lines, CSV with quotes, or fields between tabs. Fields are
 * unescaped where they lie, as that only makes them shorter. */
#include "graph/base/err.h"
#include "graph/base/js.h"
#include "train/data_parts.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

bool row_refuse(const rows *r, const char *what, ts_error *e)
{
    static const char *const shape[][4] = {
        [ROWS_TAB] = {"a line is a text", "a line is TEXT, a tab, the number or name of its class",
                      "a line is TEXT, a tab, a number", "a line is TEXT, a tab, TEXT"},
        [ROWS_CSV] = {"a line is a text, in quotes where it holds commas", "a line is TEXT,CLASS, or has a header",
                      "a line is TEXT,NUMBER, or has a header", "a line is TEXT,TEXT, or has a header"},
        [ROWS_JSON] = {"a line is {\"text\": \"...\"}", "a line is {\"text\": \"...\", \"label\": 0}",
                       "a line is {\"text\": \"...\", \"label\": 0.5}",
                       "a line is {\"text\": \"...\", \"text2\": \"...\"}"}};
    err_set(e, TS_BAD_INPUT, "%s:%lld: %s", r->path, (long long)r->line, what);
    return err_hint(e, "%s; --columns TEXT,LABEL names others", shape[r->kind][r->want->label]);
}

void rows_open(rows *r, const data_want *want, const char *path)
{
    *r = (rows){.want = want, .path = path, .next = 1, .kind = ROWS_TAB};
    r->kind = path_ends(path, ".jsonl") ? ROWS_JSON : path_ends(path, ".csv") ? ROWS_CSV : ROWS_TAB;
    r->name[0] = "text", r->name[1] = want->label == LABEL_TEXT ? "text2" : "label";
    r->n_name = want->label == LABEL_NONE ? 1 : 2;
    const char *comma = want->columns ? strchr(want->columns, ',') : NULL;
    if (!want->columns)
        return;
    snprintf(r->said, sizeof r->said, "%s", want->columns);
    r->name[0] = r->said;
    if (comma && (size_t)(comma - want->columns) < sizeof r->said)
        r->said[comma - want->columns] = 0, r->name[1] = r->said + (comma - want->columns) + 1;
}

/* ---- fields ---- */
enum { MOST_FIELDS = 256 };
typedef struct field {
    char *at;
    size_t n;
} field;
typedef struct fields {
    int n;
    field of[MOST_FIELDS];
} fields;

/* "a ""b""" -> a "b": from the quote at s[i] on; gives the place behind the closing one, 0 where there is none. */
static size_t unquote(rows *r, char *s, size_t i, size_t n, field *out)
{
    char *to = s + i;
    *out = (field){to, 0};
    for (i++; i < n; i++) {
        if (s[i] == '"' && (i + 1 == n || s[i + 1] != '"'))
            return out->n = (size_t)(to - out->at), i + 1;
        i += s[i] == '"';
        r->next += s[i] == '\n';
        *to++ = s[i];
    }
    return 0;
}

/* The record at s[0 .. n) as fields; gives its bytes with the end of its line, 0 after a failure. */
static size_t split(rows *r, char *s, size_t n, fields *f, ts_error *e)
{
    const char by = r->kind == ROWS_CSV ? ',' : '\t';
    size_t i = 0;
    f->n = 0;
    do {
        if (f->n == MOST_FIELDS)
            return row_refuse(r, "more than 256 columns", e), 0;
        field *x = &f->of[f->n++];
        const size_t from = i;
        const bool quoted = by == ',' && i < n && s[i] == '"';
        if (quoted && !(i = unquote(r, s, i, n, x)))
            return row_refuse(r, "the quote is not closed", e), 0;
        const size_t behind = i;
        while (i < n && s[i] != by && s[i] != '\n')
            i++;
        const size_t end = i > from && s[i - 1] == '\r' && (i == n || s[i] == '\n') ? i - 1 : i;
        if (quoted && end > behind)
            return row_refuse(r, "text behind a closing quote; write a quote within a text twice", e), 0;
        if (!quoted)
            *x = (field){s + from, end - from};
    } while (i < n && s[i] == by && ++i);
    r->next++;
    return i < n ? i + 1 : i;
}

static bool is_named(const field *f, const char *name)
{
    return f->n == strlen(name) && strncasecmp(f->at, name, f->n) == 0;
}

static int column_of(const fields *f, const char *name)
{
    int at = -1;
    for (int i = 0; at < 0 && i < f->n; i++)
        at = is_named(&f->of[i], name) ? i : -1;
    return at;
}

static bool refuse_header(const rows *r, const fields *f, const char *lacks, ts_error *e)
{
    char list[400] = "";
    for (int i = 0; i < f->n; i++) {
        const size_t at = strlen(list);
        snprintf(list + at, sizeof list - at, "%s%.*s", at ? ", " : "", (int)(f->of[i].n < 99 ? f->of[i].n : 99),
                 f->of[i].at);
    }
    err_set(e, TS_BAD_INPUT, "%s:%lld: no column \"%s\" among %s", r->path, (long long)r->line, lacks, list);
    return err_hint(e, "--columns %s says which columns are meant", r->n_name > 1 ? "TEXT,LABEL" : "TEXT");
}

/* Whether the first record is one of names of columns, and then where what is wanted stands. */
static bool read_header(rows *r, const fields *f, bool *is, ts_error *e)
{
    *is = r->want->columns || column_of(f, "text") >= 0 || column_of(f, "label") >= 0;
    r->n_column = *is ? f->n : r->kind == ROWS_CSV ? r->n_name : 0;
    for (int i = 0; i < r->n_name; i++)
        r->column[i] = *is ? column_of(f, r->name[i]) : i;
    if (!*is)
        return true;
    if (r->column[0] < 0 && r->n_name == 2 && f->n == 2 && r->column[1] >= 0 && !r->want->columns)
        r->column[0] = 1 - r->column[1]; /* sentence, label */
    for (int i = 0; i < r->n_name; i++)
        if (r->column[i] < 0)
            return refuse_header(r, f, r->name[i], e);
    return true;
}

static bool take_fields(const rows *r, const fields *f, row *out, ts_error *e)
{
    char what[80];
    if (f->n != r->n_column) {
        snprintf(what, sizeof what, "%d columns, %d expected", f->n, r->n_column);
        return row_refuse(r, what, e);
    }
    const field *text = &f->of[r->column[0]], *other = &f->of[r->column[r->n_name - 1]];
    *out = (row){.text = text->at, .n_text = text->n, .other = other->at, .n_other = other->n};
    return true;
}

/* Without a header a label stands behind the last tab, a second text behind the first. */
static bool take_tab(const rows *r, char *s, size_t n, row *out, ts_error *e)
{
    *out = (row){.text = s, .n_text = n};
    if (r->want->label == LABEL_NONE)
        return true;
    char *tab = r->want->label == LABEL_TEXT ? memchr(s, '\t', n) : memrchr(s, '\t', n);
    if (!tab)
        return row_refuse(r, "there is no tab", e);
    out->n_text = (size_t)(tab - s);
    out->other = tab + 1, out->n_other = n - out->n_text - 1;
    return true;
}

/* ---- JSON ---- */
static size_t put(char *to, const char *s, char **at, size_t *n)
{
    *n = strlen(s);
    *at = memcpy(to, s, *n);
    return *n;
}

/* {"text": "...", "label": 1}, {"text": "...", "text2": "..."}: out of cJSON's memory into the line. */
static bool take_members(const rows *r, const cJSON *o, char *s, row *out, ts_error *e)
{
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(o, r->name[0]),
                *other = r->n_name > 1 ? cJSON_GetObjectItemCaseSensitive(o, r->name[1]) : NULL;
    const bool is_text = cJSON_IsString(other), is_number = cJSON_IsNumber(other) && r->want->label != LABEL_TEXT,
               is_truth = cJSON_IsBool(other) && r->want->label == LABEL_CLASS;
    char what[400];
    *out = (row){0};
    if (!cJSON_IsString(text)) {
        snprintf(what, sizeof what, "no member \"%.300s\" that is text", r->name[0]);
        return row_refuse(r, what, e);
    }
    if (r->n_name > 1 && !is_text && !is_number && !is_truth) {
        snprintf(what, sizeof what, "no member \"%.300s\" that is %s", r->name[1],
                 r->want->label == LABEL_TEXT ? "text" : "a number or a name");
        return row_refuse(r, what, e);
    }
    ENDED_BY(heap_free) char *spelled = r->n_name > 1 && !is_text ? cJSON_PrintUnformatted(other) : NULL;
    s += put(s, text->valuestring, &out->text, &out->n_text);
    if (r->n_name > 1 && (is_text || spelled))
        put(s, is_text ? other->valuestring : spelled, &out->other, &out->n_other);
    return true;
}

static bool take_json(const rows *r, char *s, size_t n, row *out, ts_error *e)
{
    const char *end = NULL;
    ENDED_BY(js_free) cJSON *o = cJSON_ParseWithLengthOpts(s, n, &end, false);
    const bool whole = cJSON_IsObject(o) && end && strspn(end, " \t\r") >= (size_t)(s + n - end);
    return whole ? take_members(r, o, s, out, e) : row_refuse(r, "not a JSON object", e);
}

/* ---- records ---- */
static bool is_blank(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && strchr(" \t\r\v\f\n", s[i]))
        i++;
    return i == n;
}

static bool refuse_empty(const rows *r, ts_error *e)
{
    err_set(e, TS_BAD_INPUT, "%s:%lld: an empty line", r->path, (long long)r->line);
    return err_hint(e, "every line is an example: delete it, as with sed -i '%lldd'", (long long)r->line);
}

size_t row_read(rows *r, char *s, size_t n, row *out, ts_error *e)
{
    fields f;
    bool header = false;
    const bool first = r->next == 1;
    const char *end = memchr(s, '\n', n);
    size_t length = end ? (size_t)(end - s) : n, step = length + (end != NULL);
    r->line = r->next;
    if (is_blank(s, length))
        return refuse_empty(r, e), 0;
    length -= s[length - 1] == '\r';
    if (r->kind != ROWS_JSON && (first || r->n_column)) {
        step = split(r, s, n, &f, e);
        if (!step || (first && !read_header(r, &f, &header, e)))
            return 0;
    } else
        r->next++;
    if (header)
        return *out = (row){0}, step;
    const bool ok = r->kind == ROWS_JSON ? take_json(r, s, length, out, e)
                    : r->n_column        ? take_fields(r, &f, out, e)
                                         : take_tab(r, s, length, out, e);
    if (ok && is_blank(out->text, out->n_text))
        return row_refuse(r, "the text is empty", e), 0;
    if (ok && r->want->label == LABEL_TEXT && is_blank(out->other, out->n_other))
        return row_refuse(r, "the second text is empty", e), 0;
    return ok ? step : 0;
}
