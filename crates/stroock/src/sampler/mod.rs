//! New series like those that a model was fitted to.
//!
//! The prior of a latent SDE is what its posterior is weighed against. Where the divergence weighs little, as in fits
//! whose purpose is to follow the data, posteriors are far from the prior, and decoded paths of the prior look like
//! nothing that was observed. A [`Sampler`] is a prior that is found after training, from what the model makes of the
//! training series:
//!
//! ```text
//! code c ~ smooth bootstrap of the training codes,             [`CodeDensity`]
//! m(t)   = mean over paths of what is decoded for c,
//! x(t)   = Q(b m(t) + r(t)),
//! ```
//!
//! with the stationary process `r` of what mean paths leave over on series that were not trained on
//! ([`StationaryResidual`]) and an increasing map `Q` for each variable, after which its values are distributed as those
//! of the training series ([`MarginalMap`]).

mod density;
mod draw;
mod file;
mod fit;
mod marginal;
mod stationary;

pub use density::CodeDensity;
pub use file::SamplerProblem;
pub use marginal::MarginalMap;
pub use stationary::{Remainder, StationaryChannel, StationaryResidual};

/// What new series are drawn from, beside the model that it was made for.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampler {
    /// Codes of new series.
    pub codes: CodeDensity,
    /// What their mean paths leave over.
    pub residual: StationaryResidual,
    /// For each channel the map to the distribution of its values, `[C]`.
    pub marginals: Vec<MarginalMap>,
}
