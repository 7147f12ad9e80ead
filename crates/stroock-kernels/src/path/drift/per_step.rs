//! A drift given for every step.

use stroock_geometry::Real;

use super::{Described, Extents, InLanes, Role, argument, gather, unpack_lane};
use crate::argument::{check_finite, check_length};
use crate::path::PathError;
use crate::path::layout::Layout;
use crate::path::rows::Row;
use crate::path::times::Times;
use crate::simd::{Lanes, MAX_WIDTH};

/// The drift at the start of every step: `[B, T, m]`, or series after series on grids of their own.
#[derive(Clone, Copy, Debug)]
pub struct PerStep<'a, T>(
    /// The values.
    pub &'a [T],
);

impl<'p, T: Real> Described<'p, T> for PerStep<'p, T> {
    type InLanes<V: Lanes<Real = T>> = PerStepInLanes<'p, V>;

    fn check(&self, role: Role, extents: Extents<'_>) -> Result<(), PathError> {
        let expected = extents.step_offsets[extents.series] * extents.m;
        check_length(argument!(role), "[series, steps, m]", expected, self.0.len())?;
        Ok(check_finite(argument!(role), self.0)?)
    }

    fn extent(&self, series: usize, layout: &Layout) -> usize {
        layout.m * layout.steps(series)
    }

    #[inline(always)]
    fn in_lanes<V: Lanes<Real = T>>(
        &self,
        rows: &[Row; MAX_WIDTH],
        layout: &Layout,
    ) -> PerStepInLanes<'p, V> {
        let m = layout.m;
        let mut slices = [&[][..]; MAX_WIDTH];
        for (slice, row) in slices.iter_mut().zip(rows) {
            let [from, to] = [layout.step_offsets[row.series], layout.step_offsets[row.series + 1]];
            *slice = &self.0[from * m..to * m];
        }
        PerStepInLanes { slices, value: vec![V::zero(); m], of_value: vec![V::zero(); m] }
    }
}

pub(in crate::path) struct PerStepInLanes<'p, V: Lanes> {
    slices: [&'p [V::Real]; MAX_WIDTH],
    value: Vec<V>,
    of_value: Vec<V>,
}

impl<V: Lanes> InLanes<V> for PerStepInLanes<'_, V> {
    #[inline(always)]
    fn prepare(&mut self, j: usize, _: &Times<'_, V>, _: &[V]) {
        gather(&self.slices, j * self.value.len(), &mut self.value);
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
    fn pull_back(&mut self, j: usize, _: &[V], _: &mut [V], out: &mut [&mut [V::Real]]) {
        let m = self.of_value.len();
        for (l, out) in out.iter_mut().enumerate() {
            // A row that has ended has no such step.
            if let Some(out) = out.get_mut(j * m..(j + 1) * m) {
                unpack_lane(&self.of_value, l, out);
            }
        }
    }

    #[inline(always)]
    fn finish(&mut self, _: &mut [&mut [V::Real]]) {}
}
