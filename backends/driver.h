/* driver.h - what the files of the driver share: a plan with its values, and ways to run it. */
#ifndef TS_DRIVER_H
#define TS_DRIVER_H
#include "backends/places.h"

struct ts_plan {
    arena mem; /* of on */
    const target *on;
    char *cache_dir, *schema;
    build_options asked;
    const backend *target; /* that the command names, the first one */
    const backend *by;     /* what runs the plan: the target, or several together */
    place_search places;
    plan *plan;
    program *program;
    text facts;
    bool trimmed;
    int n_port;            /* of the model: inputs by their number there */
    int *input_of;         /* plan input of a port, or -1 when nothing needs it */
    const preset **preset; /* of a port: the only value that it may have; or NULL */
    const char **output;   /* names of the model's outputs, its own; NULL: the plan is of tensors */
    ts_array *given;       /* per plan input */
    ts_array *old;         /* per root: what an input that is a root, and becomes something else, was before the run */
};

/* limit: bytes of this process's memory that it may take; 0: what is free */
bool driver_fits(const plan *p, int64_t limit, err *e);
/* The value of each plan input, in p->given; an error names one that has none. */
bool driver_gather(const ts_plan *p, void **input, err *e);
bool driver_copy(ts_array *to, const ts_array *from, err *e); /* makes `to` if it holds nothing */
/* As ts_plan_run, with another way through the program. */
typedef bool driver_way(ts_plan *p, void *const *input, void *user, err *e);
bool driver_run(ts_plan *p, driver_way *go, void *user, err *e);
#endif
