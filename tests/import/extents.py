# extents.py TESSERA MODELS FOLDER - a line each: a model, the dimension that varies, those that do not, what came of it
import json
import os
import subprocess
import sys

import numpy as np

tessera, models, folder = sys.argv[1:4]
DTYPES = {"f32": np.float32, "i64": np.int64, "bool": np.bool_}
# model, dimensions, their bounds (with steps), extents that are tried, the others
WANTED = [
    ("bert_op11", "seq", 12, (7, 1), "batch=1"),
    ("bert_op11", "batch", 4, (3, 1), "seq=7"),
    ("bert_op17", "seq", 12, (7, 5), "batch=2"),
    ("bert_op17", "batch", 4, (3,), "seq=7"),
    ("gpt2_op13", "seq", 12, (7, 1), "batch=1"),
    ("gpt2_op13", "batch", 4, (3,), "seq=7"),
    ("gpt2_op17", "seq", 12, (12, 7), "batch=2"),
    ("gpt2_op17", "batch", 4, (1,), "seq=7"),
    ("gpt2_kv_op14", "batch", 4, (3,), "seq=2 past=3 total=5"),
    ("gpt2_kv_op17", "batch", 4, (3,), "seq=2 past=3 total=5"),
    ("gpt2_kv_op17", "seq", 4, (1,), "batch=1 past=3 total=seq+3"),
    ("gpt2_kv_op14", "past", 8, (5,), "batch=2 seq=1 total=past+1"),
    ("llama_op14", "batch", 4, (3,), "seq=2 past=3 total=5"),
    ("llama_op17", "batch", 4, (3,), "seq=2 past=3 total=5"),
    ("llama_op17", "past", 4, (2,), "batch=1 seq=2 total=past+2"),
    ("llama_op14", "past", 8, (5,), "batch=1 seq=1 total=past+1"),
    ("minilm_op13", "seq", 12, (7, 1), "batch=1"),
    ("minilm_op13", "batch", 4, (3,), "seq=5"),
    ("minilm_op17", "seq", 12, (7, 5), "batch=2"),
    ("minilm_op17", "batch", 4, (3, 1), "seq=5"),
    ("sdunet_op14", "s", 12, (7, 1), "b=1 h=8 w=8"),
    ("sdunet_op14", "b", 4, (3,), "s=5 h=8 w=8"),
    ("sdunet_op17", "s", 12, (7,), "b=2 h=8 w=8"),
    ("sdunet_op17", "h", "24/8", (16,), "b=1 s=5 w=8"),
    ("bert_op11", "batch seq", "4 12", ((3, 7), (1, 12)), ""),
    ("bert_op17", "batch seq", "4 12", ((4, 5), (2, 1)), ""),
    ("gpt2_op13", "batch seq", "4 12", ((3, 7), (1, 12)), ""),
    ("gpt2_op17", "batch seq", "4 12", ((4, 5), (1, 1)), ""),
    ("minilm_op13", "batch seq", "4 12", ((3, 7), (1, 12)), ""),
    ("minilm_op17", "batch seq", "4 12", ((4, 5), (1, 1)), ""),
    ("gpt2_kv_op17", "batch past", "4 8", ((3, 5), (1, 1)), "seq=1 total=past+1"),
    ("llama_op17", "batch past", "4 8", ((3, 5), (1, 1)), "seq=1 total=past+1"),
]


def ask(*words):
    done = subprocess.run([tessera, *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def values(model, dims, rng):
    given = []
    code, text, error = ask("show", model, "--json", *dims)
    if code:
        return None, error
    for port in json.loads(text)["inputs"]:
        dtype = DTYPES[port["dtype"]]
        if "mask" in port["name"]:
            x = np.ones(port["shape"], dtype)
            x[..., 3:4] = 0
        elif port["dtype"] == "f32":
            x = rng.standard_normal(port["shape"]).astype(dtype)
        else:
            x = rng.integers(0, port["below"] or 2, port["shape"]).astype(dtype)
        np.save(f"{folder}/{port['name']}.npy", x)
        given += ["--in", f"{port['name']}={folder}/{port['name']}.npy"]
    return given, ""


def reason(error):
    return error.splitlines()[0].removeprefix("error: ").replace(models + "/", "")


def apart(one, other):
    most = 0.0
    for name in os.listdir(one):
        a, b = np.load(f"{one}/{name}"), np.load(f"{other}/{name}")
        if a.shape != b.shape or a.dtype != b.dtype:
            return np.inf
        if a.size:
            most = max(most, np.abs(a.astype(np.float64) - b).max() / max(1, np.abs(a).max()))
    return most


def outcome(name, dim, bound, extents, others):
    model = f"{models}/{name}.onnx"
    fixed = [w for d in others.split() for w in ("--dim", d)]
    rng = np.random.default_rng(0)
    ranges = [w for d, b in zip(dim.split(), str(bound).split()) for w in ("--dim", f"{d}=..{b}")]
    for n in extents:
        each = n if isinstance(n, tuple) else (n,)
        dims = [w for d, i in zip(dim.split(), each) for w in ("--dim", f"{d}={i}")] + fixed
        given, error = values(model, dims, rng)
        if given is None:
            return reason(error)
        one, other = f"{folder}/one-{name}-{dim}-{n}", f"{folder}/all-{name}-{dim}-{n}"
        code, _, error = ask("run", model, *given, *ranges, *fixed, "-o", other, "--threads", "2")
        if code:
            return reason(error)
        code, _, error = ask("run", model, *given, *dims, "-o", one, "--target", "interp")
        if code:
            return reason(error)
        far = apart(one, other)
        if not far < 2e-5:
            return f"at {n}: {far:.3g} apart"
    return "the same"


for wanted in WANTED:
    print(f"{wanted[0]} {wanted[1]}{wanted[4] and ', '}{wanted[4]}: {outcome(*wanted)}", flush=True)
