#!/bin/sh
# dump_test.sh - explain --dump: the graph, what each pass left, and plan, tree, text and assembly of the kernels that --op
# names; the text is the one that a program carries, assembly is of it, and two runs write the same bytes.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
small="--dim seq=8 --threads 2 --isa avx2"
all() { # all FOLDER ARGUMENT...: every stage into one folder
    to=$1
    shift
    "$TESSERA" explain "$@" --dump all="$to" -q >/dev/null 2>err || wrong "explain --dump $*" "$(cat err)"
}
# shellcheck disable=SC2086
{
all one bert-tiny $small --op matmul
all two bert-tiny $small --op matmul
diff -r one two >diff || wrong "two runs write other files" "$(head -5 diff)"
"$TESSERA" show bert-tiny --stage folded --dim seq=8 | cmp - one/graph.txt || wrong "graph.txt is not what show --stage folded says"
"$TESSERA" help passes --json | "${PYTHON:-python3}" -c '
import json, os, sys
want = ["%02d-%s.txt" % (i + 1, p["name"]) for i, p in enumerate(q for q in json.load(sys.stdin) if q["of"] == "plan")]
got = sorted(f for f in os.listdir("one") if f[:2].isdigit())
assert got == want, (got, want)' || wrong "not a file for each pass"
grep -q '^k1 matmul .*: add%[0-9]*$' one/08-fuse.txt || wrong "no kernels behind fuse" "$(tail -3 one/08-fuse.txt)"
grep -q 'n@vector' one/08-fuse.txt && wrong "loops before the pass that makes them"
grep -q 'm@unroll n@vector' one/12-loops.txt || wrong "no loops behind loops" "$(tail -3 one/12-loops.txt)"
grep -q '^k[0-9]* ' one/06-dots.txt && wrong "kernels before fuse"
"$TESSERA" explain bert-tiny $small --op matmul --json >plan.json
"$TESSERA" emit bert-tiny $small -o emitted -q
later "files of kernels" '
import json, os, re
plan = json.load(open("plan.json"))["kernels"]
emitted = "\0".join(open("emitted/" + f).read() for f in os.listdir("emitted") if f.endswith(".c"))
def bare(text): # without comments: who has it stands in the program alone
    return re.sub(r"/\*.*?\*/\s*", "", text, flags=re.S).strip()
have = [bare(t) for t in emitted.split("\0")]
want = {k["name"] + "-matmul" for k in plan}
got = {f.rsplit(".", 1)[0] for f in os.listdir("one") if f.startswith("k")}
assert got == want, (got, want)
for k in plan:
    at = "one/" + k["name"] + "-matmul."
    assert json.load(open(at + "json"))["loops"] == k["loops"]
    text = open(at + "c").read()
    assert bare(text) in have, at
    name = re.search(r"(k_[0-9a-f]+)\(", text).group(1)
    assert name + ":" in open(at + "s").read(), at
    tree = open(at + "tree").read()
    assert tree.startswith("matmul\n") and "@vector" in tree, tree
assert re.search(r"loop n_\d+ = 0 to before \d+, \d+ trips, @vector, written out", tree), tree'
all scan "gru f32[20,3,5] f32[18,5] f32[18,6] f32[36] f32[3,6]" --threads 1 --isa avx2
for made in scan/k*.tree scan/k*.c scan/k*.s; do
    [ -s "$made" ] || wrong "nothing in $made"
done
"$TESSERA" explain bert-tiny --dim seq=8 --target cuda --machine gpu:h100 --op matmul --dump text=cuda --dump tree=cuda -q >/dev/null || wrong "dump of cuda"
grep -q '__global__' cuda/k1-matmul.c || wrong "no CUDA C"
grep -q 'lane = threadIdx.x' cuda/k1-matmul.tree || wrong "no lanes in a tree of cuda"
expect 4 'target interp makes nothing of kernels' explain bert-tiny --dim seq=8 --target interp --dump text=x
expect 2 '--dump "txet=x": there is no stage "txet"' explain bert-tiny --dump txet=x
grep -q 'did you mean text?' err || wrong "no nearest stage"
expect 2 '--dump "text"' explain bert-tiny --dump text
expect 8 'plan.json' explain bert-tiny --dump text=plan.json
}
finish
