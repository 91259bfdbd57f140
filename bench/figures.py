"""The README's table of figures: figures.py RESULTS.json... prints it as Markdown. NAME.json holds a race against
peers, NAME-as-written.json the same model without algebraic alternatives; ./dev figures makes both."""
import json
import os
import sys


def milliseconds(candidate):
    stats = candidate.get("stats") or {}
    if candidate.get("status") != "VALID" or not stats.get("median_ns"):
        return candidate.get("status", "none")
    return "%.3g" % (stats["median_ns"] / 1e6)


def alternatives(candidate):
    ops = " ".join(str(k.get("op")) for k in candidate.get("kernels") or [])
    used = [name.capitalize() for name in ("strassen", "winograd") if name in ops]
    return ", ".join(used) or "none"


def against(results, peer):
    """How many times faster than the peer, with its 99 % interval."""
    ours = results["candidates"][0]["name"]
    for c in results["comparisons"]:
        if {c["a"], c["b"]} == {ours, peer} and c["ratio"]:
            r, low, high = c["ratio"], c["low"], c["high"]
            if c["a"] == peer:
                r, low, high = 1 / r, 1 / high, 1 / low
            undecided = ", undecided" if c["verdict"] == "UNDECIDED" else ""
            return "%.2f (%.2f to %.2f%s)" % (r, low, high, undecided)
    return "–"


def row(path, peers):
    with open(path) as f:
        results = json.load(f)
    plain_path = path.replace(".json", "-as-written.json")
    plain = "–"
    if os.path.exists(plain_path):
        with open(plain_path) as f:
            plain = milliseconds(json.load(f)["candidates"][0])
    ours = results["candidates"][0]
    name = os.path.basename(path)[: -len(".json")].rsplit("_", 1)[0].replace("_", " ")
    cells = [name, str(results["config"]["threads"]), milliseconds(ours), alternatives(ours), plain]
    return cells + [against(results, peer) for peer in peers], results


def main(paths):
    peers = ["onnxruntime", "openvino"]
    rows = [row(p, peers) for p in sorted(paths) if not p.endswith("-as-written.json")]
    if not rows:
        sys.exit("figures.py: no files of results")
    environment = rows[0][1]["environment"]
    print("%s, %s, %s cores; f32, batch 1.\n" % (environment["cpu"], environment["isa"], environment["cores"]))
    print("| model | threads | ms | algebraic alternatives used | ms without them | ONNX Runtime ÷ ours "
          "| OpenVINO ÷ ours |")
    print("|---|---|---|---|---|---|---|")
    for cells, _ in rows:
        print("| " + " | ".join(cells) + " |")


main(sys.argv[1:])
