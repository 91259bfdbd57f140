"""A training step of GPT-2 by the program that TESSERA_LLMC names: llm.c's train_gpt2, as somebody compiled it. It gets
the file's weights and the batch in files of its own forms. Its losses are compared, and the times that it prints count.
It is spared the sixty-three passes of every twentieth step that write a sample: it begins anew there."""
import os
import subprocess
import tempfile

from plainc import ordered  # first: what it imports takes the folder off the path
from _onnx_weights import weights
from _peer import Absent, package, serve

PROGRAM = os.environ.get("TESSERA_LLMC") or "that TESSERA_LLMC names"
BATCH, LENGTH, STEPS = 4, 64, 20  # steps before it samples
MODEL, VERSION, TOKENS = 20240326, 3, 20240520  # the first words of its files
SETTINGS = {"task": "lm", "optimizer": "adamw", "accumulate": 1, "freeze": [], "precision": "f32", "lr": 1e-4,
            "schedule": "constant", "weight-decay": 0, "clip": 0}
PART = ["ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj"]


def write(path, header, arrays):
    numpy = package("numpy")
    with open(path, "wb") as f:
        numpy.array(header + [0] * (256 - len(header)), "i4").tofile(f)
        for a in arrays:
            numpy.ascontiguousarray(a).tofile(f)


def write_model(path, model, inputs):
    """Of each part all layers, matrices as [out, in], the vocabulary filled up to a multiple of 128 rows."""
    numpy = package("numpy")
    (words, places, *rest), layers = ordered(weights(model))
    (vocabulary, width), padded = words.shape, -len(words) % 128
    heads = inputs["past.0.key"].shape[1] if "past.0.key" in inputs else width // 64
    each = 2 * len(PART)
    inner = [rest[each * i + k].T for k in range(each) for i in range(layers)]
    write(path, [MODEL, VERSION, len(places), vocabulary, layers, heads, width, vocabulary + padded],
          [numpy.pad(words, ((0, padded), (0, 0))), places, *inner, *rest[each * layers:]])


def stream(inputs):
    """The batch as tokens one after the other, of which every one is the label of that before."""
    numpy = package("numpy")
    ids, label = inputs["input_ids"].reshape(-1), inputs["train.label"].reshape(-1)
    follows = numpy.array_equal(ids[1:], label[:-1])
    if inputs["input_ids"].shape != (BATCH, LENGTH) or not follows or label.max() >= 65536:
        raise Absent(f"its batch is {BATCH} x {LENGTH} tokens of one text, each below 65536: --batch {BATCH} "
                     f"--length {LENGTH}")
    return numpy.append(ids, label[-1]).astype("u2")


class Step:
    def open(self, model, inputs, threads, train):
        if any(train[name] != value for name, value in SETTINGS.items()):
            raise Absent("its training step has --task lm --lr 1e-4 --schedule constant --weight-decay 0 --clip 0")
        tokens = stream(inputs)
        self.folder, self.threads, self.taken, self.program = tempfile.TemporaryDirectory(), threads, 0, None
        data = os.path.join(self.folder.name, "dev", "data", "tinyshakespeare")
        os.makedirs(data)
        write_model(os.path.join(self.folder.name, "gpt2_124M.bin"), model, inputs)
        for part in "train", "val":
            write(os.path.join(data, f"tiny_shakespeare_{part}.bin"), [TOKENS, 1, len(tokens)], [tokens])
        return {"version": os.path.basename(PROGRAM), "compared": 1,
                "settings": {"threads": threads, "optimizer": "AdamW"}}

    def start(self):
        if self.program:
            self.program.kill()
            self.program.wait()
        self.program = subprocess.Popen(["stdbuf", "-oL", os.path.abspath(PROGRAM)], cwd=self.folder.name, text=True,
                                        env={**os.environ, "OMP_NUM_THREADS": str(self.threads)}, errors="replace",
                                        stdout=subprocess.PIPE)

    def begin(self):
        """The step under way has stood still with this process, and a first one gets its memory: neither counts."""
        self.run()

    def run(self):
        if self.taken % STEPS == 0:
            self.start()
        for line in self.program.stdout:
            if line.startswith(f"step {self.taken % STEPS}: train loss"):
                words = line.split()  # step 3: train loss 5.356193 (took 1719.337 ms)
                self.loss, self.took = float(words[4]), float(words[6]) * 1e6
                self.taken += 1
                if self.taken % STEPS == 1 and self.taken > 1:
                    self.run()
                return
        raise RuntimeError(f"{PROGRAM} ends with {self.program.wait()} before step {self.taken % STEPS}")

    def outputs(self):
        return [self.loss]


class Program:
    programs = [PROGRAM, "stdbuf"]
    step = Step

    def open(self, model, inputs, threads):
        raise Absent(f"{PROGRAM} has steps of training only: add --train")


if __name__ == "__main__":
    serve(Program())
