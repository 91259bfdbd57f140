/* The first training step of real models against reference runs in another framework: the loss, and the norm of the
 * gradient of every parameter, where TESSERA_MODELS and SHARED name what they are made from.
 * ctest: long large */
#include "tests/check.h"

#include "tessera.h"
#include "graph/base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 256, WORD = 256 };
typedef struct reference { /* norms by name of parameter */
    int n;
    char name[MOST][WORD];
    double norm[MOST];
} reference;

static bool read_norms(const char *path, reference *r)
{
    char line[512];
    FILE *f = fopen(path, "r");
    r->n = 0;
    if (!f)
        return false;
    while (r->n < MOST && fgets(line, sizeof line, f))
        r->n += sscanf(line, "%255s %lf", r->name[r->n], &r->norm[r->n]) == 2;
    fclose(f);
    return r->n > 0;
}

/* ---- data ---- */
enum { BATCH = 32, LENGTH = 64 };
typedef struct batch {
    ts_array ids, mask, types, labels;
} batch;

static void put(ts_array *a, int64_t at, int64_t v)
{
    ((int64_t *)a->data)[at] = v;
}

static bool make_batch(batch *b, int64_t rows, int64_t length)
{
    return ts_array_make(&b->ids, TS_I64, 2, (int64_t[]){rows, length}, NULL) &&
           ts_array_make(&b->mask, TS_I64, 2, (int64_t[]){rows, length}, NULL) &&
           ts_array_make(&b->types, TS_I64, 2, (int64_t[]){rows, length}, NULL) &&
           ts_array_make(&b->labels, TS_I64, 1, (int64_t[]){rows}, NULL);
}

static void free_batch(batch *b)
{
    ts_array_free(&b->ids), ts_array_free(&b->mask), ts_array_free(&b->types), ts_array_free(&b->labels);
}

static void put_text(batch *b, int row, char *line, const ts_tokenizer *t)
{
    char *tab = strrchr(line, '\t');
    int64_t n;
    put(&b->labels, row, strtoll(tab + 1, NULL, 10));
    int64_t *id = ts_tokenizer_encode(t, line, (size_t)(tab - line), true, &n);
    if (n > LENGTH)
        id[LENGTH - 1] = id[n - 1], n = LENGTH;
    for (int64_t i = 0; i < n; i++)
        put(&b->ids, row * LENGTH + i, id[i]), put(&b->mask, row * LENGTH + i, 1);
    ts_free(id);
}

/* The lines that the first line of `order` lists. */
static bool read_sentences(batch *b, const char *shared, const ts_tokenizer *t)
{
    char path[1024], line[4096];
    int number[BATCH], got = 0;
    snprintf(path, sizeof path, "%s/models/minilm/finetune/order.tsv", shared);
    FILE *f = fopen(path, "r");
    for (int i = 0; f && i < BATCH; i++)
        got += fscanf(f, "%d", &number[i]) == 1;
    if (f)
        fclose(f);
    snprintf(path, sizeof path, "%s/data/sst2/train.tsv", shared);
    f = got == BATCH ? fopen(path, "r") : NULL;
    got = 0;
    for (int k = 0; f && fgets(line, sizeof line, f); k++)
        for (int i = 0; i < BATCH; i++)
            if (number[i] == k)
                put_text(b, i, line, t), got++;
    if (f)
        fclose(f);
    return got == BATCH;
}

/* ---- one step ---- */
typedef struct problem {
    ts_graph *g;
    ts_tensor loss, parameter[MOST], grad[MOST];
    int n;
} problem;

static void add_parameters(problem *p)
{
    ts_tensor leaf[MOST];
    const int n = ts_leaves(1, &p->loss, NULL);
    if (!CHECK(n <= MOST))
        return;
    ts_leaves(1, &p->loss, leaf);
    for (int i = 0; i < n; i++)
        if (ts_type(leaf[i]) == TS_F32 && *ts_name(leaf[i]))
            p->parameter[p->n++] = leaf[i];
}

static double norm(const ts_array *a)
{
    double sum = 0;
    for (int64_t i = 0; i < ts_array_count(a); i++)
        sum += ts_array_at(a, i) * ts_array_at(a, i);
    return sqrt(sum);
}

static const char *translated(const char *name, const char *prefix)
{
    if (!strcmp(name, "transformer.wte.weight"))
        return "g.lm_head.weight";
    static char full[WORD + 8];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    return full;
}

static void compare(const problem *p, const reference *r, const char *prefix, const ts_array *got)
{
    double all = 0, worst = 0, mine = 0;
    int missing = 0;
    for (int i = 0; i < r->n; i++)
        all += r->norm[i] * r->norm[i];
    all = sqrt(all);
    for (int i = 0; i < r->n; i++) {
        const char *name = translated(r->name[i], prefix);
        int k = 0;
        while (k < p->n && strcmp(ts_name(p->parameter[k]), name))
            k++;
        if (k == p->n) {
            missing++, printf("  no parameter %s\n", name);
            continue;
        }
        const double n = norm(&got[k + 1]), off = fabs(n - r->norm[i]);
        mine += n * n, worst = fmax(worst, fmax(0, off - 1e-8 * all) / r->norm[i]);
        if (!CHECK(off <= 1e-4 * r->norm[i] + 1e-8 * all))
            printf("  %s: norm %.10g, reference %.10g\n", name, n, r->norm[i]);
    }
    CHECK(missing == 0);
    printf("%d parameters: norms off by at most %.2g; all as one %.9g, reference %.9g\n", r->n, worst, sqrt(mine), all);
}

static bool run(problem *p, int n_given, const ts_given *given, ts_array *out)
{
    ts_tensor all[MOST + 1] = {p->loss};
    ts_error e = {0};
    add_parameters(p);
    double start = seconds_now();
    if (!CHECK(ts_chain_rule(p->g, 1, &p->loss, NULL, p->n, p->parameter, p->grad))) {
        ts_graph_ok(p->g, &e), printf("  %s\n", e.text);
        return false;
    }
    memcpy(all + 1, p->grad, (size_t)p->n * sizeof *all);
    printf("%d parameters, %d nodes forward, %d with gradients, %.2f s to derive\n", p->n, ts_nodes(1, all, NULL),
           ts_nodes(p->n + 1, all, NULL), seconds_now() - start);
    if (getenv("PRINT")) {
        char *t = ts_print(p->n + 1, all);
        puts(t), ts_free(t);
    }
    start = seconds_now();
    if (!CHECK(ts_eval(p->n + 1, all, n_given, given, NULL, out, &e))) {
        printf("  %s\n", e.text);
        return false;
    }
    printf("%.2f s to plan, compile and run\n", seconds_now() - start);
    return true;
}

/* The mean of the words that count, then a layer, then the loss. */
static ts_tensor head(ts_graph *g, ts_tensor hidden, ts_tensor mask, ts_tensor labels)
{
    ts_tensor m = ts_call1(g, "expand_dims axes=[2]", ts_call1(g, "cast to=f32", mask));
    ts_tensor sum = ts_call1(g, "sum axes=[1]", ts_call2(g, "multiply", hidden, m));
    ts_tensor mean = ts_call2(g, "divide", sum, ts_call1(g, "sum axes=[1]", m));
    ts_tensor w = ts_input(g, "head.weight", TS_F32, 2, (int64_t[]){2, 384});
    ts_tensor y = ts_call2(g, "matmul", mean, ts_call1(g, "transpose", w));
    y = ts_call2(g, "add", y, ts_input(g, "head.bias", TS_F32, 1, (int64_t[]){2}));
    return ts_call2(g, "cross_entropy", y, labels);
}

static ts_tensor input_of(const problem *p, const char *name)
{
    ts_tensor leaf[MOST];
    const int n = ts_leaves(1, &p->loss, leaf);
    for (int i = 0; i < n; i++)
        if (!strcmp(ts_name(leaf[i]), name))
            return leaf[i];
    return NULL;
}

static void test_minilm(const char *models, const char *shared)
{
    char path[1024];
    static reference r;
    static ts_array out[MOST + 1];
    float *weights = calloc(4, 1024);
    ts_error e = {0};
    batch b;
    snprintf(path, sizeof path, "%s/minilm/finetune/gradients.tsv", models);
    if (!read_norms(path, &r) || !weights || !make_batch(&b, BATCH, LENGTH))
        return;
    snprintf(path, sizeof path, "%s/models/minilm/finetune/head.safetensors", shared);
    FILE *f = fopen(path, "rb");
    if (CHECK(f)) {
        fseek(f, -3080, SEEK_END);
        CHECK(fread(weights, 4, 770, f) == 770);
        fclose(f);
    }
    snprintf(path, sizeof path, "%s/minilm", models);
    ts_tokenizer *t = ts_tokenizer_open(path, &e);
    ts_model *m = ts_model_open(path, &e);
    const char *dims[] = {"batch=32", "seq=64"};
    if (CHECK(t && read_sentences(&b, shared, t)) && CHECK(m && ts_model_bind(m, 2, dims, NULL, &e))) {
        problem p = {.g = ts_model_graph(m), .loss = ts_model_tensor(m, 0)};
        ts_tensor labels = ts_input(p.g, "labels", TS_I64, 1, b.labels.dim);
        p.loss = head(p.g, p.loss, input_of(&p, "attention_mask"), labels);
        const ts_given given[] = {{"input_ids", b.ids},
                                  {"attention_mask", b.mask},
                                  {"token_type_ids", b.types},
                                  {"labels", b.labels},
                                  {"head.weight", {TS_F32, 2, {2, 384}, weights + 2}},
                                  {"head.bias", {TS_F32, 1, {2}, weights}}};
        if (run(&p, 6, given, out)) {
            printf("minilm: loss %.9g, reference 0.712752055\n", ts_array_at(out, 0));
            CHECK(fabs(ts_array_at(out, 0) - 0.712752055045) < 1e-5);
            compare(&p, &r, "", out);
            for (int i = 0; i <= p.n; i++)
                ts_array_free(&out[i]);
        }
    } else
        printf("  %s\n", e.text);
    ts_model_free(m), ts_tokenizer_free(t), free_batch(&b), free(weights);
}

/* Row r predicts bytes 64 r + 1 ... 64 r + 64 of the text from those before them. */
static bool read_bytes(batch *b, const char *shared)
{
    char path[1024];
    unsigned char text[4 * LENGTH + 1];
    snprintf(path, sizeof path, "%s/data/tinyshakespeare/input.txt", shared);
    FILE *f = fopen(path, "rb");
    const bool ok = f && fread(text, 1, sizeof text, f) == sizeof text;
    if (f)
        fclose(f);
    for (int i = 0; ok && i < 4 * LENGTH; i++)
        put(&b->ids, i, text[i]), put(&b->types, i, text[i + 1]), put(&b->mask, i, 1);
    return ok;
}

static void test_gpt2(const char *models, const char *shared)
{
    char path[1024];
    static reference r;
    static ts_array out[MOST + 1];
    ts_error e = {0};
    batch b;
    snprintf(path, sizeof path, "%s/models/gpt2-dynamo/train/gradients.tsv", shared);
    if (!read_norms(path, &r) || !make_batch(&b, 4, LENGTH) || !CHECK(read_bytes(&b, shared)))
        return;
    snprintf(path, sizeof path, "%s/gpt2-dynamo", models);
    const char *dims[] = {"batch=4", "seq=64"};
    ts_model *m = ts_model_open(path, &e);
    if (CHECK(m && ts_model_bind(m, 2, dims, NULL, &e))) {
        problem p = {.g = ts_model_graph(m), .loss = ts_model_tensor(m, 0)};
        ts_tensor labels = ts_input(p.g, "labels", TS_I64, 2, b.ids.dim);
        p.loss = ts_call2(p.g, "cross_entropy", p.loss, labels);
        const ts_given given[] = {{"input_ids", b.ids}, {"attention_mask", b.mask}, {"labels", b.types}};
        if (run(&p, 3, given, out)) {
            printf("gpt2: loss %.9g, reference 11.1716022\n", ts_array_at(out, 0));
            CHECK(fabs(ts_array_at(out, 0) - 11.1716022) < 1e-5 * 11.17);
            compare(&p, &r, "g.", out);
            for (int i = 0; i <= p.n; i++)
                ts_array_free(&out[i]);
        }
    } else
        printf("  %s\n", e.text);
    ts_model_free(m), free_batch(&b);
}

int main(void)
{
    const char *models = getenv("TESSERA_MODELS"), *shared = getenv("SHARED");
    if (!models || !shared || access(models, R_OK) || access(shared, R_OK))
        return check_skip("TESSERA_MODELS and SHARED name no reference models");
    test_minilm(models, shared);
    test_gpt2(models, shared);
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    printf("%ld MiB at most\n", u.ru_maxrss / 1024);
    return check_done();
}
