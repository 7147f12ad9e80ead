"""Normal start points, and all latent numbers that are drawn at once."""

import torch


def points(mean, ln_scale, samples, normals=None):
    """Points [S, B, n] of normal distributions [B, n]; standard normals are drawn if not given."""
    if normals is None:
        normals = torch.randn(samples, *mean.shape)
    return torch.addcmul(mean, ln_scale.exp(), normals)


def divergence(mean, ln_scale, prior_mean, prior_ln_scale):
    """KL(N(m, s^2) || N(m', s'^2)) of independent coordinates, [B]."""
    ln_ratio = ln_scale - prior_ln_scale
    distance = (mean - prior_mean) * torch.exp(-prior_ln_scale)
    return (0.5 * (torch.exp(2 * ln_ratio) + distance.square() - 1) - ln_ratio).sum(1)


def divergence_from_standard(mean, ln_scale):
    """KL(N(m, s^2) || N(0, 1)) of independent coordinates, [B]."""
    return (0.5 * (torch.exp(2 * ln_scale) + mean.square() - 1) - ln_scale).sum(1)
