/* site.h - one plan over several devices. A site is a device that kernels of a plan run on: it has a target, memory and
 * a program of its own. The plan as a whole has all kernels in order, those that bring values from one memory to
 * another among them; each site's part of it is a plan by itself, with that site's kernels, loops and buffers.
 * Sites, parts and transfers lie in the plan's arena.
 *
 *   - Rules, what a device cannot take, and the guess say of nodes where they are computed. Fusion joins nodes of one
 *     site only, so that a kernel has one. Of fusion's order that is kept which operands need: what is ready on a site
 *     is done together, and few transfers are left. Sites run at once: what waits for what are hazards of the whole.
 *   - A value that several sites read lies in rows and whole: a transfer copies bytes. It is there from the first
 *     kernel that may read it, and at home until it is sent. Inputs, weights and constants are not sent: every site has
 *     those that it reads.
 *   - Parts go through the passes for loops and memory like any plan; nothing in there knows of other sites but the
 *     crossings. State is rewritten in place where one site reads and makes it; else it is copied after the run.
 *   - A plan whose kernels all end up on the first site has no sites: it is what it would be without them. */
#pragma once
#include "schedule/plan/target.h"

enum { MAX_SITE = 8 };
typedef struct site {
    const char *name;       /* of the device, as rules have it */
    const char *by;         /* the back end's name */
    const target *on;       /* borrowed for the plan's life */
    bool takes_all;         /* there is no kernel that its back end cannot do */
    bool apart;             /* it computes with nothing that another one needs meanwhile, as far as names tell */
    const void *own;        /* the asker's */
    int64_t most;           /* bytes that it may take of its memory; 0: all that is there */
    const char *asked_at;   /* where a schema names it first; NULL: the command does, or nobody */
    struct plan *part;      /* its kernels as a plan; NULL: none is there */
    int *number;            /* of the part's kernels: which they are in the whole plan */
    int unfit;              /* kernels that are elsewhere because it cannot take them */
    const char *unfit_note; /* the first of these, and why */
} site;

typedef struct transfer { /* what a kernel does that brings a value, in rows, from one site to another */
    const node *node;
    int from, to;
    int64_t bytes;
} transfer;

typedef struct crossing { /* of a part: a value that comes from another site, or goes to one */
    const node *node;
    bool received; /* is there from kernel `at` on; else it stays until kernel `at` begins */
    int at;
} crossing;

/* Who knows devices: the schedule has no list of them. */
typedef struct site_finder {
    /* The device of that name: name (as it is written in full), by, on, apart, own; an error names those there are */
    bool (*find)(void *user, const char *name, site *out, err *e);
    /* Whether its back end can do a kernel that has no loops yet; why not */
    bool (*takes)(void *user, const site *s, const kernel *k, err *e);
    const char *otherwise; /* the device for kernels that their own cannot take */
    void *user;
} site_finder;
