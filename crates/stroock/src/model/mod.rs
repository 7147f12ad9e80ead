//! The whole model: encoder, path law, decoder and likelihood.

mod latent_sde;

pub use latent_sde::{Bound, LatentSde, LatentSpace, ModelError, PathDraws};
