//! Models: what one must do ([`interface`]), those of this crate by name ([`ModelConfig`]), and their files.

mod cru;
mod description;
mod error;
mod gppvae;
pub mod interface;
mod knot_sde;
mod latent_ode;
mod latent_sde;
mod mtand_enc;
mod mtand_full;
mod neural_sde;
mod ode2vae;
mod ode_ode;
mod parameters;
mod point_features;
mod registry;
mod s5;

pub use cru::{
    Cru, CruConfig, CruDecoder, CruDecoderConfig, CruEncoder, CruEncoderConfig, CruFeatures, CruLatent,
    CruLatentConfig, CruTaskConfig, FastCruConfig, FastCruLatentConfig, FilterConfig, FilterPoints,
    KalmanFilter, Layers, LayersConfig, NormalHead, NormalHeadConfig, VarianceKind,
};
pub use description::{
    DataDescription, Description, FileMetadata, ModelFileError, TableDescription, Variable,
};
pub use error::{ModelConfigError, ModelError};
pub use gppvae::{
    CodedFrames, FrameKernel, GaussianProcess, GaussianProcessConfig, GaussianProcessError, GppVae,
    GppVaeConfig, Posterior, ProcessTraining, Term, likeliest_vector,
};
pub use interface::{ModelSettings, OutputParts, Outputs, PathDraws, SeriesModel, TrainingSeries};
pub use knot_sde::{KnotLatentConfig, KnotProcess, KnotSdeConfig, StandardKnotSde};
pub use latent_ode::{LatentOdeConfig, OdeConfig, OdeProcess, StandardLatentOde};
pub use latent_sde::{
    Bound, DecoderConfig, EncoderConfig, LatentSde, LatentSdeConfig, Paths, Process, StandardDecoder,
    StandardEncoder, StandardLatentSde,
};
pub use mtand_enc::{MtandEnc, MtandEncConfig, TimeViewsSizes};
pub use mtand_full::{MtandFull, MtandFullConfig, ReferenceGenerator, ReferencePosterior, ReferenceSizes};
pub use neural_sde::{NeuralSdeConfig, SdeConfig, SdeProcess, StandardNeuralSde};
pub use ode_ode::{ImportanceBound, OdeOde, OdeOdeConfig, ScoredEntries, StartHead, importance_bound};
pub use ode2vae::{
    DensePaths, DrawnField, Head, Ode2Vae, Ode2VaeConfig, PredictionKind, Recognition, SecondOrderConfig,
    SecondOrderProcess, StartDensity, UncertainField,
};
pub use parameters::{from_file, to_file};
pub use registry::{ModelConfig, StandardModel};
pub use s5::{S5, S5Config, S5Layer, S5Sizes, normal_loss, recur};
