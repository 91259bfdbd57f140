#include "tests/tuples.h"
#include "graph/ir/rule.h"

#include <math.h>

static bool rows(const node *n, type *out, err *e)
{
    *out = n->in[0]->type;
    if (out->rank < 1)
        return err_set(e, TS_BAD_INPUT, "an axis wanted");
    return out->rank--, true;
}

typedef struct folding { /* of one operand along its last axis */
    arena *mem;
    defn *d;
    int axis;
    dtype of;
    const expr *x, *place; /* the element, and its number */
} folding;

static folding begin(defn *d)
{
    const type *t = &d->node->in[0]->type;
    const expr *sub[MAX_RANK];
    folding f = {.mem = d->mem, .d = d, .axis = defn_fold(d, t->dim[t->rank - 1]), .of = t->dtype};
    for (int i = 0; i < t->rank; i++)
        sub[i] = x_axis(f.mem, i + 1 < t->rank ? i : f.axis);
    f.x = defn_at(d, 0, sub), f.place = sub[t->rank - 1];
    return f;
}

static const expr *number(const folding *f, dtype of, double v)
{
    return x_cast(f->mem, of, x_literal(f->mem, of, v));
}

static const expr *end(const folding *f, int n, const expr *const *start, const expr *const *step,
                       const expr *const *merge, const expr *result)
{
    const expr *x = x_scan(f->mem, 1u << f->axis, 0, n, start, step, x_cast(f->mem, f->d->node->type.dtype, result));
    return x_merged(f->mem, x, merge);
}

static const expr *place_body(defn *d)
{
    const folding f = begin(d);
    const expr *s = x_state(f.mem, f.of, 0), *i = x_state(f.mem, TS_I32, 1), *is = x2(f.mem, "le", s, f.x);
    const expr *start[] = {number(&f, f.of, -100), number(&f, TS_I32, -1)},
               *step[] = {x3(f.mem, "select", is, f.x, s), x3(f.mem, "select", is, x_cast(f.mem, TS_I32, f.place), i)};
    return end(&f, 2, start, step, NULL,
               x2(f.mem, "add", x_cast(f.mem, TS_I32, s), x2(f.mem, "mul", i, x_whole(f.mem, 8))));
}

static const expr *both_body(defn *d)
{
    const folding f = begin(d);
    const expr *s = x_state(f.mem, f.of, 0), *t = x_state(f.mem, f.of, 1);
    const expr *start[] = {number(&f, f.of, 0), number(&f, f.of, -100)},
               *step[] = {x2(f.mem, "add", f.x, s), x2(f.mem, "max", t, f.x)};
    return end(&f, 2, start, step, NULL, x2(f.mem, "sub", x2(f.mem, "mul", s, x_whole(f.mem, 8)), t));
}

static const expr *softmax_body(defn *d)
{
    const folding f = begin(d);
    const expr *l = x_state(f.mem, f.of, 0), *t = x_state(f.mem, f.of, 1), *now = x2(f.mem, "max", t, f.x);
    const expr *start[] = {number(&f, f.of, 0), number(&f, f.of, -INFINITY)};
    const expr *step[] = {x2(f.mem, "add", x1(f.mem, "exp", x2(f.mem, "sub", f.x, now)),
                             x2(f.mem, "mul", x1(f.mem, "exp", x2(f.mem, "sub", t, now)), l)),
                          now};
    return end(&f, 2, start, step, NULL, x2(f.mem, "add", t, x1(f.mem, "log", l)));
}

static const expr *variance_body(defn *d)
{
    const folding f = begin(d);
    const expr *n = x_state(f.mem, f.of, 0), *a = x_state(f.mem, f.of, 1), *q = x_state(f.mem, f.of, 2),
               *none = number(&f, f.of, 0), *apart = x2(f.mem, "sub", f.x, a);
    const expr *start[] = {none, none, none}, *step[3];
    step[0] = x2(f.mem, "add", n, number(&f, f.of, 1));
    step[1] = x2(f.mem, "add", a, x2(f.mem, "div", apart, step[0]));
    step[2] = x2(f.mem, "add", q, x2(f.mem, "mul", apart, x2(f.mem, "sub", f.x, step[1])));
    return end(&f, 3, start, step, NULL, x2(f.mem, "div", q, n));
}

static const expr *signs_body(defn *d)
{
    const folding f = begin(d);
    const expr *p = x_state(f.mem, f.of, 0), *s = x_state(f.mem, TS_I64, 1), *one = number(&f, f.of, 1),
               *below = x2(f.mem, "lt", f.x, number(&f, f.of, 0));
    const expr *start[] = {one, number(&f, TS_I64, 0)};
    const expr *step[] = {x3(f.mem, "select", below, x1(f.mem, "neg", p), p),
                          x3(f.mem, "select", below, x2(f.mem, "add", s, x_whole(f.mem, 1)), s)};
    const expr *merge[] = {x2(f.mem, "mul", p, x_state(f.mem, f.of, 2)),
                           x2(f.mem, "add", s, x_state(f.mem, TS_I64, 3))};
    return end(&f, 2, start, step, merge, x2(f.mem, "mul", p, x2(f.mem, "add", x_cast(f.mem, f.of, s), one)));
}

static const expr *alone(defn *d, const char *how, double by)
{
    const folding f = begin(d);
    const expr *s = x_state(f.mem, f.of, 0), *start[] = {number(&f, f.of, 0)},
               *step[] = {x2(f.mem, how, x2(f.mem, "mul", s, number(&f, f.of, by)), f.x)};
    return end(&f, 1, start, step, NULL, s);
}

static const expr *fading_body(defn *d)
{
    return alone(d, "max", 0.5);
}

static const expr *digits_body(defn *d)
{
    return alone(d, "add", 10);
}

const op tuple_place = {.name = "tuple_place", .arity = 1, .axes = "r | c", .shape = rows, .body = place_body};
const op tuple_both = {.name = "tuple_both", .arity = 1, .axes = "r | c", .shape = rows, .body = both_body};
const op tuple_softmax = {.name = "tuple_softmax", .arity = 1, .axes = "r | c", .shape = rows, .body = softmax_body};
const op tuple_variance = {.name = "tuple_variance", .arity = 1, .axes = "r | c", .shape = rows, .body = variance_body};
const op tuple_signs = {.name = "tuple_signs", .arity = 1, .axes = "r | c", .shape = rows, .body = signs_body};
const op tuple_fading = {.name = "tuple_fading", .arity = 1, .axes = "r | c", .shape = rows, .body = fading_body};
const op tuple_digits = {.name = "tuple_digits", .arity = 1, .axes = "r | c", .shape = rows, .body = digits_body};
