/* device_driver.c - memory, copies and runs, by whichever driver. */
#include "backends/device/runtime/device_driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int device_leaf(int i)
{
    return 1 + i;
}

int device_input(const device_program *p, int i)
{
    return 1 + p->leaves + i;
}

int device_piece(const device_program *p, device_extra which)
{
    return 1 + p->leaves + p->inputs + (int)which;
}

device *device_make(const device_driver *by)
{
    device *d = calloc(1, by->bytes);
    if (d)
        d->by = by;
    return d;
}

void device_drop(device *d)
{
    if (d)
        d->by->close(d), free(d->lent);
    free(d);
}

/* ---- what went wrong ---- */
int device_wrong(device *d, enum device_trouble what, const char *form, ...)
{
    va_list all;
    if (d->said.what)
        return 0;
    d->said.what = (int)what;
    va_start(all, form);
    vsnprintf(d->said.text, sizeof d->said.text, form, all);
    va_end(all);
    return 0;
}

void device_hint(device *d, const char *form, ...)
{
    va_list all;
    if (d->said.hint[0])
        return;
    va_start(all, form);
    vsnprintf(d->said.hint, sizeof d->said.hint, form, all);
    va_end(all);
    for (char *s = d->said.hint; *s; s++) /* of what a driver says */
        *s = *s > 0 && *s < ' ' ? ' ' : *s;
}

/* ---- memory ---- */
static int take_inputs(device *d, const device_program *p)
{
    int ok = 1;
    for (int i = 0; i < p->inputs && ok; i++)
        ok = d->by->take(d, device_input(p, i), p->input[i].bytes, "the inputs");
    return ok;
}

static int take_extras(device *d, const device_program *p)
{
    return d->by->take(d, device_piece(p, DEVICE_COUNTS), (long)COUNT_BYTES * p->loops, "the trips' numbers") &&
           d->by->take(d, device_piece(p, DEVICE_SPILL), p->spill, "what kernels hold") &&
           d->by->take(d, device_piece(p, DEVICE_FAULT), 4L * (p->kernels + 1), "the marks of kernels") &&
           d->by->take(d, device_piece(p, DEVICE_SIZES), d->by->in_memory * 8L * p->sizes, "extents");
}

static int clear_faults(device *d)
{
    return d->by->clear(d, (device_at){device_piece(d->program, DEVICE_FAULT), 0}, 4L * (d->program->kernels + 1));
}

int device_room(device *d, const device_program *p, long most)
{
    enum { PART = 4 << 20 }; /* at 25 GB/s 170 us, some ten times what it takes to begin a copy and to wait for it */
    int ok = 1;
    d->program = p;
    if (!(d->lent = calloc((size_t)p->inputs + 1, 1)))
        return device_wrong(d, DEVICE_NO_MEMORY, "no memory for lists");
    for (int i = 0; i < p->leaves && ok; i++)
        ok = d->by->take(d, device_leaf(i), p->leaf[i].bytes, "the weights");
    ok = ok && d->by->take(d, 0, p->arena, "the values") && take_inputs(d, p) && take_extras(d, p);
    d->part = most < 1 ? 1 : most < PART ? most : PART;
    /* Of extents that a run says, trips read what lies behind the end: numbers, whichever these are. */
    return ok && d->by->pin(d, 2 * d->part + 1) && (!p->sizes || d->by->clear(d, (device_at){0, 0}, p->arena)) &&
           clear_faults(d);
}

/* ---- copies ---- */
static long least(long a, long b)
{
    return a < b ? a : b;
}

static int settle(device *d, int which, const char *doing)
{
    const int ok = !d->begun[which] || d->by->settle(d, which, doing);
    d->begun[which] = 0;
    return ok;
}

static int next_turn(device *d) /* whose turn it is, begun from now on */
{
    const int which = d->turn;
    d->turn = 1 - which, d->begun[which] = 1;
    return which;
}

/* Two parts in turn: the device copies by itself from the one while the host copies to the other. Drivers do the same
 * with memory that is not pinned, but wait for all that is under way first. */
int device_give(device *d, device_at to, const void *from, long bytes, const char *doing)
{
    int ok = 1;
    if (!d->pinned)
        return bytes <= 0 || d->by->write(d, to, from, bytes, -1, doing);
    for (long at = 0; at < bytes && ok; at += d->part) {
        const long n = least(d->part, bytes - at);
        char *part = d->pinned + d->turn * d->part;
        ok = settle(d, d->turn, doing);
        if (ok)
            memcpy(part, (const char *)from + at, (size_t)n);
        ok = ok && d->by->write(d, (device_at){to.piece, to.at + at}, part, n, next_turn(d), doing);
    }
    return ok;
}

static int ask(device *d, device_at from, long at, long bytes, const char *doing)
{
    char *part = d->pinned + d->turn * d->part;
    return settle(d, d->turn, doing) &&
           d->by->read(d, part, (device_at){from.piece, from.at + at}, least(d->part, bytes - at), next_turn(d), doing);
}

/* The next part is asked for before the last one is waited for. */
int device_take(device *d, void *to, device_at from, long bytes, const char *doing)
{
    if (bytes <= 0 || !d->pinned)
        return bytes <= 0 || d->by->read(d, to, from, bytes, -1, doing);
    int ok = ask(d, from, 0, bytes, doing);
    for (long at = 0; at < bytes && ok; at += d->part) {
        const long next = at + d->part;
        const int which = 1 - d->turn;
        ok = (next >= bytes || ask(d, from, next, bytes, doing)) && settle(d, which, doing);
        if (ok)
            memcpy((char *)to + at, d->pinned + which * d->part, (size_t)least(d->part, bytes - at));
    }
    return ok;
}

/* ---- runs ---- */
static int send_one(device *d, int i, void *from, int copied)
{
    const device_at at = {device_input(d->program, i), 0};
    const long bytes = d->program->input[i].bytes;
    d->lent[i] = d->by->lend && d->by->lend(d, at.piece, from, bytes);
    return !d->said.what && (d->lent[i] || !copied || device_give(d, at, from, bytes, "a copy to the device"));
}

int device_send(device *d, void *const *input, const char *which)
{
    const device_program *p = d->program;
    int ok = 1;
    for (int i = 0; i < p->inputs && ok; i++)
        ok = send_one(d, i, input[i], !which || which[i]);
    if (ok && p->sizes && d->by->in_memory)
        ok = device_give(d, (device_at){device_piece(p, DEVICE_SIZES), 0}, input[p->inputs], 8L * p->sizes,
                         "a copy to the device");
    d->size = p->sizes ? input[p->inputs] : NULL;
    return ok;
}

int device_start(device *d)
{
    return d->by->start ? d->by->start(d) : device_kernels(d, 0, d->program->kernels);
}

int device_end(device *d)
{
    const device_program *p = d->program;
    int k = 0;
    d->fault = 0;
    if (!p->faults)
        return d->by->wait(d, "a run");
    int *mark = calloc((size_t)p->kernels + 1, sizeof *mark);
    int ok = mark ? device_take(d, mark, (device_at){device_piece(p, DEVICE_FAULT), 0}, 4L * p->kernels, "a run")
                  : device_wrong(d, DEVICE_NO_MEMORY, "no memory for the marks of kernels");
    while (ok && k < p->kernels && !mark[k])
        k++;
    if (ok && k < p->kernels)
        d->fault = 1 + k, ok = clear_faults(d);
    free(mark);
    return ok;
}

int device_receive(device *d, void *const *input, int written)
{
    const device_program *p = d->program;
    int ok = 1, lent = 0;
    for (int i = 0; i < p->inputs && ok; i++) {
        const device_at at = {device_input(p, i), 0};
        if (d->lent[i])
            lent = 1, ok = d->by->give_back(d, at.piece, p->input[i].bytes);
        else if (written && p->input[i].written && !d->fault)
            ok = device_take(d, input[i], at, p->input[i].bytes, "a copy of what was written");
    }
    return ok && (!lent || d->by->wait(d, "lending an input"));
}
