"""Fourier transforms by numpy's, and mel weights row by row."""
import numpy as np


def dft(a, axis, length, inverse, onesided):
    z = a[..., 0].astype(np.float64) if a.shape[-1] == 1 else a[..., 0].astype(np.float64) + 1j * a[..., 1]
    axis = axis % a.ndim
    if onesided and inverse:
        return np.fft.irfft(z, length, axis)[..., None].astype(a.dtype)
    y = (np.fft.rfft if onesided else np.fft.ifft if inverse else np.fft.fft)(z, length, axis)
    return np.stack([y.real, y.imag], -1).astype(a.dtype)


def fourier_sum(a, b, axis, length, inverse, onesided):
    """Two-sided or of reals, with a table that need not be one of cosines and sines."""
    z = np.moveaxis(a[..., 0] if a.shape[-1] == 1 else a[..., 0] + 1j * a[..., 1], axis % a.ndim, -1)
    table = b[:, 0] + (1j if inverse else -1j) * b[:, 1]
    k = np.arange(length // 2 + 1 if onesided else length)[:, None]
    n = np.arange(min(length, z.shape[-1]))
    y = (z[..., None, :len(n)] * table[k * n % length]).sum(-1) / (length if inverse else 1)
    y = np.moveaxis(y, -1, axis % a.ndim)
    return np.stack([y.real, y.imag], -1)


def mel_weights(bins, length, rate, low, high):
    mel = [2595 * np.log10(1 + f / 700) for f in (low, high)]
    edge = mel[0] + np.arange(bins + 2) * (mel[1] - mel[0]) / (bins + 2)
    edge = np.floor((length + 1) * 700 * (10 ** (edge / 2595) - 1) / rate).astype(int)
    y = np.zeros((length // 2 + 1, bins))
    for b, (first, top, last) in enumerate(zip(edge, edge[1:], edge[2:])):
        for i in range(first, top):
            y[i, b] = (i - first) / (top - first)
        y[top, b] = 1
        for i in range(top + 1, last):
            y[i, b] = (last - i) / (last - top)
    return y
