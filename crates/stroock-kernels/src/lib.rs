//! Fused forward and backward loops for latent SDEs on homogeneous spaces, over plain slices.
//!
//! - [`path`]: paths by the geometric Euler-Maruyama scheme, their divergence, and the adjoint of both;
//! - [`noise`]: random numbers as a function of their place;
//! - [`simd`]: several series in the lanes of a vector register, with the instruction set of the running
//!   processor.
//!
//! Results do not depend on the number of threads or on how a batch is split, to the last bit.

pub mod noise;
pub mod path;
pub mod simd;
