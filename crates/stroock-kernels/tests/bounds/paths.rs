//! Bounds of simulated paths, steered or open loops, from power spherical start points.

use stroock_kernels::noise::NoiseKey;
use stroock_kernels::path::{
    Attractor, Grid, Noise, Path, PathProblem, PathSolver, PiecewiseLinear, Prior, Requests, Scheme, Space,
};
use stroock_kernels::start::{Draws, PowerSphericalStart, StartDistribution};
use stroock_testing::statistics::{Estimate, estimate};

use crate::adam::{self, Adam};
use crate::marginals::{dot, unit};
use crate::observed::{Observed, SIGMA, TIMES};

/// Steps a unit of time: of an ascent, and of what is compared with the evidence in continuous time.
const COARSE: usize = 80;
const FINE: usize = 400;

#[derive(Clone, Copy, PartialEq)]
pub enum Family {
    /// A drift in the Lie algebra that sees the time alone.
    OpenLoop,
    /// A pull to a moving target.
    Steered,
}

impl Family {
    fn scheme(self) -> Scheme {
        match self {
            Family::OpenLoop => Scheme::GeometricEuler,
            Family::Steered => Scheme::Steered,
        }
    }

    /// Without a drift, from about the first observation.
    pub fn at_rest(self, observed: &Observed) -> Paths {
        let times = coarse_knots();
        let numbers = self.scheme().drift_len(Space::Sphere, observed.dim);
        Paths {
            family: self,
            drift: vec![0.0; times.len() * numbers],
            times,
            mu: unit(observed.observations[0].clone()),
            kappa: 3.0,
        }
    }
}

/// A process: its drift is linear in time between knots.
#[derive(Clone)]
pub struct Paths {
    family: Family,
    /// Knots `[knots]`, and the drift at them, `[knots, m]`.
    times: Vec<f64>,
    drift: Vec<f64>,
    /// The distribution of its start.
    mu: Vec<f64>,
    kappa: f64,
}

/// Two knots in front of an observation, one behind it: a pull to it ends there.
fn coarse_knots() -> Vec<f64> {
    let ends = [0.0].into_iter().chain(TIMES);
    let gaps = ends.zip(TIMES).flat_map(|(from, to)| [from, 0.5 * (from + to), to - 1.0 / COARSE as f64]);
    gaps.collect()
}

/// What an observer who looks backwards in time knows: `exp(<eta(t), z>)` stands for the likelihood of the observations
/// after `t`, given the state `z`. An observation `x` adds `x / noise^2`, exactly; over a time `dt` without one,
/// `1 / |eta|` grows by `sigma^2 dt`. Paths are steered by `gain sigma^2 eta`.
pub fn backward_filter(observed: &Observed, gain: f64) -> Paths {
    let dt = 1.0 / FINE as f64;
    let steps = (TIMES[TIMES.len() - 1] * FINE as f64).round() as usize;
    let mut eta = vec![0.0; observed.dim];
    let mut drift = Vec::new();
    for j in (0..steps).rev() {
        for (time, x) in TIMES.iter().zip(&observed.observations) {
            if (time * FINE as f64).round() as usize == j + 1 {
                eta.iter_mut().zip(x).for_each(|(eta, x)| *eta += x / (observed.noise * observed.noise));
            }
        }
        let shrink = 1.0 + dot(&eta, &eta).sqrt() * SIGMA * SIGMA * dt;
        eta.iter_mut().for_each(|eta| *eta /= shrink);
        drift.push(eta.iter().map(|eta| gain * SIGMA * SIGMA * eta).collect::<Vec<_>>());
    }
    drift.reverse();
    Paths {
        family: Family::Steered,
        times: (0..steps).map(|j| j as f64 * dt).collect(),
        drift: drift.concat(),
        // (1 + cos(angle))^kappa is about as wide as exp(kappa / 2 cos(angle)).
        kappa: 2.0 * dot(&eta, &eta).sqrt(),
        mu: unit(eta),
    }
}

impl Paths {
    fn solver(&self) -> PathSolver {
        PathSolver { scheme: self.family.scheme(), ..PathSolver::default() }
    }

    /// With few knots.
    pub fn coarse(&self) -> Self {
        let times = coarse_knots();
        let numbers = self.drift.len() / self.times.len();
        let at = |time: &f64| {
            let knot = self.times.partition_point(|knot| *knot <= time + 1e-9) - 1;
            self.drift[knot * numbers..(knot + 1) * numbers].to_vec()
        };
        Self { drift: times.iter().flat_map(at).collect(), times, ..self.clone() }
    }

    /// Runs `code` on the problem of the paths and the draws of their start points.
    fn with_problem<R>(
        &self,
        observed: &Observed,
        per_time: usize,
        samples: usize,
        key: NoiseKey,
        code: impl FnOnce(&PathProblem<'_, f64>, Draws<'_>, PowerSphericalStart<'_, f64>) -> R,
    ) -> R {
        let index = |time: f64| (time * per_time as f64).round() as usize;
        let steps = index(TIMES[TIMES.len() - 1]);
        let grid: Vec<f64> = (0..=steps).map(|j| j as f64 / per_time as f64).collect();
        let draws = Draws { key, series: &[0], samples, first_sample: 0 };
        let start = PowerSphericalStart { dim: observed.dim, mu: &self.mu, kappa: &[self.kappa] };
        let problem = PathProblem {
            space: Space::Sphere,
            dim: observed.dim,
            samples,
            grid: Grid::Shared(&grid),
            drift: PiecewiseLinear { knots: Grid::Shared(&self.times), coefficients: &self.drift }.into(),
            prior: match &observed.prior {
                None => Prior::Driftless,
                Some(coefficients) => Prior::Drift(Attractor { coefficients }.into()),
            },
            sigma: SIGMA,
            start: &start.sample(draws).unwrap(),
            noise: Noise::Counter { key, series: &[0], first_sample: 0 },
            requests: Requests::At { offsets: &[0, TIMES.len()], indices: &TIMES.map(index) },
        };
        code(&problem, draws, start)
    }

    /// The evidence lower bound.
    pub fn bound(&self, observed: &Observed) -> Estimate {
        self.with_problem(observed, FINE, 4_000, NoiseKey::new(2, 0), |problem, _, start| {
            let Path { states, kl, .. } = self.solver().forward(problem).unwrap();
            let of_start = start.divergence().unwrap()[0];
            let rows = states.chunks_exact(TIMES.len() * observed.dim).zip(&kl);
            estimate(rows.map(|(states, kl)| observed.ln_likelihoods(states) - kl - of_start))
        })
    }

    /// After some steps of Adam up the bound, in the drift and in the mean and the logarithm of the concentration of the
    /// start.
    pub fn improved(&self, observed: &Observed) -> Self {
        const SAMPLES: usize = 64;
        let (mut paths, mut adam) = (self.clone(), Adam::new());
        for step in 0..adam::STEPS {
            let key = NoiseKey::new(1, step as u64);
            let (of_drift, of_start) =
                paths.with_problem(observed, COARSE, SAMPLES, key, |problem, draws, start| {
                    let share = 1.0 / SAMPLES as f64;
                    let path = paths.solver().forward(problem).unwrap();
                    let of_states = observed.of_states(&path.states, share);
                    let of_path = [-share; SAMPLES];
                    let gradients =
                        paths.solver().backward(problem, &path.tape, &of_states, &of_path).unwrap();
                    (gradients.drift, start.pull_back(draws, &gradients.start, &[-1.0]).unwrap())
                });
            let up = [of_drift, of_start.location, vec![of_start.spread[0] * paths.kappa]].concat();
            let changes = adam.changes(&up);
            let (of_drift, of_start) = changes.split_at(paths.drift.len());
            // A pull is worth so many units of itself.
            paths.drift.iter_mut().zip(of_drift).for_each(|(x, change)| *x += 4.0 * change);
            paths.mu.iter_mut().zip(of_start).for_each(|(x, change)| *x += change);
            paths.mu = unit(paths.mu);
            paths.kappa *= of_start[observed.dim].exp();
        }
        paths
    }
}
