#!/bin/sh
# Model files continue a text: with a past, in the forms that exporters write, without one, and with the window for every
# token, all the same; where ONNX Runtime is installed, as its greedy choice says.
# ctest: Og
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
python=${PYTHON:-python3}
"$python" -c 'import onnx' 2>/dev/null || { echo "no package onnx: model files are left out"; exit 77; }
"$python" "$SOURCE/tests/train/decoder.py" . || wrong "no models"
for kind in cache old listed plain; do
    "$TESSERA" generate $kind.onnx --prompt 'Once upon' --max-tokens 30 -q >$kind || wrong "generate with $kind.onnx fails"
    "$TESSERA" generate $kind.onnx --prompt 'Once upon' --max-tokens 30 --no-cache -q >$kind.whole ||
        wrong "generate with the window of $kind.onnx fails"
done
for other in old listed plain cache.whole old.whole listed.whole plain.whole; do
    cmp cache $other || wrong "$other has another text" "$(cat cache $other)"
done
if "$python" -c 'import onnxruntime' 2>/dev/null; then
    "$python" "$SOURCE/tests/train/decoder.py" . --greedy 'Once upon' 30 2>/dev/null >runtime || wrong "ONNX Runtime fails"
    cat cache old listed plain | cmp - runtime || wrong "ONNX Runtime has another text" "$(cat cache runtime)"
fi
[ "$(wc -m <cache)" -gt 20 ] || wrong "there is hardly a text" "$(cat cache)"

# drawn: from the seed, each of several texts its own, the first as alone
"$TESSERA" generate cache.onnx --prompt 'Once upon' --max-tokens 20 --temperature 2 --seed 5 -q >one
"$TESSERA" generate plain.onnx --prompt 'Once upon' --max-tokens 20 --temperature 2 --seed 5 -q >two
for kind in cache listed; do
    "$TESSERA" generate $kind.onnx --prompt 'Once upon' --max-tokens 20 --temperature 2 --seed 5 --batch 3 --json -q >three.$kind
done
cmp one two || wrong "without a past the draw is another"
"$python" - <<'PY' || wrong "the texts of a batch are others"
import json
all, listed = (json.load(open(f"three.{kind}")) for kind in ("cache", "listed"))
assert all["texts"] == listed["texts"], listed
assert all["texts"][0] == all["text"] == open("one").read()[:-1], all
assert len(set(all["texts"])) == 3 and all["tokens"] <= 60 and all["prompt_tokens"] == 10, all
PY
[ "$("$TESSERA" generate cache.onnx --prompt 'Once upon' --max-tokens 20 --top-k 1 --temperature 2 -q)" = "$(cut -c -20 cache)" ] ||
    wrong "--top-k 1 draws"
[ "$("$TESSERA" generate cache.onnx --prompt Once --max-tokens 3 --batch 2 -q | sed -n 2p)" = --- ] || wrong "texts are not told apart"

# pasts stay where they are, unless an output is something else than its past and more behind it
for kind in cache old listed; do
    expect 0 'pasts stay in place' generate $kind.onnx --prompt Once --max-tokens 2
done
"$python" - <<'PY'
import onnx
from onnx import helper as h
m = onnx.load("cache.onnx")
at = next(i for i, n in enumerate(m.graph.node) if n.output[0] == "present.1.value")
m.graph.node[at].output[0] = "joined"
for k, (op, inputs, out) in enumerate([("Abs", ["joined"], "size"), ("Sign", ["joined"], "sign"),
        ("Mul", ["size", "sign"], "present.1.value")]):
    m.graph.node.insert(at + 1 + k, h.make_node(op, inputs, [out]))
onnx.save(m, "rewritten.onnx")
PY
expect 0 'pasts are copied' generate rewritten.onnx --prompt Once --max-tokens 2
[ "$("$TESSERA" generate rewritten.onnx --prompt 'Once upon' --max-tokens 30 -q)" = "$(cat cache)" ] ||
    wrong "pasts that are copied give another text"

# tokens a second as rows of bench, of several texts at once
"$TESSERA" bench cache.onnx --decode 6 --length 5 --batch 3 --threads 1 --min-time 50ms --json >rows.json || wrong "bench --decode"
"$python" - <<'PY' || wrong "$(cat rows.json)"
import json
prefill, decode = json.load(open("rows.json"))["rows"]
assert (prefill["phase"], prefill["tokens"], decode["phase"], decode["tokens"]) == ("prefill", 5, "decode", 5)
assert prefill["batch"] == decode["batch"] == 3 and decode["count"] == 5 * prefill["count"] > 0
for r, tokens in (prefill, 15), (decode, 3):  # half of the runs take the median at least
    assert r["p50_ns"] <= r["p90_ns"] and 0 < r["per_second"] <= 2 * tokens / r["p50_ns"] * 1e9, r
PY
expect 0 'tokens per second' bench plain.onnx --decode 3 --length 4 --min-time 10ms
expect 2 'only a model file that takes a past' bench plain.onnx --decode 3 --batch 2
expect 2 'and --decode gives rates' bench cache.onnx --decode 3 --report r.html
expect 2 '--decode is for one extent' bench cache.onnx --decode 3 --sweep seq=4,8
expect 2 'does not go with --decode' bench cache.onnx --decode 3 --concurrent 2
expect 2 'what a training step is' bench cache.onnx --decode 3 --clip 1

# what is told, and how much room there is
expect 0 'mask "attention_mask", past "past_key_values.0.key" to "present.0.key" and 3 more; logits "logits"' \
    generate cache.onnx --prompt Once --max-tokens 2
expect 0 'tokens "input_ids"; logits "logits"' generate plain.onnx --prompt Once --max-tokens 2
expect 0 'prompt: 5 tokens, ' generate cache.onnx --prompt Once --max-tokens 2
expect 0 'it ends here: --dim leaves room for 9 tokens' generate cache.onnx --prompt Once --max-tokens 20 --dim past_sequence=1..8
expect 3 'the prompt has 10 tokens, --dim allows 5' generate cache.onnx --prompt 'Once upon' --dim past_sequence=1..4
expect 2 '--dim batch=2: only a range of the past, "past_sequence=1..N", is taken' generate cache.onnx --prompt Once --dim batch=2
expect 2 '--batch 2: only a model file that takes a past goes on with several texts at once' generate plain.onnx --prompt Once --batch 2
expect 8 "cannot open 'none.json'" generate plain.onnx --prompt Once --tokenizer none.json
"$python" - <<'PY'
import onnx
m = onnx.load("cache.onnx")
m.graph.input.append(onnx.helper.make_tensor_value_info("use_cache_branch", onnx.TensorProto.BOOL, [1]))
m.graph.node.append(onnx.helper.make_node("Not", ["use_cache_branch"], ["other"]))
m.graph.output.append(onnx.helper.make_tensor_value_info("other", onnx.TensorProto.BOOL, [1]))
onnx.save(m, "branch.onnx")
PY
expect 4 'input "use_cache_branch", bool of rank 1, is not recognised' generate branch.onnx --prompt Once
finish
