"""How stroock's parameters are arranged in PyTorch modules.

A link is (name, parameter, arrange): `arrange(of)` makes the parameter from stroock's tensors `of(name)`. The same
map takes stroock's gradients to those of PyTorch.
"""

import torch


def same(name, parameter):
    """A parameter in stroock's own layout."""
    return [(name, parameter, lambda of: of(name))]


def linear(name, layer):
    """A linear map; stroock has its weight as [inputs, outputs]."""
    links = [(name + ".weight", layer.weight, lambda of: of(name + ".weight").T)]
    if layer.bias is not None:
        links += same(name + ".bias", layer.bias)
    return links


def gru(name, unit, suffix="_l0"):
    """One direction of a recurrent unit."""
    links = []
    for ours, theirs in (("w_ih", "weight_ih"), ("w_hh", "weight_hh"), ("b_ih", "bias_ih"), ("b_hh", "bias_hh")):
        links += same(f"{name}.{ours}", getattr(unit, theirs + suffix))
    return links


def within(module, links):
    """Links of a module whose parameters stroock has inside another one."""

    def inside(arrange):
        return lambda of: arrange(lambda name: of(f"{module}.{name}"))

    return [(f"{module}.{name}", parameter, inside(arrange)) for name, parameter, arrange in links]


def load(links, record):
    """Sets parameters to those of a record."""
    with torch.no_grad():
        for name, parameter, arrange in links:
            value = arrange(record.parameter)
            if value.shape != parameter.shape:
                raise ValueError(f"{name}: {tuple(value.shape)} in the record, {tuple(parameter.shape)} in the model")
            parameter.copy_(value)
