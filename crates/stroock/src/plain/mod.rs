//! Reference implementations of the fused operations, in burn's own tensor operations alone.
//!
//! Each function gives what the operation of the same inputs with a kernel of its own gives, within rounding, in
//! values and in gradients, which here are those of automatic differentiation. They run on any backend, and
//! are what the kernels are tested against. They are written to be read: dense masks instead of ragged lists,
//! one tensor operation per term of the formula.
//!
//! | reference implementation | operation with a kernel |
//! |---|---|
//! | [`attend`] | [`encoder::attend`](crate::encoder::attend) |
//! | [`last_state`], [`states`] | [`encoder::Gru`](crate::encoder::Gru), [`BidirectionalGru`](crate::encoder::BidirectionalGru) |
//! | [`simulate`] | [`latent::simulate`](crate::latent::simulate) |
//! | [`flow()`], [`driven_flow`], [`posterior_flow`] | [`latent::flow`](crate::latent::flow()) and so on |
//! | [`convolve`], [`group_norm`] | [`image::ImageNetwork`](crate::image::ImageNetwork) |
//! | [`entrywise`] | [`likelihood::entrywise_loss`](crate::likelihood::entrywise_loss) |
//! | [`gaussian`], [`bernoulli`] | [`likelihood::Gaussian`](crate::likelihood::Gaussian), [`Bernoulli`](crate::likelihood::Bernoulli) |
//! | [`continuous_bernoulli`] | [`likelihood::ContinuousBernoulli`](crate::likelihood::ContinuousBernoulli) |
//! | [`squared_error`] | [`likelihood::squared_error`](crate::likelihood::squared_error) |
//! | [`cross_entropy`] | [`likelihood::Categorical`](crate::likelihood::Categorical) |

// They multiply by `1.0 / x` and do not use `div_scalar`, whose gradient burn rounds to single precision.

mod attention;
mod convolution;
mod cross_entropy;
mod dense;
mod entrywise;
mod flow;
mod group_norm;
mod path;
mod recurrence;

pub(crate) use dense::DensePlan;

pub use attention::attend;
pub use convolution::convolve;
pub use cross_entropy::cross_entropy;
pub use entrywise::{bernoulli, continuous_bernoulli, entrywise, gaussian, squared_error};
pub use flow::{driven_flow, flow, posterior_flow};
pub use group_norm::group_norm;
pub use path::simulate;
pub use recurrence::{last_state, states};
