"""Paths on homogeneous spaces as an operation of PyTorch, and distributions on the sphere.

>>> import torch, stroock.torch
>>> times = torch.linspace(0, 1, 101)
>>> start = torch.nn.functional.normalize(torch.randn(4, 16), dim=-1)
>>> drift = torch.zeros(4, 120, 6, requires_grad=True)           # Chebyshev coefficients of so(16)
>>> sigma = torch.tensor(0.1, requires_grad=True)
>>> states, divergence = stroock.torch.geometric_em(start, drift, sigma, times, interval=(0.0, 2.0), seed=1)
>>> states.shape, divergence.shape
(torch.Size([4, 101, 16]), torch.Size([4]))
>>> (states[:, -1, 0].sum() + divergence.mean()).backward()
>>> drift.grad.shape, sigma.grad.shape
(torch.Size([4, 120, 6]), torch.Size([]))
"""

from __future__ import annotations

import math
from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple, Union

import torch
from torch import Tensor
from torch.distributions import Beta, Distribution, constraints, kl

from . import _path, _stroock

__all__ = ["Path", "geometric_em", "PowerSpherical", "SphereUniform"]


class Path(NamedTuple):
    """Simulated paths: states at the times, and the divergence of every path from the driftless prior."""

    states: Tensor
    divergence: Tensor


class _GeometricEm(torch.autograd.Function):
    """The path with the backward pass of the library. Memory is shared with NumPy, nothing is copied."""

    @staticmethod
    def forward(ctx, start, drift, sigma, times, noise, interval, seed, at, space, scheme, shapes):
        arrays = [x.numpy() for x in (start, drift, times)]
        arrays.append(None if noise is None else noise.numpy())
        states, divergence, tape = _stroock.path_forward(
            *arrays, sigma.item(), interval, seed, at, space, scheme, False
        )
        ctx.tape, ctx.shapes, ctx.sigma = tape, (start.shape, drift.shape), (sigma.shape, sigma.dtype)
        ctx.save_for_backward(start, drift, times, noise)
        states = torch.from_numpy(states).view(shapes.states(at))
        return states, torch.from_numpy(divergence).view(shapes.divergence())

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, of_states, of_divergence):
        arrays = [None if x is None else x.numpy() for x in ctx.saved_tensors]
        cotangents = [x.contiguous().numpy() for x in (of_states, of_divergence)]
        start, drift, sigma = ctx.tape.backward(*arrays, *cotangents)
        of_start, of_drift = ctx.shapes
        shape, dtype = ctx.sigma
        return (
            torch.from_numpy(start).view(of_start),
            torch.from_numpy(drift).view(of_drift),
            torch.tensor(sigma, dtype=dtype).reshape(shape),
            *[None] * 8,
        )


def geometric_em(
    start: Tensor,
    drift: Tensor,
    sigma: Union[float, Tensor],
    times: Tensor,
    *,
    interval: Optional[Tuple[float, float]] = None,
    noise: Optional[Tensor] = None,
    seed: Optional[int] = None,
    at: Optional[Sequence[int]] = None,
    space: str = "sphere",
    scheme: str = "geometric-euler",
) -> Path:
    """Paths by the geometric Euler-Maruyama scheme, differentiable once in `start`, `drift` and `sigma`.

    The arguments are those of :func:`stroock.geometric_em`, as tensors on the CPU. Without `noise` and `seed`, a seed is
    drawn from the generator of PyTorch, so that `torch.manual_seed` makes paths the same again.

    With the published listing, `geometric_em(pzx.rsample(), Kt, sampler.alpha, t).states` takes the place of
    `sample(t, pzx, Kt, sampler)`.
    """
    if not isinstance(start, Tensor) or start.dtype not in (torch.float32, torch.float64):
        raise TypeError("`start` must be a tensor of float32 or float64")
    sigma = torch.as_tensor(sigma, dtype=start.dtype)
    times = torch.as_tensor(times, dtype=start.dtype)
    named = {"start": start, "drift": drift, "sigma": sigma, "times": times, "noise": noise}
    for name, tensor in named.items():
        if tensor is not None and tensor.device.type != "cpu":
            raise TypeError(f"`{name}` is on the device {tensor.device}, but paths are computed on the CPU: use .cpu()")
        if tensor is not None and tensor.dtype != start.dtype:
            raise TypeError(f"`{name}` has numbers of {tensor.dtype}, but `start` of {start.dtype}")
    if sigma.numel() != 1:
        raise _stroock.PathError(f"`sigma` is {tuple(sigma.shape)}, but it must be one number")
    for name in ("times", "noise"):
        if named[name] is not None and named[name].requires_grad:
            raise _stroock.PathError(f"gradients by `{name}` are not known: detach it")
    drift = _path.coefficients(drift, times.shape[0] - 1, space)
    shapes = _path.extents(start, drift, times, noise, interval, space, scheme)
    if seed is None:
        seed = 0 if noise is not None else int(torch.randint(2**63 - 1, ()))
    at = None if at is None else [int(index) for index in at]
    noise = None if noise is None else noise.contiguous()
    states, divergence = _GeometricEm.apply(
        start.contiguous(),
        drift.contiguous(),
        sigma,
        times.contiguous(),
        noise,
        interval,
        _path.whole_seed(seed),
        at,
        space,
        scheme,
        shapes,
    )
    return Path(states, divergence)


class SphereUniform(Distribution):
    """The uniform distribution on the unit sphere of an `n`-dimensional space.

    >>> import math, torch
    >>> from stroock.torch import SphereUniform
    >>> bool(torch.isclose(SphereUniform(3).entropy(), torch.tensor(math.log(4 * math.pi))))
    True
    """

    arg_constraints: Dict[str, constraints.Constraint] = {}
    has_rsample = True

    def __init__(
        self,
        dim: int,
        batch_shape: Sequence[int] = torch.Size(),
        dtype: Optional[torch.dtype] = None,
        device: Union[torch.device, str, None] = None,
        validate_args: Optional[bool] = None,
    ) -> None:
        if dim < 2:
            raise ValueError(f"a sphere needs an ambient dimension of at least 2, not {dim}")
        self.dim = int(dim)
        self._like = torch.empty(0, dtype=dtype, device=device)
        super().__init__(torch.Size(batch_shape), torch.Size([self.dim]), validate_args=validate_args)

    @property
    def support(self) -> constraints.Constraint:
        return constraints.independent(constraints.real, 1)

    def rsample(self, sample_shape: Sequence[int] = torch.Size()) -> Tensor:
        shape = self._extended_shape(torch.Size(sample_shape))
        return _unit(torch.randn(shape, dtype=self._like.dtype, device=self._like.device))

    def entropy(self) -> Tensor:
        """The logarithm of the area, `2 pi^{n/2} / Gamma(n/2)`."""
        area = math.log(2) + self.dim / 2 * math.log(math.pi) - math.lgamma(self.dim / 2)
        return torch.full(self.batch_shape, area, dtype=self._like.dtype, device=self._like.device)

    def log_prob(self, value: Tensor) -> Tensor:
        return -self.entropy().expand(torch.broadcast_shapes(value.shape[:-1], self.batch_shape))

    @property
    def mean(self) -> Tensor:
        return torch.zeros(self.batch_shape + self.event_shape, dtype=self._like.dtype, device=self._like.device)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> "SphereUniform":
        return SphereUniform(self.dim, batch_shape, self._like.dtype, self._like.device, validate_args=False)


class PowerSpherical(Distribution):
    r"""The power spherical distribution, `p(z) ∝ (1 + <mu, z>)^kappa` on the unit sphere (De Cao and Aziz, 2020).

    `(1 + <mu, z>) / 2` is Beta distributed with `alpha = (n - 1)/2 + kappa` and `beta = (n - 1)/2`; samples are
    differentiable in `loc` and `scale`. `torch.distributions.kl_divergence` knows the one from :class:`SphereUniform`.

    Parameters
    ----------
    loc
        The direction `mu`, unit vectors `[..., n]`.
    scale
        The concentration `kappa >= 0`, `[...]`.

    >>> import torch
    >>> from stroock.torch import PowerSpherical
    >>> q = PowerSpherical(torch.tensor([0.0, 0.0, 1.0]), torch.tensor(50.0))
    >>> torch.manual_seed(1)                                          # doctest: +ELLIPSIS
    <torch._C.Generator object at ...>
    >>> z = q.rsample((2000,))
    >>> bool((z.norm(dim=-1) - 1).abs().max() < 1e-5), bool((z.mean(0) - q.mean).abs().max() < 0.02)
    (True, True)
    """

    arg_constraints = {"loc": constraints.independent(constraints.real, 1), "scale": constraints.greater_than_eq(0.0)}
    has_rsample = True

    def __init__(self, loc: Tensor, scale: Union[float, Tensor], validate_args: Optional[bool] = None) -> None:
        scale = torch.as_tensor(scale, dtype=loc.dtype, device=loc.device)
        dim = loc.shape[-1]
        if dim < 2:
            raise ValueError(f"a sphere needs an ambient dimension of at least 2, not {dim}")
        batch = torch.broadcast_shapes(loc.shape[:-1], scale.shape)
        self.loc, self.scale = loc.expand(*batch, dim), scale.expand(batch)
        super().__init__(batch, torch.Size([dim]), validate_args=validate_args)
        if self._validate_args and not torch.allclose(loc.norm(dim=-1), torch.ones_like(loc[..., 0]), atol=1e-4):
            raise ValueError("`loc` must be of unit vectors")

    @property
    def support(self) -> constraints.Constraint:
        return constraints.independent(constraints.real, 1)

    @property
    def _beta(self) -> float:
        return 0.5 * (self.event_shape[0] - 1)

    @property
    def _alpha(self) -> Tensor:
        return self._beta + self.scale

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> "PowerSpherical":
        batch_shape = torch.Size(batch_shape)
        loc = self.loc.expand(batch_shape + self.event_shape)
        return PowerSpherical(loc, self.scale.expand(batch_shape), validate_args=False)

    def rsample(self, sample_shape: Sequence[int] = torch.Size()) -> Tensor:
        shape = self._extended_shape(torch.Size(sample_shape))
        alpha = self._alpha.expand(shape[:-1])
        share = Beta(alpha, torch.full_like(alpha, self._beta)).rsample()
        cosine = (2 * share - 1).unsqueeze(-1)
        sine = (4 * share * (1 - share)).clamp_min(torch.finfo(alpha.dtype).tiny).sqrt().unsqueeze(-1)
        tangent = _unit(torch.randn(*shape[:-1], shape[-1] - 1, dtype=alpha.dtype, device=alpha.device))
        return _mirrored(torch.cat([cosine, sine * tangent], -1), self.loc.expand(shape))

    def _log_normaliser(self) -> Tensor:
        """The logarithm of the integral of `(1 + <mu, z>)^kappa` over the sphere."""
        alpha, beta = self._alpha, self._beta
        constant = (alpha + beta) * math.log(2) + beta * math.log(math.pi)
        return constant + torch.lgamma(alpha) - torch.lgamma(alpha + beta)

    def log_prob(self, value: Tensor) -> Tensor:
        cosine = (self.loc * value).sum(-1)
        # 1 + <mu, z> = |mu + z|^2 / 2 has its digits where the point is opposite.
        power = 0.5 * (self.loc + value).square().sum(-1)
        power = torch.where(cosine < 0, power, 1 + cosine)
        return torch.special.xlogy(self.scale, power) - self._log_normaliser()

    def entropy(self) -> Tensor:
        alpha, beta = self._alpha, self._beta
        power = math.log(2) + torch.digamma(alpha) - torch.digamma(alpha + beta)
        return self._log_normaliser() - self.scale * power

    @property
    def mean(self) -> Tensor:
        alpha, beta = self._alpha, self._beta
        return self.loc * ((alpha - beta) / (alpha + beta)).unsqueeze(-1)

    @property
    def mode(self) -> Tensor:
        return self.loc


def _unit(vectors: Tensor) -> Tensor:
    """Vectors divided by their lengths."""
    return vectors / vectors.norm(dim=-1, keepdim=True).clamp_min(torch.finfo(vectors.dtype).tiny)


def _mirrored(points: Tensor, loc: Tensor) -> Tensor:
    """Points around the first axis as points around `loc`: mirrored at the hyperplane between the two.

    Where `loc` is on the first axis or near it, the mirror is across the opposite direction, and the first coordinate
    changes its sign before: a difference of nearly equal vectors has no direction.
    """
    pole = torch.zeros_like(loc)
    pole[..., 0] = 1.0
    near = loc[..., :1] > 0
    normal = torch.where(near, pole + loc, pole - loc)
    turned = torch.where(near, torch.cat([-points[..., :1], points[..., 1:]], -1), points)
    scale = 2 / normal.square().sum(-1, keepdim=True)
    return turned - scale * (turned * normal).sum(-1, keepdim=True) * normal


@kl.register_kl(PowerSpherical, SphereUniform)
def _kl_power_spherical_uniform(p: PowerSpherical, q: SphereUniform) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(f"the dimensions {p.event_shape[0]} and {q.event_shape[0]} differ")
    return q.entropy().to(p.scale.dtype) - p.entropy()
