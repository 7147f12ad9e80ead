//! Rows (one sample of one series) and their groups: the rows that share a vector.

use stroock_geometry::Real;

use super::problem::Requests;
use crate::simd::{Lanes, MAX_WIDTH};

/// One sample of one series.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub series: usize,
    pub sample: usize,
    /// Steps of its grid.
    pub steps: usize,
}

/// All rows of series with the steps that `step_offsets` (`[B + 1]`) says, those with the most steps first, so that the
/// rows of a group end at about the same time.
///
/// The index of a row in arrays of shape `[S, B, ..]` is `sample * B + series`.
pub(crate) fn rows(step_offsets: &[usize], samples: usize) -> Vec<Row> {
    let steps = |series: usize| step_offsets[series + 1] - step_offsets[series];
    let mut rows: Vec<Row> = (0..samples)
        .flat_map(|sample| (0..step_offsets.len() - 1).map(move |series| (sample, series)))
        .map(|(sample, series)| Row { series, sample, steps: steps(series) })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.steps));
    rows
}

/// Cuts `[S, B, ..]` data, of which a series has `extent` entries, into a slice per row, in the order of `rows`.
pub(crate) fn per_row<'a, T>(
    rows: &[Row],
    mut data: &'a mut [T],
    samples: usize,
    series: usize,
    extent: impl Fn(usize) -> usize,
) -> Vec<&'a mut [T]> {
    let mut slices: Vec<Option<&'a mut [T]>> = Vec::with_capacity(samples * series);
    for row in 0..samples * series {
        let (slice, rest) = data.split_at_mut(extent(row % series));
        slices.push(Some(slice));
        data = rest;
    }
    rows.iter().map(|row| slices[row.sample * series + row.series].take().unwrap_or_default()).collect()
}

/// The rows of `[S, B, n]` data in the lanes of `[n]`; lanes without a row repeat the last one.
#[inline(always)]
pub(crate) fn pack_rows<V: Lanes>(data: &[V::Real], rows: &[Row], series: usize, n: usize) -> Vec<V> {
    let mut packed = vec![V::zero(); n];
    let mut lanes = [V::Real::of(0.0); MAX_WIDTH];
    for (i, packed) in packed.iter_mut().enumerate() {
        for l in 0..V::WIDTH {
            let row = rows[l.min(rows.len() - 1)];
            lanes[l] = data[(row.sample * series + row.series) * n + i];
        }
        *packed = V::load(&lanes);
    }
    packed
}

/// Walks over the requests of one row in step with the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    /// Sorted grid indices; `None` for all of them.
    wanted: Option<&'a [usize]>,
    steps: usize,
    position: usize,
}

impl<'a> Cursor<'a> {
    /// Before the first request.
    pub fn at_start(requests: Requests<'a>, row: Row) -> Self {
        let wanted = match requests {
            Requests::All => None,
            Requests::At { offsets, indices } => Some(&indices[offsets[row.series]..offsets[row.series + 1]]),
        };
        Self { wanted, steps: row.steps, position: 0 }
    }

    /// Behind the last request.
    pub fn at_end(requests: Requests<'a>, row: Row) -> Self {
        let start = Self::at_start(requests, row);
        let position = start.wanted.map_or(row.steps + 1, <[usize]>::len);
        Self { position, ..start }
    }

    /// The next request, if it asks for grid index `j`.
    pub fn next_at(&mut self, j: usize) -> Option<usize> {
        let due = match self.wanted {
            None => self.position == j && j <= self.steps,
            Some(wanted) => wanted.get(self.position) == Some(&j),
        };
        due.then(|| {
            self.position += 1;
            self.position - 1
        })
    }

    /// The previous request, if it asks for grid index `j`.
    pub fn previous_at(&mut self, j: usize) -> Option<usize> {
        let previous = self.position.checked_sub(1)?;
        let due = match self.wanted {
            None => previous == j,
            Some(wanted) => wanted[previous] == j,
        };
        due.then(|| {
            self.position = previous;
            previous
        })
    }
}
