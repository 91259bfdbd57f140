/* tables.c - tables of kernels, of their operands, and of loops. */
#include "backends/device/tables.h"
#include "backends/device/runtime/device_driver.h"

typedef struct making {
    const levels *l;
    const device_texts *texts;
    const device_launching *how;
    const char *const *file;
    arena *mem;
    device_kernel *kernel;
} making;

/* ---- kernels ---- */
static device_place place_of(const levels *l, int which, const operand *o)
{
    const plan *p = l->of[which].plan;
    const buffer *h = &p->buffer[o->node->id];
    if (o->leaf >= 0)
        return (device_place){DEVICE_LEAF, levels_leaf(l, which, o->leaf)};
    if (h->where == IN_ARENA)
        return (device_place){DEVICE_ARENA, h->offset};
    return (device_place){DEVICE_INPUT, input_of(p, o->node)};
}

static const device_box *boxes_of(const making *m, const kernel_text *q)
{
    device_box *all = arena_array(m->mem, (size_t)q->n_box + 1, sizeof *all);
    for (int i = 0; i < q->n_box; i++) {
        const box *b = &q->box[i].box;
        all[i] = (device_box){
            .operand = q->box[i].operand, .first = b->first, .size = b->size, .row = b->row, .dims = (int)b->n};
        for (int d = 0; d < b->n; d++)
            all[i].extent[d] = b->dim[d].extent, all[i].stride[d] = b->dim[d].stride,
            all[i].count[d] = (int)b->dim[d].count;
    }
    return all;
}

/* A scan may have one operand more: where the values of its trips are. */
static device_kernel kernel_of(const making *m, int which, int k)
{
    const levels *l = m->l;
    const int number = l->of[which].first + k;
    const kernel_text *q = &m->texts->kernel[number];
    const hazards *h = &m->texts->hazards;
    const bool waits = number < h->n_kernel;
    const plan *p = l->of[which].plan;
    const scan_plan *s = p->kernel[k].scan;
    int64_t begins;
    const bool copies = kernel_copies(p, &p->kernel[k], &begins);
    device_place *at = arena_array(m->mem, (size_t)text_operands(q) + 1, sizeof *at);
    for (int i = 0; i < q->n_operand; i++)
        at[i] = place_of(l, which, &q->operand[i]);
    if (q->needs_room)
        at[q->n_operand] = (device_place){DEVICE_ARENA, s->room->offset};
    return (device_kernel){.name = q->name,
                           .file = m->file && m->file[number] ? m->file[number] : "",
                           .operands = text_operands(q),
                           .operand = at,
                           .groups = m->how->groups(l->of->plan->on, q),
                           .lanes = (unsigned)q->lanes,
                           .shared = m->how->declared && q->scratch > m->how->declared ? (unsigned)q->scratch : 0,
                           .waits = waits ? h->first[number + 1] - h->first[number] : 0,
                           .wait = waits ? h->wait + h->first[number] : NULL,
                           .loop = s && !s->inside ? levels_of_scan(l, number) : 0,
                           .from = begins,
                           .copies = copies,
                           .bytes = copies ? type_bytes(&p->kernel[k].stage->node->type) : 0,
                           .boxes = q->n_box,
                           .box = boxes_of(m, q),
                           .asks = q->asks,
                           .sizes = q->sizes,
                           .joins = p->kernel[k].joins,
                           .stream = which ? 0 : kernel_stream(p, &p->kernel[k])};
}

/* ---- loops ---- */
/* All that trips do is done by kernels that ask: else what comes after the last one would not be left out. */
static int ahead_of(const making *m, const level *x)
{
    bool asks = true;
    for (int k = x->first; k < x->first + x->plan->n_kernel; k++)
        asks = asks && (m->kernel[k].asks || m->kernel[k].joins);
    return asks ? MOST_AHEAD : 1;
}

/* ---- what goes there and comes back ---- */
static bool is_written(const device_texts *t, const plan *p, int input)
{
    bool written = false;
    for (int k = 0; k < p->n_kernel; k++)
        for (int i = 0; i < t->kernel[k].n_operand; i++) {
            const operand *o = &t->kernel[k].operand[i];
            written = written || (o->written && o->leaf < 0 && p->buffer[o->node->id].where != IN_ARENA &&
                                  input_of(p, o->node) == input);
        }
    return written;
}

static long leaf_bytes(const packed *w)
{
    int64_t n;
    return int_mul(w->layout.size, ts_dtype_bytes(w->node->type.dtype), &n) ? n : INT64_MAX / 2;
}

static void add_ports(const making *m, const plan *p, device_program *out)
{
    device_port *weight = arena_array(m->mem, (size_t)p->n_leaf + 1, sizeof *weight),
                *input = arena_array(m->mem, (size_t)p->n_input + 1, sizeof *input),
                *value = arena_array(m->mem, (size_t)p->n_root + 1, sizeof *value);
    for (int i = 0; i < p->n_leaf; i++)
        weight[i].bytes = leaf_bytes(&p->leaf[i]);
    for (int i = 0; i < p->n_input; i++)
        input[i] = (device_port){.bytes = type_bytes(&p->input[i]->type), .written = is_written(m->texts, p, i)};
    for (int i = 0; i < p->n_root; i++) {
        const buffer *h = &p->buffer[p->root[i]->id];
        if (!p->root[i]->leaf && h->where == IN_ARENA)
            value[i] = (device_port){.at = h->offset, .bytes = h->bytes};
    }
    out->leaf = weight, out->input = input, out->value = value;
}

static void add_facts(const making *m, device_program *out)
{
    _Static_assert((int)MAX_STREAM <= (int)DEVICE_STREAMS, "a driver has place for all streams");
    out->streams = plan_streams(m->l->of->plan);
    for (int k = 0; k < out->all; k++) {
        const kernel_text *q = &m->texts->kernel[k];
        const long spill = q->spill * m->kernel[k].groups;
        out->spill = spill > out->spill ? spill : out->spill;
        out->faults = out->faults || q->faults;
        out->walked = out->walked || m->kernel[k].loop || m->kernel[k].copies;
    }
}

void device_tables_make(device_tables *t, const device_texts *texts, const device_launching *how,
                        const char *const *file)
{
    const levels *l = &texts->levels;
    const plan *p = l->of->plan;
    *t = (device_tables){0};
    making m = {.l = l, .texts = texts, .how = how, .file = file, .mem = &t->mem};
    m.kernel = arena_array(&t->mem, (size_t)l->n_kernel + 1, sizeof *m.kernel);
    for (int i = 0; i < l->n; i++)
        for (int k = 0; k < l->of[i].plan->n_kernel; k++)
            m.kernel[l->of[i].first + k] = kernel_of(&m, i, k);
    trip_tables_make(l, &t->trips);
    for (int i = 1; i < l->n; i++)
        t->trips.loop[i].ahead = ahead_of(&m, &l->of[i]);
    t->program = (device_program){.kernels = p->n_kernel,
                                  .leaves = p->n_leaf,
                                  .inputs = p->n_input,
                                  .values = p->n_root,
                                  .kernel = m.kernel,
                                  .arena = p->arena_bytes,
                                  .all = l->n_kernel,
                                  .loops = l->n,
                                  .loop = t->trips.loop,
                                  .address = t->trips.address,
                                  .copy = t->trips.copy,
                                  .sizes = p->n_variable};
    add_ports(&m, p, &t->program), add_facts(&m, &t->program);
}

void device_tables_free(device_tables *t)
{
    arena_free(&t->mem), trip_tables_free(&t->trips);
    *t = (device_tables){0};
}
