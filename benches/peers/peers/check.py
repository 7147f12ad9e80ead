"""Holds every contestant that computes stroock's numbers against a record of stroock's."""

import numpy
import torch

from .agreement import demand, difference, gradients
from .attention import PlainAttention, TunedAttention
from .batch import batch_of, points_of
from .contestants import TORCH_PATHS
from .links import load
from .models import model_of

# Of states and losses of 480 steps or less; rounding adds up over more of them.
STATES = 2e-5
GRADIENTS = 1e-3
# The closed form of this divergence loses digits by cancellation in single precision.
START_DIVERGENCE = 1e-3


# The states of an f-CRU go into its basis and back at every stop, and the gradient of the basis is what is left of large
# parts that cancel: over the stops of PhysioNet, single precision is this far from double for everybody.
F_CRU = {"states": 5e-5, "gradient.FCru.filter.rotation": 1e-2}

# Other models: there are no numbers to agree on.
OTHER_MODELS = ("torchsde", "torchdiffeq", "diffrax")


def check(work, contestant, record):
    """The largest difference between a contestant and a record of stroock's."""
    if work.kind == "encoder":
        return encoder(record, contestant != "torch-plain", None if contestant == "torch-best" else work.width)
    if work.kind != "path":
        return {"step": step, "sample": sample}[work.kind](record, contestant.removeprefix("torch-"), work.width)
    if contestant == "jax-jit":
        return jax_path(record)
    kind = TORCH_PATHS[contestant]
    settings = record.setting("path")
    return path(record, kind(record["start"].shape[-1], settings["terms"], settings["interval"]))


def states_tolerance(record):
    """Rounding of the states of a record."""
    return STATES * max(1.0, len(record["grid.times"]) / 480)


def step(record, form, width):
    """The whole model in one form: every part of the loss and every gradient."""
    protocol = record.setting("protocol")
    model = model_of(protocol, form)
    links = model.links()
    load(links, record)
    batch = batch_of(record, None if form == "best" else width)
    drawn = (record.get(name) for name in ("start", "noise", "result.states"))
    result = model(batch, protocol["training"]["samples"], *drawn)
    result["loss"] = model.loss(result, batch, record.setting("weights")).view(1)
    result["loss"].backward()
    tolerances = {"latent-sde": {"kl_start": START_DIVERGENCE}, "f-cru": F_CRU}.get(protocol["model"]["kind"], {})
    tolerance = states_tolerance(record)
    found = [difference(name, value, record["result." + name], tolerance) for name, value in result.items()]
    found += gradients(links, record, GRADIENTS)
    for one in found:
        one.tolerance = tolerances.get(one.name, one.tolerance)
    return demand("step", found)


def sample(record, form, width):
    """What is decoded in inference."""
    protocol = record.setting("protocol")
    model = model_of(protocol, form)
    load(model.links(), record)
    with torch.inference_mode():
        batch = batch_of(record, None if form == "best" else width)
        output = model.sample(batch, protocol["training"]["samples"], record["start"], record["noise"])
    return demand("sample", [difference("output", output, record["result.output"], states_tolerance(record))])


def encoder(record, tuned, width=None):
    """The encoder in one form."""
    settings = record.setting("encoder")
    points = points_of(record, width)
    model = (TunedAttention if tuned else PlainAttention)(points.values.shape[2], **settings)
    links = model.links("")
    load(links, record)
    h = model(points.values, points.mask, points.distinct if tuned else points.times)
    (h * record["of_h"]).sum().backward()
    return demand("encoder", [difference("h", h, record["result.h"], STATES), *gradients(links, record, GRADIENTS)])


def path(record, module):
    """A path module of PyTorch."""
    start = record["start"][0].clone().requires_grad_()
    drift = record["drift"].clone().requires_grad_()
    sigma = torch.tensor([record.setting("path")["sigma"]], requires_grad=True)
    states, kl = module(start, drift, sigma, record["grid.times"], record["noise"][0])
    ((states * record["of_states"][0]).sum() + kl.sum()).backward()
    return demand_path(record, states, kl, start.grad, drift.grad, sigma.grad)


def jax_path(record):
    """The path in JAX."""
    import jax.numpy as jnp

    from .path_jax import JaxPath, terms_for

    settings = record.setting("path")
    times = record["grid.times"].numpy()
    module = JaxPath(record["start"].shape[-1], settings["terms"], settings["interval"], times, terms_for(record))
    noise, of_states = (jnp.asarray(record[name][0].transpose(0, 1).numpy()) for name in ("noise", "of_states"))
    start, drift = jnp.asarray(record["start"][0].numpy()), jnp.asarray(record["drift"].numpy())
    found = module.pull_back(start, drift, jnp.float32(settings["sigma"]), noise, of_states)
    (_, (states, kl)), gradients = found
    states, kl, *gradients = (torch.from_numpy(numpy.array(x)) for x in (states, kl, *gradients))
    return demand_path(record, states.transpose(0, 1), kl, gradients[0], gradients[1], gradients[2].view(1))


def demand_path(record, states, kl, of_start, of_drift, of_sigma):
    """Holds a path against a record."""
    tolerance = states_tolerance(record)
    return demand(
        "path",
        [
            difference("states", states, record["result.states"][0], tolerance),
            difference("kl", kl, record["result.kl"][0], tolerance),
            difference("gradient.start", of_start, record["gradient.start"][0], GRADIENTS),
            difference("gradient.drift", of_drift, record["gradient.drift"], GRADIENTS),
            difference("gradient.sigma", of_sigma, record["gradient.sigma"], GRADIENTS),
        ],
    )
