/* images.c - compiling, keeping and loading kernels. */
#include "backends/cache/cache.h"
#include "backends/cuda/images.h"
#include "backends/cuda/options.h"
#include "backends/device/hosted.h"
#include "backends/interrupt.h"
#include "graph/base/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* devices that a compiler knows; compilers at a time */
enum { MOST_ARCH = 64, MOST_WORKER = 16 };

typedef struct build {
    const image_request *r;
    image_report *report;
    images *m;
    nvrtc_api rtc;
    cache *cache;
    cuda_settings asked;
    nvrtc_options options;
    digest *key;
    text *image;  /* by unit; empty: not there yet */
    text *failed; /* by unit: what the compiler said when it refused it */
    atomic_int next, done;
} build;

void image_report_free(image_report *r)
{
    text_free(&r->notes);
    *r = (image_report){0};
}

/* ---- for which device ---- */
void image_arch(char out[32], int major, int minor, const int *arch, int n, bool ptx)
{
    const int have = 10 * major + minor;
    int best = 0;
    for (int i = 0; i < n; i++)
        best = arch[i] <= have && arch[i] > best ? arch[i] : best;
    const bool exact = best == have;
    if (best) /* from 9.0 on devices have instructions that no other kind has: "a" */
        snprintf(out, 32, "%s_%d%s", exact && !ptx ? "sm" : "compute", best, exact && major >= 9 ? "a" : "");
    else
        out[0] = 0;
}

static bool find_arch(build *b, bool ptx, err *e)
{
    int n = 0, arch[MOST_ARCH];
    const cuda_host *d = b->r->on;
    if (b->rtc.n_arch(&n) || n > MOST_ARCH || b->rtc.archs(arch))
        return err_set(e, TS_DEVICE, "NVRTC, the compiler of CUDA, does not say which devices it knows");
    image_arch(b->report->arch, d->major, d->minor, arch, n, ptx);
    if (!b->report->arch[0]) {
        err_set(e, TS_DEVICE, "NVRTC %d.%d does not compile for cuda:%d (%s), whose compute capability is %d.%d",
                b->rtc.version / 1000, b->rtc.version % 1000 / 10, d->number, d->name, d->major, d->minor);
        return err_hint(e, "name an older one: TESSERA_CUDA=nvrtc=/path/to/libnvrtc.so.12");
    }
    nvrtc_options_set(&b->options, &b->rtc, &b->asked, b->report->arch, "--generate-line-info");
    return true;
}

/* ---- compiling ---- */
static void tell(const build *b, const char *what, int done)
{
    if (b->r->progress)
        b->r->progress(b->r->user, what, done, b->r->n);
}

/* The first lines of what the compiler said, indented and made harmless. */
static void add_lines(text *out, const char *said)
{
    enum { LINES = 8, WIDTH = 200 }; /* of a log that are told, and their columns */
    char cut[WIDTH + 1];
    const char *at = said;
    for (int i = 0; i < LINES && line_next(&at, cut, sizeof cut); i++) {
        text_add(out, "\n    ");
        text_safe(out, cut);
    }
}

static void explain(const build *b, void *made, int status, text *out)
{
    size_t n = 0;
    char *log = !made || b->rtc.log_size(made, &n) ? NULL : calloc(n + 1, 1);
    const char *what = b->rtc.error_text(status);
    text_add(out, "%s", what ? what : "unknown error");
    if (log && !b->rtc.log(made, log))
        add_lines(out, log);
    free(log);
}

static int take_image(const build *b, void *made, text *out)
{
    const bool ptx = !strncmp(b->report->arch, "compute", 7);
    size_t n = 0;
    int s = ptx ? b->rtc.ptx_size(made, &n) : b->rtc.cubin_size(made, &n);
    char *image = s ? NULL : calloc(n + 1, 1);
    if (!s) {
        MUST(image);
        s = ptx ? b->rtc.ptx(made, image) : b->rtc.cubin(made, image);
    }
    if (!s)
        text_bytes(out, image, n);
    free(image);
    return s;
}

static void compile_one(build *b, int i)
{
    void *made = NULL;
    char name[64];
    snprintf(name, sizeof name, "%.48s.cu", b->r->name[i]);
    int s = b->rtc.program_make(&made, b->r->text[i], name, 0, NULL, NULL);
    s = s ? s : b->rtc.compile(made, b->options.n, b->options.of);
    s = s ? s : take_image(b, made, &b->image[i]);
    if (s)
        explain(b, made, s, &b->failed[i]);
    if (made)
        b->rtc.program_free(&made);
}

static void *work(void *arg)
{
    build *b = arg;
    for (int i; (i = atomic_fetch_add(&b->next, 1)) < b->r->n && !interrupt_asked();) {
        if (!b->image[i].length)
            compile_one(b, i);
        atomic_fetch_add(&b->done, 1);
    }
    return NULL;
}

static int workers(int n)
{
    cpu_set_t set;
    const int have = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    n = n < have ? n : have;
    return n < MOST_WORKER ? n : MOST_WORKER;
}

static bool compile_all(build *b, err *e)
{
    pthread_t thread[MOST_WORKER];
    int missing = 0, n = 0;
    for (int i = 0; i < b->r->n; i++)
        missing += !b->image[i].length;
    atomic_store(&b->next, 0);
    for (int most = workers(missing) - 1; n < most && pthread_create(&thread[n], NULL, work, b) == 0;)
        n++;
    if (missing)
        tell(b, "compiling", b->r->n - missing), work(b);
    while (n > 0)
        pthread_join(thread[--n], NULL);
    for (int i = 0; i < b->r->n; i++)
        if (b->failed[i].length)
            return err_set(e, TS_DEVICE, "NVRTC refuses kernel %s: %s", b->r->name[i], text_str(&b->failed[i]));
    if (interrupt_asked())
        return err_set(e, TS_INTERRUPTED, "stopped while kernels were compiled");
    return b->report->compiled += missing, true;
}

/* ---- loading ---- */
/* *other: the device takes no machine code of this kind. */
static bool load_all(build *b, bool *other, err *e)
{
    cuda_host *h = b->r->on;
    for (int i = 0; i < b->r->n; i++) {
        cu_status s;
        if (cuda_load(h, text_str(&b->image[i]), b->r->name[i], &b->m->module[i], &b->m->function[i], &s))
            continue;
        *other = i == 0 && s == CU_NO_BINARY;
        return hosted_failed(&h->d, *other ? NULL : e) || err_in(*other ? NULL : e, "%s", b->r->name[i]);
    }
    return true;
}

/* ---- all of it ---- */
static bool make(build *b, bool ptx, bool *other, err *e)
{
    *other = false;
    if (!find_arch(b, ptx, e))
        return false;
    for (int i = 0; i < b->r->n; i++) {
        b->key[i] = nvrtc_key(&b->options, &b->rtc, "image", b->r->text[i]);
        b->image[i].length = 0;
        b->report->cached += cache_get(b->cache, &b->key[i], &b->image[i]);
    }
    const int before = b->report->compiled;
    ENDED_BY(heap_free) bool *had = heap_array((size_t)b->r->n + 1, sizeof *had);
    for (int i = 0; i < b->r->n; i++)
        had[i] = b->image[i].length > 0;
    const bool ok = compile_all(b, e);
    for (int i = 0; i < b->r->n && ok; i++)
        if (!had[i])
            cache_put(b->cache, &b->key[i], b->image[i].s, b->image[i].length);
    if (b->report->compiled > before)
        cache_tend(b->cache);
    return ok && load_all(b, other, e);
}

static bool run_build(build *b, err *e)
{
    bool other = false;
    if (!cuda_settings_read(&b->asked, e) ||
        !cache_open(&b->cache, b->r->cache_folder, b->r->env, &b->report->notes, e) ||
        !nvrtc_open(&b->rtc, b->asked.nvrtc, e))
        return false;
    b->report->nvrtc = b->rtc.version;
    if (make(b, b->asked.ptx, &other, e))
        return true;
    if (other && b->report->arch[0] == 's') {
        b->report->cached = 0;
        return make(b, true, &other, e);
    }
    if (other)
        cuda_did(b->r->on, CU_NO_BINARY, "loading a kernel"), hosted_failed(&b->r->on->d, e);
    return false;
}

bool images_load(images *m, const image_request *r, image_report *report, err *e)
{
    const double start = seconds_now();
    build b = {.r = r, .report = report, .m = m};
    const size_t n = (size_t)r->n + 1;
    *report = (image_report){0};
    *m = (images){.n = r->n, .module = calloc(n, sizeof *m->module), .function = calloc(n, sizeof *m->function)};
    b.key = calloc(n, sizeof *b.key), b.image = calloc(n, sizeof *b.image), b.failed = calloc(n, sizeof *b.failed);
    MUST(m->module && m->function && b.key && b.image && b.failed);
    const bool ok = run_build(&b, e);
    for (int i = 0; i < r->n; i++)
        text_free(&b.image[i]), text_free(&b.failed[i]);
    nvrtc_close(&b.rtc);
    cache_close(b.cache);
    free(b.key), free(b.image), free(b.failed);
    if (!ok)
        images_free(m, r->on);
    report->seconds = seconds_now() - start;
    return ok;
}

void images_free(images *m, const cuda_host *on)
{
    for (int i = 0; i < m->n; i++)
        if (m->module[i])
            on->cu.module_unload(m->module[i]);
    free(m->module), free(m->function);
    *m = (images){0};
}
