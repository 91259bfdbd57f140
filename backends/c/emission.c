/* emission.c - a plan as a program in C: the kernels of a run here, a file each. */
#include "backends/c/custom.h"
#include "backends/c/dialect.h"
#include "backends/c/program.h"
#include "backends/emit/standalone.h"

#include <stdlib.h>

/* ---- tables ---- */

static void add_calls(text *t, const c_program *c)
{
    text_add(t, "static const walk_call call[] = {\n");
    for (int k = 0; k < c->all; k++) {
        const walk_call *x = &c->call[k];
        const char *unit = c->text_of[k] < 0 ? "0" : c->text[c->text_of[k]].name;
        text_line(t, "    {%s, %d, %d, %d, %d, %d},", unit, x->first, x->n, x->meets, x->loop, x->alone);
    }
    text_line(t, "    {0, 0, 0, 0, 0, 0}};\n");
}

static void add_places(text *t, const c_program *c)
{
    static const char *const in[] = {[LEAF] = "LEAF", [INPUT] = "INPUT", [ARENA] = "ARENA"};
    text_add(t, "static const walk_place place[] = {\n");
    for (int k = 0; k < c->all; k++) {
        text_add(t, "    ");
        for (int i = 0; i < c->call[k].n; i++) {
            const walk_place *x = &c->place[c->call[k].first + i];
            text_add(t, "{%s, %ld}, ", in[x->in], x->at);
        }
        text_line(t, "/* %d */", k);
    }
    text_line(t, "    {LEAF, 0}};\n");
}

static carried_file calls_made(const c_program *c) /* whose text is to be freed */
{
    const bool trips = c->trips.loops > 1;
    text t = {0};
    text_line(&t, "/* program.c - the kernels in their order, as tables that walk.c reads. */");
    const size_t from = t.length;
    text_line(&t, "#include \"walk.h\"");
    const size_t to = t.length;
    text_line(&t, "#include <string.h>\n");
    for (int i = 0; i < c->n_text; i++)
        text_line(&t, "walk_kernel %s;", c->text[i].name);
    text_line(&t, "");
    add_calls(&t, c), add_places(&t, c);
    if (trips)
        trip_tables_print(&t, &c->trips);
    text_line(&t, "static const walk_program all = {%d, %d, %d, %d, %lld, call, place, %s};\n", c->calls, c->all,
              c->operands, c->trips.inputs, (long long)c->claims, trips ? "loop, address, copies" : "0, 0, 0");
    text_line(&t, "static void run(const ts_run *r, long part, long parts)\n{\n"
                  "    walk_calls(&all, r, 0, all.calls, part, parts);\n}");
    return (carried_file){.text = text_take(&t), .from = from, .to = to};
}

/* ---- files ---- */

/* All kernels as one unit, each with its header; to be freed */
static char *joined_text(const c_program *c, const levels *all)
{
    ENDED_BY(arena_free) arena mem = {0};
    const kernel_text **k = arena_array(&mem, (size_t)c->n_text + 1, sizeof *k);
    const char **header = arena_array(&mem, (size_t)c->n_text + 1, sizeof *header);
    text t = {0};
    for (int i = 0; i < c->n_text; i++) {
        ENDED_BY(text_free) text own = {0};
        emit_unit_header(&own, &c->text[i], all, c->text_of, i);
        k[i] = &c->text[i], header[i] = arena_string(&mem, text_str(&own));
    }
    unit_join(&c_dialect, k, header, c->n_text, &t);
    return text_take(&t);
}

static bool emit(const plan *p, const emit_options *w, const c_program *c, err *e)
{
    const carried_file beside[] = {runtime_found("run.h"), runtime_found("loops.h"), runtime_found("walk.h"),
                                   runtime_found("share.h")};
    const emit_extra extra = {.n_file = COUNT(beside) - (w->single ? 1 : 0), /* units of kernels carry the last one */
                              .file = beside,
                              .libraries = "",
                              .made = "",
                              .rules = "program.o walk.o: run.h share.h loops.h walk.h\n"};
    const int n = w->single ? 1 : c->n_text;
    carried_file *units = heap_array((size_t)n + 1, sizeof *units), calls = calls_made(c);
    ENDED_BY(arena_free) arena mem = {0};
    levels all;
    levels_make(&all, p);
    for (int i = 0; i < n; i++)
        units[i] = (carried_file){.name = w->single ? "kernels" : c->text[i].name,
                                  .text = w->single ? joined_text(c, &all)
                                                    : emit_unit_text(&c->text[i], &all, c->text_of, i)};
    units[n] = runtime_found("walk.c"), units[n].name = "walk";
    const emit_code code = {.n_unit = n + 1,
                            .unit = units,
                            .calls = calls,
                            .extra = &extra,
                            .scratch = c->scratch_most,
                            .threads = p->threads,
                            .cpu = cpu_pins(p->on, p->threads),
                            .flags = c_flags(&mem, cpu_isa(p->on), p->reproducible),
                            .by = &backend_c};
    const bool ok = emit_standalone(p, w, &code, e);
    for (int i = 0; i < n; i++)
        free((char *)(uintptr_t)units[i].text);
    free(units), free((char *)(uintptr_t)calls.text), levels_free(&all);
    return ok;
}

/* Programs of their own have none of this one's functions. */
static bool check_custom(const plan *p, err *e)
{
    const node *n = NULL;
    const plan *of;
    levels all;
    levels_make(&all, p);
    for (int k = 0; k < all.n_kernel && !n; k++) {
        const kernel *own = levels_kernel(&all, k, &of);
        n = custom_kernel(of, own);
    }
    levels_free(&all);
    if (!n)
        return true;
    err_set(e, TS_UNSUPPORTED, "%s%s%s%s is a function of this process, which a stand-alone program does not have",
            n->op->name, *n->label ? " \"" : "", n->label, *n->label ? "\"" : "");
    return err_hint(e, "define it by text in place of a kernel, or compute it outside of what is emitted");
}

bool c_emit(const plan *p, const emit_options *w, err *e)
{
    c_program c;
    if (!emit_allowed(p, e) || !check_custom(p, e) || !c_program_write(p, &c, e))
        return false;
    const bool ok = emit(p, w, &c, e);
    c_program_free(&c);
    return ok;
}
