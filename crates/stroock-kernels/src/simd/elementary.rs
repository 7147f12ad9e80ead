//! The exponential, the hyperbolic tangent and a logarithm in single precision lanes, to about one unit in the last
//! place. What is not a number stays so.

use super::{SingleLanes, Words};

/// Adding it to `|x| < 2^22` rounds `x` to an integer, which then stands in the low bits of the sum.
const ROUNDER: f32 = 12_582_912.0;
/// `ln 2` as a number of nine bits, whose small multiples are exact, plus the rest.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
/// From here on the exponent of the result is the one of infinity, or that of zero.
const LARGEST: f32 = 89.0;
const SMALLEST: f32 = -88.0;

/// `(e^r - 1 - r) / r^2` in powers of `r` for `|r| <= ln 2 / 2`; error of the exponential below 1.1e-8.
const EXPONENTIAL: [f32; 5] = [0.5, 0.166_665_77, 4.166_655_4e-2, 8.363_233e-3, 1.392_625_1e-3];
/// `(tanh x - x) / x^3` in powers of `x^2` for `|x| <= 5/8`; relative error of the tangent below 1.7e-8.
const TANGENT: [f32; 5] = [-0.333_333_3, 0.133_327_7, -5.385_091e-2, 2.099_718e-2, -6.096_714e-3];
/// `ln(1 + u) / u` in powers of `u` for `0 <= u <= 1`; relative error below 3.1e-8.
const LOGARITHM: [f32; 9] = [
    0.999_999_94,
    -0.499_994_93,
    0.333_190_98,
    -0.248_429_82,
    0.191_060_07,
    -0.136_632_46,
    7.822_595e-2,
    -2.950_523_8e-2,
    5.232_694e-3,
];
/// Where the polynomial of the tangent ends.
const SMALL: f32 = 0.625;

/// `e^x = 2^k e^r` with the integer `k` nearest to `x / ln 2`. Zero where the result would be less than
/// 8e-39, infinite from `x = 88.37` on.
#[inline(always)]
pub(super) fn exp<V: SingleLanes>(x: V) -> V {
    let minus_x = V::zero().sub(V::splat(SMALLEST).max(x));
    let x = V::zero().sub(V::splat(-LARGEST).max(minus_x));
    let shifted = x.mul_add(V::splat(std::f32::consts::LOG2_E), V::splat(ROUNDER));
    let k = shifted.sub(V::splat(ROUNDER));
    let r = k.neg_mul_add(V::splat(LN_2[1]), k.neg_mul_add(V::splat(LN_2[0]), x));
    let mantissa = polynomial(r, &EXPONENTIAL).mul_add(r.mul(r), r).add(V::splat(1.0));
    let biased = V::minus(shifted.to_bits(), V::Words::splat(ROUNDER.to_bits() - 127));
    mantissa.mul(V::from_bits(V::shift_left::<23>(biased)))
}

/// `tanh x`: a polynomial near zero, and `1 - 2 / (e^{2|x|} + 1)` with the sign of `x` beyond.
#[inline(always)]
pub(super) fn tanh<V: SingleLanes>(x: V) -> V {
    let sign = V::and(x.to_bits(), V::Words::splat(1 << 31));
    let magnitude = V::from_bits(V::xor(x.to_bits(), sign));
    let square = x.mul(x);
    let near = polynomial(square, &TANGENT).mul_add(square.mul(x), x);
    let one = V::splat(1.0);
    let far = one.sub(V::splat(2.0).div(exp(magnitude.add(magnitude)).add(one)));
    let far = V::from_bits(V::or(far.to_bits(), sign));
    let is_near = magnitude.sub(V::splat(SMALL)).to_bits();
    V::select(is_near, near, far)
}

/// `ln(1 + u)` for `0 <= u <= 1`.
#[inline(always)]
pub(super) fn ln_1p<V: SingleLanes>(u: V) -> V {
    polynomial(u, &LOGARITHM).mul(u)
}

/// `sum_i coefficients[i] x^i`.
#[inline(always)]
pub(crate) fn polynomial<V: SingleLanes, const N: usize>(x: V, coefficients: &[f32; N]) -> V {
    let mut sum = V::splat(coefficients[N - 1]);
    for i in (0..N - 1).rev() {
        sum = sum.mul_add(x, V::splat(coefficients[i]));
    }
    sum
}

#[cfg(test)]
mod tests {
    use crate::simd::{Kernel, LaneReal, Lanes, Level, dispatch};

    /// `e^x`, `tanh x` and the logistic function of every number.
    struct Values<T>(Vec<T>);

    impl<T: LaneReal> Kernel<T> for Values<T> {
        type Output = [Vec<T>; 3];

        #[inline(always)]
        fn run<V: Lanes<Real = T>>(self) -> [Vec<T>; 3] {
            let mut out = [self.0.clone(), self.0.clone(), self.0];
            for values in out[0].chunks_exact_mut(V::WIDTH) {
                V::load(values).exp().store(values);
            }
            for values in out[1].chunks_exact_mut(V::WIDTH) {
                V::load(values).tanh().store(values);
            }
            for values in out[2].chunks_exact_mut(V::WIDTH) {
                V::load(values).sigmoid().store(values);
            }
            out
        }
    }

    fn levels() -> impl Iterator<Item = Level> {
        Level::ALL.into_iter().filter(|level| level.is_available())
    }

    #[test]
    fn single_precision_is_right_to_the_last_places_at_every_level() {
        let numbers: Vec<f32> = (-160_000..160_000).map(|i| (i as f32 / 2000.0).powi(3) / 5e3).collect();
        for level in levels() {
            let [exp, tanh, sigmoid] = dispatch(level, Values(numbers.clone()));
            for (i, &x) in numbers.iter().enumerate() {
                let x = f64::from(x);
                let exact = [x.exp(), x.tanh(), 1.0 / (1.0 + (-x).exp())];
                for (actual, exact) in [exp[i], tanh[i], sigmoid[i]].into_iter().zip(exact) {
                    let (least, most) = (2f64.powi(-125), 2f64.powi(127));
                    if exact.abs() < least {
                        assert!(f64::from(actual).abs() < 2.0 * least, "{level:?} {x}: {actual} {exact}");
                    } else if exact.abs() > most {
                        assert!(f64::from(actual) > 0.99 * most, "{level:?} {x}: {actual} {exact}");
                    } else {
                        let error = (f64::from(actual) / exact - 1.0).abs();
                        assert!(error < 2.5e-7, "{level:?} {x}: {actual} {exact} {error:e}");
                    }
                }
            }
        }
    }

    /// `ln(1 + u)` of every number.
    struct Logarithms<T>(Vec<T>);

    impl<T: LaneReal> Kernel<T> for Logarithms<T> {
        type Output = Vec<T>;

        #[inline(always)]
        fn run<V: Lanes<Real = T>>(mut self) -> Vec<T> {
            for values in self.0.chunks_exact_mut(V::WIDTH) {
                V::load(values).ln_1p().store(values);
            }
            self.0
        }
    }

    #[test]
    fn logarithms_between_zero_and_one_are_right_to_the_last_places() {
        let numbers: Vec<f32> = (0..160_000).map(|i| (i as f32 / 159_999.0).powi(4)).collect();
        let doubles: Vec<f64> = numbers.iter().map(|&u| f64::from(u)).collect();
        for level in levels() {
            let logarithms = dispatch(level, Logarithms(numbers.clone()));
            for (&actual, u) in logarithms.iter().zip(&doubles) {
                let (actual, exact) = (f64::from(actual), u.ln_1p());
                assert!((actual - exact).abs() <= 2.5e-7 * exact, "{level:?} {u}: {actual} {exact}");
            }
            let exact: Vec<f64> = doubles.iter().map(|u| u.ln_1p()).collect();
            assert_eq!(dispatch(level, Logarithms(doubles.clone())), exact);
            assert!(dispatch(level, Logarithms(vec![f32::NAN; 16])).iter().all(|x| x.is_nan()));
        }
    }

    #[test]
    fn extremes_and_what_is_not_a_number() {
        let extremes = [0.0, -0.0, f32::MAX, f32::MIN, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN];
        let numbers = extremes.repeat(2);
        for level in levels() {
            let [exp, tanh, sigmoid] = dispatch(level, Values(numbers.clone()));
            assert_eq!(exp[..6], [1.0, 1.0, f32::INFINITY, 0.0, f32::INFINITY, 0.0], "{level:?}");
            assert_eq!(tanh[..6], [0.0, 0.0, 1.0, -1.0, 1.0, -1.0], "{level:?}");
            assert_eq!(sigmoid[..6], [0.5, 0.5, 1.0, 0.0, 1.0, 0.0], "{level:?}");
            let unordered = exp[6..8].iter().chain(&tanh[6..8]).chain(&sigmoid[6..8]);
            assert!(unordered.into_iter().all(|x| x.is_nan()), "{level:?}");
        }
    }

    #[test]
    fn double_precision_is_that_of_the_standard_library() {
        let numbers: Vec<f64> = (-64..64).map(|i| f64::from(i) / 3.0).collect();
        for level in levels() {
            let [exp, tanh, sigmoid] = dispatch(level, Values(numbers.clone()));
            for (i, x) in numbers.iter().enumerate() {
                assert_eq!([exp[i], tanh[i], sigmoid[i]], [x.exp(), x.tanh(), 1.0 / (1.0 + (-x).exp())]);
            }
        }
    }
}
