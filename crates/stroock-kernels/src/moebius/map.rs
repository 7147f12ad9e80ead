//! Draws from a spherical Cauchy distribution: the Möbius map of a uniform point.

use super::curve::{CurvePoint, OfPoint};
use crate::noise::{Stream, standard_normals};

/// A point `z = q s + psi` with `s = u + psi`, `N = |s|^2`, `q = (1 - |psi|^2) / N` and `u` uniform on the sphere.
///
/// Its distance from `psi` is known without a difference: `|z - psi|^2 = q^2 N = (1 - |psi|^2)^2 / N`.
#[derive(Clone, Debug)]
pub(super) struct Draw {
    /// `z`.
    pub point: Vec<f64>,
    /// `N`.
    pub square: f64,
    sum: Vec<f64>,
}

impl Draw {
    pub fn new(dim: usize) -> Self {
        Self { point: vec![0.0; dim], square: 1.0, sum: vec![0.0; dim] }
    }

    /// Draws `u` from the stream and maps it.
    pub fn draw(&mut self, stream: &mut Stream, at: &CurvePoint) {
        standard_normals(stream, &mut self.sum);
        let norm = self.sum.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut square = 0.0;
        for (sum, psi) in self.sum.iter_mut().zip(&at.psi) {
            *sum = *sum / norm + psi;
            square += *sum * *sum;
        }
        let factor = at.gap / square;
        for ((z, sum), psi) in self.point.iter_mut().zip(&self.sum).zip(&at.psi) {
            *z = factor * sum + psi;
        }
        self.square = square;
    }

    /// Adds to the gradient of the curve what those of `z` and of `N` are worth, at a fixed `u`.
    ///
    /// With `g` the gradient of `z`: `(1 + q) g - (2 q <g, s> / N) s` for `psi`, and `<g, s> / N` for `1 - |psi|^2`.
    #[inline]
    pub fn pull_back(
        &self,
        at: &CurvePoint,
        of_point: impl Fn(usize) -> f64,
        of_square: f64,
        of: &mut OfPoint,
    ) {
        let factor = at.gap / self.square;
        let along: f64 = self.sum.iter().enumerate().map(|(i, sum)| of_point(i) * sum).sum();
        let of_factor = along / self.square;
        let of_square = of_square - factor * of_factor;
        of.gap += of_factor;
        for (i, (of_psi, sum)) in of.psi.iter_mut().zip(&self.sum).enumerate() {
            *of_psi += (1.0 + factor) * of_point(i) + 2.0 * of_square * sum;
        }
    }
}
