"""compare.py PROGRAM COUNT [KIND...] - each kind's tokenizer.json by Tessera (PROGRAM is what tokens_test.c makes) and
by the tokenizers package: COUNT texts, ids with and without what goes around a text, and the text of the ids.
compare.py PROGRAM --table FILE holds it against numbers that the package gave; with BLESS set, writes them."""
import json, os, struct, subprocess, sys, tempfile
import kinds, strings


def ours(source, texts):
    """[(ids, text of the ids)] of texts [(text, whole)]."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(source, f)
        f.flush()
        given = b"".join(struct.pack("<II", len(t.encode()), whole) + t.encode() for t, whole in texts)
        run = subprocess.run([sys.argv[1], f.name], input=given, capture_output=True)
    if run.returncode:
        sys.exit(f"{run.returncode}: {run.stdout[:2000].decode()} {run.stderr[:2000].decode()}")
    lines = run.stdout.decode().split("\n")
    return [([int(i) for i in lines[k].split()], bytes.fromhex(lines[k + 1]).decode(errors="replace"))
            for k in range(0, len(lines) - 1, 2)]


def compare(name, source, count):
    from tokenizers import Tokenizer
    theirs, wrong = Tokenizer.from_str(json.dumps(source)), 0
    texts = [(t, k % 2 == 0) for k, t in enumerate(strings.texts(count, len(name)))]
    for (text, whole), (ids, back) in zip(texts, ours(source, texts), strict=True):
        want, got = theirs.encode(text, add_special_tokens=whole).ids, ids
        if want == got and want and theirs.decoder:
            want, got = theirs.decode(want), back
        if want != got:
            wrong += 1
            if wrong <= 3:
                print(f"{name}: {text!r}\n  {want!r}, not\n  {got!r}")
    print(f"{name}: {wrong} of {count} texts differ", flush=True)
    return wrong


def bless(path, all):
    from tokenizers import Tokenizer
    with open(path, "w") as out:
        for name, source in all.items():
            theirs = Tokenizer.from_str(json.dumps(source))
            few = [t for t in strings.texts(400, len(name)) if 3 < len(t) < 40 and len(t.encode()) < 60]
            for text in few[:12 if name in kinds.kinds() else 4]:
                out.write(f"{name}\t{json.dumps(text)}\t{' '.join(map(str, theirs.encode(text).ids))}\n")


def table(path, all):
    if os.environ.get("BLESS"):
        bless(path, all)
    rows, bad = {}, 0
    for line in open(path):
        name, text, want = line.rstrip("\n").split("\t")
        rows.setdefault(name, []).append((json.loads(text), want))
    for name, source in all.items():
        for (text, want), (ids, _) in zip(rows[name], ours(source, [(t, True) for t, _ in rows[name]]), strict=True):
            if " ".join(map(str, ids)) != want:
                bad += 1
                print(f"{name}: {text!r}\n  {want}, not\n  {ids}")
    print(f"{len(all)} tokenizers, {bad} texts of the table differ")
    return bad


every = {**kinds.kinds(), **kinds.probes()}
if sys.argv[2] == "--table":
    sys.exit(table(sys.argv[3], every) > 0)
chosen = {k: every[k] for k in sys.argv[3:]} or every
sys.exit(sum(compare(k, v, int(sys.argv[2])) for k, v in chosen.items()) > 0)
