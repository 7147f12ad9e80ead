"""The path of stroock as an operation of PyTorch: what a training loop that is written in PyTorch gets."""

import stroock.torch
import torch


class StroockPath(torch.nn.Module):
    """Geometric Euler-Maruyama on the sphere by `stroock.torch`."""

    def __init__(self, dim, terms, interval):
        super().__init__()
        self.interval = tuple(interval)

    def forward(self, start, drift, sigma, times, noise=None):
        """States [B, T + 1, n] and divergences [B] from start [B, n] and coefficients [B, m, K]."""
        return stroock.torch.geometric_em(start, drift, sigma, times, interval=self.interval, noise=noise)
