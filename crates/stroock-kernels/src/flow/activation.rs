//! What stands between the layers of a network.

use serde::{Deserialize, Serialize};
use stroock_geometry::Real;

use crate::simd::Lanes;

/// What stands between two layers of a [`Network`](super::Network).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// `x` where it is positive, `e^x - 1` elsewhere.
    Elu,
    /// `ln(1 + e^x)`.
    Softplus,
    /// `tanh x`.
    Tanh,
}

impl Activation {
    /// Takes sums to values.
    #[inline(always)]
    pub(super) fn apply<V: Lanes>(self, sums: &mut [V]) {
        match self {
            Activation::Elu => {
                for x in sums {
                    *x = elu(*x).0;
                }
            }
            Activation::Softplus => {
                for x in sums {
                    *x = softplus(*x);
                }
            }
            Activation::Tanh => {
                for x in sums {
                    *x = x.tanh();
                }
            }
        }
    }

    /// Takes sums to values, and writes the derivatives there.
    #[inline(always)]
    pub(super) fn apply_with_slopes<V: Lanes>(self, sums: &mut [V], slopes: &mut [V]) {
        match self {
            Activation::Elu => {
                for (x, slope) in sums.iter_mut().zip(slopes) {
                    (*x, *slope) = elu(*x);
                }
            }
            Activation::Softplus => {
                for (x, slope) in sums.iter_mut().zip(slopes) {
                    (*x, *slope) = softplus_with_slope(*x);
                }
            }
            Activation::Tanh => {
                let one = V::splat(V::Real::of(1.0));
                for (x, slope) in sums.iter_mut().zip(slopes) {
                    *x = x.tanh();
                    *slope = one.sub(x.mul(*x));
                }
            }
        }
    }
}

/// `max(x, 0) + e^min(x, 0) - 1`, whose second term is the slope.
#[inline(always)]
fn elu<V: Lanes>(x: V) -> (V, V) {
    let zero = V::zero();
    // Zero comes first: what is not a number passes.
    let below = zero.sub(zero.max(zero.sub(x)));
    let slope = below.exp();
    (zero.max(x).add(slope.sub(V::splat(V::Real::of(1.0)))), slope)
}

/// `max(x, 0) + ln(1 + e^-|x|)`.
#[inline(always)]
pub(super) fn softplus<V: Lanes>(x: V) -> V {
    V::zero().max(x).add(exp_minus_magnitude(x).ln_1p())
}

/// The same with its slope, the logistic function.
#[inline(always)]
pub(super) fn softplus_with_slope<V: Lanes>(x: V) -> (V, V) {
    let one = V::splat(V::Real::of(1.0));
    let u = exp_minus_magnitude(x);
    // e^-|x| / (1 + e^-|x|) below zero, 1 / (1 + e^-|x|) above, where u < 1.
    let above = x.where_greater(V::Real::of(0.0), one).max(u);
    (V::zero().max(x).add(u.ln_1p()), above.div(one.add(u)))
}

/// `e^-|x|`.
#[inline(always)]
fn exp_minus_magnitude<V: Lanes>(x: V) -> V {
    let minus = V::zero().sub(x);
    V::zero().sub(x.max(minus)).exp()
}
