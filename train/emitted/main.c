/* main.c - trains the model as `tessera train` did, to the same bits. Usage: ./train [STEPS]
 *
 * Beside it lie weights.bin (what is not trained), weights.safetensors (what is trained, as it begins),
 * optimizer.safetensors (what the optimizer keeps) and data.bin. It prints a line for each update: its number, the
 * loss, the norm of all gradients before clipping, and the learning rate. At the end it writes trained.safetensors and
 * trained-optimizer.safetensors, which have the layout of the files that it began with.
 *
 * data.bin holds 64-bit integers, least byte first, and values:
 *   the 8 bytes TSDATA01, and the numbers of pieces, of batches, and of examples in a batch
 *   of each piece six numbers: input, at, rows, bytes, from, stride
 *   of each batch the numbers of its examples
 *   the values
 * For r = 0 ... rows - 1 a piece copies `bytes` bytes of data.bin, at from + stride * example[r], into the input at
 * at + r * bytes. */
#include "backends/c/runtime/model.h"
#include "train/emitted/train.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 32, MOST_SKIPPED = 10, NOT_FINITE = 10 };

typedef struct piece {
    int64_t input, at, rows, bytes, from, stride;
} piece;

static struct {
    char *bytes;
    int64_t size, pieces, batches;
    piece *piece;
    int64_t *example; /* BATCH of each batch */
} data;

static void **in, **out;

static int fail(const char *file, const char *why)
{
    fprintf(stderr, "%s: %s\n", file, why);
    return 0;
}

/* ---- data ---- */
static int read_all(const char *file)
{
    FILE *f = fopen(file, "rb");
    long n = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    int ok = n >= HEADER && fseek(f, 0, SEEK_SET) == 0;
    data.bytes = ok ? malloc((size_t)n) : NULL;
    ok = data.bytes && fread(data.bytes, 1, (size_t)n, f) == (size_t)n;
    data.size = n;
    if (f)
        fclose(f);
    return ok || fail(file, "cannot be read");
}

static int64_t *numbers(int64_t at, int64_t n)
{
    int64_t *p = calloc((size_t)n + 1, sizeof *p);
    if (p)
        memcpy(p, data.bytes + at, (size_t)n * sizeof *p);
    return p;
}

/* Within data.bin and within the input, whichever example it is; all numbers are below 2^62. */
static int fits(const piece *p, int64_t most_example)
{
    if (p->input < 0 || p->input >= MODEL_INPUTS || p->at < 0 || p->rows < 0 || p->rows > BATCH || p->bytes < 0 ||
        p->from < 0 || p->stride < 0 || p->from > data.size || p->bytes > data.size - p->from)
        return 0;
    int64_t room = (int64_t)model_input[p->input].bytes, left = data.size - p->from - p->bytes;
    return p->at <= room && p->rows * p->bytes <= room - p->at && (p->stride == 0 || most_example <= left / p->stride);
}

static int check_data(const char *file)
{
    int64_t head[4], most = 0;
    memcpy(head, data.bytes, sizeof head);
    data.pieces = head[1];
    data.batches = head[2];
    if (memcmp(head, "TSDATA01", 8) != 0 || head[1] < 0 || head[1] > data.size || head[2] < 0 || head[2] > data.size ||
        head[3] != BATCH || HEADER + head[1] * 48 > data.size ||
        head[2] > (data.size - HEADER - head[1] * 48) / 8 / BATCH)
        return fail(file, "is not the data of this program");
    data.piece = calloc((size_t)data.pieces + 1, sizeof *data.piece);
    data.example = numbers(HEADER + data.pieces * 48, data.batches * BATCH);
    if (!data.piece || !data.example)
        return fail(file, "out of memory");
    memcpy(data.piece, data.bytes + HEADER, (size_t)data.pieces * sizeof *data.piece);
    for (int64_t i = 0; i < data.batches * BATCH; i++) {
        if (data.example[i] < 0)
            return fail(file, "has an example below 0");
        most = data.example[i] > most ? data.example[i] : most;
    }
    for (int64_t i = 0; i < data.pieces; i++)
        if (!fits(&data.piece[i], most))
            return fail(file, "has a piece that fits nowhere");
    return data.batches >= (int64_t)UPDATES * PARTS || fail(file, "has too few batches");
}

static void fill(int64_t batch)
{
    for (int64_t i = 0; i < data.pieces; i++) {
        const piece *p = &data.piece[i];
        char *to = (char *)in[p->input] + p->at;
        for (int64_t r = 0; r < p->rows; r++)
            memcpy(to + r * p->bytes, data.bytes + p->from + p->stride * data.example[batch * BATCH + r],
                   (size_t)p->bytes);
    }
}

/* ---- state: states first ... first + n - 1 in a safetensors file ---- */
/* The length of its description, which stands behind these 8 bytes; 0: it is no such file. */
static uint64_t description(FILE *f)
{
    uint64_t n = 0;
    return f && fread(&n, sizeof n, 1, f) == 1 && n < 1u << 30 ? n : 0;
}

static int read_values(model *m, const char *file, int first, int n)
{
    FILE *f = fopen(file, "rb");
    uint64_t head = description(f);
    int ok = head > 0;
    for (int i = first; ok && i < first + n; i++)
        ok = fseek(f, (long)(8 + head) + (long)state_at[i], SEEK_SET) == 0 &&
             fread(model_state_of(m, i), 1, model_state[i].bytes, f) == model_state[i].bytes;
    if (f)
        fclose(f);
    return ok || fail(file, "cannot be read");
}

static int copy_head(const char *like, FILE *to)
{
    FILE *f = fopen(like, "rb");
    uint64_t head = description(f);
    char *s = head ? malloc(head) : NULL;
    int ok = s && fread(s, 1, head, f) == head && fwrite(&head, sizeof head, 1, to) == 1 &&
             fwrite(s, 1, head, to) == head;
    free(s);
    if (f)
        fclose(f);
    return ok ? (int)head : 0;
}

static int write_values(model *m, const char *like, const char *file, int first, int n)
{
    char part[256];
    snprintf(part, sizeof part, "%s.part", file);
    FILE *f = fopen(part, "wb");
    int head = f ? copy_head(like, f) : 0, ok = head > 0;
    for (int i = first; ok && i < first + n; i++)
        ok = fseek(f, 8 + head + (long)state_at[i], SEEK_SET) == 0 &&
             fwrite(model_state_of(m, i), 1, model_state[i].bytes, f) == model_state[i].bytes;
    ok = f && fclose(f) == 0 && ok && rename(part, file) == 0;
    return ok || fail(file, "cannot be written");
}

/* ---- training ---- */
typedef struct result {
    double loss, norm, rate, scale; /* scale: of a loss in mixed precision, which finds it by itself; 0: none */
} result;

static void give(int input, const void *value, size_t n)
{
    if (input >= 0)
        memcpy(in[input], value, n);
}

static int is_finite(const result *r)
{
    return isfinite(r->loss) && isfinite(r->norm);
}

static int overflows(const result *r)
{
    return isfinite(r->loss) && !isfinite(r->norm) && r->scale > 1;
}

/* One update, counted from 1, of PARTS batches. 0: an index in the data is outside its axis. */
static int update(model *m, int64_t number, result *r)
{
    const double step = (double)number;
    *r = (result){0, 0, 0, 0};
    for (int64_t part = 0; part < PARTS && is_finite(r); part++) {
        const int64_t random[] = {(int64_t)((SEED << 32) + (uint64_t)number), part};
        const char last = part == PARTS - 1;
        fill((number - 1) * PARTS + part);
        give(INPUT_STEP, &step, sizeof step);
        give(INPUT_RANDOM, random, sizeof random);
        give(INPUT_LAST, &last, sizeof last);
        if (!model_run(m, (const void *const *)in, out))
            return !model_said(m) && fail("data.bin", "an index lies outside its axis");
        r->loss += *(const double *)out[0] / (double)PARTS;
        r->norm = *(const double *)out[1];
        r->rate = *(const double *)out[2];
        r->scale = OUTPUT_SCALE < 0 ? 0 : (double)*(const float *)out[OUTPUT_SCALE < 0 ? 0 : OUTPUT_SCALE];
    }
    if (!is_finite(r)) /* the sums over batches begin again */
        for (int i = WEIGHTS + OTHERS; i < MODEL_STATES; i++)
            memset(model_state_of(m, i), 0, model_state[i].bytes);
    return 1;
}

/* The exit code. A step whose numbers are not finite has changed nothing. */
static int train(model *m, long steps)
{
    int skipped = 0;
    printf("step\tloss\tgrad_norm\tlr\n");
    for (long i = 0; i < steps; i++) {
        result r;
        if (!update(m, i + 1, &r))
            return 1;
        printf("%ld\t%.17g\t%.17g\t%.17g\n", i, r.loss, r.norm, r.rate);
        fflush(stdout);
        if (overflows(&r)) {
            fprintf(stderr, "step %ld: a gradient overflows at loss scale %g: skipped\n", i, r.scale);
            continue;
        }
        skipped = is_finite(&r) ? 0 : skipped + 1;
        if (skipped && (!SKIP || skipped > MOST_SKIPPED)) {
            fprintf(stderr, "step %ld: the loss or the norm is not finite; the weights are those from before it\n", i);
            return NOT_FINITE;
        }
    }
    return 0;
}

static void *zeros(size_t bytes)
{
    const size_t room = (bytes / 64 + 1) * 64;
    void *p = aligned_alloc(64, room);
    return p ? memset(p, 0, room) : NULL;
}

static void **make_room(int n, const model_port *port)
{
    void **p = zeros(((size_t)n + 1) * sizeof *p);
    int ok = p != NULL;
    for (int i = 0; ok && i < n; i++)
        ok = (p[i] = zeros(port[i].bytes)) != NULL;
    if (!ok)
        fail("train", "out of memory");
    return ok ? p : NULL;
}

static void free_room(void **p)
{
    for (int i = 0; p && p[i]; i++)
        free(p[i]);
    free(p);
}

int main(int argc, char **argv)
{
    char *end = "";
    const long steps = argc == 2 ? strtol(argv[1], &end, 10) : UPDATES;
    if (argc > 2 || *end || steps < 1 || steps > UPDATES) {
        fprintf(stderr, "usage: %s [STEPS], which is 1 to %d\n", argv[0], UPDATES);
        return 2;
    }
    model *m = model_open("weights.bin");
    int code = 1, ok = (m || fail("weights.bin", "cannot be read, or too little memory")) && read_all("data.bin") &&
                       check_data("data.bin") && (in = make_room(MODEL_INPUTS, model_input)) &&
                       (out = make_room(MODEL_OUTPUTS, model_output)) &&
                       read_values(m, "weights.safetensors", 0, WEIGHTS) &&
                       read_values(m, "optimizer.safetensors", WEIGHTS, OTHERS);
    if (ok)
        code = train(m, steps);
    if (code == 0 || code == NOT_FINITE) {
        ok = write_values(m, "weights.safetensors", "trained.safetensors", 0, WEIGHTS) &&
             write_values(m, "optimizer.safetensors", "trained-optimizer.safetensors", WEIGHTS, OTHERS);
        code = ok ? code : 1;
    }
    free_room(in), free_room(out);
    free(data.bytes);
    free(data.piece);
    free(data.example);
    model_close(m);
    return code;
}
