"""PyTorch on the first CUDA device: the networks of _pytorch_step.py, for passes and for
steps of training. A pass begins with the inputs in pinned memory of the host and ends when the device is done, as
Tessera's does. Weights are random: time does not depend on them. Products of f32 may use tf32, as PyTorch recommends
for speed.

mode: "eager"; "compile": torch.compile; "graph": torch.compile, then one CUDA graph."""
import _pytorch_step as spelled
from _peer import Absent, package

WARM, TIMES = 3, 10


def attend(f, torch, qkv, heads, past, causal):
    """qkv: three of [batch, sequence, width]; past: None, or keys and values [batch, heads, before, depth]"""
    b, s, width = qkv[0].shape
    q, k, v = (t.view(b, s, heads, -1).transpose(1, 2) for t in qkv)
    if past is not None:
        k, v = torch.cat((past[0], k), 2), torch.cat((past[1], v), 2)
    y = f.scaled_dot_product_attention(q, k, v, is_causal=causal and s > 1)
    return y.transpose(1, 2).reshape(b, s, width), (k, v)


def continued(torch, w, ids, past, layers, width, heads):
    """GPT-2 behind what it has seen: scores of all positions, and the keys and values of each layer"""
    f, kept = torch.nn.functional, []

    def linear(x, name):
        return f.linear(x, w[name], w[name + "_bias"])

    def norm(x, name):
        return f.layer_norm(x, (width,), w[name], w[name + "_bias"])

    first = past[0][0].shape[2] if past else 0
    x = f.embedding(ids, w["table"]) + w["place"][first:first + ids.shape[1]]
    for i in range(layers):
        y, now = attend(f, torch, linear(norm(x, f"{i}.norm1"), f"{i}.qkv").split(width, -1), heads,
                        past[i] if past else None, True)
        kept.append(now)
        x = x + linear(y, f"{i}.out")
        x = x + linear(f.gelu(linear(norm(x, f"{i}.norm2"), f"{i}.up"), approximate="tanh"), f"{i}.down")
    return f.linear(norm(x, "norm"), w["table"]), kept


def begin(device, tf32):
    torch = package("torch")
    if device == "cuda" and not torch.cuda.is_available():
        raise Absent("torch finds no CUDA device")
    torch.manual_seed(1)
    torch.set_default_device(device)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
    return torch


def facts_of(torch, peer):
    name = torch.cuda.get_device_name() if peer.device == "cuda" else peer.device
    return {"version": torch.__version__, "settings": {"device": name, "mode": peer.mode, "tf32": peer.tf32},
            "plan": {"kernels": [{"op": "device"}]}}


class Captured:
    """call() as one CUDA graph; what it reads stays where it is"""

    def __init__(self, torch, call):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM):
                call()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.result = call()

    def __call__(self):
        self.graph.replay()
        return self.result


def seconds_of(torch, device, call):
    """Of the device, without what goes there and back: the median of some calls, by events"""
    if device != "cuda":
        return None
    times = []
    for _ in range(TIMES):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return sorted(times)[TIMES // 2]


class OnDevice:
    """A peer whose pass is a function of inputs on the device; network(model, {name: tensor}) makes it"""
    packages = ("torch", "onnx")
    device, mode, tf32 = "cuda", "eager", True
    precision = "f32"

    def open(self, model, inputs, threads):
        self.torch = torch = begin(self.device, self.tf32)
        self.host = {k: self.pinned(v) for k, v in inputs.items()}
        self.there = {k: v.to(self.device) for k, v in self.host.items()}
        call = self.narrowed(self.network(model, self.there))
        with torch.inference_mode():
            if self.mode != "eager":
                call = torch.compile(call)
            for _ in range(WARM):
                call()
            self.call = Captured(torch, call) if self.mode == "graph" else call
        return facts_of(torch, self)

    def narrowed(self, call):
        types = {"bf16": self.torch.bfloat16, "f16": self.torch.float16}

        def cast():
            with self.torch.autocast(self.device, types[self.precision]):
                return call()

        return cast if self.precision in types else call

    def pinned(self, array):
        value = self.torch.from_numpy(array)
        return value.pin_memory() if self.device == "cuda" else value

    def run(self):
        with self.torch.inference_mode():
            for k, v in self.host.items():
                self.there[k].copy_(v, non_blocking=True)
            self.result = self.call()
            if self.device == "cuda":
                self.torch.cuda.synchronize()

    def outputs(self):
        return [self.result.cpu().numpy()]

    def seconds(self):
        with self.torch.inference_mode():
            return seconds_of(self.torch, self.device, self.call)


class Networks(OnDevice):
    unverified = "its weights are its own, of the same shapes"
    precisions = ("f32", "bf16", "f16")

    def __init__(self, mode):
        self.mode = mode

    def network(self, model, named):
        torch = self.torch
        images, known = spelled.architecture(model)
        if images:
            value = next(v for v in named.values() if v.dim() == 4)
            _, call = spelled.resnet(torch, *known, 1000)
            call(value)
            return lambda: call(value)
        vocabulary, width, layers, heads, positions, causal = known
        w = spelled.make(torch, vocabulary, width, layers, positions, causal, 2)
        ids = next(v for k, v in named.items() if "ids" in k and "type" not in k and "position" not in k).long()
        if not causal:
            return lambda: spelled.forward(torch.nn.functional, w, ids, layers, width, heads, causal)
        past = [(named[f"past.{i}.key"], named[f"past.{i}.value"]) for i in range(layers)
                if f"past.{i}.key" in named and named[f"past.{i}.key"].numel()]
        return lambda: continued(torch, w, ids, past, layers, width, heads)

    def step(self):
        return NetworkStep(self.mode, self.device)


class NetworkStep(spelled.Step):
    precisions, tf32 = ("f32", "bf16"), True

    def __init__(self, mode, device):
        self.mode, self.device = mode, device

    def open(self, model, inputs, threads, train):
        self.torch = torch = begin(self.device, True)
        self.clip = train["clip"]
        self.make(model, {k: torch.from_numpy(v).to(self.device) for k, v in inputs.items()}, train)
        narrow = train["precision"] == "bf16"
        self.optimizer = torch.optim.AdamW(self.weights.values(), lr=train["lr"], capturable=self.mode == "graph")
        forward = self.forward

        def cast():
            with torch.autocast(self.device, torch.bfloat16, enabled=narrow):
                return forward()

        self.forward = cast if self.mode == "eager" else torch.compile(cast)
        for _ in range(WARM):
            self.whole()
        self.call = Captured(torch, self.whole) if self.mode == "graph" else self.whole
        return facts_of(torch, self)

    def loss(self):
        y = self.forward()
        return self.torch.nn.functional.cross_entropy(y.reshape(-1, y.shape[-1]).float(), self.label)

    def whole(self):
        loss = self.loss()
        loss.backward()
        self.update()
        return loss

    def run(self):
        return self.call().item()

    def seconds(self):
        return seconds_of(self.torch, self.device, self.call)
