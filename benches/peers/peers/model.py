"""The whole latent SDE in PyTorch, in three forms.

`plain` is the model as the paper's listing and the usual attention code have it: points padded to a fixed width,
scores for every channel, matrix exponentials sliced in a loop, every point of the grid decoded. `tuned` is the same
model with less around it: attention as two products, the loop unbound, faster layers and optimiser. `best` also takes
over what stroock does otherwise: short padding, states decoded where there are targets only, only frames that are seen
encoded, and no matrix exponentials but Taylor terms of their action on the state.
"""

import torch
from torch import nn

from . import power_spherical
from .encoders import encoder_of
from .images import ImageDecoder, Mlp
from .likelihood import entry_loss, per_series, task_loss
from .links import linear, same
from .path_listing import ListingPath
from .path_tuned import ActionPath, TunedPath

PATHS = {"plain": ListingPath, "tuned": TunedPath, "best": ActionPath}


class LatentSde(nn.Module):
    """Encoder, path process, path, decoder, likelihood and task, from the settings of a protocol."""

    def __init__(self, protocol, form):
        super().__init__()
        tuned = form != "plain"
        model = protocol["model"]
        latent = model["latent"]
        drift = latent["drift"]
        n, terms = latent["dim"], drift["terms"]
        self.sparse, self.terms, self.dim = form == "best", terms, n
        self.encoder = encoder_of(model, tuned, self.sparse)
        self.mu = nn.Linear(self.encoder.width, n)
        self.kappa = nn.Linear(self.encoder.width, 1)
        self.drift = nn.Linear(self.encoder.width, n * (n - 1) // 2 * terms)
        self.sigma = nn.Parameter(torch.tensor([latent["sigma"]]))
        self.path = PATHS[form](n, terms, drift["interval"])
        decoder, observed, likelihood = model["decoder"], model["observation"], model["likelihood"]
        channels = observed["channels"] * observed.get("height", 1) * observed.get("width", 1)
        self.decoder = ImageDecoder(n, decoder, tuned) if decoder["kind"] == "image" else Mlp(n, channels, decoder)
        self.is_gaussian = likelihood["kind"] == "gaussian"
        if self.is_gaussian:
            self.ln_scale = nn.Parameter(
                torch.tensor([likelihood["scale"]]).log(), requires_grad=likelihood["scale_kind"] != "fixed"
            )
        self.task = model["task"]
        if self.task is not None:
            self.task_head = Mlp(n, task_outputs(self.task["output"]), self.task["network"])

    def forward(self, batch, samples, start=None, noise=None, nudge_to=None):
        """Everything that a record has of a step. Start points and noise are drawn if not given.

        States are nudged to given ones before they are decoded: the rounding of a long path would otherwise put a
        hidden unit on the other side of its kink here and there, and the gradient with it.
        """
        h = self.encoder(batch.points)
        process = self.process(h)
        states, kl_path = self.paths(process, batch, samples, start, noise)
        found = None
        if nudge_to is not None:
            found = self.at_points(states, batch)
            states = self.nudge(states, (nudge_to - found).detach(), batch)
        output, at_points = self.decode(states, batch)
        targets = batch.targets
        nll = per_series(entry_loss(output, targets, self.ln_scale if self.is_gaussian else None), targets)
        result = {
            "h": h,
            "mu": process[0],
            "kappa": process[1],
            "states": at_points if found is None else found,
            "output": output,
            "kl_start": power_spherical.divergence(process[1], self.dim),
            "kl_path": kl_path.view(samples, -1).mean(0),
            "nll": nll,
        }
        if self.task is not None:
            prediction = self.predict(at_points if self.sparse else states, batch)
            result["prediction"] = prediction
            result["task"] = task_loss(self.task["output"]["kind"], prediction, batch)
        return result

    def sample(self, batch, samples, start=None, noise=None):
        """Outputs [S, Q, C] of posterior paths at the points of the targets."""
        states, _ = self.paths(self.process(self.encoder(batch.points)), batch, samples, start, noise)
        return self.decode(states, batch)[0]

    def process(self, h):
        """mu [B, n], kappa [B] and drift coefficients [B, m, K]."""
        mu = nn.functional.normalize(self.mu(h), dim=1)
        kappa = (100 * self.kappa(h).square()).clamp_max(50_000.0).squeeze(1)
        return mu, kappa, self.drift(h).view(len(h), -1, self.terms)

    def paths(self, process, batch, samples, start=None, noise=None):
        """States [S B, T + 1, n] and divergences [S B]."""
        mu, kappa, drift = process
        if samples > 1:
            mu, kappa, drift = mu.repeat(samples, 1), kappa.repeat(samples), drift.repeat(samples, 1, 1)
        if start is None:
            start = power_spherical.draw(mu, kappa)
        else:
            start = power_spherical.replay(mu, kappa, start.flatten(0, 1))
        noise = None if noise is None else noise.flatten(0, 1)
        return self.path(start, drift, self.sigma.abs().clamp_min(1e-4), batch.times, noise)

    def at_points(self, rows, batch):
        """What is asked of [S B, T + 1, ..]: [S, Q, ..]."""
        targets = batch.targets
        rows = rows.unflatten(0, (-1, batch.series))
        return rows[:, targets.series, targets.indices]

    def nudge(self, states, difference, batch):
        """States [S B, T + 1, n], moved at the points of the targets."""
        moved = torch.zeros_like(states).unflatten(0, (-1, batch.series))
        moved[:, batch.targets.series, batch.targets.indices] = difference
        return states + moved.flatten(0, 1)

    def decode(self, states, batch):
        """Outputs [S, Q, C] and states [S, Q, n] at the points of the targets."""
        at_points = self.at_points(states, batch)
        if self.sparse:
            return self.decoder(at_points.flatten(0, 1)).unflatten(0, at_points.shape[:2]), at_points
        everywhere = self.decoder(states.flatten(0, 1)).unflatten(0, states.shape[:2])
        return self.at_points(everywhere, batch), at_points

    def predict(self, states, batch):
        """Predictions of the task at the points of the targets, [S, Q, outputs]."""
        prediction = self.task_head(states.flatten(0, 1))
        if self.task["output"]["kind"] == "angle":
            prediction = nn.functional.normalize(prediction, dim=1)
        prediction = prediction.unflatten(0, states.shape[:2])
        return prediction if self.sparse else self.at_points(prediction, batch)

    def links(self):
        """Where stroock has the parameters."""
        links = self.encoder.links("encoder")
        links += self.decoder.links("decoder" if isinstance(self.decoder, ImageDecoder) else "decoder.Mlp")
        for name in ("mu", "kappa", "drift"):
            links += linear("process." + name, getattr(self, name))
        links += same("process.sigma", self.sigma)
        if self.is_gaussian:
            links += same("likelihood.gaussian.ln_scale", self.ln_scale)
        if self.task is not None:
            links += self.task_head.links("task.network")
        return links


def task_outputs(output):
    """Numbers of one prediction."""
    return 2 if output["kind"] == "angle" else output["classes"]


def loss_of(result, batch, weights):
    """The mean over the batch of [w0 KL0 + wp KLp + wx NLL] / count + wt task."""
    bound = weights["kl_start"] * result["kl_start"] + weights["kl_path"] * result["kl_path"]
    bound = (bound + weights["likelihood"] * result["nll"]) / batch.targets.counts.clamp_min(1.0)
    if "task" in result:
        bound = bound + weights["task"] * result["task"]
    return bound.mean()
