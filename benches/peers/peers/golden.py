"""Values that independent code has computed; see CONTRIBUTING.md."""

import json
import math
import os
from pathlib import Path

import torch

from .agreement import demand, difference
from .attention import PlainAttention, TunedAttention
from .batch import distinct
from .path_listing import ListingPath
from .path_tuned import ActionPath, TunedPath

TOLERANCE = 1e-10


def folder(root):
    """Where golden values are."""
    return Path(os.environ.get("STROOCK_GOLDEN", root / "tests" / "golden"))


def check(golden):
    """Yields a name and the largest difference for every form, in double precision."""
    cases = json.loads((golden / "geometric_euler.json").read_text())["cases"]
    for kind in (ListingPath, TunedPath, ActionPath):
        yield f"golden path, {kind.__name__}", max((path(kind, case) for case in cases), key=lambda d: d.error)
    case = json.loads((golden / "mtan_encoder.json").read_text())
    for kind in (PlainAttention, TunedAttention):
        yield f"golden encoder, {kind.__name__}", encoder(kind, case)


def path(kind, case):
    """The path of a case, whose drift is given step by step."""
    z0, drift, noise, dt, path, weights, of_z0, of_drift = (
        torch.tensor(case[name], dtype=torch.float64)
        for name in ("z0", "drift", "noise", "dt", "path", "loss_weights", "grad_z0", "grad_drift")
    )
    samples, series, steps, _ = noise.shape
    # Polynomials through given values: as many as there are steps, and their inverse.
    times = torch.cat([torch.zeros(1, dtype=torch.float64), dt.cumsum(0)])
    module = kind(case["n"], steps, (0.0, float(times[-1])))
    module.double()
    from .lie_algebra import chebyshev

    to_values = chebyshev(times[:-1], steps, module.interval)
    coefficients = torch.linalg.solve(to_values, drift.movedim(1, 0).flatten(1))
    coefficients = coefficients.view(steps, series, -1).permute(1, 2, 0).contiguous().requires_grad_()
    z0.requires_grad_()
    sigma = torch.tensor([case["sigma"]], dtype=torch.float64, requires_grad=True)
    states, kl = module(
        z0.flatten(0, 1), coefficients.repeat(samples, 1, 1), sigma, times, noise.flatten(0, 1)
    )
    states, kl = states.unflatten(0, (samples, series)), kl.view(samples, series).mean(0)
    ((states * weights).sum() + kl.sum()).backward()
    of_coefficients = torch.einsum("btm,tk->bmk", of_drift, to_values)
    # Single precision would not do for Taylor terms.
    tolerance = 1e-6 if kind is ActionPath else TOLERANCE
    return demand(
        "golden path",
        [
            difference("path", states, path, tolerance),
            difference("kl_path", kl, torch.tensor(case["kl_path"], dtype=torch.float64), tolerance),
            difference("grad_z0", z0.grad, of_z0, tolerance),
            difference("grad_drift", coefficients.grad, of_coefficients, tolerance),
            difference("grad_sigma", sigma.grad, torch.tensor([case["grad_sigma"]], dtype=torch.float64), tolerance),
        ],
    )


def encoder(kind, case):
    """The encoder of the case, with its parameters."""
    names = {
        "query": "att.linears.0",
        "key": "att.linears.1",
        "values": "att.linears.2",
        "periodic": "periodic",
        "linear": "linear",
    }
    model = kind(case["input_dim"], case["nhidden"], case["embed_time"], len(case["query"])).double()
    links = [
        (getattr(getattr(model, ours), part), f"{theirs}.{part}")
        for ours, theirs in names.items()
        for part in ("weight", "bias")
    ]
    links += [(getattr(model.recurrence, part + "_l0"), f"gru_rnn.{part}_l0") for part in
              ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    number = lambda value: torch.tensor(value, dtype=torch.float64)  # noqa: E731
    with torch.no_grad():
        for parameter, name in links:
            parameter.copy_(number(case["parameters"][name]))
    model.references = number(case["query"])
    times = number(case["t"])
    h = model(number(case["x"]), number(case["mask"]), distinct(times) if kind is TunedAttention else times)
    (h * number(case["loss_weights"])).sum().backward()
    found = [difference("output", h, number(case["output"]), TOLERANCE)]
    largest = max(float(number(value).abs().max()) for value in case["gradients"].values())
    found += [
        difference(name, parameter.grad, number(case["gradients"][name]), math.sqrt(TOLERANCE), 1e-6 * largest)
        for parameter, name in links
    ]
    return demand("golden encoder", found)
