//! The whole model: encoder, path process, decoder and likelihood.

mod check;
mod description;
mod latent_sde;
mod parameters;
mod standard;

pub use description::{DataDescription, Description, ModelFileError, TableDescription, Variable};
pub use latent_sde::{Bound, LatentSde, ModelError, PathDraws, Paths};
pub use parameters::{from_file, to_file};
pub use standard::{
    DecoderConfig, EncoderConfig, ModelConfig, ModelConfigError, StandardDecoder, StandardEncoder,
    StandardModel,
};
