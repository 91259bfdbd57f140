#!/bin/sh
# ctest: large
# run_test.sh - the script for a machine with a card, on the stand-in: it verifies, times and writes its results; what is
# missing is one line each and leaves the rest. Then its table, of results with peers that were never run here.
set -eu
export PYTHONDONTWRITEBYTECODE=1
sim=$BUILD/tests/gpusim/libcuda.so.1
[ -e "$sim" ] || { echo "skipped: no stand-in for the driver of CUDA: it is built for x86-64"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
run=$SOURCE/tests/gpu/run.sh
says() { grep -qF -- "$1" "$dir/said" || { echo "not said: $1"; cat "$dir/said"; exit 1; }; }
ends() { # STATUS ARGUMENT...
    want=$1 status=0
    shift
    sh "$run" "$@" >"$dir/said" 2>&1 || status=$?
    [ "$status" = "$want" ] || { echo "run.sh $*: $status, not $want"; cat "$dir/said"; exit 1; }
}

ends 2 --fast
says 'run.sh: unknown option --fast; there are --build, --out, --rows, --tests, --only, --seconds and --min-time'
ends 2 --rows
says 'run.sh: --rows needs a value'
echo 'odd 10 juggling 3' >"$dir/odd"
ends 1 --build "$BUILD" --out "$dir/out" --rows "$dir/odd"
says "juggling is no kind of row; there are memory, product, model, step"
mkdir "$dir/bin"
printf '#!/bin/sh\necho "CMake Error: protoc-c is missing"\nexit 1\n' >"$dir/bin/cmake"
chmod +x "$dir/bin/cmake"
PATH=$dir/bin:$PATH ends 1 --build "$dir/empty"
says 'CMake Error: protoc-c is missing'
says 'Make a folder with tests/gpu/pack.sh FOLDER on a machine where it builds'

# Whole, with rows and tests that are small
echo '# one that is not there' >"$dir/tests"
echo 'no-such 10' >>"$dir/tests"
printf 'add_8_16 60 memory add 8 16\nproduct_9_7_5 60 product m=9 k=7 n=5\nbf16_16_24_8 60 product m=16 k=24 n=8 dtype=bf16\nbf16_own 60 product m=40 k=48 n=56 dtype=bf16 -s tests/gpu/one_warp.json\nnever 0 memory gelu 8 8\n' >"$dir/rows"
export TESSERA_CUDA="driver=$sim,ptx,${TESSERA_CUDA:-}"
ends 1 --build "$BUILD" --out "$dir/out" --rows "$dir/rows" --tests "$dir/tests" --seconds 200 --min-time 10ms
if grep -q 'no NVRTC' "$dir"/out/*.log; then echo "skipped: no NVRTC"; exit 77; fi
says "no-such                      absent"
python3 - "$SOURCE" "$dir/out" <<'PY'
import json, os, sys
sys.path.insert(0, os.path.join(sys.argv[1], "tests/gpu"))
import run, table

out = sys.argv[2]
results = json.load(open(os.path.join(out, "results.json")))
rows = {r["name"]: r for r in results["rows"]}
assert results["format"] == "gpu/1" and results["device"].startswith("simcuda"), results["device"]
for name in ("add_8_16", "product_9_7_5", "bf16_16_24_8", "bf16_own"):
    assert rows[name]["status"] in table.GOOD and rows[name]["device_ns"] > 0, rows[name]
assert rows["add_8_16"]["copy_is"] == "stated" and rows["add_8_16"]["copy_share"] > 0
assert rows["never"]["status"] == "missing" and rows["never"]["why"] == "no time was left"

# Of each model and step there is a row in f32 and one in bf16
with open(os.path.join(sys.argv[1], "tests/gpu/rows")) as f:
    all_rows = [line.split()[2:] for line in f if line.strip() and line[0] != "#"]
alone = [r for r in all_rows if r[0] in ("model", "step") and "--precision" not in r and r + ["--precision", "bf16"] not in all_rows]
assert not alone, alone

# Of BERT and GPT-2 there is every shape of a product by weights: attention's, both of the pair behind it, the vocabulary's
for shape in ("k=768 n=768", "k=768 n=2304", "k=768 n=3072", "k=3072 n=768", "k=768 n=50257"):
    assert any(set(shape.split()) < set(r) and r[0] == "product" for r in all_rows), shape
    assert any(set(shape.split() + ["dtype=bf16"]) < set(r) for r in all_rows), shape

# How rows are spelled for the command
dims = run.spelled("model", ["bert-base", "batch=1", "seq=128"])
assert dims == ("bert-base", ["--dim", "batch=1", "--dim", "seq=128"], ["--dim", "batch=1", "--dim", "seq=128"]), dims
narrow = run.commands(type("Run", (), {"tessera": "t", "python": "p", "min_time": "0.5s", "path": lambda s, n: os.path.join(out, n)})(),
                      "h", "model", ["bert-base", "batch=1", "--precision", "bf16"], True)
assert narrow[1][narrow[1].index("--precision") + 1] == "bf16" and "--dim" not in narrow[1], narrow
assert "--precision" not in narrow[0], narrow
step = run.spelled("step", ["gpt2", "batch=4", "seq=64", "--task", "lm"])
made = run.commands(type("Run", (), {"tessera": "t", "python": "p", "min_time": "0.5s", "path": lambda s, n: os.path.join(out, n)})(), "h",
                    "product", ["m=4", "k=3", "n=2", "dtype=bf16"], True)
assert [w for w in made[1] if w.startswith("cublas")] == ["cublas"] and made[0][:2] == ["t", "export"], made
assert json.load(open(os.path.join(out, "h.graph.json")))["inputs"][1] == {"name": "b", "dtype": "bf16", "shape": [3, 2]}
assert step == ("gpt2", ["--dim", "batch=4", "--dim", "seq=64"],
                ["--train", "--batch", "4", "--length", "64", "--task", "lm"]), step

# The table, with peers
made = {"machine_state": {"state": "quiet"}, "ceilings": {"fma_f32_gflops": 1000, "read_gbs": 100},
        "candidates": [{"status": "VALID", "reason": None, "stats": {"median_ns": 2e6}, "device_ns": 1e6, "flops": 5e8,
                        "kernels": [{"bytes": 4e7}], "plan": {"isa": "card"}}],
        "peers": [{"name": "torcheager", "status": "VALID", "reason": None, "stats": {"median_ns": 3e6},
                   "device_ns": 1.5e6},
                  {"name": "torchgraph", "status": "ABSENT", "reason": "torch finds no CUDA device", "stats": None}]}
path = os.path.join(out, "made.json")
json.dump(made, open(path, "w"))
told = {"parts": [], "copy_bytes_per_second": 8e10}
assert table.write(out, told, [{"name": "a", "kind": "model", "file": path, "why": ""},
                               {"name": "b", "kind": "memory", "file": path, "why": ""}])
lines = open(os.path.join(out, "table.txt")).read().splitlines()
assert lines[1] == ("a                              2        1       500    50 %       -        -  "
                    "torcheager 1.50 (1.50)  torchgraph torch finds no CUDA device"), lines[1]
assert lines[2].startswith("b                              2        1         -       -      40     50 %"), lines[2]
made["candidates"][0] |= {"status": "INVALID", "reason": "wrong: output 0"}
json.dump(made, open(path, "w"))
assert not table.write(out, told, [{"name": "a", "kind": "model", "file": path, "why": ""}])
assert "INVALID: wrong: output 0" in open(os.path.join(out, "table.txt")).read()
PY
