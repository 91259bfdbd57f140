/* units.h - kernels of a plan as programs of a device: from their text, or from what the cache kept of an earlier
 * build. Programs are those of a hosted program, until it is unloaded. */
#pragma once
#include "backends/device/hosted.h"
#include "backends/opencl/device.h"

extern const backend backend_opencl;

/* A kernel that the device cannot run is refused with its reason. */
bool ocl_write(const plan *p, device_texts *t, err *e);
bool ocl_takes_kernel(const target *on, const kernel *k, err *e); /* backend.takes_kernel */
bool ocl_load(program *g, const build_options *w, text *facts, err *e);
void ocl_unload(program *g);
/* Groups of a kernel that are launched: as many as there are parts; of those that hold values elsewhere as many as keep
 * the device busy. */
unsigned ocl_groups(const target *on, const kernel_text *k);
/* The text of program `which`: what all its kernels use, then each distinct one, with tile functions of names of its
 * own, headed by its comment for who reads it. To be freed. */
int ocl_programs(const device_texts *t);
int ocl_program_of(const device_texts *t, int kernel); /* -1: it has no text */
char *ocl_program_text(const device_texts *t, const ocl_device *on, int which, bool headed);

bool ocl_emit(const plan *p, const emit_options *w, err *e); /* emission.c: backend.emit */
