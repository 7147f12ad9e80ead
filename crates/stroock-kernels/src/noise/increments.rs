//! The normals of one step of the driving Wiener process, for a vector of rows.

use super::stream::counter;
use super::{NoiseKey, Purpose, RoundKeys, round_keys_in_lanes};
use crate::simd::{Kernel, Lanes, Level, MAX_WIDTH, SimdReal, Words};

/// Fills `out` (`[m]` per lane) with the standard normals of a row and a step in each lane;
/// `words` (`[m]` rounded up to a multiple of four) is scratch.
///
/// All words come before the first normal: two loops of independent iterations keep the processor busier
/// than one loop, each of whose iterations is a long chain of dependent operations.
#[inline(always)]
pub(crate) fn fill_step<V: Lanes>(
    keys: &RoundKeys<V::Words>,
    series: V::Words,
    sample: V::Words,
    step: V::Words,
    words: &mut [V::Words],
    out: &mut [V],
) {
    for (block, words) in words.chunks_exact_mut(4).enumerate() {
        let [block, ..] = counter(Purpose::Path, block as u32, 0, 0, 0);
        let four = V::Words::philox([V::Words::splat(block), step, sample, series], keys);
        words.copy_from_slice(&four);
    }
    let whole = out.len() / 4 * 4;
    for (words, out) in words.chunks_exact(4).zip(out[..whole].chunks_exact_mut(4)) {
        out.copy_from_slice(&V::normals([words[0], words[1], words[2], words[3]]));
    }
    if whole < out.len() {
        let rest = V::normals([words[whole], words[whole + 1], words[whole + 2], words[whole + 3]]);
        let count = out.len() - whole;
        out[whole..].copy_from_slice(&rest[..count]);
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
    T::increments(
        level,
        Increments { key, series, sample, steps, coefficients, real: std::marker::PhantomData },
    )
}

/// Where the numbers of one series and sample stand.
pub struct Increments<T> {
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
        let keys = round_keys_in_lanes(self.key.words());
        let (series, sample) = (V::Words::splat(self.series), V::Words::splat(self.sample));
        let mut words = vec![V::Words::splat(0); self.coefficients.next_multiple_of(4)];
        let mut normals = vec![V::zero(); self.coefficients];
        let mut lanes = [T::zero(); MAX_WIDTH];
        let mut out = vec![T::zero(); self.steps * self.coefficients];
        for (first, steps) in out.chunks_mut(V::WIDTH * self.coefficients.max(1)).enumerate() {
            let mut numbers = [0; MAX_WIDTH];
            for (lane, number) in numbers.iter_mut().enumerate() {
                *number = (first * V::WIDTH + lane) as u32;
            }
            fill_step(&keys, series, sample, V::Words::load(&numbers), &mut words, &mut normals);
            for (k, normals) in normals.iter().enumerate() {
                normals.store(&mut lanes);
                for (step, lane) in steps.chunks_exact_mut(self.coefficients).zip(lanes) {
                    step[k] = lane;
                }
            }
        }
        out
    }
}
