//! Lanes as a plain array, for every processor and both precisions.
//!
//! The loops run over a constant number of lanes without branches, so that the compiler turns most of them
//! into vector instructions.

use super::{LaneKernel, Lanes, SingleLanes, Words, elementary};
use crate::noise::{RoundKeys, box_muller, philox};

/// `L` numbers. With `FUSED`, [`Lanes::mul_add`] is one fused operation, which is fast only where every
/// processor of the compilation target has the instruction.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct Array<T, const L: usize, const FUSED: bool>([T; L]);

/// `L` words.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct WordArray<const L: usize>([u32; L]);

#[inline(never)]
fn behind_a_call<K: LaneKernel>(kernel: K) {
    kernel.run();
}

macro_rules! each_lane {
    ($l:ident < $width:expr, $element:expr) => {{
        let mut out = [Default::default(); $width];
        for $l in 0..$width {
            out[$l] = $element;
        }
        out
    }};
}

macro_rules! array_arithmetic {
    ($real:ty) => {
        type Real = $real;
        type Words = WordArray<L>;
        const WIDTH: usize = L;
        const FAST: bool = false;

        #[inline(always)]
        fn call<K: LaneKernel>(kernel: K) {
            behind_a_call(kernel);
        }

        #[inline(always)]
        fn splat(x: $real) -> Self {
            Self([x; L])
        }

        #[inline(always)]
        fn load(from: &[$real]) -> Self {
            let mut lanes = [0.0; L];
            lanes.copy_from_slice(&from[..L]);
            Self(lanes)
        }

        #[inline(always)]
        fn store(self, to: &mut [$real]) {
            to[..L].copy_from_slice(&self.0);
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Self(each_lane!(l < L, self.0[l] + other.0[l]))
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            Self(each_lane!(l < L, self.0[l] - other.0[l]))
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            Self(each_lane!(l < L, self.0[l] * other.0[l]))
        }

        #[inline(always)]
        fn div(self, other: Self) -> Self {
            Self(each_lane!(l < L, self.0[l] / other.0[l]))
        }

        #[inline(always)]
        fn sqrt(self) -> Self {
            Self(each_lane!(l < L, self.0[l].max(0.0).sqrt()))
        }

        #[inline(always)]
        fn max(self, other: Self) -> Self {
            Self(each_lane!(l < L, if self.0[l] > other.0[l] { self.0[l] } else { other.0[l] }))
        }

        #[inline(always)]
        fn where_greater(self, threshold: $real, value: Self) -> Self {
            Self(each_lane!(l < L, if self.0[l] > threshold { value.0[l] } else { 0.0 }))
        }

        #[inline(always)]
        fn all_at_most(self, bound: $real) -> bool {
            let mut all = true;
            for l in 0..L {
                all &= self.0[l] <= bound;
            }
            all
        }

        #[inline(always)]
        fn mul_add(self, a: Self, b: Self) -> Self {
            if FUSED {
                Self(each_lane!(l < L, self.0[l].mul_add(a.0[l], b.0[l])))
            } else {
                Self(each_lane!(l < L, self.0[l] * a.0[l] + b.0[l]))
            }
        }

        #[inline(always)]
        fn neg_mul_add(self, a: Self, b: Self) -> Self {
            if FUSED {
                Self(each_lane!(l < L, (-self.0[l]).mul_add(a.0[l], b.0[l])))
            } else {
                Self(each_lane!(l < L, b.0[l] - self.0[l] * a.0[l]))
            }
        }
    };
}

impl<const L: usize, const FUSED: bool> Lanes for Array<f32, L, FUSED> {
    array_arithmetic!(f32);

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
    fn normals(words: [WordArray<L>; 4]) -> [Self; 4] {
        box_muller::normals(words)
    }
}

impl<const L: usize, const FUSED: bool> Lanes for Array<f64, L, FUSED> {
    array_arithmetic!(f64);

    #[inline(always)]
    fn exp(self) -> Self {
        Self(each_lane!(l < L, self.0[l].exp()))
    }

    #[inline(always)]
    fn tanh(self) -> Self {
        Self(each_lane!(l < L, self.0[l].tanh()))
    }

    #[inline(always)]
    fn ln_1p(self) -> Self {
        Self(each_lane!(l < L, self.0[l].ln_1p()))
    }

    #[inline(always)]
    fn normals(words: [WordArray<L>; 4]) -> [Self; 4] {
        let mut out = [[0.0; L]; 4];
        for l in 0..L {
            let normals =
                box_muller::normals_f64([words[0].0[l], words[1].0[l], words[2].0[l], words[3].0[l]]);
            for i in 0..4 {
                out[i][l] = normals[i];
            }
        }
        [Self(out[0]), Self(out[1]), Self(out[2]), Self(out[3])]
    }
}

impl<const L: usize> Words for WordArray<L> {
    #[inline(always)]
    fn splat(word: u32) -> Self {
        Self([word; L])
    }

    #[inline(always)]
    fn load(from: &[u32]) -> Self {
        let mut words = [0; L];
        words.copy_from_slice(&from[..L]);
        Self(words)
    }

    #[inline(always)]
    fn philox(counter: [Self; 4], keys: &RoundKeys<Self>) -> [Self; 4] {
        let mut out = counter;
        let key = [keys[0][0].0[0], keys[0][1].0[0]];
        for l in 0..L {
            let words = philox([counter[0].0[l], counter[1].0[l], counter[2].0[l], counter[3].0[l]], key);
            for i in 0..4 {
                out[i].0[l] = words[i];
            }
        }
        out
    }
}

impl<const L: usize, const FUSED: bool> SingleLanes for Array<f32, L, FUSED> {
    #[inline(always)]
    fn and(a: WordArray<L>, b: WordArray<L>) -> WordArray<L> {
        WordArray(each_lane!(l < L, a.0[l] & b.0[l]))
    }

    #[inline(always)]
    fn or(a: WordArray<L>, b: WordArray<L>) -> WordArray<L> {
        WordArray(each_lane!(l < L, a.0[l] | b.0[l]))
    }

    #[inline(always)]
    fn xor(a: WordArray<L>, b: WordArray<L>) -> WordArray<L> {
        WordArray(each_lane!(l < L, a.0[l] ^ b.0[l]))
    }

    #[inline(always)]
    fn minus(a: WordArray<L>, b: WordArray<L>) -> WordArray<L> {
        WordArray(each_lane!(l < L, a.0[l].wrapping_sub(b.0[l])))
    }

    #[inline(always)]
    fn shift_left<const N: u32>(a: WordArray<L>) -> WordArray<L> {
        WordArray(each_lane!(l < L, a.0[l] << N))
    }

    #[inline(always)]
    fn shift_right<const N: u32>(a: WordArray<L>) -> WordArray<L> {
        WordArray(each_lane!(l < L, a.0[l] >> N))
    }

    #[inline(always)]
    fn shift_right_signed<const N: u32>(a: WordArray<L>) -> WordArray<L> {
        WordArray(each_lane!(l < L, (a.0[l] as i32 >> N) as u32))
    }

    #[inline(always)]
    fn from_signed(a: WordArray<L>) -> Self {
        Self(each_lane!(l < L, a.0[l] as i32 as f32))
    }

    #[inline(always)]
    fn to_bits(self) -> WordArray<L> {
        WordArray(each_lane!(l < L, self.0[l].to_bits()))
    }

    #[inline(always)]
    fn from_bits(a: WordArray<L>) -> Self {
        Self(each_lane!(l < L, f32::from_bits(a.0[l])))
    }

    #[inline(always)]
    fn select(mask: WordArray<L>, if_set: Self, if_clear: Self) -> Self {
        Self(each_lane!(l < L, if mask.0[l] >> 31 == 1 { if_set.0[l] } else { if_clear.0[l] }))
    }
}
