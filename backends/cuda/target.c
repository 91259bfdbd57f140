/* target.c - what a device says of itself. */
#include "backends/cuda/target.h"
#include "backends/cuda/program.h"
#include "backends/cuda/settings.h"
#include "backends/device/hosted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANE_REGISTERS = 255, KILO = 1000, BYTE_BITS = 8, TRANSFERS = 2 /* a cycle of its clock */ };
enum { OPERANDS = (4096 - 2 * 8) / 8 }; /* addresses that a kernel takes, before CUDA 12.1, but spill and fault */

/* Operations of a cycle and multiprocessor by capability, of f32 and of bf16 with sums in f32 (CUDA programming guide,
 * "Arithmetic Instructions"; architecture white papers) */
static const struct {
    int capability, f32, bf16;
} rates[] = {{120, 256, 1024}, {100, 256, 8192}, {90, 256, 4096}, {86, 256, 1024}, {80, 128, 2048}};

typedef struct card { /* what a target has of its own: facts first, so that one is the other */
    gpu_facts facts;
    int number;
} card;

bool cuda_device(cuda_host *d, int number, err *e)
{
    cuda_settings asked;
    *d = (cuda_host){.d.by = &cuda_driver};
    if (!cuda_settings_read(&asked, e))
        return false;
    if (cuda_driver.open(&d->d, &(device_where){asked.driver, number, 0}))
        return true;
    const bool absent = d->d.said.what == DEVICE_ABSENT;
    hosted_failed(&d->d, e), cuda_driver.close(&d->d);
    if (absent)
        err_hint(e, "install the driver of the card, or name its library: TESSERA_CUDA=driver=/path/to/libcuda.so.1");
    return false;
}

int cuda_number(const target *t)
{
    return ((const card *)gpu_facts_of(t))->number;
}

static int64_t rate_of(const gpu_facts *f, bool bf16)
{
    int i = 0;
    while (i < COUNT(rates) - 1 && rates[i].capability > f->capability)
        i++;
    return f->clock * f->processors * (bf16 ? rates[i].bf16 : rates[i].f32);
}

static int64_t bytes_of(const cuda_host *d)
{
    size_t n = 0;
    return d->cu.device_memory(&n, d->id) == CU_OK ? (int64_t)n : 0;
}

static void cuda_facts(const cuda_host *d, gpu_facts *f)
{
    ENDED_BY(text_free) text name = {0};
    text_safe(&name, d->name);
    *f = (gpu_facts){.capability = 10 * d->major + d->minor,
                     .processors = cuda_fact(d, CU_UNITS),
                     .warp = cuda_fact(d, CU_WARP),
                     .group = cuda_fact(d, CU_GROUP_LANES),
                     .lanes = cuda_fact(d, CU_UNIT_LANES),
                     .groups = cuda_fact(d, CU_UNIT_GROUPS),
                     .registers = cuda_fact(d, CU_UNIT_REGISTERS),
                     .lane_registers = LANE_REGISTERS,
                     .shared = cuda_fact(d, CU_GROUP_SHARED),
                     .shared_all = cuda_fact(d, CU_UNIT_SHARED),
                     .l1 = cuda_fact(d, CU_UNIT_SHARED),
                     .l2 = cuda_fact(d, CU_L2_BYTES),
                     .memory = bytes_of(d),
                     .clock = (int64_t)cuda_fact(d, CU_CLOCK) * KILO,
                     .bandwidth = (int64_t)cuda_fact(d, CU_MEMORY_CLOCK) * KILO * TRANSFERS *
                                  cuda_fact(d, CU_BUS_BITS) / BYTE_BITS};
    f->f32 = rate_of(f, false), f->bf16 = rate_of(f, true);
    snprintf(f->name, sizeof f->name, "%s", text_str(&name));
    for (char *s = f->name; (s = strchr(s, ' '));)
        *s = '_'; /* one word, as in gpu:NAME */
}

/* "cuda:1": a device that is here */
static bool asked_number(const machine_options *asked, int *out, err *e)
{
    static const char own[] = "cuda:";
    char *end = NULL;
    *out = asked->device;
    if (!asked->machine || gpu_is_text(asked->machine))
        return true;
    if (!strncmp(asked->machine, own, strlen(own)))
        *out = (int)strtol(asked->machine + strlen(own), &end, 10);
    if (end && end > asked->machine + strlen(own) && !*end && *out >= 0)
        return true;
    err_set(e, TS_USAGE, "machine \"%.60s\" is no graphics processor", asked->machine);
    return err_hint(e, "name a device that is here, cuda:0, or describe one: gpu:h100");
}

static const target *described(arena *mem, gpu_facts *f, const char *machine, err *e)
{
    return gpu_read(f, machine, e) ? gpu_target_with_units(mem, f, OPERANDS, NULL, e) : NULL;
}

static const target *told(arena *mem, const target *t) /* it knows the text of its kernels */
{
    target *own = arena_get(mem, sizeof *own);
    if (t)
        *own = *t, own->touch = cuda_touch;
    return t ? own : NULL;
}

const target *cuda_target(arena *mem, const machine_options *asked, err *e)
{
    card *own = arena_get(mem, sizeof *own);
    gpu_facts *f = &own->facts;
    cuda_host d;
    err none = {0};
    if (!asked_number(asked, &own->number, e))
        return NULL;
    if (gpu_is_text(asked->machine))
        return told(mem, described(mem, f, asked->machine, e));
    const bool named = own->number || asked->machine; /* else a card that is not here will do */
    if (!cuda_device(&d, own->number, named ? e : &none))
        return named ? NULL : told(mem, described(mem, f, CUDA_USUAL, e));
    cuda_facts(&d, f);
    const char *no_boxes = d.cu.map_tiled ? NULL : "the driver has no function cuTensorMapEncodeTiled";
    cuda_driver.close(&d.d);
    return told(mem, gpu_target_with_units(mem, f, OPERANDS, no_boxes, e));
}

bool cuda_runs(const target *t, err *e)
{
    cuda_host d;
    gpu_facts here;
    const gpu_facts *f = gpu_facts_of(t);
    if (!cuda_device(&d, cuda_number(t), e))
        return false;
    cuda_facts(&d, &here), cuda_driver.close(&d.d);
    const gpu_need all[] = {{"bytes of shared memory", gpu_shared_most(f), gpu_shared_most(&here)},
                            {"bytes of shared memory without asking", f->shared, here.shared},
                            {"lanes", f->group, here.group}};
    if (!gpu_fits(f->name, here.name, COUNT(all), all, e))
        return false;
    return f->warp == here.warp || err_set(e, TS_DEVICE, "kernels for %s have warps of %d lanes, %s has %d", f->name,
                                           f->warp, here.name, here.warp);
}

int cuda_alike(void)
{
    cuda_host d;
    err none = {0};
    int n = 0, alike = 0, id;
    char name[sizeof d.name];
    if (!cuda_device(&d, 0, &none))
        return 0;
    d.cu.device_count(&n);
    while (alike < n && d.cu.device_get(&id, alike) == CU_OK && d.cu.device_name(name, (int)sizeof name, id) == CU_OK &&
           !strcmp(name, d.name))
        alike++;
    cuda_driver.close(&d.d);
    return alike;
}

bool cuda_usable(text *why)
{
    cuda_host d;
    nvrtc_api rtc;
    err e = {0};
    const bool here = cuda_device(&d, 0, &e), ok = here && cuda_nvrtc(&rtc, &e);
    if (ok)
        text_safe(why, d.name),
            text_add(why, ", driver %d.%d, NVRTC %d.%d", d.cu.version / KILO, d.cu.version % KILO / 10,
                     rtc.version / KILO, rtc.version % KILO / 10),
            nvrtc_close(&rtc);
    else
        text_add(why, "%.*s", (int)strcspn(e.text, "\n"), e.text);
    if (here)
        cuda_driver.close(&d.d);
    return ok;
}
