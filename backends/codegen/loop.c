/* loop.c - a scan as one kernel: the loop over its trips, in which their kernels are called as functions of the same
 * text, one after another and by one worker, so that none is waited for. Where that is a group of lanes, these do each
 * kernel together, and meet behind it. Where a trip finds its inputs moves by constant steps; what its kernels hand on
 * lies in `room`. */
#include "backends/codegen/emit.h"
#include "backends/codegen/passes.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct looping {
    const dialect *d;
    text_around of;
    const plan *p; /* around the scan */
    const kernel *k;
    const scan_plan *s;
    arena mem;
    kernel_text *out, *member; /* member: by kernel of a trip */
    code once, first, all;     /* places that stay; what is done before the trips; the whole */
    code moved;                /* places that move, in a trip */
    bool *named;               /* by input of a trip: it has a name */
    bool *used;                /* by operand, then of the room */
    int64_t *value;            /* what of the room has a name */
    int n_value;
} looping;

/* ---- operands ---- */
static int leaf_operand(const looping *w, int entry)
{
    int i = w->k->stage->n_load + 1;
    while (i < w->out->n_operand && w->out->operand[i].leaf != entry)
        i++;
    return i;
}

/* Those of the scan, then weights of trips. */
static void find_operands(looping *w)
{
    kernel_text *out = w->out;
    call_operands(w->p, w->k, out);
    out->parts = 1;
    const int most = out->n_operand + w->s->plan->n_leaf + 1;
    out->operand = reallocarray(out->operand, (size_t)most, sizeof *out->operand);
    MUST(out->operand);
    for (int i = 0; i < w->s->plan->n_leaf; i++) {
        const packed *weight = &w->p->leaf[w->s->leaf[i]];
        if (leaf_operand(w, w->s->leaf[i]) == out->n_operand)
            out->operand[out->n_operand++] = (operand){weight->node, &weight->layout, w->s->leaf[i], false, ""};
    }
    for (int i = 0; i < out->n_operand; i++)
        snprintf(out->operand[i].name, sizeof out->operand[i].name, "%c%d", out->operand[i].written ? 'y' : 'x', i),
            out->far = out->far || out->operand[i].layout->size > INT32_MAX / ts_dtype_bytes(TS_F64);
    w->used = arena_array(&w->mem, (size_t)most, sizeof *w->used);
}

static const cexpr *operand_taken(looping *w, int i)
{
    w->used[i] = true;
    return cexpr_word(&w->mem, w->out->operand[i].name);
}

/* ---- places ---- */
static const cexpr *form(looping *w, const char *what, int n, const cexpr *const *arg)
{
    callees_form(&w->out->uses, w->d, what, w->d->suffix);
    return cexpr_form(&w->mem, what, n, arg);
}

static const cexpr *number(looping *w, int64_t n)
{
    return cexpr_number(&w->mem, n);
}

/* Trips of the run */
static const cexpr *trips(looping *w)
{
    return w->s->counted.by ? cexpr_word(&w->mem, "trips") : number(w, w->s->trips);
}

static void count_trips(looping *w)
{
    const varying *v = &w->s->counted;
    const cexpr *of[MOST_VARIABLES];
    int64_t times[MOST_VARIABLES];
    int n = 0;
    if (!v->by)
        return;
    for (int i = 0; i < w->p->n_variable; i++)
        if (v->by >> i & 1)
            of[n] = cexpr_word(&w->mem, arena_format(&w->mem, "size%d", i)), times[n++] = v->times[i];
    code_let(&w->once, arena_format(&w->mem, "const %s", w->d->index), "trips",
             cexpr_floor(&w->mem, cexpr_sum(&w->mem, v->plus, n, of, times), v->per, false));
}

/* (x + more) / every: places that every so many trips move on; x where all do */
static const cexpr *in_steps(looping *w, const cexpr *x, int64_t more, int64_t every)
{
    return every > 1 ? cexpr_floor(&w->mem, cexpr_plus(&w->mem, x, more), every, false) : x;
}

/* Bytes from where the operand begins to where the input does in a trip */
static const cexpr *distance(looping *w, const trip_address *a)
{
    const cexpr *made = in_steps(w, cexpr_word(&w->mem, "trip"), a->every - 1, a->every);
    if (a->step < 0 && w->s->counted.by) /* from the last one of the run */
        made = cexpr_sum(&w->mem, w->s->trips, 2, (const cexpr *const[]){made, trips(w)}, (const int64_t[]){1, -1});
    return cexpr_sum(&w->mem, a->at, a->step ? 1 : 0, &made, &a->step);
}

static void meet(const looping *w, code *at) /* the lanes of the group */
{
    if (w->d->barrier)
        code_add(at, (stmt){.kind = S_BARRIER});
}

static const cexpr *value_name(looping *w, int64_t offset);

static const cexpr *number_name(looping *w, int i) /* the trip's own */
{
    if (w->d->loop.number) {
        const cexpr *at = value_name(w, w->s->number);
        if (!w->named[i]) {
            code_call(&w->moved,
                      form(w, w->d->loop.number, 2, (const cexpr *const[]){at, cexpr_word(&w->mem, "trip")}));
            meet(w, &w->moved);
        }
        w->named[i] = true;
        return at;
    }
    if (!w->named[i])
        code_let(&w->moved, arena_format(&w->mem, "const %s", w->d->whole[3]), "number", cexpr_word(&w->mem, "trip"));
    w->named[i] = true;
    return cexpr_one(&w->mem, "&$0", cexpr_word(&w->mem, "number"));
}

static const cexpr *input_name(looping *w, int i)
{
    const trip_address *a = &w->s->address[i];
    if (a->load < 0)
        return number_name(w, i);
    const cexpr *of = operand_taken(w, a->load);
    const char *name = arena_format(&w->mem, "in%d", i);
    const bool written = a->load == w->k->stage->n_load;
    if (!a->at && !a->step)
        return of;
    if (!w->named[i])
        code_let(a->step ? &w->moved : &w->once, w->d->loop.place[written], name,
                 form(w, w->d->loop.at[written], 2, (const cexpr *const[]){of, distance(w, a)}));
    w->named[i] = true;
    return cexpr_word(&w->mem, name);
}

static const cexpr *value_name(looping *w, int64_t offset)
{
    int i = 0;
    while (i < w->n_value && w->value[i] != offset)
        i++;
    const char *name = arena_format(&w->mem, "v%d", i);
    if (i < w->n_value)
        return cexpr_word(&w->mem, name);
    w->value[w->n_value++] = offset, w->used[w->out->n_operand] = true;
    code_let(&w->once, w->d->loop.place[1], name,
             form(w, w->d->loop.at[1], 2, (const cexpr *const[]){cexpr_word(&w->mem, "room"), number(w, offset)}));
    return cexpr_word(&w->mem, name);
}

static const cexpr *root_name(looping *w, int root)
{
    const plan *q = w->s->plan;
    return value_name(w, q->buffer[q->root[root]->id].offset);
}

/* ---- statements ---- */
static const cexpr *argument_place(looping *w, const operand *o)
{
    const plan *q = w->s->plan;
    const buffer *h = &q->buffer[o->node->id];
    if (o->leaf >= 0)
        return operand_taken(w, leaf_operand(w, w->s->leaf[o->leaf]));
    return h->where == IN_ARENA ? value_name(w, h->offset) : input_name(w, input_of(q, o->node));
}

static const cexpr *argument(looping *w, const operand *o, bool as_it_is)
{
    const cexpr *at = argument_place(w, o);
    const char *given = w->d->loop.given[o->written], *of = memory_type(w->d, stored_as(w->s->plan, o->node));
    return as_it_is || !given ? at : form(w, given, 2, (const cexpr *const[]){cexpr_spelled(&w->mem, of), at});
}

static void call_member(looping *w, int i)
{
    const kernel_text *k = &w->member[i];
    const scan_plan *own = w->s->plan->kernel[i].scan;
    const cexpr *all = NULL;
    for (int o = 0; o < k->n_operand; o++)
        all = cexpr_list(&w->mem, all, argument(w, &k->operand[o], own != NULL));
    if (k->needs_room)
        all = cexpr_list(&w->mem, all, value_name(w, own->room->offset));
    for (int v = 0; k->sizes >> v; v++)
        if (k->sizes >> v & 1)
            all = cexpr_list(&w->mem, all, cexpr_word(&w->mem, arena_format(&w->mem, "size%d", v)));
    all = cexpr_list(&w->mem, all, cexpr_spelled(&w->mem, w->d->loop.with[k->scratch > 0]));
    code_call(&w->all, cexpr_one(&w->mem, arena_format(&w->mem, "%s($0)", k->name), all));
    meet(w, &w->all);
}

static void copy(looping *w, code *to, const cexpr *into, const cexpr *from, int64_t bytes)
{
    code_call(to, form(w, w->d->loop.copy, 3, (const cexpr *const[]){into, from, number(w, bytes)}));
}

/* States begin as they are told, unless that lies where they are. */
static void copy_first(looping *w)
{
    for (int i = 0; i < w->s->n_first; i++) {
        const trip_copy *c = &w->s->first[i];
        if (!c->bytes)
            continue;
        const cexpr *into = input_name(w, c->input), *from = operand_taken(w, c->load);
        code_if(&w->first, cexpr_two(&w->mem, "($0 != $1)", into, from));
        w->first.at->tight = true;
        copy(w, &w->first, into, from, c->bytes);
        code_close(&w->first);
    }
    meet(w, &w->first);
}

/* Rows of trips that are not made are zeros. */
static void clear_rows(looping *w)
{
    for (int i = 0; i < w->s->plan->n_input; i++) {
        const trip_address *a = &w->s->address[i];
        const int64_t step = a->step < 0 ? -a->step : a->step;
        if (!a->row || !step)
            continue;
        const cexpr *trip = cexpr_word(&w->mem, "trip"), *end = trips(w), *made = cexpr_plus(&w->mem, trip, 1);
        if (a->every > 1)
            end = cexpr_plus(&w->mem, in_steps(w, end, a->every - 2, a->every), 1),
            made = cexpr_plus(&w->mem, in_steps(w, trip, a->every - 1, a->every), 1);
        const cexpr *from = a->step < 0 ? number(w, a->at + a->step * (w->s->trips - 1))
                                        : cexpr_sum(&w->mem, a->at, 1, &made, &step),
                    *at = form(w, w->d->loop.at[1], 2, (const cexpr *const[]){operand_taken(w, a->load), from}),
                    *left = cexpr_sum(&w->mem, 0, 2, (const cexpr *const[]){end, made}, (const int64_t[]){1, -1});
        code_call(&w->all, form(w, w->d->loop.clear, 2, (const cexpr *const[]){at, cexpr_times(&w->mem, left, step)}));
    }
}

static void make_trip(looping *w)
{
    for (int i = 0; i < w->s->plan->n_kernel; i++)
        call_member(w, i);
    for (int i = 0; i < w->s->n_copy; i++) {
        const trip_copy *c = &w->s->copy[i];
        if (c->bytes)
            copy(w, &w->all, input_name(w, c->input), root_name(w, c->root), c->bytes);
    }
    if (w->s->n_copy)
        meet(w, &w->all);
    if (w->s->until < 0)
        return;
    const cexpr *until = root_name(w, w->s->until);
    code_if(&w->all, form(w, w->d->loop.truth, 1, &until));
    clear_rows(w);
    code_add(&w->all, (stmt){.kind = S_LEAVE});
    code_close(&w->all);
    meet(w, &w->all); /* the next trip writes there */
}

static void write_statements(looping *w)
{
    const plan *q = w->s->plan;
    w->named = arena_array(&w->mem, (size_t)q->n_input + 1, sizeof *w->named);
    w->value = arena_array(&w->mem, (size_t)(q->n_buffer + q->n_kernel) + 1, sizeof *w->value);
    w->once = code_begin(&w->mem), w->first = code_begin(&w->mem), w->moved = code_begin(&w->mem);
    w->all = code_begin(&w->mem);
    count_trips(w);
    copy_first(w);
    stmt *all = code_open(
        &w->all,
        (stmt){.kind = S_LOOP, .name = "trip", .from = cexpr_number(&w->mem, 0), .to = trips(w), .trips = w->s->trips});
    make_trip(w);
    code_before(all, &w->moved);
    code_close(&w->all);
    if (w->d->loop.share)
        code_call(&w->once, cexpr_spelled(&w->mem, w->d->loop.share));
    for (int i = 0; i < w->out->n_operand; i++)
        if (!w->used[i])
            code_add(&w->once,
                     (stmt){.kind = S_CALL,
                            .value = cexpr_one(&w->mem, "(void)$0", cexpr_word(&w->mem, w->out->operand[i].name))});
    code_before(w->all.at, &w->first), code_before(w->all.at, &w->once);
    MUST(code_through(w->all.at, 0, N_CODE_PASS, &w->mem, w->d, NULL)); /* all lanes make all trips */
}

/* ---- text ---- */
static void write_function(looping *w, void (*opens)(text *t, const kernel_head *h), const char *name, text *t)
{
    const kernel_text *out = w->out;
    const int n = out->n_operand;
    parameter *all = arena_array(&w->mem, (size_t)n + 1, sizeof *all);
    ENDED_BY(text_free) text head = {0};
    for (int i = 0; i < n; i++)
        all[i] = (parameter){w->d->loop.memory, out->operand[i].name, out->operand[i].written};
    all[n] = (parameter){w->d->loop.memory, "room", true};
    opens(&head, &(kernel_head){.name = name,
                                .n = text_operands(out),
                                .parameter = all,
                                .scratch = out->scratch,
                                .lanes = out->lanes,
                                .asks = out->asks,
                                .sizes = out->sizes});
    stmt_lines(t, text_str(&head));
    t->depth = 1;
    stmt_print(t, w->d, w->all.at);
    t->depth = 0;
    text_add(t, "}\n");
}

static void write_whole(void *user, const char *name, text *t)
{
    looping *w = user;
    write_function(w, w->d->kernel, name, t);
}

static void write_unit(looping *w, text *header)
{
    unit_whole(w->d, w->out, write_whole, w, header);
}

static void write_member(looping *w, text *header)
{
    text own = {0};
    member_name(w->d, w->out->name);
    write_function(w, w->d->member, w->out->name, &own);
    member_write(w->out, header, &own);
}

/* Where what a function is told of its pointers is taken to hold for the kernel that it is part of, kernels of a trip
 * are told nothing: one reads what another one wrote. */
static dialect dialect_inside(const dialect *d)
{
    dialect own = *d;
    if (d->restricted_for_good)
        own.restricted = "";
    return own;
}

static bool make(looping *w, void (*write)(looping *w, text *header), err *e)
{
    const dialect inside = dialect_inside(w->d);
    const int n = w->s->plan->n_kernel;
    bool ok = true;
    ENDED_BY(text_free) text header = {0};
    find_operands(w);
    w->out->asks = w->p->ends && w->d->asks;
    w->member = calloc((size_t)n + 1, sizeof *w->member);
    MUST(w->member && w->d->member);
    for (int i = 0; i < n && ok; i++)
        ok = member_make(&inside, w->s->plan, &w->s->plan->kernel[i], w->of, &w->member[i], e);
    if (ok) {
        for (int i = 0; i < n; i++)
            member_take(w->out, &w->member[i]);
        w->out->lanes = w->d->lane ? (int)w->of.lanes : 1;
        write_statements(w);
        w->out->needs_room = w->used[w->out->n_operand] || w->out->sizes; /* extents are told behind it */
        unit_call(w->out, write_whole, w);
        loop_header(&header, w->k, w->out, w->member);
        write(w, &header);
    } else
        kernel_text_free(w->out);
    for (int i = 0; i < n; i++)
        kernel_text_free(&w->member[i]);
    free(w->member), arena_free(&w->mem);
    return ok;
}

bool loop_write(const dialect *d, const plan *p, const kernel *k, kernel_text *out, err *e)
{
    const text_around of = {.lanes = k->scan->lanes};
    return make(&(looping){.d = d, .of = of, .p = p, .k = k, .s = k->scan, .out = out}, write_unit, e);
}

bool loop_member(const dialect *d, const plan *p, const kernel *k, text_around of, kernel_text *out, err *e)
{
    return make(&(looping){.d = d, .of = of, .p = p, .k = k, .s = k->scan, .out = out}, write_member, e);
}
