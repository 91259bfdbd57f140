/* launch.c - several kernels as one: a function for each distinct text among them, and one that a device is told to
 * begin, of which each group finds out by its number which kernel it is of, and calls that. Kernels of one text are
 * next to each other, so their function is called in one place, with the operands of the one that it is. */
#include "backends/codegen/emit.h"
#include "backends/codegen/levels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct launch_part {
    kernel_text *text;
    int64_t groups;
    int told; /* how far behind the launch's own number that is by which it is told of an index that led outside */
} launch_part;

typedef struct together {
    const dialect *d;
    const plan *p;
    int n;
    launch_part *part; /* those of one text next to each other */
    int **operand;     /* by part, of each of its operands: which one of the launch it is */
    kernel_text *out;
} together;

/* ---- which kernels, which operands ---- */
static void sort_parts(together *w, const launch_part *part)
{
    for (int i = 0, at = 0; i < w->n; i++) {
        bool first = true;
        for (int k = 0; k < i; k++)
            first = first && strcmp(part[k].text->name, part[i].text->name);
        for (int k = i; first && k < w->n; k++)
            if (!strcmp(part[k].text->name, part[i].text->name))
                w->part[at++] = part[k];
    }
}

static int take_operand(kernel_text *out, const operand *o)
{
    for (int i = 0; i < out->n_operand; i++) {
        const operand *q = &out->operand[i];
        if (q->node == o->node && q->written == o->written && layout_same(q->layout, o->layout))
            return i;
    }
    operand *own = &out->operand[out->n_operand];
    *own = *o;
    snprintf(own->name, sizeof own->name, "%c%d", o->written ? 'y' : 'x', out->n_operand);
    return out->n_operand++;
}

static void find_operands(together *w)
{
    int most = 1;
    for (int i = 0; i < w->n; i++)
        most += w->part[i].text->n_operand;
    w->out->operand = heap_array((size_t)most, sizeof *w->out->operand),
    w->out->box = heap_array(1, sizeof *w->out->box);
    for (int i = 0; i < w->n; i++) {
        const kernel_text *k = w->part[i].text;
        w->operand[i] = heap_array((size_t)k->n_operand + 1, sizeof **w->operand);
        for (int o = 0; o < k->n_operand; o++)
            w->operand[i][o] = take_operand(w->out, &k->operand[o]);
    }
}

static void take_parts(together *w)
{
    kernel_text *out = w->out;
    for (int i = 0; i < w->n; i++) {
        kernel_text *k = w->part[i].text;
        MUST(!i || k->lanes == out->lanes);
        member_take(out, k);
        out->parts += w->part[i].groups, out->asks = out->asks || k->asks;
    }
}

/* ---- text ---- */
static bool same(const together *w, int i, int k)
{
    return !strcmp(w->part[i].text->name, w->part[k].text->name) && w->part[i].groups == w->part[k].groups;
}

static const char *type_of(const together *w, const operand *o)
{
    return memory_type(w->d, stored_as(w->p, o->node));
}

/* The operands of those of one text, parts i to before `end`, and where they tell of an index that led outside */
static void write_choice(const together *w, int i, int end, text *t)
{
    const kernel_text *k = w->part[i].text;
    for (int o = 0; o < k->n_operand; o++)
        text_line(t, "%s%s%s *a%d = %s;", w->d->space[ALL], k->operand[o].written ? "" : "const ",
                  type_of(w, &k->operand[o]), o, w->out->operand[w->operand[i][o]].name);
    if (k->faults)
        text_line(t, "int told = %d;", w->part[i].told);
    text_line(t, "switch (member) {");
    for (int m = i + 1; m < end; m++) {
        const char *comma = " ";
        ENDED_BY(text_free) text line = {0};
        text_add(&line, "case %d:", m - i);
        for (int o = 0; o < k->n_operand; o++)
            if (w->operand[m][o] != w->operand[i][o])
                text_add(&line, "%sa%d = %s", comma, o, w->out->operand[w->operand[m][o]].name), comma = ", ";
        if (k->faults)
            text_add(&line, "%stold = %d", comma, w->part[m].told);
        text_add(&line, "; break;");
        stmt_lines(t, line.s);
    }
    text_line(t, "}");
}

static void add_number(text *t, const char *name, int64_t n) /* what is added to it, if anything */
{
    text_add(t, n < 0 ? "%s - %lld" : n ? "%s + %lld" : "%s", name, (long long)(n < 0 ? -n : n));
}

/* first: the number of the first group of part i */
static void write_call(const together *w, int i, int end, int64_t first, text *t)
{
    const kernel_text *k = w->part[i].text;
    const int64_t groups = w->part[i].groups;
    const bool several = end > i + 1;
    ENDED_BY(text_free) text line = {0}, own = {0};
    add_number(&own, "group", -first);
    if (several) {
        text_line(t, first ? "const %s member = (%s) / %lld;" : "const %s member = %s / %lld;", w->d->index, own.s,
                  (long long)groups);
        write_choice(w, i, end, t);
    }
    text_add(&line, "%s(", k->name);
    for (int o = 0; o < k->n_operand; o++)
        if (several)
            text_add(&line, "a%d, ", o);
        else
            text_add(&line, "%s, ", w->out->operand[w->operand[i][o]].name);
    text_add(&line, "%s", k->scratch ? "scratch, " : "");
    if (several && k->faults)
        text_add(&line, "fault + told");
    else
        add_number(&line, "fault", k->faults ? w->part[i].told : 0);
    text_add(&line, several ? ", %s - member * %lld, %lld);" : ", %s, %lld);", own.s, (long long)groups,
             (long long)groups);
    stmt_lines(t, line.s);
}

static void write_function(void *user, const char *name, text *t)
{
    const together *w = user;
    const kernel_text *out = w->out;
    parameter *all = calloc((size_t)out->n_operand + 1, sizeof *all);
    ENDED_BY(text_free) text head = {0};
    MUST(all);
    for (int o = 0; o < out->n_operand; o++)
        all[o] = (parameter){type_of(w, &out->operand[o]), out->operand[o].name, out->operand[o].written};
    w->d->kernel(&head, &(kernel_head){.name = name,
                                       .n = out->n_operand,
                                       .parameter = all,
                                       .scratch = out->scratch,
                                       .lanes = out->lanes,
                                       .asks = out->asks});
    stmt_lines(t, text_str(&head));
    t->depth = 1;
    int64_t first = 0;
    for (int i = 0, end; i < w->n; i = end) {
        for (end = i; end < w->n && same(w, i, end);)
            end++;
        const int64_t next = first + (end - i) * w->part[i].groups;
        text_line(t, end < w->n ? "%sif (group < %lld) {" : i ? "%s{" : "{", i ? "else " : "", (long long)next);
        t->depth++;
        write_call(w, i, end, first, t);
        t->depth--;
        text_line(t, "}");
        first = next;
    }
    t->depth = 0;
    text_add(t, "}\n");
    free(all);
}

static void write_launch(together *w, const launch_part *part)
{
    text header = {0};
    *w->out = (kernel_text){0};
    w->part = heap_array((size_t)w->n, sizeof *w->part), w->operand = heap_array((size_t)w->n, sizeof *w->operand);
    sort_parts(w, part);
    take_parts(w);
    find_operands(w);
    text_add(&header, "/* %d kernels side by side, whose groups follow one another */\n", w->n);
    unit_call(w->out, write_function, w);
    unit_whole(w->d, w->out, write_function, w, &header);
    for (int i = 0; i < w->n; i++)
        free(w->operand[i]);
    free(w->part), free(w->operand);
}

/* Kernels of trips are told by the number of the scan, whichever they are. */
static void join(const dialect *d, const level *of, int row, kernel_text *all)
{
    kernel_text out, *own = all + of->first;
    ENDED_BY(heap_free) launch_part *part = calloc((size_t)row + 1, sizeof *part);
    int n = 0;
    MUST(part);
    for (int k = 0; k <= row; k++)
        if (k + of->plan->kernel[k].joins == row)
            part[n++] = (launch_part){&own[k], int_max(own[k].parts, 1), of->around < 0 ? k - row : 0};
    if (n > 1) {
        write_launch(&(together){.d = d, .p = of->plan, .n = n, .out = &out}, part);
        for (int k = 0; k <= row; k++)
            if (k + of->plan->kernel[k].joins == row)
                kernel_text_free(&own[k]);
        own[row] = out;
    }
}

void launches_write(const dialect *d, const levels *l, kernel_text *all)
{
    for (int i = 0; i < l->n; i++)
        for (int row = 0; row < l->of[i].plan->n_kernel; row++)
            join(d, &l->of[i], row, all);
}
