//! What the decoder leaves over: the process of the residuals along a series.
//!
//! Given a path `z` of the latent process, an observation of channel `c` is `x_c(t) = b_c mean_c(z_t) + r_c(t)`, with the
//! shrinkage `b_c` between 0 and 1 that the decoder deserves there.
//! The residual `r_c` is not white. It is modelled as
//!
//! `r(t) = a u(t) + w v(t) + s e(t)`,
//!
//! with a stationary quick part `u` of Matérn type 1/2 (Ornstein-Uhlenbeck) or 3/2 (with slopes), a slow part `v` of type
//! 1/2, and white `e`: without a decoder (`b_c = 0`) that is a Gaussian process of the channel. A prediction near an
//! observation is pulled towards it, and intervals widen with the distance. The process is Markov with a state of at most
//! three numbers, so everything here is exact and linear in the number of times: a Kalman filter forwards, a
//! smoother backwards.

mod chain;
mod draws;
mod dynamics;
mod fit;
mod gaussian;
mod process;
mod search;
mod shape;
mod shrinkage;
mod targets;

pub use draws::ConditionalDraws;
pub use dynamics::Smoothness;
pub use fit::{ResidualSample, fit};
pub use process::{ChannelResidual, Conditional, ResidualProcess};
pub use shape::Shape;
pub use shrinkage::{DecodedSample, ObservedSamples, fit_with_shrinkage};
