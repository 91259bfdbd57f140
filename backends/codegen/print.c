/* print.c - statements as text, through a dialect: the one place where what is generated gets its braces. */
#include "backends/codegen/stmt.h"

#include <stdio.h>
#include <string.h>

static void print(text *t, const dialect *d, const stmt *s);

void stmt_print(text *t, const dialect *d, const stmt *in)
{
    for (const stmt *s = in->first; s; s = s->next)
        print(t, d, s);
}

static bool is_line(const stmt *s) /* it is written as one line */
{
    return s->kind == S_STORE || s->kind == S_CALL || s->kind == S_FETCH;
}

static void print_in(text *t, const dialect *d, const char *head, const stmt *s) /* what is in s, behind a head */
{
    if (s->kind == S_LOOP && s->tight && is_line(s->first)) {
        text line = {0};
        stmt_print(&line, d, s);
        text_add(t, "%*s%s %s", 4 * t->depth, "", head, line.s);
        text_free(&line);
        return;
    }
    text_line(t, s->tight ? "%s" : *head ? "%s {" : "%s{", head);
    t->depth++;
    stmt_print(t, d, s);
    t->depth--;
    if (!s->tight)
        text_line(t, "}");
}

static void print_form(text *t, const dialect *d, const char *form, const char *const *arg)
{
    text line = {0};
    form_write(&line, NULL, d, form, arg);
    text_line(t, "%s", text_str(&line));
    text_free(&line);
}

static void print_loop(text *t, const dialect *d, const stmt *s)
{
    const role_form *r = s->role ? role_form_of(d, s->role) : NULL;
    const char *before = s->how == IN_LANES ? d->lanes : s->how == WRITTEN_OUT ? d->unroll : NULL;
    char step[24], trips[24];
    text head = {0};
    snprintf(step, sizeof step, "%lld", (long long)s->step), snprintf(trips, sizeof trips, "%lld", (long long)s->trips);
    if (before)
        print_form(t, d, before, (const char *[]){trips});
    if (r && r->head)
        form_write(&head, NULL, d, r->head, (const char *[]){s->name, s->from, s->to, step});
    else {
        text_add(&head, "for (%s %s = %s; %s < %s; %s", d->index, s->name, s->from, s->name, s->to, s->name);
        text_add(&head, s->step == 1 ? "++)" : " += %s)", step);
    }
    print_in(t, d, text_str(&head), s);
    text_free(&head);
}

static void print_chunks(text *t, const dialect *d, const stmt *s)
{
    char trips[24];
    int n = 0;
    snprintf(trips, sizeof trips, "%lld", (long long)s->trips);
    for (; d->chunks[n]; n++, t->depth++)
        print_form(t, d, d->chunks[n], (const char *[]){s->name, trips});
    stmt_print(t, d, s);
    while (n-- > 0)
        t->depth--, text_line(t, "}");
}

static void print_if(text *t, const dialect *d, const stmt *s)
{
    text head = {0};
    text_add(&head, "if (%s)", s->value);
    print_in(t, d, text_str(&head), s);
    text_free(&head);
    if (s->other) {
        stmt other = *s->other;
        other.tight = other.first == other.last;
        print_in(t, d, "else", &other);
    }
}

static void print_let(text *t, const stmt *s)
{
    const char *of = s->type;
    text line = {0};
    text_add(&line, "%s%s%s", of, of[strlen(of) - 1] == '*' ? "" : " ", s->name);
    if (s->value)
        text_add(&line, " = %s", s->value);
    for (const stmt *q = s->first; q; q = q->next)
        text_add(&line, ", %s = %s", q->name, q->value);
    text_line(t, "%s;", line.s);
    text_free(&line);
}

static void print_number(text *t, const dialect *d, const char *form, const stmt *s)
{
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)s->trips);
    print_form(t, d, form, (const char *[]){s->value, number});
}

static void print(text *t, const dialect *d, const stmt *s)
{
    switch (s->kind) {
    case S_BLOCK: print_in(t, d, "", s); break;
    case S_STAGE: stmt_print(t, d, s); break;
    case S_LOOP: print_loop(t, d, s); break;
    case S_CHUNKS: print_chunks(t, d, s); break;
    case S_REPEAT: {
        text head = {0};
        text_add(&head, "for (;; %s)", s->value);
        print_in(t, d, text_str(&head), s);
        text_free(&head);
        break;
    }
    case S_IF: print_if(t, d, s); break;
    case S_LET: print_let(t, s); break;
    case S_CONSTANT: print_form(t, d, d->constant, (const char *[]){s->name, s->value}); break;
    case S_TABLE: print_form(t, d, d->table, (const char *[]){s->name, s->value}); break;
    case S_STORE: text_line(t, "%s %s= %s;", s->name, s->by ? s->by : "", s->value); break;
    case S_CALL: text_line(t, "%s;", s->value); break;
    case S_LEAVE: text_line(t, "break;"); break;
    case S_RETURN: text_line(t, "return;"); break;
    case S_BARRIER: text_line(t, "%s;", d->barrier); break;
    case S_FETCH: print_number(t, d, d->fetch, s); break;
    case S_MMA: print_form(t, d, d->matrix[s->trips].text, (const char *[]){s->name, s->from, s->to}); break;
    case S_COMMENT: text_line(t, "/* %s */", s->value); break;
    }
}
