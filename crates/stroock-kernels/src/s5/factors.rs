//! What a gap does to a state, and derivatives of it.

use std::ops::{Add, AddAssign, Mul};

use stroock_geometry::Real;

use super::{S5Error, S5Problem};

/// A complex number in double precision.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Complex {
    pub re: f64,
    pub im: f64,
}

impl Complex {
    pub fn conjugate(self) -> Self {
        Self { im: -self.im, ..self }
    }

    fn times(self, factor: f64) -> Self {
        Self { re: self.re * factor, im: self.im * factor }
    }

    fn plus(self, real: f64) -> Self {
        Self { re: self.re + real, ..self }
    }

    fn norm(self) -> f64 {
        self.re.hypot(self.im)
    }

    fn exp(self) -> Self {
        let (sin, cos) = self.im.sin_cos();
        Self { re: cos, im: sin }.times(self.re.exp())
    }

    fn over(self, divisor: Self) -> Self {
        let square = divisor.re * divisor.re + divisor.im * divisor.im;
        (self * divisor.conjugate()).times(1.0 / square)
    }
}

impl Add for Complex {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl AddAssign for Complex {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Mul for Complex {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

/// Below this size of `z`, `phi` and its derivative are sums of their series.
const NEAR: f64 = 0.5;
/// Terms of the series: the first one that is left out is below `NEAR^20 / 20!`, about 4e-25.
const TERMS: u32 = 20;

/// `phi(z) = (e^z - 1) / z` and its derivative `(e^z - phi(z)) / z`.
fn phi(z: Complex) -> (Complex, Complex) {
    if z.norm() >= NEAR {
        let exp = z.exp();
        let value = exp.plus(-1.0).over(z);
        return (value, (exp + value.times(-1.0)).over(z));
    }
    // sum z^n / (n + 1)! and sum (n + 1) z^n / (n + 2)!.
    let (mut value, mut slope) = (Complex::default(), Complex::default());
    let (mut power, mut factorial) = (Complex { re: 1.0, im: 0.0 }, 1.0);
    for n in 0..TERMS {
        value += power.times(1.0 / factorial);
        let next = factorial * f64::from(n + 2);
        slope += power.times(f64::from(n + 1) / next);
        (power, factorial) = (power * z, next);
    }
    (value, slope)
}

/// The factors `a` and `c` of every distinct gap and state.
pub(super) struct Factors<T> {
    /// The distinct gaps, increasing.
    pub gaps: Vec<f64>,
    /// The distinct gap of every row, `[N]`.
    pub places: Vec<u32>,
    /// `[gaps, 4, P']`: real and imaginary part of `a`, then of `c`, with the states filled up to whole vectors.
    pub table: Vec<T>,
}

impl<T: Real> Factors<T> {
    /// The factors of a problem that has passed its checks, for vectors of `lanes` states.
    pub fn new(problem: &S5Problem<'_, T>, lanes: usize) -> Result<Self, S5Error> {
        let mut gaps = problem.gaps.to_vec();
        gaps.sort_by(f64::total_cmp);
        gaps.dedup();
        let place = |gap: &f64| gaps.binary_search_by(|other| other.total_cmp(gap)).unwrap_or_default();
        let places = problem.gaps.iter().map(|gap| place(gap) as u32).collect();
        let padded = problem.states.next_multiple_of(lanes);
        let mut table = vec![T::zero(); gaps.len() * 4 * padded];
        for (row, &gap) in table.chunks_exact_mut(4 * padded).zip(&gaps) {
            for state in 0..problem.states {
                let step = problem.ln_delta[state].as_f64().exp() * gap;
                let z = problem.eigenvalue(state).times(step);
                let (decay, drive) = (z.exp(), phi(z).0.times(step));
                for (part, value) in [decay.re, decay.im, drive.re, drive.im].into_iter().enumerate() {
                    let value = T::of(value);
                    if !value.is_finite() {
                        return Err(S5Error::Overflow { state, gap });
                    }
                    row[part * padded + state] = value;
                }
            }
        }
        Ok(Self { gaps, places, table })
    }
}

/// Gradients of eigenvalue and logarithm of the step from those of `a = exp(l s)` and `c = s phi(l s)`, where `s = e^ln_delta
/// gap`. Gradients of complex numbers are those of their parts: through an analytic function they are multiplied by
/// the conjugate of its derivative.
pub(super) fn pull_back(
    eigenvalue: Complex,
    ln_delta: f64,
    gap: f64,
    of_decay: Complex,
    of_drive: Complex,
) -> (Complex, f64) {
    let step = ln_delta.exp() * gap;
    let z = eigenvalue.times(step);
    let (decay, slope) = (z.exp(), phi(z).1);
    let of_eigenvalue =
        decay.times(step).conjugate() * of_decay + slope.times(step * step).conjugate() * of_drive;
    let of_step = ((eigenvalue * decay).conjugate() * of_decay + decay.conjugate() * of_drive).re;
    (of_eigenvalue, of_step * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_meets_the_quotient() {
        for i in 0..64 {
            let angle = f64::from(i) * 0.1;
            let on = |radius: f64| Complex { re: radius * angle.cos(), im: radius * angle.sin() };
            let [(inside, slope_inside), (outside, slope_outside)] =
                [0.5 - 1e-13, 0.5 + 1e-13].map(|r| phi(on(r)));
            for (a, b) in [(inside, outside), (slope_inside, slope_outside)] {
                assert!((a + b.times(-1.0)).norm() < 1e-12, "{a:?} {b:?}");
            }
        }
        let (value, slope) = phi(Complex::default());
        assert_eq!((value.re, slope.re), (1.0, 0.5));
    }
}
