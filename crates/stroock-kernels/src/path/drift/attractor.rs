//! A drift of the ambient space that is the same at all times: attracting points and cycles.

use stroock_geometry::Real;

use super::{Described, Extents, InLanes, Role, argument, gather, unpack_lane};
use crate::argument::{ArgumentError, check_finite, check_length};
use crate::path::PathError;
use crate::path::layout::Layout;
use crate::path::rows::Row;
use crate::path::times::Times;
use crate::simd::{Lanes, MAX_WIDTH};

/// `c(z) = pull + A z`, where `A` acts on the coordinate planes `(2 i, 2 i + 1)`, `i < n / 2`, as
/// `(x, y) -> (rate_i x - frequency_i y, frequency_i x + rate_i y)`; a last odd coordinate has `A = 0`. For
/// [steered](crate::path::Scheme::Steered) paths, which then follow `P_z c(z)`, and for the prior of processes with [given
/// marginals](crate::moebius).
///
/// With `A = 0` the stationary distribution is that of von Mises and Fisher about the pull; planes of large rates attract,
/// and a frequency turns what they attract into a cycle. In other coordinates of the sphere every normal `A` is of this
/// form.
///
/// ```
/// use stroock_kernels::path::Attractor;
/// // Towards the third axis, and around it three times in a time of 2 pi.
/// let attractor = Attractor { coefficients: &[0.0, 0.0, 2.0, 0.0, 3.0] };
/// assert_eq!(attractor.coefficients.len(), Attractor::<f64>::numbers(3));
/// assert_eq!(attractor.velocity(&[1.0, 0.0, 0.0])?, [0.0, 3.0, 2.0]);
/// # Ok::<(), stroock_kernels::argument::ArgumentError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Attractor<'a, T> {
    /// For every series the pull `[n]`, the rates `[n / 2]` and the frequencies `[n / 2]`, `[B, n + 2 (n / 2)]`; once,
    /// `[n + 2 (n / 2)]`, where it is the same for all series.
    pub coefficients: &'a [T],
}

impl<T: Real> Attractor<'_, T> {
    /// Its numbers in ambient dimension `n`: `n + 2 (n / 2)`.
    pub fn numbers(n: usize) -> usize {
        n + 2 * (n / 2)
    }

    /// The velocity `P_z c(z)` at a point of the sphere, where it is the same for all series.
    ///
    /// # Errors
    /// When the number of coefficients does not fit the length of the point.
    pub fn velocity(&self, point: &[T]) -> Result<Vec<T>, ArgumentError> {
        check_length("coefficients", "[n + 2 (n / 2)]", Self::numbers(point.len()), self.coefficients.len())?;
        let z: Vec<f64> = point.iter().map(|x| x.as_f64()).collect();
        let mut field = vec![0.0; z.len()];
        self.subtract_from(&z, &mut field);
        let along: f64 = field.iter().zip(&z).map(|(x, z)| x * z).sum();
        Ok(field.iter().zip(&z).map(|(x, z)| T::of(along * z - x)).collect())
    }
}

impl<'p, T: Real> Described<'p, T> for Attractor<'p, T> {
    type InLanes<V: Lanes<Real = T>> = AttractorInLanes<V>;

    fn check(&self, role: Role, Extents { series, m, .. }: Extents<'_>) -> Result<(), PathError> {
        let name = argument!(role, "coefficients");
        check_length(name, "[series, n + 2 (n / 2)]", series * Self::numbers(m), self.coefficients.len())?;
        Ok(check_finite(name, self.coefficients)?)
    }

    fn extent(&self, _: usize, layout: &Layout) -> usize {
        Self::numbers(layout.m)
    }

    #[inline(always)]
    fn in_lanes<V: Lanes<Real = T>>(&self, rows: &[Row; MAX_WIDTH], layout: &Layout) -> AttractorInLanes<V> {
        let (n, count) = (layout.m, Self::numbers(layout.m));
        let mut slices = [&[][..]; MAX_WIDTH];
        for (slice, row) in slices.iter_mut().zip(rows) {
            *slice = &self.coefficients[row.series * count..(row.series + 1) * count];
        }
        let mut coefficients = vec![V::zero(); count];
        gather(&slices, 0, &mut coefficients);
        AttractorInLanes {
            coefficients,
            of_coefficients: vec![V::zero(); count],
            value: vec![V::zero(); n],
            of_value: vec![V::zero(); n],
        }
    }
}

pub(in crate::path) struct AttractorInLanes<V: Lanes> {
    /// `[n | n / 2 | n / 2]`.
    coefficients: Vec<V>,
    of_coefficients: Vec<V>,
    value: Vec<V>,
    of_value: Vec<V>,
}

impl<V: Lanes> InLanes<V> for AttractorInLanes<V> {
    #[inline(always)]
    fn prepare(&mut self, _: usize, _: &Times<'_, V>, z: &[V]) {
        let (pull, planes) = self.coefficients.split_at(z.len());
        let (rates, frequencies) = planes.split_at(planes.len() / 2);
        self.value.copy_from_slice(pull);
        for (i, (&rate, &frequency)) in rates.iter().zip(frequencies).enumerate() {
            let (x, y) = (z[2 * i], z[2 * i + 1]);
            self.value[2 * i] = frequency.neg_mul_add(y, rate.mul_add(x, self.value[2 * i]));
            self.value[2 * i + 1] = frequency.mul_add(x, rate.mul_add(y, self.value[2 * i + 1]));
        }
    }

    #[inline(always)]
    fn value(&self) -> &[V] {
        &self.value
    }

    #[inline(always)]
    fn cotangent(&mut self) -> &mut [V] {
        &mut self.of_value
    }

    #[inline(always)]
    fn pull_back(&mut self, _: usize, z: &[V], of_state: &mut [V], _: &mut [&mut [V::Real]]) {
        let n = z.len();
        let (rates, frequencies) = self.coefficients[n..].split_at(n / 2);
        let (of_pull, of_planes) = self.of_coefficients.split_at_mut(n);
        let (of_rates, of_frequencies) = of_planes.split_at_mut(n / 2);
        for (of_pull, g) in of_pull.iter_mut().zip(&self.of_value) {
            *of_pull = of_pull.add(*g);
        }
        for i in 0..n / 2 {
            let (x, y) = (z[2 * i], z[2 * i + 1]);
            let (of_x, of_y) = (self.of_value[2 * i], self.of_value[2 * i + 1]);
            of_rates[i] = of_x.mul_add(x, of_y.mul_add(y, of_rates[i]));
            of_frequencies[i] = of_y.mul_add(x, of_x.neg_mul_add(y, of_frequencies[i]));
            of_state[2 * i] = frequencies[i].mul_add(of_y, rates[i].mul_add(of_x, of_state[2 * i]));
            of_state[2 * i + 1] =
                frequencies[i].neg_mul_add(of_x, rates[i].mul_add(of_y, of_state[2 * i + 1]));
        }
    }

    #[inline(always)]
    fn finish(&mut self, out: &mut [&mut [V::Real]]) {
        for (l, out) in out.iter_mut().enumerate() {
            unpack_lane(&self.of_coefficients, l, out);
        }
    }
}
