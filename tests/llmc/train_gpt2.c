/* train_gpt2.c - stands in for llm.c's: reads a model and tokens in its files' forms, and says of every step what it
 * says, by the plain step of bench/peers/plainc. Step 20 is where that program samples; this one ends there. */
#include "bench/peers/plainc/gpt2.c"

#include <stdio.h>
#include <time.h>

enum { HEAD = 256, BATCH = 4, LENGTH = 64, TOKENS = BATCH * LENGTH };
static const int widths[LAYER][2] = {{1, 1}, {1, 1}, {1, 3}, {3, 1}, {1, 1}, {1, 1},
                                     {1, 1}, {1, 1}, {1, 4}, {4, 1}, {4, 1}, {1, 1}};

static FILE *begin(const char *path, int magic, int version, int32_t word[HEAD])
{
    FILE *f = fopen(path, "rb");
    if (!f || fread(word, sizeof *word, HEAD, f) != HEAD || word[0] != magic || word[1] != version)
        exit(3);
    return f;
}

static float *take(FILE *f, int64_t rows, int64_t columns)
{
    float *w = calloc((size_t)(rows * columns), sizeof *w);
    if (!w || fread(w, sizeof *w, (size_t)(rows * columns), f) != (size_t)(rows * columns))
        exit(4);
    return w;
}

static float *turned(FILE *f, int64_t out, int64_t in) /* as [in, out] */
{
    float *w = take(f, out, in), *t = calloc((size_t)(in * out), sizeof *t);
    for (int64_t i = 0; t && i < in * out; i++)
        t[i] = w[i % out * in + i / out];
    return t;
}

static bool is_matrix(int k)
{
    return k == QKV || k == PROJ || k == UP || k == DOWN;
}

static gpt2 *read_model(void)
{
    int32_t word[HEAD];
    FILE *f = begin("gpt2_124M.bin", 20240326, 3, word);
    const int64_t layers = word[4], C = word[6];
    const sizes s = {BATCH, LENGTH, C, word[5], word[3], word[2], layers};
    const int n = TABLES + (int)layers * LAYER + 2;
    const float **w = calloc((size_t)n, sizeof *w);
    int64_t *elements = calloc((size_t)n, sizeof *elements);
    if (word[7] % 128 || word[7] < word[3])
        exit(5);
    w[WTE] = take(f, word[7], C), elements[WTE] = word[3] * C;
    w[WPE] = take(f, word[2], C), elements[WPE] = word[2] * C;
    for (int k = 0; k < LAYER; k++)
        for (int i = 0; i < layers; i++) {
            const int at = TABLES + i * LAYER + k;
            const int64_t wide = is_matrix(k)                  ? widths[k][1]
                                 : widths[k][0] > widths[k][1] ? widths[k][0]
                                                               : widths[k][1];
            w[at] = is_matrix(k) ? turned(f, wide * C, widths[k][0] * C) : take(f, 1, wide * C);
            elements[at] = is_matrix(k) ? widths[k][0] * wide * C * C : wide * C;
        }
    w[n - 2] = take(f, 1, C), w[n - 1] = take(f, 1, C), elements[n - 2] = elements[n - 1] = C;
    if (fgetc(f) != EOF)
        exit(6);
    return gpt2_open(&s, n, w, elements, calloc((size_t)n, 1));
}

int main(void)
{
    int32_t word[HEAD];
    uint16_t token[TOKENS + 1];
    int64_t id[TOKENS], label[TOKENS];
    double out[2];
    gpt2 *g = read_model();
    for (int k = 0; k < 2; k++) {
        const char *of = k ? "dev/data/tinyshakespeare/tiny_shakespeare_train.bin"
                           : "dev/data/tinyshakespeare/tiny_shakespeare_val.bin";
        FILE *f = begin(of, 20240520, 1, word);
        if (word[2] != TOKENS + 1 || fread(token, sizeof *token, TOKENS + 1, f) != TOKENS + 1 || fgetc(f) != EOF)
            exit(7);
        fclose(f);
    }
    for (int i = 0; i < TOKENS; i++)
        id[i] = token[i], label[i] = token[i + 1];
    for (int step = 0; step < 20; step++) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        gpt2_step(g, id, label, (double[]){1e-4, 0}, step + 1, out);
        clock_gettime(CLOCK_MONOTONIC, &to);
        if (step % 10 == 0)
            printf("val loss %f\n", out[0]);
        printf("step %d: train loss %f (took %f ms)\n", step, out[0],
               1e3 * (double)(to.tv_sec - from.tv_sec) + 1e-6 * (double)(to.tv_nsec - from.tv_nsec));
    }
    return 0;
}
