/* device.c - finding devices, and what they say of themselves. */
#include "backends/opencl/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 64 }; /* of all platforms */

static int64_t number(const opencl *cl, cl_device d, enum cl_question what) /* 0: it does not say */
{
    const uint64_t v = opencl_number(cl, d, what);
    return v <= INT64_MAX ? (int64_t)v : 0;
}

static void word(const opencl *cl, cl_device d, enum cl_question what, char *out, size_t room)
{
    char said[256] = "";
    text safe = {0};
    size_t have = 0;
    if (cl->device_info(d, what, sizeof said, said, &have) != CL_SUCCESS)
        *said = 0;
    text_safe(&safe, said);
    snprintf(out, room, "%s", text_str(&safe));
    text_free(&safe);
}

static bool find_one(const opencl *cl, int which, opencl_device *out, err *e)
{
    opencl_device all[MOST_DEVICES];
    const int n = opencl_devices(cl, all, MOST_DEVICES);
    text have = {0};
    if (n < 1) {
        err_set(e, TS_DEVICE, n ? "OpenCL has no driver here" : "OpenCL has drivers here, but no device");
        return err_hint(e, "install the device's driver, or pocl-opencl-icd to run on the processor; plans alone need "
                           "none: --machine gpu:h100");
    }
    if (which >= 0 && which < n)
        return *out = all[which], true;
    for (int i = 0; i < n; i++) {
        char name[64];
        word(cl, all[i].device, CL_DEVICE_NAME, name, sizeof name);
        text_add(&have, "%s%d (%s)", i ? ", " : "", i, name);
    }
    err_set(e, TS_DEVICE, "there is no OpenCL device %d", which);
    err_hint(e, "the devices are: %s", text_str(&have));
    text_free(&have);
    return false;
}

cl_device ocl_find(const opencl *cl, int which, err *e)
{
    opencl_device f;
    return find_one(cl, which, &f, e) ? f.device : NULL;
}

/* ---- facts ---- */
static int at_least(int64_t v, int least)
{
    return v < least ? least : v > INT32_MAX ? INT32_MAX : (int)v;
}

/* Lanes that go in step: what NVIDIA and AMD say of their own; of a processor's vectors, which its driver fills with
 * lanes; 32 of others. */
static int warp_of(const opencl *cl, cl_device d)
{
    const int64_t nvidia = number(cl, d, CL_NVIDIA_WARP), amd = number(cl, d, CL_AMD_WAVEFRONT);
    if (nvidia || amd)
        return at_least(nvidia ? nvidia : amd, 1);
    return number(cl, d, CL_DEVICE_TYPE) & CL_TYPE_CPU ? at_least(number(cl, d, CL_NATIVE_FLOATS), 1) : 32;
}

/* What no question of OpenCL 1.2 is about is as of a description that says nothing of it; rates follow from units and
 * clock: 128 lanes of a graphics processor's unit multiply and add in a cycle, or two vectors of a processor's core. */
static void describe(const opencl *cl, const opencl_device *f, ocl_device *out)
{
    const cl_device d = f->device;
    const bool cpu = number(cl, d, CL_DEVICE_TYPE) & CL_TYPE_CPU;
    gpu_facts *g = &out->facts;
    char driver[96], version[96], platform[160] = "";
    size_t have = 0;
    word(cl, d, CL_DEVICE_NAME, g->name, sizeof g->name);
    g->warp = warp_of(cl, d), g->group = at_least(number(cl, d, CL_GROUP_SIZE), g->warp);
    g->processors = at_least(number(cl, d, CL_COMPUTE_UNITS), 1);
    g->capability = (int)(10 * number(cl, d, CL_NVIDIA_CAPABILITY) + number(cl, d, CL_NVIDIA_CAPABILITY + 1));
    g->lane_registers = 255;
    g->shared = number(cl, d, CL_LOCAL_BYTES), g->memory = number(cl, d, CL_GLOBAL_BYTES);
    g->l1 = 32 << 10, g->l2 = number(cl, d, CL_CACHE_BYTES) ? number(cl, d, CL_CACHE_BYTES) : 1 << 20;
    g->clock = 1000000 * (int64_t)at_least(number(cl, d, CL_CLOCK), 100);
    g->f32 = g->clock * g->processors * 2 * (cpu ? 2 * g->warp : 128);
    g->bandwidth = g->clock * g->processors * (cpu ? 4 : 8);
    out->wide = number(cl, d, CL_WIDE_CONFIG) != 0;
    out->exact = number(cl, d, CL_NARROW_CONFIG) & CL_ROUNDS_DIVISION;
    out->most = number(cl, d, CL_MOST_BYTES), out->parameters = number(cl, d, CL_PARAMETER_BYTES);
    word(cl, d, CL_DRIVER_VERSION, driver, sizeof driver), word(cl, d, CL_DEVICE_VERSION, version, sizeof version);
    if (cl->platform_info(f->platform, CL_PLATFORM_VERSION, sizeof platform, platform, &have) != CL_SUCCESS)
        *platform = 0;
    out->plain = opencl_is_plain(cl, d);
    snprintf(out->identity, sizeof out->identity, "%s, %s, driver %s, %s", g->name, version, driver, platform);
}

const ocl_device *ocl_device_of(const target *t)
{
    return t->own;
}

/* "opencl:2", or a number that a place gives */
static bool asked_number(const machine_options *asked, int *out, err *e)
{
    static const char own[] = "opencl:";
    char *end = NULL;
    *out = asked->device;
    if (!asked->machine)
        return true;
    if (!strncmp(asked->machine, own, strlen(own)))
        *out = (int)strtol(asked->machine + strlen(own), &end, 10);
    if (end && end > asked->machine + strlen(own) && !*end && *out >= 0)
        return true;
    err_set(e, TS_USAGE, "machine \"%.60s\" is no graphics processor", asked->machine);
    return err_hint(e, "name a device that is here, opencl:0, or describe one: gpu:h100");
}

static bool ask_device(ocl_device *d, const machine_options *asked, err *e)
{
    opencl cl;
    opencl_device f;
    if (!asked_number(asked, &d->number, e) || !opencl_open(&cl, e))
        return false;
    const bool ok = find_one(&cl, d->number, &f, e);
    if (ok)
        describe(&cl, &f, d);
    opencl_close(&cl);
    return ok;
}

static int operands_of(const ocl_device *d) /* that its parameters are bytes enough for; every device has 1024 */
{
    return (at_least(d->parameters, 1024) - OCL_BESIDES) / OCL_PER_OPERAND;
}

const target *ocl_target(arena *mem, const machine_options *asked, err *e)
{
    ocl_device *d = arena_get(mem, sizeof *d);
    if (!gpu_is_text(asked->machine))
        return ask_device(d, asked, e) ? gpu_target_for(mem, &d->facts, operands_of(d), e) : NULL;
    *d = (ocl_device){.number = -1, .wide = true, .most = INT64_MAX, .parameters = 1024};
    return gpu_read(&d->facts, asked->machine, e) ? gpu_target_for(mem, &d->facts, operands_of(d), e) : NULL;
}

bool ocl_usable(text *why)
{
    ocl_device d = {0};
    err e = {0};
    const bool ok = ask_device(&d, &(machine_options){0}, &e);
    text_add(why, "%s", ok ? d.identity : e.text);
    return ok;
}
