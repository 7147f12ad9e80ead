//! Single precision lanes in the vector registers of x86-64: 8 in 256 bits, 16 in 512 bits.
//!
//! Written with intrinsics because the compiler does not find the widening multiplication of the random
//! generator by itself. One template makes both widths; they differ in the names of the instructions and
//! in how lanes are selected.

mod select;

use std::arch::x86_64::*;

use super::{LaneKernel, Lanes, SingleLanes, Words, elementary};
use crate::noise::{MULTIPLIERS, RoundKeys, box_muller};
use select::*;

/// An instruction of a vector type of this module.
///
/// The types and their traits are private to this crate, and nothing but [`LaneReal::run`](super::LaneReal)
/// names the types, after the processor has been asked for their instructions. Slices are cut to the width
/// before their pointers are taken.
macro_rules! intrinsic {
    ($($call:tt)*) => {
        // SAFETY: the processor has the instruction, and pointers are valid for the width: see above.
        unsafe { $($call)* }
    };
}

use intrinsic;

macro_rules! x86_lanes {
    (
        $(#[$doc:meta])*
        $lanes:ident($float:ident), $words:ident($int:ident), $width:literal;
        $add:ident, $sub:ident, $mul:ident, $div:ident, $fmadd:ident, $fnmadd:ident, $sqrt:ident, $max:ident,
        $splat:ident, $zero:ident, $loadu:ident, $storeu:ident;
        $select:ident, $where_greater:ident, $all_at_most:ident, $interleave:ident;
        $splat_words:ident, $load_words:ident, $and:ident, $or:ident, $xor:ident, $minus:ident,
        $shl:ident, $shr:ident, $sar:ident, $convert:ident, $bits:ident, $unbits:ident;
        $mul_wide:ident, $shr64:ident, $shl64:ident;
        $features:literal
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $lanes($float);

        /// As many words.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $words($int);

        impl Lanes for $lanes {
            type Real = f32;
            type Words = $words;
            const WIDTH: usize = $width;
            const FAST: bool = true;

            #[inline(always)]
            fn splat(x: f32) -> Self {
                Self(intrinsic!($splat(x)))
            }

            #[inline(always)]
            fn load(from: &[f32]) -> Self {
                let from = &from[..$width];
                Self(intrinsic!($loadu(from.as_ptr())))
            }

            #[inline(always)]
            fn store(self, to: &mut [f32]) {
                let to = &mut to[..$width];
                intrinsic!($storeu(to.as_mut_ptr(), self.0))
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Self(intrinsic!($add(self.0, other.0)))
            }

            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                Self(intrinsic!($sub(self.0, other.0)))
            }

            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                Self(intrinsic!($mul(self.0, other.0)))
            }

            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                Self(intrinsic!($fmadd(self.0, a.0, b.0)))
            }

            #[inline(always)]
            fn neg_mul_add(self, a: Self, b: Self) -> Self {
                Self(intrinsic!($fnmadd(self.0, a.0, b.0)))
            }

            #[inline(always)]
            fn div(self, other: Self) -> Self {
                Self(intrinsic!($div(self.0, other.0)))
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                Self(intrinsic!($sqrt($max(self.0, $zero()))))
            }

            #[inline(always)]
            fn max(self, other: Self) -> Self {
                Self(intrinsic!($max(self.0, other.0)))
            }

            #[inline(always)]
            fn exp(self) -> Self {
                elementary::exp(self)
            }

            #[inline(always)]
            fn tanh(self) -> Self {
                elementary::tanh(self)
            }

            #[inline(always)]
            fn ln_1p(self) -> Self {
                elementary::ln_1p(self)
            }

            #[inline(always)]
            fn where_greater(self, threshold: f32, value: Self) -> Self {
                Self(intrinsic!($where_greater(self.0, $splat(threshold), value.0)))
            }

            #[inline(always)]
            fn all_at_most(self, bound: f32) -> bool {
                intrinsic!($all_at_most(self.0, $splat(bound)))
            }

            #[inline(always)]
            fn call<K: LaneKernel>(kernel: K) {
                #[target_feature(enable = $features)]
                #[inline(never)]
                fn behind_a_call<K: LaneKernel>(kernel: K) {
                    kernel.run();
                }
                intrinsic!(behind_a_call(kernel))
            }

            #[inline(always)]
            fn normals(words: [$words; 4]) -> [Self; 4] {
                box_muller::normals(words)
            }
        }

        impl SingleLanes for $lanes {
            #[inline(always)]
            fn and(a: $words, b: $words) -> $words {
                $words(intrinsic!($and(a.0, b.0)))
            }

            #[inline(always)]
            fn or(a: $words, b: $words) -> $words {
                $words(intrinsic!($or(a.0, b.0)))
            }

            #[inline(always)]
            fn xor(a: $words, b: $words) -> $words {
                $words(intrinsic!($xor(a.0, b.0)))
            }

            #[inline(always)]
            fn minus(a: $words, b: $words) -> $words {
                $words(intrinsic!($minus(a.0, b.0)))
            }

            #[inline(always)]
            fn shift_left<const N: u32>(a: $words) -> $words {
                $words(intrinsic!($shl(a.0, _mm_cvtsi32_si128(N as i32))))
            }

            #[inline(always)]
            fn shift_right<const N: u32>(a: $words) -> $words {
                $words(intrinsic!($shr(a.0, _mm_cvtsi32_si128(N as i32))))
            }

            #[inline(always)]
            fn shift_right_signed<const N: u32>(a: $words) -> $words {
                $words(intrinsic!($sar(a.0, _mm_cvtsi32_si128(N as i32))))
            }

            #[inline(always)]
            fn from_signed(a: $words) -> Self {
                Self(intrinsic!($convert(a.0)))
            }

            #[inline(always)]
            fn to_bits(self) -> $words {
                $words(intrinsic!($bits(self.0)))
            }

            #[inline(always)]
            fn from_bits(a: $words) -> Self {
                Self(intrinsic!($unbits(a.0)))
            }

            #[inline(always)]
            fn select(mask: $words, if_set: Self, if_clear: Self) -> Self {
                Self(intrinsic!($select(mask.0, if_set.0, if_clear.0)))
            }
        }

        impl Words for $words {
            #[inline(always)]
            fn splat(word: u32) -> Self {
                Self(intrinsic!($splat_words(word as i32)))
            }

            #[inline(always)]
            fn load(from: &[u32]) -> Self {
                let from = &from[..$width];
                Self(intrinsic!($load_words(from.as_ptr().cast())))
            }

            /// The multiplier takes the words in even places of a register to 64-bit products. Even and odd
            /// lanes therefore travel in registers of their own, each word in the lower half of a 64-bit
            /// place; the upper halves hold leftovers of products, which the multiplier ignores, so that
            /// nothing is masked or shuffled between the rounds.
            #[inline(always)]
            fn philox(counter: [Self; 4], keys: &RoundKeys<Self>) -> [Self; 4] {
                let [mut a0, mut a1, mut a2, mut a3] = [counter[0].0, counter[1].0, counter[2].0, counter[3].0];
                let mut b0 = intrinsic!($shr64::<32>(a0));
                let mut b1 = intrinsic!($shr64::<32>(a1));
                let mut b2 = intrinsic!($shr64::<32>(a2));
                let mut b3 = intrinsic!($shr64::<32>(a3));
                let m0 = Self::splat(MULTIPLIERS[0]).0;
                let m1 = Self::splat(MULTIPLIERS[1]).0;
                // Unrolled by hand: the compiler keeps a loop, and its overhead is as large as a round.
                macro_rules! round {
                    ($round:literal) => {
                        let [k0, k1] = [keys[$round][0].0, keys[$round][1].0];
                        let (pa0, pa1) = intrinsic!(($mul_wide(a0, m0), $mul_wide(a2, m1)));
                        let (pb0, pb1) = intrinsic!(($mul_wide(b0, m0), $mul_wide(b2, m1)));
                        a0 = intrinsic!($xor($xor($shr64::<32>(pa1), a1), k0));
                        b0 = intrinsic!($xor($xor($shr64::<32>(pb1), b1), k0));
                        a2 = intrinsic!($xor($xor($shr64::<32>(pa0), a3), k1));
                        b2 = intrinsic!($xor($xor($shr64::<32>(pb0), b3), k1));
                        (a1, a3) = (pa1, pa0);
                        (b1, b3) = (pb1, pb0);
                    };
                }
                round!(0);
                round!(1);
                round!(2);
                round!(3);
                round!(4);
                round!(5);
                round!(6);
                round!(7);
                round!(8);
                round!(9);
                intrinsic!([
                    Self($interleave(a0, $shl64::<32>(b0))),
                    Self($interleave(a1, $shl64::<32>(b1))),
                    Self($interleave(a2, $shl64::<32>(b2))),
                    Self($interleave(a3, $shl64::<32>(b3))),
                ])
            }
        }
    };
}

x86_lanes! {
    /// Eight numbers in a 256-bit register (AVX2, FMA).
    F32x8(__m256), U32x8(__m256i), 8;
    _mm256_add_ps, _mm256_sub_ps, _mm256_mul_ps, _mm256_div_ps, _mm256_fmadd_ps, _mm256_fnmadd_ps, _mm256_sqrt_ps, _mm256_max_ps,
    _mm256_set1_ps, _mm256_setzero_ps, _mm256_loadu_ps, _mm256_storeu_ps;
    select_256, where_greater_256, all_at_most_256, interleave_256;
    _mm256_set1_epi32, _mm256_loadu_si256, _mm256_and_si256, _mm256_or_si256, _mm256_xor_si256, _mm256_sub_epi32,
    _mm256_sll_epi32, _mm256_srl_epi32, _mm256_sra_epi32, _mm256_cvtepi32_ps, _mm256_castps_si256, _mm256_castsi256_ps;
    _mm256_mul_epu32, _mm256_srli_epi64, _mm256_slli_epi64;
    "avx2,fma"
}

x86_lanes! {
    /// Sixteen numbers in a 512-bit register (AVX-512F, AVX-512DQ).
    F32x16(__m512), U32x16(__m512i), 16;
    _mm512_add_ps, _mm512_sub_ps, _mm512_mul_ps, _mm512_div_ps, _mm512_fmadd_ps, _mm512_fnmadd_ps, _mm512_sqrt_ps, _mm512_max_ps,
    _mm512_set1_ps, _mm512_setzero_ps, _mm512_loadu_ps, _mm512_storeu_ps;
    select_512, where_greater_512, all_at_most_512, interleave_512;
    _mm512_set1_epi32, _mm512_loadu_si512, _mm512_and_si512, _mm512_or_si512, _mm512_xor_si512, _mm512_sub_epi32,
    _mm512_sll_epi32, _mm512_srl_epi32, _mm512_sra_epi32, _mm512_cvtepi32_ps, _mm512_castps_si512, _mm512_castsi512_ps;
    _mm512_mul_epu32, _mm512_srli_epi64, _mm512_slli_epi64;
    "avx2,fma,avx512f,avx512dq,avx512vl,avx512bw"
}
