"""The rivals: a function for each that does the work once."""

import torch

from .attention import PlainAttention, TunedAttention
from .batch import batch_of, points_of
from .links import load
from .models import model_of
from .path_listing import ListingPath
from .path_stroock import StroockPath
from .path_tuned import ActionPath, TunedPath
from .works import SAMPLES

TORCH_PATHS = {
    "stroock-torch": StroockPath,
    "torch-listing": ListingPath,
    "torch-bmm": TunedPath,
    "torch-action": ActionPath,
}
# Memory that has been used once is kept: fresh pages cost more than the arithmetic on them.
KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "17179869184", "MALLOC_TOP_PAD_": "67108864"}


def environment(contestant):
    """Variables that a contestant runs with, beside those that all share."""
    keeps = ("stroock-torch", "torch-bmm", "torch-action", "torch-tuned", "torch-best")
    return KEEP_MEMORY if contestant in keeps else {}


def once(work, contestant, record):
    """A function that does the work once."""
    return {"path": path, "encoder": encoder, "step": step, "sample": sample}[work.kind](work, contestant, record)


def path(work, contestant, record):
    """The path alone; every state and the divergence get a gradient."""
    start, times, of_states = record["start"][0], record["grid.times"], record["of_states"][0]
    if contestant in TORCH_PATHS:
        return torch_path(TORCH_PATHS[contestant], record)
    if contestant == "jax-jit":
        return jax_path(record)
    from . import euclidean

    return getattr(euclidean, contestant + "_pass")(start, times, of_states.transpose(0, 1).contiguous())


def torch_path(module, record):
    """A path module of PyTorch."""
    settings = record.setting("path")
    module = module(record["start"].shape[-1], settings["terms"], settings["interval"])
    start = record["start"][0].clone().requires_grad_()
    drift = record["drift"].clone().requires_grad_()
    sigma = torch.tensor([settings["sigma"]], requires_grad=True)
    times, of_states = record["grid.times"], record["of_states"][0]

    def run():
        start.grad = drift.grad = sigma.grad = None
        states, kl = module(start, drift, sigma, times)
        ((states * of_states).sum() + kl.sum()).backward()

    return run


def jax_path(record):
    """The path in JAX, with noise drawn anew in every pass."""
    import jax
    import jax.numpy as jnp

    from .path_jax import JaxPath, terms_for

    settings = record.setting("path")
    times = record["grid.times"].numpy()
    module = JaxPath(record["start"].shape[-1], settings["terms"], settings["interval"], times, terms_for(record))
    start, drift = jnp.asarray(record["start"][0].numpy()), jnp.asarray(record["drift"].numpy())
    of_states = jnp.asarray(record["of_states"][0].transpose(0, 1).numpy())
    sigma, keys = jnp.float32(settings["sigma"]), iter(range(1 << 30))

    def run():
        key = jax.random.key(next(keys))
        jax.block_until_ready(module.draw_and_pull_back(key, start, drift, sigma, of_states))

    return run


def encoder(work, contestant, record):
    """Attention and recurrent unit."""
    points = points_of(record, None if contestant == "torch-best" else work.width)
    is_plain = contestant == "torch-plain"
    model = (PlainAttention if is_plain else TunedAttention)(points.values.shape[2], **record.setting("encoder"))
    load(model.links(""), record)
    of_h, times = record["of_h"], points.times if is_plain else points.distinct

    def run():
        model.zero_grad(set_to_none=True)
        (model(points.values, points.mask, times) * of_h).sum().backward()

    return run


def prepared(work, contestant, record):
    """The model in the form of a contestant, its batch, and the protocol."""
    form = contestant.removeprefix("torch-")
    protocol = record.setting("protocol")
    model = model_of(protocol, form)
    load(model.links(), record)
    return model, batch_of(record, None if form == "best" else work.width), protocol["training"]


def step(work, contestant, record):
    """One training step."""
    model, batch, training = prepared(work, contestant, record)
    weights, adam = record.setting("weights"), training["adam"]
    kind = torch.optim.AdamW if adam["weight_decay"] else torch.optim.Adam
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    options = dict(lr=training["rate"], betas=(adam["beta1"], adam["beta2"]), eps=adam["epsilon"])
    if contestant != "torch-plain":
        options["fused"] = True
    optimiser = kind(trained, weight_decay=adam["weight_decay"], **options)

    def run():
        optimiser.zero_grad(set_to_none=True)
        model.loss(model(batch, training["samples"]), batch, weights).backward()
        if adam["clip"] is not None:
            torch.nn.utils.clip_grad_norm_(trained, adam["clip"])
        optimiser.step()

    return run


def sample(work, contestant, record):
    """Posterior samples, decoded where there are targets."""
    model, batch, _ = prepared(work, contestant, record)
    model.eval()

    def run():
        with torch.inference_mode():
            model.sample(batch, SAMPLES)

    return run
