"""Fifteen small models as exporters write them: name -> (model, what a run needs). Needs onnx and numpy."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper, shape_inference


class Graph:
    """Nodes and weights one after the other; g("Relu", x) gives the name of a result."""

    def __init__(self, seed):
        self.rng, self.nodes, self.weights, self.inputs, self.feeds = np.random.default_rng(seed), [], [], [], {}

    def weight(self, *shape, scale=None, value=None):
        if value is None:
            value = self.rng.standard_normal(shape) * (scale or 1 / np.sqrt(max(1, shape[-2] if len(shape) > 1 else 1)))
        value = np.asarray(value, np.float32 if not isinstance(value, np.ndarray) or value.dtype.kind == "f" else None)
        self.weights.append(numpy_helper.from_array(value, f"w{len(self.weights)}"))
        return self.weights[-1].name

    def ints(self, *values):
        return self.weight(value=np.array(values, np.int64))

    def number(self, value):
        return self.weight(value=np.array(value, np.float32))

    def input(self, name, value, dims=None):
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype),
                                                         dims or value.shape))
        self.feeds[name] = value
        return name

    def __call__(self, kind, *operands, n=1, **attributes):
        outs = [f"v{len(self.nodes)}_{i}" for i in range(n)]
        self.nodes.append(helper.make_node(kind, operands, outs, name=f"{kind}_{len(self.nodes)}", **attributes))
        return outs[0] if n == 1 else outs

    def model(self, y, opset=17):
        self.nodes.append(helper.make_node("Identity", [y], ["y"], name="out"))
        graph = helper.make_graph(self.nodes, "model", self.inputs,
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], self.weights)
        m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        m.graph.output[0].CopyFrom(shape_inference.infer_shapes(m, data_prop=True).graph.output[0])
        return m, self.feeds

    # ---- what networks are made of ----
    def linear(self, x, n, m, bias=True):
        y = self("MatMul", x, self.weight(n, m))
        return self("Add", self.weight(m), y) if bias else y

    def norm(self, x, n):
        """As exporters before opset 17 write it."""
        away = self("Sub", x, self("ReduceMean", x, axes=[-1]))
        spread = self("ReduceMean", self("Pow", away, self.number(2)), axes=[-1])
        y = self("Div", away, self("Sqrt", self("Add", spread, self.number(1e-5))))
        return self("Add", self("Mul", y, self.weight(n, scale=1)), self.weight(n))

    def gelu(self, x):
        y = self("Add", self("Erf", self("Div", x, self.number(2 ** 0.5))), self.number(1))
        return self("Mul", self("Mul", x, y), self.number(0.5))

    def tanh_gelu(self, x):
        cube = self("Mul", self("Pow", x, self.number(3)), self.number(0.044715))
        y = self("Tanh", self("Mul", self("Add", x, cube), self.number((2 / np.pi) ** 0.5)))
        return self("Mul", self("Mul", x, self.number(0.5)), self("Add", y, self.number(1)))

    def heads(self, x, n, time, width):
        return self("Transpose", self("Reshape", x, self.ints(0, time, n, width)), perm=[0, 2, 1, 3])

    def attention(self, x, time, size, n, mask=None):
        q, k, v = (self.heads(self.linear(x, size, size), n, time, size // n) for _ in range(3))
        scores = self("Div", self("MatMul", q, self("Transpose", k, perm=[0, 1, 3, 2])),
                      self.number((size // n) ** 0.5))
        scores = self("Add", scores, mask) if mask else scores
        y = self("Transpose", self("MatMul", self("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        return self.linear(self("Reshape", y, self.ints(0, time, size)), size, size)

    def conv(self, x, n, m, kernel=3, stride=1, group=1, norm=True, relu="Relu"):
        x = self("Conv", x, self.weight(m, n // group, kernel, kernel, scale=1 / np.sqrt(n // group * kernel * kernel)),
                 pads=[kernel // 2] * 4, strides=[stride] * 2, kernel_shape=[kernel] * 2, group=group)
        if norm:
            x = self("BatchNormalization", x, self.weight(value=self.rng.uniform(0.5, 1.5, m)), self.weight(m),
                     self.weight(m), self.weight(value=self.rng.uniform(0.5, 1.5, m)))
        return self(relu, x) if relu else x

    def classes(self, x, n, m):
        return self("Gemm", self("Flatten", self("GlobalAveragePool", x)), self.weight(m, n), self.weight(m), transB=1)


def image(g, channels=8, size=12):
    return g.input("x", g.rng.standard_normal((2, channels, size, size)).astype(np.float32), ["batch", channels, size,
                                                                                              size])


def mlp(g):
    x = g.input("x", g.rng.standard_normal((3, 24)).astype(np.float32), ["batch", 24])
    for n, m in ((24, 32), (32, 32)):
        x = g("Relu", g("Gemm", x, g.weight(m, n), g.weight(m), transB=1))
    return g("Softmax", g("Gemm", x, g.weight(5, 32), g.weight(5), transB=1), axis=-1)


def convolutions(g):
    x = g("MaxPool", g.conv(image(g, 3), 3, 16), kernel_shape=[2, 2], strides=[2, 2])
    x = g("AveragePool", g.conv(x, 16, 16, relu="Sigmoid"), kernel_shape=[2, 2], strides=[2, 2])
    return g.classes(x, 16, 5)


def residual(g):
    x = g.conv(image(g, 16), 16, 16)
    y = g.conv(g.conv(x, 16, 16), 16, 16, relu=None)
    x = g("Relu", g("Add", y, x))
    y = g.conv(g.conv(x, 16, 32, stride=2), 32, 32, relu=None)
    return g.classes(g("Relu", g("Add", y, g.conv(x, 16, 32, 1, 2, relu=None))), 32, 5)


def depthwise(g):
    x = g.conv(image(g), 8, 24, 1, relu=None)
    x = g("Clip", g.conv(x, 24, 24, group=24, relu=None), g.number(0), g.number(6))
    x = g("HardSwish", g.conv(x, 24, 16, 1, relu=None))
    x = g("LeakyRelu", g.conv(x, 16, 16, group=16, stride=2, relu=None), alpha=0.1)
    return g.classes(g("Concat", x, g("Mul", x, g("Sigmoid", x)), axis=1), 32, 5)


def upsample(g):
    x = g.conv(image(g), 8, 8)
    y = g.conv(g("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), 8, 16)
    z = g("Resize", y, "", g.weight(value=np.array([1, 1, 2, 2], np.float32)), mode="nearest",
          coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    t = g("ConvTranspose", y, g.weight(16, 8, 2, 2), g.weight(8), strides=[2, 2], kernel_shape=[2, 2])
    return g.conv(g("Concat", x, z, t, axis=1), 32, 4, norm=False, relu=None)


def tokens(g, time=8, rows=20):
    return g.input("ids", g.rng.integers(0, rows, (2, time)), ["batch", time])


def embedded(g, ids, size, time=8, segments=None):
    x = g("Gather", g.weight(20, size, scale=1), ids)
    x = g("Add", x, g("Gather", g.weight(2, size, scale=1), segments)) if segments else x
    return g("Add", x, g("Gather", g.weight(16, size, scale=1), g.weight(value=np.arange(time)[None])))


def bert(g):
    size, time = 32, 8
    ids, kinds = tokens(g), g.input("kinds", g.rng.integers(0, 2, (2, time)), ["batch", time])
    mask = g.input("mask", np.array([[1] * 8, [1] * 5 + [0] * 3]), ["batch", time])
    far = g("Cast", g("Unsqueeze", mask, g.ints(1, 2)), to=TensorProto.FLOAT)
    far = g("Mul", g("Sub", g.number(1), far), g.number(-10000))
    x = g.norm(embedded(g, ids, size, segments=kinds), size)
    for _ in range(2):
        x = g.norm(g("Add", g.attention(x, time, size, 4, far), x), size)
        y = g.linear(g.gelu(g.linear(x, size, 64)), 64, size)
        x = g.norm(g("Add", y, x), size)
    return g.linear(x, size, 5)


def gpt2(g):
    size, time = 32, 8
    x = embedded(g, tokens(g), size)
    far = g.weight(value=np.triu(np.full((1, 1, time, time), -10000, np.float32), 1))
    for _ in range(2):
        h = g.norm(x, size)
        h = g("Reshape", g("Gemm", g("Reshape", h, g.ints(-1, size)), g.weight(size, 3 * size), g.weight(3 * size)),
              g.ints(-1, time, 3 * size))
        q, k, v = (g.heads(part, 4, time, size // 4) for part in g("Split", h, g.ints(size, size, size), n=3, axis=2))
        s = g("Add", g("Div", g("MatMul", q, g("Transpose", k, perm=[0, 1, 3, 2])), g.number(8 ** 0.5)), far)
        h = g("Transpose", g("MatMul", g("Softmax", s, axis=-1), v), perm=[0, 2, 1, 3])
        x = g("Add", x, g.linear(g("Reshape", h, g.ints(0, time, size)), size, size))
        x = g("Add", x, g.linear(g.tanh_gelu(g.linear(g.norm(x, size), size, 64)), 64, size))
    return g.linear(g.norm(x, size), size, 20, bias=False)


def vit(g):
    size, time = 32, 9
    x = g("Conv", image(g, 3), g.weight(size, 3, 4, 4, scale=0.15), g.weight(size), strides=[4, 4], kernel_shape=[4, 4])
    x = g("Add", g("Transpose", g("Reshape", x, g.ints(0, size, time)), perm=[0, 2, 1]), g.weight(1, time, size,
                                                                                                  scale=1))
    for _ in range(2):
        h = g("LayerNormalization", x, g.weight(size, scale=1), g.weight(size), axis=-1)
        x = g("Add", g.attention(h, time, size, 4), x)
        h = g("LayerNormalization", x, g.weight(size, scale=1), g.weight(size), axis=-1)
        x = g("Add", g.linear(g.gelu(g.linear(h, size, 64)), 64, size), x)
    return g.linear(g("ReduceMean", x, axes=[1], keepdims=0), size, 5)


def llama(g):
    size, time, width = 32, 8, 8
    x = g("Gather", g.weight(20, size, scale=1), tokens(g))
    angle = np.arange(time)[:, None] * 0.3 ** np.arange(width // 2)
    cosine, sine = (g.weight(value=np.tile(f(angle), 2).astype(np.float32)) for f in (np.cos, np.sin))
    far = g.weight(value=np.triu(np.full((time, time), -1e9, np.float32), 1))

    def norm(x):
        mean = g("ReduceMean", g("Pow", x, g.number(2)), axes=[-1])
        return g("Mul", g("Div", x, g("Sqrt", g("Add", mean, g.number(1e-5)))), g.weight(size, scale=1))

    def turned(x):
        a, b = g("Split", x, g.ints(width // 2, width // 2), n=2, axis=-1)
        return g("Add", g("Mul", x, cosine), g("Mul", g("Concat", g("Neg", b), a, axis=-1), sine))

    for _ in range(2):
        h = norm(x)
        q, k, v = (g.heads(g.linear(h, size, size, bias=False), 4, time, width) for _ in range(3))
        s = g("Mul", g("MatMul", turned(q), g("Transpose", turned(k), perm=[0, 1, 3, 2])), g.number(width ** -0.5))
        h = g("Transpose", g("MatMul", g("Softmax", g("Add", s, far), axis=-1), v), perm=[0, 2, 1, 3])
        x = g("Add", x, g.linear(g("Reshape", h, g.ints(0, time, size)), size, size, bias=False))
        h = norm(x)
        gate = g.linear(h, size, 64, bias=False)
        gate = g("Mul", gate, g("Sigmoid", gate))
        x = g("Add", x, g.linear(g("Mul", gate, g.linear(h, size, 64, bias=False)), 64, size, bias=False))
    return g.linear(norm(x), size, 20, bias=False)


def recurrent(kind, gates):
    def build(g):
        x = g("Transpose", g("Gather", g.weight(20, 16, scale=1), tokens(g)), perm=[1, 0, 2])
        more = {"linear_before_reset": 1} if kind == "GRU" else {}
        y, _ = g(kind, x, g.weight(2, gates * 12, 16, scale=0.25), g.weight(2, gates * 12, 12, scale=0.25),
                 g.weight(2, 2 * gates * 12, scale=0.25), n=2, hidden_size=12, direction="bidirectional", **more)
        y = g("Reshape", g("Transpose", y, perm=[2, 0, 1, 3]), g.ints(0, 0, -1))
        return g.linear(y, 24, 5)
    return build


def t5(g):
    """An encoder and a decoder that looks at it; places by a table of distances, no bias, norms without a mean."""
    size, time, n = 32, 8, 4
    table = g.weight(15, n, scale=1)
    apart = g.weight(value=np.arange(time)[None] - np.arange(time)[:, None] + 7)
    near = g("Unsqueeze", g("Transpose", g("Gather", table, apart), perm=[2, 0, 1]), g.ints(0))
    far = g.weight(value=np.triu(np.full((1, 1, time, time), -1e9, np.float32), 1))

    def norm(x):
        mean = g("ReduceMean", g("Pow", x, g.number(2)), axes=[-1])
        scale = g("Div", g.number(1), g("Sqrt", g("Add", mean, g.number(1e-6))))
        return g("Mul", g.weight(size, scale=1), g("Mul", x, scale))

    def attention(x, y, bias):
        q = g.heads(g.linear(x, size, size, bias=False), n, time, size // n)
        k, v = (g.heads(g.linear(y, size, size, bias=False), n, time, size // n) for _ in range(2))
        s = g("MatMul", q, g("Transpose", k, perm=[0, 1, 3, 2]))
        h = g("MatMul", g("Softmax", g("Add", s, bias) if bias else s, axis=-1), v)
        h = g("Reshape", g("Transpose", h, perm=[0, 2, 1, 3]), g.ints(0, time, size))
        return g("Add", x, g.linear(h, size, size, bias=False))

    def block(x, y, bias):
        h = norm(x)
        x = attention(h, h, bias)
        x = attention(norm(x), y, None) if y else x
        return g("Add", x, g.linear(g("Relu", g.linear(norm(x), size, 64, bias=False)), 64, size, bias=False))

    words = g.weight(20, size, scale=1)
    y = norm(block(g("Gather", words, tokens(g)), None, near))
    ids = g.input("labels", g.rng.integers(0, 20, (2, time)), ["batch", time])
    return g.linear(norm(block(g("Gather", words, ids), y, g("Add", near, far))), size, 20, bias=False)


def excited(g):
    """Channels weighed by what they have on average, as in MobileNetV3 and EfficientNet."""
    x = g("HardSwish", g.conv(image(g, 3), 3, 16, stride=2, relu=None))
    for _ in range(2):
        y = g("HardSwish", g.conv(g.conv(x, 16, 32, 1), 32, 32, group=32, relu=None))
        scale = g.conv(g("ReduceMean", y, axes=[2, 3], keepdims=1), 32, 8, 1, norm=False)
        y = g("Mul", y, g("HardSigmoid", g.conv(scale, 8, 32, 1, norm=False, relu=None), alpha=1 / 6, beta=0.5))
        x = g("Add", x, g.conv(y, 32, 16, 1, relu=None))
    return g.classes(x, 16, 5)


def unet(g):
    """As in diffusion models: norms of groups of channels, SiLU, attention over pixels, a step's own channels."""
    def norm(x, n, size):
        one, zero = g.weight(value=np.ones(4)), g.weight(value=np.zeros(4))
        y = g("InstanceNormalization", g("Reshape", x, g.ints(0, 4, -1)), one, zero)
        y = g("Reshape", y, g.ints(-1, n, size, size))
        y = g("Add", g("Mul", y, g.weight(n, 1, 1, scale=1)), g.weight(n, 1, 1))
        return g("Mul", y, g("Sigmoid", y))

    step = g.input("step", g.rng.standard_normal((2, 8)).astype(np.float32), ["batch", 8])
    x = g.conv(image(g, 4, 8), 4, 16, norm=False, relu=None)
    y = g.conv(norm(x, 16, 8), 16, 16, norm=False, relu=None)
    y = g("Add", y, g("Unsqueeze", g.linear(step, 8, 16), g.ints(2, 3)))
    x = g("Add", x, g.conv(norm(y, 16, 8), 16, 16, norm=False, relu=None))
    y = g.conv(x, 16, 16, stride=2, norm=False, relu=None)
    h = g.attention(g("Transpose", g("Reshape", y, g.ints(0, 16, 16)), perm=[0, 2, 1]), 16, 16, 2)
    y = g("Add", y, g("Reshape", g("Transpose", h, perm=[0, 2, 1]), g.ints(0, 16, 4, 4)))
    y = g("Resize", y, "", g.weight(value=np.array([1, 1, 2, 2], np.float32)), mode="nearest",
          coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    y = g.conv(g("Concat", x, y, axis=1), 32, 16, norm=False, relu=None)
    return g.conv(norm(y, 16, 8), 16, 4, norm=False, relu=None)


BUILDERS = {"mlp": mlp, "convolutions": convolutions, "residual": residual, "depthwise": depthwise,
            "upsample": upsample,
            "bert": bert, "gpt2": gpt2, "vit": vit, "llama": llama, "t5": t5, "excited": excited,
            "unet": unet, "lstm": recurrent("LSTM", 4),
            "gru": recurrent("GRU", 3), "rnn": recurrent("RNN", 1)}


def models():
    for i, (name, build) in enumerate(BUILDERS.items()):
        g = Graph(i)
        yield name, *g.model(build(g))
