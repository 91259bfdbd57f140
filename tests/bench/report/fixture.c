#include "tests/bench/report/fixture.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct shape { /* one kernel of a layer; times in microseconds under the two schemas */
    const char *name, *op, *rule;
    double m, n, k, fast_us, slow_us;
} shape;

/* BERT-base at batch 1, 128 tokens. n and k are 0 where the kernel is no product. */
static const shape layer[] = {
    {"attention.query", "matmul", "projections", 128, 768, 768, 462, 530},
    {"attention.key", "matmul", "projections", 128, 768, 768, 463, 533},
    {"attention.value", "matmul", "projections", 128, 768, 768, 461, 529},
    {"attention.self", "attention", "attention", 128, 1536, 128, 246, 247},
    {"attention.output", "matmul", "projections", 128, 768, 768, 470, 541},
    {"attention.norm", "layer_norm", "guess", 128, 768, 0, 14, 14},
    {"ffn.up", "matmul", "feed forward", 128, 3072, 768, 1848, 2790},
    {"ffn.down", "matmul", "feed forward", 128, 768, 3072, 1842, 2995},
    {"ffn.norm", "layer_norm", "guess", 128, 768, 0, 14, 14},
};
static const shape ends[] = {
    {"embeddings", "gather", "guess", 128, 768, 0, 61, 60},
    {"pooler", "matmul", "guess", 1, 768, 768, 88, 88},
};

typedef struct maker {
    uint64_t state;
    double slow; /* part of the way from the fast schema's time to the slow one's */
    bool plain;  /* only what every results/1 has */
    bool naive;  /* the slow schema is three loops and one sum */
} maker;

static double noise(maker *m) /* [-1, 1), peaked at 0 */
{
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        m->state = m->state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(m->state >> 40) / (1 << 24);
    }
    return sum / 1.5 - 1;
}

static cJSON *child(cJSON *at, const char *key)
{
    return cJSON_AddObjectToObject(at, key);
}

static void put(cJSON *at, const char *key, double v)
{
    cJSON_AddNumberToObject(at, key, v);
}

static void say(cJSON *at, const char *key, const char *v)
{
    cJSON_AddStringToObject(at, key, v);
}

static double round3(double v)
{
    return (double)(int64_t)(v * 1000 + 0.5) / 1000;
}

static void level_add(cJSON *list, const char *loop, const char *level, double trips, double kib, double capacity)
{
    cJSON *l = cJSON_CreateObject();
    say(l, "loop", loop);
    put(l, "trips", trips);
    put(l, "working_set", kib * 1024);
    say(l, "level", level);
    put(l, "share", round3(kib / capacity));
    cJSON_AddItemToArray(list, l);
}

static void tile_add(cJSON *at, bool naive)
{
    cJSON *tile = child(at, "tile");
    put(tile, "cores", 2);
    put(tile, "lanes", naive ? 1 : 16);
    put(tile, "lanes_of", 16);
    put(tile, "sums", naive ? 1 : 24);
    put(tile, "sums_of", 8);
    put(tile, "multiply_adds", naive ? 1 : 24);
    put(tile, "loads", naive ? 2 : 0.4583);
}

static void nest_add(cJSON *at, const shape *s, bool slow, bool naive)
{
    cJSON *levels = cJSON_AddArrayToObject(at, "levels"), *notes = cJSON_AddArrayToObject(at, "notes");
    double k = slow || s->k < 768 ? s->k : 768; /* the fast schema cuts a long k */
    cJSON *traffic = child(at, "traffic");
    put(traffic, "L3", 4 * (s->m * s->k + s->k * s->n + s->m * s->n));
    put(traffic, "L2", 4 * (s->m * s->k + s->k * s->n * (slow && s->m > 8 ? s->m / 8 : 1) + s->m * s->n));
    put(traffic, "L1", 4 * s->k * s->n * (s->m < 8 ? 1 : s->m / 8));
    double panel = k * 48 * 4 / 1024, rows = k * 8 * 4 / 1024, all = s->m * k * 4 / 1024;
    if (strcmp(s->op, "matmul") != 0 || s->m < 8) {
        say(at, "loops",
            !strcmp(s->op, "attention")
                ? "b h q/32@core ; scores: s/64 d q@unroll s@vector ; out: s/64 d/16@vector q@unroll"
                : "r@core c@vector");
        level_add(levels, "r@core", "L1", s->m, 9, 48);
        return;
    }
    tile_add(at, naive);
    if (naive) {
        say(at, "loops", "m@core n k");
        level_add(levels, "m@core", "L3", s->m, all / s->m + s->k * s->n * 4 / 1024, 33 * 1024);
    } else if (!slow) {
        say(at, "loops",
            s->k > 768 ? "n/384@core n/48 k/768 m/8 k m@unroll n@vector" : "n/384@core n/48 m/8 k m@unroll n@vector");
        level_add(levels, "n/384@core", "L3", s->n / 384, all + k * 384 * 4 / 1024, 33 * 1024);
        level_add(levels, "n/48", "L2", 8, panel + all, 2048);
        level_add(levels, "m/8", "L1", s->m / 8, rows + 48 * 8 * 4 / 1024.0, 48);
        cJSON_AddItemToArray(notes, cJSON_CreateString("next panel of b prefetched (+b@l2*2, derived)"));
    } else {
        say(at, "loops", "m/64@core m/8 n/48 k m@unroll n@vector");
        level_add(levels, "m/64@core", "L3", s->m / 64, all / 2 + s->k * s->n * 4 / 1024, 33 * 1024);
        level_add(levels, "m/8", "L2", 8, s->k * s->n * 4 / 1024, 2048);
        level_add(levels, "n/48", "L1", s->n / 48, panel, 48);
        cJSON_AddItemToArray(notes, cJSON_CreateString("weights are read once per 8 rows"));
    }
}

static double kernel_add(cJSON *list, maker *m, const shape *s, int number, double peak)
{
    cJSON *k = cJSON_CreateObject();
    char name[160];
    if (number < 0)
        snprintf(name, sizeof name, "%s", s->name);
    else
        snprintf(name, sizeof name, "encoder.layer.%d.%s", number, s->name);
    double flops = s->k > 0 ? 2 * s->m * s->n * s->k : 8 * s->m * s->n;
    double bytes = 4 * (s->k > 0 ? s->m * s->k + s->k * s->n + s->m * s->n : 2 * s->m * s->n);
    double ns = (double)(int64_t)((s->fast_us + m->slow * (s->slow_us - s->fast_us)) * 1000 * (1 + 0.004 * noise(m)));
    say(k, m->plain ? "name" : "label", name);
    snprintf(name, sizeof name, "k%d", cJSON_GetArraySize(list));
    if (!m->plain)
        say(k, "name", name);
    say(k, "op", s->op);
    say(k, "rule", s->rule);
    if (m->naive && m->slow > 0.2 && !strcmp(s->name, "pooler"))
        cJSON_AddTrueToObject(k, "guessed");
    put(k, "calls", 1);
    put(k, "median_ns", ns);
    put(k, "flops", flops);
    put(k, "bytes", bytes);
    double least = fmax(flops / peak, bytes / 240); /* GB/s of the level that holds it */
    put(k, "peak_share", round3(least / ns));
    say(k, "bound", flops / peak > bytes / 240 ? "fma" : "l2_gbs");
    if (!m->plain)
        nest_add(k, s, m->slow > 0.2, m->naive && m->slow > 0.2);
    cJSON_AddItemToArray(list, k);
    return ns;
}

static double kernels_add(cJSON *c, maker *m, int layers, double peak)
{
    cJSON *list = cJSON_AddArrayToObject(c, "kernels");
    double sum = kernel_add(list, m, &ends[0], -1, peak);
    for (int l = 0; l < layers; l++)
        for (size_t i = 0; i < sizeof layer / sizeof *layer; i++)
            sum += kernel_add(list, m, &layer[i], l, peak);
    return sum + kernel_add(list, m, &ends[1], -1, peak);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The canary slows down with its neighbours for a while in launch 3, and two samples are hit. */
static void samples_add(cJSON *c, maker *m, double median, int launches, int n)
{
    cJSON *list = m->plain ? NULL : cJSON_AddArrayToObject(c, "samples"), *stats = child(c, "stats");
    double *all = calloc((size_t)(launches * n), sizeof *all);
    for (int l = 0; l < launches; l++) {
        cJSON *one = list ? cJSON_CreateArray() : NULL;
        for (int i = 0; i < n; i++) {
            double busy = l == 2 && i > n / 3 && i < n / 2 ? 0.006 : 0, tail = noise(m);
            bool hit = l == 3 && i == n / 2;
            double ns = (double)(int64_t)(median * (1 + 0.0025 * noise(m) + busy +
                                                    (hit          ? 0.045
                                                     : tail > 0.7 ? 0.008
                                                                  : 0)));
            all[l * n + i] = ns;
            if (!one)
                continue;
            cJSON *s = cJSON_CreateObject();
            put(s, "ns", ns);
            put(s, "canary_ns", (double)(int64_t)(1004000 * (1 + 0.0012 * noise(m) + busy + (hit ? 0.03 : 0))));
            if (hit)
                cJSON_AddItemToArray(cJSON_AddArrayToObject(s, "flags"), cJSON_CreateString("canary"));
            cJSON_AddItemToArray(one, s);
        }
        if (one)
            cJSON_AddItemToArray(list, one);
    }
    qsort(all, (size_t)(launches * n), sizeof *all, by_value);
    put(stats, "n", launches * n);
    put(stats, "min_ns", all[0]);
    put(stats, "median_ns", all[launches * n / 2]);
    put(stats, "p90_ns", all[launches * n * 9 / 10]);
    if (!m->plain)
        put(stats, "low_ns", all[launches * n * 45 / 100]);
    if (!m->plain)
        put(stats, "high_ns", all[launches * n * 55 / 100]);
    free(all);
}

static void memory_add(cJSON *c, maker *m, int layers)
{
    cJSON *memory = child(c, "memory");
    put(memory, "peak_bytes", 486.0 * 1048576);
    if (m->plain)
        return;
    put(memory, "arena_bytes", 3.375 * 1048576);
    put(memory, "lower_bound_bytes", 3.0 * 1048576);
    cJSON *list = cJSON_AddArrayToObject(memory, "buffers");
    static const struct {
        const char *name;
        double kib, offset;
        int first, last;
    } one[] = {{"hidden", 384, 0, 0, 5},       {"query", 384, 384, 0, 3},    {"key", 384, 768, 1, 3},
               {"value", 384, 1152, 2, 3},     {"context", 384, 1536, 3, 4}, {"attended", 384, 384, 4, 8},
               {"ffn.wide", 1536, 1920, 6, 7}, {"ffn.out", 384, 768, 7, 8}};
    for (int l = 0; l < layers; l++)
        for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
            cJSON *b = cJSON_CreateObject();
            char name[80];
            snprintf(name, sizeof name, "layer.%d.%s", l, one[i].name);
            say(b, "name", name);
            put(b, "bytes", one[i].kib * 1024);
            put(b, "offset",
                one[i].offset * 1024 + (m->slow > 1 ? (m->slow - 1) * 640 * 1024 : 0)); /* variants differ */
            put(b, "first", 1 + 9 * l + one[i].first);
            put(b, "last", 1 + 9 * l + one[i].last);
            cJSON_AddItemToArray(list, b);
        }
    for (int k = 1; k < 9 * layers; k++) { /* partial sums of each kernel */
        cJSON *b = cJSON_CreateObject();
        say(b, "name", "partial");
        put(b, "bytes", 24 * 1024);
        put(b, "offset", (3456 + 24 * (k % 4)) * 1024);
        put(b, "first", k);
        put(b, "last", k);
        cJSON_AddItemToArray(list, b);
    }
}

typedef struct setting {
    const char *a, *b, *verdict;
    double slow, ratio, low, high;
    int layers, launches, n, candidates;
    bool plain, invalid, alone, naive;
} setting;

static void candidate_add(cJSON *list, const char *name, maker *m, const setting *s)
{
    cJSON *c = cJSON_CreateObject();
    bool wrong = s->invalid && m->slow > 0;
    say(c, "name", name);
    say(c, "status", wrong ? "INVALID" : "VALID");
    say(c, "reason", wrong ? "correctness" : "");
    if (!m->plain)
        say(c, "schema", name);
    if (!m->plain)
        say(c, "schema_hash", "9f86d081884c7d65");
    if (!wrong) {
        double sum = kernels_add(c, m, s->layers, 175.2 * 2);
        samples_add(c, m, sum * 1.006 + 150e3 * (1 + 2 * m->slow), s->launches, s->n);
        memory_add(c, m, s->layers);
    }
    cJSON *numerics = child(c, "numerics");
    put(numerics, "max_abs", wrong ? 0.0713 : 3.1e-6);
    put(numerics, "max_rel", wrong ? 0.0152 : 8.7e-7);
    put(numerics, "tolerance", 1e-4);
    cJSON_AddItemToArray(list, c);
}

static void compare_add(cJSON *list, const char *a, const char *b, const char *verdict, const double ratio[3],
                        bool plain)
{
    cJSON *c = cJSON_CreateObject();
    say(c, "a", a);
    say(c, "b", b);
    say(c, "verdict", verdict);
    put(c, "ratio", ratio[0]);
    put(c, "low", ratio[1]);
    put(c, "high", ratio[2]);
    if (!plain)
        put(c, "detectable", (ratio[2] - ratio[1]) / 2 / ratio[0]);
    cJSON_AddItemToArray(list, c);
}

static void machine_add(cJSON *root, const setting *s)
{
    cJSON *e = child(root, "environment"), *ceilings = child(root, "ceilings");
    put(e, "threads", 2);
    say(e, "isa", "avx512");
    say(e, "cpu", "Xeon, family 6 model 207");
    put(ceilings, "fma_f32_gflops", 350.4);
    put(ceilings, "read_gbs", 30.1);
    if (s->plain)
        return;
    put(ceilings, "l1_gbs", 610);
    put(ceilings, "l2_gbs", 240);
    put(ceilings, "l3_gbs", 78);
    put(ceilings, "write_gbs", 14.2);
    put(ceilings, "barrier_ns", 420);
    cJSON *isas = cJSON_AddArrayToObject(e, "isa_available"), *caches = child(e, "caches"), *tool = child(e, "tool");
    cJSON_AddItemToArray(isas, cJSON_CreateString("avx512"));
    cJSON_AddItemToArray(isas, cJSON_CreateString("avx2"));
    put(e, "cores", 2);
    put(caches, "l1d_bytes", 48 * 1024);
    put(caches, "l2_bytes", 2048 * 1024);
    put(caches, "l3_bytes", 33792 * 1024);
    cJSON_AddTrueToObject(e, "hypervisor");
    cJSON_AddNullToObject(e, "governor");
    say(child(e, "why"), "governor", "no cpufreq directory: the host sets the clock");
    say(e, "os", "Linux 6.1.0 x86_64");
    say(tool, "version", "0.1.0");
    say(tool, "build", "release");
    put(e, "load", 0.31);
    put(e, "steal_share", 0.0002);
    cJSON *m = child(root, "model"), *config = child(root, "config");
    say(m, "name", "bert-base");
    cJSON *dims = cJSON_AddArrayToObject(m, "dims");
    cJSON_AddItemToArray(dims, cJSON_CreateString("batch=1"));
    cJSON_AddItemToArray(dims, cJSON_CreateString("seq=128"));
    say(m, "hash", "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae");
    put(config, "launches", s->launches);
    put(config, "min_time", 3);
    put(config, "threshold", 0.01);
    put(config, "seed", 1);
    cJSON_AddItemToArray(
        cJSON_AddArrayToObject(root, "notes"),
        cJSON_CreateString("2 of 150 samples flagged (canary more than 0.5 % above its median); kept"));
    say(root, "repro", "tessera bench bert-base --dim batch=1 --dim seq=128 -s blocked -s naive -o results.json");
}

static char *document(const setting *s)
{
    cJSON *root = cJSON_CreateObject();
    say(root, "format", "results/1");
    machine_add(root, s);
    cJSON *list = cJSON_AddArrayToObject(root, "candidates"), *peers = cJSON_AddArrayToObject(root, "peers");
    cJSON *comparisons = cJSON_AddArrayToObject(root, "comparisons");
    for (int i = 0; i < s->candidates; i++) {
        char more[32];
        maker m = {.state = 77u + (unsigned)i,
                   .slow = i == 0 ? 0 : s->slow * (1 + 0.1 * (i - 1)),
                   .plain = s->plain,
                   .naive = s->naive};
        snprintf(more, sizeof more, "variant-%d", i);
        candidate_add(list, i == 0 ? s->a : i == 1 ? s->b : more, &m, s);
        if (i > 0 && !s->invalid)
            compare_add(comparisons, s->a, i == 1 ? s->b : more, s->verdict, (double[]){s->ratio, s->low, s->high},
                        s->plain);
    }
    if (!s->alone) {
        cJSON *peer = cJSON_CreateObject();
        maker m = {.state = 5, .plain = s->plain};
        say(peer, "name", "onnxruntime");
        say(peer, "version", "1.20.1");
        samples_add(peer, &m, 116.2e6, s->launches, s->n);
        cJSON_AddItemToArray(peers, peer);
        compare_add(comparisons, s->a, "onnxruntime", "FASTER", (double[]){1.61, 1.60, 1.62}, s->plain);
    }
    if (s->invalid) {
        cJSON *absent = cJSON_CreateObject();
        say(absent, "name", "openvino");
        say(absent, "status", "ABSENT");
        say(absent, "reason", "the Python package openvino is not installed");
        cJSON_AddNullToObject(absent, "stats");
        cJSON_AddItemToArray(peers, absent);
    }
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    return text;
}

static const char hostile_a[] = "</script><script>alert('a')</script>\"&lt;";
static const char hostile_b[] = "line\nbreak \x1b[31mred \xe2\x80\xae"
                                "turned \xe2\x81\xa6 \xff\xfe \xc0\xaf \xed\xa0\x80 | ` =cmd() -->";

static const struct {
    const char *name;
    setting s;
} table[] = {
    {"bert", {"blocked", "rows-outside", "FASTER", 1, 1.488, 1.481, 1.495, 12, 5, 30, 2, false, false, false, false}},
    {"same", {"blocked", "blocked-64", "SAME", 0.002, 1.0012, 0.9981, 1.0043, 12, 5, 30, 2, false, false, true, false}},
    {"undecided",
     {"blocked", "blocked-64", "UNDECIDED", 0.03, 1.014, 0.996, 1.032, 12, 2, 8, 2, false, false, true, false}},
    {"alike",
     {"blocked", "rows-outside", "SAME", 0.21, 1.0012, 0.9981, 1.0043, 12, 5, 30, 2, false, false, true, false}},
    {"close",
     {"blocked", "rows-outside", "FASTER", 0.21, 1.104, 1.101, 1.108, 12, 5, 30, 2, false, false, true, false}},
    {"far", {"blocked", "naive", "FASTER", 2500, 1077, 980, 1160, 2, 5, 30, 2, false, false, true, true}},
    {"naive", {"blocked", "naive", "FASTER", 60, 29.1, 28.8, 29.5, 12, 5, 30, 2, false, false, true, true}},
    {"invalid", {"blocked", "broken", "", 1, 0, 0, 0, 12, 5, 30, 2, false, true, true, false}},
    {"large", {"blocked", "rows-outside", "FASTER", 1, 1.488, 1.481, 1.495, 33, 5, 400, 4, false, false, false, false}},
    {"hostile", {hostile_a, hostile_b, "FASTER", 1, 1.488, 1.481, 1.495, 2, 2, 5, 2, false, false, false, false}},
    {"bare", {"blocked", "rows-outside", "FASTER", 1, 1.488, 1.481, 1.495, 2, 1, 9, 2, true, false, false, false}},
    {"single", {"guess", "", "", 0, 0, 0, 0, 12, 5, 30, 1, false, false, true, false}},
};

const char *fixture_name(int i)
{
    return i >= 0 && (size_t)i < sizeof table / sizeof *table ? table[i].name : NULL;
}

char *fixture_make(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(table[i].name, name))
            return document(&table[i].s);
    return NULL;
}
