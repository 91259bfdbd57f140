/* hosted.h - a plan's program on a device, in this process: its kernels compiled and loaded, its memory there, driven
 * by the record that emitted programs carry (runtime/device_driver.h). What a language adds is a record: how its texts
 * are written and launched, how they become functions, the device's clock. A program has its device, texts and tables
 * until it is dropped; the plan is borrowed for its life. Functions are those of backend.h. */
#pragma once
#include "backends/backend.h"
#include "backends/device/runtime/device_driver.h"
#include "backends/device/tables.h"
#include "backends/weights.h"

struct program {
    const plan *p;
    const struct hosted *of;
    device *on;
    device_texts texts;
    device_tables tables;
    weights weights;
    void *code; /* the language's: what functions are of */
    char *seen; /* what was looked at last */
    size_t seen_bytes;
    held_inputs held;
    char *placed;       /* by input: it lies in shared memory; NULL: none does */
    bool displaced;     /* and kernels are to be told where */
    void *const *given; /* inputs of the run under way */
    bool ended;         /* its last kernel was launched: what it wrote is to be taken back */
};

typedef struct hosted {
    const backend *by;
    device_launching launching;
    bool (*write)(const plan *p, device_texts *t, err *e);
    device *(*open)(const plan *p, err *e);
    bool (*load)(program *g, const build_options *w, text *facts, err *e); /* on->program is known, its memory is not */
    void (*unload)(program *g);
    /* Times of n kernels by the device's clock, with what time_begin gives (NULL: it failed): a mark before each, and
     * one behind the last; then the seconds of each. */
    void *(*time_begin)(device *d, int n);
    int (*time_mark)(device *d, void *times, int k);
    int (*time_read)(device *d, void *times, int n, double *seconds);
    void (*time_end)(device *d, void *times, int n);
} hosted;

program *hosted_build(const hosted *of, const plan *p, const build_options *w, text *facts, err *e);
bool hosted_run(program *g, void *const *input, err *e);
const void *hosted_at(const program *g, const node *n, dtype *stored);
bool hosted_get(program *g, int root, ts_array *out, err *e);
void hosted_drop(program *g);
extern const by_kernel hosted_kernels;
extern const by_span hosted_spans;
extern const by_input hosted_inputs;

/* What a device said went wrong becomes the error, and is forgotten; always false. */
bool hosted_failed(device *d, err *e);
