/* train_options.c - the table of train/options.h read from a command line. */
#include "cli/train_options.h"

bool train_options_said(const args *a, const option_field *f)
{
    return verb_option(a->verb, f->name) && args_count(a, f->name);
}

void train_options_take(train_options *w, const args *a)
{
    for (const option_field *f = option_fields; f->name; f++) {
        if (!train_options_said(a, f))
            continue;
        void *at = (char *)w + f->at;
        if (f->kind == OPTION_WHOLE)
            *(int64_t *)at = args_integer(a, f->name, 0);
        else if (f->kind == OPTION_FLAG)
            *(int64_t *)at = args_flag(a, f->name);
        else if (f->kind == OPTION_REAL)
            *(double *)at = args_number(a, f->name, 0);
        else if (f->kind == OPTION_TEXT)
            option_set_text(option_place(w, f), args_text(a, f->name, NULL));
        else {
            option_set_text(option_place(w, f), NULL);
            for (int i = 0; i < args_count(a, f->name); i++)
                option_add_line(option_place(w, f), args_at(a, f->name, i));
        }
    }
}
