//! Fused forward and backward loops for latent SDEs on homogeneous spaces, over plain slices.
//!
//! - [`path`]: paths by the geometric Euler-Maruyama scheme, their divergence, and the adjoint of both;
//! - [`start`]: start points and their pathwise gradients;
//! - [`moebius`]: processes on the sphere with marginals in closed form, without simulation;
//! - [`flow`]: paths in `R^n` whose drift is a small network, with or without noise;
//! - [`attention`]: attention over the observed entries of ragged series;
//! - [`gru`]: the gated recurrent unit over sequences of any lengths;
//! - [`kalman`]: the filter of continuous recurrent units over ragged series;
//! - [`mixing`]: mixtures of rows by weights of ragged queries;
//! - [`s5`]: diagonal complex linear recurrences with a gap before every step;
//! - [`network`]: convolutions of small images, with pooling and group normalisation, all layers in one piece;
//! - [`argument`]: what all of them ask of their arguments;
//! - [`noise`]: random numbers as a function of their place;
//! - [`simd`]: several series in the lanes of a vector register, with the instruction set of the running
//!   processor.
//!
//! Results do not depend on the number of threads, to the last bit, and what belongs to one series does not
//! depend on how a batch is split. Gradients of shared weights are sums over the batch in a fixed order.

#![allow(
    clippy::needless_range_loop,
    reason = "loops over lanes and short arrays read best by index, and vector arithmetic must stay out of closures"
)]

pub mod argument;
pub mod attention;
pub mod flow;
pub mod gru;
pub mod kalman;
pub mod mixing;
pub mod moebius;
pub mod network;
pub mod noise;
pub mod path;
mod precision;
mod product;
pub mod s5;
pub mod simd;
pub mod start;

/// The code of the README, compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
