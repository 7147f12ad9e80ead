//! The extents of a path problem, and the checks that it makes sense.

use stroock_geometry::Real;

use super::drift::{Described, Drift, Extents, Role};
use super::problem::{Grid, Noise, PathProblem, Prior, Requests};
use super::scheme::Scheme;
use super::space::{Geometry, OnSpace};
use super::{Memory, PathError, PathSolver};
use crate::argument::{self, ArgumentError, check_finite, check_length, check_not_empty};

/// The extents of a problem that has passed its checks.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Numbers of a drift: the dimension of the Lie algebra, or what the scheme asks for instead.
    pub m: usize,
    /// Normals of a step.
    pub normals: usize,
    /// Number of series `B`.
    pub series: usize,
    /// `[B + 1]`: steps of all series before series `b`.
    pub step_offsets: Vec<usize>,
    /// `[B + 1]`: requests of all series before series `b`.
    pub request_offsets: Vec<usize>,
}

impl Layout {
    pub fn steps(&self, series: usize) -> usize {
        self.step_offsets[series + 1] - self.step_offsets[series]
    }

    pub fn all_requests(&self) -> usize {
        self.request_offsets[self.series]
    }
}

impl<T: Real> PathProblem<'_, T> {
    /// Checks every argument.
    pub(super) fn layout(&self, solver: &PathSolver) -> Result<Layout, PathError> {
        let (space, scheme) = (self.space, solver.scheme);
        let (n, least) = (self.dim, space.least_dim());
        if n < least {
            return Err(PathError::Dimension { dim: n, least });
        }
        check_not_empty([("samples", self.samples)])?;
        if !(self.sigma > T::zero() && self.sigma.is_finite()) {
            return Err(PathError::Sigma { sigma: self.sigma.as_f64() });
        }
        let row = self.samples.saturating_mul(n);
        let series = self.start.len() / row;
        check_not_empty([("start", series)])?;
        check_length("start", "[samples, series, dim]", series * row, self.start.len())?;
        check_finite("start", self.start)?;
        self.check_start()?;

        if !space.run(Serves(scheme)) {
            return Err(PathError::SchemeOnSpace { scheme, space });
        }
        if solver.memory == Memory::Reversible && !scheme.reverses() {
            return Err(PathError::SchemeDoesNotReverse { scheme });
        }
        let drifts = [Some(&self.drift), self.prior.drift()];
        let attracts = |drift: &Option<&Drift<'_, T>>| matches!(drift, Some(Drift::Attractor(_)));
        if !scheme.is_steered() && drifts.iter().any(attracts) {
            return Err(PathError::AttractorOfScheme { scheme });
        }
        let (m, normals) = (scheme.drift_len(space, n), space.run(NormalsOf(scheme, n)));
        let step_offsets = self.grid.step_offsets(series)?;
        let steps = step_offsets[series];
        let extents = Extents { series, m, step_offsets: &step_offsets };
        self.drift.check(Role::Posterior, extents)?;
        if let Prior::Drift(prior) = &self.prior {
            prior.check(Role::Prior, extents)?;
        }
        self.noise.check(series, self.samples.saturating_mul(steps).saturating_mul(normals))?;
        let request_offsets = self.requests.offsets(&step_offsets)?;
        Ok(Layout { m, normals, series, step_offsets, request_offsets })
    }

    fn check_start(&self) -> Result<(), PathError> {
        let mut doubles = vec![0.0; self.dim];
        for (row, z) in self.start.chunks_exact(self.dim).enumerate() {
            doubles.iter_mut().zip(z).for_each(|(double, z)| *double = z.as_f64());
            if let Some(misfit) = self.space.misfit(&doubles) {
                return Err(PathError::StartOffSpace { row, misfit });
            }
        }
        Ok(())
    }
}

impl<T: Real> Noise<'_, T> {
    /// Checks the numbers of `series` series, or `expected` given ones.
    pub(crate) fn check(&self, series: usize, expected: usize) -> Result<(), ArgumentError> {
        match self {
            Noise::Counter { series: numbers, .. } => {
                check_length("noise.series", "[series]", series, numbers.len())
            }
            Noise::Given(values) => {
                check_length("noise", "[samples, series, steps, normals]", expected, values.len())?;
                check_finite("noise", values)
            }
        }
    }
}

impl<T: Real> Grid<'_, T> {
    /// `[B + 1]`: steps of all series before series `b`, of as many as there are.
    pub(crate) fn step_offsets(&self, series: usize) -> Result<Vec<usize>, PathError> {
        match *self {
            Grid::Shared(times) => {
                check_times("grid", 0, times)?;
                Ok((0..=series).map(|b| b * (times.len() - 1)).collect())
            }
            Grid::PerSeries { offsets, times } => {
                check_offsets("grid.offsets", offsets, series, times.len(), "grid.times")?;
                let mut step_offsets = vec![0];
                for (b, run) in offsets.windows(2).enumerate() {
                    check_times("grid", b, &times[run[0]..run[1]])?;
                    step_offsets.push(step_offsets[b] + run[1] - run[0] - 1);
                }
                Ok(step_offsets)
            }
        }
    }
}

impl Requests<'_> {
    /// `[B + 1]`: requests of all series before series `b`, on grids with these steps.
    pub(crate) fn offsets(&self, step_offsets: &[usize]) -> Result<Vec<usize>, PathError> {
        let series = step_offsets.len() - 1;
        match *self {
            Requests::All => Ok(step_offsets.iter().enumerate().map(|(b, steps)| steps + b).collect()),
            Requests::At { offsets, indices } => {
                check_offsets("requests.offsets", offsets, series, indices.len(), "requests.indices")?;
                for (b, run) in offsets.windows(2).enumerate() {
                    let times = step_offsets[b + 1] - step_offsets[b] + 1;
                    let wanted = &indices[run[0]..run[1]];
                    if let Some(&index) = wanted.iter().find(|&&index| index >= times) {
                        return Err(PathError::RequestOutsideGrid { series: b, index, times });
                    }
                    if let Some(position) = wanted.windows(2).position(|pair| pair[1] < pair[0]) {
                        return Err(PathError::RequestsDecrease { series: b, position: position + 1 });
                    }
                }
                Ok(offsets.to_vec())
            }
        }
    }
}

/// Whether a scheme has steps on a space.
struct Serves(Scheme);

impl OnSpace for Serves {
    type Output = bool;

    fn run<S: Geometry>(self) -> bool {
        self.0.serves::<S>()
    }
}

/// Normals of a step of a scheme in an ambient dimension.
struct NormalsOf(Scheme, usize);

impl OnSpace for NormalsOf {
    type Output = usize;

    fn run<S: Geometry>(self) -> usize {
        self.0.normals::<S>(self.1)
    }
}

pub(super) fn check_times<T: Real>(
    argument: &'static str,
    series: usize,
    times: &[T],
) -> Result<(), PathError> {
    if times.is_empty() {
        return Err(PathError::NoTimes { argument, series });
    }
    check_finite(argument, times)?;
    match times.windows(2).position(|pair| pair[1] <= pair[0]) {
        Some(index) => Err(PathError::TimesNotIncreasing { argument, series, index: index + 1 }),
        None => Ok(()),
    }
}

pub(crate) fn check_offsets(
    argument: &'static str,
    offsets: &[usize],
    series: usize,
    total: usize,
    values: &'static str,
) -> Result<(), ArgumentError> {
    check_length(argument, "[series + 1]", series + 1, offsets.len())?;
    argument::check_offsets(argument, offsets, total, values)
}
