//! Gradients of states and divergences.

use rayon::prelude::*;
use stroock_geometry::Real;

use super::curve::{CurvePoint, OfKnots, OfPoint};
use super::energy::{Energy, OfEnergy};
use super::map::Draw;
use super::problem::stream;
use super::uniform::divergence_from_uniform;
use super::{MoebiusError, MoebiusProblem};
use crate::argument::check_length;
use crate::noise::Purpose;

/// Gradients of a loss with respect to what a [`MoebiusProblem`] is differentiated in.
///
/// Those of parameters that all series share are given series by series: their sum in the order of series is the same
/// however the batch is split.
#[derive(Clone, Debug, PartialEq)]
pub struct MoebiusGradients<T> {
    /// With respect to the positions, `[K, n]`.
    pub positions: Vec<T>,
    /// With respect to the widths, `[K]`.
    pub widths: Vec<T>,
    /// With respect to `sigma`, of each series, `[B]`.
    pub sigma: Vec<T>,
    /// With respect to the coefficients of the prior's drift, of each series, `[B, n + 2 (n / 2)]`; empty where it has
    /// none.
    pub prior: Vec<T>,
}

/// Gradients of one series.
struct OfSeries {
    knots: OfKnots,
    sigma: f64,
    prior: Vec<f64>,
}

impl<T: Real> MoebiusProblem<'_, T> {
    /// Pulls the gradients of a loss with respect to the states (`[S, Q, n]`), the divergences at the start (`[B]`) and
    /// those along the spans (`[S, B]`) of [`forward`](Self::forward) back to the parameters. States follow the
    /// parameters at fixed noise.
    ///
    /// # Errors
    /// When an argument is not as it should be; the error names it.
    pub fn backward(
        &self,
        of_states: &[T],
        of_kl_start: &[T],
        of_kl_path: &[T],
    ) -> Result<MoebiusGradients<T>, MoebiusError> {
        self.check()?;
        let (n, series, samples) = (self.process.dim, self.process.series(), self.draws.samples);
        let states = samples * self.requests.times.len() * n;
        check_length("of_states", "[samples, requests, dim]", states, of_states.len())?;
        check_length("of_kl_start", "[series]", series, of_kl_start.len())?;
        check_length("of_kl_path", "[samples, series]", samples * series, of_kl_path.len())?;

        let each: Vec<OfSeries> = (0..series)
            .into_par_iter()
            .map(|b| self.of_series(b, of_states, of_kl_start[b], of_kl_path))
            .collect();
        let gather = |part: fn(&OfSeries) -> &[f64]| -> Vec<T> {
            each.iter().flat_map(|of| part(of).iter().map(|&x| T::of(x))).collect()
        };
        Ok(MoebiusGradients {
            positions: gather(|of| &of.knots.positions),
            widths: gather(|of| &of.knots.widths),
            sigma: each.iter().map(|of| T::of(of.sigma)).collect(),
            prior: gather(|of| &of.prior),
        })
    }

    fn of_series(&self, b: usize, of_states: &[T], of_kl_start: T, of_kl_path: &[T]) -> OfSeries {
        let (n, curve, sigma) = (self.process.dim, self.process.curve(b), self.process.sigma.as_f64());
        let (mut at, mut draw, mut energy) = (CurvePoint::new(n), Draw::new(n), Energy::new(n));
        let mut of_point = OfPoint::new(n);
        let mut of = OfSeries {
            knots: OfKnots {
                positions: vec![0.0; curve.positions.len()],
                widths: vec![0.0; curve.widths.len()],
            },
            sigma: 0.0,
            prior: vec![0.0; self.prior.map_or(0, |prior| prior.coefficients.len())],
        };

        let first = self.requests.offsets[b];
        for (place, &time) in self.requests.of_series(b).iter().enumerate() {
            at.go_to(&curve, time);
            of_point.clear();
            for sample in 0..self.draws.samples {
                let row = sample * self.requests.times.len() + first + place;
                let of_z = &of_states[row * n..][..n];
                draw.draw(&mut stream(&self.draws, Purpose::Marginal, sample, b, place), &at);
                draw.pull_back(&at, |i| of_z[i].as_f64(), 0.0, &mut of_point);
            }
            at.pull_back(&of_point, &mut of.knots);
        }

        at.go_to(&curve, self.spans[b][0]);
        of_point.clear();
        of_point.gap = of_kl_start.as_f64() * divergence_from_uniform(n, at.gap).1;
        at.pull_back(&of_point, &mut of.knots);

        for sample in 0..self.draws.samples {
            let weight = of_kl_path[sample * self.process.series() + b].as_f64() * self.stratum(b);
            for stratum in 0..self.strata {
                let (time, mut stream) = self.time_in(stratum, sample, b);
                at.go_to(&curve, time);
                draw.draw(&mut stream, &at);
                of_point.clear();
                let mut of_energy =
                    OfEnergy { point: &mut of_point, sigma: &mut of.sigma, prior: &mut of.prior };
                energy.pull_back(&at, &draw, sigma, self.prior.as_ref(), weight, &mut of_energy);
                at.pull_back(&of_point, &mut of.knots);
            }
        }
        of
    }
}
