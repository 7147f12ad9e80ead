//! Homogeneous spaces of matrix Lie groups and distributions on them, in plain numbers.
//!
//! A matrix Lie group `G` in `GL(n)` acts on a space `M` in `R^n` by `z -> G z`. The process
//!
//! ```text
//! dZ = (V_0(t) dt + sum_i V_i dw^i) Z,    V_0 = K(t) + 1/2 sum_i V_i^2,    V_i = sigma E_i
//! ```
//!
//! stays on `M` when `K(t)` and the `E_i` lie in the Lie algebra of `G`. This crate has
//!
//! - the spaces: [`HomogeneousSpace`] with the instances [`Sphere`], [`Hyperbolic`], [`GeneralLinear`]
//!   and [`QuadraticGroup`];
//! - the distributions of start points: [`UniformSphere`] and [`PowerSpherical`], the latter with pathwise
//!   gradients in both of its parameters;
//! - a plain simulation of the process on any space: [`OnePointMotion`].
//!
//! Everything works in `f32` and `f64` ([`Real`]) and on slices. Fast batched kernels for training live in
//! `stroock-kernels`; they are tested against this crate.

pub mod distribution;
mod error;
mod one_point_motion;
mod quadrature;
mod real;
mod space;
mod special;

pub use distribution::{DistributionError, PowerSpherical, UniformSphere};
pub use error::{GeometryError, ensure_finite, ensure_length};
pub use one_point_motion::OnePointMotion;
pub use real::Real;
pub use space::{
    GeneralLinear, HomogeneousSpace, Hyperbolic, QuadraticGroup, Sphere, TaylorPlan, exponential_action,
    exponential_action_pullback,
};
