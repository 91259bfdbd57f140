/* collective.h - what carries bytes between the processes of one run: a record in a library of its own, built for each
 * kind that is found, and opened only by a run that was started for several. A channel is used by
 * one thread at a time, beat and stop by another one too. What goes wrong in them ends all processes. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct collective {
    /* false: a thread beside the first one cannot use it. alive: counts on while exchange waits for others */
    bool (*open)(int *rank, int *count, atomic_uint *alive);
    /* Sends to one rank and receives from one, both at once; of a direction without bytes nothing is done. Channels, 0
     * and 1, do not see each other's. */
    void (*exchange)(int channel, int to, const void *out, size_t n_out, int from, void *in, size_t n_in);
    bool (*beat)(int to, int from); /* sends a sign of life if the last one has gone; whether one came; never waits */
    void (*stop)(int code);         /* ends all processes, this one too */
    void (*close)(void);            /* all of them call it */
} collective;
#define COLLECTIVE_RECORD "collective_record" /* the name of the record in its library */
