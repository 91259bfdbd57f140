/* cexpr.c - building expressions, and their text. */
#include "backends/codegen/cexpr.h"

#include <string.h>

static cexpr *add(arena *mem, cexpr_kind kind, const char *s)
{
    cexpr *x = arena_get(mem, sizeof *x);
    *x = (cexpr){.kind = kind, .text = s, .load = IN_REGISTERS, .n_over = -1};
    return x;
}

const cexpr *cexpr_word(arena *mem, const char *s)
{
    return add(mem, C_WORD, arena_string(mem, s));
}

const cexpr *cexpr_number(arena *mem, int64_t n)
{
    return cexpr_word(mem, arena_format(mem, "%lld", (long long)n));
}

const cexpr *cexpr_element(arena *mem, const char *pointer, const cexpr *index, int load)
{
    cexpr *x = add(mem, C_ELEMENT, arena_string(mem, pointer));
    const cexpr **arg = arena_array(mem, 1, sizeof *arg);
    *arg = index;
    x->n = 1, x->arg = arg, x->load = load;
    return x;
}

const cexpr *cexpr_form(arena *mem, const char *form, int n, const cexpr *const *arg)
{
    if (n && !strcmp(form, "$0"))
        return *arg;
    cexpr *x = add(mem, C_FORM, form);
    const cexpr **all = arena_array(mem, (size_t)n + 1, sizeof *all);
    for (int i = 0; i < n; i++)
        all[i] = arg[i];
    x->n = n, x->arg = all;
    return x;
}

const cexpr *cexpr_one(arena *mem, const char *form, const cexpr *a)
{
    return cexpr_form(mem, form, 1, &a);
}

const cexpr *cexpr_two(arena *mem, const char *form, const cexpr *a, const cexpr *b)
{
    return cexpr_form(mem, form, 2, (const cexpr *const[]){a, b});
}

const cexpr *cexpr_lanes(arena *mem, const char *does, instance of, const char *form, int n, const cexpr *const *arg)
{
    cexpr *x = (cexpr *)cexpr_form(mem, form, n, arg);
    if (!n || x != *arg)
        x->does = does, x->of = of;
    return x;
}

const cexpr *cexpr_index(arena *mem, const char *s, int n, const char *const *over)
{
    cexpr *x = add(mem, C_WORD, s);
    x->n_over = n, x->over = over;
    return x;
}

bool cexpr_over(const cexpr *index, const char *name)
{
    bool any = index->n_over < 0;
    for (int i = 0; i < index->n_over && !any; i++)
        any = !strcmp(index->over[i], name);
    return any;
}

const cexpr *cexpr_tile(arena *mem, const char *call, int number)
{
    cexpr *x = add(mem, C_TILE, arena_string(mem, call));
    x->load = number;
    return x;
}

/* ---- text ---- */
/* The form, without its outer brackets where they say nothing. */
static const char *open_form(const cexpr *x, binding asked, size_t *n)
{
    const binding own = form_binding(x->text);
    const bool bare = own < ATOM && own >= asked;
    *n = strlen(x->text) - (bare ? 2 : 0);
    return x->text + bare;
}

static void print_form(text *t, const cexpr *x, binding asked)
{
    size_t n;
    const char *s = open_form(x, asked, &n);
    for (const char *end = s + n; s < end; s++)
        if (*s == '$')
            cexpr_print(t, x->arg[s[1] - '0'], form_asks(x->text, s)), s++;
        else
            text_bytes(t, s, 1);
}

void cexpr_print(text *t, const cexpr *x, binding asked)
{
    if (x->kind == C_FORM) {
        print_form(t, x, asked);
        return;
    }
    text_add(t, "%s", x->text);
    if (x->kind == C_ELEMENT)
        text_add(t, "["), cexpr_print(t, *x->arg, ANY), text_add(t, "]");
}

const char *cexpr_text(arena *mem, const cexpr *x)
{
    text t = {0};
    cexpr_print(&t, x, ANY);
    const char *s = arena_string(mem, text_str(&t));
    text_free(&t);
    return s;
}
