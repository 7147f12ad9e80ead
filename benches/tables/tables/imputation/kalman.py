"""Exact Gaussian processes of one variable in time, by the Kalman filter and smoother.

The kernel is `a Matern(t / l) + b exp(-t / m)` and the noise has variance `r`: a part that changes quickly, of
smoothness 1/2 or 3/2, on a slow one that tells series apart.
"""

import math

import numpy as np
from numba import njit


@njit(cache=True)
def advance(dt, smooth, theta, transition, added):
    """Transition and added covariance over a time `dt`; the state is (quick, its slope, slow)."""
    a, l, b, m = theta[0], theta[1], theta[2], theta[3]
    transition[:] = 0.0
    added[:] = 0.0
    if smooth:
        rate = math.sqrt(3.0) / l
        decay = math.exp(-rate * dt)
        transition[0, 0] = decay * (1.0 + rate * dt)
        transition[0, 1] = decay * dt
        transition[1, 0] = -decay * rate * rate * dt
        transition[1, 1] = decay * (1.0 - rate * dt)
        variance = (a, a * rate * rate)
        for i in range(2):
            for j in range(2):
                kept = transition[i, 0] * variance[0] * transition[j, 0] + transition[i, 1] * variance[1] * transition[j, 1]
                added[i, j] = (variance[i] if i == j else 0.0) - kept
    else:
        transition[0, 0] = math.exp(-dt / l)
        added[0, 0] = a * (1.0 - transition[0, 0] ** 2)
        transition[1, 1] = 1.0
    transition[2, 2] = math.exp(-dt / m)
    added[2, 2] = b * (1.0 - transition[2, 2] ** 2)


@njit(cache=True)
def stationary(smooth, theta, mean, covariance):
    """The distribution of the state before anything is seen."""
    mean[:] = 0.0
    covariance[:] = 0.0
    covariance[0, 0] = theta[0]
    covariance[1, 1] = 3.0 * theta[0] / theta[1] ** 2 if smooth else 0.0
    covariance[2, 2] = theta[2]


@njit(cache=True)
def predict(mean, covariance, transition, added):
    """Mean and covariance after a transition, in place."""
    new_mean = np.zeros(3)
    half = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            new_mean[i] += transition[i, j] * mean[j]
            for k in range(3):
                half[i, j] += transition[i, k] * covariance[k, j]
    mean[:] = new_mean
    for i in range(3):
        for j in range(3):
            total = added[i, j]
            for k in range(3):
                total += half[i, k] * transition[j, k]
            covariance[i, j] = total


@njit(cache=True)
def update(mean, covariance, value, noise):
    """Takes a value in; its log density."""
    seen = covariance[:, 0] + covariance[:, 2]
    variance = seen[0] + seen[2] + noise
    error = value - mean[0] - mean[2]
    for i in range(3):
        mean[i] += seen[i] / variance * error
        for j in range(3):
            covariance[i, j] -= seen[i] * seen[j] / variance
    return -0.5 * (math.log(2.0 * math.pi * variance) + error * error / variance)


@njit(cache=True)
def log_density(times, values, starts, smooth, theta):
    """Of all series: `times` and `values` of one after the other, which begin at `starts` (and the end)."""
    mean, covariance = np.zeros(3), np.zeros((3, 3))
    transition, added = np.zeros((3, 3)), np.zeros((3, 3))
    total = 0.0
    for s in range(len(starts) - 1):
        stationary(smooth, theta, mean, covariance)
        for i in range(starts[s], starts[s + 1]):
            if i > starts[s]:
                advance(times[i] - times[i - 1], smooth, theta, transition, added)
                predict(mean, covariance, transition, added)
            total += update(mean, covariance, values[i], theta[4])
    return total


@njit(cache=True)
def smoothed(times, values, smooth, theta):
    """Mean and variance of a value at every time of a series given all that are not NaN, the noise included."""
    count = len(times)
    means, covariances = np.zeros((count, 3)), np.zeros((count, 3, 3))
    before_means, before = np.zeros((count, 3)), np.zeros((count, 3, 3))
    transitions = np.zeros((count, 3, 3))
    mean, covariance, added = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))
    stationary(smooth, theta, mean, covariance)
    for i in range(count):
        if i > 0:
            advance(times[i] - times[i - 1], smooth, theta, transitions[i], added)
            predict(mean, covariance, transitions[i], added)
        before_means[i], before[i] = mean, covariance
        if not math.isnan(values[i]):
            update(mean, covariance, values[i], theta[4])
        means[i], covariances[i] = mean, covariance
    # Without the smooth part the second state is always zero, and its variance must not divide.
    for i in range(count - 2, -1, -1):
        ahead = before[i + 1].copy()
        for k in range(3):
            ahead[k, k] += 1e-12 * (ahead[k, k] + 1e-6) if ahead[k, k] > 0.0 else 1.0
        gain = np.linalg.solve(ahead, transitions[i + 1] @ covariances[i]).T
        means[i] += gain @ (means[i + 1] - before_means[i + 1])
        covariances[i] += gain @ (covariances[i + 1] - before[i + 1]) @ gain.T
    mean = means[:, 0] + means[:, 2]
    variance = covariances[:, 0, 0] + 2.0 * covariances[:, 0, 2] + covariances[:, 2, 2]
    return mean, np.maximum(variance, 0.0) + theta[4]
