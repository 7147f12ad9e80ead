//! The whole model: encoder, path law, decoder and likelihood.

mod latent_sde;
mod parameters;

pub use latent_sde::{Bound, LatentSde, LatentSpace, ModelError, PathDraws};
pub use parameters::{from_file, to_file};
