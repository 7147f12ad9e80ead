//! Paths in `R^n` that are driven by noise.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::Tensor;

use super::SdeConfig;
use crate::batch::Batch;
use crate::initial::InitialWeights;
use crate::latent::{
    Activation, ContextTimes, DiagonalDiffusion, DrivenPlan, FlowPlan, NormalStart, PathGrid, PathNoise,
    PathRequests, PathStates, VectorField, driven_flow, posterior_flow,
};
use crate::model::latent_sde::{Paths, Process};
use crate::model::{ModelError, PathDraws};

/// The map from a representation to random start points, and the equations that move them.
#[derive(Module, Debug)]
pub struct SdeProcess {
    /// `h ->` mean of the start point.
    pub mean: Linear,
    /// `h ->` logarithm of its standard deviation.
    pub ln_scale: Linear,
    /// `f`, of the state and the context.
    pub drift: VectorField,
    /// Drift of the prior.
    pub prior: VectorField,
    /// `g`.
    pub diffusion: DiagonalDiffusion,
    /// Mean of the start points of the prior, `[n]`.
    pub prior_mean: Param<Tensor<1>>,
    /// Logarithm of their standard deviation, `[n]`.
    pub prior_ln_scale: Param<Tensor<1>>,
    #[module(skip)]
    config: SdeConfig,
}

impl SdeProcess {
    /// Initialises the map for representations of the given width.
    pub fn new(width: usize, config: SdeConfig, weights: &mut InitialWeights) -> Self {
        let (dim, hidden) = (config.dim, &config.hidden);
        Self {
            mean: weights.linear(width, dim),
            ln_scale: weights.linear(width, dim),
            drift: VectorField::new(dim + width, hidden, dim, weights),
            prior: VectorField::new(dim, hidden, dim, weights),
            diffusion: DiagonalDiffusion::new(dim, config.diffusion_hidden, weights),
            prior_mean: weights.constant([dim], 0.0),
            prior_ln_scale: weights.constant([dim], 0.0),
            config,
        }
    }

    /// The choices that it was made with.
    pub fn config(&self) -> &SdeConfig {
        &self.config
    }

    /// The distributions of the start points of series with the representations `h` (`[B, width]`).
    pub fn start(&self, h: Tensor<2>) -> NormalStart {
        NormalStart { mean: self.mean.forward(h.clone()), ln_scale: self.ln_scale.forward(h) }
    }

    /// Those of the prior for so many series.
    pub fn prior_start(&self, series: usize) -> NormalStart {
        let of_all =
            |one: &Param<Tensor<1>>| one.val().unsqueeze_dim::<2>(0).expand([series, self.config.dim]);
        NormalStart { mean: of_all(&self.prior_mean), ln_scale: of_all(&self.prior_ln_scale) }
    }

    /// What is not differentiated about `samples` paths of every series.
    pub fn plan(
        &self,
        samples: usize,
        grid: PathGrid,
        requests: PathRequests,
        noise: PathNoise,
        contexts: ContextTimes,
    ) -> DrivenPlan {
        let SdeConfig { dim, ref hidden, diffusion_hidden } = self.config;
        let flow = FlowPlan {
            dim,
            samples,
            grid,
            requests,
            hidden: hidden.clone(),
            activation: Activation::Softplus,
        };
        DrivenPlan { flow, diffusion_hidden, noise, contexts }
    }

    /// Paths of the posterior from these points, `[S, B, n]`, with these contexts, `[B, width]` or as the plan says, and
    /// their divergence.
    ///
    /// # Errors
    /// When points or contexts do not fit the plan, or a path diverges.
    pub fn posterior(
        &self,
        plan: DrivenPlan,
        points: Tensor<3>,
        context: Tensor<2>,
    ) -> Result<PathStates, ModelError> {
        let (drift, prior) = (self.drift.parameters(), self.prior.parameters());
        Ok(posterior_flow(plan, points, drift, context, prior, self.diffusion.parameters())?)
    }

    /// States of paths of the prior from these points, `[S, B, n]`.
    ///
    /// # Errors
    /// When the points do not fit the plan, or a path diverges.
    pub fn prior_states(&self, plan: DrivenPlan, points: Tensor<3>) -> Result<Tensor<3>, ModelError> {
        Ok(driven_flow(plan, points, self.prior.parameters(), self.diffusion.parameters())?)
    }

    /// The plan of the paths through a batch.
    fn plan_of(&self, batch: &Batch, draws: PathDraws) -> DrivenPlan {
        let PathDraws { key, samples, first_sample } = draws;
        let noise = PathNoise::Counter { key, series: batch.numbers.clone(), first_sample };
        self.plan(samples, batch.grid.clone(), batch.requests.clone(), noise, ContextTimes::Constant)
    }
}

/// The start points of a batch.
fn points(start: &NormalStart, batch: &Batch, draws: PathDraws) -> Tensor<3> {
    start.points(start.normals(draws.key, &batch.numbers, draws.samples, draws.first_sample))
}

impl Process for SdeProcess {
    type Representation = Tensor<2>;

    fn paths(&self, h: Tensor<2>, batch: &Batch, draws: PathDraws) -> Result<Paths, ModelError> {
        let series = batch.numbers.len();
        let start = self.start(h.clone());
        let plan = self.plan_of(batch, draws);
        let PathStates { states, kl } = self.posterior(plan, points(&start, batch, draws), h)?;
        let kl_start = start.divergence(&self.prior_start(series));
        Ok(Paths { states, kl_start, kl_path: kl.mean_dim(0).reshape([series]) })
    }

    fn prior_paths(&self, batch: &Batch, draws: PathDraws) -> Result<Paths, ModelError> {
        let start = self.prior_start(batch.numbers.len());
        let states = self.prior_states(self.plan_of(batch, draws), points(&start, batch, draws))?;
        let kl_start = start.divergence(&start);
        Ok(Paths { states, kl_path: kl_start.zeros_like(), kl_start })
    }
}
