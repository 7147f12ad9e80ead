//! The spaces that paths live on, one file each.
//!
//! A space is a type that implements [`Geometry`], with a line in `spaces!` below. The loops are compiled once per
//! space and scheme and know neither by name.

mod general_linear;
mod hyperbolic;
mod skew;
mod sphere;

use serde::{Deserialize, Serialize};
use stroock_geometry::Real;

use crate::simd::Lanes;
use crate::start::StartKind;

/// What the path asks of a homogeneous space and of the Lie algebra of its group, with coefficients `a` (`[m]`)
/// over a basis `E_k`, in lanes.
pub(super) trait Geometry: 'static {
    /// Smallest ambient dimension.
    const LEAST_DIM: usize;

    /// Whether the coordinates of its points are bounded; elsewhere a path can leave the range of the numbers.
    const BOUNDED: bool;

    /// Whether `Sigma(u) / sigma^2 = sum_k E_k u u^T E_k^T` is a projection for every unit vector `u`: then a
    /// normal vector `xi` of the ambient space, lifted to `sum_k <E_k, xi u^T> E_k` at `u = z / |z|`, moves `z`
    /// with the covariance of the noise of the whole algebra.
    const LIFTS: bool;

    /// Whether its points are all unit vectors, on which the Möbius maps of the ball act.
    const CONFORMAL: bool = false;

    /// The distribution of its start points.
    const START: StartKind;

    /// Dimension `m` of the Lie algebra for ambient dimension `n`.
    fn algebra_dim(n: usize) -> usize;

    /// What it is, in words.
    fn in_words(n: usize) -> String;

    /// What is wrong with a start point, in a sentence; `None` on the space.
    fn misfit(z: &[f64]) -> Option<String>;

    /// `y = A x`.
    fn apply<V: Lanes>(a: &[V], x: &[V], y: &mut [V]);

    /// `y = A^T x`.
    fn apply_transposed<V: Lanes>(a: &[V], x: &[V], y: &mut [V]);

    /// `g_k += <E_k, p x^T>`: the adjoint of `A -> A x` at the cotangent `p`.
    fn accumulate<V: Lanes>(p: &[V], x: &[V], g: &mut [V]);

    /// The weight `sigma^2 v^T Sigma(z)^+ v` of the velocity `v = D z` in the divergence; provided:
    /// `|v|^2 / |z|^2`, for spaces that lift.
    #[inline(always)]
    fn weight<V: Lanes>(velocity: &[V], z: &[V]) -> V {
        norm_squared(velocity).div(norm_squared(z))
    }

    /// The adjoint of half the weight: takes `velocity` to `scale` times its derivative by the velocity, and adds
    /// that by the state to `a`. `weight` is what [`Self::weight`] gave.
    #[inline(always)]
    fn pull_back_weight<V: Lanes>(scale: V, weight: V, velocity: &mut [V], z: &[V], a: &mut [V]) {
        let scale = scale.div(norm_squared(z));
        let shrink = scale.mul(weight);
        for (a, z) in a.iter_mut().zip(z) {
            *a = shrink.neg_mul_add(*z, *a);
        }
        for velocity in velocity {
            *velocity = velocity.mul(scale);
        }
    }

    /// `u = z / |z|`, where noise is lifted; the space may know the length.
    #[inline(always)]
    fn unit<V: Lanes>(z: &[V], u: &mut [V]) {
        let inverse = V::splat(V::Real::of(1.0)).div(norm_squared(z).sqrt());
        for (u, z) in u.iter_mut().zip(z) {
            *u = z.mul(inverse);
        }
    }

    /// The adjoint of [`Self::unit`]: adds the cotangent `p` of `u`, taken to `z`, to `a`.
    #[inline(always)]
    fn pull_back_unit<V: Lanes>(z: &[V], u: &[V], p: &[V], a: &mut [V]) {
        let inverse = V::splat(V::Real::of(1.0)).div(norm_squared(z).sqrt());
        let along = dot(u, p);
        for i in 0..a.len() {
            a[i] = along.neg_mul_add(u[i], p[i]).mul_add(inverse, a[i]);
        }
    }

    /// Takes the rounding of a step away from `z`. Lanes with `dt = 0` have ended and must not move by a bit.
    fn project<V: Lanes>(z: &mut [V], dt: V);
}

/// Code that is compiled for every space.
pub(super) trait OnSpace {
    type Output;

    fn run<S: Geometry>(self) -> Self::Output;
}

macro_rules! spaces {
    ($($(#[$doc:meta])* $space:ident = $geometry:ty;)*) => {
        /// The homogeneous space and its group; in configurations by its name, as in `general-linear`.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Space {
            $($(#[$doc])* $space,)*
        }

        impl Space {
            /// All spaces.
            pub const ALL: &'static [Space] = &[$(Space::$space),*];

            /// Dimension `m` of the Lie algebra for ambient dimension `n`.
            pub fn algebra_dim(self, n: usize) -> usize {
                match self {
                    $(Space::$space => <$geometry>::algebra_dim(n),)*
                }
            }

            /// Smallest ambient dimension.
            pub fn least_dim(self) -> usize {
                match self {
                    $(Space::$space => <$geometry>::LEAST_DIM,)*
                }
            }

            /// In words, for ambient dimension `n`.
            pub fn in_words(self, n: usize) -> String {
                match self {
                    $(Space::$space => <$geometry>::in_words(n),)*
                }
            }

            /// What is wrong with a start point `z`, in a sentence; `None` on the space.
            pub fn misfit(self, z: &[f64]) -> Option<String> {
                match self {
                    $(Space::$space => <$geometry>::misfit(z),)*
                }
            }

            /// The distribution of start points.
            pub fn start(self) -> StartKind {
                match self {
                    $(Space::$space => <$geometry>::START,)*
                }
            }

            pub(super) fn bounded(self) -> bool {
                match self {
                    $(Space::$space => <$geometry>::BOUNDED,)*
                }
            }

            #[inline(always)]
            pub(super) fn run<F: OnSpace>(self, code: F) -> F::Output {
                match self {
                    $(Space::$space => code.run::<$geometry>(),)*
                }
            }
        }
    };
}

spaces! {
    /// The sphere `S^{n-1}` under `SO(n)`; `m = n (n-1) / 2` coefficients, strictly lower triangle row by row.
    #[default]
    Sphere = sphere::Sphere;
    /// `R^n` without the origin under `GL(n)`; `m = n^2` coefficients, row by row.
    GeneralLinear = general_linear::GeneralLinear;
    /// Hyperbolic space, `z_0^2 - |x|^2 = 1` with `z_0 > 0` for `z = (z_0, x)`, under `SO(1, n-1)`; `m = n (n-1) / 2`
    /// coefficients of a skew `S`, strictly lower triangle row by row, stand for `diag(-1, 1, .., 1) S`: column 0
    /// boosts, the others rotate.
    Hyperbolic = hyperbolic::Hyperbolic;
}

#[inline(always)]
pub(super) fn norm_squared<V: Lanes>(x: &[V]) -> V {
    let mut sum = V::zero();
    for x in x {
        sum = x.mul_add(*x, sum);
    }
    sum
}

#[inline(always)]
pub(super) fn dot<V: Lanes>(x: &[V], y: &[V]) -> V {
    let mut sum = V::zero();
    for (x, y) in x.iter().zip(y) {
        sum = x.mul_add(*y, sum);
    }
    sum
}

fn norm(z: &[f64]) -> f64 {
    z.iter().map(|x| x * x).sum::<f64>().sqrt()
}
