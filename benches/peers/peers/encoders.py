"""From the points of a batch to representations."""

import torch
from torch import nn

from .attention import PlainAttention, TunedAttention, WholeTunedAttention
from .images import FrameFeatures, ImageNetwork
from .links import same


class VectorEncoder(nn.Module):
    """Attention over vectors with gaps."""

    def __init__(self, channels, settings, tuned):
        super().__init__()
        self.attention = (TunedAttention if tuned else PlainAttention)(channels, **settings)
        self.width, self.tuned = settings["hidden"], tuned

    def forward(self, points):
        return self.attention(points.values, points.mask, points.distinct if self.tuned else points.times)

    def links(self, name):
        """Where stroock has the parameters."""
        return self.attention.links(name + ".TimeAttention")


class FrameEncoder(nn.Module):
    """Convolutions of every frame, then attention over their features."""

    def __init__(self, shape, settings, tuned, sparse):
        super().__init__()
        self.tuned, self.sparse = tuned, sparse
        self.frames = FrameFeatures(shape, settings, tuned)
        attention = WholeTunedAttention if tuned else PlainAttention
        self.attention = attention(settings["features"], **settings["attention"])
        self.width = settings["attention"]["hidden"]

    def see(self, frames):
        """Features of frames [N, C H W]."""
        return torch.tanh(self.frames(frames))

    def forward(self, points):
        series, width, extent = points.values.shape
        if self.sparse:
            present = points.mask.bool()
            seen = self.see(points.values[present])
            features = seen.new_zeros(series, width, seen.shape[1]).index_put((present,), seen)
        else:
            features = self.see(points.values.view(-1, extent)).view(series, width, -1)
        if self.tuned:
            return self.attention(features, points.mask, points.distinct)
        return self.attention(features, points.mask.unsqueeze(-1).expand_as(features), points.times)

    def links(self, name):
        """Where stroock has the parameters."""
        name += ".Frames"
        return self.frames.links(name) + self.attention.links(name + ".attention")


class FirstFrameEncoder(nn.Module):
    """Convolutions of the first frame."""

    def __init__(self, shape, settings, tuned):
        super().__init__()
        self.shape = shape
        self.network = ImageNetwork(settings["network"], shape[0], tuned)
        with torch.no_grad():
            self.width = self.network.eval()(torch.zeros(1, *shape)).numel()
        self.network.train()

    def forward(self, points):
        return self.network(points.values[:, 0].view(-1, *self.shape)).flatten(1)

    def links(self, name):
        """Where stroock has the parameters."""
        return self.network.links(name + ".FirstFrame.network")


class LearnedEmbedding(nn.Module):
    """One learned vector for every series."""

    def __init__(self, width):
        super().__init__()
        self.h = nn.Parameter(torch.zeros(1, width))
        self.width = width

    def forward(self, points):
        return self.h.expand(len(points.values), -1)

    def links(self, name):
        """Where stroock has the parameters."""
        return same(name + ".LearnedEmbedding.h", self.h)


def encoder_of(model, tuned, sparse):
    """The encoder of the settings of a model."""
    settings, observed = dict(model["encoder"]), model["observation"]
    kind = settings.pop("kind")
    if kind == "time-attention":
        return VectorEncoder(observed["channels"], settings, tuned)
    if kind == "learned-embedding":
        return LearnedEmbedding(settings["width"])
    shape = (observed["channels"], observed["height"], observed["width"])
    if kind == "frames":
        return FrameEncoder(shape, settings, tuned, sparse)
    return FirstFrameEncoder(shape, settings, tuned)
