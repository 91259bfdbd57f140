/* stmt.c - building statements, and what can be seen of them. */
#include "backends/codegen/stmt.h"

code code_begin(arena *mem)
{
    stmt *root = arena_get(mem, sizeof *root);
    root->kind = S_BLOCK;
    return (code){mem, root};
}

static const char *copied(arena *mem, const char *s)
{
    return s ? arena_string(mem, s) : NULL;
}

stmt *code_add(code *c, stmt s)
{
    stmt *q = arena_get(c->mem, sizeof *q);
    *q = s;
    q->name = copied(c->mem, s.name), q->type = copied(c->mem, s.type);
    q->step = s.step ? s.step : 1, q->up = c->at;
    if (c->at->last)
        c->at->last->next = q;
    else
        c->at->first = q;
    c->at->last = q;
    return q;
}

stmt *code_open(code *c, stmt s)
{
    return c->at = code_add(c, s);
}

void code_close(code *c)
{
    MUST(c->at->up);
    c->at = c->at->up;
}

void code_else(code *c, stmt *test)
{
    stmt *q = arena_get(c->mem, sizeof *q);
    q->kind = S_BLOCK, q->up = c->at;
    c->at = test->other = q;
}

void code_before(stmt *in, const code *c)
{
    if (!c->at->first)
        return;
    c->at->last->next = in->first;
    in->first = c->at->first;
    if (!in->last)
        in->last = c->at->last;
}

const char *code_keep(code *c, text *t)
{
    const char *s = arena_string(c->mem, text_str(t));
    text_free(t);
    *t = (text){0};
    return s;
}

void code_if(code *c, const cexpr *value)
{
    code_open(c, (stmt){.kind = S_IF, .value = value});
}

stmt *code_let(code *c, const char *of, const char *name, const cexpr *value)
{
    return code_add(c, (stmt){.kind = S_LET, .type = of, .name = name, .value = value});
}

stmt *code_array(code *c, const char *of, const char *name, const char *dims)
{
    return code_add(c, (stmt){.kind = S_LET, .type = of, .name = name, .dims = dims});
}

void code_also(code *c, const char *name, const cexpr *value)
{
    code in = {c->mem, c->at->last};
    code_add(&in, (stmt){.kind = S_LET, .name = name, .value = value});
}

void code_store(code *c, const cexpr *to, const cexpr *value)
{
    code_add(c, (stmt){.kind = S_STORE, .place = to, .value = value});
}

void code_call(code *c, const cexpr *value)
{
    code_add(c, (stmt){.kind = S_CALL, .value = value});
}

/* ---- what can be seen of them ---- */
int64_t stmt_copied(const stmt *in)
{
    int64_t most = 0;
    for (const stmt *s = in->first; s; s = s->next) {
        const int64_t own = s->kind == S_STAGE ? s->offset + s->bytes : 0, inner = stmt_copied(s),
                      other = s->other ? stmt_copied(s->other) : 0;
        most = own > most ? own : most, most = inner > most ? inner : most, most = other > most ? other : most;
    }
    return most;
}
