"""ONNX Runtime on the CPU: all graph optimisations, as many threads as ours, pinned like ours, spinning between
kernels, inputs and outputs bound beforehand."""
import os

from _peer import package, processors, serve


class OnnxRuntime:
    packages = ("onnxruntime",)

    def open(self, model, inputs, threads):
        ort = package("onnxruntime")
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 3
        settings = {"session.set_denormal_as_zero": "1", "session.intra_op.allow_spinning": "1"}
        cpus = processors(threads)
        if threads > 1:
            # The calling thread works as well; the others are numbered from 1 by this runtime.
            settings["session.intra_op_thread_affinities"] = ";".join(str(c + 1) for c in cpus[1:])
        for key, value in settings.items():
            options.add_session_config_entry(key, value)
        self.session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        os.sched_setaffinity(0, cpus[:1])
        self.binding = self.session.io_binding()
        for port in self.session.get_inputs():
            self.binding.bind_cpu_input(port.name, inputs[port.name])
        for port in self.session.get_outputs():
            self.binding.bind_output(port.name)
        return {"version": ort.__version__, "settings": {**settings, "threads": threads, "optimization": "all"}}

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def outputs(self):
        return self.binding.copy_outputs_to_cpu()


serve(OnnxRuntime())
