/* bert.c - encoders of the BERT family (Devlin et al. 2018): every position sees every other one that is not padding,
 * and each sum is normalised after it was formed. Inputs, results and weights are named as exports to ONNX
 * name them. */
#include "models/parts/transformer.h"

#include <stddef.h>

typedef struct bert {
    int64_t vocabulary, positions, types;
    int layers, heads;
    int64_t width, inner;
    bool pooler; /* also give the first position through a dense layer and tanh */
} bert;

static const double epsilon = 1e-12;

/* ids, types [b, s] -> [b, s, width] */
static ts_tensor embeddings(maker *mk, const bert *b, ts_tensor ids, ts_tensor types)
{
    maker_enter(mk, "embeddings.");
    ts_tensor words = layer_table(mk, b->vocabulary, b->width, 0.05, "word_embeddings");     /* [vocabulary, width] */
    ts_tensor places = layer_table(mk, b->positions, b->width, 0.05, "position_embeddings"); /* [positions, width] */
    ts_tensor kinds = layer_table(mk, b->types, b->width, 0.05, "token_type_embeddings");    /* [types, width] */
    ts_tensor x = ts_call2(mk->g, "add", ts_call2(mk->g, "gather", words, ids),              /* [b, s, width] */
                           ts_call2(mk->g, "gather", kinds, types));
    x = ts_call2(mk->g, "add", x, transformer_places(mk, places, 0, maker_extent(ids, 1)));
    return layer_norm(mk, x, epsilon, "LayerNorm");
}

/* x[b, s, width], mask[b, 1, 1, s] -> [b, s, width] */
static ts_tensor encoder(maker *mk, const bert *b, ts_tensor x, ts_tensor mask)
{
    const double gain = layer_branch(2 * b->layers);
    ts_tensor query = transformer_split(mk, layer_dense(mk, x, b->width, 1, "attention.self.query"),
                                        b->heads); /* [b, h, s, d] */
    ts_tensor key = transformer_split(mk, layer_dense(mk, x, b->width, 1, "attention.self.key"),
                                      b->heads); /* [b, h, s, d] */
    ts_tensor value = transformer_split(mk, layer_dense(mk, x, b->width, 1, "attention.self.value"),
                                        b->heads);                                                 /* [b, h, s, d] */
    ts_tensor seen = ts_call(mk->g, "attention", 4, (const ts_tensor[]){query, key, value, mask}); /* [b, h, s, d] */
    maker_named(mk, seen, "attention.self");
    seen = layer_dense(mk, transformer_merge(mk, seen), b->width, gain, "attention.output.dense"); /* [b, s, width] */
    x = layer_norm(mk, ts_call2(mk->g, "add", seen, x), epsilon, "attention.output.LayerNorm");
    const feed f = {b->inner, gain, "gelu", "intermediate.dense", "output.dense"};
    return layer_norm(mk, ts_call2(mk->g, "add", transformer_feed(mk, x, &f), x), epsilon, "output.LayerNorm");
}

/* x[b, s, width] -> [b, width] */
static ts_tensor pooler(maker *mk, ts_tensor x)
{
    maker_enter(mk, "pooler.");
    const int64_t batch = maker_extent(x, 0), width = maker_extent(x, 2);
    ts_tensor first = maker_call(mk->g, 1, &x, "slice starts=[0,0,0] sizes=[%lld,1,%lld]", (long long)batch,
                                 (long long)width); /* [b, 1, width] */
    first = maker_call(mk->g, 1, &first, "reshape shape=[%lld,%lld]", (long long)batch,
                       (long long)width); /* [b, width] */
    return ts_call1(mk->g, "tanh", layer_dense(mk, first, width, 1, "dense"));
}

static bool build(ts_model *m, ts_graph *g, ts_error *e, const bert *b)
{
    maker mk = {.g = g};
    if (!maker_within(m, "batch", 0, INT32_MAX, "sentences", e) ||
        !maker_within(m, "seq", 1, b->positions, "positions of the model", e))
        return false;
    const int64_t dim[] = {ts_dim(m, "batch"), ts_dim(m, "seq")};
    ts_tensor ids = ts_input(g, "input_ids", TS_I64, 2, dim);        /* [b, s] */
    ts_tensor mask = ts_input(g, "attention_mask", TS_I64, 2, dim);  /* [b, s] */
    ts_tensor types = ts_input(g, "token_type_ids", TS_I64, 2, dim); /* [b, s] */
    ts_tensor x = embeddings(&mk, b, ids, types);                    /* [b, s, width] */
    ts_tensor added = transformer_mask(&mk, mask);                   /* [b, 1, 1, s] */
    for (int i = 0; i < b->layers; i++) {
        maker_enter(&mk, "encoder.layer.%d.", i);
        x = encoder(&mk, b, x, added);
    }
    ts_tensor pooled = b->pooler ? pooler(&mk, x) : NULL; /* [b, width] */
    if (!ts_graph_ok(g, e))
        return false;
    ts_below(m, ids, b->vocabulary), ts_below(m, mask, 2), ts_below(m, types, b->types);
    ts_result(m, "last_hidden_state", x);
    if (pooled)
        ts_result(m, "pooler_output", pooled);
    return true;
}

static bool build_base(ts_model *m, ts_graph *g, ts_error *e)
{
    return build(m, g, e, &(bert){30522, 512, 2, 12, 12, 768, 3072, true});
}

static bool build_base_2(ts_model *m, ts_graph *g, ts_error *e)
{
    return build(m, g, e, &(bert){30522, 512, 2, 2, 12, 768, 3072, true});
}

static bool build_large(ts_model *m, ts_graph *g, ts_error *e)
{
    return build(m, g, e, &(bert){30522, 512, 2, 24, 16, 1024, 4096, true});
}

static bool build_minilm(ts_model *m, ts_graph *g, ts_error *e)
{
    return build(m, g, e, &(bert){30522, 512, 2, 6, 12, 384, 1536, false});
}

static bool build_tiny(ts_model *m, ts_graph *g, ts_error *e)
{
    return build(m, g, e, &(bert){30522, 512, 2, 2, 2, 128, 512, true});
}

const ts_builder builders_bert[] = {
    {"bert-base", "BERT, 12 layers of width 768: 109 million weights", "batch=1 seq=128", build_base},
    {"bert-base-2", "BERT, the first 2 layers of width 768: 39 million weights", "batch=1 seq=128", build_base_2},
    {"bert-large", "BERT, 24 layers of width 1024: 335 million weights", "batch=1 seq=128", build_large},
    {"bert-tiny", "BERT, 2 layers of width 128: 4 million weights", "batch=1 seq=128", build_tiny},
    {"minilm", "BERT as a sentence encoder, 6 layers of width 384: 23 million weights", "batch=1 seq=128",
     build_minilm},
    {0}};
