//! The motion of one point by the geometric Euler-Maruyama scheme: plain, for any space, and the
//! reference that the fast kernels are tested against.

use crate::error::ensure_noise;
use crate::{GeometryError, HomogeneousSpace, Real, ensure_finite, ensure_length};

/// The one-point motion `dZ = (K(t) + 1/2 sum_i V_i^2) Z dt + sum_i V_i Z dw^i`, `V_i = sigma E_i` (the
/// paper's Eq. (4) and (5)).
///
/// ```
/// use stroock_geometry::{HomogeneousSpace, OnePointMotion, Sphere};
/// let sphere = Sphere::new(3)?;
/// let motion = OnePointMotion::new(&sphere, 0.5)?;
/// let drift = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]; // [T, m] = [2, 3]
/// let (time_steps, noise) = ([0.1, 0.2], [0.3, -1.0, 0.4, 1.2, 0.0, -0.7]);
/// let path = motion.path(&[1.0, 0.0, 0.0], &drift, &time_steps, &noise)?;
/// assert_eq!(path.len(), 3 * 3); // [T + 1, n]
/// assert!(sphere.membership_residual(&path[6..])? < 1e-15);
/// assert!(motion.path_divergence(&path, &drift, &time_steps)? > 0.0);
/// # Ok::<(), stroock_geometry::GeometryError>(())
/// ```
#[derive(Debug)]
pub struct OnePointMotion<'a, T: Real, S: ?Sized> {
    space: &'a S,
    sigma: T,
}

impl<'a, T: Real, S: HomogeneousSpace<T> + ?Sized> OnePointMotion<'a, T, S> {
    /// The motion on `space` with noise scale `sigma`.
    ///
    /// # Errors
    /// [`GeometryError::VanishingNoise`] when `sigma` is zero or not finite.
    pub fn new(space: &'a S, sigma: T) -> Result<Self, GeometryError> {
        ensure_noise(sigma)?;
        Ok(Self { space, sigma })
    }

    /// The geometric Euler-Maruyama path `z_{j+1} = exp(K_j dt_j + sigma sqrt(dt_j) sum_k xi_jk E_k) z_j`,
    /// `[T + 1, n]`, with `start` first (the paper's Algorithm 1, acting from the left).
    ///
    /// Shapes: `start` `[n]`, `drift` coefficients of `K_j` `[T, m]`, `time_steps` `[T]`, standard normal
    /// `noise` `[T, m]`. The scheme is linear in `start`, which need not be on the space: a finite
    /// difference may leave it.
    ///
    /// # Errors
    /// On wrong lengths, on entries that are not finite, on negative time steps, and as
    /// [`HomogeneousSpace::exponential_action`].
    pub fn path(
        &self,
        start: &[T],
        drift: &[T],
        time_steps: &[T],
        noise: &[T],
    ) -> Result<Vec<T>, GeometryError> {
        let (n, m, steps) = (self.space.ambient_dim(), self.space.algebra_dim(), time_steps.len());
        ensure_length("start", start, n)?;
        ensure_length("noise", noise, steps * m)?;
        ensure_finite("start", start)?;
        ensure_finite("noise", noise)?;
        self.ensure_drift(drift, time_steps)?;

        let mut path = vec![T::zero(); (steps + 1) * n];
        path[..n].copy_from_slice(start);
        let mut omega = vec![T::zero(); m];
        for (j, &dt) in time_steps.iter().enumerate() {
            let increments = &noise[j * m..(j + 1) * m];
            let scale = self.sigma * dt.sqrt();
            for ((w, &k), &xi) in omega.iter_mut().zip(&drift[j * m..(j + 1) * m]).zip(increments) {
                *w = k * dt + scale * xi;
            }
            let (past, future) = path.split_at_mut((j + 1) * n);
            self.space.exponential_action(&omega, &past[j * n..], &mut future[..n])?;
        }
        Ok(path)
    }

    /// The divergence `1/2 sum_j dt_j (K_j z_j)^T Sigma(z_j)^+ (K_j z_j)` of the distribution of the motion from the
    /// distribution of the driftless motion, along one `path` `[T + 1, n]`, at the left ends of the steps (the
    /// paper's Eq. (7)).
    ///
    /// On the sphere this is `1/(2 sigma^2) sum_j dt_j |K_j z_j|^2` (the paper's Eq. (10)). The divergence
    /// of the starts is not included.
    ///
    /// # Errors
    /// On wrong lengths, on entries that are not finite, and on negative time steps.
    pub fn path_divergence(&self, path: &[T], drift: &[T], time_steps: &[T]) -> Result<T, GeometryError> {
        let (n, m) = (self.space.ambient_dim(), self.space.algebra_dim());
        ensure_length("path", path, (time_steps.len() + 1) * n)?;
        self.ensure_drift(drift, time_steps)?;

        let (mut velocity, mut weighted) = (vec![T::zero(); n], vec![T::zero(); n]);
        let mut divergence = T::zero();
        for (j, &dt) in time_steps.iter().enumerate() {
            let z = &path[j * n..(j + 1) * n];
            self.space.infinitesimal_action(&drift[j * m..(j + 1) * m], z, &mut velocity)?;
            self.space.diffusion_pseudo_inverse(self.sigma, z, &velocity, &mut weighted)?;
            let rate: T = velocity.iter().zip(&weighted).map(|(&v, &w)| v * w).sum();
            divergence += T::of(0.5) * dt * rate;
        }
        Ok(divergence)
    }

    fn ensure_drift(&self, drift: &[T], time_steps: &[T]) -> Result<(), GeometryError> {
        ensure_length("drift", drift, time_steps.len() * self.space.algebra_dim())?;
        ensure_finite("drift", drift)?;
        ensure_finite("time_steps", time_steps)?;
        match time_steps.iter().position(|&dt| dt < T::zero()) {
            None => Ok(()),
            Some(index) => Err(GeometryError::NegativeTimeStep { index, value: time_steps[index].as_f64() }),
        }
    }
}
