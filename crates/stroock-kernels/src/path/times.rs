//! The times of a group of rows, in lanes.

use stroock_geometry::Real;

use super::problem::Grid;
use super::rows::Row;
use crate::simd::{Lanes, MAX_WIDTH};

/// The grids of the rows in the lanes.
pub(crate) struct Times<'p, V: Lanes> {
    /// The one of all rows, where they share it.
    shared: Option<&'p [V::Real]>,
    of_rows: [&'p [V::Real]; MAX_WIDTH],
}

impl<'p, V: Lanes> Times<'p, V> {
    #[inline(always)]
    pub fn new(grid: Grid<'p, V::Real>, rows: &[Row; MAX_WIDTH]) -> Self {
        let mut of_rows = [&[][..]; MAX_WIDTH];
        for (times, row) in of_rows.iter_mut().zip(rows) {
            *times = grid.of_series(row.series);
        }
        let shared = match grid {
            Grid::Shared(times) => Some(times),
            Grid::PerSeries { .. } => None,
        };
        Self { shared, of_rows }
    }

    /// Time `j` of every row; the last one in lanes whose path has ended.
    #[inline(always)]
    pub fn at(&self, j: usize) -> V {
        if let Some(times) = self.shared {
            return V::splat(times[j.min(times.len() - 1)]);
        }
        let mut now = [V::Real::of(0.0); MAX_WIDTH];
        for l in 0..V::WIDTH {
            let times = self.of_rows[l];
            now[l] = times[j.min(times.len() - 1)];
        }
        V::load(&now)
    }
}
