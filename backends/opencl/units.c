/* units.c - programs of distinct kernels, several in each: a driver reads its own headers once for each program. The
 * text, the options, the device and its driver with their versions are the key under which the cache keeps the driver's
 * binary; what the driver does not take back is built anew. */
#include "backends/opencl/units.h"
#include "backends/cache/cache.h"
#include "backends/opencl/dialect.h"
#include "backends/opencl/settings.h"
#include "graph/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Kernels of a program: its driver's headers are read once for all, and PoCL goes through the whole program for each */
enum { TOGETHER = 16 };

typedef struct ocl_code {
    int n;
    cl_program *program;  /* of several units each: ocl_program_of */
    int compiled, cached; /* units */
    text notes;
} ocl_code;

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

static bool write_kernel(const dialect *l, const plan *p, const kernel *k, kernel_text *out, err *e)
{
    const ocl_device *d = ocl_device_of(p->on);
    if (!d->wide && wide_kernel(p->reference, k))
        return err_set(e, TS_UNSUPPORTED, "%s: %s has no reals of 64 bits", k->op, d->name);
    if (!kernel_write(l, p, k, out, e))
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

unsigned ocl_groups(const target *on, const kernel_text *k)
{
    enum { AT_ONCE = 8 }; /* of a processor */
    const int64_t most = AT_ONCE * (int64_t)ocl_device_of(on)->workers;
    return (unsigned)(k->spill && k->parts > most ? most : k->parts);
}

bool ocl_write(const plan *p, device_texts *t, err *e)
{
    return device_texts_make(t, p, &ocl_device_of(p->on)->language, write_kernel, true, e);
}

/* ---- programs ---- */
int ocl_programs(const device_texts *t)
{
    return (t->n_unit + TOGETHER - 1) / TOGETHER;
}

int ocl_program_of(const device_texts *t, int k)
{
    return t->unit_of[k] < 0 ? -1 : t->unit_of[k] / TOGETHER;
}

static int end_of(const device_texts *t, int which) /* behind the last unit of a program */
{
    const int end = (which + 1) * TOGETHER;
    return end < t->n_unit ? end : t->n_unit;
}

char *ocl_program_text(const device_texts *t, const ocl_device *on, int which, bool headed)
{
    text out = {0};
    callees uses = {0};
    bool far = false;
    for (int u = which * TOGETHER; u < end_of(t, which); u++)
        callees_add(&uses, &device_unit(t, u)->uses), far = far || device_unit(t, u)->far;
    on->language.prelude(&out, &(unit_facts){.far = far, .warp = on->language.shuffle ? on->is.card.subgroup : 0});
    library_write(&out, &on->language, &uses);
    for (int u = which * TOGETHER; u < end_of(t, which); u++) {
        const kernel_text *k = device_unit(t, u);
        text_add(&out, "\n");
        if (headed)
            layers_header(&out, &t->levels, t->unit_of, u), text_add(&out, "%s", k->header);
        unit_own_tiles(&out, k, k->text + k->begins);
    }
    return text_take(&out);
}

/* ---- binaries ---- */
typedef struct building {
    opencl_host *h;
    ocl_device here; /* the device as it is, whatever plans were made for */
    const device_texts *t;
    cache *cache;
    const char *options;
} building;

static digest key_of(const building *b, const char *source)
{
    hasher *h = hash_open();
    hash_text(h, "tessera " TS_VERSION " opencl 1");
    hash_text(h, b->here.identity);
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
    if (!b->cache || b->here.plain ||
        cl->program_info(p, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, &have) != CL_SUCCESS || !bytes)
        return;
    unsigned char *binary = malloc(bytes);
    MUST(binary);
    if (cl->program_info(p, CL_PROGRAM_BINARIES, sizeof binary, &binary, &have) == CL_SUCCESS)
        cache_put(b->cache, key, binary, bytes);
    free(binary);
}

/* ---- building ---- */
static bool has_lanes(const device_texts *t)
{
    bool any = false;
    for (int k = 0; k < t->n_kernel; k++)
        any = any || t->kernel[k].lanes > 1;
    return any;
}

static bool fail_build(const building *b, cl_program p, int which, err *e) /* with its log */
{
    /* bytes of a log; of which so many lines of so many columns are told */
    enum { ROOM = 1 << 14, LINES = 8, WIDTH = 200 };
    char *log = calloc(1, ROOM), cut[WIDTH + 1];
    const char *at = log;
    ENDED_BY(text_free) text said = {0}, which_ones = {0};
    size_t have = 0;
    MUST(log);
    if (b->h->cl.build_info(p, b->h->id, CL_BUILD_LOG, ROOM - 1, log, &have) != CL_SUCCESS)
        *log = 0;
    for (int i = 0; i < LINES && line_next(&at, cut, sizeof cut); i++) {
        text_add(&said, "\n    ");
        text_safe(&said, cut);
    }
    for (int u = which * TOGETHER, n = 0; u < end_of(b->t, which) && n < LINES; u++)
        text_add(&which_ones, "%s%s", n++ ? ", " : "", device_unit(b->t, u)->name);
    err_set(e, TS_TOOLCHAIN, "the OpenCL driver of %s does not build %s%s", b->here.name, text_str(&which_ones),
            text_str(&said));
    free(log);
    return false;
}

static cl_program from_text(const building *b, const char *source, int which, err *e)
{
    const opencl *cl = &b->h->cl;
    const size_t bytes = strlen(source);
    int32_t answer = CL_SUCCESS;
    cl_program p = cl->program(b->h->context, 1, &source, &bytes, &answer);
    if (!p)
        return opencl_did(b->h, answer, "making a program"), hosted_failed(&b->h->d, e), NULL;
    if (compile(b, p))
        return p;
    fail_build(b, p, which, e);
    cl->drop_program(p);
    return NULL;
}

static bool build_one(const building *b, ocl_code *c, int i, err *e)
{
    const int units = end_of(b->t, i) - i * TOGETHER;
    char *source = ocl_program_text(b->t, ocl_device_of(b->t->levels.of->plan->on), i, false);
    ENDED_BY(text_free) text binary = {0};
    const digest key = key_of(b, source);
    if (cache_get(b->cache, &key, &binary))
        c->program[i] = from_binary(b, &binary);
    if (c->program[i])
        c->cached += units;
    else if ((c->program[i] = from_text(b, source, i, e))) {
        c->compiled += units;
        keep_binary(b, &key, c->program[i]);
    }
    free(source);
    return c->program[i] != NULL;
}

static bool build_all(building *b, ocl_code *c, const build_options *w, err *e)
{
    const settings env = settings_read();
    ocl_settings asked;
    char usual[256], options[sizeof asked.others + sizeof usual];
    if (!ocl_settings_read(&asked, e))
        return false;
    opencl_options(usual, &b->h->cl, b->h->id, has_lanes(b->t) && !asked.options);
    snprintf(options, sizeof options, "%s%s", usual, asked.options ? asked.options : "");
    b->options = options;
    bool ok = cache_open(&b->cache, w->cache_folder, &env, &c->notes, e);
    for (int i = 0; ok && i < c->n; i++) {
        ok = build_one(b, c, i, e);
        if (w->progress)
            w->progress(w->user, "compiling", c->compiled + c->cached, b->t->n_unit);
    }
    if (c->compiled)
        cache_tend(b->cache);
    cache_close(b->cache);
    return ok;
}

bool ocl_load(program *g, const build_options *w, text *facts, err *e)
{
    const double start = seconds_now();
    building b = {.h = (opencl_host *)g->on, .t = &g->texts};
    ocl_code *c = g->code = heap_array(1, sizeof *c);
    c->n = ocl_programs(&g->texts);
    c->program = heap_array((size_t)c->n + 1, sizeof *c->program);
    ocl_describe(b.h, &b.here);
    bool ok = build_all(&b, c, w, e);
    for (int k = 0; ok && k < g->texts.n_kernel; k++) {
        const int which = ocl_program_of(&g->texts, k);
        ok = which < 0 || opencl_kernel(b.h, k, c->program[which]) || hosted_failed(g->on, e);
    }
    json_add(facts, "compiler:%s,units:%d,compiled:%d,cached:%d,seconds:%.6f,found:%i,notes:%s,scratch_bytes:%zu",
             b.here.identity, g->texts.n_unit, c->compiled, c->cached, seconds_now() - start, !c->compiled,
             text_str(&c->notes), (size_t)g->tables.program.spill);
    return ok;
}

void ocl_unload(program *g)
{
    ocl_code *c = g->code;
    for (int i = 0; i < c->n; i++)
        if (c->program[i])
            ((opencl_host *)g->on)->cl.drop_program(c->program[i]);
    free(c->program), text_free(&c->notes), free(c);
}
