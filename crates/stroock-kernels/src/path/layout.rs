//! The extents of a path problem, and the checks that it makes sense.

use stroock_geometry::Real;

use super::PathError;
use super::problem::{Drift, Grid, Noise, PathProblem, Prior, Requests, Space};
use crate::argument::{self, ArgumentError, check_finite, check_length, check_not_empty};

/// The extents of a problem that has passed its checks.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Dimension of the Lie algebra.
    pub m: usize,
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

    pub fn all_steps(&self) -> usize {
        self.step_offsets[self.series]
    }

    pub fn all_requests(&self) -> usize {
        self.request_offsets[self.series]
    }
}

impl<T: Real> PathProblem<'_, T> {
    /// Checks every argument.
    pub(super) fn layout(&self) -> Result<Layout, PathError> {
        let (n, least) = (self.dim, self.space.least_dim());
        if n < least {
            return Err(PathError::Dimension { dim: n, least });
        }
        check_not_empty([("samples", self.samples)])?;
        if !(self.sigma > T::zero() && self.sigma.is_finite()) {
            return Err(PathError::Sigma { sigma: self.sigma.as_f64() });
        }
        let row = self.samples * n;
        let series = self.start.len() / row;
        check_not_empty([("start", series)])?;
        check_length("start", "[samples, series, dim]", series * row, self.start.len())?;
        check_finite("start", self.start)?;
        self.check_start()?;

        let m = self.space.algebra_dim(n);
        let step_offsets = self.step_offsets(series)?;
        let steps = step_offsets[series];
        self.check_drift(series, m, steps)?;
        self.check_prior(series, m)?;
        match self.noise {
            Noise::Counter { series: numbers, .. } => {
                check_length("noise.series", "[series]", series, numbers.len())?;
            }
            Noise::Given(values) => {
                check_length("noise", "[samples, series, steps, m]", self.samples * steps * m, values.len())?;
                check_finite("noise", values)?;
            }
        }
        let request_offsets = self.request_offsets(series, &step_offsets)?;
        Ok(Layout { m, series, step_offsets, request_offsets })
    }

    fn check_start(&self) -> Result<(), PathError> {
        for (row, z) in self.start.chunks_exact(self.dim).enumerate() {
            let norm = z.iter().map(|x| x.as_f64() * x.as_f64()).sum::<f64>().sqrt();
            let on_space = match self.space {
                // Wide enough for a start point normalised in single precision, or stored in half.
                Space::Sphere => (norm - 1.0).abs() < 1e-3,
                Space::GeneralLinear => norm > 0.0,
            };
            if !on_space {
                return Err(PathError::StartOffSpace { row, norm });
            }
        }
        Ok(())
    }

    fn step_offsets(&self, series: usize) -> Result<Vec<usize>, PathError> {
        match self.grid {
            Grid::Shared(times) => {
                check_times(0, times)?;
                Ok((0..=series).map(|b| b * (times.len() - 1)).collect())
            }
            Grid::PerSeries { offsets, times } => {
                check_offsets("grid.offsets", offsets, series, times.len(), "grid.times")?;
                let mut step_offsets = vec![0];
                for (b, run) in offsets.windows(2).enumerate() {
                    check_times(b, &times[run[0]..run[1]])?;
                    step_offsets.push(step_offsets[b] + run[1] - run[0] - 1);
                }
                Ok(step_offsets)
            }
        }
    }

    fn check_drift(&self, series: usize, m: usize, steps: usize) -> Result<(), PathError> {
        match self.drift {
            Drift::Chebyshev { terms, interval, coefficients } => {
                let names = ["drift.terms", "drift.interval", "drift.coefficients"];
                check_chebyshev(names, terms, interval, series * m, coefficients)
            }
            Drift::Steps(values) => {
                check_length("drift", "[series, steps, m]", steps * m, values.len())?;
                Ok(check_finite("drift", values)?)
            }
        }
    }

    fn check_prior(&self, series: usize, m: usize) -> Result<(), PathError> {
        match self.prior {
            Prior::Driftless => Ok(()),
            Prior::Chebyshev { terms, interval, coefficients } => {
                let names = ["prior.terms", "prior.interval", "prior.coefficients"];
                check_chebyshev(names, terms, interval, series * m, coefficients)
            }
        }
    }

    fn request_offsets(&self, series: usize, step_offsets: &[usize]) -> Result<Vec<usize>, PathError> {
        match self.requests {
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

/// Checks a sum over Chebyshev polynomials with `sums` of them in the batch.
fn check_chebyshev<T: Real>(
    [terms_name, interval_name, coefficients_name]: [&'static str; 3],
    terms: usize,
    (start, end): (T, T),
    sums: usize,
    coefficients: &[T],
) -> Result<(), PathError> {
    check_not_empty([(terms_name, terms)])?;
    if !(start < end && start.is_finite() && end.is_finite()) {
        let (start, end) = (start.as_f64(), end.as_f64());
        return Err(PathError::Interval { argument: interval_name, start, end });
    }
    let expected = sums.saturating_mul(terms);
    check_length(coefficients_name, "[series, m, terms]", expected, coefficients.len())?;
    Ok(check_finite(coefficients_name, coefficients)?)
}

fn check_times<T: Real>(series: usize, times: &[T]) -> Result<(), PathError> {
    if times.is_empty() {
        return Err(PathError::NoTimes { series });
    }
    check_finite("grid", times)?;
    match times.windows(2).position(|pair| pair[1] <= pair[0]) {
        Some(index) => Err(PathError::TimesNotIncreasing { series, index: index + 1 }),
        None => Ok(()),
    }
}

fn check_offsets(
    argument: &'static str,
    offsets: &[usize],
    series: usize,
    total: usize,
    values: &'static str,
) -> Result<(), ArgumentError> {
    check_length(argument, "[series + 1]", series + 1, offsets.len())?;
    argument::check_offsets(argument, offsets, total, values)
}
