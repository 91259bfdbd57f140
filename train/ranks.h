/* ranks.h - the processes of one run: which of them this is, sums of vectors in one fixed tree, values from all to all.
 * A process that was not started for several is rank 0 of 1, and then nothing of this costs anything. Their number is a
 * power of 2. The library of a collective stays open until the process ends. */
#pragma once
#include "tessera.h"

#include <pthread.h>

enum { MOST_SHARDS = 1024, AGREED = 80, MOST_DEVICE = 8, MACHINE_TEXT = 8192, RANKS_WORD = 256 };
typedef struct ranks {
    const struct collective *by; /* NULL: one process */
    int rank, count, channel;    /* channel: of a copy for a thread beside the first one, 1 */
    const char *devices;         /* of this process, "A,B": each computes as much as another; NULL: one, the target */
    void (*lost)(void *user, const char *why); /* is told by which rank all of them end, before they do */
    void *user;
    const struct collective **ends_by; /* who ends all when this process exits; *ends_by NULL: nobody. Outlives this */
    struct pulse *pulse;               /* of the thread that works; of several processes */
    pthread_t watch;
    bool watched;
    volatile bool ends;
} ranks;

int ranks_started(void); /* how many processes were started together, this one among them */
/* As whoever started this process says; r->lost and r->user are set. Stays where it is until ranks_close. */
bool ranks_open(ranks *r, ts_error *e);
/* All ranks have come to the same end; without it the end of one process is that of all, with its exit code. */
void ranks_close(ranks *r);
/* Who works at a step, from 1, says so again and again: seconds of silence, but for those in which it waits for another
 * rank, are the end of all. Else at what it works: that may take as long as it likes while a thread or a child of it
 * runs, or a disk is waited for; NULL: in any way. */
void ranks_judge(const ranks *r, int64_t step);
void ranks_works(const ranks *r, const char *at);
void ranks_lives(const ranks *r);
/* Of a rank that failed alone, or does not know: rank 0 has a while to tell what all of them met. */
void ranks_fail(const ranks *r, ts_error *e);

/* A vector in pieces, one for each rank, the p-th of which is whose ranks_piece is p; n, its length, is their multiple.
 * Sums are of 2^k neighbouring ranks' first: ((0 + 1) + (2 + 3)) + ... */
int ranks_devices(const ranks *r); /* how many */
int ranks_piece(const ranks *r, int rank);
typedef struct network {
    double latency, bandwidth; /* seconds of a message; bytes a second, each way */
} network;
double ranks_seconds(const ranks *r, size_t bytes, const network *by); /* of all rounds */
bool ranks_sum(const ranks *r, float *v, int64_t n, ts_error *e);      /* of each one's v its own piece of the sum */
void ranks_spread(const ranks *r, void *v, size_t bytes);              /* of each one's own piece all of v */
/* Elements from ... to - 1 on rank 0 alone; n: of a piece */
void ranks_collect(const ranks *r, const float *piece, int64_t n, int64_t from, int64_t to, float *out);
void ranks_take(const ranks *r, void *said, size_t n); /* said becomes that of rank 0 */

void ranks_words(const ranks *r, const char *own, char (*out)[RANKS_WORD]); /* each one's own, by rank */

/* Loops, and with them bits, follow from the machine: all plan for that of rank 0, which o->machine becomes; each for a
 * device of its own, as far as its host has some. */
bool ranks_machine(const ranks *r, ts_options *o, char machine[MACHINE_TEXT], ts_error *e);

typedef struct agreement {
    char what[48], value[AGREED];
} agreement;
/* What one of them met is the end of all: the first one's error on all of them, with its number. ok: none here */
bool ranks_fine(const ranks *r, bool ok, ts_error *e);
/* What must be the same on all of them; else an error on all of them, which names the first difference. */
bool ranks_agree(const ranks *r, int n, const agreement *all, ts_error *e);
