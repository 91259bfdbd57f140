/* letters.c - what axes may be called. */
#include "schedule/nest/nest.h"

#include <stdlib.h>
#include <string.h>

/* Whether the n bytes at name are one of the letters of an operation's axes ("m n | k"). */
static bool has_letter(const char *axes, const char *name, size_t n)
{
    for (; *axes; axes += strspn(axes, " |")) {
        const size_t length = strcspn(axes, " |");
        if (length == n && !strncmp(axes, name, n))
            return true;
        axes += length;
    }
    return false;
}

bool names_known(const char *axis, int n_op, const char *const *name)
{
    size_t n = strlen(axis);
    while (n > 1 && axis[n - 1] >= '0' && axis[n - 1] <= '9')
        n--;
    bool known = has_letter("e r c b f s", axis, n), any = !n_op; /* kernels with more axes than letters have these */
    for (int i = 0; i < n_op; i++) { /* a recipe's letters are those of any stage, a program's own are in no table */
        const op *o = op_find(name[i]);
        any = any || !o || o->lower;
        known = known || (o && o->axes && has_letter(o->axes, axis, n));
    }
    for (const op *o = op_next(NULL); !known && any && o; o = op_next(o))
        known = o->axes && has_letter(o->axes, axis, n);
    return known;
}

/* One of "b", "b1", "b2", ... of as many as there are dimensions */
static bool is_numbered(const char *name, size_t n, char letter, int dims)
{
    char *end;
    const long at = n > 1 ? strtol(name + 1, &end, 10) : 0;
    return n && *name == letter && at < dims && (n == 1 || (name[1] > '0' && name[1] <= '9' && end == name + n));
}

static bool has_axis(const stage *s, const char *name, size_t n)
{
    for (int a = 0; a < s->n_axis; a++)
        if (word_is(s->letter[a], name, n))
            return true;
    return false;
}

bool names_left_out(const kernel *k, const stage *s, const char *name, size_t n)
{
    if (has_axis(s, name, n))
        return false; /* it is there, if not where it is named */
    const int dims = s->whole ? s->node->type.rank : 0;
    const char *axes = s->whole ? s->whole->op->axes : NULL;
    bool is = (k->group && k->group->axes && has_letter(k->group->axes, name, n)) ||
              (axes && has_letter(axes, name, n)) || is_numbered(name, n, 'b', dims);
    if (k->n_stage > 1 || !axes)
        is = is || is_numbered(name, n, 'r', dims);
    return is && *name != '|';
}
