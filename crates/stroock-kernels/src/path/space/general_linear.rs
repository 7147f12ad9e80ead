//! `R^n` without the origin under all invertible matrices.

use super::{Geometry, norm};
use crate::simd::Lanes;
use crate::start::StartKind;

/// All matrices, row by row.
pub(super) struct GeneralLinear;

impl Geometry for GeneralLinear {
    const LEAST_DIM: usize = 1;
    const BOUNDED: bool = false;
    const LIFTS: bool = true;
    const START: StartKind = StartKind::PowerSpherical;

    fn algebra_dim(n: usize) -> usize {
        n * n
    }

    fn in_words(n: usize) -> String {
        format!("R^{n} without the origin, under GL({n})")
    }

    fn misfit(z: &[f64]) -> Option<String> {
        (norm(z) == 0.0).then(|| "it is the origin".to_owned())
    }

    #[inline(always)]
    fn apply<V: Lanes>(a: &[V], x: &[V], y: &mut [V]) {
        for (row, y) in a.chunks_exact(x.len()).zip(y) {
            let mut sum = V::zero();
            for (a, x) in row.iter().zip(x) {
                sum = a.mul_add(*x, sum);
            }
            *y = sum;
        }
    }

    #[inline(always)]
    fn apply_transposed<V: Lanes>(a: &[V], x: &[V], y: &mut [V]) {
        for y in y.iter_mut() {
            *y = V::zero();
        }
        for (row, x) in a.chunks_exact(x.len()).zip(x) {
            for (a, y) in row.iter().zip(y.iter_mut()) {
                *y = a.mul_add(*x, *y);
            }
        }
    }

    #[inline(always)]
    fn accumulate<V: Lanes>(p: &[V], x: &[V], g: &mut [V]) {
        for (row, p) in g.chunks_exact_mut(x.len()).zip(p) {
            for (g, x) in row.iter_mut().zip(x) {
                *g = p.mul_add(*x, *g);
            }
        }
    }

    #[inline(always)]
    fn project<V: Lanes>(_: &mut [V], _: V) {}
}
