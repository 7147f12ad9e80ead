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

/// All bits of the first `count` lanes.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn first_256(count: usize) -> __m256i {
    intrinsic!(_mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)))
}

/// The numbers of a slice of at most 8, with the lanes of `rest` behind them. Memory behind the slice is
/// not touched.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
pub(super) unsafe fn load_part_256(from: &[f32], rest: __m256) -> __m256 {
    let count = from.len().min(8);
    intrinsic!({
        let mask = first_256(count);
        _mm256_blendv_ps(rest, _mm256_maskload_ps(from.as_ptr(), mask), _mm256_castsi256_ps(mask))
    })
}

/// Writes the first lanes to a slice of at most 8 numbers, and nothing behind it.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
pub(super) unsafe fn store_part_256(to: &mut [f32], lanes: __m256) {
    let count = to.len().min(8);
    intrinsic!(_mm256_maskstore_ps(to.as_mut_ptr(), first_256(count), lanes))
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

/// The numbers of a slice of at most 16, with the lanes of `rest` behind them. Memory behind the slice is
/// not touched.
///
/// # Safety
/// The processor has AVX-512F.
#[inline(always)]
pub(super) unsafe fn load_part_512(from: &[f32], rest: __m512) -> __m512 {
    let count = from.len().min(16);
    intrinsic!(_mm512_mask_loadu_ps(rest, first_512(count), from.as_ptr()))
}

/// Writes the first lanes to a slice of at most 16 numbers, and nothing behind it.
///
/// # Safety
/// The processor has AVX-512F.
#[inline(always)]
pub(super) unsafe fn store_part_512(to: &mut [f32], lanes: __m512) {
    let count = to.len().min(16);
    intrinsic!(_mm512_mask_storeu_ps(to.as_mut_ptr(), first_512(count), lanes))
}

/// A mask of the first `count` lanes.
#[inline(always)]
fn first_512(count: usize) -> __mmask16 {
    ((1u32 << count) - 1) as __mmask16
}
