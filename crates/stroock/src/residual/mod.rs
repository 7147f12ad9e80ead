//! What the decoder leaves over: the process of the residuals along a series.
//!
//! Given a path `z` of the latent process, an observation of channel `c` is `x_c(t) = b_c mean_c(z_t) + r_c(t)`, with the
//! shrinkage `b_c` between 0 and 1 that the decoder deserves there.
//! The residual `r_c` is not white. It is modelled as
//!
//! `r(t) = a u(t) + s e(t)`,
//!
//! with a stationary Ornstein-Uhlenbeck process `u`, `E u(t) u(t') = exp(-|t - t'| / l)`, and white `e`. A
//! prediction near an observation is then pulled towards it, and intervals widen with the distance. The
//! process is Markov, so everything here is exact and linear in the number of times: a Kalman filter
//! forwards, a smoother backwards.

mod chain;
mod fit;
mod process;
mod shape;
mod shrinkage;

pub use fit::{ResidualSample, fit};
pub use process::{ChannelResidual, Conditional, ConditionalDraws, ResidualProcess};
pub use shape::Shape;
pub use shrinkage::{DecodedSample, fit_with_shrinkage};
