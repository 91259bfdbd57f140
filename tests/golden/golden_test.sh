# Every stage of small models as text, for people to read: a change of a pass shows here as a difference that can be
# judged. Each folder holds a model's graph, its plan (per kernel: extents, loops, layouts), the statement trees of its
# kernels and, of one model, their text for each back end that emits, and the plan of a training step; `./dev bless`
# rewrites them. Instruction set and threads, or the card, are fixed, as rates of the machine are; what depends on its
# caches is left out.
# ctest: Og
set -eu
failed=0
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
on='core:2 isa:avx2'

plan() { # from plan/1 on standard input
    python3 -c '
import json, sys
for k in json.load(sys.stdin)["kernels"]:
    print(k["name"], k["op"], " ".join("%s=%d" % d for d in k["dims"].items()))
    print("    " + k["loops"])
    for o in k["operands"]:
        print("    %s: %s %s over %s" % (o["operand"], o["tensor"] or "-", o["type"], o["layout"] or "nothing"))'
}

# trees FOLDER: the distinct statement trees of a plan's kernels, each under the name of the first that has it
trees() {
    python3 - "$1" <<'PY'
import glob, os, re, sys
files = sorted(glob.glob(sys.argv[1] + "/*.tree"), key=lambda f: int(re.search(r"k(\d+)-", os.path.basename(f))[1]))
seen = set()
for f in files:
    tree = open(f).read()
    if tree not in seen:
        print("---- %s ----\n%s" % (os.path.basename(f)[:-5], tree.strip()))
    seen.add(tree)
assert seen, "no kernel has a tree"
PY
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
    body = files[name][files[name].index("/* share.h"):]
    print("/* ---- distinct kernel %d ---- */\n%s" % (i, body.strip().replace(name, str(i))))
PY
}

# device_kernels FOLDER: the same of a program for a device, whose kernels begin with comments: their layers, then loops
device_kernels() {
    python3 - "$1" <<'PY'
import glob, re, sys
names = list(dict.fromkeys(re.findall(r'"(k_[0-9a-f]{12})"', open(sys.argv[1] + "/program.c").read())))
head = re.compile(r"^(?:/\* layers:\n(?: \*.*\n)*)?/\* \S+\n(?: \*.*\n)*? \* loops:", re.M)
body = {}
for path in glob.glob(sys.argv[1] + "/*.cu") + glob.glob(sys.argv[1] + "/*.cl"):
    text = open(path).read()
    at = [m.start() for m in head.finditer(text)] + [len(text)]
    for first, end in zip(at, at[1:]):
        body[re.search(r"\bk_[0-9a-f]{12}\b", text[first:end])[0]] = text[first:end]
assert sorted(body) == sorted(names), "program.c names other kernels than there are"
for i, name in enumerate(names):
    print("/* ---- distinct kernel %d ---- */\n%s" % (i, body[name].strip().replace(name, "k_%d" % i)))
PY
}

# step_plan FOLDER ARGUMENT...: the plan of one training step on a few bytes of text
step_plan() {
    data=$1
    shift
    mkdir "$data"
    printf 'good\t1\nbad\t0\nfine\t1\nodd\t0\n' >"$data/data.tsv"
    "$TESSERA" train "$@" --tokenizer bytes --data "$data/data.tsv" --labels 2 --length 8 --batch 2 --steps 1 \
        -o "$data/run" -q
    "$TESSERA" explain "$data/run" --json --machine "$on" --threads 2 | plan
}

golden() { # golden NAME ARGUMENT...: the stages of a model
    name=$1 want=$SOURCE/tests/golden/$1 got=$out/$1
    shift
    mkdir -p "$got"
    "$TESSERA" show "$@" --stage folded -q >"$got/graph.txt"
    "$TESSERA" show "$@" --stage planned --json --machine "$on" --threads 2 | plan >"$got/plan.txt"
    "$TESSERA" explain "$@" --machine "$on" --threads 2 --dump "tree=$out/$name.trees" -q >/dev/null
    trees "$out/$name.trees" >"$got/trees.txt"
    if [ "$name" = bert-tiny ]; then
        "$TESSERA" emit "$@" --machine "$on" --threads 2 -o "$out/emitted" -q
        kernels "$out/emitted" >"$got/kernels.txt"
        for device in cuda opencl; do # none need be here
            "$TESSERA" emit "$@" --target $device --machine gpu:h100 -o "$out/$device" -q
            device_kernels "$out/$device" >"$got/$device.txt"
        done
        step_plan "$out/step" "$name" --machine "$on" --threads 2 >"$got/step.txt"
    fi
    [ -z "${BLESS:-}" ] || { rm -rf "$want" && cp -R "$got" "$want"; }
    diff -ru "$want" "$got" || { echo "$name: not as in $want; if that is right: ./dev bless"; failed=1; }
}

golden bert-tiny bert-tiny --dim seq=8
golden gpt2-tiny gpt2-tiny --dim seq=1 --dim past=7
golden resnet-tiny resnet-tiny
exit $failed
