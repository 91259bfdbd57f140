"""What an exporter writes of small models, run here on two targets and in ONNX Runtime: main of torch_exports.py and
tf_exports.py."""
import contextlib
import io
import os
import re
import sys

import numpy as np
import onnx

from contrib import differs, expected, run


def check(tessera, work, label, export, inputs):
    """good, bad, or not written, where ONNX Runtime does not run it either."""
    to = os.path.join(work, label.replace(" ", "-").replace(",", "") + ".onnx")
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            export(to)
        m = onnx.load(to)
        feeds = {i.name: np.asarray(t) for i, t in zip(m.graph.input, inputs)}
        want = expected(m, feeds)[0]
    except Exception as reason:
        print(f"{label}: not written: {(str(reason).strip().splitlines() or [repr(reason)])[0][:160]}")
        return "not written"
    for target in ("interp", "c"):
        code, said, folder = run(tessera, work, to, feeds, target)
        for name, value in want.items() if not code else ():
            got = np.load(os.path.join(folder, re.sub("[^A-Za-z0-9._-]", "_", name) + ".npy"))
            code, said = (1, wrong) if (wrong := differs(got, value, 1e-5)) else (code, said)
        if code:
            print(f"{label}, {target}: {said.strip()[:600]}")
            return "bad"
    return "good"


def main(models, exporters):
    """models: (name, model, inputs); exporters: name -> function of model, inputs and the file's name."""
    tessera, work, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    count = {"good": 0, "bad": 0, "not written": 0}
    for name, m, inputs in models:
        for exporter, export in exporters.items():
            if not names or name in names:
                label = f"{name}, {exporter}"
                count[check(tessera, work, label, lambda to: export(m, inputs, to), inputs)] += 1
    print(", ".join(f"{n} {what}" for what, n in count.items()))
    return 1 if count["bad"] or not count["good"] else 0
