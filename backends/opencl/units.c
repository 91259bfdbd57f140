/* units.c - programs of distinct kernels, several in each: a driver reads its own headers once for each program. The
 * text, the options, the device and its driver with their versions are the key under which the cache keeps the driver's
 * binary; what the driver does not take back is built anew. */
#include "backends/opencl/units.h"
#include "backends/cache/cache.h"
#include "backends/opencl/dialect.h"
#include "backends/opencl/settings.h"

#include <stdlib.h>
#include <string.h>

/* Kernels of a program: its driver's headers are read once for all, and PoCL goes through the whole program for each */
enum { TOGETHER = 16 };

/* ---- texts ---- */
static bool wide_kernel(bool reference, const kernel *k) /* it computes in reals of 8 bytes */
{
    bool wide = reference;
    for (int i = 0; i < k->n_stage; i++) {
        const stage *s = &k->stage[i];
        wide = wide || s->node->type.dtype == TS_F64;
        for (int j = 0; j < s->n_load; j++)
            wide = wide || s->load[j]->dtype == TS_F64;
    }
    return wide;
}

bool ocl_takes_kernel(const target *on, const kernel *k, err *e)
{
    const ocl_device *d = ocl_device_of(on);
    if (k->stage->node->trip) /* what it is made of is asked for by itself */
        return true;
    if (!d->wide && wide_kernel(false, k))
        return err_set(e, TS_UNSUPPORTED, "%s: %s has no reals of 64 bits", k->op, d->name);
    return kernel_callable(&d->language, k, e) && kernel_operands_fit(on, k, e);
}

static bool ocl_kernel_write(const plan *p, const kernel *k, kernel_text *out, err *e)
{
    const ocl_device *d = ocl_device_of(p->on);
    if (!d->wide && wide_kernel(p->reference, k))
        return err_set(e, TS_UNSUPPORTED, "%s: %s has no reals of 64 bits", k->op, d->name);
    if (!kernel_write(&d->language, p, k, out, e))
        return false;
    if (d->alone)
        out->spill = ocl_scratch(out->scratch);
    const int64_t bytes = OCL_BESIDES + OCL_PER_OPERAND * (int64_t)text_operands(out);
    if (bytes <= d->parameters)
        return true;
    err_set(e, TS_UNSUPPORTED, "%s: a kernel of %d operands takes %lld bytes of parameters, %s has %lld for one", k->op,
            out->n_operand, (long long)bytes, d->name, (long long)d->parameters);
    kernel_text_free(out);
    return false;
}

size_t ocl_groups(const ocl_device *d, const kernel_text *k)
{
    enum { AT_ONCE = 8 }; /* of a processor */
    const int64_t most = AT_ONCE * (int64_t)d->workers;
    return (size_t)(k->spill && k->parts > most ? most : k->parts);
}

static int unit_of(const ocl_units *u, int k) /* of the first kernel with that text */
{
    for (int i = 0; i < k; i++)
        if (!strcmp(u->text[i].name, u->text[k].name))
            return u->unit[i];
    return -1;
}

static bool write_kernel(ocl_units *u, int k, err *e)
{
    const plan *p;
    const kernel *own = levels_kernel(&u->levels, k, &p);
    int64_t from;
    if ((own->scan && !own->scan->inside) || kernel_copies(p, own, &from))
        call_operands(p, own, &u->text[k]);
    else if (!ocl_kernel_write(p, own, &u->text[k], e))
        return false;
    u->n_kernel++;
    return true;
}

static void number_unit(ocl_units *u, int k)
{
    u->unit[k] = u->text[k].text ? unit_of(u, k) : -1;
    if (u->unit[k] < 0 && u->text[k].text)
        u->unit[k] = u->n_unit++;
}

bool ocl_units_write(ocl_units *u, const plan *p, err *e)
{
    bool ok = true;
    *u = (ocl_units){.on = ocl_device_of(p->on)};
    levels_make(&u->levels, p);
    u->text = heap_array((size_t)u->levels.n_kernel + 1, sizeof *u->text);
    u->unit = heap_array((size_t)u->levels.n_kernel + 1, sizeof *u->unit);
    for (int k = 0; ok && k < u->levels.n_kernel; k++)
        ok = write_kernel(u, k, e);
    if (ok)
        launches_write(&u->on->language, &u->levels, u->text);
    for (int k = 0; k < u->n_kernel; k++)
        number_unit(u, k);
    return ok;
}

void ocl_units_free(ocl_units *u, const opencl *cl)
{
    for (int i = 0; u->program && i < u->n_program; i++)
        if (u->program[i])
            cl->drop_program(u->program[i]);
    for (int k = 0; k < u->n_kernel; k++)
        kernel_text_free(&u->text[k]);
    free(u->text), free(u->unit), free(u->program), text_free(&u->notes), levels_free(&u->levels);
    *u = (ocl_units){0};
}

cl_program ocl_program_of(const ocl_units *u, int k)
{
    return u->program[ocl_program_number(u, k)];
}

/* ---- programs ---- */
bool ocl_begins_unit(const ocl_units *u, int k, int which)
{
    bool new = u->unit[k] >= 0 && u->unit[k] / TOGETHER == which;
    for (int i = 0; i < k && new; i++)
        new = u->unit[i] != u->unit[k];
    return new;
}

int ocl_program_number(const ocl_units *u, int k)
{
    return u->unit[k] / TOGETHER;
}

int ocl_programs(const ocl_units *u)
{
    return (u->n_unit + TOGETHER - 1) / TOGETHER;
}

void ocl_write_head(const ocl_units *u, int which, text *out)
{
    callees uses = {0};
    bool far = false;
    for (int k = 0; k < u->n_kernel; k++)
        if (ocl_begins_unit(u, k, which))
            callees_add(&uses, &u->text[k].uses), far = far || u->text[k].far;
    u->on->language.prelude(out,
                            &(unit_facts){.far = far, .warp = u->on->language.shuffle ? u->on->is.card.subgroup : 0});
    library_write(out, &u->on->language, &uses);
}

void ocl_write_kernel(const kernel_text *k, text *t)
{
    unit_own_tiles(t, k, k->text + k->begins);
}

static void write_program(const ocl_units *u, int which, text *out)
{
    ocl_write_head(u, which, out);
    for (int k = 0; k < u->n_kernel; k++)
        if (ocl_begins_unit(u, k, which))
            text_add(out, "\n"), ocl_write_kernel(&u->text[k], out);
}

/* ---- binaries ---- */
typedef struct building {
    const ocl_host *h;
    cache *cache;
    const char *options;
} building;

static digest key_of(const building *b, const char *source)
{
    hasher *h = hash_open();
    hash_text(h, "tessera " TS_VERSION " opencl 1");
    hash_text(h, b->h->device.identity);
    hash_text(h, b->options);
    hash_text(h, source);
    return hash_close(h);
}

static bool compile(const building *b, cl_program p)
{
    return b->h->cl.build(p, 1, &b->h->id, b->options, NULL, NULL) == CL_SUCCESS;
}

static cl_program from_binary(const building *b, const text *binary)
{
    const opencl *cl = &b->h->cl;
    const unsigned char *bytes = (const unsigned char *)binary->s;
    int32_t status = CL_SUCCESS, answer = CL_SUCCESS;
    cl_program p = cl->program_of(b->h->context, 1, &b->h->id, &binary->length, &bytes, &status, &answer);
    if (p && (answer != CL_SUCCESS || status != CL_SUCCESS || !compile(b, p)))
        cl->drop_program(p), p = NULL;
    return p;
}

/* Not of PoCL 3.1, which keeps what it compiled itself: for its binary it compiles all kernels for any launch, and for
 * the first launch once more. */
static void keep_binary(const building *b, const digest *key, cl_program p)
{
    const opencl *cl = &b->h->cl;
    size_t bytes = 0, have = 0;
    if (!b->cache || b->h->device.plain ||
        cl->program_info(p, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, &have) != CL_SUCCESS || !bytes)
        return;
    unsigned char *binary = malloc(bytes);
    MUST(binary);
    if (cl->program_info(p, CL_PROGRAM_BINARIES, sizeof binary, &binary, &have) == CL_SUCCESS)
        cache_put(b->cache, key, binary, bytes);
    free(binary);
}

/* ---- building ---- */
static bool has_lanes(const ocl_units *u)
{
    bool any = false;
    for (int k = 0; k < u->n_kernel; k++)
        any = any || u->text[k].lanes > 1;
    return any;
}

static bool fail_build(const building *b, cl_program p, const ocl_units *u, int which, err *e) /* with its log */
{
    /* bytes of a log; of which so many lines of so many columns are told */
    enum { ROOM = 1 << 14, LINES = 8, WIDTH = 200 };
    char *log = calloc(1, ROOM), cut[WIDTH + 1];
    const char *at = log;
    text said = {0}, which_ones = {0};
    size_t have = 0;
    MUST(log);
    if (b->h->cl.build_info(p, b->h->id, CL_BUILD_LOG, ROOM - 1, log, &have) != CL_SUCCESS)
        *log = 0;
    for (int i = 0; i < LINES && line_next(&at, cut, sizeof cut); i++) {
        text_add(&said, "\n    ");
        text_safe(&said, cut);
    }
    for (int k = 0, n = 0; k < u->n_kernel && n < LINES; k++)
        if (ocl_begins_unit(u, k, which))
            text_add(&which_ones, "%s%s", n++ ? ", " : "", u->text[k].name);
    err_set(e, TS_TOOLCHAIN, "the OpenCL driver of %s does not build %s%s", b->h->device.name, text_str(&which_ones),
            text_str(&said));
    text_free(&said), text_free(&which_ones), free(log);
    return false;
}

static cl_program from_text(const building *b, const char *source, const ocl_units *u, int which, err *e)
{
    const opencl *cl = &b->h->cl;
    const size_t bytes = strlen(source);
    int32_t answer = CL_SUCCESS;
    cl_program p = cl->program(b->h->context, 1, &source, &bytes, &answer);
    if (!p)
        return opencl_fail(answer, "making a program", e), NULL;
    if (compile(b, p))
        return p;
    fail_build(b, p, u, which, e);
    cl->drop_program(p);
    return NULL;
}

static bool build_one(const building *b, ocl_units *u, int i, err *e)
{
    const int left = u->n_unit - i * TOGETHER, units = left < TOGETHER ? left : TOGETHER;
    text source = {0}, binary = {0};
    write_program(u, i, &source);
    const digest key = key_of(b, source.s);
    if (cache_get(b->cache, &key, &binary))
        u->program[i] = from_binary(b, &binary);
    if (u->program[i])
        u->cached += units;
    else if ((u->program[i] = from_text(b, source.s, u, i, e))) {
        u->compiled += units;
        keep_binary(b, &key, u->program[i]);
    }
    text_free(&source), text_free(&binary);
    return u->program[i] != NULL;
}

bool ocl_units_build(ocl_units *u, const ocl_host *h, const build_options *w, err *e)
{
    const settings env = settings_read();
    ocl_settings asked;
    arena mem = {0};
    building b = {.h = h};
    bool ok = ocl_settings_read(&asked, e);
    if (!ok)
        return false;
    b.options = arena_format(&mem, OPENCL_OPTIONS "%s%s%s", h->device.subgroup ? OPENCL_SUBGROUPS : OPENCL_USUAL,
                             h->device.exact ? OPENCL_EXACT : "",
                             asked.options                     ? asked.options
                             : h->device.plain && has_lanes(u) ? OPENCL_PLAIN
                                                               : "");
    u->n_program = ocl_programs(u);
    u->program = heap_array((size_t)u->n_program + 1, sizeof *u->program);
    ok = cache_open(&b.cache, w->cache_folder, &env, &u->notes, e);
    for (int i = 0; ok && i < u->n_program; i++) {
        ok = build_one(&b, u, i, e);
        if (w->progress)
            w->progress(w->user, "compiling", u->compiled + u->cached, u->n_unit);
    }
    if (u->compiled)
        cache_tend(b.cache);
    cache_close(b.cache), arena_free(&mem);
    return ok;
}
