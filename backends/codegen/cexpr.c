/* cexpr.c - building expressions, and their text. */
#include "backends/codegen/cexpr.h"

#include <string.h>

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

static cexpr *add(arena *mem, cexpr_kind kind, const char *s)
{
    cexpr *x = arena_get(mem, sizeof *x);
    *x = (cexpr){.kind = kind, .text = s, .load = IN_REGISTERS};
    return x;
}

const cexpr *cexpr_spelled(arena *mem, const char *s)
{
    return add(mem, C_WORD, arena_string(mem, s));
}

static bool is_word(const char *s) /* "acc", "v0.at", "1.5e-3f", "(-INFINITY)" */
{
    const bool blank = strchr(s, ' ');
    s += strspn(s, "(-");
    const size_t n = strspn(s, NAME_CHARS ".");
    return !blank && ((*s >= '0' && *s <= '9') || !s[n + (s[n] == ')')]);
}

/* What is computed is a tree: no pass would see it in here. */
const cexpr *cexpr_word(arena *mem, const char *s)
{
    MUST(is_word(s));
    return cexpr_spelled(mem, s);
}

const cexpr *cexpr_literal(arena *mem, const char *s, int64_t n)
{
    cexpr *x = add(mem, C_WORD, arena_string(mem, s));
    x->whole = W_NUMBER, x->number = n;
    return x;
}

const cexpr *cexpr_number(arena *mem, int64_t n)
{
    cexpr *x = add(mem, C_NUMBER, "");
    x->number = n;
    return x;
}

const cexpr *cexpr_element(arena *mem, const char *pointer, const cexpr *index, int load)
{
    return cexpr_at(mem, cexpr_word(mem, pointer), index, load);
}

static cexpr *with(arena *mem, cexpr_kind kind, const char *s, int n, const cexpr *const *arg)
{
    cexpr *x = add(mem, kind, s);
    const cexpr **all = arena_array(mem, (size_t)n + 1, sizeof *all);
    for (int i = 0; i < n; i++)
        all[i] = arg[i];
    x->n = n, x->arg = all;
    return x;
}

const cexpr *cexpr_at(arena *mem, const cexpr *pointer, const cexpr *index, int load)
{
    cexpr *x = with(mem, C_ELEMENT, "", 2, (const cexpr *const[]){index, pointer});
    x->load = load;
    return x;
}

const index_list *index_add(arena *mem, const index_list *before, const cexpr *at)
{
    index_list *s = arena_get(mem, sizeof *s);
    *s = (index_list){before, at};
    return s;
}

const cexpr *cexpr_indexed(arena *mem, const char *name, const index_list *all)
{
    return all ? cexpr_at(mem, cexpr_indexed(mem, name, all->before), all->at, IN_REGISTERS) : cexpr_word(mem, name);
}

const cexpr *cexpr_pointer(arena *mem, const char *type, const cexpr *base, const cexpr *index, int bytes)
{
    int64_t number;
    if (!*type && cexpr_known(index, &number) && !number)
        return base;
    cexpr *x = with(mem, C_POINTER, type, 2, (const cexpr *const[]){base, index});
    x->number = bytes;
    return x;
}

const cexpr *cexpr_form(arena *mem, const char *form, int n, const cexpr *const *arg)
{
    if (n && !strcmp(form, "$0"))
        return *arg;
    return with(mem, C_FORM, form, n, arg);
}

const cexpr *cexpr_one(arena *mem, const char *form, const cexpr *a)
{
    return cexpr_form(mem, form, 1, &a);
}

const cexpr *cexpr_two(arena *mem, const char *form, const cexpr *a, const cexpr *b)
{
    return cexpr_form(mem, form, 2, (const cexpr *const[]){a, b});
}

const cexpr *cexpr_list(arena *mem, const cexpr *all, const cexpr *more)
{
    return all ? cexpr_two(mem, "$0, $1", all, more) : more;
}

const cexpr *cexpr_lanes(arena *mem, const char *does, instance of, const char *form, int n, const cexpr *const *arg)
{
    cexpr *x = (cexpr *)cexpr_form(mem, form, n, arg);
    if (!n || x != *arg)
        x->does = does, x->of = of;
    return x;
}

/* ---- whole numbers ---- */
bool cexpr_known(const cexpr *x, int64_t *number)
{
    *number = x->number;
    return x->kind == C_NUMBER;
}

const cexpr *cexpr_sum(arena *mem, int64_t number, int n, const cexpr *const *arg, const int64_t *times)
{
    const cexpr **of = arena_array(mem, (size_t)n + 1, sizeof *of);
    int64_t *own = arena_array(mem, (size_t)n + 1, sizeof *own);
    int k = 0;
    for (int i = 0; i < n; i++)
        if (arg[i]->kind == C_NUMBER)
            number += times[i] * arg[i]->number;
        else
            of[k] = arg[i], own[k++] = times[i];
    if (!k)
        return cexpr_number(mem, number);
    if (k == 1 && !number && *own == 1)
        return *of;
    cexpr *x = add(mem, C_SUM, "");
    x->n = k, x->arg = of, x->times = own, x->number = number;
    return x;
}

const cexpr *cexpr_plus(arena *mem, const cexpr *a, int64_t number)
{
    return a->kind == C_SUM ? cexpr_sum(mem, a->number + number, a->n, a->arg, a->times)
                            : cexpr_sum(mem, number, 1, &a, (const int64_t[]){1});
}

const cexpr *cexpr_times(arena *mem, const cexpr *a, int64_t number)
{
    return cexpr_sum(mem, 0, 1, &a, &number);
}

const cexpr *cexpr_floor(arena *mem, const cexpr *a, int64_t by, bool below)
{
    if (by == 1)
        return a;
    if (a->kind == C_NUMBER)
        return cexpr_number(mem, int_floor_div(a->number, by));
    cexpr *x = add(mem, C_FLOOR, "");
    const cexpr **arg = arena_array(mem, 1, sizeof *arg);
    *arg = a;
    x->n = 1, x->arg = arg, x->number = by, x->below = below;
    return x;
}

const cexpr *cexpr_whole_as(arena *mem, whole_op does, const char *form, int n, const cexpr *const *arg)
{
    cexpr *x = with(mem, C_FORM, form, n, arg);
    x->whole = does;
    return x;
}

const cexpr *cexpr_whole(arena *mem, whole_op does, const cexpr *a, const cexpr *b)
{
    static const char *const form[] = {
        [W_LESS] = "($0 < $1)",     [W_LEAST] = "($0 >= $1)", [W_SAME] = "($0 == $1)",   [W_MIN] = "MIN($0, $1)",
        [W_MAX] = "MAX($0, $1)",    [W_BOTH] = "($0 && $1)",  [W_EITHER] = "($0 || $1)", [W_REST] = "($0 % $1)",
        [W_QUOTIENT] = "($0 / $1)", [W_TIMES] = "($0 * $1)",  [W_BITS] = "($0 ^ $1)",
    };
    return cexpr_whole_as(mem, does, form[does], 2, (const cexpr *const[]){a, b});
}

const cexpr *cexpr_least(arena *mem, const cexpr *a, const cexpr *b)
{
    if (a->kind == C_NUMBER && b->kind == C_NUMBER)
        return a->number < b->number ? a : b;
    return cexpr_whole(mem, W_MIN, a, b);
}

const cexpr *cexpr_most(arena *mem, const cexpr *a, const cexpr *b)
{
    if (a->kind == C_NUMBER && b->kind == C_NUMBER)
        return a->number < b->number ? b : a;
    return cexpr_whole(mem, W_MAX, a, b);
}

const cexpr *cexpr_both(arena *mem, const cexpr *a, const cexpr *b)
{
    return a ? cexpr_whole(mem, W_BOTH, a, b) : b;
}

const cexpr *cexpr_not(arena *mem, const cexpr *a)
{
    return cexpr_whole_as(mem, W_NOT, "(!$0)", 1, &a);
}

const cexpr *cexpr_cast(arena *mem, const char *form, const cexpr *a)
{
    return cexpr_whole_as(mem, W_CAST, form, 1, &a);
}

bool cexpr_same(const cexpr *a, const cexpr *b)
{
    bool same = a->kind == b->kind && a->n == b->n && a->number == b->number && !strcmp(a->text, b->text);
    for (int i = 0; i < a->n && same; i++)
        same = cexpr_same(a->arg[i], b->arg[i]) && (a->kind != C_SUM || a->times[i] == b->times[i]);
    return same;
}

bool cexpr_in_memory(const cexpr *x)
{
    return x->kind == C_ELEMENT && x->load != IN_REGISTERS;
}

bool cexpr_names(const cexpr *x)
{
    return x->kind == C_WORD && !x->text[strspn(x->text, NAME_CHARS)];
}

/* Words that are no names say nothing of what is in them. */
bool cexpr_over(const cexpr *x, const char *name)
{
    bool any = x->kind == C_WORD   ? !strcmp(x->text, name) || !cexpr_names(x)
               : x->kind == C_TILE ? true
                                   : cexpr_in_memory(x);
    for (int i = 0; i < x->n && !any; i++)
        any = cexpr_over(x->arg[i], name);
    return any;
}

const cexpr *cexpr_tile(arena *mem, int number, int n, const cexpr *const *arg)
{
    cexpr *x = with(mem, C_TILE, "", n, arg);
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

/* Of n terms in a row; C rounds quotients towards zero: right where what is divided is never negative. */
static void print_sum(text *t, const cexpr *x)
{
    for (int i = 0; i < x->n; i++) {
        const int64_t times = x->times[i], size = times < 0 ? -times : times;
        text_add(t, i ? times < 0 ? " - " : " + " : times < 0 ? "-" : "");
        if (size != 1)
            text_add(t, "%lld * ", (long long)size);
        cexpr_print(t, x->arg[i], ATOM);
    }
    if (x->number)
        text_add(t, " %c %lld", x->number < 0 ? '-' : '+', (long long)(x->number < 0 ? -x->number : x->number));
}

static void print_floor(text *t, const cexpr *x)
{
    text_add(t, x->below ? "whole_div(" : "");
    cexpr_print(t, *x->arg, x->below ? ANY : ATOM);
    text_add(t, x->below ? ", %lld)" : " / %lld", (long long)x->number);
}

static void print_pointer(text *t, const cexpr *x)
{
    int64_t number;
    const bool at_start = cexpr_known(x->arg[1], &number) && !number, of = *x->text && !at_start;
    text_add(t, *x->text ? "(%s)" : "%s", x->text);
    text_add(t, of ? "(" : "");
    cexpr_print(t, x->arg[0], at_start && *x->text ? PREFIX : SUM);
    if (!at_start)
        text_add(t, " + "), cexpr_print(t, x->arg[1], x->arg[1]->kind == C_FLOOR ? ATOM : SUM);
    text_add(t, of ? ")" : "");
}

static void print_call(text *t, const cexpr *x)
{
    text_add(t, "tile%d(", x->load);
    for (int i = 0; i < x->n; i++)
        text_add(t, i ? ", " : ""), cexpr_print(t, x->arg[i], ANY);
    text_add(t, ")");
}

static binding own_binding(const cexpr *x) /* a sum's, quotient's or pointer's */
{
    if (x->kind == C_POINTER)
        return *x->text ? PREFIX : SUM;
    if (x->kind == C_FLOOR)
        return x->below ? ATOM : PRODUCT;
    return x->n > 1 || x->number ? SUM : *x->times < 0 ? PREFIX : PRODUCT;
}

void cexpr_print(text *t, const cexpr *x, binding asked)
{
    const bool binds = x->kind == C_SUM || x->kind == C_FLOOR || x->kind == C_POINTER,
               brackets = binds && own_binding(x) < asked;
    text_add(t, brackets ? "(" : "");
    switch (x->kind) {
    case C_FORM: print_form(t, x, asked); break;
    case C_SUM: print_sum(t, x); break;
    case C_FLOOR: print_floor(t, x); break;
    case C_NUMBER: text_add(t, "%lld", (long long)x->number); break;
    case C_POINTER: print_pointer(t, x); break;
    case C_ELEMENT:
        cexpr_print(t, x->arg[1], ATOM), text_add(t, "["), cexpr_print(t, *x->arg, ANY), text_add(t, "]");
        break;
    case C_TILE: print_call(t, x); break;
    case C_WORD: text_add(t, "%s", x->text); break;
    }
    text_add(t, brackets ? ")" : "");
}

const char *cexpr_text(arena *mem, const cexpr *x)
{
    ENDED_BY(text_free) text t = {0};
    cexpr_print(&t, x, ANY);
    return arena_string(mem, text_str(&t));
}
