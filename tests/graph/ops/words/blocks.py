"""Blocks of networks, part by part: what one head, one layer or one convolution does is handed in."""
import numpy as np


def multi_head_attention(attention, x, heads, scale, causal):
    biases = x[7:11] if len(x) >= 11 else [0] * 4
    mask = x[-1] if len(x) in (8, 12) else None
    q, k, v = (a @ w + b for a, w, b in zip(x[:3], x[3:6], biases))
    each = []
    for h, parts in enumerate(zip(*(np.split(a, heads, -1) for a in (q, k, v)))):
        of_head = mask if mask is None or mask.ndim < 3 else mask[..., h % mask.shape[-3], :, :]
        each.append(attention(*parts, of_head, scale, causal))
    return np.concatenate(each, -1) @ x[6] + biases[3]


def feed_forward(erf, x, activation, gated):
    act = {"gelu": lambda a: a * (1 + erf(a / np.sqrt(2).astype(a.dtype))) / 2, "relu": lambda a: np.maximum(a, 0),
           "silu": lambda a: a / (1 + np.exp(-a)), "tanh": np.tanh}[activation]
    first, second = x[3:] if len(x) == 5 else (0, 0)
    y = x[0] @ x[1] + first
    if gated:
        half = y.shape[-1] // 2
        return (act(y[..., :half]) * y[..., half:]) @ x[2] + second
    return act(y) @ x[2] + second


def residual_block(conv, x, stride, project, epsilon, training):
    def normal_conv(a, w, scale, bias, mean, variance, step):
        space = a.ndim - 2
        y = conv(a, w, (step,) * space, None, tuple(k // 2 for k in w.shape[2:]) * 2, 1)
        if training:
            axes = (0, *range(2, y.ndim))
            mean, variance = y.mean(axes), y.var(axes)
        by_channel = lambda v: v.reshape(-1, *[1] * space)
        return (y - by_channel(mean)) / np.sqrt(by_channel(variance) + epsilon) * by_channel(scale) + by_channel(bias)

    parts = [x[i:i + 5] for i in range(1, len(x), 5)]
    shortcut = normal_conv(x[0], *parts.pop(), stride) if project else x[0]
    wide = [max(p[0].shape[2:]) > 1 for p in parts]
    moving = wide.index(True) if any(wide) else 0
    y = x[0]
    for i, p in enumerate(parts):
        y = normal_conv(y, *p, stride if i == moving else 1)
        y = np.maximum(y, 0) if i < len(parts) - 1 else y
    return np.maximum(y + shortcut, 0)
