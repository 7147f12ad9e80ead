//! The contexts of a group of rows, in lanes.

use stroock_geometry::Real;

use super::problem::{FlowProblem, Layout};
use crate::path::Row;
use crate::simd::{Lanes, MAX_WIDTH};

/// The context of every lane at the current step.
pub(super) struct Contexts<'p, V: Lanes> {
    width: usize,
    /// All contexts, `[N, C]`.
    values: &'p [V::Real],
    /// The first context of the series in a lane.
    first: [usize; MAX_WIDTH],
    /// The context of every step of the series in a lane; empty where it has one alone.
    of_step: [&'p [usize]; MAX_WIDTH],
    current: Option<[usize; MAX_WIDTH]>,
    /// The current ones in lanes, `[C]`.
    lanes: Vec<V>,
}

impl<'p, V: Lanes> Contexts<'p, V> {
    #[inline(always)]
    pub fn new(problem: &FlowProblem<'p, V::Real>, layout: &'p Layout, rows: &[Row; MAX_WIDTH]) -> Self {
        let (mut first, mut of_step) = ([0; MAX_WIDTH], [&layout.context_of_step[..0]; MAX_WIDTH]);
        for (l, row) in rows.iter().enumerate() {
            first[l] = layout.context_offsets[row.series];
            if !layout.context_of_step.is_empty() {
                let [from, to] = [layout.step_offsets[row.series], layout.step_offsets[row.series + 1]];
                of_step[l] = &layout.context_of_step[from..to];
            }
        }
        let width = problem.context.width();
        let lanes = vec![V::zero(); width];
        Self { width, values: problem.context.values(), first, of_step, current: None, lanes }
    }

    /// The contexts of step `j`; those of its last step in lanes whose path has ended.
    #[inline(always)]
    fn at(&self, j: usize) -> [usize; MAX_WIDTH] {
        let mut rows = self.first;
        for (row, of_step) in rows.iter_mut().zip(&self.of_step) {
            if let Some(last) = of_step.len().checked_sub(1) {
                *row = of_step[j.min(last)];
            }
        }
        rows
    }

    /// Whether step `j` has other contexts than the current ones: the current ones, and 1 in the lanes that leave them.
    #[inline(always)]
    pub fn leaving(&self, j: usize) -> Option<([usize; MAX_WIDTH], [V::Real; MAX_WIDTH])> {
        let (current, next) = (self.current?, self.at(j));
        let mut leaving = [V::Real::of(0.0); MAX_WIDTH];
        let mut any = false;
        for l in 0..V::WIDTH {
            if current[l] != next[l] {
                leaving[l] = V::Real::of(1.0);
                any = true;
            }
        }
        any.then_some((current, leaving))
    }

    /// The contexts of the lanes, where there are any.
    #[inline(always)]
    pub fn current(&self) -> Option<[usize; MAX_WIDTH]> {
        self.current
    }

    /// Moves to step `j`. Whether the contexts, `lanes`, are others than before.
    #[inline(always)]
    pub fn move_to(&mut self, j: usize) -> bool {
        if self.width == 0 {
            return false;
        }
        let next = self.at(j);
        if self.current == Some(next) {
            return false;
        }
        self.current = Some(next);
        let mut numbers = [V::Real::of(0.0); MAX_WIDTH];
        for (k, lanes) in self.lanes.iter_mut().enumerate() {
            for (number, row) in numbers.iter_mut().zip(next) {
                *number = self.values[row * self.width + k];
            }
            *lanes = V::load(&numbers);
        }
        true
    }

    /// The current contexts, `[C]`.
    #[inline(always)]
    pub fn lanes(&self) -> &[V] {
        &self.lanes
    }

    /// The first context of the series in lane `l`.
    #[inline(always)]
    pub fn first(&self, l: usize) -> usize {
        self.first[l]
    }
}
