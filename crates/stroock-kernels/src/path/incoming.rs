//! Gradients with respect to the requested states, as the backward pass meets them.

use stroock_geometry::Real;

use super::problem::Requests;
use super::rows::{Cursor, Row};
use crate::simd::{Lanes, MAX_WIDTH};

/// Gradients that come in at the requested states.
pub(crate) struct Incoming<'g, 'p, T> {
    cursors: [Cursor<'p>; MAX_WIDTH],
    of_states: [&'g [T]; MAX_WIDTH],
    rows: usize,
    /// What comes in at one grid index, `[n, lanes]`.
    sum: Vec<T>,
}

impl<'g, 'p, T: Real> Incoming<'g, 'p, T> {
    /// Of states of dimension `n`, of which `request_offsets` (`[B + 1]`) are asked for, in vectors of `width` lanes.
    pub fn new(
        requests: Requests<'p>,
        request_offsets: &[usize],
        n: usize,
        rows: &[Row],
        of_states: &'g [T],
        width: usize,
    ) -> Self {
        let all_requests = request_offsets[request_offsets.len() - 1];
        let mut cursors = [Cursor::at_end(requests, rows[0]); MAX_WIDTH];
        let mut slices = [&of_states[..0]; MAX_WIDTH];
        for (l, row) in rows.iter().enumerate() {
            cursors[l] = Cursor::at_end(requests, *row);
            let first = row.sample * all_requests;
            let [from, to] = [request_offsets[row.series], request_offsets[row.series + 1]];
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
