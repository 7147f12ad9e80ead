//! The unit sphere under rotations.

use stroock_geometry::Real;

use super::{Geometry, norm, norm_squared, skew};
use crate::simd::Lanes;
use crate::start::StartKind;

/// Skew-symmetric matrices move the points with `|z| = 1`, which is not computed.
pub(super) struct Sphere;

impl Geometry for Sphere {
    const LEAST_DIM: usize = 2;
    const BOUNDED: bool = true;
    const LIFTS: bool = true;
    const CONFORMAL: bool = true;
    const START: StartKind = StartKind::PowerSpherical;

    fn algebra_dim(n: usize) -> usize {
        skew::dim(n)
    }

    /// Wide enough for a start point normalised in single precision, or stored in half.
    fn in_words(n: usize) -> String {
        format!("sphere in R^{n}")
    }

    fn misfit(z: &[f64]) -> Option<String> {
        let norm = norm(z);
        let off = (norm - 1.0).abs() >= 1e-3 || norm.is_nan();
        off.then(|| format!("its norm is {norm}, not 1"))
    }

    #[inline(always)]
    fn apply<V: Lanes>(a: &[V], x: &[V], y: &mut [V]) {
        skew::apply(a, x, y);
    }

    #[inline(always)]
    fn apply_transposed<V: Lanes>(a: &[V], x: &[V], y: &mut [V]) {
        skew::apply(a, x, y);
        for y in y {
            *y = V::zero().sub(*y);
        }
    }

    #[inline(always)]
    fn accumulate<V: Lanes>(p: &[V], x: &[V], g: &mut [V]) {
        skew::accumulate(p, x, g);
    }

    #[inline(always)]
    fn weight<V: Lanes>(velocity: &[V], _: &[V]) -> V {
        norm_squared(velocity)
    }

    #[inline(always)]
    fn pull_back_weight<V: Lanes>(scale: V, _: V, velocity: &mut [V], _: &[V], _: &mut [V]) {
        for velocity in velocity {
            *velocity = velocity.mul(scale);
        }
    }

    #[inline(always)]
    fn unit<V: Lanes>(z: &[V], u: &mut [V]) {
        u.copy_from_slice(z);
    }

    #[inline(always)]
    fn pull_back_unit<V: Lanes>(_: &[V], _: &[V], p: &[V], a: &mut [V]) {
        for (a, p) in a.iter_mut().zip(p) {
            *a = a.add(*p);
        }
    }

    /// Back to `|z| = 1` by one step of Newton's method: the rounding of a step would otherwise add up over many
    /// thousands of them.
    #[inline(always)]
    fn project<V: Lanes>(z: &mut [V], dt: V) {
        let (half, one) = (V::splat(V::Real::of(-0.5)), V::splat(V::Real::of(1.0)));
        let factor = norm_squared(z).mul_add(half, V::splat(V::Real::of(1.5)));
        // Both operations are exact near 1.
        let factor = dt.where_greater(V::Real::of(0.0), factor.sub(one)).add(one);
        for z in z {
            *z = z.mul(factor);
        }
    }
}
