"""Files that torch's two exporters write of small modules load and give what ONNX Runtime gives: python3
torch_exports.py TESSERA WORK [NAME...]. Needs torch, onnx and onnxruntime; the newer exporter needs onnxscript."""
import logging
import sys
import warnings

import torch
from torch import nn

from exporters import main

logging.disable(logging.ERROR)
warnings.simplefilter("ignore")
torch.manual_seed(0)
torch.backends.mha.set_fastpath_enabled(False)  # the older exporter knows the parts only


class Of(nn.Module):
    """A module of a function and of modules that it uses."""

    def __init__(self, f, **parts):
        super().__init__()
        self.f, self.parts = f, nn.ModuleDict(parts)

    def forward(self, *x):
        return self.f(self.parts, *x)


def attention(p, x):
    b, n, _ = x.shape
    q, k, v = (t.reshape(b, n, 4, 8).transpose(1, 2) for t in p["qkv"](x).chunk(3, -1))
    y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    return p["out"](y.transpose(1, 2).reshape(b, n, 32))


def modules():
    x, ids, image = torch.randn(2, 7, 32), torch.randint(0, 50, (2, 7)), torch.randn(2, 3, 16, 16)
    layer = nn.TransformerEncoderLayer(32, 4, 48, batch_first=True, activation="gelu", norm_first=True)
    yield "mlp", nn.Sequential(nn.Linear(32, 48), nn.GELU(), nn.Dropout(0.1), nn.LayerNorm(48), nn.Linear(48, 8),
                               nn.Softmax(-1)), (x,)
    yield "cnn", nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU6(),
                               nn.Conv2d(8, 8, 3, 1, 1, groups=8), nn.Hardswish(), nn.MaxPool2d(2),
                               nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)), (image,)
    yield "unet", Of(lambda p, y: p["up"](nn.functional.interpolate(p["down"](y), scale_factor=2, mode="bilinear")),
                     down=nn.Conv2d(3, 6, 3, 2, 1), up=nn.ConvTranspose2d(6, 3, 2, 2)), (image,)
    yield "encoder", nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), (x,)
    yield "attention", Of(attention, qkv=nn.Linear(32, 96), out=nn.Linear(32, 32)), (x,)
    yield "lstm", Of(lambda p, y: p["rnn"](y)[0], rnn=nn.LSTM(32, 16, 2, batch_first=True, bidirectional=True)), (x,)
    yield "gru", Of(lambda p, y: p["rnn"](y)[1], rnn=nn.GRU(32, 16, batch_first=True)), (x,)
    yield "words", Of(lambda p, i: p["head"](p["words"](i).mean(1)), words=nn.Embedding(50, 16),
                      head=nn.Linear(16, 3)), (ids,)
    yield "rms", Of(lambda p, y: p["norm"](y) * torch.sigmoid(y) + y.cumsum(1), norm=nn.RMSNorm(32)), (x,)
    yield "choice", Of(lambda p, y: torch.where(y > 0, y, y.exp() - 1).topk(3, -1).values), (x,)
    yield "einsum", Of(lambda p, y: torch.einsum("bik,bjk->bij", y, y).tril().amax(-1)), (x,)
    yield "groups", nn.Sequential(nn.Conv1d(7, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.SiLU(), nn.PReLU(8)), (x,)
    yield "pixels", nn.Sequential(nn.Conv2d(3, 12, 3, padding="same"), nn.PixelShuffle(2),
                                  nn.InstanceNorm2d(3, affine=True), nn.ReflectionPad2d(1), nn.AvgPool2d(2)), (image,)
    yield "index", Of(lambda p, y, i: y[:, 1:-1:2].gather(2, i[:, :3, None].expand(-1, 3, 4) % 32).std(-1)), (x, ids)


def export(m, inputs, to, new):
    free = {0: "batch"}
    names = [f"in{i}" for i in range(len(inputs))]
    how = {"dynamic_shapes": tuple({0: torch.export.Dim("batch")} for _ in inputs)} if new else \
        {"dynamic_axes": {n: free for n in names}}
    if new and isinstance(m, Of):
        how["dynamic_shapes"] = (how["dynamic_shapes"],)
    torch.onnx.export(m.eval(), inputs, to, input_names=names, output_names=["y"], dynamo=new, **how)


if __name__ == "__main__":
    with torch.no_grad():
        sys.exit(main(modules(), {"older exporter": lambda *more: export(*more, False),
                                  "newer exporter": lambda *more: export(*more, True)}))
