/* data_row.c - one line of a text file as an example. */
#include "graph/base/err.h"
#include "graph/base/js.h"
#include "train/data_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(const rows *r, const char *what, const char *hint, ts_error *e)
{
    err_set(e, TS_BAD_INPUT, "%s:%lld: %s", r->path, (long long)r->line, what);
    return err_hint(e, "%s", hint);
}

static const char *shape_of(const rows *r)
{
    return r->want->label == LABEL_TEXT   ? "a line is TEXT, a tab, TEXT"
           : r->want->label == LABEL_NONE ? "a line is a text"
           : r->want->label == LABEL_REAL ? "a line is TEXT, a tab, a number"
                                          : "a line is TEXT, a tab, the number of its class";
}

bool row_number(const rows *r, double v, double *out, ts_error *e)
{
    const int64_t classes = r->want->classes;
    *out = v;
    if (!isfinite(v)) {
        err_set(e, TS_BAD_INPUT, "%s:%lld: the label %g is not finite", r->path, (long long)r->line, v);
        return err_hint(e, "%s", shape_of(r));
    }
    if (r->want->label != LABEL_CLASS)
        return true;
    if (v != floor(v) || v < 0 || v >= 1e6) {
        err_set(e, TS_BAD_INPUT, "%s:%lld: the label %g is not the number of a class", r->path, (long long)r->line, v);
        return err_hint(e, "classes are numbered 0, 1, 2, ...; --task regress is for other numbers");
    }
    if (!classes || v < (double)classes)
        return true;
    err_set(e, TS_BAD_INPUT, "%s:%lld: the label %g is not in 0...%lld", r->path, (long long)r->line, v,
            (long long)classes - 1);
    return err_hint(e, "correct the line, or say --labels %.0f or more", v + 1);
}

static bool read_label(const rows *r, const char *s, size_t n, double *out, ts_error *e)
{
    char copy[64], *end;
    if (n == 0 || n >= sizeof copy)
        return refuse(r, n ? "the label is too long for a number" : "the label is missing", shape_of(r), e);
    memcpy(copy, s, n);
    copy[n] = 0;
    errno = 0;
    const double v = strtod(copy, &end);
    if (end != copy + n || errno || strpbrk(copy, "xX")) {
        err_set(e, TS_BAD_INPUT, "%s:%lld: the label \"%s\" is not a number", r->path, (long long)r->line, copy);
        return err_hint(e, "%s", shape_of(r));
    }
    return row_number(r, v, out, e);
}

bool row_tsv(const rows *r, const char *s, size_t n, row *out, ts_error *e)
{
    *out = (row){.text = s, .n_text = n};
    if (r->want->label == LABEL_NONE)
        return true;
    /* A label stands behind the last tab, a second text behind the first. */
    const char *tab = r->want->label == LABEL_TEXT ? memchr(s, '\t', n) : memrchr(s, '\t', n);
    if (!tab)
        return refuse(r, "there is no tab", shape_of(r), e);
    out->n_text = (size_t)(tab - s);
    out->second = tab + 1, out->n_second = n - out->n_text - 1;
    if (r->want->label == LABEL_TEXT)
        return out->n_second > 0 || refuse(r, "the second text is empty", shape_of(r), e);
    return read_label(r, tab + 1, n - out->n_text - 1, &out->label, e);
}

/* {"text": "...", "label": 1}, {"text": "...", "text2": "..."} */
static bool take_members(const rows *r, const cJSON *o, row *out, ts_error *e)
{
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(o, "text"),
                *label = cJSON_GetObjectItemCaseSensitive(o, "label"),
                *second = cJSON_GetObjectItemCaseSensitive(o, "text2");
    if (!cJSON_IsString(text))
        return refuse(r, "no member \"text\" that is text", "a line is {\"text\": \"...\", \"label\": 0}", e);
    out->text = text->valuestring, out->n_text = strlen(text->valuestring);
    if (r->want->label == LABEL_NONE)
        return true;
    if (r->want->label == LABEL_TEXT) {
        if (!cJSON_IsString(second))
            return refuse(r, "no member \"text2\" that is text", "a line is {\"text\": \"...\", \"text2\": \"...\"}",
                          e);
        out->second = second->valuestring, out->n_second = strlen(second->valuestring);
        return true;
    }
    if (!cJSON_IsNumber(label))
        return refuse(r, "no member \"label\" that is a number", "a line is {\"text\": \"...\", \"label\": 0}", e);
    return row_number(r, label->valuedouble, &out->label, e);
}

bool row_json(const rows *r, const char *s, size_t n, row *out, char **room, ts_error *e)
{
    *out = (row){0};
    const char *end = NULL;
    char *line = strndup(s, n);
    cJSON *o = line && strlen(line) == n ? cJSON_ParseWithOpts(line, &end, true) : NULL;
    bool good = cJSON_IsObject(o) || refuse(r, "not a JSON object", "a line is {\"text\": \"...\", \"label\": 0}", e);
    good = good && take_members(r, o, out, e);
    if (good) { /* out of cJSON's memory into one piece */
        *room = malloc(out->n_text + out->n_second + 1);
        good = *room != NULL;
        if (good) {
            memcpy(*room, out->text, out->n_text);
            memcpy(*room + out->n_text, out->second ? out->second : "", out->n_second);
            out->text = *room, out->second = *room + out->n_text;
        }
    }
    cJSON_Delete(o);
    free(line);
    return good;
}
