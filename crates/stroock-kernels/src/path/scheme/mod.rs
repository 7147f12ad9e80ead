//! The schemes that take a path one step on, one file each.
//!
//! A scheme is a type that implements [`Method`], with a line in `schemes!` below.

mod exponential;
mod geometric_euler;
mod steered;
mod tangent_noise;

use super::space::{Geometry, OnSpace, Space};
use crate::simd::Lanes;
pub(super) use exponential::Terms;
use serde::{Deserialize, Serialize};

/// What moves the rows in the lanes over one step.
pub(super) struct Increment<'s, V: Lanes> {
    /// Drift, as many numbers as the scheme asks for.
    pub drift: &'s [V],
    /// Standard normals, as many as the scheme asks for.
    pub normals: &'s [V],
    /// Length of the step; 0 in lanes whose path has ended.
    pub dt: V,
    /// Its square root.
    pub sqrt_dt: V,
    /// Scale of the diffusion.
    pub sigma: V::Real,
}

/// A step that cannot be computed: the lane with the largest one.
pub(super) struct TooLarge {
    pub lane: usize,
    pub norm: f64,
    pub limit: f64,
}

/// A scheme, in lanes. `S` is the space; states stay in coordinates of the ambient one.
pub(super) trait Method: 'static {
    /// Whether [`Self::reverse`] undoes a step; its increment must not depend on the state then.
    const REVERSES: bool;

    /// Whether it needs the maps of [`Geometry::CONFORMAL`]; it is not compiled for spaces without them.
    const CONFORMAL: bool = false;

    /// Whether its drifts are vectors of the ambient space instead of elements of the Lie algebra.
    const AMBIENT_DRIFT: bool = false;

    /// Whether a drift is what is added to that of the prior, which then moves the path, too.
    const ADDS_TO_PRIOR: bool = false;

    /// Whether its loops call what all schemes need instead of compiling it in once more.
    const SHARED: bool = true;

    /// What it works in.
    type Work<V: Lanes>;

    /// Whether it has steps on the space.
    fn serves<S: Geometry>() -> bool;

    /// Normals of a step in ambient dimension `n`.
    fn normals<S: Geometry>(n: usize) -> usize;

    /// Numbers of a drift in ambient dimension `n`.
    fn drift_dim<S: Geometry>(n: usize) -> usize {
        if Self::AMBIENT_DRIFT { n } else { S::algebra_dim(n) }
    }

    /// For ambient dimension `n` and drifts of `m` numbers, with or without a prior that has a drift.
    fn work<V: Lanes>(n: usize, m: usize, with_prior: bool) -> Self::Work<V>;

    /// Prepares the step from `z`.
    fn increment<S: Geometry, V: Lanes>(
        work: &mut Self::Work<V>,
        increment: &Increment<'_, V>,
        z: &[V],
    ) -> Result<(), TooLarge>;

    /// Takes the prepared step from `z`.
    fn step<S: Geometry, V: Lanes>(work: &mut Self::Work<V>, terms: &Terms<V::Real>, z: &mut [V]);

    /// Takes the prepared step back.
    fn reverse<S: Geometry, V: Lanes>(work: &mut Self::Work<V>, terms: &Terms<V::Real>, z: &mut [V]);

    /// The adjoint of the prepared step from `z`: takes the cotangent `a` of the new state to that of `z`, adds that
    /// of the drift to `of_drift` (`[m]`, zeros) and returns that of the noise's scale `sigma sqrt(dt)`.
    fn pull_back<S: Geometry, V: Lanes>(
        work: &mut Self::Work<V>,
        terms: &Terms<V::Real>,
        increment: &Increment<'_, V>,
        z: &[V],
        a: &mut [V],
        of_drift: &mut [V],
    ) -> V;

    /// The velocity of the prepared step from `z` that the divergence weighs, for the excess `D` of the drift over that
    /// of the prior; provided: `D z`. A drift that [is added](Self::ADDS_TO_PRIOR) to that of the prior is the excess.
    #[inline(always)]
    fn velocity<S: Geometry, V: Lanes>(
        _: &mut Self::Work<V>,
        excess: &[V],
        _dt: V,
        z: &[V],
        velocity: &mut [V],
    ) {
        S::apply(excess, z, velocity);
    }

    /// Adds the cotangent of `z`, at the cotangent `p` of the velocity, to `a`; `scratch` is `[n]`.
    #[inline(always)]
    fn pull_back_velocity<S: Geometry, V: Lanes>(
        _: &mut Self::Work<V>,
        excess: &[V],
        _dt: V,
        p: &[V],
        scratch: &mut [V],
        a: &mut [V],
    ) {
        S::apply_transposed(excess, p, scratch);
        for (a, scratch) in a.iter_mut().zip(scratch) {
            *a = a.add(*scratch);
        }
    }

    /// Adds the cotangent of the excess to `of_excess`, at the cotangent `p` of the velocity that
    /// [`Self::pull_back_velocity`] was given last.
    #[inline(always)]
    fn accumulate_velocity<S: Geometry, V: Lanes>(
        _: &mut Self::Work<V>,
        _dt: V,
        p: &[V],
        z: &[V],
        of_excess: &mut [V],
    ) {
        S::accumulate(p, z, of_excess);
    }
}

/// Code that is compiled for every scheme.
pub(super) trait WithScheme {
    type Output;

    fn run<M: Method>(self) -> Self::Output;
}

macro_rules! schemes {
    ($($(#[$doc:meta])* $scheme:ident = $method:ty;)*) => {
        /// How a path is taken one step on; in configurations by its name, as in `geometric-euler`.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Scheme {
            $($(#[$doc])* $scheme,)*
        }

        impl Scheme {
            /// All schemes.
            pub const ALL: &'static [Scheme] = &[$(Scheme::$scheme),*];

            /// Whether a step can be taken back, as [`Memory::Reversible`](super::Memory::Reversible) asks for.
            pub fn reverses(self) -> bool {
                match self {
                    $(Scheme::$scheme => <$method>::REVERSES,)*
                }
            }

            #[inline(always)]
            pub(super) fn run<F: WithScheme>(self, code: F) -> F::Output {
                match self {
                    $(Scheme::$scheme => code.run::<$method>(),)*
                }
            }

            pub(super) fn serves<S: Geometry>(self) -> bool {
                match self {
                    $(Scheme::$scheme => <$method>::serves::<S>(),)*
                }
            }

            pub(super) fn normals<S: Geometry>(self, n: usize) -> usize {
                match self {
                    $(Scheme::$scheme => <$method>::normals::<S>(n),)*
                }
            }

            fn drift_dim<S: Geometry>(self, n: usize) -> usize {
                match self {
                    $(Scheme::$scheme => <$method>::drift_dim::<S>(n),)*
                }
            }

            /// Whether a drift is a vector of the ambient space instead of an element of the Lie algebra.
            pub fn is_steered(self) -> bool {
                match self {
                    $(Scheme::$scheme => <$method>::AMBIENT_DRIFT,)*
                }
            }
        }
    };
}

impl Scheme {
    /// Numbers of a drift on a space of ambient dimension `n`: `n` where paths are steered, the dimension of the Lie
    /// algebra elsewhere.
    pub fn drift_len(self, space: Space, n: usize) -> usize {
        space.run(DriftOf(self, n))
    }
}

/// Numbers of a drift of a scheme in an ambient dimension.
struct DriftOf(Scheme, usize);

impl OnSpace for DriftOf {
    type Output = usize;

    fn run<S: Geometry>(self) -> usize {
        self.0.drift_dim::<S>(self.1)
    }
}

schemes! {
    /// Geometric Euler-Maruyama: `z' = exp(K dt + sigma sqrt(dt) sum_k xi_k E_k) z` with noise in the whole Lie
    /// algebra, `m` normals a step. Steps can be taken back.
    #[default]
    GeometricEuler = geometric_euler::GeometricEuler;
    /// Geometric Euler-Maruyama with noise along the space alone: `z' = exp(K dt + sigma sqrt(dt) L(z, xi)) z`, where
    /// `L(z, xi) = sum_k <E_k, xi z^T> E_k / |z|` moves `z` along the tangent part of `xi`, `n` normals a step. The
    /// same process in the limit; steps depend on the state and cannot be taken back.
    TangentNoise = tangent_noise::TangentNoise;
    /// On the sphere, towards a moving target: the drift is a vector `b` of the ambient space, `n` numbers, that pulls
    /// by `b - <b, z> z`; its flow over a step is exact, and noise is along the sphere, `n` normals a step. A drift of the
    /// prior pulls, too: `b` is what is added to it. Steps cannot be taken back.
    Steered = steered::Steered;
}
