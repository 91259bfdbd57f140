/* train_options.c - the table of train/options.h read from a command line. */
#include "cli/train_options.h"

#include "cli/value.h"
#include "train/step.h"
#include "train/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const option step_options[] = {
    {"task", 0, CHOICE, task_names, "kind of task", ONCE},
    {"batch", 'b', INTEGER, "N", "examples of a step", NULL, false, 1, 1 << 20},
    {"length", 0, INTEGER, "N", "tokens of an example of text; longer ones are cut", NULL, false, 2, 1 << 20},
    {"output", 0, WORD, "NAME", "output that the head stands on (default: the first)", ONCE},
    {"optimizer", 0, AN_OPTIMIZER, "NAME", "rule that updates the weights", ONCE},
    {"lr", 0, NUMBER, "X", "learning rate", NULL, false, 0, 1000},
    {"schedule", 0, CHOICE, "linear|cosine|constant", "of the learning rate, after warming up", ONCE},
    {"weight-decay", 0, NUMBER, "X", "decay of the weights", NULL, false, 0, 1000},
    {"clip", 0, NUMBER, "X", "largest norm of the gradients; 0: any", NULL, false, 0, MOST_STEPS},
    {"freeze", 0, WORD, "GLOB", "parameters that are not trained; repeats", REPEATS},
    {0},
};
const option_group train_step_options = {"Training step", step_options, train_options_usual};

/* ---- what they are where they are not given ---- */

static void add(char out[OPTION_TEXT_MOST], const char *before, const char *word)
{
    const size_t n = strlen(out);
    snprintf(out + n, OPTION_TEXT_MOST - n, "%s%s", before, word);
}

static bool same_word(const char *a, const char *b)
{
    const size_t n = strcspn(a, " ");
    return b && strcspn(b, " ") == n && memcmp(a, b, n) == 0;
}

/* "1e-8 of adam, adamw; 1e-30 of adafactor": each optimizer's own, those that agree together. */
static void add_settings(char out[OPTION_TEXT_MOST], const char *name)
{
    const char *of;
    for (int i = 0; (of = ts_optimizer_name(i)); i++) {
        const char *value = step_value(ts_optimizer_settings(i), name);
        bool told = !value;
        for (int k = 0; k < i && !told; k++)
            told = same_word(value, step_value(ts_optimizer_settings(k), name));
        if (told)
            continue;
        char number[32];
        snprintf(number, sizeof number, "%.*s of ", (int)strcspn(value, " "), value);
        add(out, *out ? "; " : "", number);
        add(out, "", of);
        for (int k = i + 1; ts_optimizer_name(k); k++)
            if (same_word(value, step_value(ts_optimizer_settings(k), name)))
                add(out, ", ", ts_optimizer_name(k));
    }
}

static void add_other_optimizers(char out[OPTION_TEXT_MOST], const char *usual)
{
    const char *before = "; others: ", *name;
    for (int i = 0; (name = ts_optimizer_name(i)); i++)
        if (strcmp(name, usual) != 0)
            add(out, before, name), before = ", ";
}

void train_options_usual(const option *o, char out[OPTION_TEXT_MOST])
{
    const option_field *f = option_fields;
    *out = 0;
    while (f->name && strcmp(f->name, o->name) != 0)
        f++;
    if (!f->name)
        return;
    const char *own = step_setting(f->name);
    if (f->word)
        add(out, "", f->word);
    else if (f->fallback > 0 || (f->fallback == 0 && f->kind == OPTION_REAL))
        value_spell(o, f->fallback, out, OPTION_TEXT_MOST);
    else if (own && f->fallback < 0)
        add_settings(out, own);
    if (f->word && o->kind == AN_OPTIMIZER)
        add_other_optimizers(out, f->word);
}

/* ---- what was given ---- */

bool train_options_said(const args *a, const option_field *f)
{
    return verb_option(a->verb, f->name) && args_count(a, f->name);
}

char *train_options_text(const args *a, const char *name)
{
    char *out = NULL;
    for (int i = 0; i < args_count(a, name); i++)
        option_add_line(&out, args_at(a, name, i));
    return out;
}

void train_options_take(train_options *w, const args *a)
{
    for (const option_field *f = option_fields; f->name; f++) {
        if (!train_options_said(a, f))
            continue;
        void *at = (char *)w + f->at;
        if (f->kind == OPTION_WHOLE)
            *(int64_t *)at = args_integer(a, f->name);
        else if (f->kind == OPTION_FLAG)
            *(int64_t *)at = args_flag(a, f->name);
        else if (f->kind == OPTION_REAL)
            *(double *)at = args_number(a, f->name);
        else if (f->kind == OPTION_TEXT)
            option_set_text(option_place(w, f), args_text(a, f->name));
        else
            free(*option_place(w, f)), *option_place(w, f) = train_options_text(a, f->name);
    }
}
