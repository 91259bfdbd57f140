/* device.h - a plan as a program of its own whose kernels run on a device with memory of its own: tables that say what
 * they are (runtime/device_run.h), and a driver's calls, which are the language's.
 * All that an emit_on points to is borrowed for the call; the folder is there whole afterwards, or not at all. */
#pragma once
#include "backends/emit/standalone.h"
#include "backends/device/tables.h"

typedef struct emit_on {
    const backend *by;
    int device, units; /* its number; how many units of it run, 0: all */
    const device_texts *texts;
    const device_launching *launching;
    const char *const *file; /* that has the function, by kernel */
    int n_source;
    const carried_file *source; /* of kernels */
    const char *const *carried; /* runtime files, C and headers, beside those that every such program has; ends with
                                   NULL */
    const char *made, *rules;   /* as in emit_extra */
} emit_on;
bool emit_on_device(const plan *p, const emit_options *w, const emit_on *on, err *e);
