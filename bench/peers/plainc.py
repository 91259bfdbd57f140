"""A training step of GPT-2 in plain C: plainc/gpt2.c, compiled here with $CC (cc) for this machine, on threads of
OpenMP. Its weights are the file's, named as in checkpoints, and so its losses are compared."""
import ctypes
import os
import subprocess
import tempfile

from _onnx_weights import weights
from _peer import Absent, package, serve

COMPILER = os.environ.get("CC", "cc")
FLAGS = ["-std=gnu11", "-Ofast", "-march=native", "-fopenmp", "-fPIC", "-shared"]
LAYER = ["ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj"]


def compiled():
    source = os.path.join(os.path.dirname(os.path.realpath(__file__)), "plainc", "gpt2.c")
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "gpt2.so")
        try:
            subprocess.run([COMPILER, *FLAGS, source, "-o", made, "-lm"], check=True, capture_output=True, text=True)
        except subprocess.CalledProcessError as why:
            raise Absent(f"{COMPILER} does not compile it: {why.stderr.splitlines()[0]}") from None
        except OSError as why:
            raise Absent(f"{COMPILER} cannot be run: {why.strerror}") from None
        return ctypes.CDLL(made)


def ordered(held):
    """The weights in the order of plainc/gpt2.c, and how many layers there are."""
    layers = 0
    while f"h.{layers}.ln_1.weight" in held:
        layers += 1
    names = ["wte.weight", "wpe.weight"]
    for whole in [f"h.{i}.{part}" for i in range(layers) for part in LAYER] + ["ln_f"]:
        names += [whole + ".weight", whole + ".bias"]
    if not layers or any(name not in held for name in names):
        raise Absent("it has a training step of GPT-2 with weights named as in checkpoints, wte.weight and so on, as "
                     "tessera export gpt2 writes them; this is none")
    return [held[name] for name in names], layers


class Step:
    def fits(self, train):
        told = {name: train[name] for name in ("task", "optimizer", "accumulate", "freeze", "precision", "schedule")}
        if told != {"task": "lm", "optimizer": "adamw", "accumulate": 1, "freeze": [], "precision": "f32",
                    "schedule": "linear"} or train["weight-decay"] >= 0:
            raise Absent("its training step is AdamW in f32 on all weights, with --task lm")

    def open(self, model, inputs, threads, train):
        os.environ["OMP_NUM_THREADS"] = str(threads)
        numpy, self.library = package("numpy"), compiled()
        if not train:
            raise Absent("it has steps of training only: add --train")
        all_weights, layers = ordered(weights(model))
        self.fits(train)
        self.train, self.taken = train, 0
        self.ids, self.label = (numpy.ascontiguousarray(inputs[name], "i8") for name in ("input_ids", "train.label"))
        (batch, length), (words, width), places = self.ids.shape, all_weights[0].shape, all_weights[1].shape[0]
        heads = inputs["past.0.key"].shape[1] if "past.0.key" in inputs else width // 64
        sizes = numpy.array([batch, length, width, heads, words, places, layers], "i8")
        held = [numpy.ascontiguousarray(w, "f4") for w in all_weights]
        list_of = (ctypes.c_void_p * len(held))(*(w.ctypes.data for w in held))
        counts = numpy.array([w.size for w in held], "i8")
        decays = numpy.array([w.ndim > 1 for w in held], "u1")
        self.library.gpt2_open.restype = ctypes.c_void_p
        made = self.library.gpt2_open(*self.at(sizes), len(held), list_of, *self.at(counts, decays))
        self.state = ctypes.c_void_p(made)
        self.out = numpy.zeros(2)
        version = subprocess.run([COMPILER, "-dumpfullversion"], capture_output=True, text=True)
        return {"version": version.stdout.strip() or "unknown",
                "settings": {"threads": threads, "flags": " ".join(FLAGS[1:4]), "optimizer": "AdamW"}}

    def at(self, *arrays):
        return [ctypes.c_void_p(a.ctypes.data) for a in arrays]

    def run(self):
        falls = max(0, 1 - self.taken / self.train["schedule_steps"])
        self.taken += 1
        told = (ctypes.c_double * 2)(self.train["lr"] * falls, self.train["clip"])
        self.library.gpt2_step(self.state, *self.at(self.ids, self.label), told, self.taken, *self.at(self.out))

    def outputs(self):
        return list(self.out)


class PlainC(Step):
    programs = [COMPILER]
    step = Step

    def open(self, model, inputs, threads):
        super().open(model, inputs, threads, None)


if __name__ == "__main__":
    serve(PlainC())
