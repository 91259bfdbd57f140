/* barriers.c - barriers of the workers of a group. One behind another, with nothing between, goes. One that some
 * workers pass and others do not, as these make other trips of a loop or decide a test otherwise, would never end: it
 * is refused. */
#include "backends/codegen/passes.h"

/* met: the last thing that was done is a barrier */
static void drop_repeated(stmt *in, bool *met)
{
    stmt *before = NULL;
    for (stmt *s = in->first; s; s = s->next) {
        bool inner = s->kind == S_STAGE && *met, other = false; /* a stage is what is in it */
        if (s->kind == S_BARRIER && *met) {
            if (before)
                before->next = s->next;
            else
                in->first = s->next;
            in->last = in->last == s ? before : in->last;
            continue;
        }
        drop_repeated(s, &inner);
        if (s->other)
            drop_repeated(s->other, &other);
        *met = s->kind == S_BARRIER || (s->kind == S_STAGE && inner);
        before = s;
    }
}

static bool diverges(const stmt *s, const dialect *d)
{
    const role_form *r = s->kind == S_LOOP && s->role ? role_form_of(d, s->role) : NULL;
    return s->divergent || (r && r->divergent);
}

/* The loop or condition that makes only some workers reach a barrier in it; NULL: there is none */
static const stmt *stray(const stmt *in, const dialect *d, const stmt *around)
{
    const stmt *found = NULL;
    for (const stmt *s = in->first; s && !found; s = s->next) {
        const stmt *inner = diverges(s, d) ? s : around;
        if (s->kind == S_BARRIER)
            return around;
        found = stray(s, d, inner);
        if (!found && s->other)
            found = stray(s->other, d, inner);
    }
    return found;
}

bool pass_barriers(stmt *in, arena *mem, const dialect *d, err *e)
{
    bool met = false;
    drop_repeated(in, &met);
    const stmt *around = stray(in, d, NULL);
    if (!around)
        return true;
    err_set(e, TS_UNSUPPORTED,
            "workers of a group would wait for one another inside %s \"%s\", of which each makes other trips",
            around->kind == S_LOOP ? "loop" : "a test of",
            around->kind == S_LOOP ? around->name : cexpr_text(mem, around->value));
    return err_hint(e, "copy the operand at a loop outside of it");
}
