/* unit.c - a kernel's statements, after all passes, as a unit of text: what every unit begins with, functions it uses,
 * tile functions, and the function that calls them, which is named after all that. */
#include "backends/codegen/emit.h"
#include "backends/codegen/passes.h"
#include "backends/codegen/touch.h"
#include "schedule/passes/launches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of tiles, then of what calls them: what a pass refuses is said of the kernel */
static void run_passes(emitter *m)
{
    err own = {0};
    bool ok = true;
    MUST(stmt_copied(m->out.code.at) <= m->data.scratch_most);
    for (int i = 0; i <= m->tiles.n && ok; i++)
        ok = code_through(i < m->tiles.n ? m->tiles.made[i]->body : m->out.code.at, 0, N_CODE_PASS, m->mem, m->d, &own);
    if (ok && m->out.uses->own && m->d->spelling != library_spelled + SPELLED_ALIKE) {
        err_set(m->e, TS_UNSUPPORTED, "%s: %s of %s has bits of its own", m->k->op, m->out.uses->own, m->d->name);
        err_hint(m->e, "compute it on c, or leave out --bits reproducible");
    } else if (ok)
        lanes_check(m);
    else
        err_set(m->e, own.code, "%s: %s", m->k->op, own.text);
}

/* d: its dialect, but for how parts share the work */
static void write_function(emitter *m, const dialect *d, void (*opens)(text *t, const kernel_head *h), text *out,
                           const char *name)
{
    parameter *all = calloc((size_t)m->data.n_operand + 1, sizeof *all);
    MUST(all);
    for (int i = 0; i < m->data.n_operand; i++)
        all[i] = (parameter){memory_type(m->d, stored_as(m->p, m->data.operand[i].node)), m->data.operand[i].name,
                             m->data.operand[i].written};
    ENDED_BY(text_free) text head = {0};
    opens(&head, &(kernel_head){.name = name,
                                .n = m->data.n_operand,
                                .boxes = m->data.n_box,
                                .parameter = all,
                                .empty = !m->out.code.at->first, /* a kernel without elements touches nothing */
                                .alone = stage_nested(m->k->stage) && nest_parallel(m->k) < 0,
                                .scratch = m->data.scratch_most,
                                .scratch_multiple = m->data.scratch_multiple,
                                .spill = m->data.spill,
                                .lanes = (int)m->group,
                                .asks = m->p->ends && m->d->asks,
                                .sizes = m->varies.used});
    stmt_lines(out, text_str(&head));
    free(all);
    out->depth = 1;
    stmt_print(out, d, m->out.code.at);
    out->depth = 0;
    text_add(out, "}\n");
}

static bool is_far(const emitter *m)
{
    bool far = false;
    for (int i = 0; i < m->data.n_operand; i++)
        far = far || m->data.operand[i].layout->size > INT32_MAX;
    return far;
}

/* Splits the text of a unit into the common prelude, which the dialect chooses by the rest, and that rest. */
static void take_text(const dialect *d, kernel_text *k, text *body)
{
    text functions = {0}, whole = {0};
    library_vectors(&functions, d, &k->uses);
    const size_t vectors = functions.length;
    library_write(&functions, d, &k->uses);
    text_add(&functions, "\n");
    k->begins = functions.length;
    text_add(&functions, "%s", text_str(body));
    d->prelude(&whole, &(unit_facts){.far = k->far, .body = text_str(&functions)});
    k->prelude = whole.length + vectors, k->begins += whole.length, k->behind += k->begins;
    text_add(&whole, "%s", functions.s);
    k->text = text_take(&whole);
    text_free(&functions), text_free(body);
}

static void name_of(const text *whole, char name[24])
{
    char hex[65];
    hasher *h = hash_open();
    hash_bytes(h, whole->s, whole->length);
    const digest d = hash_close(h);
    digest_hex(&d, hex);
    snprintf(name, 24, "k_%.12s", hex);
}

/* ---- members ---- */
void member_name(const dialect *d, char name[24])
{
    char content[24];
    if (!d->members)
        return;
    snprintf(content, sizeof content, "%.12s", name + strlen("k_"));
    snprintf(name, 24, "%s%.12s", d->members, content);
}

static void drop(const member_text *m)
{
    free(m->header), free(m->text);
}

static void member_add(kernel_text *out, member_text own)
{
    for (int i = 0; i < out->n_member; i++)
        if (!strcmp(out->member[i].name, own.name)) {
            drop(&own);
            return;
        }
    out->member = reallocarray(out->member, (size_t)out->n_member + 1, sizeof *out->member);
    MUST(out->member);
    out->member[out->n_member++] = own;
}

void member_write(kernel_text *out, text *header, text *t)
{
    member_text own = {.header = text_take(header), .text = text_take(t)};
    snprintf(own.name, sizeof own.name, "%s", out->name);
    member_add(out, own);
}

static void member_free(kernel_text *k)
{
    for (int i = 0; i < k->n_member; i++)
        drop(&k->member[i]);
    free(k->member), k->member = NULL, k->n_member = 0;
}

void member_take(kernel_text *out, kernel_text *k)
{
    MUST(k->n_member && !k->spill && !k->n_box);
    for (int i = 0; i < k->n_member; i++)
        member_add(out, k->member[i]);
    k->n_member = 0;
    out->lanes = k->lanes, out->scratch = int_max(out->scratch, k->scratch);
    out->faults = out->faults || k->faults, out->far = out->far || k->far, out->sizes |= k->sizes;
    op_counts_add(&out->counts, &k->counts, 1);
    callees_add(&out->uses, &k->uses);
}

void unit_call(kernel_text *out, calling *write, void *user)
{
    ENDED_BY(text_free) text own = {0};
    write(user, "kernel", &own);
    name_of(&own, out->name);
}

/* Other units of a program may have it, too: then what compilers read of it is there once. */
static void add(const dialect *d, const member_text *m, text *t, text *header)
{
    if (!d->members) {
        text_add(t, "%s%s\n", m->header ? m->header : "", m->text);
        return;
    }
    text_add(header, "%s", m->header ? m->header : "");
    text_add(t, "#ifndef HAS_%s\n#define HAS_%s\n%s#endif\n", m->name, m->name, m->text);
}

void unit_whole(const dialect *d, kernel_text *out, calling *write, void *user, text *header)
{
    text body = {0};
    for (int i = 0; i < out->n_member; i++)
        add(d, &out->member[i], &body, header);
    out->behind = body.length;
    write(user, out->name, &body);
    take_text(d, out, &body);
    out->header = text_take(header);
}

/* ---- the two ways to have it ---- */
typedef struct written {
    text tiles, header;
} written;

static void write_tiles(emitter *m, kernel_text *out, written *w)
{
    ENDED_BY(text_free) text whole = {0};
    for (int i = 0; i < m->tiles.n; i++)
        print_tile(m, m->tiles.made[i], &w->tiles);
    text_add(&whole, "%s%s", text_str(&m->out.front), text_str(&w->tiles));
    write_function(m, m->d, m->d->kernel, &whole, "kernel");
    name_of(&whole, out->name);
    kernel_header(&w->header, m);
}

static void take_front(emitter *m, kernel_text *out)
{
    member_text front = {0};
    if (!m->out.front.length)
        return;
    name_of(&m->out.front, front.name);
    front.text = text_take(&m->out.front);
    member_add(out, front);
}

static void write_unit(emitter *m, kernel_text *out, written *w)
{
    text body = {0};
    text_add(&body, "%s%s", text_str(&m->out.front), text_str(&w->tiles));
    out->behind = m->out.front.length;
    take_front(m, out);
    write_function(m, m->d, m->d->kernel, &body, out->name);
    take_text(m->d, out, &body);
    out->header = text_take(&w->header);
}

void unit_own_tiles(text *t, const kernel_text *k, const char *what)
{
    for (int i = 0; i < k->tiles; i++)
        text_add(t, "#define tile%d %s_%d\n", i, k->name, i);
    text_add(t, "%s", what);
    for (int i = 0; i < k->tiles; i++)
        text_add(t, "#undef tile%d\n", i);
}

/* A kernel as a function for others to call: what it needs in front, then its own text. */
static void write_member(emitter *m, kernel_text *out, written *w)
{
    dialect own = *m->d;
    text t = {0};
    if (own.loop.chunks)
        own.chunks = own.loop.chunks;
    take_front(m, out);
    member_name(m->d, out->name);
    write_function(m, &own, own.member, &w->tiles, out->name);
    unit_own_tiles(&t, out, text_str(&w->tiles));
    member_write(out, &w->header, &t);
}

/* ---- the whole ---- */
static void tell(const emitter *m, kernel_text *out)
{
    out->scratch = m->data.scratch_most, out->n_operand = m->data.n_operand;
    out->spill = m->data.spill, out->lanes = (int)m->group, out->parts = m->chunks.parts;
    out->asks = m->p->ends && m->d->asks;
    out->faults = callees_fault(&m->out.all, m->d), out->far = is_far(m);
    out->tiles = m->tiles.n, out->uses = m->out.all, out->sizes = m->varies.used;
    out->operand = heap_array((size_t)m->data.n_operand + 1, sizeof *out->operand);
    memcpy(out->operand, m->data.operand, (size_t)m->data.n_operand * sizeof *out->operand);
    kernel_count(m, &out->counts);
    out->n_box = m->data.n_box, out->box = heap_array((size_t)m->data.n_box + 1, sizeof *out->box);
    memcpy(out->box, m->data.box, (size_t)m->data.n_box * sizeof *out->box);
}

typedef void writing_way(emitter *m, kernel_text *out, written *w); /* NULL: it is counted alone */

/* Frees m. */
static bool make(emitter *m, writing_way *write, kernel_text *out, err *e)
{
    err own = {0};
    ENDED_BY(arena_free) arena mem = {0};
    written w = {0};
    m->e = &own, m->mem = m->sp.mem = &mem, m->out.uses = &m->out.all;
    m->data.source = arena_array(&mem, (size_t)m->k->n_stage + 1, sizeof *m->data.source);
    *out = (kernel_text){0};
    kernel_statements(m);
    if (!err_is(&own))
        run_passes(m);
    if (!err_is(&own))
        kernel_live(m);
    if (!err_is(&own) && write)
        tell(m, out), write_tiles(m, out, &w), write(m, out, &w);
    else if (!err_is(&own) && m->touching)
        kernel_touch(m, m->touching);
    else if (!err_is(&own))
        kernel_count(m, &out->counts);
    if (!err_is(&own) && m->footprint)
        kernel_footprint(m, m->footprint);
    text_free(&m->out.front), text_free(&w.tiles), text_free(&w.header);
    free(m);
    if (err_is(&own))
        err_set(e, own.code, "%s", own.text);
    return !err_is(&own);
}

static emitter *emitter_make(const dialect *d, const plan *p, const kernel *k, text_around of)
{
    emitter *m = heap_array(1, sizeof *m);
    m->d = d, m->p = p, m->k = k, m->of = of;
    return m;
}

bool member_make(const dialect *d, const plan *p, const kernel *k, text_around of, kernel_text *out, err *e)
{
    return k->scan ? loop_member(d, p, k, of, out, e) : make(emitter_make(d, p, k, of), write_member, out, e);
}

bool kernel_counted(const dialect *d, const plan *p, const kernel *k, op_counts *out, footprint *bytes, err *e)
{
    kernel_text own;
    emitter *m = k->scan ? NULL : emitter_make(d, p, k, (text_around){0});
    if (m)
        m->footprint = bytes;
    const bool ok = m && make(m, NULL, &own, e);
    if (ok)
        *out = own.counts;
    return ok;
}

bool kernel_touched(const dialect *d, const plan *p, const kernel *k, touching *to, err *e)
{
    kernel_text own;
    emitter *m = k->scan ? NULL : emitter_make(d, p, k, (text_around){0});
    if (m)
        m->touching = to, m->footprint = to->footprint;
    return m && make(m, NULL, &own, e);
}

static void write_outline(emitter *m, kernel_text *out, written *w)
{
    text t = {0};
    (void)w;
    kernel_outline(m, &t);
    out->text = text_take(&t);
}

static bool show_tree(const dialect *d, const plan *p, const kernel *k, text *t, err *e)
{
    kernel_text own;
    bool ok = true;
    for (int i = 0; k->scan && ok && i < k->scan->plan->n_kernel; i++)
        ok = show_tree(d, k->scan->plan, &k->scan->plan->kernel[i], t, e);
    if (k->scan || !make(emitter_make(d, p, k, (text_around){0}), write_outline, &own, e))
        return k->scan && ok;
    text_add(t, "%s", own.text);
    return kernel_text_free(&own), true;
}

bool kernel_show(const dialect *d, const plan *p, const kernel *k, const char *as, text *out, err *e)
{
    kernel_text own;
    if (!strcmp(as, "tree"))
        return show_tree(d, p, k, out, e);
    if (strcmp(as, "text") != 0)
        return err_set(e, TS_UNSUPPORTED, "this target shows no %s of kernels", as);
    if (!kernel_write_alone(d, p, k, &own, e))
        return false;
    text_bytes(out, own.text, own.begins);
    text_add(out, "%s%s", own.header, own.text + own.begins);
    return kernel_text_free(&own), true;
}

bool kernel_write_alone(const dialect *d, const plan *p, const kernel *k, kernel_text *out, err *e)
{
    const text_around of = {0};
    return k->scan ? loop_write(d, p, k, out, e) : make(emitter_make(d, p, k, of), write_unit, out, e);
}

bool kernel_write(const dialect *d, const plan *p, const kernel *k, kernel_text *out, err *e)
{
    const bool joined = launches_members(p, (int)(k - p->kernel) + k->joins) > 1;
    return joined ? member_make(d, p, k, (text_around){0}, out, e) : kernel_write_alone(d, p, k, out, e);
}

void kernel_text_free(kernel_text *k)
{
    member_free(k);
    free(k->text), free(k->header), free(k->operand), free(k->box);
    *k = (kernel_text){0};
}
