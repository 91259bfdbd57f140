"""Attention by a state, step by step, from the recurrence of ONNX's specification."""
import numpy as np


def linear_attention(x, decay, beta):
    q, k, v, s = (np.array(a) for a in x[:4])
    y = []
    for t in range(k.shape[2]):
        if decay:
            s = np.exp(x[4][:, :, t, :, None]) * s
        new = v[:, :, t]
        if beta:
            new = x[-1][:, :, t] * (new - np.einsum("bhkv,bhk->bhv", s, k[:, :, t]))
        s = s + np.einsum("bhk,bhv->bhkv", k[:, :, t], new)
        y.append(np.einsum("bhgk,bhkv->bhgv", q[:, :, t], s))
    return np.concatenate([*y, s], 2)
