"""From stroock's ragged batches to the dense ones that PyTorch models read."""

from dataclasses import dataclass
from functools import cached_property

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
    present: torch.Tensor  # [B, P], whether there is a point


@dataclass
class Targets:
    """What the likelihood is scored on, at Q points of all series."""

    series: torch.Tensor  # [Q], the series of each point
    indices: torch.Tensor  # [Q], its place on the grid
    values: torch.Tensor  # [Q, C]
    mask: torch.Tensor | None  # [Q, C]; None means that everything is observed
    counts: torch.Tensor  # [B], observed entries
    points: torch.Tensor  # [B], points of a series
    places: torch.Tensor  # [Q], the place of each point in its series


@dataclass
class Batch:
    """Everything about a training step but the model and its noise."""

    points: Points
    targets: Targets
    times: torch.Tensor  # [T + 1], the grid
    grid: torch.Tensor  # the same in double precision
    classes: torch.Tensor | None  # [Q]
    labels: torch.Tensor | None  # [Q, width]

    @property
    def series(self):
        """Number of series B."""
        return len(self.targets.counts)

    def asked_times(self, width=0):
        """The times of the targets [B, P], with at least `width` of them."""
        targets = self.targets
        times = torch.zeros(self.series, max(int(targets.points.max()), width))
        times[targets.series, targets.places] = self.times[targets.indices]
        return times

    @cached_property
    def asked(self):
        """The times of the targets, each of them once."""
        return distinct(self.asked_times())

    @cached_property
    def stops(self):
        """Where a filter stops."""
        return stops_of(self)


@dataclass
class Stops:
    """The inputs and the targets of B series in the order of time, filled up to P of them: where a filter stops."""

    gaps: torch.Tensor  # [B, P], since the stop before; 0 for the first one
    observed: torch.Tensor  # [B, P], whether there is an input
    values: torch.Tensor  # [B, P, C], the inputs, 0 where there is none
    targets: torch.Tensor  # [Q], the stop of each target


def stops_of(batch):
    """The stops of a batch, whose inputs and targets all lie on its grid."""
    points, targets, grid = batch.points, batch.targets, batch.grid
    nearest = (points.times.double().unsqueeze(-1) - grid).abs().argmin(-1)
    of_series = []
    for b in range(batch.series):
        inputs = nearest[b, points.present[b]]
        asked = targets.indices[targets.series == b]
        of_series.append((inputs, asked, torch.unique(torch.cat([inputs, asked]))))
    shape = (batch.series, max(len(stops) for _, _, stops in of_series))
    gaps, observed = torch.zeros(shape, dtype=grid.dtype), torch.zeros(shape, dtype=torch.bool)
    values, of_targets = torch.zeros(*shape, points.values.shape[2]), []
    for b, (inputs, asked, stops) in enumerate(of_series):
        gaps[b, 1 : len(stops)] = grid[stops].diff()
        place = torch.searchsorted(stops, inputs)
        observed[b, place] = True
        values[b, place] = points.values[b, points.present[b]]
        of_targets.append(torch.searchsorted(stops, asked))
    return Stops(gaps, observed, values, torch.cat(of_targets))


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
    present = dense(torch.ones(len(values))).bool()
    return Points(dense(values), dense(observed), times, distinct(times), present)


def batch_of(record, width=None):
    """The batch of a recorded step."""
    lengths = record["targets.point_offsets"].diff()
    values = record["targets.values"]
    mask = None
    if "targets.places" in record:
        mask = torch.zeros(values.numel())
        mask[record["targets.places"]] = 1.0
        mask = mask.view_as(values)
    series = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
    targets = Targets(
        series=series,
        indices=record["requests.indices"],
        values=values,
        mask=mask,
        counts=record["targets.counts"].float(),
        points=lengths,
        places=torch.arange(len(series)) - record["targets.point_offsets"][series],
    )
    return Batch(
        points=points_of(record, width),
        targets=targets,
        times=record["grid.times"].float(),
        grid=record["grid.times"].double(),
        classes=record.get("target.classes"),
        labels=record.get("target.values"),
    )
