/* program.c - the program of a plan: kernels called in order, with a barrier only where one part may need, or
 * overwrite, what another part works on, and at the start, when all have begun their counts of chunks anew. */
#include "backends/c/program.h"
#include "backends/c/custom.h"
#include "backends/c/dialect.h"
#include "backends/c/emitdir.h"
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

static long long claim_bytes(const plan *p)
{
    return target_aligned(p->on, (int64_t)CLAIM * p->n_kernel);
}

static void write_pointer(const plan *p, text *t, const operand *o)
{
    const buffer *h = &p->buffer[o->node->id];
    if (o->leaf >= 0)
        text_add(t, "r->leaf[%d]", o->leaf);
    else if (h->where == IN_ARENA)
        text_add(t, "r->arena + %lld", (long long)h->offset);
    else
        text_add(t, "r->input[%d]", input_of(p, o->node));
}

/* m without a name: a function of the process. */
static void write_call(const plan *p, text *t, int k, const kernel_text *m)
{
    text_add(t, "static void call%d(const ts_run *r, long part, long parts)\n{\n    void *const at[] = {", k);
    for (int i = 0; i < m->n_operand; i++)
        text_add(t, "%s", i ? ", " : ""), write_pointer(p, t, &m->operand[i]);
    text_add(t, "%s};\n", m->n_operand ? "" : "0");
    if (!*m->name) {
        text_add(t, "    r->custom->call(r->custom, %d, at, part, parts);\n}\n", k);
        return;
    }
    text_add(t, "    const ts_share share = {part, parts, r->scratch + %d, r->scratch_bytes};\n", CLAIM * k);
    text_add(t, "    int fault = 0;\n    %s(at, r->scratch + part * r->scratch_bytes + %lld, &fault, &share);\n",
             m->name, claim_bytes(p));
    text_add(t, "    if (fault && !*r->fault) *r->fault = %d;\n}\n", k + 1);
}

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
    const plan *p;
    c_program *c;
    text protos, calls, run;
    hazards hazards;
    int met; /* the first kernel behind the last barrier */
} writing;

static bool write_kernel(writing *w, int k, err *e)
{
    kernel_text one;
    if (custom_kernel(&w->p->kernel[k]))
        custom_operands(w->p, &w->p->kernel[k], &one);
    else if (!kernel_write(&c_dialect, w->p, &w->p->kernel[k], &one, e))
        return false;
    write_call(w->p, &w->calls, k, &one);
    hazards_add_kernel(&w->hazards, w->p, one.n_operand, one.operand);
    if (hazards_last(&w->hazards, k) >= w->met) {
        text_add(&w->run, "    if (parts > 1) r->wait(r->team);\n");
        w->met = k;
    }
    text_add(&w->run, "    call%d(r, part, parts);\n", k);
    if (one.scratch > w->c->scratch_most)
        w->c->scratch_most = one.scratch;
    if (*one.name && take_unit(w->c, &one))
        text_add(&w->protos, "void %s(void *const *at, char *scratch, int *fault, const ts_share *share);\n", one.name);
    else
        kernel_text_free(&one);
    return true;
}

bool c_program_write(const plan *p, c_program *out, err *e)
{
    writing w = {.p = p, .c = out};
    bool ok = true;
    *out = (c_program){0};
    for (int k = 0; ok && k < p->n_kernel; k++)
        ok = write_kernel(&w, k, e);
    text t = {0};
    text_add(&t, "#include <string.h>\n\n%s%s\n%s\n%s\n", runtime_file("run.h"), c_share_type, text_str(&w.protos),
             text_str(&w.calls));
    text_add(&t, "void run(const ts_run *r, long part, long parts)\n{\n");
    text_add(&t, "    memset(r->scratch + part * r->scratch_bytes, 0, %lld);\n", claim_bytes(p));
    text_add(&t, "    if (parts > 1) r->wait(r->team);\n%s}\n\n", text_str(&w.run));
    text_add(&t, "void step(const ts_run *r, long kernel, long part, long parts)\n{\n    static void (*const "
                 "call[])(const ts_run *, long, long) = {");
    for (int k = 0; k < p->n_kernel; k++)
        text_add(&t, "call%d, ", k);
    text_add(&t, "0};\n    memset(r->scratch + part * r->scratch_bytes + %d * kernel, 0, %d);\n", CLAIM, CLAIM);
    text_add(&t, "    if (parts > 1) r->wait(r->team);\n    call[kernel](r, part, parts);\n}\n");
    out->calls = text_take(&t);
    out->scratch_most += claim_bytes(p);
    text_free(&w.protos), text_free(&w.calls), text_free(&w.run);
    hazards_free(&w.hazards);
    if (!ok)
        c_program_free(out);
    return ok;
}
