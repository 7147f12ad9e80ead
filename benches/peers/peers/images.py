"""Convolutional networks from their settings."""

import torch
from torch import nn

from .links import linear, same


class GroupNorm(nn.Module):
    """Group normalisation with one group and the unbiased variance: scale and offset of every channel."""

    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))
        self.offset = nn.Parameter(torch.zeros(channels))

    def forward(self, x):
        mean = x.mean((1, 2, 3), keepdim=True)
        standard_deviation = (x.var((1, 2, 3), keepdim=True) + 1e-5).sqrt()
        return (x - mean) / standard_deviation * self.scale[:, None, None] + self.offset[:, None, None]


class FusedGroupNorm(GroupNorm):
    """The same through PyTorch's fused kernel, whose variance is the biased one: the scale makes up for it."""

    def forward(self, x):
        count = x[0].numel()
        bias = ((count - 1) / count) ** 0.5
        return nn.functional.group_norm(x, 1, self.scale * bias, self.offset, 1e-5 * bias**2)


def follow(then, channels, tuned):
    """What follows a convolution."""
    if then == "batch-norm-relu":
        return [nn.BatchNorm2d(channels), nn.ReLU()]
    if then == "group-norm-relu":
        return [(FusedGroupNorm if tuned else GroupNorm)(channels), nn.ReLU()]
    return {"nothing": [], "relu": [nn.ReLU()], "relu-pool": [nn.ReLU(), nn.MaxPool2d(2)]}[then]


class ImageNetwork(nn.Sequential):
    """Layers of stroock's image networks."""

    def __init__(self, layers, channels, tuned):
        modules = []
        for layer in layers:
            c = layer["convolution"]
            size = dict(stride=c["stride"], padding=c["padding"])
            if c["transposed"]:
                size["output_padding"] = c["output_padding"]
            kind = nn.ConvTranspose2d if c["transposed"] else nn.Conv2d
            modules.append(kind(channels, c["channels"], c["kernel"], **size))
            channels = c["channels"]
            modules += follow(layer["then"], channels, tuned)
        super().__init__(*modules)
        # Channels side by side in memory make the convolutions on frames faster.
        self.layout = torch.channels_last if tuned else torch.contiguous_format
        self.to(memory_format=self.layout)

    def forward(self, images):
        return super().forward(images.contiguous(memory_format=self.layout))

    def links(self, name):
        """Where stroock has the parameters."""
        links, layer = [], -1
        for module in self:
            if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)):
                layer += 1
                at = f"{name}.layers.{layer}.convolution"
                links += same(at + ".weight", module.weight) + same(at + ".bias", module.bias)
            elif isinstance(module, nn.BatchNorm2d):
                at = f"{name}.layers.{layer}.batch_norm"
                links += same(at + ".gamma", module.weight) + same(at + ".beta", module.bias)
            elif isinstance(module, GroupNorm):
                at = f"{name}.layers.{layer}.group_norm"
                links += same(at + ".scale", module.scale) + same(at + ".offset", module.offset)
        return links


class FrameFeatures(nn.Module):
    """From frames [N, C H W] to features, through a linear map at the end."""

    def __init__(self, shape, settings, tuned):
        super().__init__()
        self.shape = shape
        self.network = ImageNetwork(settings["network"], shape[0], tuned)
        self.features = nn.Linear(self.network(torch.zeros(1, *shape)).numel(), settings["features"])

    def forward(self, frames):
        return self.features(self.network(frames.view(-1, *self.shape)).flatten(1))

    def links(self, name):
        """Where stroock has the parameters."""
        return self.network.links(name + ".network") + linear(name + ".features", self.features)


class ImageDecoder(nn.Module):
    """From states [M, n] to images [M, extent]."""

    def __init__(self, dim, settings, tuned):
        super().__init__()
        first = settings["first"]
        self.shape = (first["channels"], first["height"], first["width"])
        self.relu, self.sigmoid = settings["relu"], settings["sigmoid"]
        self.first = nn.Linear(dim, first["channels"] * first["height"] * first["width"])
        self.network = ImageNetwork(settings["network"], first["channels"], tuned)

    def forward(self, z):
        x = self.first(z)
        x = torch.relu(x) if self.relu else x
        x = self.network(x.view(-1, *self.shape)).flatten(1)
        return torch.sigmoid(x) if self.sigmoid else x

    def links(self, name):
        """Where stroock has the parameters."""
        name += ".Image"
        return linear(name + ".first", self.first) + self.network.links(name + ".network")


ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "elu": nn.ELU, "softplus": nn.Softplus}


class Mlp(nn.Sequential):
    """Linear maps with activations between them."""

    def __init__(self, inputs, outputs, settings):
        widths = [inputs, *settings["hidden"], outputs]
        activation = ACTIVATIONS[settings["activation"]]
        modules = []
        for i, (a, b) in enumerate(zip(widths, widths[1:])):
            modules += ([activation()] if i else []) + [nn.Linear(a, b)]
        super().__init__(*modules)

    def after_first(self, x):
        """What follows the first linear map, at its output."""
        for module in list(self)[1:]:
            x = module(x)
        return x

    def links(self, name):
        """Where stroock has the parameters."""
        layers = [module for module in self if isinstance(module, nn.Linear)]
        return [link for i, layer in enumerate(layers) for link in linear(f"{name}.layers.{i}", layer)]
