//! GPPVAE: a variational autoencoder of single frames whose codes are under a Gaussian process over all training frames.
//!
//! A frame `y_n` of series `o` at time `t` has a code `z_n` in `R^L`, `q(z_n) = N(m(y_n), diag s(y_n)^2)`, and is decoded from
//! it. The coordinates of the codes of all `N` training frames are independent under the prior, each with the covariance
//!
//! ```text
//! K = w1 (X X') o K_view + w2 I,   w1 + w2 = 1,   K_view(t, t') = sum_h a_h cos(2 pi h (t - t') / T),
//! ```
//!
//! with a learned unit vector `x_o` for every training series, the rows of `X`, and learned `a`, `sum_h a_h = 1`: any
//! periodic covariance of times without harmonics beyond `H`. The loss, over all frames, is
//!
//! ```text
//! sum_n -E ln p(y_n | z_n) - E ln p(Z) - sum_n (sum_l ln s_nl + L/2 ln(2 pi e)),
//! ```
//!
//! and a frame that was not seen is decoded from `K* K^-1 Z`, `Z` the means of the codes of the training frames.
//!
//! **Mini-batches.** `ln p(Z)` couples all frames. Before every epoch all training frames are encoded
//! ([`see_training`](SeriesModel::see_training)); a step then takes `-E ln p(Z)` and its exact derivatives, in double
//! precision, at those codes, the ones of its own frames replaced by what they are now. The derivatives by the codes of the
//! batch and by the parameters of the process are those of the step: the first-order expansion of the published algorithm,
//! about a point that is renewed in every step and not once an epoch. The expectation over the codes is in closed form.
//! (The code of the authors takes it at one draw, and has the sum of the standard deviations in the place of that of their
//! logarithms.)
//!
//! **Series.** The vector of a series that is asked about is the one under which what is seen of it is the likeliest, given
//! the training frames: the optimum that `x_o` of a training series is moved towards. So series that were not trained on
//! can be asked about, too. Where `alone` epochs are over, the process is trained alone (GPPVAE-dis) or together with the
//! autoencoder (GPPVAE-joint). It is the model of Casale, Dalca, Saglietti, Listgarten and Fusi (Gaussian Process Prior
//! Variational Autoencoders, 2018).

mod config;
mod kernel;
mod memory;
mod process;
mod vector;

pub use config::{GaussianProcessConfig, GppVaeConfig, ProcessTraining};
pub use kernel::FrameKernel;
pub use process::{CodedFrames, GaussianProcess, GaussianProcessError, Posterior, Term};
pub use vector::likeliest_vector;

use std::f64::consts::TAU;
use std::sync::Arc;

use burn::module::{Module, Param};
use burn::tensor::{Tensor, TensorData};
use kernel::{doubles, like, matrix};
use memory::{Memory, numbers};
use nalgebra::{DMatrix, DVector};
use stroock_kernels::noise::Purpose;

use super::latent_sde::StandardDecoder;
use super::ode2vae::{Head, sums_of_series};
use super::{ModelError, OutputParts, Outputs, PathDraws, SeriesModel, TrainingSeries};
use crate::batch::{Batch, EncoderInput, target_points};
use crate::decoder::Decoder;
use crate::encoder::EncoderError;
use crate::latent::NormalStart;
use crate::likelihood::Likelihood;
use crate::objective::{ElboWeights, Objective};

/// A model of the module's kind: see [`GppVaeConfig`].
#[derive(Module, Debug)]
pub struct GppVae {
    /// Frame to code.
    pub recognition: Head,
    /// The covariance between frames.
    pub kernel: FrameKernel,
    /// The posterior of the process given the training frames, for predictions: [`Posterior::loadings`], `[D, L]`. It is
    /// set by [`see_training`](SeriesModel::see_training), and not by gradients.
    pub loadings: Param<Tensor<2>>,
    /// [`Posterior::covariance`], `[D, D]`; likewise.
    pub uncertainty: Param<Tensor<2>>,
    /// Code to output.
    pub decoder: StandardDecoder,
    /// Output to observation.
    pub likelihood: Likelihood,
    #[module(skip)]
    alone: u64,
    #[module(skip)]
    then: ProcessTraining,
    #[module(skip)]
    memory: Option<Arc<Seen>>,
}

/// The training frames, and what is trained in the epoch under way.
#[derive(Clone, Debug)]
struct Seen {
    frames: Memory,
    stage: Stage,
}

/// What is trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Autoencoder,
    Process,
    Both,
}

impl GppVae {
    /// The codes of frames, each a series of its own.
    fn encode(&self, frames: &EncoderInput) -> Result<NormalStart, EncoderError> {
        if frames.series() == 0 {
            return Ok(NormalStart::standard(0, self.loadings.dims()[1], &self.loadings.val()));
        }
        let (mean, ln_variance) = self.recognition.distribution(frames)?;
        Ok(NormalStart { mean, ln_scale: ln_variance.mul_scalar(0.5) })
    }

    /// The codes of the targets of a batch, `[Q, L]`.
    fn codes_of_targets(&self, batch: &Batch) -> Result<NormalStart, EncoderError> {
        let points: Vec<_> = target_points(&batch.targets).collect();
        self.encode(&EncoderInput::new(batch.input.observation, &points))
    }

    /// The likeliest vectors of the series of an input, `[B, M]`.
    fn vectors_of(&self, input: &EncoderInput) -> Result<DMatrix<f64>, ModelError> {
        let codes = matrix(self.encode(&input.point_by_point())?.mean);
        let times: Vec<f64> = (0..input.points()).map(|point| input.time(point)).collect();
        let views = self.kernel.views(&times);
        let posterior = self.posterior();
        let mut vectors = DMatrix::zeros(input.series(), self.kernel.objects.dims()[1]);
        for (mut row, pair) in vectors.row_iter_mut().zip(input.point_offsets.windows(2)) {
            let [views, codes] =
                [&views, &codes].map(|all| all.rows(pair[0], pair[1] - pair[0]).into_owned());
            row.tr_copy_from(&likeliest_vector(&posterior, &views, &codes)?);
        }
        Ok(vectors)
    }

    fn posterior(&self) -> Posterior {
        Posterior { loadings: matrix(self.loadings.val()), covariance: matrix(self.uncertainty.val()) }
    }

    /// What is predicted of the codes at the points of a batch, `[Q, L]`, for the vectors `[B, M]` of its series, and the
    /// variance of the process there, the same for all coordinates, `[Q]`.
    fn predict(&self, vectors: &DMatrix<f64>, batch: &Batch) -> (DMatrix<f64>, DVector<f64>) {
        let Posterior { loadings, covariance } = self.posterior();
        let views = self.kernel.views(&batch.request_times());
        let mut features = DMatrix::zeros(views.nrows(), loadings.nrows());
        for (b, pair) in batch.requests.offsets.windows(2).enumerate() {
            for n in pair[0]..pair[1] {
                features
                    .row_mut(n)
                    .tr_copy_from(&vectors.row(b).transpose().kronecker(&views.row(n).transpose()));
            }
        }
        let spread = &features * covariance;
        let variances = DVector::from_fn(views.nrows(), |n, _| spread.row(n).dot(&features.row(n)));
        (features * loadings, variances)
    }

    /// The standard normals `[S, Q, L]` of the codes of a batch: a function of the key, the number of the series and that of
    /// the sample alone.
    fn normals(&self, codes: &NormalStart, batch: &Batch, draws: PathDraws) -> Tensor<3> {
        let PathDraws { key, samples, first_sample } = draws;
        let [points, dim] = codes.mean.dims();
        let mut normals = vec![0.0; samples * points * dim];
        for (sample, of_sample) in (first_sample..).zip(normals.chunks_exact_mut((points * dim).max(1))) {
            for (&number, pair) in batch.numbers.iter().zip(batch.requests.offsets.windows(2)) {
                key.stream(Purpose::Start, number, sample)
                    .normals(&mut of_sample[pair[0] * dim..pair[1] * dim]);
            }
        }
        let data = TensorData::new(normals, [samples, points, dim]);
        Tensor::from_data(data, (&codes.mean.device(), codes.mean.dtype()))
    }

    /// `-E ln p(Z)` over the number of series, `[1]`, with its derivatives by the parameters of the process alone; and the
    /// term itself.
    fn process_term(&self, frames: &CodedFrames, series: usize) -> Result<(Tensor<1>, Term), ModelError> {
        let term = self.kernel.process().term(frames)?;
        let share = 1.0 / series.max(1) as f64;
        let slope = without_value(self.kernel.along(&term)).mul_scalar(share);
        Ok((slope.add_scalar(term.value * share), term))
    }

    /// The divergence of the codes of training frames from the process, `[B]`: a share of that of all frames, with the
    /// derivatives by the codes of this batch.
    fn divergence_in_training(
        &self,
        memory: &Memory,
        rows: &[usize],
        codes: &NormalStart,
        offsets: &[usize],
    ) -> Result<Tensor<1>, ModelError> {
        let mut frames = memory.frames(&self.kernel);
        let (means, variances) = numbers(codes);
        for (n, &row) in rows.iter().enumerate() {
            frames.means.set_row(row, &means.row(n));
            frames.variances[row] = variances[n];
        }
        let (of_process, term) = self.process_term(&frames, memory.series())?;
        let by_means = DMatrix::from_fn(rows.len(), means.ncols(), |n, l| term.means[(rows[n], l)]);
        let by_variances = DMatrix::from_fn(rows.len(), 1, |n, _| term.variances[rows[n]]);
        let variances = codes.ln_scale.clone().mul_scalar(2.0).exp();
        let slopes =
            codes.mean.clone() * like(&by_means, &codes.mean) + variances * like(&by_variances, &codes.mean);
        let by_codes = without_value(sums_of_series(of_points(slopes), offsets));
        Ok(of_process.expand([offsets.len() - 1]) + by_codes - entropy(codes, offsets))
    }

    /// The divergence of the codes of other frames from what is predicted of them, given what is seen of their series, `[B]`.
    fn divergence_from_predictions(
        &self,
        codes: &NormalStart,
        batch: &Batch,
    ) -> Result<Tensor<1>, ModelError> {
        let (means, mut variances) = self.predict(&self.vectors_of(&batch.input)?, batch);
        variances.add_scalar_mut(doubles(self.kernel.shares())[1]);
        let dim = means.ncols() as f64;
        let volume = DMatrix::from_fn(variances.len(), 1, |n, _| 0.5 * dim * (TAU * variances[n]).ln());
        let precision = DMatrix::from_fn(variances.len(), 1, |n, _| 0.5 / variances[n]);
        let distance = codes.mean.clone() - like(&means, &codes.mean);
        let squares = distance.powi_scalar(2) + codes.ln_scale.clone().mul_scalar(2.0).exp();
        let of_frames = squares.sum_dim(1) * like(&precision, &codes.mean) + like(&volume, &codes.mean);
        let offsets = &batch.requests.offsets;
        Ok(sums_of_series(of_points(of_frames), offsets) - entropy(codes, offsets))
    }
}

/// 0 with the derivatives of a tensor.
fn without_value(tensor: Tensor<1>) -> Tensor<1> {
    let value = tensor.clone().detach();
    tensor - value
}

/// Sums `[1, Q]` over the coordinates `[Q, L]` of points.
fn of_points(coordinates: Tensor<2>) -> Tensor<2> {
    let points = coordinates.dims()[0];
    coordinates.sum_dim(1).reshape([1, points])
}

/// The entropy of the codes of every series, `[B]`.
fn entropy(codes: &NormalStart, offsets: &[usize]) -> Tensor<1> {
    let standard = 0.5 * (1.0 + TAU.ln());
    sums_of_series(of_points(codes.ln_scale.clone().add_scalar(standard)), offsets)
}

impl SeriesModel for GppVae {
    /// The weight of the likelihood and that of the paths count; the latter weighs the divergence of the codes.
    fn objective(
        &self,
        batch: &Batch,
        draws: PathDraws,
        weights: ElboWeights,
    ) -> Result<Objective, ModelError> {
        let offsets = &batch.requests.offsets;
        let trained = self.memory.as_deref().and_then(|seen| Some((seen, seen.frames.rows_of(batch)?)));
        if let Some((Seen { frames, stage: Stage::Process }, _)) = &trained {
            // Nothing but the process is trained, and its frames are encoded already.
            let (of_process, _) = self.process_term(&frames.frames(&self.kernel), frames.series())?;
            let of_process = of_process.expand([batch.numbers.len()]);
            let losses = of_process.clone().mul_scalar(weights.kl_path);
            return Ok(Objective { losses, parts: vec![("gaussian_process", of_process)] });
        }
        let codes = self.codes_of_targets(batch)?;
        let output = self.decoder.decode_samples(codes.points(self.normals(&codes, batch, draws)))?;
        let nll = self.likelihood.negative_log_likelihood(output, Arc::clone(&batch.targets))?;
        let kl = match trained {
            Some((Seen { frames, stage: Stage::Both }, rows)) => {
                self.divergence_in_training(frames, &rows, &codes, offsets)?
            }
            Some(_) => {
                let [points, dim] = codes.mean.dims();
                let standard = NormalStart::standard(points, dim, &codes.mean);
                sums_of_series(codes.divergence(&standard).unsqueeze_dim(0), offsets)
            }
            None => self.divergence_from_predictions(&codes, batch)?,
        };
        let losses = nll.clone().mul_scalar(weights.likelihood) + kl.clone().mul_scalar(weights.kl_path);
        Ok(Objective { losses, parts: vec![("kl_codes", kl), ("negative_log_likelihood", nll)] })
    }

    /// All samples are the same: what is predicted of a frame is decoded.
    fn outputs(&self, batch: &Batch, draws: PathDraws, parts: OutputParts) -> Result<Outputs, ModelError> {
        let vectors = self.vectors_of(&batch.input)?;
        self.outputs_of_codes(like(&vectors, &self.loadings.val()), batch, draws, parts)
    }

    /// The likeliest vectors of the series, `[B, M]`.
    fn codes(&self, batch: &Batch) -> Result<Option<Tensor<2>>, ModelError> {
        Ok(Some(like(&self.vectors_of(&batch.input)?, &self.loadings.val())))
    }

    fn outputs_of_codes(
        &self,
        codes: Tensor<2>,
        batch: &Batch,
        draws: PathDraws,
        parts: OutputParts,
    ) -> Result<Outputs, ModelError> {
        let [expected, actual] = [self.kernel.objects.dims()[1], codes.dims()[1]];
        if expected != actual {
            return Err(ModelError::CodeWidth { expected, actual });
        }
        let (states, _) = self.predict(&matrix(codes), batch);
        let states = like(&states, &self.loadings.val()).unsqueeze_dim::<3>(0);
        let mean = match parts.observations {
            true => self.likelihood.mean(self.decoder.decode_samples(states.clone())?),
            false => None,
        };
        let scale = self.likelihood.gaussian().map(|gaussian| gaussian.scale().unsqueeze_dim(0));
        Ok(Outputs { mean, scale, states: Some(states), task: None }.in_samples(draws.samples))
    }

    fn see_training(&mut self, training: &TrainingSeries<'_>) -> Result<(), ModelError> {
        let (objects, series) = (self.kernel.objects.dims()[0], training.numbers.len());
        if series > objects {
            return Err(GaussianProcessError::Objects { objects, series }.into());
        }
        let mut frames = Memory::default();
        // Codes as they are in predictions: normalised by running moments, not by those of a batch.
        let still = self.valid();
        for batch in training.batches() {
            let batch = batch?;
            frames.push(&batch, &still.codes_of_targets(&batch)?);
        }
        let posterior = still.kernel.process().posterior(&frames.frames(&still.kernel))?;
        self.loadings = Param::from_tensor(like(&posterior.loadings, &self.loadings.val()));
        self.uncertainty = Param::from_tensor(like(&posterior.covariance, &self.uncertainty.val()));
        let stage = match self.then {
            _ if training.epochs < self.alone => Stage::Autoencoder,
            ProcessTraining::Disjoint => Stage::Process,
            ProcessTraining::Joint => Stage::Both,
        };
        self.memory = Some(Arc::new(Seen { frames, stage }));
        Ok(())
    }
}
