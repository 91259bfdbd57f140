/* vae.c - the decoder of a variational autoencoder, which turns the latents of Stable Diffusion into pictures (Kingma
 * and Welling 2013; Rombach et al. 2022): residual blocks with group normalisation, one block of attention over all
 * places, and three times the height and width. latents[n, 4, size, size] -> sample[n, 3, 8 size, 8 size]; weights have
 * the names of AutoencoderKL. */
#include "models/parts/layer.h"

enum { LEVELS = 4 };

typedef struct vae {
    int channels[LEVELS]; /* of each level, the first one behind the latents */
    int blocks, groups;   /* residual blocks of a level; groups of channels that share a mean */
} vae;

static const double before_silu = 1.6; /* about what makes up for the mean square that a silu takes */

/* x[n, c, h, w], scale and bias [c] -> [n, c, h, w]; a mean for each of n and of the groups of channels */
static ts_tensor group_norm(maker *mk, const vae *v, ts_tensor x, const char *name)
{
    const int64_t width = maker_extent(x, 1);
    ts_tensor scale = maker_weight(mk, name, ".weight", 1, &width, 1, 0.25); /* [c] */
    ts_tensor bias = maker_weight(mk, name, ".bias", 1, &width, 0, 0.05);    /* [c] */
    return maker_call(mk->g, 3, (const ts_tensor[]){x, scale, bias}, "group_norm groups=%d epsilon=1e-6", v->groups);
}

static ts_tensor silu(maker *mk, ts_tensor x) /* of any shape */
{
    return ts_call1(mk->g, "silu", x);
}

static double last_gain(const vae *v)
{
    return layer_branch(LEVELS * v->blocks + 3);
}

/* x + conv(silu(norm(conv(silu(norm(x)))))), x through a convolution of its own where the width changes */
static ts_tensor residual(maker *mk, const vae *v, ts_tensor x, int out) /* x[n, c, h, w] -> [n, out, h, w] */
{
    ts_tensor y = silu(mk, group_norm(mk, v, x, "norm1")); /* [n, c, h, w] */
    y = silu(mk, group_norm(mk, v, layer_conv(mk, y, (conv){out, 3, 1, before_silu}, "conv1"),
                            "norm2")); /* [n, out, h, w] */
    y = layer_conv(mk, y, (conv){out, 3, 1, last_gain(v)}, "conv2");
    if (maker_extent(x, 1) != out)
        x = layer_conv(mk, x, (conv){out, 1, 1, 1}, "conv_shortcut");
    return ts_call2(mk->g, "add", x, y);
}

/* One head over all places: [n, c, h, w] as [n, h w, c]. */
static ts_tensor attend(maker *mk, const vae *v, ts_tensor x)
{
    const long long n = maker_extent(x, 0), c = maker_extent(x, 1), h = maker_extent(x, 2), w = maker_extent(x, 3);
    ts_tensor y = group_norm(mk, v, x, "group_norm");                                               /* [n, c, h, w] */
    y = maker_call(mk->g, 1, &y, "reshape shape=[%lld,%lld,%lld]", n, c, h * w);                    /* [n, c, h w] */
    y = ts_call1(mk->g, "transpose axes=[0,2,1]", y);                                               /* [n, h w, c] */
    ts_tensor q = layer_dense(mk, y, (int)c, 1, "to_q"), k = layer_dense(mk, y, (int)c, 1, "to_k"); /* [n, h w, c] */
    ts_tensor all[] = {q, k, layer_dense(mk, y, (int)c, 1, "to_v")}; /* each [n, h w, c] */
    y = maker_named(mk, ts_call(mk->g, "attention", 3, all), "attention");
    y = layer_dense(mk, y, (int)c, last_gain(v), "to_out.0"); /* [n, h w, c] */
    y = ts_call1(mk->g, "transpose axes=[0,2,1]", y);         /* [n, c, h w] */
    return ts_call2(mk->g, "add", x, maker_call(mk->g, 1, &y, "reshape shape=[%lld,%lld,%lld,%lld]", n, c, h, w));
}

/* x[n, c, h, w] -> [n, c, 2 h, 2 w], every element four times, and a convolution */
static ts_tensor enlarged(maker *mk, ts_tensor x)
{
    const long long h = maker_extent(x, 2), w = maker_extent(x, 3);
    x = maker_call(mk->g, 1, &x, "stretch axis=2 size=%lld", 2 * h); /* [n, c, 2 h, w] */
    x = maker_call(mk->g, 1, &x, "stretch axis=3 size=%lld", 2 * w); /* [n, c, 2 h, 2 w] */
    return layer_conv(mk, x, (conv){(int)maker_extent(x, 1), 3, 1, 1}, "upsamplers.0.conv");
}

static ts_tensor decode(maker *mk, const vae *v, ts_tensor x) /* latents [n, 4, h, w] -> [n, 3, 8 h, 8 w] */
{
    maker_leave(mk);
    x = layer_conv(mk, x, (conv){4, 1, 1, 1}, "post_quant_conv"); /* [n, 4, h, w] */
    maker_enter(mk, "decoder.");
    x = layer_conv(mk, x, (conv){v->channels[0], 3, 1, 1}, "conv_in"); /* [n, 512, h, w] */
    maker_enter(mk, "decoder.mid_block.resnets.0.");
    x = residual(mk, v, x, v->channels[0]);
    maker_enter(mk, "decoder.mid_block.attentions.0.");
    x = attend(mk, v, x);
    maker_enter(mk, "decoder.mid_block.resnets.1.");
    x = residual(mk, v, x, v->channels[0]);
    for (int level = 0; level < LEVELS; level++) {
        for (int i = 0; i < v->blocks; i++) {
            maker_enter(mk, "decoder.up_blocks.%d.resnets.%d.", level, i);
            x = residual(mk, v, x, v->channels[level]);
        }
        maker_enter(mk, "decoder.up_blocks.%d.", level);
        x = level + 1 < LEVELS ? enlarged(mk, x) : x; /* twice the height and width, but for the last level */
    }
    maker_enter(mk, "decoder.");
    x = silu(mk, group_norm(mk, v, x, "conv_norm_out"));
    return layer_conv(mk, x, (conv){3, 3, 1, before_silu}, "conv_out"); /* three colours */
}

static bool build(ts_model *m, ts_graph *g, ts_error *e, const vae *v)
{
    if (!maker_within(m, "batch", 0, INT32_MAX, "latents", e) ||
        !maker_within(m, "size", 1, 1 << 10, "height and width of the latents", e))
        return false;
    maker mk = {.g = g};
    const int64_t size = ts_dim(m, "size"), dim[] = {ts_dim(m, "batch"), 4, size, size};
    ts_tensor y = decode(&mk, v, ts_input(g, "latents", TS_F32, 4, dim)); /* [n, 3, 8 size, 8 size] */
    if (!ts_graph_ok(g, e))
        return false;
    ts_result(m, "sample", y);
    return true;
}

static bool build_decoder(ts_model *m, ts_graph *g, ts_error *e)
{
    return build(m, g, e, &(vae){{512, 512, 256, 128}, 3, 32});
}

static bool build_tiny(ts_model *m, ts_graph *g, ts_error *e)
{
    return build(m, g, e, &(vae){{16, 16, 8, 8}, 2, 4});
}

const ts_builder builders_vae[] = {{"vae-decoder",
                                    "Stable Diffusion's decoder from latents to pictures: 49 million weights",
                                    "batch=1 size=32", build_decoder},
                                   {"vae-tiny", "The same blocks, 8 and 16 wide", "batch=1 size=4", build_tiny},
                                   {0}};
