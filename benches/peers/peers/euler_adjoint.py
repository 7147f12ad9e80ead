"""Euler's scheme with its own backward pass: the least that PyTorch can be made to do.

Forward, the steps run without a graph. Backward, hidden layers and their derivatives are computed for all steps at once
from the states; what is left for the loop is the product of a cotangent with the Jacobian of a step; the gradients of
all weights are products over all steps at once.
"""

import torch

from torch.nn import functional


def elu_slope(h):
    """The derivative of ELU where its value is h."""
    return torch.where(h > 0, 1.0, h + 1)


def softplus_slope(h):
    """The derivative of softplus where its value is h."""
    return -torch.expm1(-h)


ACTIVATIONS = {"elu": (functional.elu, elu_slope), "softplus": (functional.softplus, softplus_slope)}


class EulerPath(torch.autograd.Function):
    """States [T + 1, M, n] of z <- z + dt (W3 s(W2 s(W1 z + c) + b2) + b3) + g(z) xi.

    The offsets c [M, H] of the first layer hold its bias and what it reads beside the state. `driving` is None, or
    (diffusion, xi [T, M, n]) with a module g that reads every coordinate alone; xi has the factor sqrt(dt).
    """

    @staticmethod
    def forward(ctx, activation, steps, driving, start, offsets, w1, w2, b2, w3, b3, *of_diffusion):
        act = ACTIVATIONS[activation][0]
        states = start.new_empty(len(steps) + 1, *start.shape)
        states[0] = start
        w1t, w2t, w3t = w1.T.contiguous(), w2.T.contiguous(), w3.T.contiguous()
        z = start
        for j, dt in enumerate(steps.tolist()):
            hidden = act(torch.addmm(offsets, z, w1t))
            hidden = act(torch.addmm(b2, hidden, w2t))
            moved = torch.addmm(b3, hidden, w3t)
            after = torch.add(z, moved, alpha=dt, out=states[j + 1])
            if driving is not None:
                diffusion, xi = driving
                after.addcmul_(diffusion(z), xi[j])
            z = after
        ctx.activation, ctx.steps, ctx.driving = activation, steps, driving
        ctx.save_for_backward(states, offsets, w1, w2, b2, w3, *of_diffusion)
        return states

    @staticmethod
    def backward(ctx, of_states):
        states, offsets, w1, w2, b2, w3, *of_diffusion = ctx.saved_tensors
        (act, slope), steps, driving = ACTIVATIONS[ctx.activation], ctx.steps, ctx.driving
        z = states[:-1]
        first = act(torch.matmul(z, w1.T) + offsets)
        second = act(functional.linear(first, w2, b2))
        slope_first, slope_second = slope(first), slope(second)
        if driving is not None:
            diffusion, xi = driving
            with torch.enable_grad():
                z = z.detach().requires_grad_()
                g = diffusion(z)
                (own,) = torch.autograd.grad(g.sum(), z, retain_graph=True)
            own = own * xi
        # Of what a step adds, of its hidden layers, and of the state before it.
        of_moved, of_second, of_first = torch.empty_like(states[1:]), torch.empty_like(second), torch.empty_like(first)
        of_noise = torch.empty_like(of_moved) if driving is not None else None
        cotangent = of_states[-1]
        for j in range(len(steps) - 1, -1, -1):
            moved = torch.mul(cotangent, steps[j], out=of_moved[j])
            back = torch.mm(moved, w3, out=of_second[j]).mul_(slope_second[j])
            back = torch.mm(back, w2, out=of_first[j]).mul_(slope_first[j])
            before = torch.addmm(cotangent, back, w1)
            if driving is not None:
                of_noise[j] = cotangent
                before.addcmul_(cotangent, own[j])
            cotangent = before.add_(of_states[j])

        def product(cotangents, inputs):
            return cotangents.flatten(0, 1).T @ inputs.flatten(0, 1)

        gradients = [
            cotangent,
            of_first.sum(0),
            product(of_first, states[:-1]),
            product(of_second, first),
            of_second.sum((0, 1)),
            product(of_moved, second),
            of_moved.sum((0, 1)),
        ]
        if driving is not None:
            gradients += torch.autograd.grad(g, of_diffusion, of_noise * xi)
        return None, None, None, *gradients


def path(activation, network, steps, start, offsets, first_weight, driving=None):
    """States [T + 1, M, n] by the drift `network`, whose first layer is given as a weight [H, n] and offsets [M, H]."""
    _, _, second, _, third = network
    of_diffusion = () if driving is None else tuple(driving[0].parameters())
    layers = (first_weight, second.weight, second.bias, third.weight, third.bias)
    return EulerPath.apply(activation, steps, driving, start, offsets, *layers, *of_diffusion)
