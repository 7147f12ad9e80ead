"""Whether two computations gave the same numbers."""

from dataclasses import dataclass

import torch


class Disagreement(Exception):
    """Tensors differ by more than rounding explains."""


@dataclass
class Difference:
    """The largest difference of two tensors, relative to the largest entry of the expected one."""

    name: str
    error: float
    tolerance: float

    @property
    def agrees(self):
        """Whether it is within the tolerance; a number that is not a number is not."""
        return self.error <= self.tolerance


def difference(name, actual, expected, tolerance, floor=0.0):
    """Compares tensors; entries below `floor` count as rounding of zero."""
    actual, expected = actual.detach().double(), expected.detach().double()
    if actual.shape != expected.shape:
        raise Disagreement(f"{name}: shape {tuple(actual.shape)} is not {tuple(expected.shape)}")
    scale = max(float(expected.abs().max()), floor, 1e-30)
    return Difference(name, float((actual - expected).abs().max()) / scale, tolerance)


def demand(label, differences):
    """The worst of the differences; raises if any is beyond its tolerance."""
    for found in differences:
        if not found.agrees:
            raise Disagreement(
                f"{label}: `{found.name}` differs by {found.error:.1e} of its largest entry "
                f"(at most {found.tolerance:.0e} is rounding)"
            )
    return max(differences, key=lambda found: found.error)


def gradients(links, record, tolerance):
    """Compares the gradients of PyTorch's parameters with those of a record.

    A gradient that cancels is compared on the scale of the whole gradient: what is left of it is rounding.
    """
    largest = max(float(arrange(record.gradient).abs().max()) for _, _, arrange in links)
    return [
        difference("gradient." + name, grad_of(parameter), arrange(record.gradient), tolerance, 1e-5 * largest)
        for name, parameter, arrange in links
        if parameter.requires_grad
    ]


def grad_of(parameter):
    """The gradient of a parameter, zeros where it has none."""
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
