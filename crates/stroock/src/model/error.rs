//! Why there is no model, or why it refuses a batch.

use stroock_kernels::attention::AttentionError;
use stroock_kernels::flow::FlowError;
use stroock_kernels::gru::GruError;
use stroock_kernels::kalman::KalmanError;
use stroock_kernels::mixing::MixError;
use stroock_kernels::moebius::MoebiusError;
use stroock_kernels::network::NetworkError;
use stroock_kernels::path::PathError;
use stroock_kernels::s5::S5Error;
use stroock_kernels::start::StartError;
use thiserror::Error;

use crate::batch::TargetsError;
use crate::decoder::DecoderError;
use crate::encoder::EncoderError;
use crate::foreign::ForeignError;
use crate::latent::LatentConfigError;
use crate::task::TaskError;

use super::GaussianProcessError;

/// Why a batch cannot be put through a model.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ModelError {
    /// The encoder refused its input.
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    /// No start points could be drawn.
    #[error(transparent)]
    Start(#[from] StartError),
    /// No paths could be simulated.
    #[error(transparent)]
    Path(#[from] PathError),
    /// No flow could be computed.
    #[error(transparent)]
    Flow(#[from] FlowError),
    /// Series could not be filtered.
    #[error(transparent)]
    Filter(#[from] KalmanError),
    /// No states could be drawn from the marginals.
    #[error(transparent)]
    Marginals(#[from] MoebiusError),
    /// States cannot be decoded.
    #[error(transparent)]
    Decoder(#[from] DecoderError),
    /// The output does not fit the targets.
    #[error(transparent)]
    Targets(#[from] TargetsError),
    /// The labels do not fit the task.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// Attention refused its inputs.
    #[error("time attention: {0}")]
    Attention(#[from] AttentionError),
    /// The recurrent unit refused its inputs.
    #[error("recurrent unit: {0}")]
    Recurrence(#[from] GruError),
    /// Rows at the reference points cannot be mixed.
    #[error(transparent)]
    Mixture(#[from] MixError),
    /// Layers of recurrences refused their inputs.
    #[error("state-space layer: {0}")]
    StateSpace(#[from] S5Error),
    /// There is no Gaussian process over the frames.
    #[error(transparent)]
    GaussianProcess(#[from] GaussianProcessError),
    /// The model has no prior to sample from.
    #[error("this model has no prior, so it cannot generate new series")]
    NoPrior,
    /// The model has no codes of series to sample from.
    #[error("this model has no codes of series, so it cannot generate new ones that are like them")]
    NoCodes,
    /// A code is not as long as those of the model.
    #[error("the codes have {actual} numbers each, but the model reads {expected}")]
    CodeWidth {
        /// Width of the codes of the model.
        expected: usize,
        /// Width of the given ones.
        actual: usize,
    },
    /// A model of the user's own refused the batch.
    #[error(transparent)]
    Own(#[from] ForeignError),
}

/// Why a configuration does not make a model.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ModelConfigError {
    /// The encoder reads observations of another kind.
    #[error("the encoder `{encoder}` reads {reads}, but {found} are observed")]
    Encoder {
        /// Name of the encoder.
        encoder: &'static str,
        /// What it reads.
        reads: &'static str,
        /// What is observed.
        found: &'static str,
    },
    /// The decoder's output is not what the likelihood reads.
    #[error(
        "the decoder makes {actual} numbers a point, but the likelihood of these observations reads {expected}"
    )]
    Outputs {
        /// Numbers that the likelihood reads.
        expected: usize,
        /// Numbers that the decoder makes.
        actual: usize,
    },
    /// Layers do not fit together.
    #[error("{part}: {source}")]
    Layers {
        /// Encoder or decoder.
        part: &'static str,
        /// What does not fit.
        source: NetworkError,
    },
    /// A size is zero or beyond all use.
    #[error("`{key}` has a size of {size}; it must lie between {least} and {most}")]
    Size {
        /// Key of the configuration.
        key: &'static str,
        /// Given size.
        size: usize,
        /// Smallest one.
        least: usize,
        /// Largest one.
        most: usize,
    },
    /// A map would have more parameters than there is memory.
    #[error("`{key}` asks for a map of more than {most} parameters; choose smaller sizes")]
    Parameters {
        /// Key of the configuration.
        key: &'static str,
        /// Most parameters of a map.
        most: usize,
    },
    /// All parts together ask for more numbers than there may be.
    #[error(
        "the model asks for more than {most} numbers, which is all that there may be; choose smaller sizes"
    )]
    TooManyParameters {
        /// Most of them: what a model file holds, or what fits into memory.
        most: usize,
    },
    /// A number that must be positive is not.
    #[error("`{key}` is {value}; it must be positive and finite")]
    NotPositive {
        /// Key of the configuration.
        key: &'static str,
        /// Given number.
        value: f64,
    },
    /// Nothing would come out of the model.
    #[error("neither `decoder` nor `task` is given; at least one of them says what is predicted")]
    NothingPredicted,
    /// The latent space is invalid.
    #[error(transparent)]
    Latent(#[from] LatentConfigError),
    /// A model of the user's own refused its configuration.
    #[error(transparent)]
    Own(#[from] ForeignError),
}
