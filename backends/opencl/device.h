/* device.h - devices that OpenCL drivers offer, numbered: graphics processors first, then others, in the order of
 * drivers. A target is for one of them, or for a card that is described and need not be here. It is the arena's that
 * it is made in; a cl_device that is found is the driver's. */
#pragma once
#include "backends/codegen/dialect.h"
#include "backends/cpu/machine.h"
#include "backends/gpu/gpu.h"
#include "backends/opencl/runtime/opencl_driver.h"

typedef struct ocl_device {
    union {
        gpu_facts card;
        machine processor;
    } is;       /* first: what the target's own is */
    bool alone; /* it is a processor: a work-group is one worker, which runs loops as other programs there do */
    dialect language;
    char name[64]; /* safe to print */
    int workers;   /* that groups are dealt to */
    int units;     /* of these it has so many, of which a plan may be for fewer */
    int number;
    bool described;     /* by a line of text: the device of that number may be another one */
    bool apart;         /* its memory is not the host's */
    bool wide;          /* has reals of 8 bytes */
    bool plain;         /* PoCL: its compiler is right only where it does not optimise */
    int64_t most;       /* bytes of one memory object */
    int64_t parameters; /* bytes of a kernel's parameters */
    int group;          /* lanes of a group, at most */
    int subgroup;       /* as in gpu_facts */
    int64_t local;      /* bytes of a group's memory */
    char identity[480]; /* platform, device and driver with their versions */
} ocl_device;

enum { OCL_PER_OPERAND = 16, OCL_BESIDES = 24 }; /* bytes of parameters */
const target *ocl_target(arena *mem, const machine_options *asked, err *e);
const ocl_device *ocl_device_of(const target *t);
void ocl_describe(const opencl_host *h, ocl_device *out); /* what it is, without a target */
/* h: zeroed, closed by its driver's record; units: of it that are to run, 0: all. False: nothing to close */
bool ocl_open(opencl_host *h, int number, int units, err *e);
int ocl_part(const ocl_device *planned); /* units that run a plan, where these are not all; else 0 */
bool ocl_runs(const target *t, err *e);  /* presence.runs */
bool ocl_usable(text *why);
int ocl_alike(void); /* presence.alike */
