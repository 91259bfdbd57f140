"""decoder.py FOLDER - a tiny GPT-2 as exporters write it, with a past (cache.onnx), with one in the older form
(old.onnx: key and value in one tensor, positions given), with one and a mask that is looked up by a table of places
(listed.onnx: text * total + position) and without any (plain.onnx), and its tokenizer; all with the same weights.
decoder.py FOLDER --greedy PROMPT N - how ONNX Runtime continues PROMPT by each file, a line each."""
import json, sys
import numpy as np
import onnx
from onnx import TensorProto as T, helper as h, numpy_helper

LAYERS, HEADS, WIDTH, PLACES, VOCABULARY = 2, 2, 8, 64, 63
FULL = WIDTH * HEADS
KINDS = ("cache", "old", "listed", "plain")


def weights():
    r = np.random.default_rng(7)
    w = {"wte": r.normal(size=(VOCABULARY, FULL)), "wpe": r.normal(size=(PLACES, FULL))}
    for i in range(LAYERS):
        w |= {f"{i}.ln1": 1 + r.normal(size=FULL) / 9, f"{i}.qkv": r.normal(size=(FULL, 3 * FULL)) / 3,
              f"{i}.out": r.normal(size=(FULL, FULL)) / 3, f"{i}.ln2": 1 + r.normal(size=FULL) / 9,
              f"{i}.up": r.normal(size=(FULL, 4 * FULL)) / 3, f"{i}.down": r.normal(size=(4 * FULL, FULL)) / 3}
    w["head"] = r.normal(size=(FULL, VOCABULARY))
    w["zero"] = np.zeros(FULL)
    return {k: v.astype(np.float32) for k, v in w.items()}


def model(kind):
    nodes, init = [], [numpy_helper.from_array(v, k) for k, v in weights().items()]
    past = kind != "plain"

    def const(name, value, dtype=np.int64):
        init.append(numpy_helper.from_array(np.array(value, dtype), name))
        return name

    def op(kind, *inputs, n=1, **attrs):
        out = [f"{kind}_{len(nodes)}_{k}" for k in range(n)]
        nodes.append(h.make_node(kind, list(inputs), out, **attrs))
        return out[0] if n == 1 else out

    one, zero = const("one", [1]), const("zero1", [0])
    length = op("Shape", "input_ids", start=1, end=2)
    pasts = [f"past_key_values.{i}.{k}" for i in range(LAYERS) for k in ("key", "value")]
    if kind == "old":
        pasts = [f"past_{i}" for i in range(LAYERS)]
    before = op("Shape", pasts[0], start=len("x" * (3 if kind == "old" else 2)),
        end=4 if kind == "old" else 3) if past else zero
    total = op("Add", before, length)
    if kind == "old":
        places = "position_ids"
    else:
        places = op("Range", op("Squeeze", before), op("Squeeze", total), const("step", 1))
    x = op("Add", op("Gather", "wte", "input_ids"), op("Gather", "wpe", places))
    # a token sees those at its place and before
    rows = op("Unsqueeze", op("Range", op("Squeeze", before), op("Squeeze", total), const("step2", 1)), one)
    columns = op("Unsqueeze", op("Range", const("none", 0), op("Squeeze", total), const("step3", 1)), zero)
    sees = op("LessOrEqual", columns, rows)
    if past:
        given, axes = op("Cast", "attention_mask", to=T.BOOL), const("axes12", [1, 2])
        if kind == "listed":
            count = op("Squeeze", op("Shape", "input_ids", start=0, end=1))
            texts = op("Range", const("first", 0), count, const("step4", 1))
            at = op("Add", op("Mul", op("Unsqueeze", texts, one), total), op("Squeeze", columns, zero))
            given = op("Gather", op("Reshape", given, const("flat", [-1])), at)
        given = op("Unsqueeze", given, axes)
        sees = op("And", sees, given)
    outputs = [h.make_tensor_value_info("logits", T.FLOAT, ["batch", "sequence", VOCABULARY])]
    heads, whole = const("heads", [0, 0, HEADS, WIDTH]), const("whole", [0, 0, FULL])
    for i in range(LAYERS):
        y = op("LayerNormalization", x, f"{i}.ln1", "zero")
        parts = op("Split", op("MatMul", y, f"{i}.qkv"), n=3, axis=2, num_outputs=3)
        q, k, v = (op("Transpose", op("Reshape", p, heads), perm=[0, 2, 1, 3]) for p in parts)
        if kind == "old":
            both = op("Concat", op("Unsqueeze", k, zero), op("Unsqueeze", v, zero), axis=0)
            nodes.append(h.make_node("Concat", [pasts[i], both], [f"present_{i}"], axis=3))
            k, v = (op("Gather", f"present_{i}", const(f"{i}.at{a}", a), axis=0) for a in (0, 1))
            outputs.append(h.make_tensor_value_info(f"present_{i}", T.FLOAT, [2, "batch", HEADS, "total", WIDTH]))
        elif past:
            for name, value in (("key", k), ("value", v)):
                nodes.append(h.make_node("Concat", [f"past_key_values.{i}.{name}", value], [f"present.{i}.{name}"],
                    axis=2))
                outputs.append(h.make_tensor_value_info(f"present.{i}.{name}", T.FLOAT, ["batch", HEADS, "total",
                    WIDTH]))
            k, v = f"present.{i}.key", f"present.{i}.value"
        scores = op("Div", op("MatMul", q, op("Transpose", k, perm=[0, 1, 3, 2])), const(f"{i}.root", WIDTH ** .5,
            np.float32))
        scores = op("Where", sees, scores, const(f"{i}.low", -1e9, np.float32))
        y = op("Reshape", op("Transpose", op("MatMul", op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3]), whole)
        x = op("Add", x, op("MatMul", y, f"{i}.out"))
        y = op("MatMul", op("LayerNormalization", x, f"{i}.ln2", "zero"), f"{i}.up")
        x = op("Add", x, op("MatMul", op("Relu", y), f"{i}.down"))
    nodes.append(h.make_node("MatMul", [x, "head"], ["logits"]))
    inputs = [h.make_tensor_value_info("input_ids", T.INT64, ["batch", "sequence"])]
    if past:
        inputs.append(h.make_tensor_value_info("attention_mask", T.INT64, ["batch", "total_sequence"]))
    if kind == "old":
        inputs.append(h.make_tensor_value_info("position_ids", T.INT64, ["batch", "sequence"]))
    for name in pasts if past else []:
        shape = [2, "batch", HEADS, "past_sequence", WIDTH] if kind == "old" else ["batch", HEADS, "past_sequence",
            WIDTH]
        inputs.append(h.make_tensor_value_info(name, T.FLOAT, shape))
    graph = h.make_graph(nodes, kind, inputs, outputs, init)
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=8)


def tokenizer():
    """Every letter, sign and digit is a token, <s> stands before a text."""
    vocab = {t: i for i, t in enumerate(["<unk>", "<s>",
        *"abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ,.!?;:'-"])}
    template = {"type": "TemplateProcessing", "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": [1],
        "tokens": ["<s>"]}},
                "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]}
    return {"added_tokens": [{"id": 1, "content": "<s>", "special": True, "normalized": False}],
            "pre_tokenizer": {"type": "FixedLength", "length": 1}, "post_processor": template,
                "decoder": {"type": "Fuse"},
            "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "<unk>"}}


def greedy(path, ids, n):
    import onnxruntime
    run = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    ids, out = list(ids), []
    for _ in range(n):  # without a past: the whole text again
        feed = {"input_ids": np.array([ids])}
        for i in run.get_inputs()[1:]:
            if i.name == "attention_mask":
                feed[i.name] = np.ones((1, len(ids)), np.int64)
            elif i.name == "position_ids":
                feed[i.name] = np.arange(len(ids))[None]
            else:
                feed[i.name] = np.zeros([{"batch": 1, "past_sequence": 0}.get(d, d) for d in i.shape], np.float32)
        ids.append(int(run.run(["logits"], feed)[0][0, -1].argmax()))
    return ids[-n:]


if sys.argv[2:3] == ["--greedy"]:
    vocab = list(tokenizer()["model"]["vocab"])
    prompt = [1, *(vocab.index(c) for c in sys.argv[3])]
    for kind in KINDS:
        print("".join(vocab[i] for i in greedy(f"{sys.argv[1]}/{kind}.onnx", prompt, int(sys.argv[4])) if i != 1))
else:
    for kind in KINDS:
        onnx.save(model(kind), f"{sys.argv[1]}/{kind}.onnx")
    json.dump(tokenizer(), open(f"{sys.argv[1]}/tokenizer.json", "w"))
