//! Operations on some of the lanes, in which the two widths differ.

use std::arch::x86_64::*;

use super::intrinsic;

/// Even places of `even`, odd places of `odd`.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
pub(super) unsafe fn interleave_256(even: __m256i, odd: __m256i) -> __m256i {
    intrinsic!(_mm256_blend_epi32::<0b1010_1010>(even, odd))
}

/// Lanes of `if_set` where the top bit of `mask` is set.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
pub(super) unsafe fn select_256(mask: __m256i, if_set: __m256, if_clear: __m256) -> __m256 {
    intrinsic!(_mm256_blendv_ps(if_clear, if_set, _mm256_castsi256_ps(mask)))
}

/// `value` in the lanes where `x > threshold`, 0 in the others.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
pub(super) unsafe fn where_greater_256(x: __m256, threshold: __m256, value: __m256) -> __m256 {
    intrinsic!(_mm256_and_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(x, threshold), value))
}

/// Whether `x <= bound` in every lane.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
pub(super) unsafe fn all_at_most_256(x: __m256, bound: __m256) -> bool {
    intrinsic!(_mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(x, bound)) == 0xFF)
}

/// Even places of `even`, odd places of `odd`.
///
/// # Safety
/// The processor has AVX-512F.
#[inline(always)]
pub(super) unsafe fn interleave_512(even: __m512i, odd: __m512i) -> __m512i {
    intrinsic!(_mm512_mask_blend_epi32(0b1010_1010_1010_1010, even, odd))
}

/// Lanes of `if_set` where the top bit of `mask` is set.
///
/// # Safety
/// The processor has AVX-512F and AVX-512DQ.
#[inline(always)]
pub(super) unsafe fn select_512(mask: __m512i, if_set: __m512, if_clear: __m512) -> __m512 {
    intrinsic!(_mm512_mask_blend_ps(_mm512_movepi32_mask(mask), if_clear, if_set))
}

/// `value` in the lanes where `x > threshold`, 0 in the others.
///
/// # Safety
/// The processor has AVX-512F.
#[inline(always)]
pub(super) unsafe fn where_greater_512(x: __m512, threshold: __m512, value: __m512) -> __m512 {
    intrinsic!(_mm512_maskz_mov_ps(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(x, threshold), value))
}

/// Whether `x <= bound` in every lane.
///
/// # Safety
/// The processor has AVX-512F.
#[inline(always)]
pub(super) unsafe fn all_at_most_512(x: __m512, bound: __m512) -> bool {
    intrinsic!(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(x, bound) == 0xFFFF)
}
