//! Recognition: from the observed points of a series to a representation `h`.

mod attention;
mod bidirectional;
mod embedding;
mod first_frame;
mod frame_features;
mod frames;
mod knots;
mod learned_embedding;
mod ode_rnn;
mod own_attention;
mod recurrence;
mod time_attention;
mod time_views;

pub use attention::attend;
pub use bidirectional::{BidirectionalGru, BidirectionalGruConfig};
pub use embedding::{TimeEmbedding, TimeEmbeddingConfig};
pub use first_frame::{FirstFrameConfig, FirstFrameEncoder};
pub use frame_features::{FrameFeatures, FrameFeaturesConfig};
pub use frames::{FrameEncoder, FrameEncoderConfig};
pub use knots::{KnotEncoder, KnotEncoderConfig, KnotPositions, Knots};
pub use learned_embedding::LearnedEmbedding;
pub use ode_rnn::{OdeRnn, OdeRnnConfig, PointTimes};
pub use own_attention::{OwnQueries, attend_own};
pub use recurrence::{Gru, GruConfig};
pub use stroock_kernels::gru::Direction;
pub use time_attention::{TimeAttentionConfig, TimeAttentionEncoder};
pub use time_views::{TimeViews, TimeViewsConfig};

pub(crate) use frame_features::values_like;
pub(crate) use frames::frames_of;
pub(crate) use ode_rnn::INITIAL;

use burn::module::{Module, ModuleDisplay};
use burn::tensor::Tensor;
use stroock_kernels::attention::AttentionError;
use stroock_kernels::gru::GruError;
use stroock_kernels::network::NetworkError;
use thiserror::Error;

use crate::batch::EncoderInput;
use crate::foreign::ForeignError;

/// An encoder: any burn module that maps the inputs of a batch to a representation `R` of its series: a vector for each,
/// `[B, width]`, or [`Knots`].
pub trait Encoder<R = Tensor<2>>: Module + ModuleDisplay {
    /// The representation of the series of a batch.
    ///
    /// # Errors
    /// When the inputs do not fit the encoder.
    fn encode(&self, input: &EncoderInput) -> Result<R, EncoderError>;
}

/// Why inputs cannot be encoded.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum EncoderError {
    /// The encoder was made for another number of channels.
    #[error("the encoder reads {expected} channels, but the batch has {actual}")]
    Channels {
        /// Channels of the encoder.
        expected: usize,
        /// Channels of the batch.
        actual: usize,
    },
    /// A series has no frame to encode.
    #[error("series {series} of the batch has no frame that the encoder may see, and it needs one")]
    NoFrame {
        /// Index of the series in the batch.
        series: usize,
    },
    /// A layer on images refused its input.
    #[error("frames: {0}")]
    Image(#[from] NetworkError),
    /// Attention refused its inputs.
    #[error("time attention: {0}")]
    Attention(#[from] AttentionError),
    /// The recurrent unit refused its inputs.
    #[error("recurrent unit: {0}")]
    Recurrence(#[from] GruError),
    /// An encoder of the user's own refused its inputs.
    #[error(transparent)]
    Own(#[from] ForeignError),
}
