//! A prior with a drift of its own, the same for all series: the part of an attractor in the rate of the divergence.

use stroock_geometry::Real;

use super::MoebiusError;
use crate::argument::{check_finite, check_length};
use crate::path::Attractor;

impl<T: Real> Attractor<'_, T> {
    pub(super) fn check_prior(&self, dim: usize) -> Result<(), MoebiusError> {
        let numbers = Self::numbers(dim);
        check_length("prior.coefficients", "[dim + 2 (dim / 2)]", numbers, self.coefficients.len())?;
        Ok(check_finite("prior.coefficients", self.coefficients)?)
    }

    /// Subtracts `pull + A z` from `field`.
    pub(crate) fn subtract_from(&self, z: &[f64], field: &mut [f64]) {
        let (pull, planes) = self.coefficients.split_at(z.len());
        let (rates, frequencies) = planes.split_at(planes.len() / 2);
        for (field, pull) in field.iter_mut().zip(pull) {
            *field -= pull.as_f64();
        }
        let points = field.chunks_exact_mut(2).zip(z.chunks_exact(2));
        for ((field, z), (rate, frequency)) in points.zip(rates.iter().zip(frequencies)) {
            let (rate, frequency) = (rate.as_f64(), frequency.as_f64());
            field[0] -= rate * z[0] - frequency * z[1];
            field[1] -= rate * z[1] + frequency * z[0];
        }
    }

    /// From the gradient of the field that [`subtract_from`](Self::subtract_from) gave: adds to those of `z` and of the
    /// coefficients.
    pub(super) fn pull_back_field(
        &self,
        z: &[f64],
        of_field: &[f64],
        of_z: &mut [f64],
        of_coefficients: &mut [f64],
    ) {
        let (n, planes) = (z.len(), z.len() / 2);
        for (of_pull, of_field) in of_coefficients.iter_mut().zip(of_field) {
            *of_pull -= of_field;
        }
        for i in 0..planes {
            let (rate, frequency) = (n + i, n + planes + i);
            let (x, y) = (z[2 * i], z[2 * i + 1]);
            let (of_x, of_y) = (of_field[2 * i], of_field[2 * i + 1]);
            of_coefficients[rate] -= of_x * x + of_y * y;
            of_coefficients[frequency] -= of_y * x - of_x * y;
            let (rate, frequency) = (self.coefficients[rate].as_f64(), self.coefficients[frequency].as_f64());
            of_z[2 * i] -= rate * of_x + frequency * of_y;
            of_z[2 * i + 1] -= rate * of_y - frequency * of_x;
        }
    }
}
