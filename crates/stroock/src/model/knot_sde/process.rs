//! Random paths from the states of knots.

use burn::module::Module;
use burn::tensor::{Int, Tensor, TensorData};
use stroock_kernels::path::{Memory, PathSolver, Scheme, Space};
use stroock_kernels::simd::Level;

use super::codes;
use crate::batch::Batch;
use crate::encoder::Knots;
use crate::latent::{
    LearnedAttractor, MarginalProcess, MoebiusPlan, PathDrift, PathGrid, PathNoise, PathPlan, RaggedTimes,
    StartPlan, SteeredParameters, SteeredProcess, Steering, moebius, prior_start, simulate, start_points,
};
use crate::model::latent_sde::{Paths, Process};
use crate::model::{ModelError, PathDraws};

/// One of the processes that follow knots.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one of them in a model")]
pub enum KnotProcess {
    /// Paths are pulled towards a moving target.
    Steered(SteeredProcess),
    /// Marginals are given, paths follow.
    Marginal(MarginalProcess),
}

impl Process for KnotProcess {
    type Representation = Knots;

    fn paths(&self, knots: Knots, batch: &Batch, draws: PathDraws) -> Result<Paths, ModelError> {
        match self {
            KnotProcess::Steered(process) => {
                let (parameters, knots) = released(process.parameters(&knots), knots.into(), batch);
                steered_paths(parameters, knots, batch, draws)
            }
            KnotProcess::Marginal(process) => {
                marginal_states(process, process.parameters(&knots), knots.into(), batch, draws)
            }
        }
    }

    /// From the uniform distribution, where nothing but the prior's own drift pulls.
    fn prior_paths(&self, batch: &Batch, draws: PathDraws) -> Result<Paths, ModelError> {
        let (dim, sigma, prior) = match self {
            KnotProcess::Steered(process) => (process.config().dim, process.scale(), &process.prior),
            KnotProcess::Marginal(process) => (process.config().dim, process.scale(), &process.prior),
        };
        let series = batch.numbers.len();
        let (location, spread) = prior_start(Space::Sphere, dim, series, &sigma);
        let parameters = SteeredParameters {
            steering: Tensor::zeros([series, dim], (&sigma.device(), sigma.dtype())),
            location,
            spread,
            sigma,
            prior: prior.as_ref().map(|prior| prior.coefficients(series)),
        };
        // One knot for each series, where nothing pulls.
        let knots = RaggedTimes { offsets: (0..=series).collect(), times: vec![0.0; series] };
        steered_paths(parameters, knots, batch, draws)
    }

    /// What leads the paths at evenly spaced times.
    fn codes(&self, knots: Knots) -> Option<Tensor<2>> {
        Some(match self {
            KnotProcess::Steered(process) => codes::of_steered(&process.parameters(&knots), &knots.into()),
            KnotProcess::Marginal(process) => codes::of_marginals(process.parameters(&knots), &knots.into()),
        })
    }

    fn paths_of_codes(&self, codes: Tensor<2>, batch: &Batch, draws: PathDraws) -> Result<Paths, ModelError> {
        match self {
            KnotProcess::Steered(process) => {
                let (parameters, knots) = codes::to_steered(codes, process)?;
                let (parameters, knots) = released(parameters, knots, batch);
                steered_paths(parameters, knots, batch, draws)
            }
            KnotProcess::Marginal(process) => {
                let (marginals, knots) = codes::to_marginals(codes, process)?;
                marginal_states(process, marginals, knots, batch, draws)
            }
        }
    }

    fn steering(&self, knots: Knots, batch: &Batch) -> Result<Option<Steering>, ModelError> {
        let requests = requests(batch);
        Ok(Some(match self {
            KnotProcess::Steered(process) => {
                let (parameters, knots) = released(process.parameters(&knots), knots.into(), batch);
                parameters.steering(&knots, &requests)
            }
            KnotProcess::Marginal(process) => process.steering(&knots, &requests)?,
        }))
    }
}

/// Lets go of paths that go on beyond the last knot of their series: one more knot, where nothing is steered, as far
/// behind the last as that is behind the one before. What comes later follows the prior.
fn released(
    mut process: SteeredParameters,
    RaggedTimes { offsets, times }: RaggedTimes,
    batch: &Batch,
) -> (SteeredParameters, RaggedTimes) {
    let beyond = |b: usize| {
        let grid = batch.grid.of_series(b);
        offsets[b + 1] > offsets[b] && grid[grid.len() - 1] > times[offsets[b + 1] - 1]
    };
    if !(0..batch.numbers.len()).any(beyond) {
        return (process, RaggedTimes { offsets, times });
    }
    let nothing = times.len() as i64;
    let (mut rows, mut all, mut starts) = (Vec::new(), Vec::new(), vec![0]);
    for run in offsets.windows(2) {
        rows.extend((run[0]..run[1]).map(|row| row as i64));
        all.extend_from_slice(&times[run[0]..run[1]]);
        if let [.., before, last] = times[run[0]..run[1]] {
            rows.push(nothing);
            all.push(last + (last - before));
        }
        starts.push(all.len());
    }
    let steering = process.steering;
    let zero = steering.clone().narrow(0, 0, 1).zeros_like();
    let rows = Tensor::<1, Int>::from_data(TensorData::new(rows, [all.len()]), &steering.device());
    process.steering = Tensor::cat(vec![steering, zero], 0).select(0, rows);
    (process, RaggedTimes { offsets: starts, times: all })
}

/// The times at which states of a batch are asked for.
fn requests(batch: &Batch) -> RaggedTimes {
    RaggedTimes { offsets: batch.requests.offsets.clone(), times: batch.request_times() }
}

fn steered_paths(
    process: SteeredParameters,
    RaggedTimes { offsets, times }: RaggedTimes,
    batch: &Batch,
    draws: PathDraws,
) -> Result<Paths, ModelError> {
    let PathDraws { key, samples, first_sample } = draws;
    let (space, series, dim) = (Space::Sphere, batch.numbers.clone(), process.location.dims()[1]);
    let start = StartPlan { kind: space.start(), dim, key, series: series.clone(), samples, first_sample };
    let start = start_points(start, process.location, process.spread)?;
    let plan = PathPlan {
        space,
        dim,
        samples,
        grid: batch.grid.clone(),
        drift: PathDrift::PiecewiseLinear { knots: PathGrid::PerSeries { offsets, times } },
        noise: PathNoise::Counter { key, series, first_sample },
        requests: batch.requests.clone(),
        solver: PathSolver { level: Level::detect(), memory: Memory::Stored, scheme: Scheme::Steered },
    };
    let steering = process.steering.unsqueeze_dim::<3>(0);
    let paths = simulate(plan, start.points, steering, process.sigma, process.prior)?;
    let kl_path = paths.kl.mean_dim(0).reshape([batch.numbers.len()]);
    Ok(Paths { states: paths.states, kl_start: start.kl, kl_path })
}

/// Independent draws at the points of a batch.
fn marginal_states(
    process: &MarginalProcess,
    (positions, widths): (Tensor<2>, Tensor<1>),
    knots: RaggedTimes,
    batch: &Batch,
    draws: PathDraws,
) -> Result<Paths, ModelError> {
    let spans = (0..batch.numbers.len()).map(|b| {
        let times = batch.grid.of_series(b);
        [times[0], times[times.len() - 1]]
    });
    let plan = MoebiusPlan {
        dim: process.config().dim,
        samples: draws.samples,
        knots,
        requests: requests(batch),
        spans: spans.collect(),
        strata: process.config().strata,
        key: draws.key,
        series: batch.numbers.clone(),
        first_sample: draws.first_sample,
    };
    let prior = process.prior.as_ref().map(LearnedAttractor::prior);
    let found = moebius(plan, positions, widths, process.scale(), prior)?;
    let kl_path = found.kl_path.mean_dim(0).reshape([batch.numbers.len()]);
    Ok(Paths { states: found.states, kl_start: found.kl_start, kl_path })
}
