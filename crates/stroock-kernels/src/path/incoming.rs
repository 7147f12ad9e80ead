//! Gradients with respect to the requested states, as the backward pass meets them.

use stroock_geometry::Real;

use super::layout::Layout;
use super::problem::PathProblem;
use super::rows::{Cursor, Row};
use crate::simd::{Lanes, MAX_WIDTH};

/// Gradients that come in at the requested states.
pub(super) struct Incoming<'g, 'p, T> {
    cursors: [Cursor<'p>; MAX_WIDTH],
    of_states: [&'g [T]; MAX_WIDTH],
    rows: usize,
    /// What comes in at one grid index, `[n, lanes]`.
    sum: Vec<T>,
}

impl<'g, 'p, T: Real> Incoming<'g, 'p, T> {
    pub fn new(
        problem: &PathProblem<'p, T>,
        layout: &Layout,
        rows: &[Row],
        of_states: &'g [T],
        width: usize,
    ) -> Self {
        let n = problem.dim;
        let mut cursors = [Cursor::at_end(problem, rows[0]); MAX_WIDTH];
        let mut slices = [&of_states[..0]; MAX_WIDTH];
        for (l, row) in rows.iter().enumerate() {
            cursors[l] = Cursor::at_end(problem, *row);
            let first = row.sample * layout.all_requests();
            let [from, to] = [layout.request_offsets[row.series], layout.request_offsets[row.series + 1]];
            slices[l] = &of_states[(first + from) * n..(first + to) * n];
        }
        Self { cursors, of_states: slices, rows: rows.len(), sum: vec![T::zero(); n * width] }
    }

    /// Adds what comes in at grid index `j` to the cotangent `a`.
    #[inline(always)]
    pub fn add_at<V: Lanes<Real = T>>(&mut self, j: usize, a: &mut [V]) {
        let n = a.len();
        let mut any = false;
        for l in 0..self.rows {
            while let Some(request) = self.cursors[l].previous_at(j) {
                if !any {
                    self.sum.fill(T::zero());
                    any = true;
                }
                let incoming = &self.of_states[l][request * n..(request + 1) * n];
                for (sum, incoming) in self.sum.chunks_exact_mut(V::WIDTH).zip(incoming) {
                    sum[l] += *incoming;
                }
            }
        }
        if any {
            for (a, sum) in a.iter_mut().zip(self.sum.chunks_exact(V::WIDTH)) {
                *a = a.add(V::load(sum));
            }
        }
    }
}
