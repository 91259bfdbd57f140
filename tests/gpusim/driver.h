/* driver.h - what the files of the driver API share: queued work, streams, events, graphs, and the one lock around all.
 *
 * Work given to a stream is queued and carried out as late as the API allows: when something waits for it. A missing
 * synchronisation therefore shows as stale data.
 *
 *   device.c, module.c, copies.c, stream.c, launch.c: the API    queue.c: what is queued, and when it is done */
#ifndef SIM_DRIVER_H
#define SIM_DRIVER_H
#include "tests/gpusim/cuda_abi.h"
#include "tests/gpusim/sim.h"

#include <pthread.h>

#define API __attribute__((visibility("default"))) CUresult

typedef enum { OP_LAUNCH, OP_COPY, OP_SET, OP_RECORD, OP_WAIT, OP_HOST, OP_FREE, OP_EMPTY } operation_kind;

struct sim_node { /* one piece of queued work, or a graph node */
    operation_kind kind;
    uint64_t seq;
    struct sim_node *next;
    launch launch;
    CUfunction func;
    uint64_t dst, src, bytes;
    bool dst_host, src_host;
    void *staged;
    unsigned value, element;
    CUevent event;
    CUstream on;
    uint64_t on_seq;
    CUhostFn fn;
    CUstreamCallback callback;
    void *arg;
    CUstream stream;
    int *deps, ndeps, index;
};
typedef struct sim_node operation;

struct sim_stream {
    unsigned flags;
    int priority;
    operation *head, *tail;
    CUgraph capture;
    bool origin, invalid;
    int *deps, ndeps;
    struct sim_stream *next;
};
struct sim_event {
    unsigned flags;
    bool recorded;
    CUstream on;
    uint64_t seq, done;
    double time;
    CUgraph capture;
    int *deps, ndeps;
};
struct sim_graph {
    operation **nodes;
    int n;
};
enum { MOST_DEVICES = 8 };
struct sim_context {
    int device, refs;
    bool primary;
};
struct sim_function {
    function *f;
    CUmodule module;
};
struct sim_module {
    module *m;
    struct sim_function **fns;
    int nfns;
};

extern pthread_mutex_t driver_lock;
extern bool initialised;
extern CUresult sticky; /* the error of a kernel: every call gives it until the context is reset */
extern int devices;
extern struct sim_context primary[MOST_DEVICES]; /* by device */
extern __thread CUcontext stack[16];
extern __thread int depth;
extern struct sim_stream null_stream, *streams;
extern uint64_t seq_counter;
extern int compute_major, compute_minor, sm_count;

void free_op(operation *op);
operation *clone_op(const operation *op);
operation *new_op(operation_kind k);
CUstream resolve(CUstream s);
void drain(CUstream s, uint64_t upto); /* carries out the stream's work up to that number */
void drain_all(void);
void add_node(CUgraph g, operation *op, const int *deps, int ndeps);
bool anything_capturing(void);
CUresult submit(CUstream s, operation *op); /* queues work, or adds it to the graph that the stream is capturing */
CUresult forbid_capture(CUstream s);
/* What SIMCUDA_FAIL asks of a call: the error that it is to give; OK: none */
CUresult fail_call(const char *function);
int most_lanes(const function *f); /* of a block that runs it */
int max_optin(void);               /* bytes of shared memory that a block may ask for */

/* A call that has begun: it has the lock until it returns. failed: what it is to give at once; OK: nothing */
typedef struct driver_entry {
    CUresult failed;
} driver_entry;
driver_entry driver_lock_it(void);
driver_entry driver_enter_first(const char *name); /* the driver is there */
driver_entry driver_enter(const char *name);       /* a context is, too, and no kernel has failed */
void driver_leave(const driver_entry *e);
#define HELD __attribute__((cleanup(driver_leave), unused)) const driver_entry
#define PTR(p) ((uint64_t)(uintptr_t)(p))
#endif
