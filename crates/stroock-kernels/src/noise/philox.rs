//! Philox 4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw (2011).
//!
//! A bijection of 128-bit counters, keyed by 64 bits, whose outputs pass the usual batteries of tests.

use crate::simd::Words;

pub(crate) const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: usize = 10;

/// The four random words at `counter` under `key`.
///
/// ```
/// use stroock_kernels::noise::philox;
/// assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
/// ```
#[inline(always)]
pub fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let [mut c0, mut c1, mut c2, mut c3] = counter;
    for [k0, k1] in round_keys(key) {
        let product0 = u64::from(c0) * u64::from(MULTIPLIERS[0]);
        let product1 = u64::from(c2) * u64::from(MULTIPLIERS[1]);
        c0 = (product1 >> 32) as u32 ^ c1 ^ k0;
        c1 = product1 as u32;
        c2 = (product0 >> 32) as u32 ^ c3 ^ k1;
        c3 = product0 as u32;
    }
    [c0, c1, c2, c3]
}

/// The keys of the rounds in every lane.
pub(crate) type RoundKeys<W> = [[W; 2]; ROUNDS];

/// [`RoundKeys`] for a vector of words.
#[inline(always)]
pub(crate) fn round_keys_in_lanes<W: Words>(key: [u32; 2]) -> RoundKeys<W> {
    let keys = round_keys(key);
    let mut lanes = [[W::splat(0); 2]; ROUNDS];
    for round in 0..ROUNDS {
        lanes[round] = [W::splat(keys[round][0]), W::splat(keys[round][1])];
    }
    lanes
}

/// The keys of the rounds: a Weyl sequence from `key`.
#[inline(always)]
fn round_keys(key: [u32; 2]) -> [[u32; 2]; ROUNDS] {
    let mut keys = [key; ROUNDS];
    for round in 1..ROUNDS {
        let [k0, k1] = keys[round - 1];
        keys[round] = [k0.wrapping_add(WEYL[0]), k1.wrapping_add(WEYL[1])];
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers that the authors publish with their implementation.
    #[test]
    fn known_answers() {
        assert_eq!(
            philox([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }
}
