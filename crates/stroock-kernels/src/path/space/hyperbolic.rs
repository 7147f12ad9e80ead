//! Hyperbolic space in the Lorentz model under boosts and rotations.
//!
//! With `J = diag(-1, 1, .., 1)` the algebra is `A = J S` for skew `S`. From `E_k z = J (z_j e_i - z_i e_j)`,
//! `Sigma(z) = sigma^2 (|z|^2 I - (J z)(J z)^T)` with the Euclidean `|z|^2 = 2 z_0^2 - 1`: `|z|^2` times the projection
//! across `J z`. The velocity `J S z` is orthogonal to `J z`, so its weight in the divergence is `|J S z|^2 / |z|^2`,
//! smooth everywhere.

use stroock_geometry::Real;

use super::{Geometry, norm, norm_squared, skew};
use crate::simd::Lanes;
use crate::start::StartKind;

/// `J S` moves the points with `z_0^2 - |x|^2 = 1`, `z_0 > 0`.
pub(super) struct Hyperbolic;

impl Geometry for Hyperbolic {
    const LEAST_DIM: usize = 2;
    const BOUNDED: bool = false;
    const LIFTS: bool = true;
    const START: StartKind = StartKind::WrappedNormal;

    fn algebra_dim(n: usize) -> usize {
        skew::dim(n)
    }

    fn in_words(n: usize) -> String {
        format!("hyperbolic space in R^{n}, under SO(1, {})", n - 1)
    }

    fn misfit(z: &[f64]) -> Option<String> {
        let expected = norm(&z[1..]).hypot(1.0);
        let off = (z[0] - expected).abs() >= 1e-3 * expected || z[0].is_nan();
        off.then(|| format!("its first coordinate is {}, but the others ask for {expected}", z[0]))
    }

    /// The norm of `J S` is that of `S`: what bounds a step on the sphere bounds it here.
    #[inline(always)]
    fn apply<V: Lanes>(a: &[V], x: &[V], y: &mut [V]) {
        skew::apply(a, x, y);
        y[0] = V::zero().sub(y[0]);
    }

    /// `A^T x = -S J x`.
    #[inline(always)]
    fn apply_transposed<V: Lanes>(a: &[V], x: &[V], y: &mut [V]) {
        skew::apply(a, x, y);
        // S J x = S x - 2 x_0 S e_0, and S e_0 is column 0.
        let twice = x[0].add(x[0]);
        let mut k = 0;
        for i in 1..y.len() {
            y[i] = twice.neg_mul_add(a[k], y[i]);
            k += i;
        }
        for y in y {
            *y = V::zero().sub(*y);
        }
    }

    #[inline(always)]
    fn accumulate<V: Lanes>(p: &[V], x: &[V], g: &mut [V]) {
        // skew(J p, x) = skew(p, x) + 2 p_0 x in column 0.
        skew::accumulate(p, x, g);
        let twice = p[0].add(p[0]);
        let mut k = 0;
        for i in 1..x.len() {
            g[k] = twice.mul_add(x[i], g[k]);
            k += i;
        }
    }

    /// `z_0 = sqrt(1 + |x|^2)`.
    #[inline(always)]
    fn project<V: Lanes>(z: &mut [V], dt: V) {
        let first = norm_squared(&z[1..]).add(V::splat(V::Real::of(1.0))).sqrt();
        z[0] = dt.where_greater(V::Real::of(0.0), first.sub(z[0])).add(z[0]);
    }
}
