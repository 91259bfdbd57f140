/* main.c - runs the model. With one .npy file per input, in order, it writes output0.npy, output1.npy, ... into the
 * working directory; with none it runs on zeros for a second and prints the time. Sizes that runs have come first, as
 * -n 77 or -n 77,2. */
#ifndef _GNU_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "backends/c/runtime/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef MODEL_WEIGHTS
#define MODEL_WEIGHTS "weights.bin"
#endif

enum { START = 10 }; /* bytes before the description: magic, version, length */
static const char magic[] = "\x93NUMPY\x01";

static int fail(const char *file, const char *why, const char *detail)
{
    fprintf(stderr, "%s: %s%s\n", file, why, detail);
    return 0;
}

/* The description must be the one that numpy writes for this type and shape. */
static int read_npy(const char *file, const model_port *port, void *data)
{
    unsigned char start[START];
    char text[1024];
    FILE *f = fopen(file, "rb");
    if (!f)
        return fail(file, "cannot be opened", "");
    int ok = fread(start, 1, START, f) == START && memcmp(start, magic, sizeof magic - 1) == 0;
    size_t n = ok ? (size_t)start[8] + 256u * start[9] : 0;
    ok = ok && n < sizeof text && fread(text, 1, n, f) == n;
    text[n < sizeof text ? n : 0] = 0;
    if (!ok)
        fail(file, "is not a .npy file of version 1", "");
    else if (strncmp(text, port->npy, strlen(port->npy)) != 0)
        ok = fail(file, "does not hold ", port->npy);
    else if (fread(data, 1, port->bytes, f) != port->bytes)
        ok = fail(file, "is too short", "");
    else if (fgetc(f) != EOF)
        ok = fail(file, "has bytes behind its values", "");
    fclose(f);
    return ok;
}

static int write_npy(const char *file, const model_port *port, const void *data)
{
    FILE *f = fopen(file, "wb");
    if (!f)
        return fail(file, "cannot be written", "");
    size_t length = strlen(port->npy), n = (START + length + 1 + 63) / 64 * 64 - START;
    const unsigned char size[3] = {0, (unsigned char)(n & 255), (unsigned char)(n >> 8)};
    int ok = fwrite(magic, 1, sizeof magic - 1, f) == sizeof magic - 1 && fwrite(size, 1, 3, f) == 3 &&
             fprintf(f, "%-*s\n", (int)n - 1, port->npy) == (int)n && fwrite(data, 1, port->bytes, f) == port->bytes;
    ok = fclose(f) == 0 && ok;
    return ok || fail(file, "cannot be written", "");
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int run_once(model *m, const void *const *in, void *const *out)
{
    return model_run(m, in, out) || (!model_said(m) && fail("the inputs", "an index lies outside its axis", ""));
}

static int measure(model *m, const void *const *in, void *const *out)
{
    enum { MOST = 10000 };
    static double took[MOST];
    int n = 0;
    if (!run_once(m, in, out))
        return 0;
    for (double begin = now(), last = begin; n < MOST && (n < 3 || last < begin + 1); n++) {
        if (!run_once(m, in, out))
            return 0;
        double t = now();
        took[n] = t - last;
        last = t;
    }
    qsort(took, (size_t)n, sizeof *took, ascending);
    printf("%d runs: median %.3f ms, least %.3f ms\n", n, 1e3 * took[n / 2], 1e3 * took[0]);
    return 1;
}

static void *zeros(size_t bytes)
{
    size_t room = (bytes / 64 + 1) * 64;
    void *p = aligned_alloc(64, room);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memset(p, 0, room);
}

/* A block of zeros for each port, and NULL behind the last. */
static void **make_room(int n, const model_port *port)
{
    void **p = zeros(((size_t)n + 1) * sizeof *p);
    for (int i = 0; i < n; i++)
        p[i] = zeros(port[i].bytes);
    return p;
}

static void free_room(void **p)
{
    for (int i = 0; p[i]; i++)
        free(p[i]);
    free(p);
}

static int usage(const char *program)
{
    fprintf(stderr, "usage: %s%s [%d .npy files]; the inputs are:\n", program, MODEL_SIZES ? " [-n SIZE,...]" : "",
            MODEL_INPUTS);
    for (int i = 0; i < MODEL_INPUTS; i++)
        fprintf(stderr, "  %s\n", model_input[i].npy);
    for (int i = 0; i < MODEL_SIZES; i++)
        fprintf(stderr, "size %d is from %ld to %ld, in steps of %ld\n", i, model_size[i].low, model_size[i].high,
                model_size[i].step);
    return 2;
}

static int read_input(const model *m, const char *file, int i, void *data)
{
    char npy[MODEL_TEXT];
    const model_port now = model_now(m, &model_input[i], npy);
    return read_npy(file, &now, data);
}

static int write_outputs(const model *m, void *const *out)
{
    int ok = 1;
    for (int i = 0; i < MODEL_OUTPUTS; i++) {
        char file[32], npy[MODEL_TEXT];
        const model_port now = model_now(m, &model_output[i], npy);
        snprintf(file, sizeof file, "output%d.npy", i);
        ok = ok && write_npy(file, &now, out[i]);
    }
    return ok;
}

/* "77,2": of as many sizes as it has, from the first on */
static int resize(model *m, const char *all)
{
    const char *at = all;
    for (int i = 0; *at; i++) {
        char *end;
        const long n = strtol(at, &end, 10);
        if (end == at || (*end && *end != ',') || !model_resize(m, i, n))
            return fail(all, "is not a list of sizes within their ranges", "");
        at = *end ? end + 1 : end;
    }
    return 1;
}

int main(int argc, char **argv)
{
    const char *sizes = MODEL_SIZES && argc > 2 && strcmp(argv[1], "-n") == 0 ? argv[2] : NULL, *self = argv[0];
    if (sizes)
        argc -= 2, argv += 2;
    if (argc != 1 && argc != 1 + MODEL_INPUTS)
        return usage(self);
    void **in = make_room(MODEL_INPUTS, model_input), **out = make_room(MODEL_OUTPUTS, model_output);
    const void *const *given = (const void *const *)in;
    model *m = model_open(MODEL_WEIGHTS);
    int ok = m || fail(MODEL_WEIGHTS, "cannot be read, or too little memory", "");
    if (ok && sizes)
        ok = resize(m, sizes);
    for (int i = 0; i + 1 < argc && ok; i++)
        ok = read_input(m, argv[1 + i], i, in[i]);
    if (ok && argc == 1 && MODEL_INPUTS > 0)
        ok = measure(m, given, out);
    else if (ok)
        ok = run_once(m, given, out) && write_outputs(m, out);
    free_room(in), free_room(out);
    model_close(m);
    return ok ? 0 : 1;
}
