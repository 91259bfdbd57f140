/* blame.c - the step goes again under a watch on every kernel's values; the first that is not finite is named, with
 * the input it came from where that is one. */
#include "train/blame.h"

#include "train/shards.h"

#include <math.h>
#include <string.h>

/* Parameters whose own gradient is not finite. */
static void add_parameters(const step *s, const double *norms, text *out)
{
    const char *first = NULL;
    int n = 0;
    for (int i = 0; i < s->n_parameter; i++)
        if (!isfinite(norms[i]) && !n++)
            first = s->parameter[i].name;
    if (n == 1)
        text_add(out, "; the gradient of %.200s is not finite", first);
    else if (n)
        text_add(out, "; the gradients of %d of %d parameters are not finite, the first is %.200s", n, s->n_parameter,
                 first);
}

/* An input: a parameter that is no number already, or an example of the data. */
static void add_input(const net *n, const int64_t *which, const ts_stray *x, const char *what, text *out)
{
    for (int i = 0; i < n->n_feed; i++) {
        const ts_array *from = n->feed[i].from;
        if (strcmp(n->feed[i].port.name, x->label) != 0 || !from)
            continue;
        const int64_t width = ts_array_count(from) / from->dim[0];
        text_add(out, "; the data has %s: example %lld of \"%.200s\"", what, (long long)which[x->first / width],
                 x->label);
        return;
    }
    text_add(out, "; \"%.200s\" has %s before the step, in %lld of %lld places", x->label, what, (long long)x->bad,
             (long long)x->count);
}

static void add_stray(const net *n, const int64_t *which, const ts_stray *x, const char *what, text *out)
{
    if (x->kernel < 0) {
        add_input(n, which, x, what, out);
        return;
    }
    text_add(out, "; the first kernel with %s is k%d (%s%s%.200s), in %lld of %lld values", what, x->kernel, x->op,
             *x->label ? ", " : "", x->label, (long long)x->bad, (long long)x->count);
}

/* The first shard whose loss is none; its kernels ran on one rank, and perhaps not last. */
static void add_shard(const shards *z, text *out)
{
    int64_t k = 0;
    while (k < z->n && isfinite(z->loss[k]))
        k++;
    if (k < z->n)
        text_add(out, "; the loss of shard %lld of %lld is the first that is not finite, on rank %lld", (long long)k,
                 (long long)z->n, (long long)(k / z->own));
}

void blame_write(step *s, const net *n, const int64_t *which, const double *norms, text *out)
{
    ts_stray nan, infinite;
    ts_error none = {0};
    add_parameters(s, norms, out);
    if (s->shards) {
        add_shard(s->shards, out);
        return;
    }
    if (!step_strays(s, &nan, &infinite, &none))
        return;
    if (infinite.bad && (!nan.bad || infinite.kernel < nan.kernel))
        add_stray(n, which, &infinite, "an infinity", out);
    if (nan.bad)
        add_stray(n, which, &nan, "a NaN", out);
}
