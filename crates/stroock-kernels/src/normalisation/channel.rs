//! One channel of a frame: its numbers in lanes, and the function that takes them to the output.

use super::moments::Moments;
use crate::simd::Lanes;

/// What takes the numbers of a channel to the output: `y = factor (x - mean) + addend`.
#[derive(Clone, Copy)]
pub(super) struct Channel<V> {
    pub mean: V,
    pub factor: V,
    addend: V,
}

impl<V: Lanes> Channel<V> {
    #[inline(always)]
    pub fn new(moments: &Moments<V::Real>, scale: V::Real, offset: V::Real) -> Self {
        let factor = moments.inverse * scale;
        let addend = offset - moments.remainder * factor;
        Self { mean: V::splat(moments.mean), factor: V::splat(factor), addend: V::splat(addend) }
    }

    #[inline(always)]
    pub fn centred(&self, x: V) -> V {
        x.sub(self.mean)
    }

    /// The output of a centred number. What is not a number stays so.
    #[inline(always)]
    pub fn output<const RELU: bool>(&self, centred: V) -> V {
        let y = centred.mul_add(self.factor, self.addend);
        if RELU { V::zero().max(y) } else { y }
    }

    /// The gradient in front of the activation, whose output is made again, by the same operations.
    #[inline(always)]
    pub fn through<const RELU: bool>(&self, centred: V, of_output: V) -> V {
        if RELU {
            self.output::<false>(centred).where_greater(V::Real::default(), of_output)
        } else {
            of_output
        }
    }
}

/// How the numbers of a channel behind its last whole vector are written.
pub(super) enum Rest {
    /// There are none.
    None,
    /// With the vector from here to the end, which reaches back into the last whole one: to write some numbers
    /// twice is faster than to write a part of a vector.
    From(usize),
    /// As a part of a vector, for a channel that is shorter than one.
    Part,
}

#[inline(always)]
pub(super) fn last_vector<V: Lanes>(plane: usize) -> Rest {
    match plane.checked_sub(V::WIDTH) {
        _ if plane.is_multiple_of(V::WIDTH) => Rest::None,
        Some(last) => Rest::From(last),
        None => Rest::Part,
    }
}
