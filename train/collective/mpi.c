/* mpi.c - MPI as a collective: point to point, since sums are ours, in an order that does not follow its own. Compiled
 * once against each MPI that is found (cmake/collective.cmake). */
#include "train/collective.h"

#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <unistd.h>

enum { PIECE = 1 << 20, BEAT_TAG = 2 }; /* bytes of a message: counts are int; lower tags are channels */
enum { AT_ONCE = 4 };                   /* messages on their way each way: one is agreed on while others are moved */
/* Tests until others get the core now and then; and of those without a message that has come, until a partner is late:
 * some ms, in which one that is on its way has. */
enum { SOON = 1000, LATE = 10000 };
static const unsigned NAP = 50; /* microseconds */

static atomic_uint *waits;

static bool mpi_open(int *rank, int *count, atomic_uint *alive)
{
    int level = 0;
    waits = alive;
    return MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level) == MPI_SUCCESS && level == MPI_THREAD_MULTIPLE &&
           MPI_Comm_rank(MPI_COMM_WORLD, rank) == MPI_SUCCESS && MPI_Comm_size(MPI_COMM_WORLD, count) == MPI_SUCCESS;
}

/* MPI's own waiting keeps a core busy, which threads of other ranks may need. */
static int rest(int tests)
{
    atomic_fetch_add_explicit(waits, 1, memory_order_relaxed);
    if (tests > LATE)
        usleep(NAP);
    else if (tests > SOON)
        sched_yield();
    return tests + 1;
}

static void wait_for(MPI_Request *one)
{
    MPI_Status status; /* MPI_STATUS_IGNORE is an address that compilers warn of */
    int done = 0;
    for (int tests = 0; MPI_Test(one, &done, &status), !done;)
        tests = rest(tests);
}

typedef struct way { /* to a rank, or from it: messages on their way, the oldest first; the bytes of those to come */
    char *at;
    size_t left;
    int with, first, n;
    MPI_Request on[AT_ONCE];
} way;

/* Whether a message has come or gone. Another one takes its place at once, so that the way is never empty. */
static bool move(way *w, int channel, bool sends)
{
    MPI_Status status;
    int done = 0;
    while (w->n < AT_ONCE && w->left) {
        const int size = (int)(w->left < PIECE ? w->left : PIECE);
        MPI_Request *next = &w->on[(w->first + w->n++) % AT_ONCE];
        if (sends)
            MPI_Isend(w->at, size, MPI_BYTE, w->with, channel, MPI_COMM_WORLD, next);
        else
            MPI_Irecv(w->at, size, MPI_BYTE, w->with, channel, MPI_COMM_WORLD, next);
        w->at += size, w->left -= (size_t)size;
    }
    if (w->n)
        MPI_Test(&w->on[w->first], &done, &status);
    if (done)
        w->first = (w->first + 1) % AT_ONCE, w->n--;
    return done;
}

static void mpi_exchange(int channel, int to, const void *out, size_t n_out, int from, void *in, size_t n_in)
{
    way comes = {.at = in, .left = n_in, .with = from},
        goes = {.at = (char *)(uintptr_t)out, .left = n_out, .with = to};
    for (int tests = 0; comes.n || goes.n || comes.left || goes.left;) {
        const bool came = move(&comes, channel, false), gone = move(&goes, channel, true);
        tests = (came || gone) && tests > SOON ? SOON : rest(tests);
    }
}

static struct { /* of the thread that watches */
    MPI_Request out, in;
    bool sends, receives;
    char said, heard;
} beats;

static bool mpi_beat(int to, int from)
{
    MPI_Status status;
    int gone = 1, came = 0;
    if (beats.sends)
        MPI_Test(&beats.out, &gone, &status);
    if (gone)
        MPI_Isend(&beats.said, 1, MPI_BYTE, to, BEAT_TAG, MPI_COMM_WORLD, &beats.out);
    if (beats.receives)
        MPI_Test(&beats.in, &came, &status);
    if (came || !beats.receives)
        MPI_Irecv(&beats.heard, 1, MPI_BYTE, from, BEAT_TAG, MPI_COMM_WORLD, &beats.in);
    beats.sends = beats.receives = true;
    return came != 0;
}

static void mpi_stop(int code)
{
    MPI_Abort(MPI_COMM_WORLD, code);
}

/* Signs of life that are still on their way when all is over are complained of by some: the last one says so. */
static void end_beats(void)
{
    static const char last = 1;
    MPI_Request out;
    int rank, count;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &count);
    MPI_Isend(&last, 1, MPI_BYTE, (rank + 1) % count, BEAT_TAG, MPI_COMM_WORLD, &out);
    do {
        if (!beats.receives)
            MPI_Irecv(&beats.heard, 1, MPI_BYTE, (rank + count - 1) % count, BEAT_TAG, MPI_COMM_WORLD, &beats.in);
        wait_for(&beats.in);
        beats.receives = false;
    } while (beats.heard != last);
    wait_for(&out);
    if (beats.sends)
        wait_for(&beats.out);
}

static void mpi_close(void)
{
    end_beats();
    MPI_Finalize();
}

__attribute__((visibility("default"))) extern const collective collective_record;
const collective collective_record = {mpi_open, mpi_exchange, mpi_beat, mpi_stop, mpi_close};
