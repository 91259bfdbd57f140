/* device_driver.h - a program on a device, whichever driver runs it: its memory, what goes there and comes back, its
 * kernels in order with the trips of its loops. The driver's calls are a record of functions, of which each gives 0
 * where it failed: the device then has said why. Programs that are emitted carry this file; the library drives the same
 * record. A device is its opener's, who works on it from one thread at a time, any one that calls enter first; tables
 * and whatever else is given are borrowed, tables for as long as the device has memory for them. */
#ifndef DEVICE_DRIVER_H
#define DEVICE_DRIVER_H
#include "backends/device/runtime/device_run.h"

#include <stddef.h>
#include <stdint.h>

/* A place of the device's memory: bytes from where one piece of it begins. Piece 0 is the arena, leaves follow, inputs,
 * then those of device_extra. Of the trips' numbers COUNT_BYTES are for each row of loop: behind each, of trips that
 * are launched ahead, whether one was the last. */
enum { MOST_AHEAD = 16, COUNT_BYTES = 8 + MOST_AHEAD };
typedef enum device_extra {
    DEVICE_COUNTS,
    DEVICE_SPILL, /* scratch of groups that does not fit into their memory: bytes for the largest kernel */
    DEVICE_FAULT, /* an int for each kernel of the plan: not 0 where a place that data said was outside */
    DEVICE_SIZES, /* extents of the run */
    DEVICE_EXTRAS
} device_extra;
typedef struct device_at {
    int piece;
    long at;
} device_at;
int device_leaf(int i); /* pieces */
int device_input(const device_program *p, int i);
int device_piece(const device_program *p, device_extra which);

enum device_trouble { DEVICE_FAILED = 1, DEVICE_NO_MEMORY, DEVICE_ABSENT /* no driver for it is here */ };
typedef struct device_said { /* the first thing that went wrong, and the remedy, if any is known */
    int what;                /* 0: nothing did */
    char text[1024], hint[256];
} device_said;

typedef struct device { /* a driver's own record begins with it */
    const device_driver *by;
    const device_program *program; /* NULL: it has no memory for one yet */
    device_said said;
    char *pinned; /* two parts of memory, and a byte, that the device copies by itself; NULL: it shares the host's */
    long part;    /* bytes of one */
    char *lent;   /* by input: its memory is lent to the device, until it is given back */
    int begun[2], turn;  /* by part: a copy was begun and not waited for; which of them is next */
    const int64_t *size; /* extents of the run at hand */
    int fault;           /* of the last run: no index led outside; else one more than the kernel of the plan */
} device;

typedef struct device_where {
    const char *library; /* of the driver; NULL: where systems have it */
    int number, units;   /* how many units of it run; 0: all */
} device_where;

/* doing: what fails if it does, as "a copy to the device". What is begun is done in the order in which it was, but for
 * what turn says. */
struct device_driver {
    size_t bytes;                                  /* of its own record */
    int in_memory;                                 /* kernels read extents of the run from there */
    int (*open)(device *d, const device_where *w); /* d: zeroed */
    void (*close)(device *d);                      /* with all that it was given; accepts what open failed to open */
    int (*enter)(device *d);
    int (*pin)(device *d, long bytes); /* d->pinned, unless the host's memory is shared */
    int (*take)(device *d, int piece, long bytes, const char *what);
    /* The value of so many bytes is lent for a run; NULL, or 0 where nothing is wrong: it is to be copied */
    int (*lend)(device *d, int piece, void *at, long bytes);
    int (*give_back)(device *d, int piece, long bytes); /* of what is lent; begins to */
    /* Begun; done when `settle` was called for the same turn, or wait. turn -1: reading waits by itself */
    int (*write)(device *d, device_at to, const void *from, long bytes, int turn, const char *doing);
    int (*read)(device *d, void *to, device_at from, long bytes, int turn, const char *doing);
    int (*settle)(device *d, int turn, const char *doing);
    int (*copy)(device *d, device_at to, device_at from, long bytes); /* pieces of one memory do not overlap */
    /* From another device of the driver, of which nothing is under way; done when it returns. NULL: it cannot */
    int (*between)(device *d, device_at to, const device *other, device_at from, long bytes);
    int (*clear)(device *d, device_at at, long bytes);
    int (*count)(device *d, device_at at, long trip); /* 8 bytes there become the number */
    /* The function of a kernel from what its file has; like: a kernel before it whose file is the same; -1: none */
    int (*load)(device *d, int kernel, int like, const char *code);
    int (*ready)(device *d); /* memory is there, and functions are */
    int (*start)(device *d); /* all kernels; NULL: as device_kernels does */
    /* What is begun from now on is that kernel's of the plan, in its stream, behind the kernels that it waits for; -1:
     * in the first one, behind all. NULL: there is one stream */
    int (*turn)(device *d, int kernel);
    /* outer: the kernel of the plan that it is, or is a trip's of: faults are told of that. Behind the operands of one
     * that asks is the place of the byte that it asks. */
    int (*launch)(device *d, int kernel, int outer, const device_at *operand);
    int (*wait)(device *d, const char *doing); /* for all */
};

/* ---- device_driver.c ---- */
device *device_make(const device_driver *by); /* not open; NULL: no memory */
void device_drop(device *d);                  /* accepts NULL */
int device_wrong(device *d, enum device_trouble what, const char *form, ...) __attribute__((format(printf, 3, 4)));
void device_hint(device *d, const char *form, ...) __attribute__((format(printf, 2, 3)));
/* Memory for a program; its weights are to be given then. most: bytes of one copy, as far as is known */
int device_room(device *d, const device_program *p, long most);
/* By way of pinned memory, in parts. `from` is free when device_give returns, or, where there is none, when the device
 * was waited for; a take is done. */
int device_give(device *d, device_at to, const void *from, long bytes, const char *doing);
int device_take(device *d, void *to, device_at from, long bytes, const char *doing);
/* A run: input i comes from input[i], where `which` is NULL or says so; all kernels, or some of them (device_kernels);
 * then device_end, and what kernels wrote into inputs comes back, where it is to; what was lent comes back always. */
int device_send(device *d, void *const *input, const char *which);
int device_start(device *d);
int device_end(device *d);                                      /* waits, and finds d->fault */
int device_receive(device *d, void *const *input, int written); /* nothing of it where an index led outside */

/* ---- device_trips.c ---- */
/* Where the operands of a kernel of the plan are. */
void device_places(const device_program *p, int kernel, device_at *out);
/* How many calls device_kernels makes for all kernels, if no more than `most`; -1: it is more, or the host has to hear
 * of trips before it goes on. */
long device_steps(const device_program *p, long most);
/* Kernels first..end-1 of the plan, with trips of loops: which are launched, and where their operands lie, which moves
 * from trip to trip. Values stay on the device; what the host hears of them is whether a trip was the last one. */
int device_kernels(device *d, int first, int end);
#endif
