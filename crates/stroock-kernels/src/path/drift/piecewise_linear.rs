//! A drift that is linear in time between knots.

use stroock_geometry::Real;

use super::{Described, Extents, InLanes, Role, argument};
use crate::argument::{check_finite, check_length};
use crate::path::layout::{Layout, check_offsets, check_times};
use crate::path::rows::Row;
use crate::path::times::Times;
use crate::path::{Grid, PathError};
use crate::simd::{Lanes, MAX_WIDTH};

/// `K(t)` between knots `t_i <= t <= t_{i+1}` is the straight line from `K_i` to `K_{i+1}`; before the first knot and
/// after the last it is constant.
#[derive(Clone, Copy, Debug)]
pub struct PiecewiseLinear<'a, T> {
    /// Times of the knots, increasing: one list for all series, or one for each.
    pub knots: Grid<'a, T>,
    /// `[B, knots, m]`, or series after series where each has knots of its own.
    pub coefficients: &'a [T],
}

impl<'p, T: Real> PiecewiseLinear<'p, T> {
    /// Knots of all series before series `b`.
    fn offset(&self, series: usize) -> usize {
        match self.knots {
            Grid::Shared(times) => series * times.len(),
            Grid::PerSeries { offsets, .. } => offsets[series],
        }
    }
}

impl<'p, T: Real> Described<'p, T> for PiecewiseLinear<'p, T> {
    type InLanes<V: Lanes<Real = T>> = PiecewiseLinearInLanes<'p, V>;

    fn check(&self, role: Role, Extents { series, m, .. }: Extents<'_>) -> Result<(), PathError> {
        match self.knots {
            Grid::Shared(times) => check_times(argument!(role, "knots"), 0, times)?,
            Grid::PerSeries { offsets, times } => {
                let [of_offsets, of_times] =
                    [argument!(role, "knots.offsets"), argument!(role, "knots.times")];
                check_offsets(of_offsets, offsets, series, times.len(), of_times)?;
                for (b, run) in offsets.windows(2).enumerate() {
                    check_times(argument!(role, "knots"), b, &times[run[0]..run[1]])?;
                }
            }
        }
        let expected = self.offset(series).saturating_mul(m);
        let name = argument!(role, "coefficients");
        check_length(name, "[series, knots, m]", expected, self.coefficients.len())?;
        Ok(check_finite(name, self.coefficients)?)
    }

    fn extent(&self, series: usize, layout: &Layout) -> usize {
        (self.offset(series + 1) - self.offset(series)) * layout.m
    }

    #[inline(always)]
    fn in_lanes<V: Lanes<Real = T>>(
        &self,
        rows: &[Row; MAX_WIDTH],
        layout: &Layout,
    ) -> PiecewiseLinearInLanes<'p, V> {
        let m = layout.m;
        let [mut knots, mut coefficients] = [[&[][..]; MAX_WIDTH]; 2];
        for l in 0..V::WIDTH {
            let series = rows[l].series;
            knots[l] = self.knots.of_series(series);
            coefficients[l] = &self.coefficients[self.offset(series) * m..self.offset(series + 1) * m];
        }
        let zeros = || vec![V::zero(); m];
        let flat = || vec![T::zero(); m * V::WIDTH];
        PiecewiseLinearInLanes {
            knots,
            coefficients,
            segments: [usize::MAX; MAX_WIDTH],
            ends: [flat(), flat()],
            weight: V::zero(),
            value: zeros(),
            of_value: zeros(),
            of_ends: [flat(), flat()],
            of_segments: [None; MAX_WIDTH],
        }
    }
}

pub(in crate::path) struct PiecewiseLinearInLanes<'p, V: Lanes> {
    knots: [&'p [V::Real]; MAX_WIDTH],
    coefficients: [&'p [V::Real]; MAX_WIDTH],
    /// The knot at the left end of each lane's segment.
    segments: [usize; MAX_WIDTH],
    /// Coefficients at the left and the right ends, `[m, lanes]`: a lane is read again when its segment changes.
    ends: [Vec<V::Real>; 2],
    /// How far the time lies in the segment, from 0 to 1.
    weight: V,
    value: Vec<V>,
    of_value: Vec<V>,
    /// Cotangents of the ends of `of_segments`; a lane goes to the gradient when its segment changes.
    of_ends: [Vec<V::Real>; 2],
    of_segments: [Option<usize>; MAX_WIDTH],
}

impl<V: Lanes> PiecewiseLinearInLanes<'_, V> {
    /// Adds what a lane has gathered at the ends of its segment to the gradient of its row.
    #[inline(always)]
    fn flush(&mut self, lane: usize, out: &mut [V::Real]) {
        let m = self.value.len();
        let Some(segment) = self.of_segments[lane] else { return };
        for (side, of_end) in self.of_ends.iter_mut().enumerate() {
            // A single knot is both ends.
            let knot = (segment + side).min(self.knots[lane].len() - 1);
            for (out, lanes) in
                out[knot * m..(knot + 1) * m].iter_mut().zip(of_end.chunks_exact_mut(V::WIDTH))
            {
                *out += lanes[lane];
                lanes[lane] = V::Real::of(0.0);
            }
        }
    }

    /// The segment of a lane at a time and the place in it.
    #[inline(always)]
    fn locate(&self, lane: usize, time: V::Real) -> (usize, V::Real) {
        let knots = self.knots[lane];
        let (zero, one) = (V::Real::of(0.0), V::Real::of(1.0));
        if knots.len() == 1 {
            return (0, zero);
        }
        let last = knots.len() - 2;
        // Steps of a path are taken in order: the segment is that of the step before or next to it.
        let mut segment = self.segments[lane].min(last);
        while segment < last && time >= knots[segment + 1] {
            segment += 1;
        }
        while segment > 0 && time < knots[segment] {
            segment -= 1;
        }
        let weight = (time - knots[segment]) / (knots[segment + 1] - knots[segment]);
        (segment, if weight > zero { if weight < one { weight } else { one } } else { zero })
    }
}

impl<V: Lanes> InLanes<V> for PiecewiseLinearInLanes<'_, V> {
    #[inline(always)]
    fn prepare(&mut self, j: usize, times: &Times<'_, V>, _: &[V]) {
        let m = self.value.len();
        let [mut now, mut weights] = [[V::Real::of(0.0); MAX_WIDTH]; 2];
        times.at(j).store(&mut now);
        for l in 0..V::WIDTH {
            let (segment, weight) = self.locate(l, now[l]);
            weights[l] = weight;
            if segment == self.segments[l] {
                continue;
            }
            self.segments[l] = segment;
            for (side, end) in self.ends.iter_mut().enumerate() {
                let knot = (segment + side).min(self.knots[l].len() - 1);
                let from = &self.coefficients[l][knot * m..(knot + 1) * m];
                for (lanes, from) in end.chunks_exact_mut(V::WIDTH).zip(from) {
                    lanes[l] = *from;
                }
            }
        }
        self.weight = V::load(&weights);
        let rest = V::splat(V::Real::of(1.0)).sub(self.weight);
        let ends = self.ends[0].chunks_exact(V::WIDTH).zip(self.ends[1].chunks_exact(V::WIDTH));
        for (value, (left, right)) in self.value.iter_mut().zip(ends) {
            *value = V::load(right).mul_add(self.weight, V::load(left).mul(rest));
        }
    }

    #[inline(always)]
    fn value(&self) -> &[V] {
        &self.value
    }

    #[inline(always)]
    fn cotangent(&mut self) -> &mut [V] {
        &mut self.of_value
    }

    #[inline(always)]
    fn pull_back(&mut self, _: usize, _: &[V], _: &mut [V], out: &mut [&mut [V::Real]]) {
        for (l, out) in out.iter_mut().enumerate() {
            if self.of_segments[l] != Some(self.segments[l]) {
                self.flush(l, out);
                self.of_segments[l] = Some(self.segments[l]);
            }
        }
        let weights = [V::splat(V::Real::of(1.0)).sub(self.weight), self.weight];
        for (of_end, weight) in self.of_ends.iter_mut().zip(weights) {
            for (of_end, of_value) in of_end.chunks_exact_mut(V::WIDTH).zip(&self.of_value) {
                of_value.mul_add(weight, V::load(of_end)).store(of_end);
            }
        }
    }

    #[inline(always)]
    fn finish(&mut self, out: &mut [&mut [V::Real]]) {
        for (l, out) in out.iter_mut().enumerate() {
            self.flush(l, out);
        }
    }
}
