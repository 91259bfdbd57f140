"""PyTorch, eager, on the CPU. It cannot read ONNX itself: the package onnx2torch turns the file into a module, and
without it this peer is absent. A training step it spells out itself (_pytorch_step.py)."""
from _pytorch_step import Step
from _peer import package, serve


class PyTorch:
    packages = ("torch",)

    def open(self, model, inputs, threads):
        self.torch = torch = package("torch")
        converter = package("onnx2torch")
        onnx = package("onnx")
        torch.set_num_threads(threads)
        torch.set_flush_denormal(True)
        graph = onnx.load(model).graph
        weights = {w.name for w in graph.initializer}
        self.module = converter.convert(model).eval()
        self.values = [torch.from_numpy(inputs[p.name]) for p in graph.input if p.name not in weights]
        return {"version": torch.__version__, "settings": {"threads": threads, "mode": "eager"}}

    def step(self):
        return Step()

    def run(self):
        with self.torch.inference_mode():
            self.result = self.module(*self.values)

    def outputs(self):
        several = isinstance(self.result, (tuple, list))
        return [value.numpy() for value in (self.result if several else [self.result])]


serve(PyTorch())
