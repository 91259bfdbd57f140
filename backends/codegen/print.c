/* print.c - statements as text, through a dialect: the one place where what is generated gets its braces. */
#include "backends/codegen/stmt.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static void print(text *t, const dialect *d, const stmt *s);

void stmt_print(text *t, const dialect *d, const stmt *in)
{
    for (const stmt *s = in->first; s; s = s->next)
        print(t, d, s);
}

enum { COLUMNS = 120 };

/* The best place within `room` to break a line: inside as few brackets as possible, after a comma or "=" rather than
 * before an operator, and as far right as possible. 0: there is none. */
static size_t place_to_cut(const char *s, size_t room)
{
    size_t best = 0;
    int depth = 0, least = INT_MAX;
    for (size_t i = 1; i < room && s[i]; i++) {
        depth += (s[i] == '(' || s[i] == '[') - (s[i] == ')' || s[i] == ']');
        const bool behind = s[i] == ' ' && (s[i - 1] == ',' || (s[i - 1] == '=' && s[i - 2] == ' ')),
                   before = s[i] == ' ' && s[i + 1] && strchr("+-*/?:&|", s[i + 1]) && strchr(" &|", s[i + 2]);
        const int price = 2 * depth + !behind;
        if ((behind || before) && price <= least)
            best = i, least = price;
    }
    return best;
}

/* One statement: several lines where it is longer than 120 columns. */
static void print_line(text *t, const char *s)
{
    const int deep = t->depth;
    for (size_t n; 4 * (size_t)t->depth + strlen(s) > COLUMNS; s += n + 1, t->depth = deep + 1) {
        const size_t room = 4 * t->depth < COLUMNS / 2 ? (size_t)(COLUMNS - 4 * t->depth) : COLUMNS / 2;
        if (!(n = place_to_cut(s, room)))
            break;
        text_line(t, "%.*s", (int)n, s);
    }
    text_line(t, "%s", s);
    t->depth = deep;
}

/* Heads of functions, which dialects write: they may be of any length. */
void stmt_lines(text *t, const char *lines)
{
    for (size_t n; *lines; lines += n + (lines[n] == '\n')) {
        ENDED_BY(text_free) text one = {0};
        n = strcspn(lines, "\n");
        text_bytes(&one, lines, n);
        if (*lines == '#')
            text_line(t, "%s", text_str(&one)); /* a directive is one line */
        else
            print_line(t, text_str(&one));
    }
}

/* What is in it gives names, which are its own only between braces. Calls give none. */
static bool declares(const stmt *in)
{
    bool any = false;
    for (const stmt *s = in->first; s && !any; s = s->next)
        any = s->kind == S_LET || s->kind == S_CONSTANT || s->kind == S_TABLE || (s->kind == S_STAGE && declares(s));
    return any;
}

static bool is_bare(const stmt *s) /* a block that needs no braces */
{
    return s->kind == S_BLOCK && !declares(s);
}

/* It writes one statement, which may stand where one is expected. */
static bool is_single(const stmt *in)
{
    const stmt *s = in->first;
    return s && s == in->last && (!is_bare(s) || is_single(s));
}

static bool is_line(const stmt *s) /* it is written as one line */
{
    return s->kind == S_STORE || s->kind == S_CALL || s->kind == S_FETCH;
}

static void print_in(text *t, const dialect *d, const char *head, const stmt *s) /* what is in s, behind a head */
{
    if (s->kind == S_LOOP && s->tight && is_line(s->first)) {
        ENDED_BY(text_free) text line = {0};
        stmt_print(&line, d, s);
        const bool fits = 4 * (size_t)t->depth + strlen(head) + line.length <= COLUMNS;
        if (fits)
            text_add(t, "%*s%s %s", 4 * t->depth, "", head, line.s);
        if (fits)
            return;
    }
    const bool braces = !s->tight || !is_single(s);
    text_line(t, !braces ? "%s" : *head ? "%s {" : "%s{", head);
    t->depth++;
    stmt_print(t, d, s);
    t->depth--;
    if (braces)
        text_line(t, "}");
}

static void print_form(text *t, const dialect *d, const char *form, const char *const *arg)
{
    ENDED_BY(text_free) text line = {0};
    form_write(&line, NULL, d, form, arg);
    print_line(t, text_str(&line));
}

static void print_loop(text *t, const dialect *d, const stmt *s)
{
    const role_form *r = s->role ? role_form_of(d, s->role) : NULL;
    const char *before = s->how == IN_LANES ? d->lanes : s->how == WRITTEN_OUT ? d->unroll : NULL;
    char step[24], trips[24];
    ENDED_BY(text_free) text head = {0};
    ENDED_BY(arena_free) arena mem = {0};
    const char *from = cexpr_text(&mem, s->from), *to = cexpr_text(&mem, s->to);
    snprintf(step, sizeof step, "%lld", (long long)s->step),
        snprintf(trips, sizeof trips, "%lld", (long long)(s->together ? s->together : s->trips));
    if (before)
        print_form(t, d, before, (const char *[]){trips});
    if (r && r->head)
        form_write(&head, NULL, d, r->head, (const char *[]){s->name, from, to, step});
    else {
        text_add(&head, "for (%s %s = %s; %s < %s; %s", d->index, s->name, from, s->name, to, s->name);
        text_add(&head, s->step == 1 ? "++)" : " += %s)", step);
    }
    print_in(t, d, text_str(&head), s);
}

static void print_chunks(text *t, const dialect *d, const stmt *s)
{
    arena mem = {0};
    const char *trips = cexpr_text(&mem, s->to ? s->to : cexpr_number(&mem, s->trips));
    int n = 0;
    for (; d->chunks[n]; n++, t->depth++)
        print_form(t, d, d->chunks[n], (const char *[]){s->name, trips});
    arena_free(&mem);
    stmt_print(t, d, s);
    while (n-- > 0)
        t->depth--, text_line(t, "}");
}

static void print_if(text *t, const dialect *d, const stmt *s)
{
    ENDED_BY(text_free) text head = {0};
    text_add(&head, "if ("), cexpr_print(&head, s->value, ANY), text_add(&head, ")");
    print_in(t, d, text_str(&head), s);
    if (s->other) {
        stmt other = *s->other;
        other.tight = other.first == other.last;
        print_in(t, d, "else", &other);
    }
}

static void print_let(text *t, const stmt *s)
{
    const char *of = s->type;
    ENDED_BY(text_free) text line = {0};
    text_add(&line, "%s%s%s%s", of, of[strlen(of) - 1] == '*' ? "" : " ", s->name, s->dims ? s->dims : "");
    if (s->value)
        text_add(&line, " = "), cexpr_print(&line, s->value, ANY);
    for (const stmt *q = s->first; q; q = q->next)
        text_add(&line, ", %s = ", q->name), cexpr_print(&line, q->value, ANY);
    text_add(&line, ";");
    print_line(t, line.s);
}

static void print_simple(text *t, const stmt *s)
{
    ENDED_BY(text_free) text line = {0};
    if (s->kind == S_STORE)
        cexpr_print(&line, s->place, ANY), text_add(&line, " = ");
    cexpr_print(&line, s->value, ANY), text_add(&line, ";");
    print_line(t, line.s);
}

static void print_value(text *t, const dialect *d, const char *form, const stmt *s) /* with what else it says */
{
    char number[24];
    ENDED_BY(text_free) text value = {0};
    snprintf(number, sizeof number, "%lld", (long long)s->trips);
    cexpr_print(&value, s->value, ANY);
    print_form(t, d, form, (const char *[]){s->name ? s->name : text_str(&value), s->name ? text_str(&value) : number});
}

static void print(text *t, const dialect *d, const stmt *s)
{
    switch (s->kind) {
    case S_BLOCK:
        if (is_bare(s))
            stmt_print(t, d, s);
        else
            print_in(t, d, "", s);
        break;
    case S_STAGE: stmt_print(t, d, s); break;
    case S_LOOP: print_loop(t, d, s); break;
    case S_CHUNKS: print_chunks(t, d, s); break;
    case S_REPEAT: {
        ENDED_BY(text_free) text head = {0};
        text_add(&head, "for (;; "), cexpr_print(&head, s->place, ANY), text_add(&head, " = ");
        cexpr_print(&head, s->value, ANY), text_add(&head, ")");
        print_in(t, d, text_str(&head), s);
        break;
    }
    case S_IF: print_if(t, d, s); break;
    case S_LET: print_let(t, s); break;
    case S_CONSTANT: print_value(t, d, d->constant, s); break;
    case S_TABLE: print_value(t, d, d->table, s); break;
    case S_STORE:
    case S_CALL: print_simple(t, s); break;
    case S_LEAVE: text_line(t, "break;"); break;
    case S_RETURN: text_line(t, "return;"); break;
    case S_BARRIER: text_line(t, "%s;", d->barrier); break;
    case S_FETCH: print_value(t, d, d->fetch, s); break;
    }
}
