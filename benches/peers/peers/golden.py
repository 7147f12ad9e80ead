"""Values that independent code has computed; see CONTRIBUTING.md."""

import json
import math
import os
from pathlib import Path

import torch

from .agreement import demand, difference
from .attention import PlainAttention, TunedAttention
from .batch import Stops, distinct
from .kalman import BLIND, FILTERS
from .path_listing import ListingPath
from .path_tuned import ActionPath, TunedPath

TOLERANCE = 1e-10
# Of the filters, which are written for single precision.
SINGLE = 1e-5


def folder(root):
    """Where golden values are."""
    return Path(os.environ.get("STROOCK_GOLDEN", root / "tests" / "golden"))


def check(golden):
    """Yields a name and the largest difference for every form: in double precision, but for filters."""
    cases = json.loads((golden / "geometric_euler.json").read_text())["cases"]
    for kind in (ListingPath, TunedPath, ActionPath):
        yield f"golden path, {kind.__name__}", max((path(kind, case) for case in cases), key=lambda d: d.error)
    case = json.loads((golden / "mtan_encoder.json").read_text())
    for kind in (PlainAttention, TunedAttention):
        yield f"golden encoder, {kind.__name__}", encoder(kind, case)
    for (model, is_tuned), kind in FILTERS.items():
        cases = json.loads((golden / f"{model.replace('-', '')}.json").read_text())["cases"].values()
        found = [beliefs(kind, is_tuned, case) for case in cases]
        yield f"golden filter, {kind.__name__}", max(found, key=lambda d: d.error)


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


def beliefs(kind, is_tuned, case):
    """The beliefs of a filter in single precision, from the latent observations of the case."""
    sizes, parameters, outputs = case["sizes"], case["parameters"], case["outputs"]
    settings = dict(half=sizes["d"], sets=sizes["basis"], bandwidth=sizes["bandwidth"])
    module = kind(dict(settings, time_scale=case["constants"]["time_factor"], noise=case["activations"]["q"]))
    loaded = {
        "initial": parameters["initial_u_raw"] + parameters["initial_l_raw"],
        "noise": parameters["q_raw"],
        "mixture.weight": parameters["mixture.weight"],
        "mixture.bias": parameters["mixture.bias"],
    }
    loaded = {name: torch.tensor(value) for name, value in loaded.items()}
    if hasattr(module, "rotation"):
        loaded["coefficients"] = torch.tensor(parameters["lambda"])
        loaded["rotation"] = torch.tensor(parameters["skew_lower"])[tuple(module.below)]
    else:
        loaded["coefficients"] = torch.tensor(parameters["A"]).flatten(1)[:, module.inside]
    module.load_state_dict(loaded, strict=False)
    times = torch.tensor(case["input"]["t"], dtype=torch.float64)
    observed = torch.tensor(case["input"]["valid"]).bool()
    stops = Stops(torch.nn.functional.pad(times.diff(dim=1), (1, 0)), observed, None, None)
    y, r = torch.tensor(outputs["y"]), torch.tensor(outputs["r"])
    if is_tuned:
        r = torch.where(observed.unsqueeze(2), r, BLIND)
    mean, v, s = module(y, r, stops)
    expected = {name: torch.tensor(outputs["posterior_" + name]) for name in ("mean", "u", "l", "s")}
    found = {"mean": mean, "u": v[..., : module.half], "l": v[..., module.half :], "s": s}
    # A covariance is compared on the scale of the variances.
    scale = float(expected["l"].abs().max())
    floor = {"mean": 0.0, "u": 0.0, "l": 0.0, "s": scale}
    return demand(
        "golden filter", [difference(name, found[name], expected[name], SINGLE, floor[name]) for name in found]
    )
