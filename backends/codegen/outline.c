/* outline.c - statements as people look them through, in no language: a line for each, loops with their bounds, trips
 * and roles. What programs are made of is print.c's. */
#include "backends/codegen/emit.h"

static const char *const kinds[] = {[S_BLOCK] = "block",   [S_STAGE] = "copy into scratch",
                                    [S_LOOP] = "loop",     [S_CHUNKS] = "chunks",
                                    [S_REPEAT] = "repeat", [S_IF] = "if",
                                    [S_LET] = "let",       [S_CONSTANT] = "constant",
                                    [S_TABLE] = "table",   [S_STORE] = "store",
                                    [S_CALL] = "call",     [S_LEAVE] = "leave",
                                    [S_RETURN] = "return", [S_BARRIER] = "barrier",
                                    [S_FETCH] = "fetch"};
static const char *const ways[] = {[AS_IT_IS] = "", [WRITTEN_OUT] = ", written out", [IN_LANES] = ", in lanes"};

static void add_part(text *t, const char *before, const cexpr *x)
{
    if (!x)
        return;
    text_add(t, "%s", before);
    cexpr_print(t, x, ANY);
}

static void add_loop(text *t, const stmt *s)
{
    add_part(t, " = ", s->from), add_part(t, " to before ", s->to);
    if (s->kind == S_LOOP && s->step > 1)
        text_add(t, " by %lld", (long long)s->step);
    if (s->trips)
        text_add(t, ", %lld trips", (long long)s->trips);
    text_add(t, "%s%s%s", s->role ? ", @" : "", s->role ? s->role : "", ways[s->how]);
}

static void add_line(text *t, const stmt *s)
{
    ENDED_BY(text_free) text line = {0};
    text_add(&line, "%s%s%s%s%s%s", kinds[s->kind], s->type ? " " : "", s->type ? s->type : "", s->name ? " " : "",
             s->name ? s->name : "", s->dims ? s->dims : "");
    if (s->kind == S_LOOP || s->kind == S_CHUNKS)
        add_loop(&line, s);
    add_part(&line, " ", s->place);
    add_part(&line, s->name || s->place ? " = " : " ", s->value);
    if (s->kind == S_STAGE)
        text_add(&line, ", %lld bytes at %lld", (long long)s->bytes, (long long)s->offset);
    text_line(t, "%s", text_str(&line));
}

static void add_all(text *t, const stmt *in)
{
    for (const stmt *s = in->first; s; s = s->next) {
        add_line(t, s);
        t->depth++;
        add_all(t, s);
        t->depth--;
        if (!s->other)
            continue;
        text_line(t, "else");
        t->depth++;
        add_all(t, s->other);
        t->depth--;
    }
}

void kernel_outline(const emitter *m, text *t)
{
    text_line(t, "%s", m->k->op);
    t->depth++;
    add_all(t, m->out.code.at);
    t->depth--;
    for (int i = 0; i < m->tiles.n; i++) {
        text_line(t, "tile%d", m->tiles.made[i]->number);
        t->depth++;
        add_all(t, m->tiles.made[i]->body);
        t->depth--;
    }
}
