/* network.c - a network in software between the processes of one machine, as a collective: partners copy straight from
 * each other's memory, and an exchange ends no sooner than the network's latency and bandwidth, of each way, would have
 * it. The rest is done by the collective around which it is. A network of its own takes no core's time but that of one
 * copy, where the kernel's (tc) takes that of all its layers from those who compute.
 * NETWORK: "LATENCY BANDWIDTH BOARD COLLECTIVE", in seconds, bytes a second, and the paths of a file that partners
 * share, new for each run, and of a library. */
#include "graph/base/base.h"
#include "graph/base/clock.h"
#include "train/collective.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

enum { RANKS = 8, CHANNELS = 2, NAP = 30 /* microseconds */ };
typedef struct offer { /* of one rank to another: its number, from 1, once it stands; that of the one it has taken */
    atomic_ullong stands, taken;
    double since;
    const void *out;
    pid_t from;
} offer;

static struct net {
    const collective *over;
    atomic_uint *alive;
    offer (*board)[RANKS][RANKS]; /* [channel][of][to] */
    unsigned long long done[CHANNELS][RANKS];
    double latency, bandwidth;
    int rank;
} net;

static bool net_open(int *rank, int *count, atomic_uint *alive)
{
    char board[1000], library[1000];
    const size_t size = CHANNELS * sizeof *net.board;
    MUST(sscanf(getenv("NETWORK"), "%lf %lf %999s %999s", &net.latency, &net.bandwidth, board, library) == 4);
    void *opened = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    const int file = open(board, O_RDWR | O_CREAT, 0600);
    MUST(opened && file >= 0 && ftruncate(file, (off_t)size) == 0);
    net.board = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    net.over = dlsym(opened, COLLECTIVE_RECORD), net.alive = alive;
    MUST(net.board != MAP_FAILED && net.over && net.over->open(rank, count, alive) && *count <= RANKS);
    net.rank = *rank;
    return prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY) != -1 || errno == EINVAL; /* partners may read here */
}

static void await(const atomic_ullong *number, unsigned long long least)
{
    for (; atomic_load(number) < least; usleep(NAP))
        atomic_fetch_add(net.alive, 1);
}

static void copy(void *to, const offer *of, size_t n)
{
    for (size_t got = 0; got < n;) {
        const struct iovec here = {(char *)to + got, n - got}, there = {(char *)(uintptr_t)of->out + got, n - got};
        const ssize_t more = process_vm_readv(of->from, &here, 1, &there, 1, 0);
        MUST(more > 0);
        got += (size_t)more;
    }
}

static void net_exchange(int channel, int to, const void *out, size_t n_out, int from, void *in, size_t n_in)
{
    if (to != from || n_out != n_in || !n_in) {
        net.over->exchange(channel, to, out, n_out, from, in, n_in);
        return;
    }
    offer *own = &net.board[channel][net.rank][to], *other = &net.board[channel][to][net.rank];
    const unsigned long long number = ++net.done[channel][to];
    own->since = seconds_now(), own->out = out, own->from = getpid();
    atomic_store(&own->stands, number);
    await(&other->stands, number);
    const double end = fmax(own->since, other->since) + net.latency + (double)n_in / net.bandwidth;
    copy(in, other, n_in);
    atomic_store(&own->taken, number);
    await(&other->taken, number);
    for (double left; (left = end - seconds_now()) > 0;)
        usleep((useconds_t)(1e6 * left) + 1);
}

static bool net_beat(int to, int from)
{
    return net.over->beat(to, from);
}

static void net_stop(int code)
{
    net.over->stop(code);
}

static void net_close(void)
{
    net.over->close();
}

__attribute__((visibility("default"))) extern const collective collective_record;
const collective collective_record = {net_open, net_exchange, net_beat, net_stop, net_close};
