"""The built-in models in plain numpy and double precision, written from their papers and not from the code under test.

oracle.py MODEL GRAPH IN OUT: GRAPH is what `tessera show MODEL --stage folded` prints, of which only the weights are
read; IN and OUT hold NAME.npy of every input and of every result. Fails where a result is missing, or further away than
1e-5 of the largest."""
import os
import re
import sys
import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import threefry  # noqa: E402


def random(seed, count):
    """Uniform in [-1, 1): the top 24 bits."""
    return (threefry.bits(seed, np.arange(count)) >> np.uint64(40)).astype(np.float64) * 2.0**-23 - 1


def weights(path):
    found = {}
    for line in open(path):
        m = re.match(r'n\d+ = weight "(.*)" mean=(\S+) scale=(\S+) seed=(\d+) : f32\[([\d,]*)\]', line)
        if m:
            shape = [int(d) for d in m[5].split(",")]
            values = float(m[2]) + float(m[3]) * random(int(m[4]), np.prod(shape))
            found[m[1]] = values.astype(np.float32).astype(np.float64).reshape(shape)
    return found


class Layers:
    def __init__(self, w):
        self.w = w

    def dense(self, x, name):
        return x @ self.w[name + ".weight"] + self.w[name + ".bias"]

    def norm(self, x, name, epsilon):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)
        return x * self.w[name + ".weight"] + self.w[name + ".bias"]

    def conv(self, x, name, stride):
        w = self.w[name + ".weight"]
        pad = w.shape[2] // 2
        x = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
        patches = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))[:, :, ::stride, ::stride]
        return np.einsum("nihwkl,oikl->nohw", patches, w) + self.w[name + ".bias"][:, None, None]


def split(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def attention(q, k, v, present, earlier=True):
    """present: not padding; where all is padding, all weighs the same. earlier: what a position may see at all."""
    s = np.where(present, q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1]), -1e300)
    s = np.where(earlier, s, -np.inf)
    s = np.exp(s - s.max(-1, keepdims=True))
    y = (s / s.sum(-1, keepdims=True)) @ v
    return y.transpose(0, 2, 1, 3).reshape(y.shape[0], y.shape[2], -1)


def erf(x):
    from math import erf as one
    return np.vectorize(one, otypes=[float])(x)


def bert(w, given, layers, heads):
    n = Layers(w)
    ids, present = given["input_ids"], given["attention_mask"][:, None, None, :] != 0
    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][: ids.shape[1]]
    x = n.norm(x + w["embeddings.token_type_embeddings.weight"][given["token_type_ids"]], "embeddings.LayerNorm", 1e-12)
    for i in range(layers):
        at = f"encoder.layer.{i}."
        q, k, v = (split(n.dense(x, at + "attention.self." + p), heads) for p in ("query", "key", "value"))
        y = n.dense(attention(q, k, v, present), at + "attention.output.dense")
        x = n.norm(x + y, at + "attention.output.LayerNorm", 1e-12)
        y = n.dense(x, at + "intermediate.dense")
        y = n.dense(0.5 * y * (1 + erf(y / np.sqrt(2))), at + "output.dense")
        x = n.norm(x + y, at + "output.LayerNorm", 1e-12)
    out = {"last_hidden_state": x}
    if "pooler.dense.weight" in w:
        out["pooler_output"] = np.tanh(n.dense(x[:, 0], "pooler.dense"))
    return out


def gpt2(w, given, layers, heads):
    n, out = Layers(w), {}
    ids, mask = given["input_ids"], given["attention_mask"]
    past = mask.shape[1] - ids.shape[1]
    own = past + np.arange(ids.shape[1])
    present, earlier = mask[:, None, None, :] != 0, np.arange(mask.shape[1]) <= own[:, None]
    x = w["wte.weight"][ids] + w["wpe.weight"][own]
    for i in range(layers):
        at = f"h.{i}."
        q, k, v = (split(p, heads) for p in np.split(n.dense(n.norm(x, at + "ln_1", 1e-5), at + "attn.c_attn"), 3, -1))
        if past:
            k = np.concatenate([given[f"past.{i}.key"], k], 2)
            v = np.concatenate([given[f"past.{i}.value"], v], 2)
        out[f"present.{i}.key"], out[f"present.{i}.value"] = k, v
        x = x + n.dense(attention(q, k, v, present, earlier), at + "attn.c_proj")
        y = n.dense(n.norm(x, at + "ln_2", 1e-5), at + "mlp.c_fc")
        y = 0.5 * y * (1 + np.tanh(np.sqrt(2 / np.pi) * (y + 0.044715 * y**3)))
        x = x + n.dense(y, at + "mlp.c_proj")
    out["logits"] = n.norm(x, "ln_f", 1e-5) @ w["wte.weight"].T
    return out


def resnet(w, given, blocks):
    n = Layers(w)
    x = np.maximum(n.conv(given["x"], "conv1", 2), 0)
    x = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=-np.inf)
    x = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))[:, :, ::2, ::2].max((4, 5))
    for stage, count in enumerate(blocks):
        for i in range(count):
            at, stride = f"layer{stage + 1}.{i}.", 2 if stage and not i else 1
            if at + "conv3.weight" in w:
                y = np.maximum(n.conv(x, at + "conv1", 1), 0)
                y = np.maximum(n.conv(y, at + "conv2", stride), 0)
                y = n.conv(y, at + "conv3", 1)
            else:
                y = n.conv(np.maximum(n.conv(x, at + "conv1", stride), 0), at + "conv2", 1)
            if at + "downsample.0.weight" in w:
                x = n.conv(x, at + "downsample.0", stride)
            x = np.maximum(x + y, 0)
    return {"y": n.dense(x.mean((2, 3)), "fc")}


def vae(w, given, channels, blocks, groups):
    n = Layers(w)

    def norm(x, name):
        z = x.reshape(x.shape[0], groups, -1)
        z = (z - z.mean(-1, keepdims=True)) / np.sqrt(z.var(-1, keepdims=True) + 1e-6)
        return z.reshape(x.shape) * w[name + ".weight"][:, None, None] + w[name + ".bias"][:, None, None]

    def silu(x):
        return x / (1 + np.exp(-x))

    def block(x, at):
        y = n.conv(silu(norm(x, at + "norm1")), at + "conv1", 1)
        y = n.conv(silu(norm(y, at + "norm2")), at + "conv2", 1)
        return (n.conv(x, at + "conv_shortcut", 1) if at + "conv_shortcut.weight" in w else x) + y

    x = n.conv(n.conv(given["latents"], "post_quant_conv", 1), "decoder.conv_in", 1)
    x = block(x, "decoder.mid_block.resnets.0.")
    at = "decoder.mid_block.attentions.0."
    y = norm(x, at + "group_norm").reshape(*x.shape[:2], -1).transpose(0, 2, 1)
    q, k, v = (n.dense(y, at + p)[:, None] for p in ("to_q", "to_k", "to_v"))
    x = x + n.dense(attention(q, k, v, True), at + "to_out.0").transpose(0, 2, 1).reshape(x.shape)
    x = block(x, "decoder.mid_block.resnets.1.")
    for level in range(len(channels)):
        for i in range(blocks):
            x = block(x, f"decoder.up_blocks.{level}.resnets.{i}.")
        if level + 1 < len(channels):
            x = n.conv(x.repeat(2, 2).repeat(2, 3), f"decoder.up_blocks.{level}.upsamplers.0.conv", 1)
    return {"sample": n.conv(silu(norm(x, "decoder.conv_norm_out")), "decoder.conv_out", 1)}


MODELS = {
    "bert-tiny": lambda w, x: bert(w, x, 2, 2),
    "minilm": lambda w, x: bert(w, x, 6, 12),
    "bert-base": lambda w, x: bert(w, x, 12, 12),
    "bert-large": lambda w, x: bert(w, x, 24, 16),
    "gpt2-tiny": lambda w, x: gpt2(w, x, 2, 2),
    "gpt2": lambda w, x: gpt2(w, x, 12, 12),
    "resnet-tiny": lambda w, x: resnet(w, x, [1, 2, 1, 1]),
    "resnet-18": lambda w, x: resnet(w, x, [2, 2, 2, 2]),
    "vae-tiny": lambda w, x: vae(w, x, [16, 16, 8, 8], 2, 4),
    "vae-decoder": lambda w, x: vae(w, x, [512, 512, 256, 128], 3, 32),
    "resnet-50": lambda w, x: resnet(w, x, [3, 4, 6, 3]),
}


def read(folder):
    return {f[:-4]: np.load(os.path.join(folder, f)) for f in os.listdir(folder) if f.endswith(".npy")}


def main(model, graph, given, results):
    want = MODELS[model](weights(graph), read(given))
    got, bad = read(results), 0
    if set(got) != set(want):
        sys.exit(f"{model}: results {sorted(got)}, expected {sorted(want)}")
    for name, y in want.items():
        if "logits" == name and got[name].shape[1] < y.shape[1]:
            y = y[:, -got[name].shape[1] :]  # last=1
        if got[name].shape != y.shape:
            sys.exit(f"{model} {name}: shape {got[name].shape}, expected {y.shape}")
        off, largest, spread = np.abs(got[name] - y).max(), np.abs(y).max(), y.std()
        ok = np.isfinite(got[name]).all() and off <= 1e-5 * largest and 0.02 < spread < 100
        bad += not ok
        if not ok or not name.startswith("present"):
            print(f"{model} {name}: largest {largest:.3g}, spread {spread:.3g}, "
                  f"off by {off / largest:.2g} of the largest")
    sys.exit(bad > 0)


main(*sys.argv[1:])
