//! From states of the latent path to the parameters of the observations.

mod mlp;

pub use mlp::{Mlp, MlpConfig};

use burn::module::{Module, ModuleDisplay};
use burn::tensor::Tensor;

/// A decoder: any burn module that maps latent states to outputs, point by point.
pub trait Decoder: Module + ModuleDisplay {
    /// Outputs `[M, outputs]` at the states `z` (`[M, n]`).
    fn decode(&self, z: Tensor<2>) -> Tensor<2>;
}
