//! The normals of one step of the driving Wiener process, for a vector of rows.

use super::stream::counter;
use super::{NoiseKey, Purpose};
use crate::simd::{Kernel, Lanes, Level, SimdReal, Words, dispatch};

/// Fills `out` (`[m]` per lane) with the standard normals of step `step` for the rows in the lanes.
#[inline(always)]
pub(crate) fn fill_step<V: Lanes>(
    key: NoiseKey,
    series: V::Words,
    sample: V::Words,
    step: u32,
    out: &mut [V],
) {
    for (block, chunk) in out.chunks_mut(4).enumerate() {
        let [block, step, ..] = counter(Purpose::Path, block as u32, step, 0, 0);
        let counter = [V::Words::splat(block), V::Words::splat(step), sample, series];
        let normals = V::normals(V::Words::philox(counter, key.words()));
        chunk.copy_from_slice(&normals[..chunk.len()]);
    }
}

/// The standard normals `xi[step, coefficient]` that drive the path of one series and sample.
///
/// Shape of the result: `[steps, coefficients]`, row-major. The path kernels use exactly these numbers.
///
/// ```
/// use stroock_kernels::noise::{NoiseKey, increments};
/// use stroock_kernels::simd::Level;
/// let key = NoiseKey::new(1, 0);
/// let long: Vec<f32> = increments(Level::detect(), key, 5, 0, 20, 120);
/// let short: Vec<f32> = increments(Level::detect(), key, 5, 0, 10, 120);
/// assert_eq!(long[..1200], short[..]);
/// ```
pub fn increments<T: SimdReal>(
    level: Level,
    key: NoiseKey,
    series: u32,
    sample: u32,
    steps: usize,
    coefficients: usize,
) -> Vec<T> {
    dispatch(level, Increments { key, series, sample, steps, coefficients, real: std::marker::PhantomData })
}

struct Increments<T> {
    key: NoiseKey,
    series: u32,
    sample: u32,
    steps: usize,
    coefficients: usize,
    real: std::marker::PhantomData<T>,
}

impl<T: SimdReal> Kernel<T> for Increments<T> {
    type Output = Vec<T>;

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) -> Vec<T> {
        let mut lanes = vec![V::zero(); self.coefficients];
        let mut copies = vec![T::of(0.0); V::WIDTH];
        let mut out = Vec::with_capacity(self.steps * self.coefficients);
        for step in 0..self.steps {
            let (series, sample) = (V::Words::splat(self.series), V::Words::splat(self.sample));
            fill_step(self.key, series, sample, step as u32, &mut lanes);
            for normals in &lanes {
                normals.store(&mut copies);
                out.push(copies[0]);
            }
        }
        out
    }
}
