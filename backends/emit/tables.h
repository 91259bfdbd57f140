/* tables.h - a plan's kernels, and those of its scans' trips, as the tables by which a device with memory of its own is
 * told what to do (runtime/device_run.h): here in a program of this process, or as text in one that is emitted. Tables
 * are of device_tables until they are freed; texts, names and lists that they point to are borrowed for that long. */
#ifndef TS_EMIT_TABLES_H
#define TS_EMIT_TABLES_H
#include "backends/codegen/codegen.h"
#include "backends/codegen/levels.h"
#include "backends/emit/runtime/device_run.h"

typedef struct emit_launch { /* of one kernel */
    const kernel_text *text; /* of a scan its operands alone */
    const char *file;        /* that has the function, as source or built */
    unsigned groups, shared; /* shared: bytes that its launch asks for */
    int n_wait;
    const int *wait; /* kernels before it */
} emit_launch;

typedef struct device_tables {
    device_program program; /* without ports */
    arena mem;
} device_tables;
/* launch: by number of the kernel. Borrows what that points to. */
void device_tables_make(device_tables *t, const levels *l, const emit_launch *launch);
void device_tables_free(device_tables *t);
#endif
