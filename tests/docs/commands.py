"""Every command of README.md, DESIGN.md and docs/: its verb and its options are there, its choices too, and so are the
built-in models and schemas that it names. Those that plan or print alone are run."""
import glob
import json
import os
import re
import shlex
import subprocess
import sys

tessera, source = map(os.path.abspath, sys.argv[1:])
# verbs that leave nothing and compile nothing
shows = {"show", "explain", "schema", "ops", "help", "version"}
bad = []


def output(*words):
    folder = os.environ["XDG_CACHE_HOME"]  # for what a command leaves
    pipe = subprocess.PIPE
    return subprocess.run([tessera, *words], cwd=folder, stdout=pipe, stderr=pipe, universal_newlines=True)


def commands(text):
    """Lines of blocks marked sh, indented lines, and what stands in backticks: (words, whole)."""
    text = text.replace("\\\n", " ")
    blocks = "\n".join(re.findall(r"^```sh\n((?:.*\n)*?)```", text, re.M))
    rest = re.sub(r"^```.*\n(?:.*\n)*?```", "", text, flags=re.M)
    found = [(m, True) for m in re.findall(r"^(?:! )?(?:build/)?tessera (.*)$", blocks, re.M)]
    found += [(m, True) for m in re.findall(r"^    (?:mpirun [^/\n]*)?(?:build/)?tessera (.*)$", rest, re.M)]
    found += [(m.replace("\n", " "), False) for m in re.findall(r"`(?:build/)?tessera ([a-z][^`]*)`", rest)]
    for line, whole in found:
        line = re.split(r"\s(?:#\s.*$|\||>|2>|<|&&|;)|\s#.*$|;$", line)[0]
        try:
            yield shlex.split(line), whole
        except ValueError:
            bad.append(f"{line}: it is not closed")


def check(words, whole, verbs, options):
    verb = words[0]
    if verb not in verbs:
        return f"there is no verb {verb}" if verb.islower() else None
    known = options[verb]
    i = 1
    while i < len(words):
        word = words[i]
        i += 1
        if word == "--":
            break
        name = word.split("=")[0]
        if not re.match(r"--?[a-z]", word):
            continue
        if name not in known:
            return f"{verb} has no option {name}"
        choices = known[name]
        if choices is None:
            continue
        value = word.split("=", 1)[1] if "=" in word else words[i] if i < len(words) else None
        i += "=" not in word
        if value is None:
            return f"{name} has no value" if whole else None
        if re.fullmatch(r"[a-z0-9-]+(\|[a-z0-9-]+)+", choices) and value not in choices.split("|") and value.islower():
            return f"{name} is none of {choices}: {value}"
    return None


def runs(words, names):
    """Whether it can be run as it stands: no file of somebody's is in it."""
    bare = [w for w in words[1:] if not w.startswith("-")]
    file = r"\.(json|log|onnx|npy|tsv|txt|html|svg)$|/|^[A-Z]+$|^(run|mine|out|-o)$|=[A-Z]$"
    files = [w for w in words if re.search(file, w)]
    first = bare[0] if bare else ""
    return words[0] in shows and not files and (words[0] != "show" and words[0] != "explain" or first in names)


def main():
    verbs, options = {}, {}
    for v in json.loads(output("help", "--json").stdout)["verbs"]:
        verbs[v["name"]] = v
        of = options[v["name"]] = {"-h": None, "--help": None}
        for o in v["options"]:
            of["--" + o["name"]] = o.get("value") or None
            if o.get("letter"):
                of["-" + o["letter"]] = o.get("value") or None
    told = output("show", "nothing-of-that-name").stderr.split("built-in models are", 1)[1]
    names = set(re.findall(r"[a-z0-9-]+", told))
    count = ran = 0
    for path in [source + "/README.md", source + "/DESIGN.md"] + sorted(glob.glob(source + "/docs/*.md")):
        text = open(path).read()
        for words, whole in commands(text):
            if any(f"/{w}.c\n" in text for w in words):
                continue  # it names what the page adds: tests/ontop.sh runs it
            count += 1
            why = words and check(words, whole, verbs, options)
            if not why and words and whole and runs(words, names):
                done, ran = output(*words, "-q") if words[0] not in ("help", "version") else output(*words), ran + 1
                why = done.stderr if done.returncode else None
            if why:
                bad.append(f"{os.path.basename(path)}: tessera {' '.join(words)}: {why}")
    print("\n".join(bad))
    print(f"commands: {count} told, {ran} of them run, {len(bad)} wrong")
    return bool(bad) or count < 150 or ran < 15


sys.exit(main())
