"""The filter of continuous recurrent units: beliefs about a state in R^2d whose first half is observed.

A belief is a mean [B, 2d], variances v [B, 2d] and covariances s [B, d] between coordinate i of both halves. The drift
matrix over a gap is mixed from learned sets by a softmax of the mean.
"""

import numpy
import torch
from torch import nn

from .links import linear, same

VARIANCES = {
    "elu-plus-one": lambda x: nn.functional.elu(x) + 1,
    "square": torch.square,
    "exponential": torch.exp,
    "softplus": nn.functional.softplus,
    "relu": torch.relu,
}
# A variance beside which nothing is observed.
BLIND = 1e30


class KalmanFilter(nn.Module):
    """Parameters and the loop over stops; `prepare` and `predict` are what the forms differ in."""

    def __init__(self, settings, coefficients):
        super().__init__()
        self.half, sets = settings["half"], settings["sets"]
        n = 2 * self.half
        self.time_scale, self.noise_kind = settings["time_scale"], settings["noise"]
        self.initial, self.noise = nn.Parameter(torch.zeros(n)), nn.Parameter(torch.zeros(n))
        self.mixture = nn.Linear(n, sets)
        self.coefficients = nn.Parameter(torch.zeros(sets, coefficients))

    def forward(self, observation, variance, stops):
        """Means [B, P, 2d], variances [B, P, 2d] and covariances [B, P, d] after every stop."""
        series, half = len(observation), self.half
        gaps = (stops.gaps * self.time_scale).float()
        mean = torch.zeros(series, 2 * half)
        v = nn.functional.softplus(self.initial).expand(series, -1)
        s = torch.zeros(series, half)
        shared = self.prepare(VARIANCES[self.noise_kind](self.noise))
        beliefs = []
        of_stops = zip(observation.unbind(1), variance.unbind(1), stops.observed.unbind(1), gaps.unbind(1))
        for place, (y, r, observed, gap) in enumerate(of_stops):
            if place:
                mean, v, s = self.predict(mean, v, s, gap, shared)
            mean, v, s = self.update(mean, v, s, y, r, observed)
            beliefs.append((mean, v, s))
        return tuple(torch.stack(part, 1) for part in zip(*beliefs))

    def weights(self, mean):
        """The mixture at a mean, [B, K]."""
        return torch.softmax(self.mixture(mean), 1)

    def links(self, name):
        """Where stroock has the parameters."""
        links = linear(name + ".mixture", self.mixture)
        for part in ("initial", "noise", "coefficients", "rotation"):
            if hasattr(self, part):
                links += same(f"{name}.{part}", getattr(self, part))
        return links


class PlainUpdate:
    """The update everywhere, and a choice of the rows that have an observation."""

    def update(self, mean, v, s, y, r, observed):
        half, observed = self.half, observed.unsqueeze(1)
        u, l = v[:, :half], v[:, half:]
        upper, lower = u / (u + r), s / (u + r)
        error = y - mean[:, :half]
        after = torch.cat([mean[:, :half] + upper * error, mean[:, half:] + lower * error], 1)
        v_after = torch.cat([(1 - upper) * u, l - lower * s], 1)
        return (
            torch.where(observed, after, mean),
            torch.where(observed, v_after, v),
            torch.where(observed, (1 - upper) * s, s),
        )


class TunedUpdate:
    """The same with both halves in one product; the variance is `BLIND` where there is no observation."""

    def update(self, mean, v, s, y, r, observed):
        half = self.half
        u = v[:, :half]
        columns = torch.stack([u, s], 1)
        gain = columns / (u + r).unsqueeze(1)
        error = (y - mean[:, :half]).unsqueeze(1)
        mean = torch.addcmul(mean, gain.flatten(1), error.expand_as(gain).flatten(1))
        lower = torch.stack([u, s], 1) - gain * u.unsqueeze(1)
        l = torch.addcmul(v[:, half:], gain[:, 1], s, value=-1)
        return mean, torch.cat([lower[:, 0], l], 1), lower[:, 1]


class Banded(KalmanFilter):
    """Drift matrices of four banded blocks."""

    def __init__(self, settings):
        half, n = settings["half"], 2 * settings["half"]
        place = torch.arange(n) % half
        inside = (place[:, None] - place).abs() <= settings["bandwidth"]
        super().__init__(settings, int(inside.sum()))
        self.register_buffer("inside", inside.flatten().nonzero().squeeze(1))

    def matrices(self):
        """The sets as rows of whole matrices, [K, 4 d^2]."""
        rows = torch.zeros(len(self.coefficients), 4 * self.half**2)
        return rows.index_copy(1, self.inside, self.coefficients)


class PlainBanded(PlainUpdate, Banded):
    """Exponential and noise by the exponential of a matrix of twice the size (Van Loan 1978)."""

    def prepare(self, noise):
        """All sets as matrices, and the noise."""
        n = 2 * self.half
        return self.matrices().view(-1, n, n), torch.diag(noise)

    def predict(self, mean, v, s, gap, shared):
        """The belief over a gap."""
        sets, noise = shared
        half, n = self.half, 2 * self.half
        drift = (self.weights(mean)[:, :, None, None] * sets).sum(1)
        top = torch.cat([-drift, noise.expand_as(drift)], 2)
        bottom = torch.cat([torch.zeros_like(drift), drift.transpose(1, 2)], 2)
        exponential = torch.matrix_exp(torch.cat([top, bottom], 1) * gap[:, None, None])
        phi = exponential[:, n:, n:].transpose(1, 2)
        gathered = torch.bmm(phi, exponential[:, :n, n:])
        covariance = torch.bmm(torch.bmm(phi, dense(v, s)), phi.transpose(1, 2)) + gathered
        mean = torch.bmm(phi, mean.unsqueeze(2)).squeeze(2)
        return mean, torch.diagonal(covariance, dim1=1, dim2=2), crossed(covariance, half)


class TunedBanded(TunedUpdate, Banded):
    """Powers of the matrix once; from them its exponential at the gap and at nodes of a Gauss rule for the noise.

    Of all covariances only 3d numbers are needed: row sums of products.
    """

    def prepare(self, noise):
        """All sets as rows of matrices, and the noise."""
        return self.matrices(), noise

    def predict(self, mean, v, s, gap, shared):
        """The belief over a gap."""
        sets, noise = shared
        half, n, series = self.half, 2 * self.half, len(mean)
        scaled = (self.weights(mean) * gap.unsqueeze(1)) @ sets
        scaled = scaled.view(series, n, n)
        terms = self.terms(float(scaled.detach().abs().sum(2).amax()))
        powers = [torch.eye(n).expand(series, n, n), scaled]
        for k in range(2, terms + 1):
            powers.append(torch.bmm(scaled, powers[-1]) * (1 / k))
        shares, weights = rule(terms)
        flows = (shares @ torch.stack(powers).flatten(1)).view(-1, series, n, n)
        phi, at_nodes = flows[-1], flows[:-1]
        mean = torch.bmm(phi, mean.unsqueeze(2)).squeeze(2)
        # Noise that came in at the nodes, and the belief before: as columns beside each other.
        upper, lower = at_nodes[:, :, :half], at_nodes[:, :, half:]
        gathered = torch.cat([at_nodes.square(), upper * lower], 2) @ noise
        gathered = torch.einsum("qbi,q,b->bi", gathered, weights, gap)
        top, bottom = phi[:, :half], phi[:, half:]
        moved = torch.bmm(torch.cat([phi.square(), top * bottom], 1), v.unsqueeze(2)).squeeze(2)
        left, right = phi[:, :, :half], phi[:, :, half:]
        crossing = torch.addcmul(top[:, :, :half] * bottom[:, :, half:], top[:, :, half:], bottom[:, :, :half])
        shifted = torch.bmm(torch.cat([2 * left * right, crossing], 1), s.unsqueeze(2)).squeeze(2)
        total = gathered + moved + shifted
        return mean, total[:, :n], total[:, n:]

    @staticmethod
    def terms(norm, tolerance=1e-8):
        """How many terms of exp leave less than `tolerance`, for a matrix of this norm."""
        term, k = 1.0, 0
        while term > tolerance:
            k += 1
            term *= norm / k
        return max(k, 2)


RULES = {}


def rule(terms):
    """Factors [nodes + 1, terms + 1] of powers at the nodes of a Gauss rule on [0, 1] and at 1, and its weights."""
    if terms not in RULES:
        nodes, weights = numpy.polynomial.legendre.leggauss(terms // 2 + 2)
        at = numpy.append(0.5 * (nodes + 1), 1.0)
        factors = at[:, None] ** numpy.arange(terms + 1)
        RULES[terms] = torch.tensor(factors).float(), torch.tensor(0.5 * weights).float()
    return RULES[terms]


class Eigenvalues(KalmanFilter):
    """Drift matrices with eigenvalues in one orthogonal basis."""

    def __init__(self, settings):
        super().__init__(settings, 2 * settings["half"])
        n = 2 * self.half
        self.rotation = nn.Parameter(torch.zeros(n * (n - 1) // 2))
        self.register_buffer("below", torch.tril_indices(n, n, -1))

    def basis(self):
        """The orthogonal basis [2d, 2d], eigenvectors as columns.

        It is used at every gap: what it lacks of orthogonality adds up, so that it is made in double precision.
        """
        n = 2 * self.half
        rows, columns = self.below
        skew = torch.zeros(n, n).index_put((rows, columns), self.rotation).double()
        return torch.matrix_exp(skew - skew.T).float()


class PlainEigenvalues(PlainUpdate, Eigenvalues):
    """Whole covariances, turned into the basis and back."""

    def prepare(self, noise):
        """The basis, and the noise in it."""
        basis = self.basis()
        return basis, basis.T @ torch.diag(noise) @ basis

    def predict(self, mean, v, s, gap, shared):
        """The belief over a gap."""
        basis, noise = shared
        gap = gap[:, None, None]
        values = self.weights(mean) @ self.coefficients
        sums = (values.unsqueeze(2) + values.unsqueeze(1)) * gap
        covariance = basis.T @ dense(v, s) @ basis
        covariance = covariance * torch.exp(sums) + noise * gap * relative_growth(sums)
        covariance = basis @ covariance @ basis.T
        mean = (torch.exp(values * gap.squeeze(2)) * (mean @ basis)) @ basis.T
        return mean, torch.diagonal(covariance, dim1=1, dim2=2), crossed(covariance, self.half)


class TunedEigenvalues(TunedUpdate, Eigenvalues):
    """The way into the basis and back as products with one matrix: from 3d numbers to a triangle of a symmetric matrix."""

    def prepare(self, noise):
        """The basis, the matrices there and back, the noise in the basis, and the sets with sums of eigenvalues."""
        basis, half, n = self.basis(), self.half, 2 * self.half
        first, second = torch.triu_indices(n, n)
        a, b = basis[:, first], basis[:, second]
        there = torch.cat([a * b, a[:half] * b[half:] + a[half:] * b[:half]])
        # Entries beside the diagonal stand for two; a covariance is half of what it is there.
        back = there * torch.where(first == second, 1.0, 2.0)
        back = torch.cat([back[:n], 0.5 * back[n:]]).T.contiguous()
        pairs = self.coefficients[:, first] + self.coefficients[:, second]
        return basis, there, back, noise @ there[:n], torch.cat([self.coefficients, pairs], 1)

    def predict(self, mean, v, s, gap, shared):
        """The belief over a gap."""
        basis, there, back, noise, sets = shared
        n, gap = 2 * self.half, gap.unsqueeze(1)
        exponents = (self.weights(mean) * gap) @ sets
        growth = torch.exp(exponents)
        sums = exponents[:, n:]
        covariance = (torch.cat([v, s], 1) @ there) * growth[:, n:]
        covariance = torch.addcmul(covariance, noise * gap, relative_growth(sums)) @ back
        mean = (growth[:, :n] * (mean @ basis)) @ basis.T
        return mean, covariance[:, :n], covariance[:, n:]


def relative_growth(z):
    """(e^z - 1) / z, by its series near 0, where its derivative would lose digits."""
    near = z.abs() < 0.05
    safe = torch.where(near, 1.0, z)
    series = 1 + z * (1 / 2 + z * (1 / 6 + z * (1 / 24 + z * (1 / 120))))
    return torch.where(near, series, torch.expm1(safe) / safe)


def dense(v, s):
    """Whole covariances [B, 2d, 2d] of diagonal blocks."""
    covariance, crossing = torch.diag_embed(v), torch.diag_embed(s)
    zeros = torch.zeros_like(crossing)
    crossing = torch.cat([torch.cat([zeros, crossing], 2), torch.cat([crossing, zeros], 2)], 1)
    return covariance + crossing


def crossed(covariance, half):
    """The diagonal of the block beside the diagonal, [B, d]."""
    return torch.diagonal(covariance[:, :half, half:], dim1=1, dim2=2)


FILTERS = {
    ("cru", False): PlainBanded,
    ("cru", True): TunedBanded,
    ("f-cru", False): PlainEigenvalues,
    ("f-cru", True): TunedEigenvalues,
}
