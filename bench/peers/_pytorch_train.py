"""A training step in PyTorch, eager, f32 on the CPU, for timing: the model, loss, clipping and AdamW that `tessera train`
computes, spelled in torch.nn.functional with random weights. Each line of input "step" answers with the seconds of one.

    _pytorch_train.py minilm|bert-base|gpt2 THREADS [BATCH LENGTH]"""
import sys, time

SHAPES = {  # layers, width, heads, vocabulary, positions, causal, batch, length
    "minilm": (6, 384, 12, 30522, 512, False, 32, 64),
    "bert-base": (12, 768, 12, 30522, 512, False, 8, 128),
    "gpt2": (12, 768, 12, 50257, 1024, True, 4, 64)}


def make(torch, layers, width, vocabulary, positions, causal):
    shapes = {"table": (vocabulary, width), "place": (positions, width)}
    for i in range(layers):
        shapes |= {f"{i}.qkv": (3 * width, width), f"{i}.out": (width, width), f"{i}.up": (4 * width, width),
                   f"{i}.down": (width, 4 * width), f"{i}.norm1": (width,), f"{i}.norm2": (width,)}
    shapes |= {"norm": (width,)} | ({} if causal else {"kind": (2, width), "head": (2, width)})
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


def main(model, threads, batch=None, length=None):
    import torch
    f = torch.nn.functional
    torch.set_num_threads(int(threads))
    torch.set_flush_denormal(True)
    torch.manual_seed(1)
    layers, width, heads, vocabulary, positions, causal, b, s = SHAPES[model]
    b, s = int(batch or b), int(length or s)
    w = make(torch, layers, width, vocabulary, positions, causal)
    optimizer = torch.optim.AdamW(w.values(), lr=1e-4)
    ids = torch.randint(0, 256 if causal else vocabulary, (b, s))
    label = torch.randint(0, 256, (b, s)) if causal else torch.randint(0, 2, (b,))
    print("ready", torch.__version__, flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        y = forward(f, w, ids, layers, width, heads, causal)
        loss = f.cross_entropy(y.reshape(-1, y.shape[-1]), label.reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(w.values(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        print(f"{time.perf_counter() - start:.4f} {loss.item():.4f}", flush=True)


main(*sys.argv[1:])
