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
TOGETHER = 8  # names in one model: most of the time goes into starting programs

# Names that a file may have. Some 500 bytes are the longest that is read.
ALLOWED = [p.replace("@", MARK) for p in (
    "plain@", '"@', "'@", "`@`", "@\\", "\\@", "\\\\@\\\\", "*/@/*", "//@", "/*@", "@;system(0);//",
    '"; system("@"); //', "</script>@<script>alert(1)</script>", "<img src=x onerror=alert(1)>@", "<!--@-->", "]]>@",
    "<![CDATA[@", "&@;", "&lt;@", "&#0;@", "@%s%n%s%n", "%p%x@", "../@", "../../../../etc/@", "/etc/@", "..", "." ,
    "@/../@", "C:\\@", "~/@", "-@", "--out=@", "$(touch @)", "`touch @`", "${HOME}@", "|@", ">@", "@ @", "  @  ", "@,@",
    "@[0]", "a=@", "#@", "@\u202e", "\u2066@\u2069", "\u200f@", "\ufeff@", "\u2028@", "@\u2029", "e\u0301@",
    "@\U0001f600", "\u0000".replace("\0", "@NUL"), "\\u0000@", "\\x1b@", "\\n@", "??/@", "@??)", "{@}", "{{@}}", "[@]",
    "(@", "@)", "digraph{@", "n0 -> @", "\\l@\\r", "@" + "y" * 480,
    "\U0001f468\u200d\U0001f469\u200d@" + "\u0301" * 100, "NaN@", "null", "true", "@\t".strip() + "\u00a0", "con.@",
    "@.npy")]
# Names that no file may have.
REFUSED = [b"\x1b[31m", b"a\nb", b"a\rb", b"\t", b"\x00a", b"\x7f", b"\xc2\x9b31m", b"\xff\xfe", b"\xed\xa0\x80",
           b"\xc0\x80", b"\xf4\x90\x80\x80", b"y" * 513, b"\x07", b"\x08" * 20]
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


def describe(names, about=""):
    """A model of one branch for each name, and the arguments that bind it. Every string that people read or that names
    a file is one of the names with a number, or, where a model has but one such string, `about`."""
    size = (4, 4)
    nodes, inputs, outputs, weights, dims = [], [], [], [], []
    for name in names:
        x, w, y, t, first, second, dim = (name + n for n in ("", " 1", " 2", " 3", " 4", " 5", " 6"))
        nodes += [msg(1, x) + msg(1, w) + msg(2, t) + node("MatMul", "", "", first) + msg(6, name),
                  msg(1, t) + msg(2, y) + node("Softmax", "", "", second, axis=-1) + msg(6, name)]
        inputs.append(msg(1, x) + msg(2, msg(1, num(1, 1) + msg(2, msg(1, msg(2, dim)) + msg(1, num(1, 4))))))
        outputs.append(port(y, dims=size))
        weights.append(tensor(w, size, raw=struct.pack("<16f", *range(16))))
        dims.append("--dim=" + dim + "=4")
    more = b"".join(msg(14, msg(1, name) + msg(2, name)) for name in names)
    if about:
        more += msg(2, about) + msg(3, about) + msg(4, about) + msg(6, about)
    g = graph(nodes, inputs, outputs, weights, msg(10, about) if 0 < len(about) < 200 else b"")
    return model(g, more=more), dims


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


def try_pictures(p, dims):
    code, out, err = command("show", "m.onnx", *dims, "--svg", "m.svg", "--dot", "m.dot")
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


def try_words(p, dims):
    for words in (["show"], ["show", "--stage", "imported"], ["show", "--stage", "folded"],
                  ["show", "--stage", "planned"], ["explain", "--all"], ["run", "--seed", "1", "--target", "interp"]):
        code, out, err = command(words[0], "m.onnx", *dims, *words[1:])
        check(code == 0, p, words, err)
        shown(p, words, out, err)
    for words in (["show"], ["explain"], ["run", "--seed", "1", "--target", "interp"]):
        code, out, err = command(words[0], "m.onnx", *dims, "--json", *words[1:])
        try:
            json.loads(out)
        except ValueError as e:
            check(False, p, f"{words} --json: {e}", out[:200])
        shown(p, words, err)
    shown(p, "an unknown dimension", *command("show", "m.onnx", "--dim", "none=1")[1:])


def try_files(p, dims, twin):
    """What `run --out` and `emit` write."""
    before = set(os.listdir(WORK))
    code, out, err = command("run", "m.onnx", *dims, "--seed", "1", "--target", "interp", "-o", "o/u/t")
    check(code == 0, p, "run --out", err)
    names = os.listdir(os.path.join(WORK, "o/u/t"))
    check(len(names) == len(dims) and all(re.fullmatch(r"[A-Za-z0-9._-]+\.npy", n) for n in names),
          p, "files of run --out", names)
    check(set(os.listdir(WORK)) == before | {"o"}, p, "files elsewhere")
    check(os.listdir(os.path.join(WORK, "o")) == ["u"] and os.listdir(os.path.join(WORK, "o/u")) == ["t"],
          p, "and here")
    shutil.rmtree(os.path.join(WORK, "o"))
    got = emitted(p, dims)
    odd = [f for f in {*got, *twin} if f != "ports.json" and got.get(f) != twin.get(f)]
    check(not odd, p, "sources differ from those of harmless names", odd)


def emitted(p, dims):
    """Of the sources of m.onnx, what is in each."""
    code, out, err = command("emit", "m.onnx", *dims, "-o", "e")
    check(code == 0, p, "emit", err)
    json.loads(read("e/ports.json"))  # names for people are in there, and nowhere else
    return sources("e")


def sources(folder):
    all = {}
    for at, _, files in os.walk(os.path.join(WORK, folder)):
        for f in files:
            # names stand in comments alone, which list a kernel's layers, and there are nice
            code = re.sub(rb"\n \*   k\d+ [A-Za-z0-9_./-]*(?= \*/\n|\n)", b"", read(os.path.join(at, f)))
            all[os.path.relpath(os.path.join(at, f), os.path.join(WORK, folder))] = hashlib.sha256(code).hexdigest()
    shutil.rmtree(os.path.join(WORK, folder))
    return all


def try_round(p, dims):
    """graph.json and ONNX again: the same graph, with the same names."""
    hashes = {command("show", "m.onnx", *dims, "--hash")[1]}
    code, out, err = command("import", "m.onnx", "-o", "d")
    check(code == 0, p, "import -o", err)
    shown(p, "import -o", out, err)
    if code == 0:
        json.loads(read("d/graph.json"))
        hashes.add(command("show", "d", *dims, "--hash")[1])
        code, out, err = command("export", "d", "-o", "again.onnx")
        check(code == 0, p, "export", err)
        hashes.add(command("show", "again.onnx", *dims, "--hash")[1])
    check(len(hashes) == 1, p, "hashes of the same model", hashes)
    shutil.rmtree(os.path.join(WORK, "d"), ignore_errors=True)


def try_alone(p):
    """Where a model has but one such string, and as a word on the command line."""
    data, dims = describe([p], p)
    write("a.onnx", data)
    code, out, err = command("show", "a.onnx", *dims)
    check(code == 0, p, "show", err)
    shown(p, "show", out, err)
    code, out, err = command("show", "a.onnx", *dims, "--json")
    check(code == 0 and json.loads(out), p, "show --json", err)
    shown(p, "an unknown operation", *command("explain", "a.onnx", *dims, "--op=" + p)[1:])
    shown(p, "an input that is not there", *command("run", "a.onnx", "--in=" + p + "=none.npy")[1:])


def try_refused(raw):
    at = {"value": lambda: model(graph([node("Relu", "x", "", "n") + msg(2, raw)],
                                       [port("x", dims=(2,))], [msg(1, raw)])),
          "node": lambda: model(graph([msg(3, raw) + msg(1, "x") + msg(2, "y") + msg(4, "Relu")],
                                      [port("x", dims=(2,))], [port("y")])),
          "operation": lambda: model(graph([msg(3, "n") + msg(1, "x") + msg(2, "y") + msg(4, raw)],
                                           [port("x", dims=(2,))], [port("y")])),
          "domain": lambda: model(graph([msg(3, "n") + msg(1, "x") + msg(2, "y") + msg(4, "Relu") + msg(7, raw)],
                                        [port("x", dims=(2,))], [port("y")])),
          "attribute": lambda: model(graph([node("Relu", "x", "y", "n",
                                                 raw=msg(5, msg(1, raw) + num(3, 1) + num(20, 2)))],
                                           [port("x", dims=(2,))], [port("y")])),
          "external file": lambda: model(graph([node("Add", "x,w", "y", "n")], [port("x", dims=(2,))], [port("y")],
                                               [tensor("w", (2,), more=num(14, 1) +
                                                       msg(13, msg(1, "location") + msg(2, raw)))])),
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
    write("r.onnx", model(graph(nodes, [port("x", dims=(4, 4))], [port(last, dims=(4, 4))], held,
                                msg(10, payloads[0]))))
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
    for at in range(0, len(ALLOWED), TOGETHER):
        names = ALLOWED[at:at + TOGETHER]
        data, dims = describe([f"plain{i}" for i in range(len(names))], "plain")
        write("m.onnx", data)
        twin = emitted("plain", dims)
        data, dims = describe(names, names[0])
        write("m.onnx", data)
        try_words(names, dims)
        try_pictures(names, dims)
        try_files(names, dims, twin)
        try_round(names, dims)
    for p in ALLOWED:
        try_alone(p)
        try_unknown(p)
    for raw in REFUSED:
        try_refused(raw)
    try_report([p for p in ALLOWED if len(p) < 100])
    print(f"{checks} checks of {len(ALLOWED) + len(REFUSED)} names, {failures} failed")
    sys.exit(failures > 0)


main()
