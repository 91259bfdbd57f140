/* gpu.h - graphics processors as a target: groups of lanes that share memory, on processors that share caches. What
 * every back end that runs on one plans for; languages and drivers are theirs.
 *
 * A group is what languages call a work-group or a block; a lane is a work-item or a thread. Groups are dealt to
 * processors (compute units, multiprocessors), which run as many at the same time as they have room for. Targets are of
 * the arena given; plans and kernels are only read.
 *
 * The room:  card (figures of known ones, texts of all) -> target (tables) -> guess*: loops where nobody said
 *            otherwise     occupancy: what a kernel takes of a processor     explain: what people read of that */
#pragma once
#include "backends/backend.h"

/* gpu_facts: what a device says of itself, or the text that describes one. A plain value. */
typedef struct gpu_facts {
    char name[64];          /* safe to print; of a known card the row's */
    int capability;         /* 90 for 9.0; 0: it has none */
    int processors;         /* that groups are dealt to */
    int warp;               /* lanes that go in step */
    int subgroup;           /* of a sub-group, whose lanes read one another's registers; 0: it offers none */
    int group;              /* lanes of a group, at most */
    int lanes, groups;      /* that a processor runs at the same time, at most; 0: not known */
    int registers;          /* of a processor, each of 32 bits; 0: not known */
    int lane_registers;     /* of a lane, at most */
    int64_t shared;         /* bytes of shared memory of a group, which it has without asking for more */
    int64_t shared_all;     /* of a processor, for all its groups; 0: not known */
    int64_t l1, l2, memory; /* bytes: of a processor, of all, of all */
    int64_t clock;          /* a second, at most */
    int64_t bandwidth;      /* of memory, bytes a second */
    int64_t f32, bf16;      /* operations a second at most; bf16: of its matrix units, 0: it has none */
} gpu_facts;
void gpu_print(text *t, const gpu_facts *f); /* gpu_read reads it back */
/* A known card, or a description; the text is in card.c. */
bool gpu_read(gpu_facts *f, const char *machine, err *e);
bool gpu_is_text(const char *machine); /* whether it describes one, rather than a host; NULL does not */
const gpu_facts *gpu_card(int i);      /* known ones; NULL past the end */

/* f: borrowed for the target's life, target.own */
const target *gpu_target(arena *mem, const gpu_facts *f, err *e);
/* The same through a driver whose kernels take so many operands at most. */
const target *gpu_target_for(arena *mem, const gpu_facts *f, int operands, err *e);
/* The same with matrix units, copies of boxes and all shared memory, for languages that have forms of them and ask for
 * it. no_boxes: why its driver copies none, where the card does; NULL: it does */
const target *gpu_target_with_units(arena *mem, const gpu_facts *f, int operands, const char *no_boxes, err *e);
const gpu_facts *gpu_facts_of(const target *t);
typedef struct gpu_need { /* of what groups of a card that is planned for may take, and a card that is here has */
    const char *what;
    int64_t planned, here;
} gpu_need;
bool gpu_fits(const char *planned, const char *here, int n, const gpu_need *need, err *e); /* cards by name */

/* gpu_room: what groups of a kernel take, and how many of them a processor runs at the same time. */
typedef struct gpu_room {
    int64_t lanes, registers, shared; /* of a group: lanes; registers of one of its lanes; bytes */
    int64_t resident;                 /* groups on a processor; 0: a group does not fit at all */
    const char *limit;                /* what keeps more from it: "lanes", "groups", "registers" or "shared memory" */
} gpu_room;
void gpu_resident(const gpu_facts *f, gpu_room *r); /* from what one group takes */
/* Bytes of shared memory that a group may ask for when it is launched, where the language can */
int64_t gpu_shared_most(const gpu_facts *f);
