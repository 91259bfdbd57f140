"""Losses by numpy, the words that oracles of training operations use."""
import numpy as np


def reduced(loss, reduce):
    return loss if reduce == "none" else getattr(np, reduce)(loss)


def nll(log_p, label, weight, axis, smoothing, ignore, reduce):
    """In torch's sense: smoothing spreads over all classes, the mean is by weight."""
    kept = np.ones(label.shape, bool) if ignore is None else label != ignore
    label = np.where(kept, label, 0).astype(np.int64)
    w = np.ones(log_p.shape[axis], log_p.dtype) if weight is None else weight
    shape = [1] * log_p.ndim
    shape[axis] = -1
    at = np.take_along_axis(log_p, np.expand_dims(label, axis), axis).squeeze(axis)
    loss = -(1 - smoothing) * at * w[label] - smoothing * (log_p * w.reshape(shape)).mean(axis)
    loss, total = loss * kept, w[label] * kept
    loss = loss.astype(log_p.dtype)
    return loss.sum() / total.sum() if reduce == "mean" else reduced(loss, reduce)


def kl(log_q, p, reduce):
    each = np.where(p > 0, p * (np.log(np.where(p > 0, p, 1)) - log_q), 0).astype(p.dtype)
    return (each.sum() / each.shape[0]).astype(each.dtype) if reduce == "mean" else reduced(each, reduce)


def cosine(a, b, sign, margin, reduce):
    cos = (a * b).sum(-1) / np.sqrt(np.square(a).sum(-1) * np.square(b).sum(-1) + 1e-12).astype(a.dtype)
    return reduced(np.where(sign > 0, 1 - cos, np.maximum(cos - margin, 0)), reduce)
