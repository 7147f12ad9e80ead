//! Coherent paths of a process with given marginals, step by step.

use rayon::prelude::*;
use stroock_geometry::Real;

use super::curve::{CurvePoint, SeriesTimes};
use super::energy::drift_at;
use super::map::Draw;
use super::problem::stream;
use super::{MoebiusError, MoebiusProcess};
use crate::argument::{check_finite, check_length};
use crate::noise::{PLACES, Purpose, standard_normals};
use crate::start::Draws;

/// The lengths of the steps of a simulation.
///
/// Where the marginal is narrow the drift pulls hard, at a rate of about `(n - 1) sigma^2 / (1 - |psi|)^2`. A step is a
/// tenth of the time that this rate takes, but not outside of these bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepLengths {
    /// No step is shorter, except where a time or a knot comes first. It bounds the cost where a marginal is very narrow,
    /// and if it is above the time of the drift there, paths are wider than the marginal.
    pub smallest: f64,
    /// No step is longer.
    pub largest: f64,
}

const STEPS_PER_RELAXATION: f64 = 10.0;

impl<T: Real> MoebiusProcess<'_, T> {
    /// Paths at requested times, `[S, Q, n]`, by the steps
    ///
    /// ```text
    /// z <- normalise(z + V(z, t) dt + sigma sqrt(dt) P_z xi),    xi ~ N(0, I)
    /// ```
    ///
    /// from a draw of the marginal at the time `starts[b]`. The times of a series must not decrease. Paths of one
    /// sample are coherent in time, which independent draws of the marginals are not. No gradient.
    ///
    /// ```
    /// use stroock_kernels::moebius::{MoebiusProcess, SeriesTimes, StepLengths};
    /// use stroock_kernels::noise::NoiseKey;
    /// use stroock_kernels::start::Draws;
    /// let process = MoebiusProcess {
    ///     dim: 3,
    ///     knots: SeriesTimes { offsets: &[0, 2], times: &[0.0, 1.0] },
    ///     positions: &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
    ///     widths: &[0.2, 0.4],
    ///     sigma: 0.5,
    /// };
    /// let requests = SeriesTimes { offsets: &[0, 3], times: &[0.0, 0.5, 2.0] };
    /// let draws = Draws { key: NoiseKey::new(1, 0), series: &[0], samples: 4, first_sample: 0 };
    /// let steps = StepLengths { smallest: 1e-3, largest: 1e-2 };
    /// let paths: Vec<f64> = process.simulate(requests, &[0.0], steps, draws)?;
    /// assert_eq!(paths.len(), 4 * 3 * 3);
    /// # Ok::<(), stroock_kernels::moebius::MoebiusError>(())
    /// ```
    ///
    /// # Errors
    /// When an argument is not as it should be; the error names it.
    pub fn simulate(
        &self,
        requests: SeriesTimes<'_>,
        starts: &[f64],
        steps: StepLengths,
        draws: Draws<'_>,
    ) -> Result<Vec<T>, MoebiusError> {
        self.check()?;
        self.check_requests(&requests, &draws)?;
        self.check_path(&requests, starts, steps)?;
        let (n, series, count) = (self.dim, self.series(), requests.times.len());
        let paths: Vec<Vec<T>> = (0..draws.samples * series)
            .into_par_iter()
            .map(|row| self.path(requests, starts, steps, &draws, row / series, row % series))
            .collect::<Result<_, _>>()?;
        let mut states = Vec::with_capacity(draws.samples * count * n);
        paths.into_iter().for_each(|path| states.extend(path));
        Ok(states)
    }

    fn check_path(
        &self,
        requests: &SeriesTimes<'_>,
        starts: &[f64],
        steps: StepLengths,
    ) -> Result<(), MoebiusError> {
        let StepLengths { smallest, largest } = steps;
        if !(0.0 < smallest && smallest <= largest && largest.is_finite()) {
            return Err(MoebiusError::Steps { smallest, largest });
        }
        check_length("starts", "[series]", self.series(), starts.len())?;
        check_finite("starts", starts)?;
        for (series, &start) in starts.iter().enumerate() {
            let times = requests.of_series(series);
            if let Some(&time) = times.first().filter(|time| **time < start) {
                return Err(MoebiusError::RequestBeforeStart { series, time, start });
            }
            if let Some(index) = times.windows(2).position(|pair| pair[1] < pair[0]) {
                return Err(MoebiusError::TimesOutOfOrder { argument: "requests", series, index: index + 1 });
            }
        }
        Ok(())
    }

    /// The states of one sample of one series.
    fn path(
        &self,
        requests: SeriesTimes<'_>,
        starts: &[f64],
        steps: StepLengths,
        draws: &Draws<'_>,
        sample: usize,
        b: usize,
    ) -> Result<Vec<T>, MoebiusError> {
        let (n, curve, sigma) = (self.dim, self.curve(b), self.sigma.as_f64());
        let mut numbers =
            (0..PLACES).map(|place| stream(draws, Purpose::Simulation, sample, b, place as usize));
        let mut more = || numbers.next().ok_or(MoebiusError::TooManySteps { series: b, most: PLACES });

        let (mut at, mut draw) = (CurvePoint::new(n), Draw::new(n));
        let mut time = starts[b];
        at.go_to(&curve, time);
        draw.draw(&mut more()?, &at);
        let mut z = draw.point;
        let [mut drift, mut xi] = [vec![0.0; n], vec![0.0; n]];
        let mut states = Vec::with_capacity(requests.of_series(b).len() * n);
        for &request in requests.of_series(b) {
            while time < request {
                at.go_to(&curve, time);
                // The velocity of the curve jumps at knots: no step goes across.
                let knot = curve.knots.get(curve.knots.partition_point(|&knot| knot <= time));
                let until = knot.map_or(request, |&knot| knot.min(request));
                let dt = match step(&at, sigma, steps) {
                    dt if time + 1.000_001 * dt < until => dt,
                    _ => until - time,
                };
                standard_normals(&mut more()?, &mut xi);
                drift_at(&at, sigma, &z, &mut drift);
                advance(&mut z, &drift, &xi, dt, sigma * dt.sqrt());
                time = if dt == until - time { until } else { time + dt };
            }
            states.extend(z.iter().map(|&x| T::of(x)));
        }
        Ok(states)
    }
}

/// The length of the step at a point of the curve.
fn step(at: &CurvePoint, sigma: f64, StepLengths { smallest, largest }: StepLengths) -> f64 {
    let n = at.psi.len() as f64;
    // 1 - |psi|.
    let distance = at.gap / (1.0 + (1.0 - at.gap).max(0.0).sqrt());
    let relaxation = distance * distance / ((n - 1.0) * sigma * sigma);
    (relaxation / STEPS_PER_RELAXATION).clamp(smallest, largest)
}

/// `z <- normalise(z + drift dt + scale P_z xi)`.
fn advance(z: &mut [f64], drift: &[f64], xi: &[f64], dt: f64, scale: f64) {
    let along: f64 = z.iter().zip(xi).map(|(z, xi)| z * xi).sum();
    let mut square = 0.0;
    for i in 0..z.len() {
        z[i] += drift[i] * dt + scale * (xi[i] - along * z[i]);
        square += z[i] * z[i];
    }
    let norm = square.sqrt();
    z.iter_mut().for_each(|z| *z /= norm);
}
