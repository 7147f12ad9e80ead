//! Power spherical start points on the sphere; those of the prior are uniform.

use rayon::prelude::*;
use stroock_geometry::distribution::Coupling;
use stroock_geometry::{DistributionError, PowerSpherical, Real, UniformSphere};

use super::{Draws, Family, StartDistribution, StartError, StartGradients};
use crate::argument::{check_length, result_length};

/// The power spherical distributions `S(mu_b, kappa_b)` of the start points of `B` series.
///
/// ```
/// use stroock_kernels::noise::NoiseKey;
/// use stroock_kernels::start::{Draws, PowerSphericalStart, StartDistribution};
/// let start = PowerSphericalStart { dim: 3, mu: &[0., 0., 1., 1., 0., 0.], kappa: &[10.0, 1e4] };
/// let draws = Draws { key: NoiseKey::new(1, 0), series: &[0, 1], samples: 4, first_sample: 0 };
/// let points: Vec<f32> = start.sample(draws)?;
/// assert_eq!(points.len(), 4 * 2 * 3);
/// // Gradients of the sum of all coordinates and of the divergences from the uniform distribution.
/// let gradients = start.pull_back(draws, &[1.0; 24], &[1.0; 2])?;
/// assert_eq!((gradients.location.len(), gradients.spread.len()), (6, 2));
/// # Ok::<(), stroock_kernels::start::StartError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PowerSphericalStart<'a, T> {
    /// Ambient dimension `n`.
    pub dim: usize,
    /// Mean directions `[B, n]`, unit vectors.
    pub mu: &'a [T],
    /// Concentrations `[B]`, not negative.
    pub kappa: &'a [T],
}

impl<T: Real> StartDistribution<T> for PowerSphericalStart<'_, T> {
    fn sample(&self, draws: Draws<'_>) -> Result<Vec<T>, StartError> {
        let distributions = self.distributions()?;
        check_length("series", "[series]", distributions.len(), draws.series.len())?;
        let length = result_length("samples", &[draws.samples, distributions.len(), self.dim])?;
        let mut points = vec![T::zero(); length];
        points.par_chunks_exact_mut(self.dim).enumerate().try_for_each(|(row, z)| {
            let (sample, b) = (row / distributions.len(), row % distributions.len());
            let mut stream = draws.stream(sample, b);
            distributions[b]
                .sample(&mut stream, z)
                .map_err(|source| StartError::Parameters { series: b, source })
        })?;
        Ok(points)
    }

    /// From the uniform distribution.
    fn divergence(&self) -> Result<Vec<T>, StartError> {
        Ok(self.distributions()?.iter().map(PowerSpherical::kl_to_uniform).collect())
    }

    /// Gradients of the mean directions are tangential to the sphere at each of them.
    fn pull_back(
        &self,
        draws: Draws<'_>,
        of_points: &[T],
        of_kl: &[T],
    ) -> Result<StartGradients<T>, StartError> {
        let (distributions, n) = (self.distributions()?, self.dim);
        let series = distributions.len();
        check_length("series", "[series]", series, draws.series.len())?;
        let points = result_length("samples", &[draws.samples, series, n])?;
        check_length("of_points", "[samples, series, dim]", points, of_points.len())?;
        check_length("of_kl", "[series]", series, of_kl.len())?;
        let mut mu = vec![T::zero(); series * n];
        let mut kappa = vec![T::zero(); series];
        mu.par_chunks_exact_mut(n).zip(&mut kappa).enumerate().try_for_each(|(b, (of_mu, of_kappa))| {
            let [mut noise, mut z, mut of_mu_row] =
                [vec![T::zero(); n], vec![T::zero(); n], vec![T::zero(); n]];
            let mut pull_back = || -> Result<(), DistributionError> {
                *of_kappa = distributions[b].kl_to_uniform_gradient() * of_kl[b];
                for sample in 0..draws.samples {
                    let of_z = &of_points[(sample * series + b) * n..][..n];
                    let angle =
                        distributions[b].sample_into(&mut draws.stream(sample, b), &mut noise, &mut z)?;
                    *of_kappa += distributions[b].pullback_into(&angle, &noise, of_z, &mut of_mu_row)?;
                    for (sum, of_mu) in of_mu.iter_mut().zip(&of_mu_row) {
                        *sum += *of_mu;
                    }
                }
                Ok(())
            };
            pull_back().map_err(|source| StartError::Parameters { series: b, source })
        })?;
        Ok(StartGradients { location: mu, spread: kappa })
    }
}

impl<T> Family for PowerSphericalStart<'_, T> {
    fn location_dim(n: usize) -> usize {
        n
    }

    /// Any direction will do where the concentration is 0.
    fn prior(n: usize) -> (Vec<f64>, f64) {
        ((0..n).map(|i| if i == 0 { 1.0 } else { 0.0 }).collect(), 0.0)
    }
}

impl<T: Real> PowerSphericalStart<'_, T> {
    /// The distribution of every series. Points follow `mu` by parallel transport: unbiased as the derivative at fixed
    /// noise is, and of smaller variance.
    fn distributions(&self) -> Result<Vec<PowerSpherical<'_, T>>, StartError> {
        if self.dim == 0 {
            return Err(StartError::Dimension { dim: 0, least: 2 });
        }
        let expected = self.kappa.len().saturating_mul(self.dim);
        check_length("mu", "[series, dim]", expected, self.mu.len())?;
        self.mu
            .chunks_exact(self.dim)
            .zip(self.kappa)
            .enumerate()
            .map(|(series, (mu, &kappa))| {
                let distribution = PowerSpherical::new(mu, kappa)
                    .map_err(|source| StartError::Parameters { series, source })?;
                Ok(distribution.with_coupling(Coupling::ParallelTransport))
            })
            .collect()
    }
}

/// Start points of the prior: uniform on `S^{n-1}`, `[S, B, n]`.
///
/// # Errors
/// When `dim` is below 2.
pub fn uniform<T: Real>(dim: usize, draws: Draws<'_>) -> Result<Vec<T>, StartError> {
    let series = draws.series.len();
    let distribution =
        UniformSphere::new(dim).map_err(|source| StartError::Parameters { series: 0, source })?;
    let mut points = vec![T::zero(); result_length("samples", &[draws.samples, series, dim])?];
    points.par_chunks_exact_mut(dim).enumerate().try_for_each(|(row, z)| {
        let b = row % series;
        distribution
            .sample(&mut draws.stream(row / series, b), z)
            .map_err(|source| StartError::Parameters { series: b, source })
    })?;
    Ok(points)
}
