"""Every schema and every nest of README.md and docs/: planned for each instruction set, rules have to decide kernels.

Nests stand in blocks marked `nest KIND`, a line each; schemas in blocks of JSON, or where a command writes them. Plans
alone: nothing is compiled, so that one machine judges for all.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

tessera, source = sys.argv[1:]
product = ["products", "--dim", "m=128", "--dim", "n=768", "--dim", "k=3072", "--dim", "layers=1"]
processors = ["core:2 isa:" + isa for isa in ("avx2", "avx512", "plain", "neon")]
# KIND: the operation, the model that has it, the machines
kinds = {
    "": ("matmul", product, processors),
    "attention": ("attention", ["bert-base"], processors),
    "attention blocks": ("attention", ["bert-base", "--dim", "seq=512"], processors),
    "gpu": ("matmul", product, ["gpu:h100"]),
    "gpu bf16": ("matmul", ["half.json"], ["gpu:h100"]),
}
half = {"format": "graph/1", "name": "half", "opset": {"": 17}, "outputs": [{"name": "y"}],
        "inputs": [{"name": name, "dtype": "bf16", "shape": [512, 512]} for name in "ab"],
        "nodes": [{"name": "y", "op": "MatMul", "in": ["a", "b"], "out": ["y"]}]}

# where rules of a page find their kernels: the first model that has one for each
models = [["bert-base"], ["minilm"], ["resnet-18"], ["gpt2-tiny"], product,
          ["products", "--dim", "n=16", "--dim", "layers=1"]]
pages = {"tutorial.md": [["minilm", "--dim", "seq=64"]]}  # whose commands are about one model
bad = count = 0


def wrong(what, why):
    global bad
    bad += 1
    print(f"{what}: {why}")


def explain(model, schema, machine):
    """The plan, or what is said instead."""
    target = ["--target", "cuda"] if machine.startswith("gpu") else []
    done = run(["explain", *model, "-s", schema, "--machine", machine, *target, "--json", "-q"])
    return (json.loads(done.stdout), "") if done.returncode == 0 else (None, done.stderr)


def run(words):
    return subprocess.run([tessera, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)


def decided(plan, rules=()):
    """Names of rules that some kernel follows: its loops are theirs, or they place it without a complaint."""
    names = {k["rule"] for k in plan["kernels"] if k.get("rule") and not k.get("guessed")}
    placed = {r["name"] for r in rules if "place" in r and "loops" not in r}
    return names | {name for name in placed if not any(f'"{name}" decides no kernel' in n for n in plan["notes"])}


def recomputed(schema, rules):
    """Names of rules for which a training step computes something again."""
    names = {r["name"] for r in rules if "recompute" in r}
    train = ["train", "gpt2-tiny", "--task", "lm", "--tokenizer", "bytes", "--length", "16", "--batch", "2"]
    data = ["--steps", "1", "--data", source + "/README.md", "-s", schema, "-o", schema + ".run", "--dry-run"]
    done = run(train + data) if names else None
    return {name for name in names if done.returncode == 0 and f'"{name}" recomputes nothing' not in done.stderr}


def check_nest(page, kind, nest, folder):
    global count
    if kind not in kinds:
        return wrong(page, f"```nest {kind}: no such kind in tests/docs/nests.py")
    operation, model, machines = kinds[kind]
    model = [os.path.join(folder, model[0]), *model[1:]] if model[0].endswith(".json") else model
    schema = os.path.join(folder, "nest.json")
    with open(schema, "w") as f:
        json.dump({"format": "tiling/1", "rules": [{"name": "page", "match": {"op": operation}, "loops": [nest]}]}, f)
    for machine in machines:
        plan, said = explain(model, schema, machine)
        count += 1
        if not plan:
            wrong(f"{page}: {nest}: {machine}", said)
        elif "page" not in decided(plan):
            wrong(f"{page}: {nest}: {machine}", "it decides no kernel")


def check_schema(page, text, folder):
    global count
    schema = os.path.join(folder, "page.json")
    whole = json.loads(text)
    if "format" not in whole:
        whole = {"format": "tiling/1", "rules": [whole]}
    with open(schema, "w") as f:
        json.dump(whole, f)
    rules = whole.get("rules", [])
    names = {r["name"] for r in rules} - recomputed(schema, rules)
    for machine in processors if names or not rules else []:
        left, said, reached = set(names), [], False
        for model in pages.get(page, models):
            plan, why = explain(model, schema, machine)
            count += 1
            said += [why] if why else []
            by = decided(plan, rules) - {"guess"} if plan else set()
            left -= by
            reached = reached or bool(by)
            if reached and not left:
                break
        if left or not reached:
            wrong(f"{page}: {machine}", f"{sorted(left) or text} decide no kernel\n{''.join(said)}")


def main():
    paths = [source + "/README.md"] + sorted(glob.glob(source + "/docs/*.md"))
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "half.json"), "w") as f:
            json.dump(half, f)
        for path in paths:
            page, text = os.path.basename(path), open(path).read()
            for kind, block in re.findall(r"^```nest ?(.*)\n((?:.*\n)*?)```", text, re.M):
                for nest in block.splitlines():
                    check_nest(page, kind, nest, folder)
            blocks = re.findall(r"^```json.*\n((?:.*\n)*?)```", text, re.M)
            blocks += re.findall(r"<<'?EOF'?\n((?:.*\n)*?)EOF", text, re.M)
            for block in blocks:
                if '"tiling/1"' in block or '"loops"' in block:
                    check_schema(page, block, folder)
    print(f"nests: {count} plans, {bad} wrong")
    return bad > 0 or count < 80


sys.exit(main())
