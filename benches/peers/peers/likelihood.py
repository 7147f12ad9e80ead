"""Losses of observed entries and of predictions."""

import math

import torch
from torch.nn import functional

LEAST_VARIANCE = 1e-6


def entry_loss(output, targets, ln_scale):
    """Negative log likelihood of every entry, [S, Q, C]: Gaussian, or Bernoulli without a scale."""
    values = targets.values.expand_as(output)
    if ln_scale is None:
        return functional.binary_cross_entropy_with_logits(output, values, reduction="none")
    normaliser = ln_scale + 0.5 * math.log(2 * math.pi)
    return 0.5 * ((output - values) * torch.exp(-ln_scale)).square() + normaliser


def per_series(losses, targets):
    """Sums over the observed entries of each series, [B], averaged over the samples."""
    if targets.mask is not None:
        losses = losses * targets.mask
    of_points = losses.sum(2).mean(0)
    return of_points.new_zeros(len(targets.counts)).index_add(0, targets.series, of_points)


def normal_surprise(mean, variance, values, mask, targets):
    """Negative log likelihoods of normal numbers [Q, C] with variances of their own, summed over each series, [B]."""
    variance = variance.clamp_min(LEAST_VARIANCE)
    entries = 0.5 * (torch.log(variance) + (values - mean).square() / variance + math.log(2 * math.pi))
    entries = entries if mask is None else entries * mask
    return entries.new_zeros(len(targets.counts)).index_add(0, targets.series, entries.sum(1))


def task_loss(kind, prediction, batch):
    """Mean cross entropy, or mean squared error, over the labels of each series, [B]."""
    targets = batch.targets
    points = targets.points.clamp_min(1)
    if kind == "angle":
        of_points = (prediction - batch.labels).square().sum(2).mean(0)
        points = points * batch.labels.shape[1]
    else:
        classes = batch.classes.expand(prediction.shape[:2])
        of_points = functional.cross_entropy(prediction.flatten(0, 1), classes.flatten(), reduction="none")
        of_points = of_points.view(classes.shape).mean(0)
    return of_points.new_zeros(len(points)).index_add(0, targets.series, of_points) / points
