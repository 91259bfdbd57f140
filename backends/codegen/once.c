/* once.c - a loop of one trip is a block in which its variable is a number, and a test around it where it may have
 * none. A loop that a language spells in its own way stays, and one that something in it may end. */
#include "backends/codegen/passes.h"

/* Something in it ends it; what ends a loop within does not. */
static bool is_left(const stmt *in)
{
    bool any = false;
    for (const stmt *s = in->first; s && !any; s = s->next) {
        const bool loops = s->kind == S_LOOP || s->kind == S_CHUNKS || s->kind == S_REPEAT;
        any = s->kind == S_LEAVE || (!loops && (is_left(s) || (s->other && is_left(s->other))));
    }
    return any;
}

static bool makes_one(const stmt *s, const dialect *d, int64_t *number)
{
    const role_form *r = s->role ? role_form_of(d, s->role) : NULL;
    return s->kind == S_LOOP && s->trips == 1 && !(r && r->head) && !is_left(s) && cexpr_known(s->from, number);
}

static void name_number(stmt *in, arena *mem, int64_t number)
{
    code front = code_begin(mem);
    code_add(&front, (stmt){.kind = S_CONSTANT, .name = in->name, .value = cexpr_number(mem, number)});
    code_before(in, &front);
}

static void become_block(stmt *s, arena *mem, int64_t number)
{
    int64_t end;
    name_number(s, mem, number);
    if (!cexpr_known(s->to, &end))
        s->kind = S_IF, s->value = cexpr_whole(mem, W_LESS, s->from, s->to);
    else
        s->kind = S_BLOCK;
    s->tight = false;
}

bool pass_once(stmt *in, arena *mem, const dialect *d, err *e)
{
    for (stmt *s = in->first; s; s = s->next) {
        int64_t number;
        pass_once(s, mem, d, e);
        if (s->other)
            pass_once(s->other, mem, d, e);
        if (makes_one(s, d, &number))
            become_block(s, mem, number);
    }
    return true;
}
