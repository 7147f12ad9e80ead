"""From stroock's ragged batches to the dense ones that PyTorch models read."""

from dataclasses import dataclass

import torch


@dataclass
class Distinct:
    """Times of a batch, each of them once."""

    values: torch.Tensor  # [U]
    places: torch.Tensor  # [B, P], where the time of each point is


def distinct(times):
    """The times [B, P], each of them once."""
    return Distinct(*torch.unique(times, return_inverse=True))


@dataclass
class Points:
    """Points of B series, filled up to P of them: what an encoder reads."""

    values: torch.Tensor  # [B, P, C], 0 where nothing is observed
    mask: torch.Tensor  # [B, P, C], or [B, P] where every point is whole
    times: torch.Tensor  # [B, P]
    distinct: Distinct


@dataclass
class Targets:
    """What the likelihood is scored on, at Q points of all series."""

    series: torch.Tensor  # [Q], the series of each point
    indices: torch.Tensor  # [Q], its place on the grid
    values: torch.Tensor  # [Q, C]
    mask: torch.Tensor | None  # [Q, C]; None means that everything is observed
    counts: torch.Tensor  # [B], observed entries
    points: torch.Tensor  # [B], points of a series


@dataclass
class Batch:
    """Everything about a training step but the model and its noise."""

    points: Points
    targets: Targets
    times: torch.Tensor  # [T + 1], the grid
    classes: torch.Tensor | None  # [Q]
    labels: torch.Tensor | None  # [Q, width]

    @property
    def series(self):
        """Number of series B."""
        return len(self.targets.counts)


def points_of(record, width=None):
    """The input of a record, with `width` points a series, or as many as the longest has."""
    offsets = record["input.point_offsets"]
    lengths = offsets.diff()
    series = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
    place = torch.arange(len(series)) - offsets[series]
    width = max(int(lengths.max()), width or 0)
    values = record["input.values"]
    channels = values.shape[1]

    def dense(rows):
        filled = torch.zeros(len(lengths), width, *rows.shape[1:])
        filled[series, place] = rows
        return filled

    if "input.entry_offsets" in record:
        entries = record["input.entry_offsets"].diff()
        channel = torch.repeat_interleave(torch.arange(len(entries)) % channels, entries)
        observed = torch.zeros_like(values)
        observed[record["input.entry_points"].long(), channel] = 1.0
    else:
        observed = torch.ones(len(values))
    times = dense(record["input.times"].float())
    return Points(dense(values), dense(observed), times, distinct(times))


def batch_of(record, width=None):
    """The batch of a recorded step."""
    lengths = record["targets.point_offsets"].diff()
    values = record["targets.values"]
    mask = None
    if "targets.places" in record:
        mask = torch.zeros(values.numel())
        mask[record["targets.places"]] = 1.0
        mask = mask.view_as(values)
    targets = Targets(
        series=torch.repeat_interleave(torch.arange(len(lengths)), lengths),
        indices=record["requests.indices"],
        values=values,
        mask=mask,
        counts=record["targets.counts"].float(),
        points=lengths,
    )
    return Batch(
        points=points_of(record, width),
        targets=targets,
        times=record["grid.times"].float(),
        classes=record.get("target.classes"),
        labels=record.get("target.values"),
    )
