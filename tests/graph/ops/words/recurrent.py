"""Recurrent layers, step by step."""
import numpy as np


def said(text, a):
    names = {"exp": np.exp, "tanh": np.tanh, "max": np.maximum, "min": np.minimum, "abs": np.abs, "log": np.log}
    return eval(text, {**names, "a": a})


def recurrent(kind, x, reverse, clip, f, option=0):
    gates = {"rnn": 1, "gru": 3, "lstm": 4}[kind]
    x, w, r, b, h, *more = x
    n, hidden = x.shape[0], r.shape[1]
    wb, rb = np.split(b, 2)
    c, p = (more.pop(0), np.split(more.pop(0), 3)) if kind == "lstm" else (None, None)
    lengths = more[0] if more else np.full(x.shape[1], n)
    y = np.zeros((n, *h.shape), x.dtype)

    def act(i, a):
        return said(f[i], np.clip(a, -clip, clip) if clip else a).astype(x.dtype)
    for t in reversed(range(n)) if reverse else range(n):
        into, back = np.split(x[t] @ w.T + wb, gates, 1), np.split(h @ r.T + rb, gates, 1)
        now = c
        if kind == "rnn":
            new = act(0, into[0] + back[0])
        elif kind == "gru":
            z, reset = act(0, into[0] + back[0]), act(0, into[1] + back[1])
            inner = reset * back[2] if option else (reset * h) @ r[2 * hidden:].T + rb[2 * hidden:]
            new = (1 - z) * act(1, into[2] + inner) + z * h
        else:
            i, o, forget, update = (into[k] + back[k] for k in range(4))
            i = act(0, i + p[0] * c)
            forget = 1 - i if option else act(0, forget + p[2] * c)
            now = forget * c + i * act(1, update)
            new = act(0, o + p[1] * now) * said(f[2], now)
        on = (t < lengths)[:, None]
        h, c = np.where(on, new, h), None if c is None else np.where(on, now, c)
        y[t] = np.where(on, new, 0)
    return np.concatenate([y, h[None]] + ([] if c is None else [c[None]])).astype(x.dtype)
