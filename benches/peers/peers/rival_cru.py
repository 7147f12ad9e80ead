"""CRU and f-CRU: a Kalman filter of a learned linear SDE over what an encoder makes of every observation.

Written from the formulas of Schirmer et al. (2022), in single precision as everything here. `plain` encodes and decodes
at every stop of padded series and has whole covariances; `best` encodes where there are inputs, decodes where there are
targets, and has the faster transitions of `kalman`.
"""

import torch
from torch import nn
from torch.nn import functional

from .images import FrameFeatures
from .kalman import BLIND, FILTERS, VARIANCES
from .likelihood import normal_surprise
from .links import linear, same, within


class Layers(nn.Sequential):
    """Hidden layers: linear maps with tanh, or with ReLU and a normalisation."""

    def __init__(self, inputs, settings):
        modules, widths = [], [inputs, *settings["hidden"]]
        for a, b in zip(widths, widths[1:]):
            modules.append(nn.Linear(a, b))
            modules += [nn.Tanh()] if settings["kind"] == "tanh" else [nn.ReLU(), nn.LayerNorm(b)]
        super().__init__(*modules)
        self.width = widths[-1]

    def links(self, name):
        """Where stroock has the parameters."""
        links, counts = [], {nn.Linear: 0, nn.LayerNorm: 0}
        for module in self:
            count = counts.get(type(module))
            if isinstance(module, nn.Linear):
                links += linear(f"{name}.maps.{count}", module)
            elif isinstance(module, nn.LayerNorm):
                at = f"{name}.norms.{count}"
                links += same(at + ".gamma", module.weight) + same(at + ".beta", module.bias)
            if count is not None:
                counts[type(module)] += 1
        return links


class NormalHead(nn.Module):
    """Means from the mean of the state, variances from its variances and covariances."""

    def __init__(self, half, outputs, settings):
        super().__init__()
        self.mean, self.variance = Layers(2 * half, settings["mean"]), Layers(3 * half, settings["variance"])
        self.mean_output = nn.Linear(self.mean.width, outputs)
        self.variance_output = nn.Linear(self.variance.width, outputs)
        self.kind = settings["variance_kind"]

    def forward(self, mean, covariance):
        variance = VARIANCES[self.kind](self.variance_output(self.variance(covariance)))
        return self.mean_output(self.mean(mean)), variance

    def links(self, name):
        """Where stroock has the parameters."""
        links = self.mean.links(name + ".mean") + self.variance.links(name + ".variance")
        return (
            links
            + linear(name + ".mean_output", self.mean_output)
            + linear(name + ".variance_output", self.variance_output)
        )


class Cru(nn.Module):
    """Encoder, filter and heads, for vectors and for tasks on frames."""

    def __init__(self, protocol, form):
        super().__init__()
        model = protocol["model"]
        self.name = {"cru": "Cru", "f-cru": "FCru"}[model["kind"]]
        self.tuned = form != "plain"
        observed, encoder, half = model["observation"], model["encoder"], model["latent"]["half"]
        self.frames = encoder["kind"] == "frames"
        if self.frames:
            shape = (observed["channels"], observed["height"], observed["width"])
            self.features, width = FrameFeatures(shape, encoder, self.tuned), encoder["features"]
        else:
            self.features = Layers(observed["channels"], encoder["layers"])
            width = self.features.width
        self.observation, self.variance = nn.Linear(width, half), nn.Linear(width, half)
        self.kind = encoder["variance"]
        self.filter = FILTERS[model["kind"], self.tuned](model["latent"])
        decoder, task = model["decoder"], model["task"]
        self.decoder = None if decoder is None else NormalHead(half, observed["channels"], decoder)
        self.task = None if task is None else NormalHead(half, task["width"], task["head"])

    def observe(self, values):
        """Latent observations and variances, [N, d] each, of inputs [N, C]."""
        features = self.features(values)
        features = torch.relu(features) if self.frames else features
        features = functional.normalize(features, dim=1, eps=1e-8)
        return self.observation(features), VARIANCES[self.kind](self.variance(features))

    def forward(self, batch, samples, start=None, noise=None, nudge_to=None):
        """Everything that a record has of a step."""
        stops, targets = batch.stops, batch.targets
        if self.tuned:
            y, r = self.observe(stops.values[stops.observed])
            shape, seen = (*stops.observed.shape, y.shape[1]), (stops.observed,)
            y = y.new_zeros(shape).index_put(seen, y)
            r = r.new_full(shape, BLIND).index_put(seen, r)
        else:
            y, r = (part.unflatten(0, stops.observed.shape) for part in self.observe(stops.values.flatten(0, 1)))
        mean, v, s = self.filter(y, r, stops)
        covariance = torch.cat([v, s], 2)
        asked = (targets.series, stops.targets)
        found = mean[asked]
        if nudge_to is not None:
            mean = mean.index_put(asked, (nudge_to[0] - found).detach(), accumulate=True)
        result = {"states": found.unsqueeze(0)}
        for name, head, values, mask in (
            ("mean", self.decoder, targets.values, targets.mask),
            ("prediction", self.task, batch.labels, None),
        ):
            if head is None:
                continue
            if self.tuned:
                predicted, variance = head(mean[asked], covariance[asked])
            else:
                predicted, variance = (part[asked] for part in head(mean, covariance))
            result[name] = predicted.unsqueeze(0)
            part = "negative_log_likelihood" if name == "mean" else "task"
            result[part] = normal_surprise(predicted, variance, values, mask, targets)
        return result

    def loss(self, result, batch, weights):
        """The mean over series of means over points."""
        parts = (("likelihood", "negative_log_likelihood"), ("task", "task"))
        losses = sum(weights[weight] * result[part] for weight, part in parts if part in result)
        return (losses / batch.targets.points.clamp_min(1)).mean()

    def links(self):
        """Where stroock has the parameters."""
        links = self.features.links("encoder.features." + ("Frames" if self.frames else "Vector"))
        links += linear("encoder.observation", self.observation) + linear("encoder.variance", self.variance)
        links += self.filter.links("filter")
        if self.decoder is not None:
            links += self.decoder.links("decoder.Normal")
        if self.task is not None:
            links += self.task.links("task")
        return within(self.name, links)
