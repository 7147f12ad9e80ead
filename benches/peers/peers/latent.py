"""Models of an encoder, random paths, a decoder, a likelihood and a task: what they share.

In the form `plain`, points are padded to a fixed width, scores of the attention are made for every channel, and every
point of the grid is decoded. `tuned` has attention as two products and faster layers; `best` also decodes states where
there are targets only, and encodes only frames that are seen.
"""

from dataclasses import dataclass, field

import torch
from torch import nn

from .encoders import encoder_of
from .images import ImageDecoder, Mlp
from .likelihood import entry_loss, per_series, task_loss
from .links import same


@dataclass
class Paths:
    """Paths of S samples of B series."""

    states: torch.Tensor  # [S B, T + 1, n]
    kl_start: torch.Tensor  # [B]
    kl_path: torch.Tensor  # [S B]
    # What a record has beside them, by name.
    beside: dict = field(default_factory=dict)


class PathModel(nn.Module):
    """Everything but the paths, from the settings of a protocol; `paths` is what the models differ in."""

    def __init__(self, protocol, form):
        super().__init__()
        tuned = form != "plain"
        model = protocol["model"]
        n = model["latent"]["dim"]
        self.sparse, self.dim = form == "best", n
        self.encoder = encoder_of(model, tuned, self.sparse)
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
        paths = self.paths(self.encoder(batch.points), batch, samples, start, noise)
        states, found = paths.states, None
        if nudge_to is not None:
            found = self.at_points(states, batch)
            states = self.nudge(states, (nudge_to - found).detach(), batch)
        output, at_points = self.decode(states, batch)
        targets = batch.targets
        nll = per_series(entry_loss(output, targets, self.ln_scale if self.is_gaussian else None), targets)
        result = {
            **paths.beside,
            "states": at_points if found is None else found,
            "output": output,
            "kl_start": paths.kl_start,
            "kl_path": paths.kl_path.view(samples, -1).mean(0),
            "negative_log_likelihood": nll,
        }
        if self.task is not None:
            prediction = self.predict(at_points if self.sparse else states, batch)
            result["prediction"] = prediction
            result["task"] = task_loss(self.task["output"]["kind"], prediction, batch)
        return result

    def loss(self, result, batch, weights):
        """The mean over the batch of [w0 KL0 + wp KLp + wx NLL] / count + wt task."""
        bound = weights["kl_start"] * result["kl_start"] + weights["kl_path"] * result["kl_path"]
        bound = bound + weights["likelihood"] * result["negative_log_likelihood"]
        bound = bound / batch.targets.counts.clamp_min(1.0)
        if "task" in result:
            bound = bound + weights["task"] * result["task"]
        return bound.mean()

    def sample(self, batch, samples, start=None, noise=None):
        """Outputs [S, Q, C] of posterior paths at the points of the targets."""
        paths = self.paths(self.encoder(batch.points), batch, samples, start, noise)
        return self.decode(paths.states, batch)[0]

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
        if self.is_gaussian:
            links += same("likelihood.gaussian.ln_scale", self.ln_scale)
        if self.task is not None:
            links += self.task_head.links("task.network")
        return links


def task_outputs(output):
    """Numbers of one prediction."""
    return 2 if output["kind"] == "angle" else output["classes"]
