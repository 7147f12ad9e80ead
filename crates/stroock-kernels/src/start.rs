//! Start points of a batch of paths: power spherical for the posterior, uniform for the prior.
//!
//! The numbers of a row are a function of (seed, epoch, series, sample), as everywhere; the backward pass
//! draws them again instead of keeping them.

use rayon::prelude::*;
use stroock_geometry::distribution::Coupling;
use stroock_geometry::{DistributionError, PowerSpherical, Real, UniformSphere};
use thiserror::Error;

use crate::argument::{ArgumentError, check_length};
use crate::noise::{NoiseKey, Purpose};

/// Why start points cannot be drawn.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum StartError {
    /// An argument is not as every kernel asks for.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The parameters of a series are not those of a distribution.
    #[error("start of series {series}: {source}")]
    Parameters {
        /// Index of the series in the batch.
        series: usize,
        /// What is wrong with them.
        source: DistributionError,
    },
}

/// Where the random numbers of a batch of start points come from.
#[derive(Clone, Copy, Debug)]
pub struct Draws<'a> {
    /// Seed and epoch.
    pub key: NoiseKey,
    /// `[B]`: the number of each series in the data set.
    pub series: &'a [u32],
    /// Start points `S` per series.
    pub samples: usize,
    /// The number of the first sample, for draws that continue earlier ones.
    pub first_sample: u32,
}

/// The power spherical laws `S(mu_b, kappa_b)` of the start points of `B` series.
///
/// ```
/// use stroock_kernels::noise::NoiseKey;
/// use stroock_kernels::start::{Draws, PowerSphericalStart};
/// let start = PowerSphericalStart { dim: 3, mu: &[0., 0., 1., 1., 0., 0.], kappa: &[10.0, 1e4] };
/// let draws = Draws { key: NoiseKey::new(1, 0), series: &[0, 1], samples: 4, first_sample: 0 };
/// let points: Vec<f32> = start.sample(draws)?;
/// assert_eq!(points.len(), 4 * 2 * 3);
/// // Gradients of the sum of all coordinates and of the divergences from the uniform distribution.
/// let gradients = start.pull_back(draws, &[1.0; 24], &[1.0; 2])?;
/// assert_eq!((gradients.mu.len(), gradients.kappa.len()), (6, 2));
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

/// Gradients of a loss with respect to the parameters of the start points.
#[derive(Clone, Debug)]
pub struct StartGradients<T> {
    /// With respect to the mean directions, `[B, n]`, tangential to the sphere at each of them.
    pub mu: Vec<T>,
    /// With respect to the concentrations, `[B]`.
    pub kappa: Vec<T>,
}

impl<T: Real> PowerSphericalStart<'_, T> {
    /// The start points, `[S, B, n]`.
    ///
    /// # Errors
    /// When a shape does not fit or a series has no distribution.
    pub fn sample(&self, draws: Draws<'_>) -> Result<Vec<T>, StartError> {
        let laws = self.laws()?;
        check_length("series", "[series]", laws.len(), draws.series.len())?;
        let mut points = vec![T::zero(); draws.samples * laws.len() * self.dim];
        points.par_chunks_exact_mut(self.dim).enumerate().try_for_each(|(row, z)| {
            let (sample, b) = (row / laws.len(), row % laws.len());
            let mut stream = draws.stream(sample, b);
            laws[b].sample(&mut stream, z).map_err(|source| StartError::Parameters { series: b, source })
        })?;
        Ok(points)
    }

    /// The divergence of each law from the uniform distribution, `[B]`.
    ///
    /// # Errors
    /// When a shape does not fit or a series has no distribution.
    pub fn kl_to_uniform(&self) -> Result<Vec<T>, StartError> {
        Ok(self.laws()?.iter().map(PowerSpherical::kl_to_uniform).collect())
    }

    /// Pulls gradients back to the parameters.
    ///
    /// `of_points` (`[S, B, n]`) and `of_kl` (`[B]`) are the gradients of the loss with respect to the start
    /// points that [`sample`](Self::sample) drew with the same `draws`, and to the divergences.
    ///
    /// # Errors
    /// When a shape does not fit or a series has no distribution.
    pub fn pull_back(
        &self,
        draws: Draws<'_>,
        of_points: &[T],
        of_kl: &[T],
    ) -> Result<StartGradients<T>, StartError> {
        let (laws, n) = (self.laws()?, self.dim);
        let series = laws.len();
        check_length("series", "[series]", series, draws.series.len())?;
        check_length("of_points", "[samples, series, dim]", draws.samples * series * n, of_points.len())?;
        check_length("of_kl", "[series]", series, of_kl.len())?;
        let mut mu = vec![T::zero(); series * n];
        let mut kappa = vec![T::zero(); series];
        mu.par_chunks_exact_mut(n).zip(&mut kappa).enumerate().try_for_each(|(b, (of_mu, of_kappa))| {
            let [mut noise, mut z, mut of_mu_row] =
                [vec![T::zero(); n], vec![T::zero(); n], vec![T::zero(); n]];
            let mut pull_back = || -> Result<(), DistributionError> {
                *of_kappa = laws[b].kl_to_uniform_gradient() * of_kl[b];
                for sample in 0..draws.samples {
                    let of_z = &of_points[(sample * series + b) * n..][..n];
                    let angle = laws[b].sample_into(&mut draws.stream(sample, b), &mut noise, &mut z)?;
                    *of_kappa += laws[b].pullback_into(&angle, &noise, of_z, &mut of_mu_row)?;
                    for (sum, of_mu) in of_mu.iter_mut().zip(&of_mu_row) {
                        *sum += *of_mu;
                    }
                }
                Ok(())
            };
            pull_back().map_err(|source| StartError::Parameters { series: b, source })
        })?;
        Ok(StartGradients { mu, kappa })
    }

    /// The law of every series. Points follow `mu` by parallel transport: unbiased as the derivative at fixed
    /// noise is, and of smaller variance.
    fn laws(&self) -> Result<Vec<PowerSpherical<'_, T>>, StartError> {
        check_length("mu", "[series, dim]", self.kappa.len() * self.dim, self.mu.len())?;
        self.mu
            .chunks_exact(self.dim.max(1))
            .zip(self.kappa)
            .enumerate()
            .map(|(series, (mu, &kappa))| {
                let law = PowerSpherical::new(mu, kappa)
                    .map_err(|source| StartError::Parameters { series, source })?;
                Ok(law.with_coupling(Coupling::ParallelTransport))
            })
            .collect()
    }
}

impl Draws<'_> {
    fn stream(&self, sample: usize, series: usize) -> crate::noise::Stream {
        let sample = self.first_sample.wrapping_add(sample as u32);
        self.key.stream(Purpose::Start, self.series[series], sample)
    }
}

/// Start points of the prior: uniform on `S^{n-1}`, `[S, B, n]`.
///
/// # Errors
/// When `dim` is below 2.
pub fn uniform<T: Real>(dim: usize, draws: Draws<'_>) -> Result<Vec<T>, StartError> {
    let series = draws.series.len();
    let law = UniformSphere::new(dim).map_err(|source| StartError::Parameters { series: 0, source })?;
    let mut points = vec![T::zero(); draws.samples * series * dim];
    points.par_chunks_exact_mut(dim).enumerate().try_for_each(|(row, z)| {
        let b = row % series;
        law.sample(&mut draws.stream(row / series, b), z)
            .map_err(|source| StartError::Parameters { series: b, source })
    })?;
    Ok(points)
}
