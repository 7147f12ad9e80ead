//! States at requested times and divergences.

use rayon::prelude::*;
use stroock_geometry::Real;

use super::curve::CurvePoint;
use super::energy::Energy;
use super::map::Draw;
use super::problem::stream;
use super::uniform::divergence_from_uniform;
use super::{MoebiusError, MoebiusProblem};
use crate::noise::Purpose;

/// Draws of the marginals, and the divergence of the process from the prior.
#[derive(Clone, Debug, PartialEq)]
pub struct MoebiusDraws<T> {
    /// States at the requested times, `[S, Q, n]`: independent of each other, between times as well.
    pub states: Vec<T>,
    /// Divergence of the marginal at the start of each span from the uniform distribution, `[B]`: exact.
    pub kl_start: Vec<T>,
    /// An unbiased estimate of the divergence along each span for every sample, `[S, B]`.
    pub kl_path: Vec<T>,
}

impl<T: Real> MoebiusProblem<'_, T> {
    /// Draws states, and computes the divergences
    ///
    /// ```text
    /// kl_start = (n - 1) (E ln|u + psi|^2 - ln(1 - |psi|^2))    at the start of the span, u uniform
    /// kl_path  = sum over strata of (length of the stratum) |V - V_prior|^2 / (2 sigma^2)
    /// ```
    ///
    /// the latter at one uniformly random time in each stratum and one draw of the marginal at this time. The mean of
    /// `kl_path` is the divergence of the process in continuous time: nothing is discretised.
    ///
    /// # Errors
    /// When an argument is not as it should be; the error names it.
    pub fn forward(&self) -> Result<MoebiusDraws<T>, MoebiusError> {
        self.check()?;
        Ok(MoebiusDraws { states: self.states(), kl_start: self.kl_start(), kl_path: self.kl_path() })
    }

    fn states(&self) -> Vec<T> {
        let (n, requests) = (self.process.dim, self.requests.times.len());
        let places: Vec<(usize, usize)> = (0..self.process.series())
            .flat_map(|b| (0..self.requests.of_series(b).len()).map(move |place| (b, place)))
            .collect();
        let mut states = vec![T::zero(); self.draws.samples * requests * n];
        let scratch = || (CurvePoint::new(n), Draw::new(n));
        states.par_chunks_exact_mut(n).enumerate().for_each_init(scratch, |(at, draw), (row, z)| {
            let (sample, request) = (row / requests, row % requests);
            let (b, place) = places[request];
            at.go_to(&self.process.curve(b), self.requests.times[request]);
            draw.draw(&mut stream(&self.draws, Purpose::Marginal, sample, b, place), at);
            z.iter_mut().zip(&draw.point).for_each(|(z, x)| *z = T::of(*x));
        });
        states
    }

    fn kl_start(&self) -> Vec<T> {
        let mut at = CurvePoint::new(self.process.dim);
        let mut divergence = |b: usize| {
            at.go_to(&self.process.curve(b), self.spans[b][0]);
            T::of(divergence_from_uniform(self.process.dim, at.gap).0)
        };
        (0..self.process.series()).map(&mut divergence).collect()
    }

    fn kl_path(&self) -> Vec<T> {
        let (n, series, sigma) = (self.process.dim, self.process.series(), self.process.sigma.as_f64());
        let mut kl = vec![T::zero(); self.draws.samples * series];
        let scratch = || (CurvePoint::new(n), Draw::new(n), Energy::new(n));
        kl.par_iter_mut().enumerate().for_each_init(scratch, |(at, draw, energy), (row, kl)| {
            let (sample, b) = (row / series, row % series);
            let curve = self.process.curve(b);
            let mut sum = 0.0;
            for stratum in 0..self.strata {
                let (time, mut stream) = self.time_in(stratum, sample, b);
                at.go_to(&curve, time);
                draw.draw(&mut stream, at);
                sum += energy.at(at, draw, sigma, self.prior.as_ref());
            }
            *kl = T::of(self.stratum(b) * sum);
        });
        kl
    }
}
