/* dump.h - stages of a plan as files: explain --dump STAGE=FOLDER. Paths are argv's; a dump is a plain value that is
 * borrowed while a plan is made. */
#pragma once
#include "cli/args.h"
#include "graph/base/js.h"

enum { DUMP_STAGES = 6 };
typedef struct dump {
    const char *folder[DUMP_STAGES]; /* of each stage; NULL: it is not asked for */
    int passes;                      /* so far */
    ts_error *e;                     /* of files behind passes */
} dump;

bool dump_make(dump *d, const args *a, ts_error *e); /* of --dump, and makes the folders */
void dump_passes(dump *d, ts_options *o);            /* those of the plan to be made */
bool dump_of_kernels(const dump *d, ts_error *e);    /* refuses graph and passes */
bool dump_graph(const dump *d, ts_model *m, ts_error *e);
/* Kernel number i of a plan, which that JSON is of */
bool dump_kernel(const dump *d, ts_plan *p, int i, const cJSON *kernel, ts_error *e);
