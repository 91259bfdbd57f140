/* launches.h - kernels as the device is to run them: one by one, or as one graph, in which a kernel waits for those
 * whose results it needs, and no others. Launches are borrowed for the call; a graph is the caller's, who frees it by
 * the driver's exec_free, before the device. */
#ifndef TS_CUDA_LAUNCHES_H
#define TS_CUDA_LAUNCHES_H
#include "backends/cuda/device.h"

typedef struct launch {
    cu_function function;           /* NULL: it is part of another one */
    unsigned groups, lanes, shared; /* blocks; threads of a block; bytes that it asks for beside those it declares */
    int n;                          /* of argument: all are addresses */
    cu_address *argument;           /* with wait and map the caller's, until it is launched */
    int n_wait;
    const int *wait; /* launches before it that it waits for */
    int n_map;       /* maps of tensors that it takes behind the addresses */
    cu_map *map;
} launch;

/* Each is begun on the device's stream, and nobody waits for it: of faults the next call that waits tells. */
bool launch_one(const device *d, const launch *l, err *e);
/* The graph of all, to be launched as often as wanted: arguments are those of now. NULL with e set. */
cu_exec launch_graph(const device *d, int n, const launch *l, err *e);
/* The graph of what `calls` does on the device's stream, which does nothing else: copies, launches, in that order. */
cu_exec launch_record(const device *d, bool (*calls)(void *user, err *e), void *user, err *e);
bool launch_all(const device *d, cu_exec graph, err *e);
/* Whether a block of it fits on the device; grants shared memory over what every kernel has. name: for the error. */
bool launch_fits(const device *d, const launch *l, const char *name, err *e);
#endif
