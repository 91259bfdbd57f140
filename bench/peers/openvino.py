"""OpenVINO on the CPU: shapes fixed before compiling, latency mode, f32 throughout, as many threads as ours, pinned."""
from _peer import package, serve


class OpenVino:
    packages = ("openvino",)

    def open(self, model, inputs, threads):
        ov = package("openvino")
        core = ov.Core()
        graph = core.read_model(model)
        graph.reshape({port.any_name: list(inputs[port.any_name].shape) for port in graph.inputs})
        settings = {
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "f32",
            "ENABLE_CPU_PINNING": True,
        }
        compiled = core.compile_model(graph, "CPU", settings)
        self.request = compiled.create_infer_request()
        self.values = [ov.Tensor(inputs[port.any_name], shared_memory=True) for port in compiled.inputs]
        for port, value in zip(compiled.inputs, self.values):
            self.request.set_tensor(port, value)
        self.count = len(compiled.outputs)
        return {"version": ov.__version__, "settings": settings}

    def run(self):
        self.request.infer()

    def outputs(self):
        return [self.request.get_output_tensor(i).data.copy() for i in range(self.count)]


serve(OpenVino())
