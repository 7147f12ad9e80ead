"""Paths on NumPy arrays."""

import gc

import numpy as np
import pytest

import stroock

N, SERIES, STEPS = 4, 3, 20
M = stroock.algebra_dim(N)


def problem(dtype=np.float64, samples=None, seed=0):
    random = np.random.default_rng(seed)
    shape = (SERIES, N) if samples is None else (samples, SERIES, N)
    start = random.normal(size=shape)
    start /= np.linalg.norm(start, axis=-1, keepdims=True)
    drift = random.normal(size=(SERIES, STEPS, M))
    noise = random.normal(size=shape[:-1] + (STEPS, M))
    return [x.astype(dtype) for x in (start, drift, np.linspace(0, 1, STEPS + 1), noise)]


def skew(coefficients):
    rows, columns = np.tril_indices(N, -1)
    matrices = np.zeros(coefficients.shape[:-1] + (N, N), dtype=coefficients.dtype)
    matrices[..., rows, columns] = coefficients
    matrices[..., columns, rows] = -coefficients
    return matrices


def expm(matrix):
    """By scaling and squaring of a Taylor series."""
    result, term = np.eye(len(matrix)), np.eye(len(matrix))
    for k in range(1, 20):
        term = term @ (matrix / 2**6) / k
        result = result + term
    for _ in range(6):
        result = result @ result
    return result


def test_a_path_is_the_product_of_exponentials():
    start, drift, times, noise = problem()
    sigma = 0.3
    states, divergence = stroock.geometric_em(start, drift, sigma, times, noise=noise)
    dt = np.diff(times)
    for b in range(SERIES):
        z, kl = start[b], 0.0
        for j in range(STEPS):
            kl += 0.5 * dt[j] * np.sum((skew(drift[b, j]) @ z) ** 2) / sigma**2
            z = expm(skew(drift[b, j]) * dt[j] + sigma * np.sqrt(dt[j]) * skew(noise[b, j])) @ z
            np.testing.assert_allclose(states[b, j + 1], z, atol=1e-12)
        np.testing.assert_allclose(divergence[b], kl, rtol=1e-11)


def test_matrices_are_drifts_too_also_with_one_more():
    start, drift, times, noise = problem()
    expected = stroock.geometric_em(start, drift, 0.3, times, noise=noise)
    matrices = skew(drift)
    more = np.concatenate([matrices, matrices[:, :1]], 1)
    for given in (matrices, more):
        states, divergence = stroock.geometric_em(start, given, 0.3, times, noise=noise)
        np.testing.assert_array_equal(states, expected.states)
        np.testing.assert_array_equal(divergence, expected.divergence)


def test_chebyshev_polynomials_of_time():
    start, _, times, noise = problem()
    coefficients = np.random.default_rng(5).normal(size=(SERIES, M, 3))
    s = times[:-1] / 2
    values = np.einsum("bmk,tk->btm", coefficients, np.stack([np.ones_like(s), s, 2 * s**2 - 1], 1))
    expected = stroock.geometric_em(start, values, 0.3, times, noise=noise)
    states, divergence = stroock.geometric_em(start, coefficients, 0.3, times, noise=noise, interval=(0.0, 2.0))
    np.testing.assert_allclose(states, expected.states, atol=1e-13)
    np.testing.assert_allclose(divergence, expected.divergence, rtol=1e-12)


def test_samples_are_a_first_axis_and_rows_do_not_depend_on_their_neighbours():
    start, drift, times, noise = problem(samples=2)
    states, divergence = stroock.geometric_em(start, drift, 0.3, times, noise=noise)
    assert states.shape == (2, SERIES, STEPS + 1, N) and divergence.shape == (2, SERIES)
    alone = stroock.geometric_em(start[1, 2:], drift[2:], 0.3, times, noise=noise[1, 2:])
    np.testing.assert_array_equal(alone.states[0], states[1, 2])


def test_seeds_decide_and_states_can_be_chosen():
    start, drift, times, _ = problem()
    first = stroock.geometric_em(start, drift, 0.3, times, seed=7)
    again = stroock.geometric_em(start, drift, 0.3, times, seed=7, at=[0, 10, 20])
    other = stroock.geometric_em(start, drift, 0.3, times, seed=8)
    np.testing.assert_array_equal(first.states[:, [0, 10, 20]], again.states)
    assert np.abs(first.states - other.states).max() > 1e-3
    np.testing.assert_allclose(np.linalg.norm(first.states, axis=-1), 1, atol=1e-14)


def test_single_precision_stays_single():
    start, drift, times, noise = problem(np.float32)
    single = stroock.geometric_em(start, drift, 0.3, times, noise=noise)
    double = stroock.geometric_em(*[x.astype(float) for x in (start, drift)], 0.3, times.astype(float), noise=noise)
    assert single.states.dtype == np.float32 and single.divergence.dtype == np.float32
    np.testing.assert_allclose(single.states, double.states, atol=2e-5)


def test_arrays_may_be_strided_read_only_or_lists():
    start, drift, times, noise = problem()
    expected = stroock.geometric_em(start, drift, 0.3, times, noise=noise).states
    strided = np.repeat(drift, 2, axis=1)[:, ::2]
    fortran = np.asfortranarray(noise)
    frozen = start.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(stroock.geometric_em(frozen, strided, 0.3, times, noise=fortran).states, expected)
    unaligned = np.frombuffer(b"\0" + drift.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(drift.shape)
    np.testing.assert_array_equal(stroock.geometric_em(start, unaligned, 0.3, times, noise=noise).states, expected)
    np.testing.assert_array_equal(
        stroock.geometric_em(start.tolist(), drift.tolist(), 0.3, times.tolist(), noise=noise).states, expected
    )


@pytest.mark.parametrize(
    "change, words",
    [
        (dict(sigma=-1.0), "must be positive"),
        (dict(sigma=float("nan")), "must be positive"),
        (dict(times=np.zeros(STEPS + 1)), "does not lie after"),
        (dict(times=np.zeros((2, 2))), "`times`"),
        (dict(drift=np.zeros((SERIES, STEPS, M + 1))), "m = 6"),
        (dict(drift=np.zeros((SERIES, STEPS))), "`drift`"),
        (dict(start=np.zeros(N)), "`start`"),
        (dict(start=np.zeros((SERIES, N))), "not on the space"),
        (dict(noise=np.zeros((SERIES, STEPS, 1))), "`noise`"),
        (dict(space="torus"), "space"),
        (dict(scheme="magic"), "scheme"),
        (dict(seed=-1), "`seed`"),
        (dict(at=[STEPS + 1]), "outside its grid"),
        (dict(at=[3, 2]), "must not decrease"),
        (dict(drift=np.full((SERIES, STEPS, M), np.nan)), "drift"),
    ],
)
def test_what_cannot_be_computed_is_said(change, words):
    start, drift, times, _ = problem()
    arguments = {**dict(start=start, drift=drift, sigma=0.3, times=times), **change}
    with pytest.raises(stroock.StroockError, match=words):
        stroock.geometric_em(**arguments)
    assert issubclass(stroock.PathError, ValueError)


def test_a_thousand_calls_leave_nothing_behind():
    resource = pytest.importorskip("resource")
    start, drift, times, _ = problem()
    big = np.repeat(drift, 40, axis=0)
    points = np.repeat(start, 40, axis=0)

    def calls(count):
        for seed in range(count):
            stroock.geometric_em(points, big, 0.3, times, seed=seed)
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = calls(200)
    # A call keeps 80 kB of results: a leak of them would be 80 MB.
    assert calls(1000) - before < 20_000
