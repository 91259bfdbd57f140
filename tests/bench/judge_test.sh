#!/bin/sh
# judge_test.sh - --judge NAME: that target's results are right, not those of plain loops in f64; results say so.
. "$SOURCE/tests/cli/expect.sh"
small='bench products --dim m=4 --dim k=4 --dim n=4 --dim layers=1 --launches 1 --min-time 0.05s'
# shellcheck disable=SC2086
{
    expect 2 'no target "nonsense"' $small --judge nonsense
    expect 0 '"judge":"interp"' $small --judge interp --json
    expect 0 'results are held against target interp, which rounds as the model does, and not against f64' $small --judge interp --json
    "$TESSERA" $small --json >"$dir/plain" 2>/dev/null
}
grep -q '"judge"' "$dir/plain" && wrong 'a judge is named that nobody asked for'

# A judge is no slower to build than what it judges: gcc 12.2 does not end over a matrix walked across its rows.
python3 - "$dir" <<'PY'
import json, struct, sys
n = 1000 * 4096
head = json.dumps({"w": {"dtype": "F32", "shape": [1000, 4096], "data_offsets": [0, 4 * n]}}).encode()
open(sys.argv[1] + "/w.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + struct.pack("<f", 0.01) * n)
json.dump({"format": "graph/1", "opset": {"": 17}, "weights": {"file": "w.safetensors"},
           "inputs": [{"name": "x", "dtype": "f32", "shape": [1, 4096]}],
           "outputs": [{"name": "y", "dtype": "f32", "shape": [1, 1000]}],
           "nodes": [{"op": "Gemm", "in": ["x", "w"], "out": ["y"], "attr": {"transB": 1}}]},
          open(sys.argv[1] + "/gemm.json", "w"))
PY
cat >"$dir/cc" <<'CC'
#!/bin/sh
case $* in *" -c "*-O*-O* | *-O*-O*" -c "*) echo "$*" >>"$0.lower" ;; esac
exec gcc "$@"
CC
chmod +x "$dir/cc"
TESSERA_CC=$dir/cc
export TESSERA_CC
expect 0 VALID bench "$dir/gemm.json" --launches 1 --min-time 0.05s --cache-dir none
[ ! -e "$dir/cc.lower" ] || wrong "a kernel of the judge takes too long to compile: $(cat "$dir/cc.lower")"
finish
