/* sites.c - lines for people and members of plan/1 from the same sums over a plan's parts. */
#include "schedule/explain/explain.h"
#include "schedule/place/place.h"

const plan *sites_plan(const plan *p, const kernel *k)
{
    return p->n_site && !k->moves ? p->site[k->site].part : p;
}

double sites_sum(const plan *p, double (*of)(const plan *part))
{
    double all = p->n_site ? 0 : of(p);
    for (int i = 0; i < p->n_site; i++)
        all += p->site[i].part ? of(p->site[i].part) : 0;
    return all;
}

/* Of the same members as other kernels, for who reads all kernels alike. */
void sites_explain_transfer(text *t, const plan *p, const kernel *k)
{
    const transfer *m = k->moves;
    json_add(t,
             "op:%s,label:%s,rule:'',dtype:%s,dims:{},loops:'',stages:[],operands:[],flops:0,bytes:%.0f,calls:1,"
             "levels:[],traffic:{",
             k->op, k->label, ts_dtype_name(m->node->type.dtype), k->bytes);
    for (int level = 0; level <= target_last(p->on); level++)
        json_add(t, "%s:%.0f", p->on->level[level].name, k->bytes);
    json_add(t, "},tail_waste:0,notes:[],transfer:{from:%s,to:%s,bytes:%lld}", p->site[m->from].name,
             p->site[m->to].name, (long long)m->bytes);
}

typedef struct tally {
    int kernels, received;
    double flops, seconds;
    int64_t in, out; /* bytes */
} tally;

static tally tally_of(const plan *p, int which)
{
    tally y = {0};
    for (int i = 0; i < p->n_kernel; i++) {
        const kernel *k = &p->kernel[i];
        if (k->moves && k->moves->from == which)
            y.out += k->moves->bytes;
        if (k->site != which)
            continue;
        y.flops += k->flops, y.seconds += place_kernel_seconds(p, k, which);
        y.kernels += !k->moves, y.received += k->moves != NULL;
        y.in += k->moves ? k->moves->bytes : 0;
    }
    return y;
}

double sites_weights(const plan *p)
{
    double all = 0;
    for (int i = 0; i < p->n_leaf; i++)
        all += (double)p->leaf[i].layout.size * ts_dtype_bytes(p->leaf[i].node->type.dtype);
    return all;
}

static void put_place(text *t, const plan *p, int which)
{
    const site *s = &p->site[which];
    const tally y = tally_of(p, which);
    json_add(t,
             "{name:%s,target:%s,model:%s,kernels:%d,flops:%.0f,seconds:%.4g,transfers:%d,received_bytes:%lld,"
             "sent_bytes:%lld",
             s->name, s->by, s->on->model, y.kernels, y.flops, y.seconds, y.received, (long long)y.in,
             (long long)y.out);
    json_add(t, "arena_bytes:%lld,lower_bound_bytes:%lld,weights_bytes:%.0f}",
             (long long)(s->part ? s->part->arena_bytes : 0), (long long)(s->part ? s->part->lower_bound : 0),
             s->part ? sites_weights(s->part) : 0);
}

void sites_explain(text *t, const plan *p)
{
    if (!p->n_site)
        return;
    json_add(t, "places:[");
    for (int i = 0; i < p->n_site; i++)
        put_place(t, p, i);
    text_add(t, "]");
}

void sites_notes(const plan *p, text *out)
{
    for (int i = 0; i < p->n_site; i++)
        if (p->site[i].unfit)
            text_add(out, "%d kernel%s elsewhere, for %s cannot take %s: %s\n", p->site[i].unfit,
                     p->site[i].unfit > 1 ? "s are" : " is", p->site[i].name, p->site[i].unfit > 1 ? "them" : "it",
                     p->site[i].unfit_note);
    if (p->spread)
        text_add(out, "%s\n", p->spread);
}
