/* links.c - names to numbers: every name made once, every name used made somewhere, and an order in which nothing is
 * used before it is made. Files list their steps in that order by rule, not always in fact. A graph inside a step takes
 * names that it does not have from the graph around it; they count as operands of that step. */
#include "import/model.h"
#include "import/names.h"

/* The names of one graph while it is linked. */
typedef struct scope {
    const body *f;
    links *l;
    name_table table;
    struct scope *outer; /* NULL: names come from nowhere else */
    int *capture;        /* values of the outer graph */
    int cap_capture;
    int *operand;
    int n_operand, cap_operand;
    arena *mem, *scratch;
} scope;

/* node[3] "name" */
static const char *place(const body *f, arena *mem, int i)
{
    return arena_format(mem, "node[%d] \"%s\"", i, f->step[i].name);
}

static const char *maker(const scope *s, int value)
{
    const body *f = s->f;
    if (value < f->n_input)
        return arena_format(s->mem, "input[%d]", value);
    if (value < f->n_input + f->n_held)
        return arena_format(s->mem, "tensor[%d] of the file", value - f->n_input);
    int i = f->n_step - 1;
    while (s->l->first_out[i] > value)
        i--;
    return place(f, s->mem, i);
}

static bool declare(scope *s, const char *name, int value, err *e)
{
    const int first = name_add(&s->table, name, value);
    if (first == value)
        return true;
    return err_set(e, TS_BAD_INPUT, "M013 value \"%s\" is produced by %s and by %s", name, maker(s, first),
                   maker(s, value));
}

static bool declare_all(scope *s, err *e)
{
    const body *f = s->f;
    links *l = s->l;
    int *first_out = arena_array(s->mem, (size_t)f->n_step + 1, sizeof *first_out);
    int n = f->n_input + f->n_held;
    for (int i = 0; i < f->n_step; i++) {
        first_out[i] = n;
        n += f->step[i].n_out;
    }
    first_out[f->n_step] = l->n_value = n;
    l->first_out = first_out;
    for (int i = 0; i < f->n_input; i++)
        if (!declare(s, f->input[i].name, i, e))
            return false;
    for (int i = 0; i < f->n_held; i++)
        if (!declare(s, f->held[i].name, f->n_input + i, e))
            return false;
    for (int i = 0; i < f->n_step; i++)
        for (int k = 0; k < f->step[i].n_out; k++)
            if (*f->step[i].out[k] && !declare(s, f->step[i].out[k], first_out[i] + k, e))
                return false;
    return true;
}

/* The value called so here or further out, or -1. What is found further out becomes a value here. */
static int find(scope *s, const char *name)
{
    const int own = name_find(&s->table, name);
    if (own >= 0 || !s->outer)
        return own;
    const int from = find(s->outer, name);
    if (from < 0)
        return -1;
    s->capture = arena_grown(s->scratch, s->capture, s->l->n_capture, &s->cap_capture, sizeof *s->capture);
    s->capture[s->l->n_capture++] = from;
    return name_add(&s->table, name, s->l->n_value++);
}

static void add_operand(scope *s, int value)
{
    s->operand = arena_grown(s->scratch, s->operand, s->n_operand, &s->cap_operand, sizeof *s->operand);
    s->operand[s->n_operand++] = value;
}

static bool link_body(body *f, scope *outer, arena *mem, arena *scratch, err *e);

static bool resolve_step(scope *s, int i, err *e)
{
    const step *t = &s->f->step[i];
    for (int k = 0; k < t->n_in; k++) {
        const char *name = t->in[k];
        const int value = *name ? find(s, name) : -1;
        if (*name && value < 0)
            return err_set(e, TS_BAD_INPUT, "M012 %s: input \"%s\" is not defined", place(s->f, s->mem, i), name);
        add_operand(s, value);
    }
    for (int k = 0; k < t->n_body; k++) {
        if (!link_body(&t->body[k], s, s->mem, s->scratch, e))
            return err_in(e, "%s", place(s->f, s->mem, i));
        for (int c = 0; c < t->body[k].links->n_capture; c++)
            add_operand(s, t->body[k].links->capture[c]);
    }
    return true;
}

static bool resolve(scope *s, err *e)
{
    const body *f = s->f;
    links *l = s->l;
    int *first_in = arena_array(s->mem, (size_t)f->n_step + 1, sizeof *first_in);
    for (int i = 0; i < f->n_step; i++) {
        first_in[i] = s->n_operand;
        if (!resolve_step(s, i, e))
            return false;
    }
    first_in[f->n_step] = s->n_operand;
    int *result = arena_array(s->mem, (size_t)f->n_output, sizeof *result);
    for (int i = 0; i < f->n_output; i++) {
        result[i] = find(s, f->output[i].name);
        if (result[i] < 0)
            return err_set(e, TS_BAD_INPUT, "M012 output \"%s\" is not defined", f->output[i].name);
    }
    l->first_in = first_in, l->result = result;
    l->operand = arena_joined(s->mem, s->operand, s->n_operand, NULL, 0, sizeof *s->operand);
    l->capture = arena_joined(s->mem, s->capture, l->n_capture, NULL, 0, sizeof *s->capture);
    return true;
}

/* Depth first over what is needed, with a stack of its own; a step that meets itself again is on a cycle. */
typedef struct walk {
    const body *f;
    const links *l;
    arena *mem;
    const int *owner; /* value -> step that makes it, -1 for inputs and held values */
    unsigned char *state;
    int *stack, *next, *order;
    int n_order;
} walk;
enum { NEW, OPEN, DONE };

static bool visit(walk *w, int root, err *e)
{
    int depth = 0;
    if (root < 0 || w->state[root] == DONE)
        return true;
    w->stack[0] = root;
    w->state[root] = OPEN;
    while (depth >= 0) {
        const int i = w->stack[depth], k = w->next[i]++;
        if (k == w->l->first_in[i + 1] - w->l->first_in[i]) {
            w->state[i] = DONE;
            w->order[w->n_order++] = i;
            depth--;
            continue;
        }
        const int value = w->l->operand[w->l->first_in[i] + k], need = value < 0 ? -1 : w->owner[value];
        if (need < 0 || w->state[need] == DONE)
            continue;
        if (w->state[need] == OPEN)
            return err_set(e, TS_BAD_INPUT, "M012 cycle: %s needs \"%s\" of %s, which itself needs what %s makes",
                           place(w->f, w->mem, i), w->f->step[need].out[value - w->l->first_out[need]],
                           place(w->f, w->mem, need), place(w->f, w->mem, i));
        w->state[need] = OPEN;
        w->stack[++depth] = need;
    }
    return true;
}

static void mark_needed(const body *f, const links *l, const int *owner, unsigned char *needed, int *stack)
{
    int n = 0;
    for (int i = 0; i < f->n_output; i++)
        if (owner[l->result[i]] >= 0 && !needed[owner[l->result[i]]]) {
            needed[owner[l->result[i]]] = 1;
            stack[n++] = owner[l->result[i]];
        }
    while (n > 0) {
        const int i = stack[--n];
        for (int k = l->first_in[i]; k < l->first_in[i + 1]; k++) {
            const int need = l->operand[k] < 0 ? -1 : owner[l->operand[k]];
            if (need >= 0 && !needed[need]) {
                needed[need] = 1;
                stack[n++] = need;
            }
        }
    }
}

/* Files that are in order stay in their order: a step comes earlier only where another one needs it. */
static bool sort_steps(const body *f, links *l, arena *mem, arena *scratch, err *e)
{
    int *owner = arena_array(scratch, (size_t)l->n_value, sizeof *owner);
    for (int i = 0; i < l->n_value; i++)
        owner[i] = -1;
    for (int i = 0; i < f->n_step; i++)
        for (int v = l->first_out[i]; v < l->first_out[i + 1]; v++)
            owner[v] = i;
    unsigned char *needed = arena_array(scratch, (size_t)f->n_step, 1);
    walk w = {.f = f, .l = l, .mem = mem, .owner = owner};
    w.state = arena_array(scratch, (size_t)f->n_step, 1);
    w.stack = arena_array(scratch, (size_t)f->n_step, sizeof *w.stack);
    w.next = arena_array(scratch, (size_t)f->n_step, sizeof *w.next);
    w.order = arena_array(mem, (size_t)f->n_step, sizeof *w.order);
    mark_needed(f, l, owner, needed, w.stack);
    for (int i = 0; i < f->n_step; i++)
        if (needed[i] && !visit(&w, i, e))
            return false;
    l->order = w.order, l->n_order = w.n_order;
    return true;
}

static bool link_body(body *f, scope *outer, arena *mem, arena *scratch, err *e)
{
    f->links = arena_get(mem, sizeof *f->links);
    scope s = {.f = f, .l = f->links, .table = {.mem = scratch}, .outer = outer, .mem = mem, .scratch = scratch};
    return declare_all(&s, e) && resolve(&s, e) && sort_steps(f, s.l, mem, scratch, e);
}

bool links_make(model_file *f, arena *mem, err *e)
{
    ENDED_BY(arena_free) arena scratch = {0};
    bool ok = link_body(&f->main, NULL, mem, &scratch, e);
    for (int i = 0; ok && i < f->n_function; i++)
        ok = link_body(&f->function[i].body, NULL, mem, &scratch, e) ||
             err_in(e, "function %s.%s", f->function[i].domain, f->function[i].name);
    return ok;
}
