//! A prior with a drift of its own: an attracting point and turning planes, the same at all times.

use stroock_geometry::Real;

use super::MoebiusError;
use crate::argument::{check_finite, check_length};

/// The time-homogeneous drift `V_p(z) = P_z(pull + A z)` on the sphere, with `P_z` the projection to the tangent space.
///
/// `A` acts on the plane of the coordinates `2i` and `2i + 1` as `rate_i` times the identity plus `frequency_i` times
/// the quarter turn `(x, y) -> (-y, x)`; where `n` is odd, it does not act on the last coordinate. With rates and
/// frequencies 0 the stationary distribution is von Mises-Fisher about `pull`, of concentration `2 |pull| / sigma^2`.
///
/// ```
/// use stroock_kernels::moebius::Attractor;
/// let prior = Attractor { pull: &[0.0, 0.0, 2.0], rates: &[0.0], frequencies: &[3.0] };
/// assert_eq!(prior.drift(&[1.0, 0.0, 0.0])?, [0.0, 3.0, 2.0]);
/// # Ok::<(), stroock_kernels::moebius::MoebiusError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Attractor<'a, T> {
    /// `[n]`.
    pub pull: &'a [T],
    /// `[n / 2]`, rounded down.
    pub rates: &'a [T],
    /// `[n / 2]`, rounded down.
    pub frequencies: &'a [T],
}

/// Gradients with respect to the parameters of an [`Attractor`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttractorGradients<T> {
    /// Of `pull`.
    pub pull: Vec<T>,
    /// Of `rates`.
    pub rates: Vec<T>,
    /// Of `frequencies`.
    pub frequencies: Vec<T>,
}

impl AttractorGradients<f64> {
    pub(super) fn zeros(dim: usize) -> Self {
        let planes = dim / 2;
        Self { pull: vec![0.0; dim], rates: vec![0.0; planes], frequencies: vec![0.0; planes] }
    }
}

impl<T: Real> Attractor<'_, T> {
    pub(super) fn check(&self, dim: usize) -> Result<(), MoebiusError> {
        check_length("prior.pull", "[dim]", dim, self.pull.len())?;
        check_length("prior.rates", "[dim / 2]", dim / 2, self.rates.len())?;
        check_length("prior.frequencies", "[dim / 2]", dim / 2, self.frequencies.len())?;
        check_finite("prior.pull", self.pull)?;
        check_finite("prior.rates", self.rates)?;
        check_finite("prior.frequencies", self.frequencies)?;
        Ok(())
    }

    /// The drift at a point of the sphere.
    ///
    /// # Errors
    /// When the lengths of the parameters do not fit that of the point.
    pub fn drift(&self, point: &[T]) -> Result<Vec<T>, MoebiusError> {
        self.check(point.len())?;
        let z: Vec<f64> = point.iter().map(|x| x.as_f64()).collect();
        let mut field = vec![0.0; z.len()];
        self.subtract_from(&z, &mut field);
        let along: f64 = field.iter().zip(&z).map(|(x, z)| x * z).sum();
        Ok(field.iter().zip(&z).map(|(x, z)| T::of(along * z - x)).collect())
    }

    /// Subtracts `pull + A z` from `field`.
    pub(super) fn subtract_from(&self, z: &[f64], field: &mut [f64]) {
        for (field, pull) in field.iter_mut().zip(self.pull) {
            *field -= pull.as_f64();
        }
        let planes = field.chunks_exact_mut(2).zip(z.chunks_exact(2));
        for ((field, z), (rate, frequency)) in planes.zip(self.rates.iter().zip(self.frequencies)) {
            let (rate, frequency) = (rate.as_f64(), frequency.as_f64());
            field[0] -= rate * z[0] - frequency * z[1];
            field[1] -= rate * z[1] + frequency * z[0];
        }
    }

    /// From the gradient of the field that [`subtract_from`](Self::subtract_from) gave: adds to those of `z` and of the
    /// parameters.
    pub(super) fn pull_back(
        &self,
        z: &[f64],
        of_field: &[f64],
        of_z: &mut [f64],
        of: &mut AttractorGradients<f64>,
    ) {
        for (of_pull, of_field) in of.pull.iter_mut().zip(of_field) {
            *of_pull -= of_field;
        }
        for i in 0..self.rates.len() {
            let (rate, frequency) = (self.rates[i].as_f64(), self.frequencies[i].as_f64());
            let (x, y) = (z[2 * i], z[2 * i + 1]);
            let (of_x, of_y) = (of_field[2 * i], of_field[2 * i + 1]);
            of.rates[i] -= of_x * x + of_y * y;
            of.frequencies[i] -= of_y * x - of_x * y;
            of_z[2 * i] -= rate * of_x + frequency * of_y;
            of_z[2 * i + 1] -= rate * of_y - frequency * of_x;
        }
    }
}
