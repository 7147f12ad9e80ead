"""The Lie algebra so(n) and the Chebyshev polynomials of the drift."""

import torch


def basis(n):
    """The matrices E_k, [m, n, n]: +1 at (i, j) and -1 at (j, i), i > j, row by row of the lower triangle."""
    rows, columns = torch.tril_indices(n, n, -1)
    k = torch.arange(len(rows))
    matrices = torch.zeros(len(rows), n, n)
    matrices[k, rows, columns] = 1.0
    matrices[k, columns, rows] = -1.0
    return matrices


def chebyshev(times, terms, interval):
    """T_0 .. T_{terms - 1} of (t - a) / (b - a), [T, terms], by the three-term recurrence."""
    start, end = interval
    s = (times - start) / (end - start)
    values = [torch.ones_like(s), s]
    while len(values) < terms:
        values.append(2 * s * values[-1] - values[-2])
    return torch.stack(values[:terms], -1)
