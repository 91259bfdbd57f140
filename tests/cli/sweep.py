"""sweep.py: every option of every verb with values that are wrong, in a command that is right without. Each ends with
the code of a mistake (never a crash, never success), one error that names the value and a hint, nothing on standard
output, and leaves no file. What the options are comes from `tessera help --json`."""
import json, os, re, shutil, subprocess, sys

TESSERA = os.environ["TESSERA"]
CODES = {2, 3, 4, 5, 8}
BASE = {  # verb: arguments of a command that is right
    "run": "m.json --seed 1 --threads 1",
    "show": "m.json --dim rows=2",
    "explain": "m.json --dim rows=2",
    "explore": "m.json --dim rows=2",
    "emit": "m.json --dim rows=2 --out made",
    "import": "m.json --out made",
    "export": "m.json --out made.onnx",
    "bench": "m.json -s guess -s naive --min-time 40ms --launches 2 --threads 1",
    "check-grad": "m.json --dim rows=2",
    "adbench": "gmm gmm.txt --min-time 1ms",
    "trace-diff": "values.json values.json",
    "compare": "results.json results.json",
    "report": "results.json",
    "check": "m.json -s s.json",
    "schema": "lint s.json m.json",
    "cache": "size",
    "config": "",
    "completion": "bash",
    "doctor": "--threads 1",
    "help": "exit",
    "ops": "",
    "version": "",
    "onnx-test": "cases --target interp",
    "train": "model.json --tokenizer vocab.txt --data train.tsv --length 12 --batch 8 --steps 1 --threads 1 --out made",
    "eval": "run --data dev.tsv",
    "predict": "run --text film",
    "quantize": "m.onnx --weights int4 --out made",
    "suite": "--quick --only row --threads 1",
    "tune": "m.json --budget 2s --most 2 --threads 1 --out made",
    "generate": "lm --prompt ab --max-tokens 2",
}
WRITES = {"out", "report", "dot", "svg", "json", "grad-norms", "trace", "trace-values", "single"}  # what is made
WORDS = {  # by what help calls the value
    "N": ["x", "-1", "1.5", "1e3", "99999999999999999999", ""],
    "X": ["x", "-1", "nan", "inf", "1e999", "0x1", ""],
    "TIME": ["x", "0", "-1s", "1e99", "1y", ""],
    "SIZE": ["x", "-1", "1X", "99999999999999999999T", ""],
    "PERCENT": ["x", "-5%", "5", ""],
    "NAME=N": ["x", "=", "=1", "rows=", "rows=x", "rows=-1", "rows=99999999999999999999", "none=4", ""],
    "NAME=FILE.npy": ["x", "=", "x=", "x=none.npy", "x=folder", "x=empty", "x=junk", "none=x.npy", ""],
    "FILE|NAME=FILE.npy": ["none", "folder", "empty", "x=none.npy", "x=folder", "x=empty", ""],
    "NAME": ["nothing", ""],
}
READ = ["none", "none/none", "folder", "empty", "junk", "plain/x", ""]
WRITTEN = {"FILE": ["none/none", "plain/x", "folder", ""], "FOLDER": ["plain", "plain/x", ""],
           "RUN": ["plain", "plain/x", ""]}
FINE = {("predict", "file", "empty"), ("predict", "file", "junk"), ("train", "head", "none"), ("train", "data", ""),
        ("tune", "log", "none"), ("tune", "log", "empty")}
NO_USE = {("schema", "out"), ("show", "target"), ("show", "isa"), ("onnx-test", "target")}  # in these commands
# A message says what to do by these words too
REMEDY = re.compile(r"\n  hint: |must be|known are|a range two of them|No such file|[Nn]ot a directory|"
                    r"[Ii]s a (folder|file|directory)|\b[A-Z]\d{3} ")
PASSED_OVER = {"GLOB", "TEXT", "GLOB|none", "PATTERN", "P0,P1", "Add,Conv", "FOLDER|none"}


def wrong_values(o):
    kind = o["value"]
    if o["name"] in WRITES:
        return WRITTEN[kind]
    if kind in WORDS:
        return WORDS[kind]
    if kind in PASSED_OVER:
        return []
    if kind.startswith("FILE") or kind == "FOLDER":
        return READ if kind != "FOLDER" else []
    return ["nothing", ""]  # one of some words


def files():
    return sorted(os.path.join(at, name) for at, folders, names in os.walk(".") for name in folders + names)


def command(verb, name, value):
    words = BASE[verb].split()
    option = f"--{name}"
    while option in words:  # the wrong one alone
        i = words.index(option)
        del words[i:i + 2]
    return [TESSERA, verb, *words, f"{option}={value}"]


def complaints(verb, name, value):
    before = files()
    p = subprocess.run(command(verb, name, value), capture_output=True, text=True, stdin=subprocess.DEVNULL,
                       timeout=120)
    said = [line for line in p.stderr.splitlines() if line.startswith("error: ")]
    if p.returncode not in CODES:
        yield f"exit code {p.returncode}"
    if len(said) != 1:
        yield f"{len(said)} errors"
    if not any(word and word in p.stderr for word in [f"--{name}", value, *re.split("[=/]", value)]):
        yield "neither value nor option is named"
    if not REMEDY.search(p.stderr):
        yield "no hint"
    if p.stdout:
        yield "something on standard output"
    left = set(files()) - set(before)
    if left:
        yield f"leaves {sorted(left)[:3]}"
        for path in sorted(left, reverse=True):
            shutil.rmtree(path) if os.path.isdir(path) else os.path.exists(path) and os.remove(path)
    if p.returncode and p.stderr:
        global last
        last = p.stderr.strip()[:300]


last = ""


def verbs():
    found = json.loads(subprocess.run([TESSERA, "help", "--json"], capture_output=True, check=True).stdout)["verbs"]
    missing = {v["name"] for v in found} - set(BASE)
    assert not missing, f"no command for {missing}"
    return [v for v in found if not sys.argv[1:] or v["name"] in sys.argv[1:]]


def main():
    global last
    tried = bad = 0
    for verb in verbs():
        for o in verb["options"]:
            for value in wrong_values(o) if o["value"] else []:
                if (verb["name"], o["name"], value) in FINE or (verb["name"], o["name"]) in NO_USE:
                    continue
                tried, last = tried + 1, ""
                what = list(complaints(verb["name"], o["name"], value))
                if what:
                    bad += 1
                    print(f"{verb['name']} --{o['name']}={value!r}: {'; '.join(what)}\n    {last}", file=sys.stderr)
    print(f"{tried} command lines, {bad} wrong")
    sys.exit(bad > 0 or not tried)


if __name__ == "__main__":
    main()
