"""The power spherical distribution of the start point."""

import math

import torch


def divergence(kappa, n):
    """KL(S(mu, kappa) || uniform)."""
    beta = 0.5 * (n - 1)
    alpha = beta + kappa
    closed = torch.lgamma(alpha + beta) - torch.lgamma(alpha)
    constant = math.lgamma(2 * beta) - math.lgamma(beta)
    return closed - constant - kappa * (torch.digamma(alpha + beta) - torch.digamma(alpha))


def draw(mu, kappa):
    """A point for every row of mu [B, n], differentiable in mu and kappa: Beta cosine, tangent, Householder."""
    n = mu.shape[-1]
    beta = torch.full_like(kappa, 0.5 * (n - 1))
    t = (2 * torch.distributions.Beta(beta + kappa, beta).rsample() - 1).unsqueeze(-1)
    tangent = torch.nn.functional.normalize(torch.randn(*mu.shape[:-1], n - 1), dim=-1)
    y = torch.cat([t, (1 - t.square()).clamp_min(1e-10).sqrt() * tangent], -1)
    pole = torch.zeros_like(mu)
    pole[..., 0] = 1.0
    mirror = torch.nn.functional.normalize(pole - mu, dim=-1)
    return y - 2 * (y * mirror).sum(-1, keepdim=True) * mirror


def replay(mu, kappa, point):
    """A given point, with the derivatives that stroock's draw of it has.

    By kappa the angle moves at a fixed quantile of its distribution; by mu the point is carried by the shortest rotation.
    """
    z, pole = point.detach().double(), mu.detach().double()
    pole = pole / pole.norm(dim=-1, keepdim=True)
    cosine = (pole * z).sum(-1)
    sine = (z - cosine.unsqueeze(-1) * pole).norm(dim=-1)
    tangent = (z - cosine.unsqueeze(-1) * pole) / sine.unsqueeze(-1)
    speed = cosine_by_kappa(cosine, (pole - z).square().sum(-1) / 4, kappa.detach().double(), mu.shape[-1])
    moved = (speed / sine).unsqueeze(-1) * (sine.unsqueeze(-1) * pole - cosine.unsqueeze(-1) * tangent)
    # `0 * x` written as x - x.detach(): the value stays, the derivative comes in.
    along = mu - mu.detach()
    tilt = along * cosine.unsqueeze(-1) - pole * (along * z).sum(-1, keepdim=True)
    return (z + tilt + moved * (kappa - kappa.detach()).unsqueeze(-1)).to(mu.dtype)


def cosine_by_kappa(cosine, c, kappa, n):
    """d<mu, z>/dkappa at a fixed quantile, with b = 1 - c = (1 + <mu, z>)/2 ~ Beta(alpha, beta)."""
    from scipy.special import betainc, betaincc, betaln

    beta = 0.5 * (n - 1)
    c = c.numpy().clip(1e-300, 1.0)
    b, alpha = 1.0 - c, beta + kappa.numpy()
    width = 1e-4 * alpha

    def slope(function):
        # Central differences of order 4.
        at = lambda i: function(alpha + i * width)  # noqa: E731
        return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * width)

    import numpy

    # The tail that is smaller keeps its digits.
    small = betainc(alpha, beta, b) < 0.5
    lower = slope(lambda a: betainc(a, beta, b))
    upper = slope(lambda a: betaincc(a, beta, b))
    by_alpha = numpy.where(small, lower, -upper)
    density = numpy.exp((alpha - 1) * numpy.log1p(-c) + (beta - 1) * numpy.log(c) - betaln(alpha, beta))
    return torch.from_numpy(-2 * by_alpha / density)
