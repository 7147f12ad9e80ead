//! The uniform distribution on the unit sphere.

use std::f64::consts::PI;

use rand_core::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::error::{DistributionError, check_length};
use crate::Real;
use crate::special::ln_gamma_difference;

/// The uniform distribution on S^{n-1}, the one that every rotation leaves as it is.
///
/// ```text
/// p(x) = 1 / |S^{n-1}|,    |S^{n-1}| = 2 π^{n/2} / Γ(n/2)
/// ```
///
/// ```
/// use stroock_geometry::distribution::UniformSphere;
///
/// let circle = UniformSphere::new(2)?;
/// assert!((circle.entropy() - (2.0 * std::f64::consts::PI).ln()).abs() < 1e-15);
/// # Ok::<(), stroock_geometry::distribution::DistributionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UniformSphere {
    n: usize,
}

impl UniformSphere {
    /// The uniform distribution on the unit sphere in R^n.
    ///
    /// # Errors
    /// [`DistributionError::DimensionTooSmall`] for n < 2.
    pub fn new(n: usize) -> Result<Self, DistributionError> {
        if n < 2 {
            return Err(DistributionError::DimensionTooSmall { dimension: n });
        }
        Ok(Self { n })
    }

    /// As [`new`](Self::new), for a dimension that is known to be at least 2.
    pub(super) fn of_dimension(n: usize) -> Self {
        debug_assert!(n >= 2, "dimension {n}");
        Self { n }
    }

    /// The ambient dimension n.
    pub fn dim(&self) -> usize {
        self.n
    }

    /// The logarithm of the density, the same at every point: `-ln |S^{n-1}|`.
    pub fn log_density(&self) -> f64 {
        -self.entropy()
    }

    /// The differential entropy `ln |S^{n-1}|`.
    pub fn entropy(&self) -> f64 {
        // |S^{n-1}| = (4π)^β Γ(β) / Γ(2β) with β = (n - 1)/2, by the duplication formula.
        let beta = 0.5 * (self.n as f64 - 1.0);
        beta * (4.0 * PI).ln() - ln_gamma_difference(beta, beta)
    }

    /// Draws a point into `out`, of length n.
    ///
    /// ```
    /// use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
    /// use stroock_geometry::distribution::UniformSphere;
    ///
    /// let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    /// let mut z = [0.0; 3];
    /// UniformSphere::new(3)?.sample(&mut rng, &mut z)?;
    /// assert!((z.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-15);
    /// # Ok::<(), stroock_geometry::distribution::DistributionError>(())
    /// ```
    ///
    /// # Errors
    /// [`DistributionError::LengthMismatch`] when `out` is not of length n.
    pub fn sample<T: Real, R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        out: &mut [T],
    ) -> Result<(), DistributionError> {
        check_length("out", out, self.n)?;
        loop {
            fill_normal(rng, out);
            let norm = out.iter().map(|x| x.as_f64() * x.as_f64()).sum::<f64>().sqrt();
            if norm > 0.0 {
                out.iter_mut().for_each(|x| *x = T::of(x.as_f64() / norm));
                return Ok(());
            }
        }
    }
}

/// Fills a slice with independent standard normal numbers.
pub(super) fn fill_normal<T: Real, R: Rng + ?Sized>(rng: &mut R, out: &mut [T]) {
    out.iter_mut().for_each(|x| *x = T::of(StandardNormal.sample(rng)));
}
