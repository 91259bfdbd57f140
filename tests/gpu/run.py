"""Behind run.sh: runs tests, then times rows, each within its limit and all within --seconds; then table.py."""
import argparse
import os
import re
import subprocess
import sys
import time

import graphs
import table

PEERS = {"memory": [], "product": ["cublas", "cublastf32"],
         "model": ["torcheager", "torchcompile", "torchgraph"], "step": ["torcheager", "torchcompile", "torchgraph"]}
AT_END = 5  # seconds kept back for the table
IMPORTS = ("import torch, onnx, numpy, sys\n"
           "sys.exit(None if torch.cuda.is_available() else 'error: torch finds no CUDA device')")
SKIPPED = 77


class Run:
    def __init__(self, asked):
        self.asked, self.python, self.min_time = asked, sys.executable, asked.min_time
        self.tessera = os.path.join(asked.build, "tessera")
        self.out = asked.out or os.path.join(asked.build, "gpu")
        self.parts = []
        os.makedirs(self.out, exist_ok=True)

    def path(self, name):
        return os.path.join(self.out, name)

    def left(self):
        return self.asked.seconds - AT_END - (time.time() - self.asked.begin)

    def within(self, limit, log, command):
        """The exit status; None: it was late. What it says goes to the log."""
        limit = min(limit, self.left())
        if limit <= 0:
            with open(log, "w") as f:
                f.write("no time was left\n")
            return None
        with open(log, "w") as f:
            p = subprocess.Popen(command, stdout=f, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                 start_new_session=True)
            try:
                return p.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(p.pid, 9)  # its workers and peers, too
                p.wait()
                f.write(f"\nended: more than {limit:.0f} s\n")
                return None

    def part(self, name, status, since, why=""):
        seconds = time.time() - since
        self.parts.append({"name": name, "status": status, "seconds": round(seconds, 1), "why": why})
        print(f"{name:<28} {status:<9} {seconds:5.0f} s  {why}".rstrip(), flush=True)


def told(log):
    """The line of a log that says most."""
    with open(log, errors="replace") as f:
        lines = [line.strip() for line in f if line.strip()]
    telling = [line for line in lines if re.search(r"error|fail|refuse|skipped|ended|no time|Absent", line, re.I)]
    return ((telling or lines or ["it said nothing"])[-1])[:160]


def words_of(path):
    """Lines of a file as lists of words, comments left out."""
    with open(path) as f:
        return [line.split() for line in f if line.strip() and not line.startswith("#")]


def verify(run):
    os.environ.update(TESSERA=run.tessera, SOURCE=os.getcwd(), BUILD=run.asked.build)
    for test, limit in words_of(run.asked.tests):
        since, log = time.time(), run.path(f"{test}.log")
        program = os.path.join(run.asked.build, "tests", f"{test}-test")
        if not os.access(program, os.X_OK):
            run.part(test, "absent", since, f"no {program}")
            continue
        status = run.within(float(limit), log, [program])
        word = {0: "passed", SKIPPED: "skipped", None: "late"}.get(status, "failed")
        run.part(test, word, since, "" if status == 0 else told(log))


def find_peers(run):
    """Whether there are any; and the bandwidth of a copy, or None."""
    since, log = time.time(), run.path("peers.log")
    if run.within(60, log, [run.python, "-c", IMPORTS]) != 0:
        run.part("peers", "left out", since, told(log))
        return False, None
    run.part("peers", "ready", since, f"PyTorch for {run.python}")
    since, log = time.time(), run.path("copy.log")
    if run.within(60, log, [run.python, os.path.join(os.path.dirname(__file__), "copy.py")]) != 0:
        run.part("copy", "failed", since, told(log))
        return True, None
    with open(log) as f:
        return True, float(f.read())


# ---- rows ----
def options_of(words, first):
    """From the first word on that begins so"""
    return words[next((i for i, w in enumerate(words) if w.startswith(first)), len(words)):]


def spelled(kind, words):
    """The model, and its dimensions and options for export and for bench."""
    model = "products" if kind == "product" else words[0]
    dims = dict(w.split("=", 1) for w in words if "=" in w and not w.startswith("-"))
    options = options_of(words, "--")
    if kind == "product":
        dims["layers"] = "1"
    bound = [w for k, v in dims.items() for w in ("--dim", f"{k}={v}")]
    if kind == "step":
        size = {"batch": "--batch", "seq": "--length"}
        return model, bound, ["--train"] + [w for k, v in dims.items() if k in size for w in (size[k], v)] + options
    return model, bound, bound + options


def graph_of(kind, words):
    """graph/1 of rows that are no built-in model; None: they are"""
    if kind == "memory":
        return graphs.graph(words[0], int(words[1]), int(words[2]))
    dims = dict(w.split("=", 1) for w in words if "=" in w)
    if kind == "product" and "dtype" in dims:
        return graphs.product(*(int(dims[d]) for d in "mkn"), dims["dtype"])
    return None


def commands(run, name, kind, words, peers):
    """What makes the row: commands, one after the other."""
    made, bound = [], []
    graph = graph_of(kind, words)
    if graph:
        model, how = run.path(f"{name}.graph.json"), options_of(words, "-s")
        with open(model, "w") as f:
            f.write(graphs.json.dumps(graph))
    else:
        model, bound, how = spelled(kind, words)
    others = PEERS[kind][:1] if kind == "product" and graph else PEERS[kind]  # another width of f32 is no peer of bf16
    if peers and others:
        file = run.path(f"{name}.onnx")
        made.append([run.tessera, "export", model, *bound, "-o", file, "-q"])
        model, how = file, how if kind == "step" or graph else options_of(words, "--")
        how += [w for peer in others for w in ("--peer", peer)] + ["--peer-python", run.python]
    made.append([run.tessera, "bench", model, *how, "--target", "cuda", "--judge", "c", "--launches", "1",
                 "--min-time", run.min_time, "-q", "-o", run.path(f"{name}.json")])
    return made


def time_row(run, name, limit, kind, words, peers):
    since, log = time.time(), run.path(f"{name}.log")
    result = run.path(f"{name}.json")
    if os.path.exists(result):
        os.remove(result)
    status = 0
    for command in commands(run, name, kind, words, peers):
        status = run.within(limit - (time.time() - since), log, command)
        if status != 0:
            break
    onnx = run.path(f"{name}.onnx")
    if os.path.exists(onnx):
        os.remove(onnx)  # weights of hundreds of megabytes
    word = "late" if status is None else "timed" if status == 0 else "failed"
    run.part(name, word, since, "" if status == 0 else told(log))
    return {"name": name, "kind": kind, "file": result if word == "timed" else None, "why": run.parts[-1]["why"]}


def main():
    p = argparse.ArgumentParser()
    here = os.path.dirname(os.path.abspath(__file__))
    for name, kind, usual in (("begin", float, time.time()), ("build", str, "build"), ("out", str, None),
                              ("rows", str, os.path.join(here, "rows")), ("tests", str, os.path.join(here, "tests")),
                              ("only", str, "."), ("seconds", float, 540), ("min-time", str, "0.5s")):
        p.add_argument(f"--{name}", type=kind, default=usual)
    run = Run(p.parse_args())
    rows = [w for w in words_of(run.asked.rows) if re.search(run.asked.only, w[0])]
    unknown = [w for w in rows if w[2] not in PEERS]
    if unknown:
        sys.exit(f"{run.asked.rows}: {unknown[0][2]} is no kind of row; there are {', '.join(PEERS)}")
    verify(run)
    peers, copy = find_peers(run)
    timed = [time_row(run, w[0], float(w[1]), w[2], w[3:], peers) for w in rows]
    good = table.write(run.out, {"parts": run.parts, "copy_bytes_per_second": copy}, timed)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
