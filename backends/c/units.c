/* units.c - shares units among small kernels: gcc 12.2 takes 13 ms over a unit with nothing in it, and 20 over one with
 * a small kernel. Large ones are compiled side by side, each on its own. */
#include "backends/c/units.h"
#include "backends/c/dialect.h"

#include <string.h>

enum { MOST = 8, SMALL = 3000, TOGETHER = 8000 }; /* kernels, bytes of one, bytes of all */

typedef struct sharing { /* the unit that takes more */
    int n;
    const kernel_text *kernel[MOST];
    size_t bytes;
} sharing;

static size_t bytes_of(const kernel_text *k)
{
    return strlen(k->text + k->prelude);
}

/* Whether most of what it does is sums of products. These compile in half the time at -O1, and run as fast. All else is
 * chains of instructions that wait for one another, and gains by having those of neighbours between them. */
static bool is_product(const kernel_text *k)
{
    const op_counts *c = &k->counts;
    return c->multiply_adds + c->dots > c->others + c->scalars;
}

static void end(c_units *u, sharing *s)
{
    ENDED_BY(text_free) text t = {0};
    if (!s->n)
        return;
    if (s->n > 1)
        unit_join(&c_dialect, s->kernel, NULL, s->n, &t);
    const char *first = s->kernel[0]->op;
    u->unit[u->n++] = (cc_unit){.text = arena_string(&u->mem, s->n > 1 ? t.s : s->kernel[0]->text),
                                .label = s->n > 1 ? arena_format(&u->mem, "%s and %d more", first, s->n - 1)
                                                  : arena_string(&u->mem, first),
                                .bytes = s->bytes,
                                .level = is_product(s->kernel[0]) ? "-O1" : NULL, /* else that of the flags, -O2 */
                                .shared = s->n > 1};
    s->n = 0, s->bytes = 0;
}

static void add(c_units *u, sharing *s, const kernel_text *k)
{
    const size_t bytes = bytes_of(k);
    const bool large = k->n_member || bytes > SMALL;
    sharing own = {0};
    s = large ? &own : s;
    if (s->n == MOST || s->bytes + bytes > TOGETHER)
        end(u, s);
    s->kernel[s->n++] = k, s->bytes += bytes;
    if (large)
        end(u, s);
}

void c_units_write(const c_program *c, c_units *out)
{
    sharing of[2] = {0}; /* those that share a unit have one level */
    *out = (c_units){0};
    out->unit = arena_array(&out->mem, (size_t)c->n_text, sizeof *out->unit);
    for (int i = 0; i < c->n_text; i++)
        add(out, &of[is_product(&c->text[i])], &c->text[i]);
    end(out, &of[0]), end(out, &of[1]);
}

void c_units_free(c_units *u)
{
    arena_free(&u->mem);
    *u = (c_units){0};
}
