//! From numbers that follow each other in memory to numbers side by side in lanes, and back.

use stroock_geometry::Real;

/// Streams that are transposed together: as many as stand in a 256-bit vector.
const BLOCK: usize = 8;

/// Equally long streams at equal distances in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Streams {
    pub count: usize,
    /// From the start of a stream to the start of the next one.
    pub distance: usize,
    pub length: usize,
}

/// Lanes of equally long runs at equal distances in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runs {
    /// Lanes of a run, a multiple of 8 and not fewer than the streams.
    pub lanes: usize,
    /// From the start of a run to the start of the next one.
    pub distance: usize,
}

/// `to[p][l] = from[l][p]`: stream `l` into lane `l` of the runs; lanes without a stream get zeros.
#[inline(always)]
pub(super) fn interleave<T: Real>(from: &[T], streams: Streams, to: &mut [T], runs: Runs) {
    for first in (0..runs.lanes).step_by(BLOCK) {
        let count = streams.count.saturating_sub(first).min(BLOCK);
        let mut block = [[T::zero(); BLOCK]; BLOCK];
        for p in (0..streams.length).step_by(BLOCK) {
            let width = (streams.length - p).min(BLOCK);
            if width == BLOCK {
                for l in 0..count {
                    block[l].copy_from_slice(&from[(first + l) * streams.distance + p..][..BLOCK]);
                }
            } else {
                for l in 0..count {
                    for q in 0..width {
                        block[l][q] = from[(first + l) * streams.distance + p + q];
                    }
                }
            }
            let block = transposed(&block);
            for q in 0..width {
                to[(p + q) * runs.distance + first..][..BLOCK].copy_from_slice(&block[q]);
            }
        }
    }
}

/// `to[l][p] = from[p][l]`: the inverse of [`interleave`].
#[inline(always)]
pub(super) fn deinterleave<T: Real>(from: &[T], runs: Runs, to: &mut [T], streams: Streams) {
    for first in (0..streams.count).step_by(BLOCK) {
        let count = (streams.count - first).min(BLOCK);
        let mut block = [[T::zero(); BLOCK]; BLOCK];
        for p in (0..streams.length).step_by(BLOCK) {
            let width = (streams.length - p).min(BLOCK);
            for q in 0..width {
                block[q].copy_from_slice(&from[(p + q) * runs.distance + first..][..BLOCK]);
            }
            let block = transposed(&block);
            for l in 0..count {
                let to = &mut to[(first + l) * streams.distance + p..][..width];
                if width == BLOCK {
                    to.copy_from_slice(&block[l]);
                } else {
                    to.copy_from_slice(&block[l][..width]);
                }
            }
        }
    }
}

#[inline(always)]
fn transposed<T: Copy>(block: &[[T; BLOCK]; BLOCK]) -> [[T; BLOCK]; BLOCK] {
    let mut out = *block;
    for l in 0..BLOCK {
        for q in 0..BLOCK {
            out[q][l] = block[l][q];
        }
    }
    out
}
