"""A training step in PyTorch, eager, f32: the model, loss, clipping and AdamW that `tessera train` computes, spelled in
torch.nn.functional, as a person would write it there. Weights are random, of the model's shapes: time does not depend
on them. Which model it is is seen from the weights in the ONNX file."""
from _peer import Absent, package

IMAGES = {  # convolutions: blocks of the four stages, with a bottleneck
    20: ((2, 2, 2, 2), False),
    53: ((3, 4, 6, 3), True)}
KNOWN = {  # vocabulary, width: layers, heads, positions, causal
    (30522, 384): (6, 12, 512, False),
    (30522, 768): (12, 12, 512, False),
    (50257, 768): (12, 12, 1024, True)}


def architecture(path):
    """Whether it takes images, and its row above."""
    graph = package("onnx").load(path, load_external_data=False).graph
    shapes = {tuple(w.dims) for w in graph.initializer}
    convolutions = sum(node.op_type == "Conv" for node in graph.node)
    if (64, 3, 7, 7) in shapes and convolutions in IMAGES:
        if any(node.op_type == "BatchNormalization" for node in graph.node):
            raise Absent("its ResNet is spelled with batch normalisation folded, as built in, and this file has some")
        return True, IMAGES[convolutions]
    for size, rest in KNOWN.items():
        if size in shapes or size[::-1] in shapes:
            return False, size + rest
    raise Absent("its training step is spelled for MiniLM, BERT-base, GPT-2, ResNet-18 and -50 only; "
                 "this is none of them")


def make(torch, vocabulary, width, layers, positions, causal, classes):
    shapes = {"table": (vocabulary, width), "place": (positions, width)}
    for i in range(layers):
        shapes |= {f"{i}.qkv": (3 * width, width), f"{i}.out": (width, width), f"{i}.up": (4 * width, width),
                   f"{i}.down": (width, 4 * width), f"{i}.norm1": (width,), f"{i}.norm2": (width,)}
    shapes |= {"norm": (width,)} | ({} if causal else {"kind": (2, width), "head": (classes, width)})
    w = {}
    for name, shape in shapes.items():
        at = "norm" in name
        w[name] = torch.nn.Parameter(torch.ones(shape) if at else 0.02 * torch.randn(shape))
        if at or "." in name or name == "head":
            w[name + "_bias"] = torch.nn.Parameter(torch.zeros(shape[0]))
    return w


def forward(f, w, ids, layers, width, heads, causal):
    b, s = ids.shape

    def norm(x, name):
        return f.layer_norm(x, (width,), w[name], w[name + "_bias"])

    def linear(x, name):
        return f.linear(x, w[name], w[name + "_bias"])

    def attend(x, i):
        q, k, v = (t.view(b, s, heads, -1).transpose(1, 2) for t in linear(x, f"{i}.qkv").split(width, -1))
        y = f.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return linear(y.transpose(1, 2).reshape(b, s, width), f"{i}.out")

    def layer(x, i):
        return linear(f.gelu(linear(x, f"{i}.up"), approximate="tanh" if causal else "none"), f"{i}.down")

    x = f.embedding(ids, w["table"]) + w["place"][:s]
    if causal:
        for i in range(layers):
            x = x + attend(norm(x, f"{i}.norm1"), i)
            x = x + layer(norm(x, f"{i}.norm2"), i)
        return f.linear(norm(x, "norm"), w["table"])
    x = norm(x + w["kind"][0], "norm")
    for i in range(layers):
        x = norm(x + attend(x, i), f"{i}.norm1")
        x = norm(x + layer(x, i), f"{i}.norm2")
    return linear(x.mean(1), "head")


def resnet(torch, blocks, bottleneck, classes):
    """Its weights, made as they are met first, and what it says of images; batch normalisation is folded away."""
    f, w = torch.nn.functional, {}

    def conv(x, name, out, size, stride=1):
        if name not in w:
            scale = (2 / (x.shape[1] * size * size)) ** 0.5
            w[name] = torch.nn.Parameter(scale * torch.randn(out, x.shape[1], size, size))
            w[name + "_bias"] = torch.nn.Parameter(torch.zeros(out))
        return f.conv2d(x, w[name], w[name + "_bias"], stride, size // 2)

    def linear(x, name, out):
        if name not in w:
            w[name] = torch.nn.Parameter(0.02 * torch.randn(out, x.shape[1]))
            w[name + "_bias"] = torch.nn.Parameter(torch.zeros(out))
        return f.linear(x, w[name], w[name + "_bias"])

    def branch(x, name, width, stride):
        if not bottleneck:
            return conv(f.relu(conv(x, name + "1", width, 3, stride)), name + "2", width, 3)
        y = f.relu(conv(x, name + "1", width, 1))
        return conv(f.relu(conv(y, name + "2", width, 3, stride)), name + "3", 4 * width, 1)

    def forward(x):
        x = f.max_pool2d(f.relu(conv(x, "first", 64, 7, 2)), 3, 2, 1)
        for stage, n in enumerate(blocks):
            for i in range(n):
                stride = 2 if stage and not i else 1
                y = branch(x, f"{stage}.{i}.", 64 << stage, stride)
                if stride != 1 or x.shape[1] != y.shape[1]:
                    x = conv(x, f"{stage}.{i}.down", y.shape[1], 1, stride)
                x = f.relu(x + y)
        return linear(linear(x.mean((2, 3)), "classes", 1000), "head", classes)

    return w, forward


class Step:
    precisions = ("f32",)
    settings = {"mode": "eager", "optimizer": "AdamW"}

    def check(self, train, causal):
        told = {name: train[name] for name in ("task", "optimizer", "accumulate", "freeze")}
        if told != {"task": "lm" if causal else "classify", "optimizer": "adamw", "accumulate": 1, "freeze": []} or \
                train["precision"] not in self.precisions:
            raise Absent(f"its training step is spelled for AdamW in {' or '.join(self.precisions)} on all weights, "
                         "of classes or, with GPT-2, tokens")

    def make(self, model, inputs, train):
        """self.label, self.weights, self.forward() -> scores, on torch's default device"""
        torch = self.torch
        is_images, known = architecture(model)
        self.check(train, not is_images and known[-1])
        self.label = torch.as_tensor(inputs["train.label"]).reshape(-1)
        classes = max(int(self.label.max()) + 1, 2)
        if is_images:
            images = torch.as_tensor(next(v for v in inputs.values() if v.ndim == 4))
            self.weights, call = resnet(torch, *known, classes)
            self.forward = lambda: call(images)
            self.forward()
        else:
            vocabulary, width, layers, heads, positions, causal = known
            ids = next(v for k, v in inputs.items() if "ids" in k and "type" not in k and "position" not in k)
            ids = torch.as_tensor(ids).long()
            self.weights = w = make(torch, vocabulary, width, layers, positions, causal, classes)
            self.forward = lambda: forward(torch.nn.functional, w, ids, layers, width, heads, causal)

    def open(self, model, inputs, threads, train):
        self.torch = torch = package("torch")
        torch.set_num_threads(threads)
        torch.set_flush_denormal(True)
        torch.manual_seed(1)
        self.clip = train["clip"]
        self.make(model, inputs, train)
        self.optimizer = torch.optim.AdamW(self.weights.values(), lr=train["lr"])
        return {"version": torch.__version__, "settings": {"threads": threads} | self.settings}

    def loss(self):
        y = self.forward()
        return self.torch.nn.functional.cross_entropy(y.reshape(-1, y.shape[-1]), self.label)

    def update(self):
        if self.clip > 0:
            self.torch.nn.utils.clip_grad_norm_(self.weights.values(), self.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def run(self):
        loss = self.loss()
        loss.backward()
        self.update()
        return loss.item()

    unverified = "its weights are its own, of the same shapes"
