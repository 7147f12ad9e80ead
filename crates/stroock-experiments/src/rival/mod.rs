//! The systems that the paper compares itself with, in the harness of its experiments: the same data, batches, metric and
//! choice of the tested epoch, with another model and its settings.
//!
//! A rival is a file with a function from an experiment to its [`Protocol`], or to nothing where it has no preset, and a
//! line in the list below.

mod cru;
mod f_cru;
mod gppvae;
mod latent_ode;
mod mtand_enc;
mod mtand_full;
mod neural_sde;
mod ode2vae;
mod ode_ode;
mod s5;

use gppvae::disjoint as gppvae_dis;
use gppvae::joint as gppvae_joint;
use ode2vae::kl as ode2vae_kl;
use ode2vae::kl_transductive as ode2vae_kl_transductive;
use ode2vae::transductive as ode2vae_transductive;
use serde::{Deserialize, Serialize};
use stroock::batch::{Batcher, TimeAxis};
use stroock::encoder::{FrameEncoderConfig, FrameFeaturesConfig};
use stroock::model::{EncoderConfig, LatentSdeConfig, ModelConfig};
use stroock::training::TrainingConfig;

use crate::protocol::{Experiment, Options, Protocol, recipe};

/// What a file of a rival says about an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its name in the tables of the paper.
    pub system: &'static str,
    /// Its settings.
    pub protocol: Protocol,
}

macro_rules! rivals {
    ($($(#[$doc:meta])* $rival:ident = $name:literal from $module:ident;)+) => {
        /// A system that the paper compares itself with.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Rival {
            $($(#[$doc])* #[serde(rename = $name)] $rival,)+
        }

        impl Rival {
            /// All of them.
            pub const ALL: &'static [Rival] = &[$(Rival::$rival),+];

            /// The name in commands and files.
            pub fn name(self) -> &'static str {
                match self {
                    $(Rival::$rival => $name,)+
                }
            }

            /// Name and settings in an experiment; `None` where it has no preset.
            ///
            /// ```
            /// use stroock_experiments::protocol::{Experiment, Options};
            /// use stroock_experiments::rival::Rival;
            /// let entry = Rival::LatentOde.entry(Experiment::Physionet, Options::default()).unwrap();
            /// assert_eq!(entry.system, "mTAND-ODE");
            /// assert!(Rival::LatentOde.entry(Experiment::Sine, Options::default()).is_none());
            /// ```
            pub fn entry(self, experiment: Experiment, options: Options) -> Option<Entry> {
                match self {
                    $(Rival::$rival => $module::entry(experiment, options),)+
                }
            }
        }
    };
}

rivals! {
    /// A latent ordinary differential equation: mTAND-ODE and CNN-ODE.
    LatentOde = "latent-ode" from latent_ode;
    /// A latent SDE in `R^n`: mTAND-SDE and CNN-SDE.
    NeuralSde = "neural-sde" from neural_sde;
    /// A latent second-order equation with random weights: ODE2VAE.
    Ode2Vae = "ode2vae" from ode2vae;
    /// The same, with states that the encoders agree with: ODE2VAE-KL.
    Ode2VaeKl = "ode2vae-kl" from ode2vae_kl;
    /// A latent ordinary differential equation with an encoder of its kind: ODE-ODE.
    OdeOde = "ode-ode" from ode_ode;
    /// ODE2VAE on the digits that it was trained on.
    Ode2VaeTransductive = "ode2vae-transductive" from ode2vae_transductive;
    /// ODE2VAE-KL on the digits that it was trained on.
    Ode2VaeKlTransductive = "ode2vae-kl-transductive" from ode2vae_kl_transductive;
    /// A variational autoencoder, and then a Gaussian process over its codes: GPPVAE-dis.
    GppVaeDis = "gppvae-dis" from gppvae_dis;
    /// Both together: GPPVAE-joint.
    GppVaeJoint = "gppvae-joint" from gppvae_joint;
    /// Time attention and a recurrent unit at the observation times.
    MtandEnc = "mtand-enc" from mtand_enc;
    /// A variational autoencoder between reference points in time.
    MtandFull = "mtand-full" from mtand_full;
    /// A continuous recurrent unit: CRU.
    Cru = "cru" from cru;
    /// A continuous recurrent unit with eigenvalues in a shared basis: f-CRU.
    FCru = "f-cru" from f_cru;
    /// Layers of diagonal complex recurrences.
    S5 = "s5" from s5;
}

impl Rival {
    /// The options of its runs: some systems have data of their own.
    pub fn options(self, options: Options) -> Options {
        match self {
            Rival::Ode2VaeTransductive
            | Rival::Ode2VaeKlTransductive
            | Rival::GppVaeDis
            | Rival::GppVaeJoint => Options { transductive: true, ..options },
            _ => options,
        }
    }

    /// The experiments that it has a preset for.
    pub fn experiments(self) -> impl Iterator<Item = Experiment> {
        let has = move |experiment: &Experiment| self.entry(*experiment, Options::default()).is_some();
        Experiment::ALL.into_iter().filter(has)
    }

    /// Those that have a preset for an experiment.
    pub fn of(experiment: Experiment) -> impl Iterator<Item = Rival> {
        let has = move |rival: &Rival| rival.entry(experiment, Options::default()).is_some();
        Rival::ALL.iter().copied().filter(has)
    }
}

/// Epochs of a short run.
const EPOCHS: u64 = 60;

/// The published protocol of an experiment with another model in the place of its own, for short runs: one cosine to zero,
/// and no ramp of the task, which would take all of them. `None` for experiments without a comparison.
fn in_the_place_of_the_papers(
    experiment: Experiment,
    options: Options,
    model: impl FnOnce(LatentSdeConfig) -> ModelConfig,
) -> Option<Protocol> {
    if matches!(experiment, Experiment::Lorenz | Experiment::Sine) {
        return None;
    }
    let protocol = experiment.paper(options);
    let model = model(protocol.model.as_latent_sde()?.clone());
    let mut training = short(protocol.training);
    training.weights.task_ramp = 0;
    // The published weights are doubled where the published divergence lacks the factor 1/2; that of a rival has it.
    training.weights.kl_path = training.weights.kl_start;
    Some(Protocol { model, training, ..protocol })
}

/// The same training as a short run: one cosine to zero, clipped gradients, averaged weights.
fn short(training: TrainingConfig) -> TrainingConfig {
    recipe(EPOCHS, 0.995, training)
}

/// The same batches with times on [0, 1], where models that ask at the times of their inputs need the same axis for both.
fn on_one_axis(batcher: Batcher) -> Batcher {
    let axis = TimeAxis { horizon: 1.0, ..batcher.grid_axis };
    Batcher { input_axis: axis, grid_axis: axis, ..batcher }
}

/// How the paper's encoder makes features of frames, where it reads frames one by one.
fn frame_features(encoder: &EncoderConfig) -> Option<FrameFeaturesConfig> {
    match encoder {
        EncoderConfig::Frames(FrameEncoderConfig { network, features, .. }) => {
            Some(FrameFeaturesConfig { network: network.clone(), features: *features })
        }
        _ => None,
    }
}

/// A name after the encoder: convolutions of one frame, or attention over time.
fn by_encoder(experiment: Experiment, of_frame: &'static str, of_times: &'static str) -> &'static str {
    if experiment == Experiment::RotatingMnist { of_frame } else { of_times }
}
