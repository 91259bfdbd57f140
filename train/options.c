/* options.c - the table, and reading, writing, comparing any option by its row alone. */
#include "train/task.h"

#include "graph/base/err.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Name, kind, place, whether a run that goes on may change it, what it is if left out: a number, a word. -1 stands for
 * "as the recipe has it". */
#define AT(member) offsetof(train_options, member)
const option_field option_fields[] = {
    {"model", OPTION_TEXT, AT(model), false, 0, NULL},
    {"data", OPTION_LIST, AT(data), false, 0, NULL},
    {"eval", OPTION_LIST, AT(eval), true, 0, NULL},
    {"task", OPTION_TEXT, AT(task), false, 0, "classify"},
    {"labels", OPTION_WHOLE, AT(labels), false, 0, NULL},
    {"columns", OPTION_TEXT, AT(columns), false, 0, NULL},
    {"names", OPTION_LIST, AT(names), true, 0, NULL},
    {"pool", OPTION_TEXT, AT(pool), false, 0, "mean"},
    {"output", OPTION_TEXT, AT(output), false, 0, NULL},
    {"loss", OPTION_TEXT, AT(loss), false, 0, NULL},
    {"head", OPTION_TEXT, AT(head), false, 0, NULL},
    {"tokenizer", OPTION_TEXT, AT(tokenizer), false, 0, NULL},
    {"length", OPTION_WHOLE, AT(length), false, 64, NULL},
    {"dim", OPTION_LIST, AT(dims), false, 0, NULL},
    {"batch", OPTION_WHOLE, AT(batch), false, 32, NULL},
    {"accumulate", OPTION_WHOLE, AT(accumulate), false, 1, NULL},
    {"shards", OPTION_WHOLE, AT(shards), false, 1, NULL},
    {"epochs", OPTION_WHOLE, AT(epochs), false, 3, NULL},
    {"steps", OPTION_WHOLE, AT(steps), true, 0, NULL},
    {"total-steps", OPTION_WHOLE, AT(total_steps), false, 0, NULL},
    {"order", OPTION_TEXT, AT(order), false, 0, NULL},
    {"seed", OPTION_WHOLE, AT(seed), false, 1, NULL},
    {"optimizer", OPTION_TEXT, AT(optimizer), false, 0, "adamw"},
    {"lr", OPTION_REAL, AT(lr), false, 5e-5, NULL},
    {"schedule", OPTION_TEXT, AT(schedule), false, 0, "linear"},
    {"warmup", OPTION_WHOLE, AT(warmup), false, -1, NULL},
    {"weight-decay", OPTION_REAL, AT(weight_decay), false, -1, NULL},
    {"no-decay", OPTION_LIST, AT(no_decay), false, 0, NULL},
    {"beta1", OPTION_REAL, AT(beta1), false, -1, NULL},
    {"beta2", OPTION_REAL, AT(beta2), false, -1, NULL},
    {"eps", OPTION_REAL, AT(eps), false, -1, NULL},
    {"momentum", OPTION_REAL, AT(momentum), false, -1, NULL},
    {"nesterov", OPTION_FLAG, AT(nesterov), false, 0, NULL},
    {"clip", OPTION_REAL, AT(clip), false, 1, NULL},
    {"precision", OPTION_TEXT, AT(precision), false, 0, "f32"},
    {"loss-scale", OPTION_REAL, AT(loss_scale), false, 65536, NULL},
    {"growth-interval", OPTION_WHOLE, AT(growth_interval), false, 2000, NULL},
    {"label-smoothing", OPTION_REAL, AT(smoothing), false, 0, NULL},
    {"dropout", OPTION_REAL, AT(dropout), false, -1, NULL},
    {"dropout-on", OPTION_LIST, AT(dropout_on), false, 0, NULL},
    {"ema", OPTION_REAL, AT(ema), false, 0, NULL},
    {"freeze", OPTION_LIST, AT(freeze), false, 0, NULL},
    {"lora", OPTION_WHOLE, AT(lora), false, 0, NULL},
    {"on", OPTION_LIST, AT(on), false, 0, NULL},
    {"on-nan", OPTION_TEXT, AT(on_nan), true, 0, "stop"},
    {"eval-every", OPTION_WHOLE, AT(eval_every), true, 0, NULL},
    {"patience", OPTION_WHOLE, AT(patience), true, 0, NULL},
    {"save-every", OPTION_WHOLE, AT(save_every), true, 0, NULL},
    {"keep", OPTION_WHOLE, AT(keep), true, 2, NULL},
    {"grad-norms", OPTION_TEXT, AT(grad_norms), true, 0, NULL},
    {0},
};

/* The member of the struct that the row is about. */
static const void *place_of(const train_options *w, const option_field *f)
{
    return (const char *)w + f->at;
}

char **option_place(train_options *w, const option_field *f)
{
    return (char **)(void *)((char *)w + f->at);
}

static const char *text_of(const train_options *w, const option_field *f)
{
    return *(char *const *)place_of(w, f);
}

static double number_of(const train_options *w, const option_field *f)
{
    return f->kind == OPTION_REAL ? *(const double *)place_of(w, f) : (double)*(const int64_t *)place_of(w, f);
}

/* A double holds every whole number up to 2^53; seeds and counts stay below. */
static void set_number(train_options *w, const option_field *f, double v)
{
    if (f->kind == OPTION_REAL)
        *(double *)(void *)((char *)w + f->at) = v;
    else
        *(int64_t *)(void *)((char *)w + f->at) = (int64_t)v;
}

static bool is_number(const option_field *f)
{
    return f->kind != OPTION_TEXT && f->kind != OPTION_LIST;
}

/* The struct owns its texts. */
void option_set_text(char **place, const char *value)
{
    char *copy = value ? strdup(value) : NULL;
    free(*place);
    *place = copy;
}

/* A list is one text with a line for each item, each ended by a line feed. */
void option_add_line(char **list, const char *value)
{
    char *grown = NULL;
    if (asprintf(&grown, "%s%s\n", *list ? *list : "", value) < 0)
        return;
    free(*list);
    *list = grown;
}

/* Goes on from *at and moves it; false at the end. */
bool option_line(const char **at, char line[OPTION_LINE])
{
    if (!*at || !**at)
        return false;
    const size_t n = strcspn(*at, "\n"), kept = n < OPTION_LINE ? n : OPTION_LINE - 1;
    memcpy(line, *at, kept);
    line[kept] = 0;
    *at += n + ((*at)[n] == '\n');
    return true;
}

int option_lines_make(const char *list, int most, const char **out, char **own)
{
    char *rest = *own = list ? strdup(list) : NULL;
    int n = 0;
    MUST(rest || !list);
    for (char *line; (line = strsep(&rest, "\n")) && n < most;)
        if (*line)
            out[n++] = line;
    return n;
}

/* Whether a line is "name=...". */
bool option_names(const char *line, const char *name)
{
    const size_t n = strlen(name);
    return strncmp(line, name, n) == 0 && line[n] == '=';
}

/* The word that empties a list which is not empty by itself. */
bool option_none(const char *list)
{
    return list && strcmp(list, "none\n") == 0;
}

void option_make(train_options *w)
{
    *w = (train_options){0};
    for (const option_field *f = option_fields; f->name; f++)
        if (is_number(f))
            set_number(w, f, f->fallback);
        else
            option_set_text(option_place(w, f), f->word);
}

void option_free(train_options *w)
{
    for (const option_field *f = option_fields; f->name; f++)
        if (!is_number(f))
            option_set_text(option_place(w, f), NULL);
}

cJSON *option_json(const train_options *w)
{
    cJSON *o = cJSON_CreateObject();
    for (const option_field *f = option_fields; f->name; f++) {
        char line[OPTION_LINE];
        if (is_number(f))
            js_number(o, f->name, number_of(w, f));
        else if (f->kind == OPTION_TEXT)
            js_text(o, f->name, text_of(w, f));
        else {
            cJSON *list = js_array(o, f->name);
            for (const char *at = text_of(w, f); option_line(&at, line);)
                js_item(list, line);
        }
    }
    return o;
}

/* The file may have been edited: numbers beyond 9e15 would not be whole any more, and are refused. */
static bool read_field(train_options *w, const option_field *f, const cJSON *v)
{
    if (is_number(f)) {
        if (!cJSON_IsNumber(v) || !isfinite(v->valuedouble) || fabs(v->valuedouble) > 9e15)
            return false;
        set_number(w, f, v->valuedouble);
        return true;
    }
    if (f->kind == OPTION_TEXT) {
        option_set_text(option_place(w, f), cJSON_IsString(v) ? v->valuestring : NULL);
        return cJSON_IsString(v) || cJSON_IsNull(v);
    }
    option_set_text(option_place(w, f), NULL);
    const cJSON *i;
    cJSON_ArrayForEach(i, v)
    {
        if (!cJSON_IsString(i))
            return false;
        option_add_line(option_place(w, f), i->valuestring);
    }
    return cJSON_IsArray(v);
}

static bool refuse_field(const option_field *f, const cJSON *v, const char *path, ts_error *e)
{
    ENDED_BY(heap_free) char *is = js_to_text(v, false);
    err_set(e, TS_BAD_INPUT, "%s: \"%s\" is %.80s, %s expected", path, f->name, is ? is : "?",
            is_number(f)             ? "a number of at most 9e15"
            : f->kind == OPTION_TEXT ? "a text or null"
                                     : "a list of texts");
    return false;
}

/* What is left out keeps its value, so that runs of older versions can be read. */
bool option_read(train_options *w, const cJSON *config, const char *path, ts_error *e)
{
    for (const option_field *f = option_fields; f->name; f++) {
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(config, f->name);
        if (v && !read_field(w, f, v))
            return refuse_field(f, v, path, e);
    }
    return task_named(w->task ? w->task : "", e) != NULL;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* As it was given, a list on one line; "" where it was left out. */
static void tell_value(const train_options *w, const option_field *f, char out[200])
{
    const char *s = is_number(f) ? NULL : text_of(w, f);
    if (is_number(f))
        snprintf(out, 200, "%g", number_of(w, f));
    else
        snprintf(out, 200, "%.*s", s && *s ? (int)strlen(s) - (f->kind == OPTION_LIST) : 0, s ? s : "");
    for (char *c = out; (c = strchr(c, '\n'));)
        *c = ' ';
}

/* A run that goes on under other options would be neither the one run nor the other. */
bool option_same(const train_options *began, const train_options *now, const char *run, ts_error *e)
{
    for (const option_field *f = option_fields; f->name; f++) {
        const bool same = is_number(f) ? number_of(began, f) == number_of(now, f)
                                       : same_text(text_of(began, f), text_of(now, f));
        if (f->free || same)
            continue;
        char had[200], has[200];
        tell_value(began, f, had), tell_value(now, f, has);
        err_set(e, TS_BAD_INPUT, "the run began %s --%s%s%s, %s%s", *had ? "with" : "without", f->name, *had ? " " : "",
                had, *has ? "not " : "which is not given", has);
        return err_hint(e, "tessera train --resume %s goes on as it began; or train anew in another folder", run);
    }
    return true;
}
