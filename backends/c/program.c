/* program.c - the program of a plan: the texts of its kernels, and the tables that they are called by. */
#include "backends/c/program.h"
#include "backends/c/custom.h"
#include "backends/c/dialect.h"
#include "schedule/plan/hazard.h"

#include <stdlib.h>
#include <string.h>

void c_program_forget(c_program *c)
{
    for (int i = 0; i < c->n_text; i++)
        kernel_text_free(&c->text[i]);
    free(c->text), free(c->text_of);
    c->text = NULL, c->text_of = NULL, c->n_text = 0;
}

void c_program_free(c_program *c)
{
    c_program_forget(c);
    free(c->call), free(c->place), trip_tables_free(&c->trips);
    *c = (c_program){0};
}

/* The number of this text, which is taken, or was there already. */
static int take_text(c_program *c, kernel_text *k)
{
    for (int i = 0; i < c->n_text; i++)
        if (!strcmp(c->text[i].name, k->name))
            return kernel_text_free(k), i;
    c->text = reallocarray(c->text, (size_t)c->n_text + 1, sizeof *c->text);
    MUST(c->text);
    c->text[c->n_text] = *k;
    return c->n_text++;
}

void c_program_join(c_program *c, c_program *other)
{
    for (int i = 0; i < other->n_text; i++)
        take_text(c, &other->text[i]);
    other->n_text = 0, c_program_free(other);
}

/* ---- tables ---- */
typedef struct writing {
    levels levels;
    int level;     /* the one at hand */
    const plan *p; /* of it */
    c_program *c;
    hazards hazards;
    int met; /* the first kernel behind the last barrier */
} writing;

static walk_place place_of(const writing *w, const operand *o)
{
    const buffer *h = &w->p->buffer[o->node->id];
    if (o->leaf >= 0)
        return (walk_place){LEAF, levels_leaf(&w->levels, w->level, o->leaf)};
    return h->where == IN_ARENA ? (walk_place){ARENA, h->offset} : (walk_place){INPUT, input_of(w->p, o->node)};
}

/* Behind those of operands: the values of trips, and the extents of the run. */
static bool walks(const kernel *k) /* trips that the tables make */
{
    return k->scan && !k->scan->inside;
}

static void add_places(writing *w, const kernel_text *m, const kernel *own)
{
    c_program *c = w->c;
    c->place = reallocarray(c->place, (size_t)(c->n_place + m->n_operand) + 2, sizeof *c->place);
    MUST(c->place);
    for (int i = 0; i < m->n_operand; i++)
        c->place[c->n_place++] = place_of(w, &m->operand[i]);
    if (own->scan)
        c->place[c->n_place++] = (walk_place){ARENA, own->scan->room->offset};
    if (m->sizes || (walks(own) && own->scan->plan->n_variable))
        c->place[c->n_place++] = (walk_place){INPUT, w->p->n_input};
}

static void add_call(writing *w, int k, const kernel_text *m)
{
    const level *at = &w->levels.of[w->level];
    const kernel *own = &w->p->kernel[k];
    const int first = w->c->n_place;
    hazards_add_kernel(&w->hazards, w->p, &w->p->kernel[k]);
    const bool meets = hazards_last(&w->hazards, k) >= w->met;
    if (meets)
        w->met = k;
    add_places(w, m, own);
    const int n = w->c->n_place - first;
    w->c->call[at->first + k] = (walk_call){.first = first,
                                            .n = n,
                                            .meets = meets,
                                            .loop = walks(own) ? levels_of_scan(&w->levels, at->first + k) : 0,
                                            .alone = own->scan && own->scan->plan->threads == 1 ? 1 + own->beside : 0};
    w->c->operands = n > w->c->operands ? n : w->c->operands;
}

static bool write_kernel(writing *w, int k, err *e)
{
    kernel_text one;
    const kernel *own = &w->p->kernel[k];
    if (walks(own) || custom_kernel(w->p, own))
        call_operands(w->p, own, &one);
    else if (!kernel_write(&c_dialect, w->p, own, &one, e))
        return false;
    add_call(w, k, &one);
    w->c->scratch_most = one.scratch > w->c->scratch_most ? one.scratch : w->c->scratch_most;
    int *number = &w->c->text_of[w->levels.of[w->level].first + k];
    *number = -1;
    one.op = own->op;
    if (*one.name)
        *number = take_text(w->c, &one);
    else
        kernel_text_free(&one);
    return true;
}

static bool write_level(writing *w, int which, err *e)
{
    bool ok = true;
    w->level = which, w->p = w->levels.of[which].plan, w->met = 0;
    for (int k = 0; ok && k < w->p->n_kernel; k++)
        ok = write_kernel(w, k, e);
    hazards_free(&w->hazards);
    return ok;
}

static void begin(writing *w, const plan *p)
{
    c_program *c = w->c;
    levels_make(&w->levels, p);
    const int all = w->levels.n_kernel;
    c->calls = p->n_kernel, c->all = all, c->operands = 1;
    c->call = heap_array((size_t)all + 1, sizeof *c->call),
    c->text_of = heap_array((size_t)all + 1, sizeof *c->text_of);
    trip_tables_make(&w->levels, &c->trips);
    /* with trips there are two sets of claims: see runtime/walk.c */
    c->claims = target_aligned(p->on, (int64_t)CLAIM * all * (c->trips.loops > 1 ? 2 : 1));
}

bool c_program_write(const plan *p, c_program *out, err *e)
{
    writing w = {.c = out};
    bool ok = true;
    *out = (c_program){0};
    begin(&w, p);
    for (int i = 0; ok && i < w.levels.n; i++)
        ok = write_level(&w, i, e);
    out->scratch_most += out->claims;
    levels_free(&w.levels);
    if (!ok)
        c_program_free(out);
    return ok;
}

walk_program c_program_tables(const c_program *c)
{
    return (walk_program){.calls = c->calls,
                          .all = c->all,
                          .operands = c->operands,
                          .inputs = c->trips.inputs,
                          .claims = c->claims,
                          .call = c->call,
                          .place = c->place,
                          .loop = c->trips.loop,
                          .address = c->trips.address,
                          .copy = c->trips.copy};
}
