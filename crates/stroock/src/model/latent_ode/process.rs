//! Paths without noise from random start points.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;

use super::OdeConfig;
use crate::batch::Batch;
use crate::initial::InitialWeights;
use crate::latent::{Activation, FlowPlan, NormalStart, PathGrid, PathRequests, VectorField, flow};
use crate::model::latent_sde::{Paths, Process};
use crate::model::{ModelError, PathDraws};

/// The map from a representation to random start points, and the equation that moves them.
#[derive(Module, Debug)]
pub struct OdeProcess {
    /// `h ->` mean of the start point.
    pub mean: Linear,
    /// `h ->` logarithm of its variance.
    pub ln_variance: Linear,
    /// `f`.
    pub drift: VectorField,
    #[module(skip)]
    config: OdeConfig,
}

impl OdeProcess {
    /// Initialises the map for representations of the given width.
    pub fn new(width: usize, config: OdeConfig, weights: &mut InitialWeights) -> Self {
        Self {
            mean: weights.linear(width, config.dim),
            ln_variance: weights.linear(width, config.dim),
            drift: VectorField::new(config.dim, &config.hidden, config.dim, weights),
            config,
        }
    }

    /// The choices that it was made with.
    pub fn config(&self) -> &OdeConfig {
        &self.config
    }

    /// The distributions of the start points of series with the representations `h` (`[B, width]`).
    pub fn start(&self, h: Tensor<2>) -> NormalStart {
        let ln_scale = self.ln_variance.forward(h.clone()).mul_scalar(0.5);
        NormalStart { mean: self.mean.forward(h), ln_scale }
    }

    /// The states `[S, Q, n]` of paths from these points, `[S, B, n]`.
    ///
    /// # Errors
    /// When the points do not fit the grid, or a path diverges.
    pub fn states(
        &self,
        points: Tensor<3>,
        grid: PathGrid,
        requests: PathRequests,
    ) -> Result<Tensor<3>, ModelError> {
        let plan = FlowPlan {
            dim: self.config.dim,
            samples: points.dims()[0],
            grid,
            requests,
            hidden: self.config.hidden.clone(),
            activation: Activation::Elu,
        };
        Ok(flow(plan, points, self.drift.parameters())?)
    }

    fn paths_from(&self, start: &NormalStart, batch: &Batch, draws: PathDraws) -> Result<Paths, ModelError> {
        let normals = start.normals(draws.key, &batch.numbers, draws.samples, draws.first_sample);
        let states = self.states(start.points(normals), batch.grid.clone(), batch.requests.clone())?;
        let prior = NormalStart::standard(batch.numbers.len(), self.config.dim, &start.mean);
        let kl_start = start.divergence(&prior);
        Ok(Paths { states, kl_path: kl_start.zeros_like(), kl_start })
    }
}

impl Process for OdeProcess {
    type Representation = Tensor<2>;

    fn paths(&self, h: Tensor<2>, batch: &Batch, draws: PathDraws) -> Result<Paths, ModelError> {
        self.paths_from(&self.start(h), batch, draws)
    }

    fn prior_paths(&self, batch: &Batch, draws: PathDraws) -> Result<Paths, ModelError> {
        let like = self.mean.weight.val();
        let start = NormalStart::standard(batch.numbers.len(), self.config.dim, &like);
        self.paths_from(&start, batch, draws)
    }
}
