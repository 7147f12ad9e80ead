//! What attention is computed from, and the checks that it makes sense.

use stroock_geometry::Real;

use super::AttentionError;
use crate::argument::{ArgumentError, check_finite, check_length, check_not_empty, check_offsets};

/// Which entries of a batch of ragged series are observed.
///
/// The series stand one after the other: series `b` has the points
/// `point_offsets[b] .. point_offsets[b + 1]`, and a point has a time and a value in some of the channels.
#[derive(Clone, Copy, Debug)]
pub struct Entries<'a> {
    /// `[B * C + 1]`: the entries of series `b` in channel `c` are
    /// `points[offsets[b * C + c] .. offsets[b * C + c + 1]]`.
    pub offsets: &'a [usize],
    /// The point of every entry, one of the points of its series.
    pub points: &'a [u32],
    /// `[N]`: the distinct time (the row of `keys`) of every point.
    pub times: &'a [u32],
    /// `[B + 1]`: where the points of each series begin, from 0 to `N`.
    pub point_offsets: &'a [usize],
}

/// Attention of `R` reference points over the observed entries of `B` series with `C` channels.
#[derive(Clone, Copy, Debug)]
pub struct AttentionProblem<'a, T> {
    /// Width `E` of queries and keys.
    pub width: usize,
    /// Channels `C`.
    pub channels: usize,
    /// Queries of the reference points, `[R, E]`.
    pub queries: &'a [T],
    /// Keys of the distinct times, `[U, E]`.
    pub keys: &'a [T],
    /// Values of the points, `[N, C]`; only observed entries are read.
    pub values: &'a [T],
    /// Observed entries.
    pub entries: Entries<'a>,
}

/// The extents of a problem that has passed its checks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Series `B`.
    pub series: usize,
    /// Reference points `R`.
    pub references: usize,
    /// Distinct times `U`.
    pub times: usize,
    /// Points `N` of all series.
    pub points: usize,
}

/// One series of a problem.
#[derive(Clone, Copy, Debug)]
pub(super) struct Series<'a, T> {
    channels: usize,
    /// Its first point in the batch.
    pub first_point: usize,
    offsets: &'a [usize],
    points: &'a [u32],
    values: &'a [T],
    /// The distinct time of each of its points.
    pub times: &'a [u32],
}

impl<'a, T: Real> Series<'a, T> {
    /// The entries of a channel: the point, counted within the series, and the value.
    #[inline(always)]
    pub fn entries(&self, channel: usize) -> impl Iterator<Item = (usize, T)> + use<'a, T> {
        let Series { channels, first_point, points, values, .. } = *self;
        points[self.offsets[channel]..self.offsets[channel + 1]].iter().map(move |&point| {
            let point = point as usize - first_point;
            (point, values[point * channels + channel])
        })
    }

    /// Whether a channel has no entries.
    #[inline(always)]
    pub fn is_empty(&self, channel: usize) -> bool {
        self.offsets[channel] == self.offsets[channel + 1]
    }
}

impl<'a, T: Real> AttentionProblem<'a, T> {
    /// Series `b` of a problem that has passed its checks.
    pub(super) fn series(&self, b: usize) -> Series<'a, T> {
        let (channels, entries) = (self.channels, self.entries);
        let [from, to] = [entries.point_offsets[b], entries.point_offsets[b + 1]];
        Series {
            channels,
            first_point: from,
            offsets: &entries.offsets[b * channels..=(b + 1) * channels],
            points: entries.points,
            values: &self.values[from * channels..to * channels],
            times: &entries.times[from..to],
        }
    }

    /// `1 / sqrt(E)`.
    pub(super) fn scale(&self) -> T {
        T::of(1.0 / (self.width as f64).sqrt())
    }

    /// Checks every argument.
    pub(super) fn layout(&self) -> Result<Layout, AttentionError> {
        let (width, channels, entries) = (self.width, self.channels, self.entries);
        let series = entries.point_offsets.len().saturating_sub(1);
        check_not_empty([
            ("width", width),
            ("channels", channels),
            ("queries", self.queries.len()),
            ("entries.point_offsets", series),
        ])?;
        let (references, times) = (self.queries.len() / width, self.keys.len() / width);
        check_length(
            "queries",
            "[references, width]",
            references.max(1).saturating_mul(width),
            self.queries.len(),
        )?;
        check_length("keys", "[distinct times, width]", times * width, self.keys.len())?;
        check_finite("queries", self.queries)?;
        check_finite("keys", self.keys)?;

        let points = entries.times.len();
        check_offsets("entries.point_offsets", entries.point_offsets, points, "entries.times")?;
        check_length("values", "[points, channels]", points.saturating_mul(channels), self.values.len())?;
        if let Some(point) = entries.times.iter().position(|&time| time as usize >= times) {
            return Err(AttentionError::TimeOutsideKeys { point, time: entries.times[point], times });
        }
        let runs = series.saturating_mul(channels).saturating_add(1);
        check_length("entries.offsets", "[series * channels + 1]", runs, entries.offsets.len())?;
        check_offsets("entries.offsets", entries.offsets, entries.points.len(), "entries.points")?;
        self.check_entries()?;
        Ok(Layout { series, references, times, points })
    }

    /// Every entry belongs to a point of its series and has a finite value.
    fn check_entries(&self) -> Result<(), AttentionError> {
        let entries = self.entries;
        for (run, offsets) in entries.offsets.windows(2).enumerate() {
            let (series, channel) = (run / self.channels, run % self.channels);
            let own = entries.point_offsets[series]..entries.point_offsets[series + 1];
            for index in offsets[0]..offsets[1] {
                let point = entries.points[index];
                if !own.contains(&(point as usize)) {
                    return Err(AttentionError::PointOutsideSeries { index, point, series });
                }
                let place = point as usize * self.channels + channel;
                if !self.values[place].is_finite() {
                    return Err(ArgumentError::NotFinite { argument: "values", index: place }.into());
                }
            }
        }
        Ok(())
    }
}
