//! Several series in the lanes of one vector register.
//!
//! A kernel is written once over the trait `Lanes` and compiled once per instruction set; [`Level`] is
//! the set that the running processor has. Lanes are private to this crate, and a kernel meets them only behind
//! `dispatch`, after the processor has been asked: safe code cannot run an instruction that it lacks. Lanes never
//! mix: lane `l` of a result depends on lane `l` of the operands alone, so that a series gives the same bits whatever
//! series stand beside it.

mod array;
mod elementary;
mod level;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use elementary::polynomial;
#[cfg(test)]
pub(crate) use level::LaneReal;
pub(crate) use level::{Kernel, dispatch};
pub use level::{Level, SimdReal};

use crate::noise::RoundKeys;
use stroock_geometry::Real;

/// The number of lanes of the widest vector.
pub(crate) const MAX_WIDTH: usize = 16;

/// A vector of real numbers, one per lane, with element-wise arithmetic.
pub(crate) trait Lanes: Copy + Send + Sync + 'static {
    /// The number in a lane.
    type Real: Real;
    /// A vector of as many 32-bit words.
    type Words: Words;
    /// The number of lanes.
    const WIDTH: usize;
    /// Whether kernels save every call in these lanes; elsewhere they are rather compiled quickly.
    const FAST: bool;

    /// The same number in every lane.
    fn splat(x: Self::Real) -> Self;
    /// The first `WIDTH` numbers of a slice.
    fn load(from: &[Self::Real]) -> Self;
    /// Writes the lanes to the first `WIDTH` places of a slice.
    fn store(self, to: &mut [Self::Real]);
    /// `self + other`.
    fn add(self, other: Self) -> Self;
    /// `self - other`.
    fn sub(self, other: Self) -> Self;
    /// `self * other`.
    fn mul(self, other: Self) -> Self;
    /// `self * a + b`, rounded once where the instruction set can.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// `b - self * a`, rounded once where the instruction set can.
    fn neg_mul_add(self, a: Self, b: Self) -> Self;
    /// `self / other`.
    fn div(self, other: Self) -> Self;
    /// `sqrt(max(self, 0))`.
    fn sqrt(self) -> Self;
    /// `self` where it is larger, `other` elsewhere: what is not a number passes as `other`.
    fn max(self, other: Self) -> Self;
    /// `e^self`.
    fn exp(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// `ln(1 + self)` for numbers between 0 and 1.
    fn ln_1p(self) -> Self;
    /// `value` in the lanes where `self > threshold`, 0 in the others.
    fn where_greater(self, threshold: Self::Real, value: Self) -> Self;
    /// Whether `self <= bound` in every lane; false where a lane is not a number.
    fn all_at_most(self, bound: Self::Real) -> bool;
    /// Runs code of these lanes behind a call, with the instructions of these lanes: what many kernels share is then
    /// compiled once.
    fn call<K: LaneKernel>(kernel: K);
    /// As [`Lanes::call`] where speed matters little; part of the caller elsewhere.
    #[inline(always)]
    fn inline<K: LaneKernel>(kernel: K) {
        if Self::FAST { kernel.run() } else { Self::call(kernel) }
    }
    /// Four standard normal numbers per lane from four random words per lane.
    fn normals(words: [Self::Words; 4]) -> [Self; 4];

    /// The logistic function `1 / (1 + e^-self)`.
    #[inline(always)]
    fn sigmoid(self) -> Self {
        let one = Self::splat(Self::Real::of(1.0));
        one.div(one.add(Self::zero().sub(self).exp()))
    }

    /// Zero in every lane.
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(Self::Real::of(0.0))
    }
}

/// Code of a kernel that is compiled by itself: see [`Lanes::call`].
pub(crate) trait LaneKernel {
    /// Runs it. As in [`Kernel::run`], every function on the way must be `#[inline(always)]`.
    fn run(self);
}

/// A vector of 32-bit words, one per lane.
pub(crate) trait Words: Copy {
    /// The same word in every lane.
    fn splat(word: u32) -> Self;
    /// The first `WIDTH` words of a slice.
    fn load(from: &[u32]) -> Self;
    /// The Philox generator in every lane: see [`philox`](crate::noise::philox). Round keys are the same in
    /// every lane.
    fn philox(counter: [Self; 4], keys: &RoundKeys<Self>) -> [Self; 4];
}

/// Lanes in single precision, with the bit operations that elementary functions need.
pub(crate) trait SingleLanes: Lanes<Real = f32> {
    /// Bitwise and.
    fn and(a: Self::Words, b: Self::Words) -> Self::Words;
    /// Bitwise or.
    fn or(a: Self::Words, b: Self::Words) -> Self::Words;
    /// Bitwise exclusive or.
    fn xor(a: Self::Words, b: Self::Words) -> Self::Words;
    /// Difference modulo 2^32.
    fn minus(a: Self::Words, b: Self::Words) -> Self::Words;
    /// Shift to the left by `N` bits.
    fn shift_left<const N: u32>(a: Self::Words) -> Self::Words;
    /// Shift to the right by `N` bits, filling with zeros.
    fn shift_right<const N: u32>(a: Self::Words) -> Self::Words;
    /// Shift to the right by `N` bits, filling with the sign.
    fn shift_right_signed<const N: u32>(a: Self::Words) -> Self::Words;
    /// The words as signed integers, rounded to the nearest number.
    fn from_signed(a: Self::Words) -> Self;
    /// The bits of the numbers.
    fn to_bits(self) -> Self::Words;
    /// The numbers with these bits.
    fn from_bits(a: Self::Words) -> Self;
    /// `if_set` in the lanes where the top bit of `mask` is set, `if_clear` in the others.
    fn select(mask: Self::Words, if_set: Self, if_clear: Self) -> Self;
}
