/* tables.h - a plan's kernels, and those of its scans' trips, as the tables by which a device is told what to do
 * (runtime/device_run.h): here in a program of this process, or as text in one that is emitted. Tables are of
 * device_tables until they are freed; texts, names and lists that they point to are borrowed for that long. */
#pragma once
#include "backends/device/runtime/device_run.h"
#include "backends/device/texts.h"
#include "backends/device/trips.h"

typedef struct device_launching { /* how a language launches */
    unsigned (*groups)(const target *on, const kernel_text *k);
    /* Bytes of a group's memory that a kernel declares; what takes more asks for them at its launch. 0: all declare */
    int64_t declared;
} device_launching;

typedef struct device_tables {
    device_program program;
    trip_tables trips;
    arena mem;
} device_tables;
/* file: that has the function, by kernel; NULL: none are needed */
void device_tables_make(device_tables *t, const device_texts *texts, const device_launching *how,
                        const char *const *file);
void device_tables_free(device_tables *t);
