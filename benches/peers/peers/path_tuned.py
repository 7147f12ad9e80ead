"""The same path with less around the arithmetic.

Time is the first axis, so that the matrices of a step are contiguous, and the loop is unbound: a slice in the loop
costs an array of the size of all matrices at every step of the backward pass.
"""

import torch

from .lie_algebra import basis, chebyshev


class TunedPath(torch.nn.Module):
    """Geometric Euler-Maruyama on the sphere, time first."""

    def __init__(self, dim, terms, interval):
        super().__init__()
        self.register_buffer("basis", basis(dim).flatten(1))
        self.dim, self.terms, self.interval = dim, terms, interval

    def forward(self, start, drift, sigma, times, noise=None):
        """States [B, T + 1, n] and divergences [B] from start [B, n] and coefficients [B, m, K]."""
        steps = torch.diff(times)
        increments, matrices = self.increments(drift, sigma, times, steps, noise)
        states = self.walk(start.unsqueeze(-1), increments)
        speed = torch.matmul(matrices, states[:-1]).square().sum((2, 3))
        divergence = torch.mv(speed.T, steps) / (2 * sigma.square())
        return states.squeeze(-1).transpose(0, 1), divergence

    def increments(self, drift, sigma, times, steps, noise):
        """Elements Omega_j of the Lie algebra and the drift there, [T, B, n, n] each."""
        series, m, terms = drift.shape
        polynomials = chebyshev(times[:-1], self.terms, self.interval)
        coefficients = torch.mm(polynomials, drift.reshape(series * m, terms).T).view(-1, series, m)
        if noise is None:
            noise = torch.randn(coefficients.shape)
        else:
            noise = noise.transpose(0, 1)
        scaled = torch.addcmul(coefficients * steps[:, None, None], noise * steps.sqrt()[:, None, None], sigma)
        shape = (len(steps), series, self.dim, self.dim)
        return (scaled @ self.basis).view(shape), (coefficients @ self.basis).view(shape)

    def walk(self, state, increments):
        """States [T + 1, B, n, 1]."""
        states = [state]
        for rotation in torch.matrix_exp(increments).unbind(0):
            states.append(torch.bmm(rotation, states[-1]))
        return torch.stack(states)


class ActionPath(TunedPath):
    """Without matrix exponentials: their action on the state, by as many Taylor terms as the norm asks for."""

    def walk(self, state, increments):
        """States [T + 1, B, n, 1]."""
        terms = taylor_terms(float(increments.detach().square().sum((2, 3)).amax().sqrt()))
        states = [state]
        for increment in increments.unbind(0):
            term, total = states[-1], states[-1]
            for k in range(1, terms + 1):
                term = torch.bmm(increment, term) * (1.0 / k)
                total = total + term
            states.append(total)
        return torch.stack(states)


def taylor_terms(norm, tolerance=1e-9):
    """How many terms of exp leave less than `tolerance` of a vector, for a matrix of this Frobenius norm."""
    # Far below rounding: what is cut off is the same at every step, and adds up.
    # The eigenvalues of a skew matrix come in pairs: its spectral norm is at most the Frobenius norm over sqrt(2).
    norm /= 2**0.5
    term, k = 1.0, 0
    while term > tolerance:
        k += 1
        term *= norm / k
    return max(k - 1, 1)
