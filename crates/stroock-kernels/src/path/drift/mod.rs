//! The drifts `K(t, z)` of a path and of its prior, one file each.
//!
//! A drift is a type with its arguments that implements [`Described`], one with its values in lanes that implements
//! [`InLanes`], and a line in `drifts!` below. It sees the time and the state; the cotangent of its value goes to its
//! arguments and to the state. Values are computed behind a call of their own, so that the loops over a path are
//! compiled once for all drifts.

mod attractor;
mod chebyshev;
mod per_step;
mod piecewise_linear;

pub use attractor::Attractor;
pub use chebyshev::Chebyshev;
pub use per_step::PerStep;
pub use piecewise_linear::PiecewiseLinear;

use stroock_geometry::Real;

use super::PathError;
use super::layout::Layout;
use super::rows::Row;
use super::times::Times;
use crate::simd::{LaneKernel, Lanes, MAX_WIDTH};

/// Whose drift it is: the names of its arguments in errors.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    Posterior,
    Prior,
}

/// `role.argument`, for errors.
macro_rules! argument {
    ($role:expr) => {
        match $role {
            $crate::path::drift::Role::Posterior => "drift",
            $crate::path::drift::Role::Prior => "prior",
        }
    };
    ($role:expr, $field:literal) => {
        match $role {
            $crate::path::drift::Role::Posterior => concat!("drift.", $field),
            $crate::path::drift::Role::Prior => concat!("prior.", $field),
        }
    };
}
pub(super) use argument;

/// The extents that the arguments of a drift must fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extents<'a> {
    /// Number of series `B`.
    pub series: usize,
    /// Numbers of a value.
    pub m: usize,
    /// `[B + 1]`: steps of all series before series `b`.
    pub step_offsets: &'a [usize],
}

/// The arguments of a drift.
pub(super) trait Described<'p, T: Real> {
    /// Its values in lanes.
    type InLanes<V: Lanes<Real = T>>: InLanes<V>;

    /// Checks the arguments.
    fn check(&self, role: Role, extents: Extents<'_>) -> Result<(), PathError>;

    /// How many coefficients belong to a series: the extent of its gradient.
    fn extent(&self, series: usize, layout: &Layout) -> usize;

    /// For the rows in the lanes.
    fn in_lanes<V: Lanes<Real = T>>(&self, rows: &[Row; MAX_WIDTH], layout: &Layout) -> Self::InLanes<V>;
}

/// The values of a drift for the rows in the lanes.
pub(super) trait InLanes<V: Lanes> {
    /// Computes the value at step `j` from the state `z`.
    fn prepare(&mut self, j: usize, times: &Times<'_, V>, z: &[V]);

    /// Moves to step `j` if its value is known already.
    #[inline(always)]
    fn recall(&mut self, _j: usize) -> bool {
        false
    }

    /// The value at the step, `[m]`.
    fn value(&self) -> &[V];

    /// Where the cotangent of the value at the step is summed, `[m]`.
    fn cotangent(&mut self) -> &mut [V];

    /// Whether the cotangent at step `j` is left for later.
    #[inline(always)]
    fn defers(&self, _j: usize) -> bool {
        false
    }

    /// Takes the cotangent of the value at step `j` to the coefficients, of which `out` has the gradients by row, and
    /// adds that of the state to `of_state`.
    fn pull_back(&mut self, j: usize, z: &[V], of_state: &mut [V], out: &mut [&mut [V::Real]]);

    /// Writes what is not in `out` yet.
    fn finish(&mut self, out: &mut [&mut [V::Real]]);
}

macro_rules! drifts {
    ($($(#[$doc:meta])* $drift:ident;)*) => {
        /// The drift `K(t, z)` in coefficients over the basis of the Lie algebra.
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        pub enum Drift<'a, T> {
            $($(#[$doc])* $drift($drift<'a, T>),)*
        }

        $(impl<'a, T> From<$drift<'a, T>> for Drift<'a, T> {
            fn from(drift: $drift<'a, T>) -> Self {
                Drift::$drift(drift)
            }
        })*

        /// Any drift, in lanes.
        #[allow(clippy::large_enum_variant, reason = "there is one for each group of rows")]
        pub(super) enum AnyInLanes<'p, V: Lanes> {
            $($drift(<$drift<'p, V::Real> as Described<'p, V::Real>>::InLanes<V>),)*
        }

        impl<'p, T: Real> Described<'p, T> for Drift<'p, T> {
            type InLanes<V: Lanes<Real = T>> = AnyInLanes<'p, V>;

            fn check(&self, role: Role, extents: Extents<'_>) -> Result<(), PathError> {
                match self {
                    $(Drift::$drift(drift) => drift.check(role, extents),)*
                }
            }

            fn extent(&self, series: usize, layout: &Layout) -> usize {
                match self {
                    $(Drift::$drift(drift) => drift.extent(series, layout),)*
                }
            }

            #[inline(always)]
            fn in_lanes<V: Lanes<Real = T>>(&self, rows: &[Row; MAX_WIDTH], layout: &Layout) -> AnyInLanes<'p, V> {
                match self {
                    $(Drift::$drift(drift) => AnyInLanes::$drift(drift.in_lanes(rows, layout)),)*
                }
            }
        }

        impl<V: Lanes> InLanes<V> for AnyInLanes<'_, V> {
            #[inline(always)]
            fn prepare(&mut self, j: usize, times: &Times<'_, V>, z: &[V]) {
                match self {
                    $(AnyInLanes::$drift(drift) => {
                        if !drift.recall(j) {
                            V::call(Prepare { drift, j, times, z });
                        }
                    })*
                }
            }

            #[inline(always)]
            fn value(&self) -> &[V] {
                match self {
                    $(AnyInLanes::$drift(drift) => drift.value(),)*
                }
            }

            #[inline(always)]
            fn cotangent(&mut self) -> &mut [V] {
                match self {
                    $(AnyInLanes::$drift(drift) => drift.cotangent(),)*
                }
            }

            #[inline(always)]
            fn pull_back(&mut self, j: usize, z: &[V], of_state: &mut [V], out: &mut [&mut [V::Real]]) {
                match self {
                    $(AnyInLanes::$drift(drift) => {
                        if !drift.defers(j) {
                            V::call(PullBack { drift, j, z, of_state, out });
                        }
                    })*
                }
            }

            #[inline(always)]
            fn finish(&mut self, out: &mut [&mut [V::Real]]) {
                match self {
                    $(AnyInLanes::$drift(drift) => drift.finish(out),)*
                }
            }
        }
    };
}

drifts! {
    /// Chebyshev polynomials of time.
    Chebyshev;
    /// A value for every step.
    PerStep;
    /// Straight lines between knots in time.
    PiecewiseLinear;
    /// The same at all times, for paths that are steered: attracting points and cycles.
    Attractor;
}

impl<V: Lanes> AnyInLanes<'_, V> {
    /// The cotangent at the step, from zero.
    #[inline(always)]
    pub fn fresh_cotangent(&mut self) -> &mut [V] {
        let sum = self.cotangent();
        for g in sum.iter_mut() {
            *g = V::zero();
        }
        sum
    }
}

/// A call of [`InLanes::prepare`].
struct Prepare<'c, 'p, V: Lanes, D> {
    drift: &'c mut D,
    j: usize,
    times: &'c Times<'p, V>,
    z: &'c [V],
}

impl<V: Lanes, D: InLanes<V>> LaneKernel for Prepare<'_, '_, V, D> {
    #[inline(always)]
    fn run(self) {
        self.drift.prepare(self.j, self.times, self.z);
    }
}

/// A call of [`InLanes::pull_back`].
struct PullBack<'c, 'o, V: Lanes, D> {
    drift: &'c mut D,
    j: usize,
    z: &'c [V],
    of_state: &'c mut [V],
    out: &'c mut [&'o mut [V::Real]],
}

impl<V: Lanes, D: InLanes<V>> LaneKernel for PullBack<'_, '_, V, D> {
    #[inline(always)]
    fn run(self) {
        self.drift.pull_back(self.j, self.z, self.of_state, self.out);
    }
}

/// Lane `l` of `out[i]` becomes `slices[l][from + i]`; a lane whose slice has ended repeats its last entries.
#[inline(always)]
pub(super) fn gather<V: Lanes>(slices: &[&[V::Real]; MAX_WIDTH], from: usize, out: &mut [V]) {
    let mut sources = *slices;
    for source in &mut sources[..V::WIDTH] {
        let from = from.min(source.len().saturating_sub(out.len()));
        *source = &source[from..];
    }
    let mut lanes = [V::Real::of(0.0); MAX_WIDTH];
    for (i, out) in out.iter_mut().enumerate() {
        for l in 0..V::WIDTH {
            lanes[l] = sources[l].get(i).copied().unwrap_or_default();
        }
        *out = V::load(&lanes);
    }
}

/// Writes one lane of `from` to `to`.
#[inline(always)]
pub(crate) fn unpack_lane<V: Lanes>(from: &[V], lane: usize, to: &mut [V::Real]) {
    let mut lanes = [V::Real::of(0.0); MAX_WIDTH];
    for (from, to) in from.iter().zip(to) {
        from.store(&mut lanes);
        *to = lanes[lane];
    }
}
