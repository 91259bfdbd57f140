/* program.h - a plan on one device: its texts, its kernels compiled and loaded, its launches one graph. Texts are
 * their caller's; records are constant; a program is as backend.h says. */
#pragma once
#include "backends/cuda/images.h"
#include "backends/device/hosted.h"

bool cuda_write(const plan *p, device_texts *out, err *e);      /* as they are launched: some of them together */
bool cuda_write_each(const plan *p, device_texts *out, err *e); /* each by itself */
enum { SHARED_DECLARED = 48 << 10 }; /* bytes of shared memory that a kernel declares; above it asks at the launch */
extern const device_launching cuda_launching;

/* assembler.c */
bool cuda_touch(const plan *p, const kernel *k, touching *to); /* target.touch */
bool cuda_show(const plan *p, const kernel *k, const char *as, const build_options *w, text *out, err *e);
bool cuda_assemble(plan *p, const build_options *w, text *facts, err *e);
/* emission.c: a folder that builds into the same program without Tessera */
bool cuda_emit(const plan *p, const emit_options *w, err *e);

/* shared.c */
void shared_leave(program *g); /* before its memory is freed: what is shared is not its own */
extern const by_memory cuda_shared;

extern const backend backend_cuda;
