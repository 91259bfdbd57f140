/* structure_test.c - every built-in model: shapes of its inputs and results, the number of parameters that the field
 * knows, nodes, weights, hashes, refusals, and how long building takes. Nothing is computed here. */
#include "tests/check.h"
#include "tests/models/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- shapes ---- */
typedef struct shaped {
    const char *model, *dims, *ports;
} shaped;

static const shaped shapes[] = {
    {"bert-base", "",
     "input_ids i64[1,128] <30522, attention_mask i64[1,128] <2, token_type_ids i64[1,128] <2"
     " -> last_hidden_state f32[1,128,768], pooler_output f32[1,768]"},
    {"bert-base", "batch=3 seq=512",
     "input_ids i64[3,512] <30522, attention_mask i64[3,512] <2, token_type_ids i64[3,512] <2"
     " -> last_hidden_state f32[3,512,768], pooler_output f32[3,768]"},
    {"bert-large", "batch=2 seq=7",
     "input_ids i64[2,7] <30522, attention_mask i64[2,7] <2, token_type_ids i64[2,7] <2"
     " -> last_hidden_state f32[2,7,1024], pooler_output f32[2,1024]"},
    {"minilm", "batch=0 seq=1",
     "input_ids i64[0,1] <30522, attention_mask i64[0,1] <2, token_type_ids i64[0,1] <2"
     " -> last_hidden_state f32[0,1,384]"},
    {"gpt2-tiny", "",
     "input_ids i64[1,16] <1024, attention_mask i64[1,16] <2, past.0.key f32[1,2,0,64], past.0.value f32[1,2,0,64], "
     "past.1.key f32[1,2,0,64], past.1.value f32[1,2,0,64] -> logits f32[1,16,1024], "
     "present.0.key f32[1,2,16,64], present.0.value f32[1,2,16,64], "
     "present.1.key f32[1,2,16,64], present.1.value f32[1,2,16,64]"},
    {"gpt2-tiny", "batch=2 seq=3 past=5 last=1",
     "input_ids i64[2,3] <1024, attention_mask i64[2,8] <2, past.0.key f32[2,2,5,64], past.0.value f32[2,2,5,64], "
     "past.1.key f32[2,2,5,64], past.1.value f32[2,2,5,64] -> logits f32[2,1,1024], "
     "present.0.key f32[2,2,8,64], present.0.value f32[2,2,8,64], "
     "present.1.key f32[2,2,8,64], present.1.value f32[2,2,8,64]"},
    {"resnet-18", "batch=2", "x f32[2,3,224,224] -> y f32[2,1000]"},
    {"resnet-50", "size=33", "x f32[1,3,33,33] -> y f32[1,1000]"},
    {"resnet-tiny", "size=1", "x f32[1,3,1,1] -> y f32[1,10]"},
    {"vae-decoder", "size=3", "latents f32[1,4,3,3] -> sample f32[1,3,24,24]"},
    {"vae-tiny", "batch=2", "latents f32[2,4,4,4] -> sample f32[2,3,32,32]"},
};

static void put_port(text *t, const ts_port *p, const char *before)
{
    text_add(t, "%s%s %s[", before, p->name, ts_dtype_name(p->dtype));
    for (int i = 0; i < p->rank; i++)
        text_add(t, "%s%lld", i ? "," : "", (long long)p->dim[i]);
    text_add(t, p->below ? "] <%lld" : "]", (long long)p->below);
}

static void test_shapes(void)
{
    for (int i = 0; i < COUNT(shapes); i++) {
        ts_error e = {0};
        text got = {0};
        ts_port p;
        ts_model *m = rig_model(shapes[i].model, shapes[i].dims, &e);
        for (int k = 0; m && ts_model_input(m, k, &p); k++)
            put_port(&got, &p, k ? ", " : "");
        for (int k = 0; m && ts_model_output(m, k, &p); k++)
            put_port(&got, &p, k ? ", " : " -> ");
        CHECK_TEXT(m ? text_str(&got) : e.text, shapes[i].ports);
        text_free(&got);
        ts_model_free(m);
    }
}

/* The cache that is given says how long it is. */
static void test_past_from_shape(void)
{
    ts_error e = {0};
    ts_port p;
    ts_array given[6];
    for (int i = 0; i < COUNT(given); i++)
        given[i] = (ts_array){.dtype = TS_N_DTYPE};
    given[4] = (ts_array){.dtype = TS_F32, .rank = 4, .dim = {2, 2, 5, 64}};
    ts_model *m = ts_model_open("gpt2-tiny", &e);
    CHECK(ts_model_inputs(m) == COUNT(given));
    if (!CHECK(ts_model_bind(m, 1, (const char *const[]){"seq=1"}, given, &e)))
        printf("%s\n", e.text);
    CHECK(ts_model_input(m, 1, &p) && p.dim[0] == 2 && p.dim[1] == 6);
    ts_model_free(m);
}

/* ---- weights ---- */
typedef struct known {
    const char *model;
    int64_t parameters; /* as published */
    int64_t folded;     /* of these, scales of batch normalisations, which the weights of convolutions have taken in */
} known;

static const known published[] = {
    {"bert-base", 109482240, 0},   {"bert-large", 335141888, 0},
    {"bert-tiny", 4385920, 0},     {"minilm", 22713216 - 147840, 0}, /* without the pooler: no result needs it */
    {"gpt2", 124439808, 0}, /* the output head is the embedding, counted once */
    {"resnet-18", 11689512, 4800}, {"resnet-50", 25557032, 26560},
};

static bool is_weight(const node *n)
{
    return n->leaf && n->leaf->kind == LEAF_WEIGHT;
}

static void test_parameters(void)
{
    for (int i = 0; i < COUNT(published); i++) {
        ts_error e = {0};
        int n = 0;
        int64_t sum = 0;
        ts_model *m = rig_model(published[i].model, "", &e);
        const node **all = m ? rig_nodes(m, &n) : NULL;
        for (int k = 0; k < n; k++)
            sum += is_weight(all[k]) ? type_count(&all[k]->type) : 0;
        if (!CHECK(sum == published[i].parameters - published[i].folded))
            printf("%s: %lld parameters %s\n", published[i].model, (long long)sum, e.text);
        free(all);
        ts_model_free(m);
    }
}

/* Names and seeds are unique; a matrix feeds sums, a vector shifts or scales. */
static void check_weights(const ts_model *m)
{
    int n;
    const node **all = rig_nodes(m, &n);
    for (int i = 0; i < n; i++) {
        if (!is_weight(all[i]))
            continue;
        const leaf *l = all[i]->leaf;
        CHECK(*all[i]->label && l->scale > 0 && l->scale < 2);
        const size_t length = strlen(all[i]->label);
        const bool norm = l->mean != 0;
        CHECK(!norm || (l->mean == 1 && all[i]->type.rank == 1 && !strcmp(all[i]->label + length - 7, ".weight")));
        for (int k = 0; k < i; k++)
            if (is_weight(all[k]))
                CHECK(all[k]->leaf->seed != l->seed && strcmp(all[k]->label, all[i]->label));
    }
    free(all);
}

static void test_every_model(void)
{
    for (int i = 0; ts_builder_at(i); i++) {
        ts_error e = {0};
        const ts_builder *b = ts_builder_at(i);
        ts_model *m = rig_model(b->name, "", &e);
        if (!CHECK(m && *b->doc)) {
            printf("%s: %s\n", b->name, e.text);
            continue;
        }
        check_weights(m);
        if (!CHECK(g_check(ts_model_graph(m), &e)))
            printf("%s: %s\n", b->name, e.text);
        ts_model_free(m);
    }
}

/* The same numbers whatever is bound: a decoder goes on with what the prefill left behind. */
static void test_weights_fixed(void)
{
    int n, k;
    ts_model *a = rig_model("gpt2-tiny", "seq=9", NULL),
             *b = rig_model("gpt2-tiny", "batch=3 seq=1 past=8 last=1", NULL);
    if (!CHECK(a && b))
        return;
    const node **from = rig_nodes(a, &n), **to = rig_nodes(b, &k);
    int found = 0, weights = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k && is_weight(from[i]); j++)
            if (is_weight(to[j]) && !strcmp(from[i]->label, to[j]->label))
                found += CHECK(from[i]->leaf->seed == to[j]->leaf->seed && from[i]->leaf->scale == to[j]->leaf->scale &&
                               type_equal(&from[i]->type, &to[j]->type));
    for (int i = 0; i < n; i++)
        weights += is_weight(from[i]);
    CHECK(weights == 2 + 2 * 12 + 2 && found == weights);
    free(from), free(to);
    ts_model_free(a), ts_model_free(b);
}

static void test_names(void)
{
    static const char *const spelled[][2] = {
        {"bert-base", "embeddings.word_embeddings.weight"},
        {"bert-base", "encoder.layer.11.attention.self.query.weight"},
        {"bert-base", "encoder.layer.0.attention.output.LayerNorm.bias"},
        {"bert-base", "pooler.dense.bias"},
        {"gpt2", "wpe.weight"},
        {"gpt2", "h.11.attn.c_attn.weight"},
        {"gpt2", "ln_f.weight"},
        {"resnet-50", "layer3.5.conv3.weight"},
        {"resnet-50", "layer4.0.downsample.0.bias"},
        {"resnet-18", "fc.weight"},
    };
    for (int i = 0; i < COUNT(spelled); i++) {
        int n = 0, found = 0;
        ts_model *m = rig_model(spelled[i][0], "", NULL);
        const node **all = m ? rig_nodes(m, &n) : NULL;
        for (int k = 0; k < n; k++)
            found += is_weight(all[k]) && !strcmp(all[k]->label, spelled[i][1]);
        if (!CHECK(found == 1))
            printf("%s: %d of %s\n", spelled[i][0], found, spelled[i][1]);
        free(all);
        ts_model_free(m);
    }
}

/* ---- nodes and hashes ---- */
static int nodes_of(const char *model, const char *dims)
{
    ts_tensor root[RIG_RESULTS];
    ts_model *m = rig_model(model, dims, NULL);
    const int n = m ? ts_nodes(rig_results(m, root), root, NULL) : 0;
    ts_model_free(m);
    return n;
}

/* Every layer adds the same nodes; what layers share (masks, scalars) is there once; extents change nothing. */
static void test_nodes(void)
{
    const int tiny = nodes_of("bert-tiny", ""), base = nodes_of("bert-base", ""), large = nodes_of("bert-large", "");
    printf("nodes: bert-tiny %d, bert-base %d, bert-large %d\n", tiny, base, large);
    CHECK(tiny > 0 && (base - tiny) * 12 == (large - base) * 10);
    CHECK(nodes_of("bert-base", "batch=4 seq=33") == base);
    CHECK(nodes_of("gpt2", "seq=5 past=3") ==
          nodes_of("gpt2", "seq=5") + 12 * 4); /* in each layer two inputs, two joined */
    CHECK(nodes_of("gpt2", "last=1") == nodes_of("gpt2", "") + 1);
}

static void hash_of(const char *model, const char *dims, char hex[65])
{
    ts_tensor root[RIG_RESULTS];
    ts_model *m = rig_model(model, dims, NULL);
    hex[0] = '\0';
    if (CHECK(m != NULL))
        ts_hash(rig_results(m, root), root, hex);
    ts_model_free(m);
}

static void test_hashes(void)
{
    char first[65], again[65], other[65];
    for (int i = 0; ts_builder_at(i); i++) {
        const char *dims = ts_builder_at(i)->dims; /* its first dimension: as by default, then another */
        char same[64], changed[64];
        snprintf(same, sizeof same, "%.*s", (int)strcspn(dims, " "), dims);
        const int name = (int)strcspn(dims, "=");
        snprintf(changed, sizeof changed, "%.*s=%d", name, dims, dims[name + 1] == '2' ? 3 : 2);
        hash_of(ts_builder_at(i)->name, "", first);
        hash_of(ts_builder_at(i)->name, same, again);
        hash_of(ts_builder_at(i)->name, changed, other);
        CHECK_TEXT(again, first);
        CHECK(strcmp(first, other));
    }
}

/* ---- refusals ---- */
static void test_refusals(void)
{
    static const char *const wrong[][3] = {
        {"bert-tiny", "seq=513",
         "built-in model bert-tiny: dimension \"seq\" is 513, but must be 1 to 512 (positions of the model)\n"
         "  hint: --dim seq=512"},
        {"bert-tiny", "seq=0",
         "built-in model bert-tiny: dimension \"seq\" is 0, but must be 1 to 512 (positions of the model)\n"
         "  hint: --dim seq=1"},
        {"gpt2", "past=1000 seq=25",
         "built-in model gpt2: dimension \"seq\" is 25, but must be 1 to 24 (positions of the model behind past)\n"
         "  hint: --dim seq=24"},
        {"gpt2", "last=2",
         "built-in model gpt2: dimension \"last\" is 2, but must be 0 to 1 (1: logits of the last position only)\n"
         "  hint: --dim last=1"},
        {"resnet-18", "size=0",
         "built-in model resnet-18: dimension \"size\" is 0, but must be 1 to 32768 (height and width of the images)\n"
         "  hint: --dim size=1"},
        {"products", "layers=5000",
         "built-in model products: dimension \"layers\" is 5000, but must be 0 to 4096 (products in the chain)\n"
         "  hint: --dim layers=4096"},
        {"product-fresh", "right=2",
         "built-in model product-fresh: dimension \"right\" is 2, but must be 0 to 1 (1: b lies transposed)\n"
         "  hint: --dim right=1"},
        {"resnet-18", "batch=2147483647 size=32768",
         NULL}, /* more elements than any machine has: refused by the graph, in its own words */
        {"bert-tiny", "length=9", NULL},
    };
    for (int i = 0; i < COUNT(wrong); i++) {
        ts_error e = {0};
        ts_model *m = rig_model(wrong[i][0], wrong[i][1], &e);
        CHECK(!m && (e.code == TS_BAD_INPUT || e.code == TS_USAGE || e.code == TS_MEMORY));
        if (wrong[i][2])
            CHECK_TEXT(e.text, wrong[i][2]);
        else
            printf("%s %s: %s\n", wrong[i][0], wrong[i][1], e.text);
        ts_model_free(m);
    }
}

/* ---- time ---- */
static double build_seconds(const char *model)
{
    struct timespec a, b;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a); /* of this thread alone, so that neighbours do not count */
    ts_model_free(rig_model(model, "", NULL));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
    return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
}

static void test_time(void)
{
    double best = build_seconds("bert-base");
    for (int i = 0; i < 4; i++) {
        const double t = build_seconds("bert-base");
        best = t < best ? t : best;
    }
    printf("bert-base is built in %.2f ms\n", best * 1e3);
    CHECK(best < 0.05);
}

int main(void)
{
    test_shapes();
    test_past_from_shape();
    test_parameters();
    test_every_model();
    test_weights_fixed();
    test_names();
    test_nodes();
    test_hashes();
    test_refusals();
    test_time();
    return check_done();
}
