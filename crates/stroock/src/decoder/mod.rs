//! From states of the latent path to the parameters of the observations.

mod image;
mod mlp;

pub use image::{ImageDecoder, ImageDecoderConfig};
pub use mlp::{Activation, Mlp, MlpConfig};

use burn::module::{Module, ModuleDisplay};
use burn::tensor::Tensor;
use stroock_kernels::network::NetworkError;
use thiserror::Error;

use crate::foreign::ForeignError;

/// A decoder: any burn module that maps latent states to outputs, point by point.
pub trait Decoder: Module + ModuleDisplay {
    /// Outputs `[M, outputs]` at the states `z` (`[M, n]`).
    ///
    /// # Errors
    /// When the states do not fit the decoder.
    fn decode(&self, z: Tensor<2>) -> Result<Tensor<2>, DecoderError>;

    /// Outputs `[S, Q, outputs]` at the states `[S, Q, n]` of several samples.
    ///
    /// # Errors
    /// When the states do not fit the decoder.
    fn decode_samples(&self, states: Tensor<3>) -> Result<Tensor<3>, DecoderError> {
        let [samples, points, n] = states.dims();
        let output = self.decode(states.reshape([samples * points, n]))?;
        let outputs = output.dims()[1];
        Ok(output.reshape([samples, points, outputs]))
    }
}

/// Why states cannot be decoded.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum DecoderError {
    /// A layer on images refused its input.
    #[error("decoder: {0}")]
    Image(#[from] NetworkError),
    /// The decoder makes another number of outputs than the likelihood reads.
    #[error("the decoder gave {actual} numbers a point, but the likelihood reads {expected}")]
    Outputs {
        /// Numbers that the likelihood reads.
        expected: usize,
        /// Numbers that the decoder gave.
        actual: usize,
    },
    /// A decoder of the user's own refused its states.
    #[error(transparent)]
    Own(#[from] ForeignError),
}
