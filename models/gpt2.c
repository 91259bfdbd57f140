/* gpt2.c - GPT-2 (Radford et al. 2019): every position sees itself and those before it, and what enters a layer is
 * normalised first. The keys and values of earlier positions come in as past.N.key and past.N.value [b, h, past, d],
 * without elements at past=0; those of all positions go out as present.N.key and present.N.value [b, h, past + seq, d],
 * so that generation goes on where a run ended. Weights are named as in checkpoints; the output head is
 * the embedding. */
#include "models/parts/transformer.h"

#include <stdio.h>

enum { MOST_LAYERS = 12 };

typedef struct gpt2 {
    int64_t vocabulary, positions;
    int layers, heads;
    int64_t width, inner;
} gpt2;

typedef struct cache {             /* keys and values of one layer: what was, and what will be */
    ts_tensor past[2], present[2]; /* [b, h, past, d], [b, h, past + s, d] */
} cache;

static const double epsilon = 1e-5;
static const char *const kept[] = {"key", "value"};

/* [b, h, past, d], [b, h, s, d] -> [b, h, past + s, d] */
static ts_tensor behind(maker *mk, ts_tensor past, ts_tensor now)
{
    return maker_extent(past, 2) > 0 ? ts_call2(mk->g, "concat axis=2", past, now) : now;
}

/* x[b, s, width], mask[b, 1, 1, past + s] -> what the positions see, [b, s, width] */
static ts_tensor attend(maker *mk, const gpt2 *c, ts_tensor x, ts_tensor mask, cache *own)
{
    ts_tensor all = layer_dense(mk, x, 3 * c->width, 1, "attn.c_attn"), part[3]; /* [b, s, 3 * width] */
    for (int i = 0; i < 3; i++)
        /* q, k, v: [b, h, s, d] */
        part[i] = transformer_split(mk, maker_call(mk->g, 1, &all, "split axis=-1 parts=3 part=%d", i), c->heads);
    for (int i = 0; i < 2; i++)
        own->present[i] = behind(mk, own->past[i], part[i + 1]); /* [b, h, past + s, d] */
    const ts_tensor in[] = {part[0], own->present[0], own->present[1], mask};
    ts_tensor seen = maker_named(mk, ts_call(mk->g, "attention causal=1", 4, in), "attn"); /* [b, h, s, d] */
    seen = transformer_merge(mk, seen);                                                    /* [b, s, width] */
    return layer_dense(mk, seen, c->width, layer_branch(2 * c->layers), "attn.c_proj");
}

/* x[b, s, width], mask[b, 1, 1, past + s] -> [b, s, width] */
static ts_tensor block(maker *mk, const gpt2 *c, ts_tensor x, ts_tensor mask, cache *own)
{
    const feed f = {c->inner, layer_branch(2 * c->layers), "gelu approximate=tanh", "mlp.c_fc", "mlp.c_proj"};
    x = ts_call2(mk->g, "add", x, attend(mk, c, layer_norm(mk, x, epsilon, "ln_1"), mask, own));
    return ts_call2(mk->g, "add", x, transformer_feed(mk, layer_norm(mk, x, epsilon, "ln_2"), &f));
}

static void cache_inputs(maker *mk, const gpt2 *c, int64_t batch, int64_t past, cache *all)
{
    const int64_t dim[] = {batch, c->heads, past, c->width / c->heads}; /* [b, h, past, d] */
    for (int i = 0; i < 2 * c->layers; i++) {
        char name[32];
        snprintf(name, sizeof name, "past.%d.%s", i / 2, kept[i % 2]);
        all[i / 2].past[i % 2] = ts_input(mk->g, name, TS_F32, 4, dim);
    }
}

/* The last position of x[b, s, width], as [b, 1, width] */
static ts_tensor last_of(maker *mk, ts_tensor x)
{
    return maker_call(mk->g, 1, &x, "slice starts=[0,%lld,0] sizes=[%lld,1,%lld]", (long long)maker_extent(x, 1) - 1,
                      (long long)maker_extent(x, 0), (long long)maker_extent(x, 2));
}

static void name_results(ts_model *m, const gpt2 *c, ts_tensor logits, const cache *all)
{
    ts_result(m, "logits", logits);
    for (int i = 0; i < 2 * c->layers; i++) {
        char name[32];
        snprintf(name, sizeof name, "present.%d.%s", i / 2, kept[i % 2]);
        ts_result(m, name, all[i / 2].present[i % 2]);
    }
}

static bool dims_fit(const ts_model *m, const gpt2 *c, ts_error *e)
{
    return maker_within(m, "batch", 0, INT32_MAX, "sequences", e) &&
           maker_within(m, "past", 0, c->positions - 1, "positions seen before", e) &&
           maker_within(m, "seq", 1, c->positions - ts_dim(m, "past"), "positions of the model behind past", e) &&
           maker_within(m, "last", 0, 1, "1: logits of the last position only", e);
}

static bool build(ts_model *m, ts_graph *g, ts_error *e, const gpt2 *c)
{
    if (!dims_fit(m, c, e))
        return false;
    maker mk = {.g = g};
    cache all[MOST_LAYERS] = {0};
    const int64_t batch = ts_dim(m, "batch"), seq = ts_dim(m, "seq"), past = ts_dim(m, "past");
    ts_tensor ids = ts_input(g, "input_ids", TS_I64, 2, (const int64_t[]){batch, seq});              /* [b, s] */
    ts_tensor mask = ts_input(g, "attention_mask", TS_I64, 2, (const int64_t[]){batch, past + seq}); /* [b, past + s] */
    cache_inputs(&mk, c, batch, past, all);
    ts_tensor words = layer_table(&mk, c->vocabulary, c->width, 0.2, "wte"); /* [vocabulary, width] */
    ts_tensor places = layer_table(&mk, c->positions, c->width, 0.1, "wpe"); /* [positions, width] */
    ts_tensor x = ts_call2(g, "gather", words, ids);                         /* [b, s, width] */
    ts_tensor added = transformer_mask(&mk, mask);                           /* [b, 1, 1, past + s] */
    x = ts_call2(g, "add", x, transformer_places(&mk, places, past, seq));
    for (int i = 0; i < c->layers; i++) {
        maker_enter(&mk, "h.%d.", i);
        x = block(&mk, c, x, added, &all[i]);
    }
    maker_leave(&mk);
    x = layer_norm(&mk, ts_dim(m, "last") ? last_of(&mk, x) : x, epsilon, "ln_f");
    /* [b, s, vocabulary]: words again are the weights of the last layer */
    ts_tensor logits = ts_call2(g, "matmul", x, ts_call1(g, "transpose", words)); /* [b, s, vocabulary] */
    if (!ts_graph_ok(g, e))
        return false;
    ts_below(m, ids, c->vocabulary), ts_below(m, mask, 2);
    name_results(m, c, logits, all);
    return true;
}

static bool build_small(ts_model *m, ts_graph *g, ts_error *e)
{
    return build(m, g, e, &(gpt2){50257, 1024, 12, 12, 768, 3072});
}

static bool build_tiny(ts_model *m, ts_graph *g, ts_error *e)
{
    return build(m, g, e, &(gpt2){1024, 128, 2, 2, 128, 512});
}

const ts_builder builders_gpt2[] = {
    {"gpt2", "GPT-2, 12 layers of width 768: 124 million weights; past=N continues a run, last=1: one row of logits",
     "batch=1 seq=128 past=0 last=0", build_small},
    {"gpt2-tiny", "GPT-2, 2 layers of width 128", "batch=1 seq=16 past=0 last=0", build_tiny},
    {0}};
