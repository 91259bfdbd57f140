"""Files that tf2onnx writes of small functions load and give what ONNX Runtime gives: python3 tf_exports.py TESSERA
WORK [NAME...]. Needs tensorflow, tf2onnx, onnx and onnxruntime. Images lie as TensorFlow has them, channels last."""
import logging
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"], os.environ["CUDA_VISIBLE_DEVICES"] = "3", ""

import numpy as np
import tensorflow as tf
import tf2onnx

from exporters import main

logging.disable(logging.ERROR)
rng = np.random.default_rng(0)
nn = tf.nn


def w(*shape):
    return tf.constant((rng.standard_normal(shape) / np.sqrt(max(shape[:-1], default=1))).astype(np.float32))


def layer_norm(x, scale):
    mean, spread = nn.moments(x, [-1], keepdims=True)
    return nn.batch_normalization(x, mean, spread, None, scale, 1e-5)


def attention(x):
    n = tf.shape(x)[1]
    q, k, v = (tf.transpose(tf.reshape(t, [-1, n, 4, 8]), [0, 2, 1, 3]) for t in tf.split(x @ w(32, 96), 3, -1))
    far = (1 - tf.linalg.band_part(tf.ones([n, n]), -1, 0)) * -1e9
    y = tf.matmul(nn.softmax(tf.matmul(q, k, transpose_b=True) / 8 ** 0.5 + far), v)
    return layer_norm(tf.reshape(tf.transpose(y, [0, 2, 1, 3]), [-1, n, 32]) @ w(32, 32) + x, w(32))


def separable(x):
    y = nn.relu6(nn.depthwise_conv2d(x, w(3, 3, 3, 2), [1, 2, 2, 1], "SAME") + w(6))
    y = nn.conv2d(y, w(1, 1, 6, 8), 1, "VALID")
    y, _, _ = tf.compat.v1.nn.fused_batch_norm(y, w(8), w(8), w(8), w(8) ** 2 + 1, is_training=False)
    return nn.max_pool2d(tf.nn.swish(y), 3, 2, "SAME")


def counted(x):
    return tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, tf.tanh(y) + x), (0, x))[1]


def stepped(x):
    """A recurrence as tf.while_loop and TensorArray have it: a Loop that gathers and scans."""
    steps = tf.shape(x)[1]
    out = tf.TensorArray(tf.float32, size=steps)
    weight = w(32, 32)

    def body(i, h, out):
        h = tf.tanh(x[:, i] + h @ weight)
        return i + 1, h, out.write(i, h)
    return tf.transpose(tf.while_loop(lambda i, h, out: i < steps, body, (0, tf.zeros_like(x[:, 0]), out))[2].stack(),
                        [1, 0, 2])


def functions():
    x, image, ids = (rng.standard_normal(s).astype(np.float32) for s in ((2, 7, 32), (2, 16, 16, 3), (2, 7)))
    ids = (ids * 10).astype(np.int32) % 50
    layers = tf.keras.layers
    one, two = layers.LSTM(12, return_sequences=True), layers.Bidirectional(layers.GRU(12))
    yield "mlp", lambda x: nn.softmax(nn.gelu(x @ w(32, 48) + w(48), approximate=True) @ w(48, 8)), (x,)
    yield "cnn", lambda x: nn.avg_pool2d(nn.leaky_relu(nn.conv2d(x, w(3, 3, 3, 8), 2, "SAME") + w(8)), 2, 2,
                                         "VALID"), (image,)
    yield "separable", separable, (image,)
    yield "dilated", lambda x: nn.elu(nn.conv2d(x, w(3, 3, 3, 4), 1, "SAME", dilations=2)), (image,)
    yield "unet", lambda x: nn.conv2d_transpose(
        tf.image.resize(nn.conv2d(x, w(3, 3, 3, 6), 2, "SAME"), [16, 16]), w(2, 2, 4, 6), [2, 32, 32, 4], 2), (image,)
    yield "nearest", lambda x: tf.image.resize(x, [8, 24], method="nearest") * 2 + tf.pad(
        x, [[0, 0], [1, 1], [2, 2], [0, 0]], "REFLECT")[:, :8, :1], (image,)
    yield "blocks", lambda x: tf.nn.depth_to_space(tf.nn.space_to_depth(x, 4), 2), (image,)
    yield "attention", attention, (x,)
    yield "words", lambda i: tf.reduce_mean(tf.gather(w(50, 16), i), 1) @ w(16, 3), (ids,)
    yield "one hot", lambda i: tf.math.segment_sum(tf.reshape(tf.one_hot(i, 50), [14, 50]),
                                                   np.arange(14) // 4), (ids,)
    yield "lstm", lambda x: one(x), (x,)
    yield "gru", lambda x: two(x), (x,)
    yield "counted", counted, (x,)
    yield "stepped", stepped, (x,)
    yield "choice", lambda x: tf.where(x > 0, tf.cast(tf.argsort(x), tf.float32), tf.cumsum(x, 1, reverse=True)), (x,)
    yield "top", lambda x: nn.top_k(tf.concat([x, tf.reverse(x, [2])], 1), 3)[0], (x,)
    yield "slices", lambda x: tf.stack([x[:, ::2, 1:-1:3][:, 0], x[:, -1, tf.newaxis, 3:13][:, 0]], 1), (x,)
    yield "einsum", lambda x: tf.norm(tf.einsum("bik,bjk->bij", x, x), axis=1), (x,)
    yield "updates", lambda x: tf.tensor_scatter_nd_update(x, [[0, 1], [1, 3]], x[:, 0] * 3), (x,)
    yield "l2", lambda x: tf.math.l2_normalize(x, -1) + tf.math.reduce_logsumexp(x, 1, keepdims=True), (x,)


def export(f, inputs, to, free):
    names = [f"in{i}" for i in range(len(inputs))]
    specs = [tf.TensorSpec([None, *t.shape[1:]] if free else t.shape, t.dtype, name=n) for n, t in zip(names, inputs)]
    tf2onnx.convert.from_function(tf.function(f), specs, opset=17, output_path=to)


if __name__ == "__main__":
    sys.exit(main(functions(), {"every extent": lambda *more: export(*more, False),
                                "free batch": lambda *more: export(*more, True)}))
