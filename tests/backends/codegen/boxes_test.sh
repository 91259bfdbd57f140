#!/bin/sh
# Barriers of boxes that rings within loops of a convolution wait for: they are made once in front of these loops, and
# ended behind them.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
cat >conv.json <<'JSON'
{"format": "graph/1", "opset": {"": 17}, "outputs": [{"name": "y"}],
 "inputs": [{"name": "x", "dtype": "f16", "shape": [2, 32, 9, 64]}, {"name": "w", "dtype": "f16", "shape": [66, 32, 3, 3]}],
 "nodes": [{"op": "Conv", "in": ["x", "w"], "out": ["y"], "attr": {"pads": [1, 1, 1, 1]}}]}
JSON
cat >loops.json <<'JSON'
{"format": "tiling/1", "rules": [{"loops":
 "n@block oc/64@block oh@block ow/32@block kh kw ic/32+a*2+b*2 ic/16@unroll oc/16@warp oc@mma ow@mma ic@mma"}]}
JSON
"$TESSERA" emit conv.json --target cuda --machine gpu:h100 -s ./loops.json -o made -q >said 2>&1 || wrong "emit fails: $(cat said)"
checked=$((checked + 1))
order=$(awk '/^static .* tile/ {if (now) print now; now = ""} /^ +boxes_begin\(/ {now = now "begin "} /for \(trip kh/ {now = now "loop "}
    /^ +box_wait\(/ {now = now "wait "} /^ +boxes_end\(/ {now = now "end"} END {print now}' made/k_*.cu | sort -u)
[ "$order" = "begin loop wait wait end" ] || [ "$order" = "begin loop wait end" ] || wrong "in the wrong order: $order"
finish
