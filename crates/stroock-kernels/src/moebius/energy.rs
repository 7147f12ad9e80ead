//! The drift that moves the marginals along their curve, and what it costs against a prior.
//!
//! With `a = 1 - |psi|^2` and `D = |z - psi|^2`,
//!
//! ```text
//! V = P_z x,    x = 2 psi'/(2 - a) + k psi,    k = (n - 1) sigma^2 / D - 2 a' / (a (2 - a))
//! ```
//!
//! is `2 psi'_par/(1 - |psi|^2) + 2 psi'_perp/(1 + |psi|^2) + (n - 1) sigma^2 psi/D` with the parts of `psi'` along and
//! across `psi` put together: it stays finite where `psi` passes through 0 and has no direction. The first two terms
//! carry the distribution by Möbius maps, the last is `sigma^2/2` times the gradient of its logarithmic density: it
//! takes back what the diffusion spreads.

use stroock_geometry::Real;

use super::curve::{CurvePoint, OfPoint};
use super::map::Draw;
use crate::path::Attractor;

/// The drift of the process at the point `z`, into `drift`.
pub(super) fn drift_at(at: &CurvePoint, sigma: f64, z: &[f64], drift: &mut [f64]) {
    let distance: f64 = z.iter().zip(&at.psi).map(|(z, psi)| (z - psi).powi(2)).sum();
    ambient(at, sigma, 1.0 / distance, drift);
    project(z, drift);
}

/// `x`, from `1 / D`; the factors of `psi'` and `psi`.
#[inline]
fn ambient(at: &CurvePoint, sigma: f64, inverse_distance: f64, x: &mut [f64]) -> (f64, f64) {
    let (gap, restoring) = (at.gap, (x.len() as f64 - 1.0) * sigma * sigma);
    let of_velocity = 2.0 / (2.0 - gap);
    let of_psi = restoring * inverse_distance - of_velocity * at.gap_rate / gap;
    for ((x, velocity), psi) in x.iter_mut().zip(&at.velocity).zip(&at.psi) {
        *x = of_velocity * velocity + of_psi * psi;
    }
    (of_velocity, of_psi)
}

/// Takes the part along `z` out of `x`, and gives it.
#[inline]
fn project(z: &[f64], x: &mut [f64]) -> f64 {
    let along: f64 = x.iter().zip(z).map(|(x, z)| x * z).sum();
    x.iter_mut().zip(z).for_each(|(x, z)| *x -= along * z);
    along
}

/// The rate `|V - V_prior|^2 / (2 sigma^2)` of the divergence at a draw of the marginal.
#[derive(Clone, Debug)]
pub(super) struct Energy {
    /// `V - V_prior`.
    difference: Vec<f64>,
    of_point: Vec<f64>,
}

/// Where gradients of the [`Energy`] go to.
pub(super) struct OfEnergy<'a> {
    pub point: &'a mut OfPoint,
    pub sigma: &'a mut f64,
    pub prior: &'a mut [f64],
}

impl Energy {
    pub fn new(dim: usize) -> Self {
        Self { difference: vec![0.0; dim], of_point: vec![0.0; dim] }
    }

    /// The rate.
    pub fn at<T: Real>(
        &mut self,
        at: &CurvePoint,
        draw: &Draw,
        sigma: f64,
        prior: Option<&Attractor<'_, T>>,
    ) -> f64 {
        self.differ(at, draw, sigma, prior);
        self.rate(sigma)
    }

    fn rate(&self, sigma: f64) -> f64 {
        self.difference.iter().map(|v| v * v).sum::<f64>() / (2.0 * sigma * sigma)
    }

    /// Fills `difference`; the factors of `psi'` and `psi`, and the part along `z` before the projection.
    fn differ<T: Real>(
        &mut self,
        at: &CurvePoint,
        draw: &Draw,
        sigma: f64,
        prior: Option<&Attractor<'_, T>>,
    ) -> (f64, f64, f64) {
        // D = a^2 / N.
        let (of_velocity, of_psi) = ambient(at, sigma, draw.square / (at.gap * at.gap), &mut self.difference);
        if let Some(prior) = prior {
            prior.subtract_from(&draw.point, &mut self.difference);
        }
        (of_velocity, of_psi, project(&draw.point, &mut self.difference))
    }

    /// Adds the gradients of `weight` times the rate, through `z` as well.
    pub fn pull_back<T: Real>(
        &mut self,
        at: &CurvePoint,
        draw: &Draw,
        sigma: f64,
        prior: Option<&Attractor<'_, T>>,
        weight: f64,
        of: &mut OfEnergy<'_>,
    ) {
        let (of_velocity, of_psi, along) = self.differ(at, draw, sigma, prior);
        let Self { difference, of_point } = self;
        let square: f64 = difference.iter().map(|v| v * v).sum();
        *of.sigma -= weight * square / sigma.powi(3);

        // The gradient of x is that of V: tangential already.
        let scale = weight / (sigma * sigma);
        difference.iter_mut().for_each(|v| *v *= scale);
        let of_x = &*difference;
        of_point.iter_mut().zip(of_x).for_each(|(of_point, of_x)| *of_point = -along * of_x);
        if let Some(prior) = prior {
            prior.pull_back_field(&draw.point, of_x, of_point, of.prior);
        }
        let (mut with_velocity, mut with_psi) = (0.0, 0.0);
        for i in 0..of_x.len() {
            with_velocity += of_x[i] * at.velocity[i];
            with_psi += of_x[i] * at.psi[i];
            of.point.velocity[i] += of_velocity * of_x[i];
            of.point.psi[i] += of_psi * of_x[i];
        }

        let (gap, gap_rate, square) = (at.gap, at.gap_rate, draw.square);
        let per_distance = (of_x.len() as f64 - 1.0) / (gap * gap);
        let restoring = per_distance * sigma * sigma;
        *of.sigma += with_psi * 2.0 * per_distance * sigma * square;
        of.point.gap_rate -= with_psi * of_velocity / gap;
        of.point.gap += with_velocity * 0.5 * of_velocity * of_velocity
            + with_psi
                * (of_velocity * of_velocity * gap_rate * (1.0 - gap) / (gap * gap)
                    - 2.0 * restoring * square / gap);
        draw.pull_back(at, |i| of_point[i], with_psi * restoring, of.point);
    }
}
