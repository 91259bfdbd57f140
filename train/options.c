#include "train/options.h"

#include "graph/base/err.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(train_wish, member)
const wish_field wish_fields[] = {
    {"model", WISH_TEXT, AT(model), false, 0, NULL},
    {"data", WISH_LIST, AT(data), false, 0, NULL},
    {"eval", WISH_LIST, AT(eval), true, 0, NULL},
    {"task", WISH_TEXT, AT(task), false, 0, "classify"},
    {"labels", WISH_WHOLE, AT(labels), false, 0, NULL},
    {"pool", WISH_TEXT, AT(pool), false, 0, "mean"},
    {"output", WISH_TEXT, AT(output), false, 0, NULL},
    {"loss", WISH_TEXT, AT(loss), false, 0, NULL},
    {"head", WISH_TEXT, AT(head), false, 0, NULL},
    {"tokenizer", WISH_TEXT, AT(tokenizer), false, 0, NULL},
    {"length", WISH_WHOLE, AT(length), false, 64, NULL},
    {"dim", WISH_LIST, AT(dims), false, 0, NULL},
    {"batch", WISH_WHOLE, AT(batch), false, 32, NULL},
    {"accumulate", WISH_WHOLE, AT(accumulate), false, 1, NULL},
    {"epochs", WISH_WHOLE, AT(epochs), false, 3, NULL},
    {"steps", WISH_WHOLE, AT(steps), true, 0, NULL},
    {"total-steps", WISH_WHOLE, AT(total_steps), false, 0, NULL},
    {"order", WISH_TEXT, AT(order), false, 0, NULL},
    {"seed", WISH_WHOLE, AT(seed), false, 1, NULL},
    {"optimizer", WISH_TEXT, AT(optimizer), false, 0, "adamw"},
    {"lr", WISH_REAL, AT(lr), false, 5e-5, NULL},
    {"schedule", WISH_TEXT, AT(schedule), false, 0, "linear"},
    {"warmup", WISH_WHOLE, AT(warmup), false, -1, NULL},
    {"weight-decay", WISH_REAL, AT(weight_decay), false, -1, NULL},
    {"no-decay", WISH_LIST, AT(no_decay), false, 0, NULL},
    {"beta1", WISH_REAL, AT(beta1), false, -1, NULL},
    {"beta2", WISH_REAL, AT(beta2), false, -1, NULL},
    {"eps", WISH_REAL, AT(eps), false, -1, NULL},
    {"momentum", WISH_REAL, AT(momentum), false, -1, NULL},
    {"nesterov", WISH_FLAG, AT(nesterov), false, 0, NULL},
    {"clip", WISH_REAL, AT(clip), false, 1, NULL},
    {"precision", WISH_TEXT, AT(precision), false, 0, "f32"},
    {"loss-scale", WISH_REAL, AT(loss_scale), false, 65536, NULL},
    {"growth-interval", WISH_WHOLE, AT(growth_interval), false, 2000, NULL},
    {"label-smoothing", WISH_REAL, AT(smoothing), false, 0, NULL},
    {"dropout", WISH_REAL, AT(dropout), false, -1, NULL},
    {"dropout-on", WISH_LIST, AT(dropout_on), false, 0, NULL},
    {"ema", WISH_REAL, AT(ema), false, 0, NULL},
    {"freeze", WISH_LIST, AT(freeze), false, 0, NULL},
    {"lora", WISH_WHOLE, AT(lora), false, 0, NULL},
    {"on", WISH_LIST, AT(on), false, 0, NULL},
    {"on-nan", WISH_TEXT, AT(on_nan), true, 0, "stop"},
    {"eval-every", WISH_WHOLE, AT(eval_every), true, 0, NULL},
    {"save-every", WISH_WHOLE, AT(save_every), true, 0, NULL},
    {"keep", WISH_WHOLE, AT(keep), true, 2, NULL},
    {"grad-norms", WISH_TEXT, AT(grad_norms), true, 0, NULL},
    {0},
};

static const void *place_of(const train_wish *w, const wish_field *f)
{
    return (const char *)w + f->at;
}

char **wish_text(train_wish *w, const wish_field *f)
{
    return (char **)(void *)((char *)w + f->at);
}

static const char *text_of(const train_wish *w, const wish_field *f)
{
    return *(char *const *)place_of(w, f);
}

static double number_of(const train_wish *w, const wish_field *f)
{
    return f->kind == WISH_REAL ? *(const double *)place_of(w, f) : (double)*(const int64_t *)place_of(w, f);
}

static void set_number(train_wish *w, const wish_field *f, double v)
{
    if (f->kind == WISH_REAL)
        *(double *)(void *)((char *)w + f->at) = v;
    else
        *(int64_t *)(void *)((char *)w + f->at) = (int64_t)v;
}

static bool is_number(const wish_field *f)
{
    return f->kind != WISH_TEXT && f->kind != WISH_LIST;
}

void wish_set_text(char **place, const char *value)
{
    char *copy = value ? strdup(value) : NULL;
    free(*place);
    *place = copy;
}

void wish_add_line(char **list, const char *value)
{
    const size_t old = *list ? strlen(*list) : 0, more = strlen(value);
    char *grown = realloc(*list, old + more + 2);
    if (!grown)
        return;
    memcpy(grown + old, value, more);
    memcpy(grown + old + more, "\n", 2);
    *list = grown;
}

bool wish_line(const char **at, char line[WISH_LINE])
{
    if (!*at || !**at)
        return false;
    const size_t n = strcspn(*at, "\n"), kept = n < WISH_LINE ? n : WISH_LINE - 1;
    memcpy(line, *at, kept);
    line[kept] = 0;
    *at += n + ((*at)[n] == '\n');
    return true;
}

bool wish_names(const char *line, const char *name)
{
    const size_t n = strlen(name);
    return strncmp(line, name, n) == 0 && line[n] == '=';
}

bool wish_none(const char *list)
{
    return list && strcmp(list, "none\n") == 0;
}

void wish_init(train_wish *w)
{
    *w = (train_wish){0};
    for (const wish_field *f = wish_fields; f->name; f++)
        if (is_number(f))
            set_number(w, f, f->fallback);
        else
            wish_set_text(wish_text(w, f), f->word);
}

void wish_free(train_wish *w)
{
    for (const wish_field *f = wish_fields; f->name; f++)
        if (!is_number(f))
            wish_set_text(wish_text(w, f), NULL);
}

cJSON *wish_json(const train_wish *w)
{
    cJSON *o = cJSON_CreateObject();
    for (const wish_field *f = wish_fields; f->name; f++) {
        char line[WISH_LINE];
        if (is_number(f))
            js_number(o, f->name, number_of(w, f));
        else if (f->kind == WISH_TEXT)
            js_text(o, f->name, text_of(w, f));
        else {
            cJSON *list = js_array(o, f->name);
            for (const char *at = text_of(w, f); wish_line(&at, line);)
                js_item(list, line);
        }
    }
    return o;
}

static bool read_field(train_wish *w, const wish_field *f, const cJSON *v)
{
    if (is_number(f)) {
        if (!cJSON_IsNumber(v) || !isfinite(v->valuedouble) || fabs(v->valuedouble) > 9e15)
            return false;
        set_number(w, f, v->valuedouble);
        return true;
    }
    if (f->kind == WISH_TEXT) {
        wish_set_text(wish_text(w, f), cJSON_IsString(v) ? v->valuestring : NULL);
        return cJSON_IsString(v) || cJSON_IsNull(v);
    }
    wish_set_text(wish_text(w, f), NULL);
    const cJSON *i;
    cJSON_ArrayForEach(i, v)
    {
        if (!cJSON_IsString(i))
            return false;
        wish_add_line(wish_text(w, f), i->valuestring);
    }
    return cJSON_IsArray(v);
}

bool wish_read(train_wish *w, const cJSON *config, const char *path, ts_error *e)
{
    for (const wish_field *f = wish_fields; f->name; f++) {
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(config, f->name);
        if (v && !read_field(w, f, v))
            return err_set(e, TS_BAD_INPUT, "%s: \"%s\" is not what an option of that name can be", path, f->name);
    }
    return true;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* As it was given, a list on one line; "" where it was left out. */
static void tell_value(const train_wish *w, const wish_field *f, char out[200])
{
    const char *s = is_number(f) ? NULL : text_of(w, f);
    if (is_number(f))
        snprintf(out, 200, "%g", number_of(w, f));
    else
        snprintf(out, 200, "%.*s", s && *s ? (int)strlen(s) - (f->kind == WISH_LIST) : 0, s ? s : "");
    for (char *c = out; (c = strchr(c, '\n'));)
        *c = ' ';
}

bool wish_same(const train_wish *began, const train_wish *now, const char *run, ts_error *e)
{
    for (const wish_field *f = wish_fields; f->name; f++) {
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
