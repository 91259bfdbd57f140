"""A training step in PyTorch, eager, f32: the model, loss, clipping and AdamW that `tessera train` computes, spelled in
torch.nn.functional, as a person would write it there. Weights are random, of the model's shapes: time does not depend on
them. Which model it is is seen from the weights in the ONNX file."""
from _peer import Absent, package

KNOWN = {  # vocabulary, width: layers, heads, positions, causal
    (30522, 384): (6, 12, 512, False),
    (30522, 768): (12, 12, 512, False),
    (50257, 768): (12, 12, 1024, True)}


def architecture(path):
    graph = package("onnx").load(path, load_external_data=False).graph
    shapes = {tuple(w.dims) for w in graph.initializer}
    for size, rest in KNOWN.items():
        if size in shapes or size[::-1] in shapes:
            return size + rest
    raise Absent("its training step is spelled for MiniLM, BERT-base and GPT-2 only, and this file is none of them")


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


class Step:
    def open(self, model, inputs, threads, train):
        self.torch = torch = package("torch")
        vocabulary, width, layers, heads, positions, causal = architecture(model)
        told = {name: train[name] for name in ("task", "optimizer", "precision", "accumulate", "freeze")}
        if told != {"task": "lm" if causal else "classify", "optimizer": "adamw", "precision": "f32", "accumulate": 1,
                    "freeze": []}:
            raise Absent("its training step is spelled for AdamW in f32 on all weights, of classes or, with GPT-2, tokens")
        torch.set_num_threads(threads)
        torch.set_flush_denormal(True)
        torch.manual_seed(1)
        ids = next(v for name, v in inputs.items() if "ids" in name and "type" not in name and "position" not in name)
        self.label = torch.from_numpy(inputs["train.label"]).reshape(-1)
        self.clip = train["clip"]
        classes = int(self.label.max()) + 1
        self.weights = w = make(torch, vocabulary, width, layers, positions, causal, max(classes, 2))
        self.optimizer = torch.optim.AdamW(w.values(), lr=train["lr"])
        ids = torch.from_numpy(ids).long()
        self.forward = lambda: forward(torch.nn.functional, w, ids, layers, width, heads, causal)
        return {"version": torch.__version__, "settings": {"threads": threads, "mode": "eager", "optimizer": "AdamW"}}

    def run(self):
        y = self.forward()
        loss = self.torch.nn.functional.cross_entropy(y.reshape(-1, y.shape[-1]), self.label)
        loss.backward()
        if self.clip > 0:
            self.torch.nn.utils.clip_grad_norm_(self.weights.values(), self.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.item()

    unverified = "its weights are its own, of the same shapes"
