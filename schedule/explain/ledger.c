/* ledger.c - who writes and reads each value in memory, on which device and stream, and what waits for what: ledger/1.
 * Waits are the hazards by which back ends make barriers and edges of graphs, and transfers between devices. */
#include "schedule/explain/explain.h"
#include "schedule/plan/hazard.h"

typedef struct ledger {
    const plan *p;
    const ledger_asker *asker;
    hazards hazards;
    text *out;
} ledger;

/* ---- parts: of a plan for one device it is itself ---- */
static const plan *part_of(const ledger *l, int at)
{
    return l->p->n_site ? l->p->site[at].part : l->p;
}

static int stream_of(const ledger *l, const kernel *k) /* edges of a graph need none */
{
    return l->p->n_site || l->asker->at_edges ? 0 : kernel_stream(l->p, k);
}

static const char *device_of(const ledger *l, int at)
{
    return l->p->n_site ? l->p->site[at].name : l->asker->by;
}

static bool writes(const kernel *k, const node *n)
{
    const int i = k->moves ? -1 : kernel_stage(k, n);
    return i >= 0 && !k->stage[i].scratch;
}

static bool reads(const kernel *k, const node *n)
{
    for (int i = 0; !k->moves && i < k->n_stage; i++)
        for (int j = 0; j < k->stage[i].n_load; j++)
            if (k->stage[i].load[j]->from == n && !kernel_hands_on(k, n))
                return true;
    return false;
}

/* The kernel that puts a value into a device's memory; -1: none does */
static int maker(const ledger *l, int at, const node *n)
{
    for (int k = 0; k < l->p->n_kernel; k++) {
        const kernel *own = &l->p->kernel[k];
        if (own->site == at && (own->moves ? own->moves->node == n : writes(own, n)))
            return k;
    }
    return -1;
}

static bool takes(const kernel *k, int at, const node *n)
{
    return k->moves ? k->moves->from == at && k->moves->node == n : k->site == at && reads(k, n);
}

/* ---- kernels ---- */
static void put_waits(const ledger *l, int k)
{
    const kernel *own = &l->p->kernel[k];
    const hazards *h = &l->hazards;
    const plan *q = part_of(l, own->site);
    json_add(l->out, "waits:[");
    for (int i = h->first[k]; i < h->first[k + 1]; i++) {
        const kernel *before = &l->p->kernel[h->wait[i]];
        const char *how = before->moves                               ? "transfer"
                          : own->moves                                ? "end"
                          : l->asker->at_edges                        ? "edge"
                          : q->on->team && q->threads > 1             ? "barrier"
                          : stream_of(l, before) == stream_of(l, own) ? "turn"
                                                                      : "event";
        json_add(l->out, "{for:'k%d',by:%s}", h->wait[i], how);
    }
    text_add(l->out, "]");
}

static void put_kernels(const ledger *l)
{
    json_add(l->out, "kernels:[");
    for (int k = 0; k < l->p->n_kernel; k++) {
        const kernel *own = &l->p->kernel[k];
        json_add(l->out, "{name:'k%d',op:%s,label:%s,device:%s,stream:%d", k, own->op, own->label,
                 device_of(l, own->site), stream_of(l, own));
        put_waits(l, k);
        text_add(l->out, "}");
    }
    text_add(l->out, "]");
}

/* ---- values ---- */
static void put_readers(const ledger *l, int at, const node *n, int written)
{
    int next = -1, first = -1, last = -1;
    json_add(l->out, "reads:[");
    for (int k = 0; k < l->p->n_kernel; k++)
        if (takes(&l->p->kernel[k], at, n)) {
            json_add(l->out, "'k%d'", k);
            next = next < 0 && k > written ? k : next, first = first < 0 ? k : first, last = k;
        }
    text_add(l->out, "]");
    if (first >= 0) /* an input that a kernel writes is read by the next run */
        json_add(l->out, "next:'k%d',last:'k%d'", next < 0 ? first : next, last);
}

static void put_value(const ledger *l, int at, const node *n, int written)
{
    const buffer *h = &part_of(l, at)->buffer[n->id];
    const char *label = *n->label ? n->label : written >= 0 ? l->p->kernel[written].label : "";
    json_add(l->out, "{name:%s,place:%s,device:%s,stream:%d,bytes:%lld", label,
             h->where == IN_ARENA ? "arena" : "input", device_of(l, at),
             written < 0 ? 0 : stream_of(l, &l->p->kernel[written]),
             (long long)(h->where == IN_ARENA ? h->bytes : type_bytes(&n->type)));
    if (written >= 0)
        json_add(l->out, "written:'k%d'", written);
    else
        json_add(l->out, "written:'host'");
    if (h->where == IN_INPUT && written >= 0)
        json_add(l->out, "becomes:%s", l->p->input[h->index]->label);
    put_readers(l, at, n, written);
}

static void put_inputs(const ledger *l, int at)
{
    const plan *q = part_of(l, at);
    for (int i = 0; i < q->n_input; i++) {
        put_value(l, at, q->input[i], -1);
        l->asker->say(l->asker->user, input_of(l->p, q->input[i]), -1, l->out);
        text_add(l->out, "}");
    }
}

static void put_values(const ledger *l, int at)
{
    const plan *q = part_of(l, at);
    for (int id = 0; id < q->n_buffer; id++) {
        const buffer *h = &q->buffer[id];
        const int by = h->where == IN_ARENA || h->where == IN_INPUT ? maker(l, at, q->g->node[id]) : -1;
        if (by < 0)
            continue;
        put_value(l, at, q->g->node[id], by);
        if (h->over)
            json_add(l->out, "over:'k%d'", maker(l, at, h->over));
        for (int r = 0; r < l->p->n_root - l->p->n_carried; r++)
            if (l->p->root[r] == q->g->node[id] && !l->p->kernel[by].moves)
                l->asker->say(l->asker->user, -1, r, l->out);
        text_add(l->out, "}");
    }
}

void plan_ledger(const plan *p, const ledger_asker *asker, text *out)
{
    ledger l = {.p = p, .asker = asker, .out = out};
    const int parts = p->n_site ? p->n_site : 1;
    json_add(out, "{format:'ledger/1',target:%s,devices:[", asker->by);
    for (int s = 0; s < parts; s++) {
        const plan *q = part_of(&l, s);
        if (q)
            json_add(out, "{name:%s,kind:%s,threads:%d,streams:%d}", device_of(&l, s), q->on->kind, q->threads,
                     p->n_site || asker->at_edges ? 1 : plan_streams(q));
    }
    text_add(out, "]");
    for (int k = 0; k < p->n_kernel; k++)
        hazards_add_kernel(&l.hazards, p, &p->kernel[k]);
    put_kernels(&l);
    json_add(out, "buffers:[");
    for (int s = 0; s < parts; s++)
        if (part_of(&l, s))
            put_inputs(&l, s), put_values(&l, s);
    text_add(out, "]}\n");
    hazards_free(&l.hazards);
}
