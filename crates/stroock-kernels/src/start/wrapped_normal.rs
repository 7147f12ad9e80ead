//! Wrapped normal start points on hyperbolic space.

use rayon::prelude::*;
use stroock_geometry::Real;

use super::{Draws, Family, StartDistribution, StartError, StartGradients};
use crate::argument::{check_finite, check_length, result_length};
use crate::noise::standard_normals;

/// Normal distributions in the tangent space at the origin `o = (1, 0, ..)` of hyperbolic space, wrapped around it:
/// `v ~ N(mean_b, scale_b^2 I)` in `R^{n-1}` and `z = exp_o(v) = (cosh |v|, sinh |v| v / |v|)`.
///
/// The prior is that of `v ~ N(0, I)`. The exponential map is a diffeomorphism, so the divergence is the one of the
/// normal distributions, `1/2 ((n-1) (scale^2 - 1 - ln scale^2) + |mean|^2)`.
///
/// ```
/// use stroock_kernels::noise::NoiseKey;
/// use stroock_kernels::start::{Draws, StartDistribution, WrappedNormalStart};
/// let start = WrappedNormalStart { dim: 3, mean: &[0.0, 0.0, 2.0, 0.0], scale: &[1.0, 0.1] };
/// let draws = Draws { key: NoiseKey::new(1, 0), series: &[0, 1], samples: 4, first_sample: 0 };
/// let points: Vec<f64> = start.sample(draws)?;
/// let [z0, x, y] = [points[0], points[1], points[2]];
/// assert!((z0 * z0 - x * x - y * y - 1.0).abs() < 1e-12);
/// assert_eq!(start.divergence()?[0], 0.0);
/// # Ok::<(), stroock_kernels::start::StartError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WrappedNormalStart<'a, T> {
    /// Ambient dimension `n`.
    pub dim: usize,
    /// Means `[B, n - 1]` in the tangent space at the origin.
    pub mean: &'a [T],
    /// Standard deviations `[B]`, positive.
    pub scale: &'a [T],
}

impl<T> Family for WrappedNormalStart<'_, T> {
    fn location_dim(n: usize) -> usize {
        n.saturating_sub(1)
    }

    fn prior(n: usize) -> (Vec<f64>, f64) {
        (vec![0.0; n.saturating_sub(1)], 1.0)
    }
}

/// The farthest point whose coordinates to the fourth power are finite.
fn limit<T: Real>() -> f64 {
    T::max_value().as_f64().ln() / 4.0
}

/// `sinh r / r`, its derivative divided by `r`, from `cosh r`.
fn sinhc(r: f64) -> (f64, f64) {
    let square = r * r;
    if r < 0.1 {
        let value =
            1.0 + square / 6.0 * (1.0 + square / 20.0 * (1.0 + square / 42.0 * (1.0 + square / 72.0)));
        let slope =
            1.0 / 3.0 + square / 30.0 * (1.0 + square / 28.0 * (1.0 + square / 54.0 * (1.0 + square / 88.0)));
        return (value, slope);
    }
    let value = r.sinh() / r;
    (value, (r.cosh() - value) / square)
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

impl<T: Real> WrappedNormalStart<'_, T> {
    /// Checks the parameters; the number of series.
    fn check(&self) -> Result<usize, StartError> {
        let (series, width) = (self.scale.len(), self.dim.saturating_sub(1));
        if width == 0 {
            return Err(StartError::Dimension { dim: self.dim, least: 2 });
        }
        check_length("mean", "[series, dim - 1]", series.saturating_mul(width), self.mean.len())?;
        check_finite("mean", self.mean)?;
        for (b, (mean, scale)) in self.mean.chunks_exact(width).zip(self.scale).enumerate() {
            let scale = scale.as_f64();
            if !(scale > 0.0 && scale.is_finite()) {
                return Err(StartError::Scale { series: b, scale });
            }
            let distance = norm(&mean.iter().map(|x| x.as_f64()).collect::<Vec<_>>());
            ensure_near::<T>(b, distance)?;
        }
        Ok(series)
    }

    /// The normals `xi` and the tangent vector `mean + scale xi` of a row.
    fn tangent(&self, draws: &Draws<'_>, sample: usize, b: usize, xi: &mut [f64], v: &mut [f64]) {
        standard_normals(&mut draws.stream(sample, b), xi);
        let mean = &self.mean[b * xi.len()..(b + 1) * xi.len()];
        for ((v, xi), mean) in v.iter_mut().zip(xi).zip(mean) {
            *v = mean.as_f64() + self.scale[b].as_f64() * *xi;
        }
    }
}

fn ensure_near<T: Real>(series: usize, distance: f64) -> Result<(), StartError> {
    let limit = limit::<T>();
    if distance <= limit {
        return Ok(());
    }
    Err(StartError::TooFar { series, distance, limit })
}

impl<T: Real> StartDistribution<T> for WrappedNormalStart<'_, T> {
    fn sample(&self, draws: Draws<'_>) -> Result<Vec<T>, StartError> {
        let (series, n) = (self.check()?, self.dim);
        check_length("series", "[series]", series, draws.series.len())?;
        let mut points = vec![T::zero(); result_length("samples", &[draws.samples, series, n])?];
        points.par_chunks_exact_mut(n).enumerate().try_for_each(|(row, z)| {
            let (sample, b) = (row / series, row % series);
            let [mut xi, mut v] = [vec![0.0; n - 1], vec![0.0; n - 1]];
            self.tangent(&draws, sample, b, &mut xi, &mut v);
            let r = norm(&v);
            ensure_near::<T>(b, r)?;
            let (factor, _) = sinhc(r);
            z[0] = T::of(r.cosh());
            z[1..].iter_mut().zip(&v).for_each(|(x, v)| *x = T::of(factor * v));
            Ok::<(), StartError>(())
        })?;
        Ok(points)
    }

    /// From `N(0, I)` in the tangent space.
    fn divergence(&self) -> Result<Vec<T>, StartError> {
        self.check()?;
        let width = self.dim - 1;
        let each = self.mean.chunks_exact(width).zip(self.scale).map(|(mean, scale)| {
            let variance = scale.as_f64().powi(2);
            let squares: f64 = mean.iter().map(|x| x.as_f64().powi(2)).sum();
            T::of(0.5 * (width as f64 * (variance - 1.0 - variance.ln()) + squares))
        });
        Ok(each.collect())
    }

    fn pull_back(
        &self,
        draws: Draws<'_>,
        of_points: &[T],
        of_kl: &[T],
    ) -> Result<StartGradients<T>, StartError> {
        let (series, n) = (self.check()?, self.dim);
        let width = n - 1;
        check_length("series", "[series]", series, draws.series.len())?;
        let points = result_length("samples", &[draws.samples, series, n])?;
        check_length("of_points", "[samples, series, dim]", points, of_points.len())?;
        check_length("of_kl", "[series]", series, of_kl.len())?;
        let mut location = vec![T::zero(); series * width];
        let mut spread = vec![T::zero(); series];
        location.par_chunks_exact_mut(width).zip(&mut spread).enumerate().for_each(
            |(b, (of_mean, of_scale))| {
                let [mut xi, mut v, mut sum] = [vec![0.0; width], vec![0.0; width], vec![0.0; width]];
                let (scale, of_kl) = (self.scale[b].as_f64(), of_kl[b].as_f64());
                let mut sum_of_scale = of_kl * width as f64 * (scale - 1.0 / scale);
                for sample in 0..draws.samples {
                    let of_z = &of_points[(sample * series + b) * n..][..n];
                    self.tangent(&draws, sample, b, &mut xi, &mut v);
                    // z_0 = cosh r and x = (sinh r / r) v, with r = |v|.
                    let (factor, slope) = sinhc(norm(&v));
                    let along: f64 = of_z[1..].iter().zip(&v).map(|(g, v)| g.as_f64() * v).sum();
                    let radial = of_z[0].as_f64() * factor + slope * along;
                    for i in 0..width {
                        let of_v = factor * of_z[i + 1].as_f64() + radial * v[i];
                        sum[i] += of_v;
                        sum_of_scale += of_v * xi[i];
                    }
                }
                let mean = &self.mean[b * width..(b + 1) * width];
                for ((of_mean, sum), mean) in of_mean.iter_mut().zip(sum).zip(mean) {
                    *of_mean = T::of(sum + of_kl * mean.as_f64());
                }
                *of_scale = T::of(sum_of_scale);
            },
        );
        Ok(StartGradients { location, spread })
    }
}
