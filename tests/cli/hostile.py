"""Models whose every name is hostile, through all that the command writes: python3 hostile.py TESSERA FOLDER.

No name may reach a terminal, a page, a picture, a source or a path as anything but a name: terminals get no control or
bidi characters, XML, HTML and JSON stay well-formed with no element or script of a name's, sources are those of a twin
with harmless names, byte for byte, and files stay in the folder that was asked for."""
import hashlib
import html.parser
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import xml.dom.minidom

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "import"))
from malformed import attribute, graph, model, msg, node, num, port, tensor  # noqa: E402

TESSERA, WORK = sys.argv[1], sys.argv[2]
MARK = "zq7"  # in every payload, to find it again

# Names that a file may have. Some 500 bytes are the longest that is read.
ALLOWED = [p.replace("@", MARK) for p in (
    "plain@", '"@', "'@", "`@`", "@\\", "\\@", "\\\\@\\\\", "*/@/*", "//@", "/*@", "@;system(0);//", '"; system("@"); //',
    "</script>@<script>alert(1)</script>", "<img src=x onerror=alert(1)>@", "<!--@-->", "]]>@", "<![CDATA[@", "&@;", "&lt;@",
    "&#0;@", "@%s%n%s%n", "%p%x@", "../@", "../../../../etc/@", "/etc/@", "..", "." , "@/../@", "C:\\@", "~/@", "-@", "--out=@",
    "$(touch @)", "`touch @`", "${HOME}@", "|@", ">@", "@ @", "  @  ", "@,@", "@[0]", "a=@", "#@", "@\u202e", "\u2066@\u2069",
    "\u200f@", "\ufeff@", "\u2028@", "@\u2029", "e\u0301@", "@\U0001f600", "\u0000".replace("\0", "@NUL"), "\\u0000@", "\\x1b@",
    "\\n@", "??/@", "@??)", "{@}", "{{@}}", "[@]", "(@", "@)", "digraph{@", "n0 -> @", "\\l@\\r", "@" + "y" * 480,
    "\U0001f468\u200d\U0001f469\u200d@" + "\u0301" * 100, "NaN@", "null", "true", "@\t".strip() + "\u00a0", "con.@", "@.npy",
)]
# Names that no file may have.
REFUSED = [b"\x1b[31m", b"a\nb", b"a\rb", b"\t", b"\x00a", b"\x7f", b"\xc2\x9b31m", b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\x80",
           b"\xf4\x90\x80\x80", b"y" * 513, b"\x07", b"\x08" * 20]
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
failures = checks = 0


def check(ok, payload, what, more=""):
    global failures, checks
    checks += 1
    if not ok:
        failures += 1
        print(f"{payload!r}: {what} {more!r}"[:600])


def command(*words, cwd=None):
    r = subprocess.run([TESSERA, *words], capture_output=True, cwd=cwd or WORK, timeout=120)
    return r.returncode, r.stdout, r.stderr


def shown(payload, what, *streams):
    """Bytes that go to a terminal: text, without anything that a terminal acts on."""
    for s in streams:
        try:
            found = UNSAFE.search(s.decode())
            check(not found, payload, f"{what}: raw {found and found.group()!r} in", s[:200])
        except UnicodeDecodeError as e:
            check(False, payload, f"{what}: {e} in", s[:200])


def describe(name):
    """Every string of a model that people read or that names a file: all of them `name` with a number."""
    n = ["", " 1", " 2", " 3", " 4", " 5", " 6", " 7"]
    x, w, y, t = (name + n[i] for i in range(4))
    size = (4, 4)
    nodes = [node("MatMul", "", "", name + n[4]), node("Softmax", "", "", name + n[5], axis=-1)]
    nodes = [msg(1, x) + msg(1, w) + msg(2, t) + nodes[0], msg(1, t) + msg(2, y) + nodes[1]]
    ports = [msg(1, x) + msg(2, msg(1, num(1, 1) + msg(2, msg(1, msg(2, name + n[6])) + msg(1, num(1, 4)))))]
    doc = msg(10, name) if len(name) < 200 else b""
    g = graph([m + msg(6, name) for m in nodes], ports, [port(y, dims=size)],
              [tensor(w, size, raw=struct.pack("<16f", *range(16)))], doc)
    about = msg(2, name) + msg(3, name) + msg(4, name) + msg(6, name) + msg(14, msg(1, name) + msg(2, name))
    return model(g, more=about), name + n[6]


def write(path, data):
    with open(os.path.join(WORK, path), "wb") as f:
        f.write(data)


def read(path):
    with open(os.path.join(WORK, path), "rb") as f:
        return f.read()


class Page(html.parser.HTMLParser):
    """Elements and attributes of a page, without text."""

    def __init__(self, text):
        super().__init__()
        self.bones, self.bad = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.bones.append(tag)
        self.bad += [(tag, k) for k, _ in attrs if k.startswith("on") or MARK in k]
        if MARK in tag:
            self.bad.append(tag)


def try_pictures(p, dim):
    code, out, err = command("show", "m.onnx", "--dim=" + dim, "--svg", "m.svg", "--dot", "m.dot")
    if code != 5:  # without Graphviz
        check(code == 0, p, "show --svg", err)
        tree = xml.dom.minidom.parseString(read("m.svg"))
        tags = {e.tagName for e in tree.getElementsByTagName("*")}
        check(tags <= {"svg", "g", "title", "polygon", "text", "path", "ellipse", "a", "polyline", "style", "rect",
                       "tspan", "details", "defs"}, p, "elements of the picture", tags)
        check(not UNSAFE.search(read("m.svg").decode().replace("\n", "")), p, "raw characters in the picture")
    check(not UNSAFE.search(read("m.dot").decode()), p, "raw characters in the DOT text")
    command("show", "m.onnx", "--stage", "imported", "--svg", "f.svg", "--dot", "f.dot")
    check(not UNSAFE.search(read("f.dot").decode()), p, "raw characters in the DOT text of the file")
    if code != 5:
        xml.dom.minidom.parseString(read("f.svg"))


def try_words(p, dim):
    for words in (["show"], ["show", "--stage", "imported"], ["show", "--stage", "folded"], ["show", "--stage", "planned"],
                  ["explain", "--all"], ["run", "--seed", "1", "--target", "interp"]):
        code, out, err = command(words[0], "m.onnx", "--dim=" + dim, *words[1:])
        check(code == 0, p, words, err)
        shown(p, words, out, err)
    for words in (["show"], ["explain"], ["run", "--seed", "1", "--target", "interp"]):
        code, out, err = command(words[0], "m.onnx", "--dim=" + dim, "--json", *words[1:])
        try:
            json.loads(out)
        except ValueError as e:
            check(False, p, f"{words} --json: {e}", out[:200])
        shown(p, words, err)
    shown(p, "an unknown dimension", *command("show", "m.onnx", "--dim", "none=1")[1:])
    shown(p, "an unknown operation", *command("explain", "m.onnx", "--dim=" + dim, "--op=" + p)[1:])
    shown(p, "an input that is not there", *command("run", "m.onnx", "--in=" + p + "=none.npy")[1:])


def try_files(p, dim, twin):
    """What `run --out` and `emit` write."""
    before = set(os.listdir(WORK))
    code, out, err = command("run", "m.onnx", "--dim=" + dim, "--seed", "1", "--target", "interp", "-o", "o/u/t")
    check(code == 0, p, "run --out", err)
    names = os.listdir(os.path.join(WORK, "o/u/t"))
    check(len(names) == 1 and re.fullmatch(r"[A-Za-z0-9._-]+\.npy", names[0]), p, "files of run --out", names)
    check(set(os.listdir(WORK)) == before | {"o"}, p, "files elsewhere")
    check(os.listdir(os.path.join(WORK, "o")) == ["u"] and os.listdir(os.path.join(WORK, "o/u")) == ["t"], p, "and here")
    shutil.rmtree(os.path.join(WORK, "o"))
    code, out, err = command("emit", "m.onnx", "--dim=" + dim, "-o", "e")
    check(code == 0, p, "emit", err)
    json.loads(read("e/ports.json"))  # names for people are in there, and nowhere else
    got = sources("e")
    odd = [f for f in {*got, *(twin or got)} if f != "ports.json" and got.get(f) != (twin or got).get(f)]
    check(not odd, p, "sources differ from those of harmless names", odd)
    return got


def sources(folder):
    all = {}
    for at, _, files in os.walk(os.path.join(WORK, folder)):
        for f in files:
            all[os.path.relpath(os.path.join(at, f), os.path.join(WORK, folder))] = (
                hashlib.sha256(read(os.path.join(at, f))).hexdigest())
    shutil.rmtree(os.path.join(WORK, folder))
    return all


def try_round(p, dim):
    """graph.json and ONNX again: the same graph, with the same names."""
    hashes = {command("show", "m.onnx", "--dim=" + dim, "--hash")[1]}
    code, out, err = command("import", "m.onnx", "-o", "d")
    check(code == 0, p, "import -o", err)
    shown(p, "import -o", out, err)
    if code == 0:
        json.loads(read("d/graph.json"))
        hashes.add(command("show", "d", "--dim=" + dim, "--hash")[1])
        code, out, err = command("export", "d", "-o", "again.onnx")
        check(code == 0, p, "export", err)
        hashes.add(command("show", "again.onnx", "--dim=" + dim, "--hash")[1])
    check(len(hashes) == 1, p, "hashes of the same model", hashes)
    shutil.rmtree(os.path.join(WORK, "d"), ignore_errors=True)


def try_refused(raw):
    at = {"value": lambda: model(graph([node("Relu", "x", "", "n") + msg(2, raw)], [port("x", dims=(2,))], [msg(1, raw)])),
          "node": lambda: model(graph([msg(3, raw) + msg(1, "x") + msg(2, "y") + msg(4, "Relu")], [port("x", dims=(2,))],
                                      [port("y")])),
          "operation": lambda: model(graph([msg(3, "n") + msg(1, "x") + msg(2, "y") + msg(4, raw)],
                                           [port("x", dims=(2,))], [port("y")])),
          "domain": lambda: model(graph([msg(3, "n") + msg(1, "x") + msg(2, "y") + msg(4, "Relu") + msg(7, raw)],
                                        [port("x", dims=(2,))], [port("y")])),
          "attribute": lambda: model(graph([node("Relu", "x", "y", "n", raw=msg(5, msg(1, raw) + num(3, 1) + num(20, 2)))],
                                           [port("x", dims=(2,))], [port("y")])),
          "external file": lambda: model(graph([node("Add", "x,w", "y", "n")], [port("x", dims=(2,))], [port("y")],
                                               [tensor("w", (2,), more=num(14, 1) + msg(13, msg(1, "location") + msg(2, raw)))])),
          "dimension": lambda: model(graph([node("Relu", "x", "y", "n")],
                                           [msg(1, "x") + msg(2, msg(1, num(1, 1) + msg(2, msg(1, msg(2, raw)))))],
                                           [port("y")]))}
    for what, make in at.items():
        write("bad.onnx", make())
        code, out, err = command("show", "bad.onnx")
        check(code in (3, 4), raw, f"{what}: exit code {code}", out + err)
        shown(raw, what, out, err)
        code, out, err = command("show", "bad.onnx", "--json")
        try:
            check(json.loads(out)["error"]["code"] == code, raw, f"{what} --json")
        except (ValueError, KeyError) as e:
            check(False, raw, f"{what} --json: {e}", out[:200])


def try_unknown(p):
    """Operators and files that are not there, named so."""
    for what, m in (("operator", graph([msg(1, "x") + msg(2, "y") + msg(3, p) + msg(4, p) + msg(7, p)],
                                       [port("x", dims=(2,))], [port("y")])),
                    ("file", graph([node("Add", "x,w", "y", "n")], [port("x", dims=(2,))], [port("y")],
                                   [tensor("w", (2,), more=num(14, 1) + msg(13, msg(1, "location") + msg(2, p)))]))):
        write("bad.onnx", model(m))
        code, out, err = command("run", "bad.onnx", "--seed", "1")
        check(code in (3, 4), p, f"{what}: exit code {code}", out + err)
        shown(p, what, out, err)


def try_report(payloads):
    """One page about a model with all names, raced: no element and no attribute comes from a name."""
    nodes, last = [], "x"
    for i, p in enumerate(payloads):
        nodes.append(msg(1, last) + msg(1, p + " w") + msg(2, p + " y") + msg(3, p + " n") + msg(4, "MatMul"))
        last = p + " y"
    held = [tensor(p + " w", (4, 4), raw=struct.pack("<16f", *([0.25] * 16))) for p in payloads]
    write("r.onnx", model(graph(nodes, [port("x", dims=(4, 4))], [port(last, dims=(4, 4))], held, msg(10, payloads[0]))))
    code, out, err = command("bench", "r.onnx", "-s", "guess", "-s", "guess", "--launches", "1", "--min-time", "50ms",
                             "--threads", "1", "--report", "r.html", "--out", "r.json")
    check(code == 0, "all", "bench", err)
    shown("all", "bench", out, err)
    if code:
        return
    json.loads(read("r.json"))
    text = read("r.html").decode()
    page = Page(text)
    check(not page.bad, "all", "elements of the report", page.bad[:3])
    check("img" not in page.bones, "all", "pictures from a name")
    check(not re.search(r"<script>alert|<img src=x", text), "all", "markup of a name")
    check(not UNSAFE.search(text.replace("\n", "")), "all", "raw characters in the report")


def main():
    os.chdir(WORK)
    twin = None
    for p in ALLOWED:
        data, dim = describe(p)
        write("m.onnx", data)
        dim += "=4"
        try_words(p, dim)
        try_pictures(p, dim)
        twin = try_files(p, dim, twin) if twin is None else (try_files(p, dim, twin) and twin)
        try_round(p, dim)
        try_unknown(p)
    for raw in REFUSED:
        try_refused(raw)
    try_report([p for p in ALLOWED if len(p) < 100])
    print(f"{checks} checks of {len(ALLOWED) + len(REFUSED)} names, {failures} failed")
    sys.exit(failures > 0)


main()
