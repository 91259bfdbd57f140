# Every stage of small models as text, for people to read: a change of a pass shows here as a difference that can be
# judged. Each folder holds a model's graph, its plan (per kernel: extents, loops, layouts) and, where asked for, the C
# text of its kernels; `./dev bless` rewrites them. Instruction set and threads are fixed; what depends on the machine's
# caches is left out.
set -eu
failed=0
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
how="--isa avx2 --threads 2"

plan() { # from plan/1 on standard input
    python3 -c '
import json, sys
for k in json.load(sys.stdin)["kernels"]:
    print(k["name"], k["op"], " ".join("%s=%d" % d for d in k["dims"].items()))
    print("    " + k["loops"])
    for o in k["operands"]:
        print("    %s: %s %s over %s" % (o["operand"], o["tensor"] or "-", o["type"], o["layout"] or "nothing"))'
}

# kernels FOLDER: the distinct kernels of an emitted program as program.c first names them, less their preludes
kernels() {
    python3 - "$1" <<'PY'
import glob, os, re, sys
text = open(sys.argv[1] + "/program.c").read()
files = {os.path.basename(f)[2:-2]: open(f).read() for f in glob.glob(sys.argv[1] + "/k_*.c")}
order = list(dict.fromkeys(h for h in re.findall(r"k_([0-9a-f]+)", text) if h in files))
assert sorted(order) == sorted(files), "program.c names other kernels than there are"
for i, name in enumerate(order):
    body = files[name].split("#define FUNCTION", 1)[1].split("\n", 1)[1]
    print("/* ---- distinct kernel %d ---- */\n%s" % (i, body.strip().replace(name, str(i))))
PY
}

golden() { # golden NAME ARGUMENT...: the stages of a model
    name=$1 want=$SOURCE/tests/golden/$1 got=$out/$1
    shift
    mkdir -p "$got"
    "$TESSERA" show "$@" --stage folded -q >"$got/graph.txt"
    "$TESSERA" show "$@" --stage planned --json $how | plan >"$got/plan.txt"
    if [ "$name" = bert-tiny ]; then
        "$TESSERA" emit "$@" $how -o "$out/emitted" -q
        kernels "$out/emitted" >"$got/kernels.txt"
    fi
    [ -z "${BLESS:-}" ] || { rm -rf "$want" && cp -R "$got" "$want"; }
    diff -ru "$want" "$got" || { echo "$name: not as in $want; if that is right: ./dev bless"; failed=1; }
}

golden bert-tiny bert-tiny --dim seq=8
golden gpt2-tiny gpt2-tiny --dim seq=1 --dim past=7
golden resnet-tiny resnet-tiny
exit $failed
