/* explain.c - a plan as JSON. */
#include "schedule/explain.h"
#include "schedule/nest.h"

void plan_explain(const plan *p, const char *target, const char *facts, text *out)
{
    text_add(out, "{\"format\":\"plan/1\",\"target\":\"%s\",\"isa\":\"%s\",\"threads\":%d,\"kernels\":[", target, p->isa->name, p->threads);
    for (int i = 0; i < p->n_kernel; i++) {
        const kernel *k = &p->kernel[i];
        text loops = {0};
        text_add(out, "%s{\"name\":\"k%d\",\"op\":\"%s\",\"label\":", i ? "," : "", i, k->op);
        text_json(out, k->label);
        text_add(out, ",\"rule\":");
        text_json(out, k->rule);
        nest_print(&loops, k, true);
        text_add(out, ",\"loops\":");
        text_json(out, text_str(&loops));
        text_add(out, ",\"flops\":%.0f,\"bytes\":%.0f,\"calls\":1}", k->flops, k->bytes);
        text_free(&loops);
    }
    text_add(out, "],\"memory\":{\"arena_bytes\":%lld,\"lower_bound_bytes\":%lld},\"build\":{%s}}", (long long)p->arena_bytes, (long long)p->lower_bound, facts);
}
