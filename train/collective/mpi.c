/* mpi.c - MPI as a collective: point to point, since sums are ours, in an order that does not follow its own. Compiled
 * once against each MPI that is found (cmake/collective.cmake). */
#include "train/collective.h"

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

enum { PIECE = 1 << 20, BEAT_TAG = 2 }; /* bytes of a message: counts are int; lower tags are channels */
enum { AT_ONCE = 4 };                   /* messages on their way each way: one is agreed on while others are moved */
/* Tests until others get the core now and then, and until a partner is late: some ms, in which a message that is on its
 * way has come. */
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
static void wait_for(int n, MPI_Request *all)
{
    MPI_Status status[2 * AT_ONCE]; /* MPI_STATUSES_IGNORE is an address that compilers warn of */
    int done = 0;
    for (int i = 0; !done; i++) {
        atomic_fetch_add_explicit(waits, 1, memory_order_relaxed);
        MPI_Testall(n, all, &done, status);
        if (!done && i > LATE)
            usleep(NAP);
        else if (!done && i > SOON)
            sched_yield();
    }
}

static void mpi_exchange(int channel, int to, const void *out, size_t n_out, int from, void *in, size_t n_in)
{
    for (size_t sent = 0, got = 0; sent < n_out || got < n_in;) {
        MPI_Request all[2 * AT_ONCE];
        int n = 0;
        for (size_t g; n < AT_ONCE && got < n_in; got += g) {
            g = n_in - got < PIECE ? n_in - got : PIECE;
            MPI_Irecv((char *)in + got, (int)g, MPI_BYTE, from, channel, MPI_COMM_WORLD, &all[n++]);
        }
        const int most = n + AT_ONCE;
        for (size_t s; n < most && sent < n_out; sent += s) {
            s = n_out - sent < PIECE ? n_out - sent : PIECE;
            MPI_Isend((const char *)out + sent, (int)s, MPI_BYTE, to, channel, MPI_COMM_WORLD, &all[n++]);
        }
        wait_for(n, all);
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
        wait_for(1, &beats.in);
        beats.receives = false;
    } while (beats.heard != last);
    wait_for(1, &out);
    if (beats.sends)
        wait_for(1, &beats.out);
}

static void mpi_close(void)
{
    end_beats();
    MPI_Finalize();
}

__attribute__((visibility("default"))) extern const collective collective_record;
const collective collective_record = {mpi_open, mpi_exchange, mpi_beat, mpi_stop, mpi_close};
