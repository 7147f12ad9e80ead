//! Two standard normal numbers from two random words, by the transform of Box and Muller.
//!
//! With `u` in (0, 1] from the first word and a uniform angle `a` from the second,
//! `sqrt(-2 ln u) (cos a, sin a)` are independent normals. The angle is drawn in the eighth-turns around
//! the first axis, `|a| <= pi/4`, where short polynomials are exact to rounding; one bit then swaps the
//! coordinates and one bit flips a sign, which carries it to the whole circle.

use std::f32::consts::FRAC_PI_4;

use crate::simd::{SingleLanes, Words, polynomial};

/// Four normals per lane from four words per lane, in single precision.
#[inline(always)]
pub(crate) fn normals<V: SingleLanes>(words: [V::Words; 4]) -> [V; 4] {
    let [a, b] = pair(words[0], words[1]);
    let [c, d] = pair(words[2], words[3]);
    [a, b, c, d]
}

#[inline(always)]
fn pair<V: SingleLanes>(radius: V::Words, angle: V::Words) -> [V; 2] {
    let ln = ln_of_31_bits::<V>(V::or(V::shift_right::<1>(radius), V::Words::splat(1)));
    let r = ln.mul(V::splat(-2.0)).sqrt();

    // In units of pi/4, so that the polynomials absorb the factor.
    let x = V::from_signed(V::and(angle, V::Words::splat(!3))).mul(V::splat(2f32.powi(-31)));
    let square = x.mul(x);
    let sine = x.mul(polynomial(square, &SINE)).mul(r);
    let cosine = polynomial(square, &COSINE).mul(r);

    let sign = V::shift_left::<30>(V::and(angle, V::Words::splat(2)));
    let cosine = V::from_bits(V::xor(cosine.to_bits(), sign));
    let swap = V::shift_left::<31>(angle);
    [V::select(swap, sine, cosine), V::select(swap, cosine, sine)]
}

/// The four normals of four words in double precision: what the single precision numbers are before
/// their rounding.
#[inline(always)]
pub(crate) fn normals_f64(words: [u32; 4]) -> [f64; 4] {
    let [a, b] = pair_f64(words[0], words[1]);
    let [c, d] = pair_f64(words[2], words[3]);
    [a, b, c, d]
}

#[inline(always)]
fn pair_f64(radius: u32, angle: u32) -> [f64; 2] {
    let u = f64::from(radius >> 1 | 1) * 2f64.powi(-31);
    let r = (-2.0 * u.ln()).sqrt();
    let a = f64::from((angle & !3) as i32) * 2f64.powi(-31) * std::f64::consts::FRAC_PI_4;
    let (sine, cosine) = a.sin_cos();
    let cosine = if angle & 2 == 2 { -cosine } else { cosine };
    if angle & 1 == 1 { [r * sine, r * cosine] } else { [r * cosine, r * sine] }
}

/// `sin(x pi/4) / x` in powers of `x^2` on [-1, 1]; error below 3e-9.
const SINE: [f32; 4] = [FRAC_PI_4, -8.074_543_5e-2, 2.490_007e-3, -3.595_451e-5];
/// `cos(x pi/4)` in powers of `x^2` on [-1, 1]; error below 3e-8.
const COSINE: [f32; 4] = [1.0, -3.084_242_5e-1, 1.584_991_5e-2, -3.188_805e-4];
/// `(ln(1 + p) - p) / p^2` in powers of `p` on [1/sqrt 2 - 1, sqrt 2 - 1]; error of the logarithm below 4e-8.
const LOGARITHM: [f32; 7] =
    [-0.500_005_6, 0.333_352_4, -0.249_622_1, 0.198_889_3, -0.173_194_4, 0.163_296_2, -0.100_452_6];

/// `ln(k 2^-31)` for 0 < k < 2^31, to about 1e-7.
#[inline(always)]
fn ln_of_31_bits<V: SingleLanes>(k: V::Words) -> V {
    let bits = V::from_signed(k).to_bits();
    // Exponent such that the mantissa falls in [1/sqrt 2, sqrt 2).
    let sqrt_half = V::Words::splat(std::f32::consts::FRAC_1_SQRT_2.to_bits());
    let exponent = V::shift_right_signed::<23>(V::minus(bits, sqrt_half));
    let mantissa = V::from_bits(V::minus(bits, V::shift_left::<23>(exponent)));
    let p = mantissa.sub(V::splat(1.0));
    let ln_mantissa = p.mul(p).mul_add(polynomial(p, &LOGARITHM), p);
    V::from_signed(exponent).sub(V::splat(31.0)).mul_add(V::splat(std::f32::consts::LN_2), ln_mantissa)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::philox;
    use crate::simd::{Kernel, Lanes, Level, dispatch};

    struct Normals(Vec<[u32; 4]>);

    impl Kernel<f32> for Normals {
        type Output = Vec<[f32; 4]>;

        #[inline(always)]
        fn run<V: Lanes<Real = f32>>(self) -> Vec<[f32; 4]> {
            let mut out = vec![[0.0; 4]; self.0.len()];
            for (words, out) in self.0.chunks_exact(V::WIDTH).zip(out.chunks_exact_mut(V::WIDTH)) {
                let mut columns = [V::Words::splat(0); 4];
                for (i, column) in columns.iter_mut().enumerate() {
                    *column = V::Words::load(&words.iter().map(|w| w[i]).collect::<Vec<_>>());
                }
                for (i, normals) in V::normals(columns).into_iter().enumerate() {
                    let mut lanes = vec![0.0; V::WIDTH];
                    normals.store(&mut lanes);
                    out.iter_mut().zip(lanes).for_each(|(out, lane)| out[i] = lane);
                }
            }
            out
        }
    }

    #[test]
    fn single_precision_is_the_rounded_double_at_every_level() {
        let extremes = [0, 1, 2, 3, u32::MAX, u32::MAX - 1, 1 << 31, (1 << 31) - 1];
        let mut words: Vec<[u32; 4]> =
            extremes.iter().flat_map(|&a| extremes.map(|b| [a, b, b, a])).collect();
        words.extend((0..100_000).map(|i| philox([i, 0, 0, 0], [1, 2])));
        words.truncate(words.len() / 16 * 16);
        for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
            for (single, words) in dispatch(level, Normals(words.clone())).into_iter().zip(&words) {
                for (single, double) in single.into_iter().zip(normals_f64(*words)) {
                    let error = (f64::from(single) - double).abs();
                    // The radius behaves like sqrt(1 - u) near 0, so its error is absolute there.
                    assert!(error < 4e-4, "{level:?} {words:?}: {single} {double}");
                    assert!(error < 2e-6 || double.abs() < 0.05, "{level:?} {words:?}: {single} {double}");
                }
            }
        }
    }
}
