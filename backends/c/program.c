/* program.c - the program of a plan: kernels called in order, with a barrier only where one part may need, or
 * overwrite, what another part works on, and at the start, when all have begun their counts of chunks anew. */
#include "backends/c/program.h"
#include "backends/c/custom.h"
#include "backends/c/dialect.h"
#include "backends/c/trips.h"
#include "backends/emit/emitdir.h"
#include "backends/codegen/hazard.h"

#include <stdlib.h>
#include <string.h>

void c_program_free(c_program *c)
{
    for (int i = 0; i < c->n_unit; i++)
        kernel_text_free(&c->unit[i]);
    free(c->unit), free(c->calls);
    *c = (c_program){0};
}

/* ---- text ---- */
enum { CLAIM = 8 }; /* bytes: how much of a part's share of a kernel is claimed, in front of the part's scratch */

static bool has_trips(const levels *l)
{
    return l->n > 1;
}

static long long claim_bytes(const levels *l) /* with trips there are two sets: see trips.c */
{
    return target_aligned(l->of->plan->on, (int64_t)CLAIM * l->n_kernel * (has_trips(l) ? 2 : 1));
}

/* The program is tables and a loop over them: compilers take seconds over the same calls written one after another. */
static const char types[] =
    "typedef struct ts_place { /* of an operand: number of a leaf or an input, bytes from where the arena begins */\n"
    "    enum { LEAF, INPUT, ARENA } in;\n"
    "    long at;\n"
    "} ts_place;\n"
    "typedef struct ts_call {\n"
    "    void (*kernel)(void *const *at, char *scratch, int *fault, const ts_share *share); /* NULL: the process's */\n"
    "    int first, n, meets; /* its operands' places; whether all parts wait for one another before it */\n"
    "} ts_call;\n\n";

static const char walk[] =
    "static void call(const ts_run *r, long k, long part, long parts)\n"
    "{\n"
    "    void *at[MOST_OPERANDS];\n"
    "    const ts_place *p = place + kernel[k].first;\n"
    "    for (int i = 0; i < kernel[k].n; i++)\n"
    "        at[i] = p[i].in == ARENA ? r->arena + p[i].at : (p[i].in == LEAF ? r->leaf : r->input)[p[i].at];\n"
    "    if (!kernel[k].kernel) {\n"
    "        r->custom->call(r->custom, (int)k, at, part, parts);\n"
    "        return;\n"
    "    }\n"
    "    const ts_share share = {part, parts, r->scratch + CLAIM * k, r->scratch_bytes};\n"
    "    int fault = 0;\n"
    "    kernel[k].kernel(at, r->scratch + part * r->scratch_bytes + CLAIMS, &fault, &share);\n"
    "    if (fault && !*r->fault) *r->fault = (int)k + 1;\n"
    "}\n\n"
    "void span(const ts_run *r, long first, long end, long part, long parts)\n"
    "{\n"
    "    memset(r->scratch + part * r->scratch_bytes + CLAIM * first, 0, (size_t)(CLAIM * (end - first)));\n"
    "    if (parts > 1) r->wait(r->team);\n"
    "    for (long k = first; k < end; k++) {\n"
    "        if (kernel[k].meets && k > first && parts > 1) r->wait(r->team);\n"
    "        call(r, k, part, parts);\n"
    "    }\n"
    "}\n\n";

static const char ends[] = /* with trips or without */
    "void run(const ts_run *r, long part, long parts)\n"
    "{\n"
    "    span(r, 0, KERNELS, part, parts);\n"
    "}\n\n"
    "void step(const ts_run *r, long k, long part, long parts)\n"
    "{\n"
    "    span(r, k, k + 1, part, parts);\n"
    "}\n";

static bool take_unit(c_program *c, const kernel_text *k) /* false: there is one like it */
{
    for (int i = 0; i < c->n_unit; i++)
        if (!strcmp(c->unit[i].name, k->name))
            return false;
    c->unit = reallocarray(c->unit, (size_t)c->n_unit + 1, sizeof *c->unit);
    MUST(c->unit);
    c->unit[c->n_unit++] = *k;
    return true;
}

typedef struct writing {
    levels levels;
    int level;     /* the one at hand */
    const plan *p; /* of it */
    c_program *c;
    text protos, places, calls;
    int n_place, most; /* operands of all kernels; of one */
    hazards hazards;
    int met; /* the first kernel behind the last barrier */
} writing;

static void write_place(writing *w, const operand *o)
{
    const buffer *h = &w->p->buffer[o->node->id];
    if (o->leaf >= 0)
        text_add(&w->places, "{LEAF, %d}, ", levels_leaf(&w->levels, w->level, o->leaf));
    else if (h->where == IN_ARENA)
        text_add(&w->places, "{ARENA, %lld}, ", (long long)h->offset);
    else
        text_add(&w->places, "{INPUT, %d}, ", input_of(w->p, o->node));
}

static void write_call(writing *w, int k, const kernel_text *m)
{
    const level *at = &w->levels.of[w->level];
    const buffer *room = w->p->kernel[k].scan ? w->p->kernel[k].scan->room : NULL;
    const int n = m->n_operand + (room != NULL);
    hazards_add_scan(&w->hazards, w->p, m->n_operand, m->operand, room);
    const bool meets = hazards_last(&w->hazards, k) >= w->met;
    if (meets)
        w->met = k;
    text_add(&w->calls, "    {%s, %d, %d, %d", *m->name ? m->name : "0", w->n_place, n, meets);
    if (has_trips(&w->levels))
        text_add(&w->calls, ", %d", room ? levels_of_scan(&w->levels, at->first + k) : 0);
    text_add(&w->calls, "},\n");
    text_add(&w->places, "    ");
    for (int i = 0; i < m->n_operand; i++)
        write_place(w, &m->operand[i]);
    if (room)
        text_add(&w->places, "{ARENA, %lld}, ", (long long)room->offset);
    text_add(&w->places, "/* %d */\n", at->first + k);
    w->n_place += n, w->most = n > w->most ? n : w->most;
}

static bool write_kernel(writing *w, int k, err *e)
{
    kernel_text one;
    const kernel *own = &w->p->kernel[k];
    if (own->scan || custom_kernel(own))
        custom_operands(w->p, own, &one);
    else if (!kernel_write(&c_dialect, w->p, own, &one, e))
        return false;
    write_call(w, k, &one);
    if (one.scratch > w->c->scratch_most)
        w->c->scratch_most = one.scratch;
    if (*one.name && take_unit(w->c, &one))
        text_add(&w->protos, "void %s(void *const *at, char *scratch, int *fault, const ts_share *share);\n", one.name);
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

static char *write_calls(const writing *w)
{
    const bool trips = has_trips(&w->levels);
    text t = {0};
    text_add(&t, "#include <string.h>\n\n%s%s\n%s\n", runtime_file("run.h"), c_share_type, text_str(&w->protos));
    if (trips)
        trips_types(&t);
    else
        text_add(&t, "%s", types);
    text_add(&t, "enum { KERNELS = %d, MOST_OPERANDS = %d, CLAIM = %d, CLAIMS = %lld };\n\n",
             w->levels.of->plan->n_kernel, w->most ? w->most : 1, CLAIM, claim_bytes(&w->levels));
    text_add(&t, "static const ts_place place[] = {\n%s    {LEAF, 0}};\n\n", text_str(&w->places));
    text_add(&t, "static const ts_call kernel[] = {\n%s    {0, 0, 0, 0%s}};\n\n", text_str(&w->calls),
             trips ? ", 0" : "");
    if (trips)
        trips_tables(&w->levels, &t), trips_walk(&t);
    else
        text_add(&t, "%s", walk);
    text_add(&t, "%s", ends);
    return text_take(&t);
}

bool c_program_write(const plan *p, c_program *out, err *e)
{
    writing w = {.c = out};
    bool ok = true;
    *out = (c_program){0};
    levels_make(&w.levels, p);
    for (int i = 0; ok && i < w.levels.n; i++)
        ok = write_level(&w, i, e);
    out->calls = write_calls(&w);
    out->scratch_most += claim_bytes(&w.levels);
    text_free(&w.protos), text_free(&w.places), text_free(&w.calls);
    levels_free(&w.levels);
    if (!ok)
        c_program_free(out);
    return ok;
}
