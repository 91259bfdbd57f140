/* device.c - finding devices, and what they say of themselves. */
#include "backends/cpu/cpu.h"
#include "backends/opencl/device.h"
#include "backends/opencl/dialect.h"
#include "backends/codegen/codegen.h"
#include "backends/opencl/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t number(const opencl *cl, cl_device d, enum cl_question what) /* 0: it does not say */
{
    const uint64_t v = opencl_number(cl, d, what);
    return v <= INT64_MAX ? (int64_t)v : 0;
}

static void word(const opencl *cl, cl_device d, enum cl_question what, char *out, size_t room)
{
    char said[256] = "";
    ENDED_BY(text_free) text safe = {0};
    size_t have = 0;
    if (cl->device_info(d, what, sizeof said, said, &have) != CL_SUCCESS)
        *said = 0;
    text_safe(&safe, said);
    snprintf(out, room, "%s", text_str(&safe));
}

/* ---- facts ---- */
static int at_least(int64_t v, int least)
{
    return v < least ? least : v > INT32_MAX ? INT32_MAX : (int)v;
}

/* Lanes that go in step: what NVIDIA and AMD say of their own; 32 of others. */
static int warp_of(const opencl *cl, cl_device d)
{
    const int64_t nvidia = number(cl, d, CL_NVIDIA_WARP), amd = number(cl, d, CL_AMD_WAVEFRONT);
    return nvidia || amd ? at_least(nvidia ? nvidia : amd, 1) : 32;
}

/* What no question of OpenCL 1.2 is about is as of a description that says nothing of it; rates follow from units and
 * clock: 128 lanes of a unit multiply and add in a cycle. */
static void describe_card(const opencl *cl, cl_device d, gpu_facts *g)
{
    word(cl, d, CL_DEVICE_NAME, g->name, sizeof g->name);
    g->subgroup = opencl_subgroup(cl, d), g->warp = g->subgroup ? g->subgroup : warp_of(cl, d);
    g->group = at_least(number(cl, d, CL_GROUP_SIZE), g->warp);
    g->processors = at_least(number(cl, d, CL_COMPUTE_UNITS), 1);
    g->capability = (int)(10 * number(cl, d, CL_NVIDIA_CAPABILITY) + number(cl, d, CL_NVIDIA_CAPABILITY + 1));
    g->lane_registers = 255;
    g->shared = number(cl, d, CL_LOCAL_BYTES), g->memory = number(cl, d, CL_GLOBAL_BYTES);
    g->l1 = 32 << 10, g->l2 = number(cl, d, CL_CACHE_BYTES) ? number(cl, d, CL_CACHE_BYTES) : 1 << 20;
    g->clock = 1000000 * (int64_t)at_least(number(cl, d, CL_CLOCK), 100);
    g->f32 = g->clock * g->processors * 2 * 128;
    g->bandwidth = g->clock * g->processors * 8;
}

void ocl_describe(const opencl_host *h, ocl_device *out)
{
    const opencl *cl = &h->cl;
    const cl_device d = h->id;
    char driver[96], version[96], platform[160] = "";
    size_t have = 0;
    word(cl, d, CL_DEVICE_NAME, out->name, sizeof out->name);
    out->alone = number(cl, d, CL_DEVICE_TYPE) & CL_TYPE_CPU;
    out->workers = out->units = at_least(number(cl, d, CL_COMPUTE_UNITS), 1);
    if (!out->alone)
        describe_card(cl, d, &out->is.card);
    out->apart = !number(cl, d, CL_SHARES_MEMORY);
    out->wide = number(cl, d, CL_WIDE_CONFIG) != 0;
    out->most = number(cl, d, CL_MOST_BYTES), out->parameters = number(cl, d, CL_PARAMETER_BYTES);
    out->group = at_least(number(cl, d, CL_GROUP_SIZE), 1), out->local = number(cl, d, CL_LOCAL_BYTES);
    word(cl, d, CL_DRIVER_VERSION, driver, sizeof driver), word(cl, d, CL_DEVICE_VERSION, version, sizeof version);
    if (cl->platform_info(h->platform, CL_PLATFORM_VERSION, sizeof platform, platform, &have) != CL_SUCCESS)
        *platform = 0;
    out->plain = opencl_is_plain(cl, d), out->subgroup = opencl_subgroup(cl, d);
    snprintf(out->identity, sizeof out->identity, "%s, %s, driver %s, %s", out->name, version, driver, platform);
}

/* ---- opening ---- */
/* What a device said went wrong, with the remedies that are this program's; it is closed. */
static bool failed(opencl_host *h, err *e)
{
    const device_said *said = &h->d.said;
    err_set(e, said->what == DEVICE_NO_MEMORY ? TS_MEMORY : TS_DEVICE, "%s", said->text);
    if (said->what == DEVICE_ABSENT)
        err_hint(e, "install a loader and a driver for the device: ocl-icd-libopencl1 and, to run on the processor, "
                    "pocl-opencl-icd; plans alone need none: --machine gpu:h100");
    else if (*said->hint)
        err_hint(e, "%s", said->hint);
    opencl_driver.close(&h->d);
    return false;
}

bool ocl_open(opencl_host *h, int number, int units, err *e)
{
    ocl_settings asked;
    return ocl_settings_read(&asked, e) &&
           (opencl_driver.open(&h->d, &(device_where){asked.loader, number, units}) || failed(h, e));
}

static bool ask_device(ocl_device *d, int which, err *e)
{
    opencl_host h = {.d = {.by = &opencl_driver}};
    ocl_settings asked;
    if (!ocl_settings_read(&asked, e))
        return false;
    if (!opencl_find(&h, &(device_where){asked.loader, which, 0}))
        return failed(&h, e);
    *d = (ocl_device){.number = which};
    ocl_describe(&h, d), opencl_driver.close(&h.d);
    return true;
}

const ocl_device *ocl_device_of(const target *t)
{
    return t->own;
}

/* ---- targets ---- */
static int operands_of(const ocl_device *d) /* that its parameters are bytes enough for; every device has 1024 */
{
    return (at_least(d->parameters, 1024) - OCL_BESIDES) / OCL_PER_OPERAND;
}

static bool touched(const plan *p, const kernel *k, touching *to)
{
    err e = {0}; /* who builds it is told why */
    return kernel_touched(&ocl_device_of(p->on)->language, p, k, to, &e);
}

static const target *card_target(arena *mem, ocl_device *d, err *e)
{
    ocl_dialect_groups(&d->language, d->is.card.subgroup > 1);
    d->workers = d->is.card.processors;
    snprintf(d->name, sizeof d->name, "%s", d->is.card.name);
    const target *t = gpu_target_for(mem, &d->is.card, operands_of(d), e);
    target *own = arena_get(mem, sizeof *own);
    if (!t)
        return NULL;
    *own = *t, own->touch = touched;
    return own;
}

/* The widest vectors that drivers' compilers make, of what the processor has: LLVM's keep to 32 bytes unless they are
 * told otherwise, and tiles for wider ones are too large for them. (PoCL 3.1, two cores with AVX-512, 128x768x768: 215
 * GFLOP/s by tiles of 6x16, 111 by 8x48.) */
static const isa *compiled_for(const machine *m)
{
    enum { WIDEST = 32 };
    const isa *i = m->isa;
    while (i->vector_bytes > WIDEST)
        i = i->under;
    return i;
}

/* Until a kernel begins: PoCL 3.1 on two cores takes 2 to 7 microseconds, one after another. */
static const double START = 4e-6;

static bool take_units(ocl_device *d, int threads, err *e)
{
    if (threads > 0 && threads <= d->units)
        return d->workers = threads, true;
    err_set(e, TS_USAGE, "%d threads, %s has %d", threads, d->name, d->units);
    return err_hint(e, "ask for 1 to %d, or leave it out", d->units);
}

/* line: of the machine; NULL: this one, whose processor the device is. */
static const target *processor_target(arena *mem, ocl_device *d, const machine_options *asked, const char *line, err *e)
{
    target *t = arena_get(mem, sizeof *t);
    machine *m = &d->is.processor;
    if (!machine_load(m, line, e))
        return NULL;
    const isa *best = asked->isa ? machine_isa(m, asked->isa, e) : compiled_for(m);
    if (!best || (line && !(d->workers = machine_threads(m, asked->threads, e))) ||
        (!line && asked->threads && !take_units(d, asked->threads, e)))
        return NULL;
    if (line)
        snprintf(d->name, sizeof d->name, "%s", best->name);
    ocl_dialect_alone(&d->language);
    cpu_target_of(t, m, best, d->workers);
    t->operands = operands_of(d), t->team = false;
    t->streams = (int)int_min(d->workers, MAX_STREAM);
    t->cost.start_seconds = START;
    return t;
}

/* Of "opencl:2", or a number that a place gives; *line: what describes a machine, or NULL */
static bool asked_number(const machine_options *asked, int *out, const char **line, err *e)
{
    static const char own[] = "opencl:";
    char *end = NULL;
    *out = asked->device, *line = asked->machine;
    if (!*line || strncmp(*line, own, strlen(own)) != 0)
        return true;
    *out = (int)strtol(*line + strlen(own), &end, 10);
    if (end == *line + strlen(own) || *end || *out < 0) {
        err_set(e, TS_USAGE, "machine \"%.60s\" is no device of OpenCL", *line);
        return err_hint(e, "name one that is here, opencl:0, or describe one: gpu:h100, core:8 isa:avx2");
    }
    *line = NULL;
    return true;
}

const target *ocl_target(arena *mem, const machine_options *asked, err *e)
{
    ocl_device *d = arena_get(mem, sizeof *d);
    const char *line;
    int which;
    if (!asked_number(asked, &which, &line, e))
        return NULL;
    *d = (ocl_device){.described = true, .number = which, .wide = true, .most = INT64_MAX, .parameters = 1024};
    if (line ? gpu_is_text(line) && !gpu_read(&d->is.card, line, e) : !ask_device(d, which, e))
        return NULL;
    d->alone = line ? !gpu_is_text(line) : d->alone;
    return d->alone ? processor_target(mem, d, asked, line, e) : card_target(mem, d, e);
}

int ocl_part(const ocl_device *planned)
{
    return !planned->described && planned->workers < planned->units ? planned->workers : 0;
}

/* What is made for workers alone every device runs. */
bool ocl_runs(const target *t, err *e)
{
    const ocl_device *planned = ocl_device_of(t);
    const gpu_facts *card = &planned->is.card;
    ocl_device here;
    if (!planned->described)
        return true;
    if (!ask_device(&here, planned->number, e))
        return false;
    const gpu_need all[] = {{"bytes of local memory", card->shared, here.local}, {"lanes", card->group, here.group}};
    if (planned->alone)
        return true;
    if (card->subgroup > 1 && card->subgroup != here.subgroup) {
        err_set(e, TS_DEVICE, "kernels for %s have sub-groups of %d lanes, %s has %d", planned->name, card->subgroup,
                here.name, here.subgroup);
        return err_hint(e, "plan for the device that is here: without --machine");
    }
    return gpu_fits(planned->name, here.name, COUNT(all), all, e);
}

int ocl_alike(void)
{
    ocl_device first = {0}, d = {0};
    err none = {0};
    int n = ask_device(&first, 0, &none);
    while (n && ask_device(&d, n, &none) && !strcmp(d.name, first.name))
        n++;
    return n;
}

bool ocl_usable(text *why)
{
    ocl_device d = {0};
    err e = {0};
    const bool ok = ask_device(&d, 0, &e);
    text_add(why, "%s", ok ? d.identity : e.text);
    return ok;
}
