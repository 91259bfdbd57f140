/* resnet.c - residual networks for images (He et al. 2015; where a bottleneck halves the image its 3x3 convolution
 * does, which is called v1.5). Batch normalisation is folded into each convolution's weight and bias, as exports for
 * inference have it. x[n, 3, size, size] -> y[n, classes]. */
#include "models/parts/layer.h"

#include <math.h>

enum { STAGES = 4 };

typedef struct resnet {
    bool bottleneck; /* 1x1, 3x3, 1x1 to four times the width; else 3x3, 3x3 */
    int blocks[STAGES];
    int width, classes; /* of the first stage; each later one doubles it */
} resnet;

static const double before_relu = M_SQRT2; /* a relu keeps half of the mean square */

static ts_tensor relu(maker *mk, ts_tensor x) /* of any shape */
{
    return ts_call1(mk->g, "relu", x);
}

static double last_gain(const resnet *r)
{
    int branches = 0;
    for (int s = 0; s < STAGES; s++)
        branches += r->blocks[s];
    return layer_branch(branches);
}

/* x[n, c, h, w] -> [n, out, h / stride, w / stride] */
static ts_tensor branch(maker *mk, const resnet *r, ts_tensor x, int width, int stride)
{
    const double last = last_gain(r);
    if (!r->bottleneck) {
        x = relu(mk, layer_conv(mk, x, (conv){width, 3, stride, before_relu}, "conv1"));
        return layer_conv(mk, x, (conv){width, 3, 1, last}, "conv2");
    }
    x = relu(mk, layer_conv(mk, x, (conv){width, 1, 1, before_relu}, "conv1"));
    x = relu(mk, layer_conv(mk, x, (conv){width, 3, stride, before_relu}, "conv2"));
    return layer_conv(mk, x, (conv){4 * width, 1, 1, last}, "conv3");
}

/* The same, and x itself added: by a convolution of 1x1 where the shapes differ. */
static ts_tensor block(maker *mk, const resnet *r, ts_tensor x, int width, int stride)
{
    const int out = r->bottleneck ? 4 * width : width;
    ts_tensor y = branch(mk, r, x, width, stride); /* [n, out, h / stride, w / stride] */
    if (stride != 1 || maker_extent(x, 1) != out)
        x = layer_conv(mk, x, (conv){out, 1, stride, 1}, "downsample.0");
    return relu(mk, ts_call2(mk->g, "add", y, x));
}

static bool build(ts_model *m, ts_graph *g, ts_error *e, const resnet *r)
{
    if (!maker_within(m, "batch", 0, INT32_MAX, "images", e) ||
        !maker_within(m, "size", 1, 1 << 15, "height and width of the images", e))
        return false;
    maker mk = {.g = g};
    const int64_t batch = ts_dim(m, "batch"), size = ts_dim(m, "size");
    ts_tensor input = ts_input(g, "x", TS_F32, 4, (const int64_t[]){batch, 3, size, size}); /* [n, 3, size, size] */
    ts_tensor x = relu(
        &mk, layer_conv(&mk, input, (conv){r->width, 7, 2, before_relu}, "conv1")); /* [n, width, size / 2, size / 2] */
    x = ts_call1(g, "max_pool kernel=[3,3] strides=[2,2] pads=[1,1,1,1]", x);       /* [n, width, size / 4, size / 4] */
    for (int s = 0; s < STAGES; s++)
        for (int i = 0; i < r->blocks[s]; i++) {
            maker_enter(&mk, "layer%d.%d.", s + 1, i);
            /* each stage but the first halves height and width */
            x = block(&mk, r, x, r->width << s, s > 0 && i == 0 ? 2 : 1);
        }
    maker_leave(&mk);
    ts_tensor y = layer_dense(&mk, ts_call1(g, "mean axes=[2,3]", x), r->classes, 1, "fc"); /* [n, classes] */
    if (!ts_graph_ok(g, e))
        return false;
    ts_result(m, "y", y);
    return true;
}

static bool build_18(ts_model *m, ts_graph *g, ts_error *e)
{
    return build(m, g, e, &(resnet){false, {2, 2, 2, 2}, 64, 1000});
}

static bool build_50(ts_model *m, ts_graph *g, ts_error *e)
{
    return build(m, g, e, &(resnet){true, {3, 4, 6, 3}, 64, 1000});
}

static bool build_tiny(ts_model *m, ts_graph *g, ts_error *e)
{
    return build(m, g, e, &(resnet){true, {1, 2, 1, 1}, 8, 10});
}

const ts_builder builders_resnet[] = {
    {"resnet-18", "ResNet of 18 layers, batch normalisation folded: 12 million weights", "batch=1 size=224", build_18},
    {"resnet-50", "ResNet of 50 layers (v1.5), batch normalisation folded: 26 million weights", "batch=1 size=224",
     build_50},
    {"resnet-tiny", "ResNet with the blocks of resnet-50, 8 to 64 wide", "batch=1 size=32", build_tiny},
    {0}};
