//! From a representation to random paths: what a latent SDE asks of its process.

use burn::module::{Module, ModuleDisplay};
use burn::tensor::Tensor;
use stroock_kernels::path::PathSolver;
use stroock_kernels::simd::Level;

use crate::batch::Batch;
use crate::latent::{
    DivergenceKind, PathNoise, PathParameters, PathPlan, PathProcess, PathStates, StartPlan, Steering,
    frobenius_bound, simulate, start_points,
};
use crate::model::{ModelError, PathDraws};

/// Paths through a batch.
#[derive(Clone, Debug)]
pub struct Paths {
    /// States at the points of the targets, `[S, Q, n]`.
    pub states: Tensor<3>,
    /// Divergence of the start points, `[B]`.
    pub kl_start: Tensor<1>,
    /// Divergence of the paths, `[B]`.
    pub kl_path: Tensor<1>,
}

/// The random paths of series: those of the posterior, given what an encoder has made of the series, and those of the
/// prior.
pub trait Process: Module + ModuleDisplay {
    /// What it reads.
    type Representation;

    /// Draws paths of the posterior through the points of a batch.
    ///
    /// # Errors
    /// When the representation does not fit the batch, or a path diverges.
    fn paths(
        &self,
        representation: Self::Representation,
        batch: &Batch,
        draws: PathDraws,
    ) -> Result<Paths, ModelError>;

    /// Draws paths of the prior through the points of a batch.
    ///
    /// # Errors
    /// When a path diverges.
    fn prior_paths(&self, batch: &Batch, draws: PathDraws) -> Result<Paths, ModelError>;

    /// The representations of series as vectors of one width, `[B, width]`; `None` where they are none.
    fn codes(&self, _: Self::Representation) -> Option<Tensor<2>> {
        None
    }

    /// Draws paths of the posterior of series with the given [`codes`](Self::codes) through the points of a batch.
    ///
    /// # Errors
    /// When there are no codes, they do not fit the process, or a path diverges.
    fn paths_of_codes(&self, _: Tensor<2>, _: &Batch, _: PathDraws) -> Result<Paths, ModelError> {
        Err(ModelError::NoCodes)
    }

    /// What steers the paths of the posterior at the points of a batch; `None` where nothing does.
    ///
    /// # Errors
    /// When the representation does not fit the batch.
    fn steering(&self, _: Self::Representation, _: &Batch) -> Result<Option<Steering>, ModelError> {
        Ok(None)
    }
}

impl Process for PathProcess {
    type Representation = Tensor<2>;

    fn paths(&self, h: Tensor<2>, batch: &Batch, draws: PathDraws) -> Result<Paths, ModelError> {
        self.paths_of(self.parameters(h), batch, draws)
    }

    fn prior_paths(&self, batch: &Batch, draws: PathDraws) -> Result<Paths, ModelError> {
        self.paths_of(self.prior(batch.numbers.len()), batch, draws)
    }

    /// The representation itself.
    fn codes(&self, h: Tensor<2>) -> Option<Tensor<2>> {
        Some(h)
    }

    fn paths_of_codes(&self, h: Tensor<2>, batch: &Batch, draws: PathDraws) -> Result<Paths, ModelError> {
        let (expected, actual) = (self.mu.weight.val().dims()[0], h.dims()[1]);
        match expected == actual {
            true => self.paths(h, batch, draws),
            false => Err(ModelError::CodeWidth { expected, actual }),
        }
    }
}

impl PathProcess {
    /// Draws paths with the given parameters through the points of a batch.
    ///
    /// # Errors
    /// When the parameters do not fit the batch, or a path diverges.
    pub fn paths_of(
        &self,
        process: PathParameters,
        batch: &Batch,
        draws: PathDraws,
    ) -> Result<Paths, ModelError> {
        let latent = self.latent();
        let PathDraws { key, samples, first_sample } = draws;
        let (series, dim) = (batch.numbers.clone(), latent.dim);
        let kind = latent.space.start();
        let start = StartPlan { kind, dim, key, series: series.clone(), samples, first_sample };
        let start = start_points(start, process.location, process.spread)?;
        let plan = PathPlan {
            space: latent.space,
            dim,
            samples,
            grid: batch.grid.clone(),
            drift: latent.drift(),
            noise: PathNoise::Counter { key, series, first_sample },
            requests: batch.requests.clone(),
            solver: PathSolver { level: Level::detect(), memory: latent.memory, scheme: latent.scheme },
        };
        let bound = match latent.divergence {
            DivergenceKind::MonteCarlo => None,
            DivergenceKind::FrobeniusBound => {
                let difference = match &process.prior {
                    Some(prior) => process.drift.clone() - prior.clone(),
                    None => process.drift.clone(),
                };
                Some(frobenius_bound(&batch.grid, latent.interval(), difference, process.sigma.clone()))
            }
        };
        let PathStates { states, kl } =
            simulate(plan, start.points, process.drift, process.sigma, process.prior)?;
        let kl_path = bound.unwrap_or_else(|| kl.mean_dim(0).reshape([batch.numbers.len()]));
        Ok(Paths { states, kl_start: start.kl, kl_path })
    }
}
