//! What marginals, their divergence and their gradients are computed from.

use stroock_geometry::Real;

use super::MoebiusError;
use super::curve::{Curve, CurvePoint, SeriesTimes};
use super::energy::drift_at;
use crate::argument::{check_finite, check_length, check_not_empty, check_offsets, result_length};
use crate::noise::{Purpose, Stream};
use crate::path::Attractor;
use crate::start::Draws;

/// Processes on the sphere whose marginals are spherical Cauchy distributions along curves, one for each of `B` series.
///
/// At a time `t` the marginal is the distribution of `q (u + psi) + psi` with `u` uniform on the sphere,
/// `q = (1 - |psi|^2) / |u + psi|^2`, and
///
/// ```text
/// psi(t) = r w/|w|,    r = y^2,    y = (sqrt(eps^2 + 4) - eps) / 2
/// ```
///
/// where the position `w(t)` and the width `eps(t)` are linear between the knots of the series and constant outside of
/// them. Widths far below 1 are about `sqrt(n - 3)` standard deviations per direction; large widths are uniform. Numbers
/// are exact to rounding for widths from 1e-3 up, in both precisions.
#[derive(Clone, Copy, Debug)]
pub struct MoebiusProcess<'a, T> {
    /// Ambient dimension `n`.
    pub dim: usize,
    /// Times of the knots, `K` in all, increasing within a series.
    pub knots: SeriesTimes<'a>,
    /// `w` at the knots, `[K, n]`.
    pub positions: &'a [T],
    /// `eps` at the knots, `[K]`, positive.
    pub widths: &'a [T],
    /// Scale of the diffusion, positive.
    pub sigma: T,
}

/// What to compute of a [`MoebiusProcess`]: states at requested times, and its divergence from a prior.
///
/// The prior starts from the uniform distribution and has the same diffusion.
#[derive(Clone, Copy, Debug)]
pub struct MoebiusProblem<'a, T> {
    /// The process.
    pub process: MoebiusProcess<'a, T>,
    /// Drift of the prior, one for all series; without one it is Brownian motion.
    pub prior: Option<Attractor<'a, T>>,
    /// Times where states are asked for, `Q` in all, in any order.
    pub requests: SeriesTimes<'a>,
    /// `[B]`: start and end of the time over which the divergence is taken.
    pub spans: &'a [[f64; 2]],
    /// Equal parts of a span, with one random time in each.
    pub strata: usize,
    /// Noise and samples.
    pub draws: Draws<'a>,
}

impl<'a, T: Real> MoebiusProcess<'a, T> {
    /// Number of series.
    pub(super) fn series(&self) -> usize {
        self.knots.offsets.len().saturating_sub(1)
    }

    pub(super) fn curve(&self, series: usize) -> Curve<'a, T> {
        let (first, last) = (self.knots.offsets[series], self.knots.offsets[series + 1]);
        Curve {
            knots: &self.knots.times[first..last],
            positions: &self.positions[first * self.dim..last * self.dim],
            widths: &self.widths[first..last],
        }
    }

    pub(super) fn check(&self) -> Result<(), MoebiusError> {
        if self.dim < 2 {
            return Err(MoebiusError::Dimension { dim: self.dim });
        }
        let SeriesTimes { offsets, times } = self.knots;
        check_offsets("knots.offsets", offsets, times.len(), "knots.times")?;
        check_not_empty([("knots", self.series())])?;
        check_finite("knots.times", times)?;
        for series in 0..self.series() {
            let times = self.knots.of_series(series);
            if times.is_empty() {
                return Err(MoebiusError::NoKnots { series });
            }
            if let Some(index) = times.windows(2).position(|pair| pair[1] <= pair[0]) {
                return Err(MoebiusError::TimesOutOfOrder { argument: "knots", series, index: index + 1 });
            }
        }
        let expected = times.len().saturating_mul(self.dim);
        check_length("positions", "[knots, dim]", expected, self.positions.len())?;
        check_finite("positions", self.positions)?;
        check_length("widths", "[knots]", times.len(), self.widths.len())?;
        let bad = |width: &T| !(*width > T::zero() && width.is_finite());
        if let Some(knot) = self.widths.iter().position(bad) {
            return Err(MoebiusError::Width { knot, width: self.widths[knot].as_f64() });
        }
        if !(self.sigma > T::zero() && self.sigma.is_finite()) {
            return Err(MoebiusError::Sigma { sigma: self.sigma.as_f64() });
        }
        Ok(())
    }

    pub(super) fn check_requests(
        &self,
        requests: &SeriesTimes<'_>,
        draws: &Draws<'_>,
    ) -> Result<(), MoebiusError> {
        let SeriesTimes { offsets, times } = requests;
        check_offsets("requests.offsets", offsets, times.len(), "requests.times")?;
        check_length("requests.offsets", "[series + 1]", self.series() + 1, offsets.len())?;
        check_not_empty([("requests.times", times.len()), ("samples", draws.samples)])?;
        check_finite("requests.times", times)?;
        check_length("series", "[series]", self.series(), draws.series.len())?;
        result_length("samples", &[draws.samples, times.len().max(self.series()), self.dim])?;
        Ok(())
    }

    /// The drift `V(z, t)` of a series of the batch at a point of the sphere.
    ///
    /// Together with the diffusion `sigma` it has the marginals of the process:
    ///
    /// ```text
    /// V = P_z(2 psi'_par/(1 - |psi|^2) + 2 psi'_perp/(1 + |psi|^2) + (n - 1) sigma^2 psi/|z - psi|^2)
    /// ```
    ///
    /// # Errors
    /// When the process is not as it should be, the batch has no such series, or the point has another dimension.
    pub fn drift(&self, series: usize, time: f64, point: &[T]) -> Result<Vec<T>, MoebiusError> {
        self.check()?;
        check_not_empty([("series", self.series().saturating_sub(series))])?;
        check_length("point", "[dim]", self.dim, point.len())?;
        check_finite("point", point)?;
        check_finite("time", &[time])?;
        let mut at = CurvePoint::new(self.dim);
        at.go_to(&self.curve(series), time);
        let z: Vec<f64> = point.iter().map(|x| x.as_f64()).collect();
        let mut drift = vec![0.0; self.dim];
        drift_at(&at, self.sigma.as_f64(), &z, &mut drift);
        Ok(drift.into_iter().map(T::of).collect())
    }

    /// The curves `psi` at the requested times of their series, `[Q, n]`.
    ///
    /// ```
    /// use stroock_kernels::moebius::{MoebiusProcess, SeriesTimes};
    /// let process = MoebiusProcess {
    ///     dim: 2,
    ///     knots: SeriesTimes { offsets: &[0, 2], times: &[0.0, 1.0] },
    ///     positions: &[3.0, 0.0, 0.0, 3.0],
    ///     widths: &[1.5, 1.5],
    ///     sigma: 0.5,
    /// };
    /// // A width of 1.5 is a radius of 1/4.
    /// let psi: Vec<f64> = process.psi(SeriesTimes { offsets: &[0, 1], times: &[0.5] })?;
    /// assert!(psi.iter().all(|x| (x - 0.25 * 0.5f64.sqrt()).abs() < 1e-9));
    /// # Ok::<(), stroock_kernels::moebius::MoebiusError>(())
    /// ```
    ///
    /// # Errors
    /// When the process is not as it should be, or the times are not those of as many series.
    pub fn psi(&self, requests: SeriesTimes<'_>) -> Result<Vec<T>, MoebiusError> {
        self.check()?;
        let SeriesTimes { offsets, times } = requests;
        check_offsets("requests.offsets", offsets, times.len(), "requests.times")?;
        check_length("requests.offsets", "[series + 1]", self.series() + 1, offsets.len())?;
        check_finite("requests.times", times)?;
        let mut at = CurvePoint::new(self.dim);
        let mut psi = Vec::with_capacity(times.len() * self.dim);
        for series in 0..self.series() {
            for &time in requests.of_series(series) {
                at.go_to(&self.curve(series), time);
                psi.extend(at.psi.iter().map(|&x| T::of(x)));
            }
        }
        Ok(psi)
    }
}

impl<T: Real> MoebiusProblem<'_, T> {
    pub(super) fn check(&self) -> Result<(), MoebiusError> {
        self.process.check()?;
        if let Some(prior) = &self.prior {
            prior.check_prior(self.process.dim)?;
        }
        self.process.check_requests(&self.requests, &self.draws)?;
        check_not_empty([("strata", self.strata)])?;
        check_length("spans", "[series, 2]", 2 * self.process.series(), 2 * self.spans.len())?;
        check_finite("spans", self.spans.as_flattened())?;
        match self.spans.iter().position(|[start, end]| end < start) {
            Some(series) => {
                let [start, end] = self.spans[series];
                Err(MoebiusError::Span { series, start, end })
            }
            None => Ok(()),
        }
    }

    /// The length of the strata of a series.
    pub(super) fn stratum(&self, series: usize) -> f64 {
        let [start, end] = self.spans[series];
        (end - start) / self.strata as f64
    }

    /// The random time in a stratum, and the stream that the draw at this time takes its numbers from.
    pub(super) fn time_in(&self, stratum: usize, sample: usize, series: usize) -> (f64, Stream) {
        let mut stream = stream(&self.draws, Purpose::Divergence, sample, series, stratum);
        let place = stratum as f64 + stream.uniform();
        (self.spans[series][0] + place * self.stratum(series), stream)
    }
}

/// The numbers of a sample of a series at a place: a request, a stratum or a step.
pub(super) fn stream(
    draws: &Draws<'_>,
    purpose: Purpose,
    sample: usize,
    series: usize,
    place: usize,
) -> Stream {
    let sample = draws.first_sample.wrapping_add(sample as u32);
    draws.key.stream_at(purpose, draws.series[series], sample, place as u32)
}
