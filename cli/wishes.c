#include "cli/wishes.h"

bool wishes_said(const args *a, const wish_field *f)
{
    return verb_option(a->verb, f->name) && args_count(a, f->name);
}

void wishes_take(train_wish *w, const args *a)
{
    for (const wish_field *f = wish_fields; f->name; f++) {
        if (!wishes_said(a, f))
            continue;
        void *at = (char *)w + f->at;
        if (f->kind == WISH_WHOLE)
            *(int64_t *)at = args_integer(a, f->name, 0);
        else if (f->kind == WISH_FLAG)
            *(int64_t *)at = args_flag(a, f->name);
        else if (f->kind == WISH_REAL)
            *(double *)at = args_number(a, f->name, 0);
        else if (f->kind == WISH_TEXT)
            wish_set_text(wish_text(w, f), args_text(a, f->name, NULL));
        else {
            wish_set_text(wish_text(w, f), NULL);
            for (int i = 0; i < args_count(a, f->name); i++)
                wish_add_line(wish_text(w, f), args_at(a, f->name, i));
        }
    }
}
