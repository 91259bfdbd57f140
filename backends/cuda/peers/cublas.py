"""Products of matrices by cuBLAS, as torch.matmul calls it, on the first CUDA device, in whole f32, or in bf16 where
the inputs are: models of products and transpositions alone, with the weights of the file, so that results are compared.
Files of arrays hold bf16 as its bits."""
from _torch_cuda import OnDevice
from _peer import Absent, package, serve


class Cublas(OnDevice):
    tf32 = False

    def pinned(self, array):
        if array.dtype != "uint16":
            return super().pinned(array)
        return super().pinned(array.view("int16")).view(self.torch.bfloat16)

    def outputs(self):
        y = self.result.cpu()
        return [y.view(self.torch.int16).numpy().view("uint16") if y.dtype == self.torch.bfloat16 else y.numpy()]

    def network(self, model, named):
        onnx, torch = package("onnx"), self.torch
        graph = onnx.load(model).graph
        if any(node.op_type not in ("MatMul", "Transpose") for node in graph.node):
            raise Absent("it takes models of products alone")
        held = {w.name: torch.from_numpy(onnx.numpy_helper.to_array(w).copy()).to(self.device)
                for w in graph.initializer}

        def call():
            at = held | named
            for node in graph.node:
                x = [at[name] for name in node.input]
                at[node.output[0]] = torch.matmul(*x) if node.op_type == "MatMul" else x[0].transpose(-1, -2)
            return at[graph.output[0].name]

        return call


if __name__ == "__main__":
    serve(Cublas())
