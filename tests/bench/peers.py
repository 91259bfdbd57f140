"""Speaks bench/protocol.h with every script of a peer on y = relu(x), as an ONNX file written here byte by
byte."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

folder = pathlib.Path(sys.argv[1])
scripts = sorted(p for p in folder.glob("*.py") if p.name[0] != "_")


def field(number, value):
    """A field of the wire format: an integer, or bytes with their length."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    assert len(value) < 128
    return bytes([number << 3 | 2, len(value)]) + value


def port(name):
    """ValueInfoProto: a float tensor of shape [2, n]."""
    shape = field(1, field(1, 2)) + field(1, field(2, b"n"))
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def model():
    node = field(1, b"x") + field(2, b"y") + field(4, b"Relu")
    graph = field(1, node) + field(2, b"g") + field(11, port(b"x")) + field(12, port(b"y"))
    return field(1, 8) + field(7, graph) + field(8, field(2, 17))


class Talk:
    def __init__(self, script, **more):
        env = {**os.environ, **more}
        self.process = subprocess.Popen([sys.executable, "-B", "-u", script], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        word, _, rest = self.process.stdout.readline().rstrip("\n").partition(" ")
        return word, rest

    def quit(self):
        self.process.stdin.close()
        assert self.process.wait(20) == 0


def check_present(script, task, where, want):
    talk = Talk(script)
    word, rest = talk.ask(task)
    if word == "ABSENT":
        print(f"{script.stem}: absent: {json.loads(rest)['text']}")
        return talk.quit()
    assert word == "READY", (word, rest)
    assert json.loads(rest)["version"]
    assert talk.ask(f"save {where}") == ("SAVED", "")
    assert numpy.array_equal(numpy.load(f"{where}/0.npy"), want)
    word, rest = talk.ask("run 2 5")
    ns, taken, *lost = map(int, rest.split())
    assert word == "TIME" and 0 < ns < 10**10 and taken >= 0 and all(x >= 0 for x in lost), (word, rest)
    word, rest = talk.ask("dance")
    assert word == "FAILED" and "dance" in json.loads(rest)["text"]
    print(f"{script.stem}: right, and timed")
    talk.quit()


STEP = {"task": "classify", "optimizer": "adamw", "precision": "f32", "accumulate": 1, "freeze": [], "clip": 1.0,
        "lr": 1e-4}


def check_step(script, where):
    """A step of training: of an encoder's shapes where the script has one, else a refusal."""
    varint = bytes([8, 0xba, 0xee, 1, 8, 0x80, 3])  # dims: 30522, 384
    path = pathlib.Path(where, "encoder.onnx")
    path.write_bytes(field(1, 8) + field(7, field(2, b"g") + field(5, varint + field(2, 1) + field(8, b"w"))))
    numpy.save(f"{where}/ids.npy", numpy.arange(6, dtype=numpy.int64).reshape(2, 3))
    numpy.save(f"{where}/label.npy", numpy.array([0, 1], dtype=numpy.int64))
    inputs = [{"name": "input_ids", "path": f"{where}/ids.npy"}, {"name": "train.label", "path": f"{where}/label.npy"}]
    for more, want in ({"task": "pairs"}, "ABSENT"), ({}, "READY"):
        talk = Talk(script)
        task = {"model": str(path), "threads": 1, "inputs": inputs, "train": {**STEP, **more}}
        word, rest = talk.ask("open " + json.dumps(task))
        assert word in ("ABSENT", want), (word, rest)
        if word == "READY":
            assert talk.ask(f"save {where}") == ("SAVED", "its weights are its own, of the same shapes")
            word, rest = talk.ask("run 0 2")
            assert word == "TIME" and int(rest.split()[0]) > 0, (word, rest)
            print(f"{script.stem}: steps of training, timed")
        else:
            print(f"{script.stem}: no step: {json.loads(rest)['text']}")
        talk.quit()


def check_absent(script, task, where):
    """With every package it may want replaced by one that cannot be imported, and that prints, and no C compiler."""
    for name in ("onnxruntime", "openvino", "torch", "onnx2torch"):
        pathlib.Path(where, name + ".py").write_text('print("READY {}")\nraise ImportError("gone")\n')
    talk = Talk(script, PYTHONPATH=where, CC="gone", TESSERA_LLMC="gone")
    word, rest = talk.ask(task)
    assert word == "ABSENT" and "gone" in json.loads(rest)["text"], (word, rest)
    talk.quit()


def check_quickly(script):
    """Whether it could run, without importing; by which Python, if not."""
    talk = Talk(script)
    word, rest = talk.ask("check")
    assert word == "PLANNED" or word == "ABSENT" and (sys.executable in rest or "TESSERA_LLMC" in rest), (word, rest)
    talk.quit()


assert scripts, folder
with tempfile.TemporaryDirectory() as where, tempfile.TemporaryDirectory() as fakes:
    x = numpy.array([[1, -2, 3], [-4, 5, -6]], dtype=numpy.float32)
    numpy.save(f"{where}/x.npy", x)
    path = pathlib.Path(where, "relu.onnx")
    path.write_bytes(model())
    task = "open " + json.dumps({"model": str(path), "threads": 1, "inputs": [{"name": "x", "path": f"{where}/x.npy"}]})
    for script in scripts:
        check_quickly(script)
        check_absent(script, task, fakes)
        check_present(script, task, where, numpy.maximum(x, 0))
        check_step(script, where)
print(f"peers: {len(scripts)} scripts")
