"""Paths inside PyTorch."""

import math

import numpy as np
import pytest

import stroock

torch = pytest.importorskip("torch")
import stroock.torch  # noqa: E402
from stroock.torch import PowerSpherical, SphereUniform, geometric_em  # noqa: E402

N, SERIES, STEPS = 4, 3, 6
M = stroock.algebra_dim(N)


def unit(x):
    return torch.nn.functional.normalize(x, dim=-1)


def problem(dtype=torch.float64, samples=None):
    generator = torch.Generator().manual_seed(1)
    normal = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)  # noqa: E731
    lead = () if samples is None else (samples,)
    times = torch.linspace(0, 1, STEPS + 1, dtype=dtype)
    return normal(*lead, SERIES, N), normal(SERIES, STEPS, M), times, normal(*lead, SERIES, STEPS, M)


@pytest.mark.parametrize("samples", [None, 2])
@pytest.mark.parametrize("at", [None, [0, 2, 6]])
def test_gradients_are_those_of_differences(samples, at):
    point, drift, times, noise = problem(samples=samples)
    sigma = torch.tensor(0.4, dtype=torch.float64)

    def run(point, drift, sigma):
        return tuple(geometric_em(unit(point), drift, sigma, times, noise=noise, at=at))

    inputs = [x.clone().requires_grad_() for x in (point, drift, sigma)]
    assert torch.autograd.gradcheck(run, inputs, eps=1e-6, atol=1e-7)


def test_gradients_of_polynomials_matrices_and_seeded_noise():
    point, drift, times, _ = problem()
    coefficients = torch.randn(SERIES, M, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    sigma = torch.tensor(0.4, dtype=torch.float64, requires_grad=True)
    chebyshev = lambda c, s: tuple(geometric_em(unit(point), c, s, times, interval=(0.0, 2.0), seed=5))  # noqa: E731
    assert torch.autograd.gradcheck(chebyshev, [coefficients.requires_grad_(), sigma], eps=1e-6, atol=1e-7)
    matrices = torch.randn(SERIES, STEPS, N, N, dtype=torch.float64, requires_grad=True)
    of_matrices = lambda k: tuple(geometric_em(unit(point), k - k.mT, 0.4, times, seed=5))  # noqa: E731
    assert torch.autograd.gradcheck(of_matrices, [matrices], eps=1e-6, atol=1e-7)


@pytest.mark.parametrize("space, scheme", [("sphere", "tangent-noise"), ("general-linear", "geometric-euler")])
def test_gradients_on_other_spaces_and_schemes(space, scheme):
    point, _, times, _ = problem()
    m = stroock.algebra_dim(N, space, scheme)
    drift = torch.randn(SERIES, STEPS, m, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    run = lambda z, k, s: tuple(geometric_em(unit(z), k, s, times, seed=4, space=space, scheme=scheme))  # noqa: E731
    inputs = [point.requires_grad_(), drift.requires_grad_(), torch.tensor(0.3, dtype=torch.float64, requires_grad=True)]
    assert torch.autograd.gradcheck(run, inputs, eps=1e-6, atol=1e-7)


def published(z0, times, matrices, noise, alpha):
    """States as the published listing computes them: all matrix exponentials, then a loop."""
    n = z0.shape[-1]
    basis = torch.zeros(n * (n - 1) // 2, n, n, dtype=z0.dtype)
    rows, columns = np.tril_indices(n, -1)
    for k, (i, j) in enumerate(zip(rows, columns)):
        basis[k, i, j], basis[k, j, i] = 1.0, -1.0
    delta = torch.diff(times)[0]
    increments = torch.einsum("btk,kij->btij", noise, basis) * delta.sqrt() * alpha
    rotations = torch.matrix_exp((matrices * delta + increments).contiguous())
    states = [z0.unsqueeze(-1)]
    for step in range(len(times) - 1):
        states.append(torch.matmul(rotations[:, step], states[-1]))
    return torch.stack(states, 1).squeeze(-1)


@pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-12), (torch.float32, 2e-5)])
def test_the_published_listing_has_the_same_states_and_gradients(dtype, tolerance):
    n, batch, steps = 16, 5, 30
    generator = torch.Generator().manual_seed(4)
    normal = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)  # noqa: E731
    times = torch.linspace(0, 1, steps + 1, dtype=dtype)
    matrices = normal(batch, steps + 1, n, n)
    noise, weights = normal(batch, steps, n * (n - 1) // 2), normal(batch, steps + 1, n)
    inputs = [unit(normal(batch, n)), matrices - matrices.mT, torch.tensor(1 / n, dtype=dtype)]
    found = []
    for path in (
        lambda z, k, a: published(z, times, k[:, :-1], noise, a),
        lambda z, k, a: geometric_em(z, k, a, times, noise=noise).states,
    ):
        leaves = [x.clone().requires_grad_() for x in inputs]
        states = path(*leaves)
        (states * weights).sum().backward()
        found.append([states.detach(), *[x.grad for x in leaves]])
    (states, start, drift, alpha), (ours, our_start, our_drift, our_alpha) = found
    torch.testing.assert_close(ours, states, atol=tolerance, rtol=tolerance)
    # A skew matrix has half as many free entries: both gradients have the same skew part.
    torch.testing.assert_close(our_drift - our_drift.mT, drift - drift.mT, atol=50 * tolerance, rtol=1e-3 if dtype is torch.float32 else 1e-10)
    # Along the sphere.
    along = lambda g: g - (g * inputs[0]).sum(-1, keepdim=True) * inputs[0]  # noqa: E731
    torch.testing.assert_close(along(our_start), along(start), atol=50 * tolerance, rtol=1e-3 if dtype is torch.float32 else 1e-10)
    torch.testing.assert_close(our_alpha, alpha, atol=500 * tolerance, rtol=1e-3 if dtype is torch.float32 else 1e-10)


def test_nothing_is_copied_and_numpy_has_the_same_numbers():
    point, drift, times, noise = problem()
    start = unit(point)
    states, divergence = geometric_em(start, drift, 0.4, times, noise=noise)
    expected = stroock.geometric_em(start.numpy(), drift.numpy(), 0.4, times.numpy(), noise=noise.numpy())
    np.testing.assert_array_equal(states.numpy(), expected.states)
    np.testing.assert_array_equal(divergence.numpy(), expected.divergence)
    assert not states.numpy().flags.owndata


def test_the_generator_of_pytorch_decides_where_no_seed_is_given():
    point, drift, times, _ = problem()
    paths = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        paths.append(geometric_em(unit(point), drift, 0.4, times).states)
    assert torch.equal(paths[0], paths[1]) and not torch.equal(paths[0], paths[2])


def test_graphs_can_be_kept_and_inputs_without_gradients_have_none():
    point, drift, times, noise = problem()
    drift = drift.requires_grad_()
    start = unit(point)
    states, divergence = geometric_em(start, drift, 0.4, times, noise=noise)
    first = torch.autograd.grad(states.sum(), drift, retain_graph=True)[0]
    assert torch.equal(first, torch.autograd.grad(states.sum(), drift, retain_graph=True)[0])
    assert torch.autograd.grad(divergence.sum(), drift)[0].abs().max() > 0
    assert start.grad is None


def test_what_cannot_be_computed_is_said():
    point, drift, times, noise = problem()
    start = unit(point)
    with pytest.raises(TypeError, match="float32 or float64"):
        geometric_em(start.half(), drift, 0.4, times)
    with pytest.raises(TypeError, match="`drift` has numbers of torch.float32"):
        geometric_em(start, drift.float(), 0.4, times)
    with pytest.raises(TypeError, match="on the device meta"):
        geometric_em(start, drift.to("meta"), 0.4, times)
    with pytest.raises(stroock.PathError, match="gradients by `noise`"):
        geometric_em(start, drift, 0.4, times, noise=noise.requires_grad_())
    with pytest.raises(stroock.PathError, match="one number"):
        geometric_em(start, drift, torch.ones(3, dtype=torch.float64), times)


def test_a_model_is_trained_through_the_path():
    torch.manual_seed(0)
    times = torch.linspace(0, 1, 51)
    goal = torch.tensor([0.0, 1.0, 0.0])
    start = torch.tensor([[1.0, 0.0, 0.0]]).expand(8, 3)
    drift = torch.nn.Parameter(torch.zeros(1, 3, 2))
    adam = torch.optim.Adam([drift], lr=0.1)
    for step in range(60):
        adam.zero_grad()
        states, _ = geometric_em(start, drift.expand(8, 3, 2), 0.1, times, interval=(0.0, 1.0), seed=step)
        loss = (1 - states[:, -1] @ goal).mean()
        loss.backward()
        adam.step()
    assert loss.item() < 0.05


def test_power_spherical_against_integrals():
    mu, kappa = unit(torch.randn(3, dtype=torch.float64)), torch.tensor(7.0, dtype=torch.float64)
    q = PowerSpherical(mu, kappa)
    # On S^2 the cosine is uniform under the uniform distribution: integrals are means over it, times 4 pi.
    cosine = torch.linspace(-1, 1, 200_001, dtype=torch.float64)
    normal = unit(torch.linalg.cross(mu, torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64)))
    points = cosine[:, None] * mu + (1 - cosine**2).clamp_min(0).sqrt()[:, None] * normal
    density = q.log_prob(points).exp()
    integral = lambda f: torch.trapezoid(f, cosine) * 2 * math.pi  # noqa: E731
    torch.testing.assert_close(integral(density), torch.tensor(1.0, dtype=torch.float64), atol=1e-8, rtol=0)
    entropy = integral(-torch.xlogy(density, density))
    torch.testing.assert_close(entropy, q.entropy(), atol=1e-7, rtol=0)
    torch.testing.assert_close(integral(density * cosine) * mu, q.mean, atol=1e-8, rtol=0)
    uniform = SphereUniform(3, dtype=torch.float64)
    divergence = torch.distributions.kl_divergence(q, uniform)
    torch.testing.assert_close(divergence, math.log(4 * math.pi) - entropy, atol=1e-7, rtol=0)
    assert PowerSpherical(mu, torch.tensor(0.0, dtype=torch.float64)).entropy().item() == pytest.approx(
        uniform.entropy().item()
    )


@pytest.mark.parametrize("axis", [[1.0, 0, 0, 0], [-1.0, 0, 0, 0], [0.6, 0, -0.8, 0], [-0.6, 0.8, 0, 0]])
def test_power_spherical_samples(axis):
    torch.manual_seed(2)
    mu = torch.tensor(axis, dtype=torch.float64, requires_grad=True)
    kappa = torch.tensor(9.0, dtype=torch.float64, requires_grad=True)
    q = PowerSpherical(mu, kappa)
    z = q.rsample((40_000,))
    assert (z.norm(dim=-1) - 1).abs().max() < 1e-12
    # Five standard errors: coordinates have a standard deviation below 1.
    assert (z.mean(0) - q.mean).abs().max() < 5 / 200
    monte_carlo = (-q.log_prob(z)).mean() - q.entropy()
    assert abs(monte_carlo.item()) < 0.05
    # The pathwise gradient of the mean cosine is that of its formula.
    of_samples = torch.autograd.grad((z * mu.detach()).sum(-1).mean(), kappa, retain_graph=True)[0]
    alpha, beta = 1.5 + 9.0, 1.5
    assert of_samples.item() == pytest.approx(2 * beta / (alpha + beta) ** 2, rel=0.05)
    # So is that of a linear function of the mean, by a vector that is divided by its length.
    weights = torch.tensor([0.3, -1.0, 0.5, 0.8], dtype=torch.float64)
    vector = (2 * mu.detach()).requires_grad_()
    z = PowerSpherical(unit(vector), kappa.detach()).rsample((40_000,))
    of_vector = torch.autograd.grad((z @ weights).mean(), vector)[0]
    along = weights - (weights @ mu.detach()) * mu.detach()
    shrinkage = q.mean.detach().norm()
    torch.testing.assert_close(of_vector, shrinkage * along / 2, atol=0.03, rtol=0)
