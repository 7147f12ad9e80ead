//! The power spherical distribution.

use std::f64::consts::PI;

use rand_core::Rng;

use super::error::{DistributionError, check_length, unit_norm};
use super::marginal::{Marginal, PolarAngle};
use super::uniform_sphere::{UniformSphere, fill_normal};
use crate::Real;
use crate::quadrature::GAUSS_12;
use crate::special::{digamma_difference, ln_gamma_difference, trigamma_difference};

/// The power spherical distribution S(mu, kappa) on S^{n-1} (De Cao and Aziz, 2020).
///
/// ```text
/// p(x) = N (1 + <mu, x>)^kappa,    1/N = 2^{α+β} π^β Γ(α) / Γ(α+β),    β = (n - 1)/2,    α = β + kappa
/// ```
///
/// It is uniform for `kappa = 0` and contracts to `mu` as `kappa` grows. The value borrows `mu` and allocates
/// nothing, so that one can be made for every row of a batch.
///
/// ```
/// use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
/// use stroock_geometry::distribution::PowerSpherical;
///
/// let start = PowerSpherical::new(&[0.0_f32, 0.6, 0.8], 50.0)?;
/// let mut z = [0.0; 3];
/// start.sample(&mut Xoshiro256PlusPlus::seed_from_u64(1), &mut z)?;
/// assert!(start.log_density(&z)? > start.log_density(&[0.0, -0.6, -0.8])?);
/// # Ok::<(), stroock_geometry::distribution::DistributionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerSpherical<'a, T: Real> {
    mu: &'a [T],
    inverse_norm: f64,
    kappa: T,
    marginal: Marginal,
    coupling: Coupling,
}

/// How a sample follows its mean direction: what is held fixed in the derivative of `z` by `mu`.
///
/// Both give unbiased gradients of expectations; they differ in how the unit tangent `v` in
/// `z = cos θ mu + sin θ v` moves along with `mu`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coupling {
    /// The noise `g` in `v = (g - <mu, g> mu) / |g - <mu, g> mu|` is held fixed: the derivative of the sampler
    /// as it is written, and of an automatic differentiation of it.
    #[default]
    FixedNoise,
    /// The point is carried by the shortest rotation of `mu`. This is the mean of the derivative at fixed
    /// noise given `z`, so its variance is never larger; at fixed noise the variance diverges for n = 3.
    ParallelTransport,
}

/// A sample together with what its derivative needs.
///
/// Made by [`PowerSpherical::sample_with_tape`], read by [`PowerSpherical::pullback`].
#[derive(Clone, Debug, PartialEq)]
pub struct PowerSphericalTape<T> {
    /// The sample, of length n.
    pub z: Vec<T>,
    /// The standard normal noise that gave its direction away from `mu`, of length n.
    pub noise: Vec<T>,
    /// Its angle to `mu`.
    pub angle: PolarAngle,
}

impl<'a, T: Real> PowerSpherical<'a, T> {
    /// The distribution about the unit vector `mu` (its length is the dimension n) with concentration `kappa`.
    ///
    /// # Errors
    /// When n < 2, when `mu` is not finite or its norm is off 1 by more than 1e-3 (less is rounding, and
    /// normalised away), and when `kappa` is negative or not finite.
    pub fn new(mu: &'a [T], kappa: T) -> Result<Self, DistributionError> {
        if mu.len() < 2 {
            return Err(DistributionError::DimensionTooSmall { dimension: mu.len() });
        }
        let norm = unit_norm("mu", mu)?;
        if !(kappa.is_finite() && kappa >= T::zero()) {
            return Err(DistributionError::InvalidKappa { kappa: kappa.as_f64() });
        }
        let marginal = Marginal::new(mu.len(), kappa.as_f64());
        Ok(Self { mu, inverse_norm: 1.0 / norm, kappa, marginal, coupling: Coupling::default() })
    }

    /// The same distribution, whose [pullback](Self::pullback) takes `coupling` for the derivative by `mu`.
    pub fn with_coupling(self, coupling: Coupling) -> Self {
        Self { coupling, ..self }
    }

    /// The ambient dimension n.
    pub fn dim(&self) -> usize {
        self.mu.len()
    }

    /// The mean direction, as it was given.
    pub fn mu(&self) -> &'a [T] {
        self.mu
    }

    /// The concentration.
    pub fn kappa(&self) -> T {
        self.kappa
    }

    /// The logarithm of the density at the unit vector `x` of length n; minus infinity at `-mu`.
    ///
    /// ```
    /// use stroock_geometry::distribution::PowerSpherical;
    ///
    /// // On the two-sphere with kappa = 1 the density is (1 + <mu, x>) / 4π.
    /// let log_density = PowerSpherical::new(&[0.0, 0.0, 1.0], 1.0)?.log_density(&[0.0, 0.6, 0.8])?;
    /// assert!((log_density - (1.8 / (4.0 * std::f64::consts::PI)).ln()).abs() < 1e-14);
    /// # Ok::<(), stroock_geometry::distribution::DistributionError>(())
    /// ```
    ///
    /// # Errors
    /// When `x` is not of length n or not a unit vector, by the same rules as `mu`.
    pub fn log_density(&self, x: &[T]) -> Result<T, DistributionError> {
        check_length("x", x, self.dim())?;
        let x_scale = 1.0 / unit_norm("x", x)?;
        if self.kappa == T::zero() {
            return Ok(T::of(-self.ln_area()));
        }
        let Marginal { alpha, beta } = self.marginal;
        // |mu + x|² : |mu - x|² = b : c keeps the digits of the angle where <mu, x> is almost 1 or -1.
        let (mut sum_squared, mut difference_squared) = (0.0, 0.0);
        for (mu, &x) in self.unit_mu().zip(x) {
            let x = x.as_f64() * x_scale;
            sum_squared += (mu + x) * (mu + x);
            difference_squared += (mu - x) * (mu - x);
        }
        let angle = PolarAngle::from_ratio(sum_squared, difference_squared);
        // N 2^kappa = (4π)^{-β} Γ(α+β) / Γ(α).
        let ln_scale = ln_gamma_difference(alpha, beta) - beta * (4.0 * PI).ln();
        Ok(T::of(ln_scale + self.kappa.as_f64() * angle.ln_b()))
    }

    /// The differential entropy `ln |S^{n-1}| - KL`, with the divergence of [`kl_to_uniform`](Self::kl_to_uniform).
    pub fn entropy(&self) -> T {
        T::of(self.ln_area() - self.divergence())
    }

    /// The Kullback-Leibler divergence from the uniform distribution.
    ///
    /// ```text
    /// KL(S(mu, kappa) || U) = ln Γ(α+β)/Γ(α) - ln Γ(2β)/Γ(β) - kappa (ψ(α+β) - ψ(α)) >= 0
    /// ```
    ///
    /// Accurate in relative terms for every `kappa`, including `kappa -> 0` where it is of order `kappa²`.
    ///
    /// ```
    /// use stroock_geometry::distribution::PowerSpherical;
    ///
    /// let divergence = PowerSpherical::new(&[0.0, 1.0, 0.0], 1.0)?.kl_to_uniform();
    /// assert!((divergence - (2f64.ln() - 0.5)).abs() < 1e-15);
    /// # Ok::<(), stroock_geometry::distribution::DistributionError>(())
    /// ```
    pub fn kl_to_uniform(&self) -> T {
        T::of(self.divergence())
    }

    /// The derivative of [`kl_to_uniform`](Self::kl_to_uniform) by `kappa`: `kappa (ψ₁(α) - ψ₁(α+β)) >= 0`.
    pub fn kl_to_uniform_gradient(&self) -> T {
        let Marginal { alpha, beta } = self.marginal;
        T::of(self.kappa.as_f64() * trigamma_difference(alpha, beta))
    }

    /// Draws a point into `out`, of length n.
    ///
    /// # Errors
    /// [`DistributionError::LengthMismatch`] when `out` is not of length n.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut [T]) -> Result<(), DistributionError> {
        check_length("out", out, self.dim())?;
        let angle = self.marginal.sample(rng);
        let tangent = self.draw_tangent(rng, out);
        self.place(&angle, &tangent, out);
        Ok(())
    }

    /// Draws a point into `z`, keeps the noise that gave its direction, and returns its angle to `mu`: what
    /// [`pullback_into`](Self::pullback_into) needs. Both slices are of length n.
    ///
    /// # Errors
    /// [`DistributionError::LengthMismatch`] when a slice is not of length n.
    pub fn sample_into<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        noise: &mut [T],
        z: &mut [T],
    ) -> Result<PolarAngle, DistributionError> {
        check_length("noise", noise, self.dim())?;
        check_length("z", z, self.dim())?;
        let angle = self.marginal.sample(rng);
        let tangent = self.draw_tangent(rng, noise);
        z.copy_from_slice(noise);
        self.place(&angle, &tangent, z);
        Ok(angle)
    }

    /// Draws a point together with what its derivative needs.
    pub fn sample_with_tape<R: Rng + ?Sized>(&self, rng: &mut R) -> PowerSphericalTape<T> {
        let angle = self.marginal.sample(rng);
        let mut noise = vec![T::zero(); self.dim()];
        let tangent = self.draw_tangent(rng, &mut noise);
        let mut z = noise.clone();
        self.place(&angle, &tangent, &mut z);
        PowerSphericalTape { z, noise, angle }
    }

    /// The gradient of a function of the sample by `mu` and by `kappa`, from its gradient by the sample.
    ///
    /// See [`pullback_into`](Self::pullback_into) for what is differentiated.
    ///
    /// ```
    /// use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
    /// use stroock_geometry::distribution::PowerSpherical;
    ///
    /// let mu = [1.0, 0.0, 0.0];
    /// let start = PowerSpherical::new(&mu, 4.0)?;
    /// let tape = start.sample_with_tape(&mut Xoshiro256PlusPlus::seed_from_u64(1));
    /// // Of the cosine <mu, z> at a fixed mu: more concentration brings the sample closer to mu.
    /// let (_, grad_kappa) = start.pullback(&tape, &mu)?;
    /// assert!(grad_kappa > 0.0);
    /// # Ok::<(), stroock_geometry::distribution::DistributionError>(())
    /// ```
    ///
    /// # Errors
    /// [`DistributionError::LengthMismatch`] when `grad_z` or the noise of the tape is not of length n.
    pub fn pullback(
        &self,
        tape: &PowerSphericalTape<T>,
        grad_z: &[T],
    ) -> Result<(Vec<T>, T), DistributionError> {
        let mut grad_mu = vec![T::zero(); self.dim()];
        let grad_kappa = self.pullback_into(&tape.angle, &tape.noise, grad_z, &mut grad_mu)?;
        Ok((grad_mu, grad_kappa))
    }

    /// Writes the gradient by `mu` into `grad_mu` and returns the gradient by `kappa`; all slices are of
    /// length n.
    ///
    /// The sample is `z = cos θ mu + sin θ v`. By `kappa`, θ moves at a fixed quantile of its distribution. By `mu`, the
    /// sample is a function on the sphere: `grad_mu` is its gradient in the tangent space at `mu`
    /// (`<mu, grad_mu> = 0`), with `v` following `mu` as the [`Coupling`] says. At fixed noise `g`
    ///
    /// ```text
    /// dv = -<v, dmu> mu - q (dmu - <v, dmu> v),    q = <mu, g> / |g - <mu, g> mu|
    /// ```
    ///
    /// and under parallel transport `q = 0`.
    ///
    /// # Errors
    /// [`DistributionError::LengthMismatch`] when a slice is not of length n.
    pub fn pullback_into(
        &self,
        angle: &PolarAngle,
        noise: &[T],
        grad_z: &[T],
        grad_mu: &mut [T],
    ) -> Result<T, DistributionError> {
        check_length("noise", noise, self.dim())?;
        check_length("grad_z", grad_z, self.dim())?;
        check_length("grad_mu", grad_mu, self.dim())?;
        let tangent = self.tangent(noise);
        let (mut grad_along_mu, mut grad_along_v) = (0.0, 0.0);
        for ((mu, &g), &grad) in self.unit_mu().zip(noise).zip(grad_z) {
            grad_along_mu += grad.as_f64() * mu;
            grad_along_v += grad.as_f64() * tangent.of(mu, g);
        }

        let (cosine, sine) = (angle.cosine(), angle.sine());
        let q = match self.coupling {
            Coupling::FixedNoise => tangent.along_mu * tangent.inverse_length,
            Coupling::ParallelTransport => 0.0,
        };
        let across = cosine - sine * q;
        let along = sine * (q * grad_along_v - grad_along_mu);
        for (((mu, &g), &grad), out) in self.unit_mu().zip(noise).zip(grad_z).zip(grad_mu) {
            *out = T::of(across * (grad.as_f64() - grad_along_mu * mu) + along * tangent.of(mu, g));
        }

        let angular_speed = if sine > 0.0 { self.marginal.cosine_derivative(angle) / sine } else { 0.0 };
        Ok(T::of(angular_speed * (sine * grad_along_mu - cosine * grad_along_v)))
    }

    /// The derivative of the cosine `<mu, z>` by `kappa` at a fixed quantile of its distribution: never negative.
    pub fn cosine_derivative(&self, angle: &PolarAngle) -> T {
        T::of(self.marginal.cosine_derivative(angle))
    }

    fn ln_area(&self) -> f64 {
        UniformSphere::of_dimension(self.dim()).entropy()
    }

    fn divergence(&self) -> f64 {
        let Marginal { alpha, beta } = self.marginal;
        let kappa = self.kappa.as_f64();
        if kappa <= beta {
            // The closed form is a small difference of large numbers here, so integrate the positive
            // derivative: ∫_0^kappa s (ψ₁(β+s) - ψ₁(2β+s)) ds.
            let slope = |x: f64| x * trigamma_difference(beta + kappa * x, beta);
            return kappa * kappa * GAUSS_12.iter().map(|node| node.weight * slope(node.x)).sum::<f64>();
        }
        ln_gamma_difference(alpha, beta)
            - ln_gamma_difference(beta, beta)
            - kappa * digamma_difference(alpha, beta)
    }

    /// The entries of `mu`, normalised in double precision.
    fn unit_mu(&self) -> impl Iterator<Item = f64> + use<'a, T> {
        let scale = self.inverse_norm;
        self.mu.iter().map(move |mu| mu.as_f64() * scale)
    }

    /// Draws noise that is not parallel to `mu`, and its tangent.
    fn draw_tangent<R: Rng + ?Sized>(&self, rng: &mut R, noise: &mut [T]) -> Tangent {
        // The direction of the tangent is independent of its length: drawing again when it is too short to
        // have precise digits does not change the distribution.
        const SHORTEST: f64 = 1e-6;
        loop {
            fill_normal(rng, noise);
            let tangent = self.tangent(noise);
            if tangent.inverse_length > 0.0 && SHORTEST * tangent.inverse_length < 1.0 {
                return tangent;
            }
        }
    }

    /// The tangent at `mu` in the direction of the noise.
    fn tangent(&self, noise: &[T]) -> Tangent {
        let mut along_mu = 0.0;
        // The second pass removes what the rounding of the first one left along `mu`.
        for _ in 0..2 {
            let rest = |(mu, &g): (f64, &T)| mu * (g.as_f64() - along_mu * mu);
            along_mu += self.unit_mu().zip(noise).map(rest).sum::<f64>();
        }
        let square = |(mu, &g): (f64, &T)| (g.as_f64() - along_mu * mu).powi(2);
        let length = self.unit_mu().zip(noise).map(square).sum::<f64>().sqrt();
        Tangent { along_mu, inverse_length: if length > 0.0 { 1.0 / length } else { 0.0 } }
    }

    /// Replaces the noise in `out` by the point `cos θ mu + sin θ v`.
    fn place(&self, angle: &PolarAngle, tangent: &Tangent, out: &mut [T]) {
        let (cosine, sine) = (angle.cosine(), angle.sine());
        for (mu, out) in self.unit_mu().zip(out) {
            *out = T::of(cosine * mu + sine * tangent.of(mu, *out));
        }
    }
}

/// The unit tangent `v = (g - <mu, g> mu) / |g - <mu, g> mu|` at `mu`, entry by entry from the noise `g`.
struct Tangent {
    along_mu: f64,
    /// Zero where the noise is parallel to `mu`, and then `v = 0`.
    inverse_length: f64,
}

impl Tangent {
    /// The entry of `v` where `mu` and the noise have the entries `mu` and `g`.
    #[inline(always)]
    fn of<T: Real>(&self, mu: f64, g: T) -> f64 {
        (g.as_f64() - self.along_mu * mu) * self.inverse_length
    }
}
