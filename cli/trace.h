/* trace.h - when each thread or device worked on which kernel, as trace viewers read it (Chrome's JSON, Perfetto): a
 * process for each plan, which begins at 0, a lane for each thread. A trace owns what it gathers until trace_free. */
#pragma once
#include "cli/args.h"
#include "graph/base/js.h"

typedef struct trace {
    cJSON *root, *events;
    int processes;
} trace;

trace trace_make(void);
void trace_free(trace *t);
typedef struct trace_runs { /* a pipeline, or so many passes with the inputs that the plan has */
    const ts_pipeline *pipeline;
    int passes;
} trace_runs;
/* Runs a plan that is built, as a process of that name. */
bool trace_plan(trace *t, const char *who, ts_plan *p, const trace_runs *runs, ts_error *e);
bool trace_write(const trace *t, const char *path, ts_error *e);
/* Some passes of each schema of the command line, in this process: bench --trace */
bool trace_schemas(const args *a, const char *path, ts_error *e);
