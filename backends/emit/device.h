/* device.h - a plan as a program of its own whose kernels run on a device with memory of its own: tables that say what
 * they are (runtime/device_run.h), and a driver's calls, which are the language's. */
#ifndef TS_EMIT_DEVICE_H
#define TS_EMIT_DEVICE_H
#include "backends/emit/standalone.h"

typedef struct emit_launch { /* of one kernel of the plan */
    const kernel_text *text;
    const char *file;        /* that has the function, as source or built */
    unsigned groups, shared; /* shared: bytes that its launch asks for */
    int n_wait;
    const int *wait; /* kernels before it */
} emit_launch;

typedef struct emit_on {
    const backend *by;
    int device;                /* its number */
    const emit_launch *launch; /* by kernel of the plan */
    int n_source;
    const carried_file *source; /* of kernels */
    const char *const *carried; /* runtime files, C and headers, beside those that every such program has; ends with
                                   NULL */
    const char *libraries, *made, *rules; /* as in emit_device */
} emit_on;
bool emit_on_device(const plan *p, const emit_options *w, const emit_on *on, err *e);
#endif
