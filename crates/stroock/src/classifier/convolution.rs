//! Pooled random convolutions of one view of a series.
//!
//! A convolution `z = w * x` of a series is compared with thresholds `b`, and four numbers are kept of each comparison:
//! the share of positive `z - b`, their mean, their mean place, and the longest run of them (Tan, Dempster, Bergmeir and
//! Webb, *MultiRocket*, 2022). Thresholds are quantiles of the convolution of a training series.

use rand_core::Rng;
use stroock_kernels::noise::Stream;

use super::kernel::{KERNELS, Padded, TAPS, dilations, heavy_taps};

/// Numbers that are kept of a comparison: of them [`SHAPE`] say what there is, and one where.
pub(super) const POOLED: usize = SHAPE + 1;
/// Share, mean and longest run.
pub(super) const SHAPE: usize = 3;
/// Most channels that a convolution sees together.
const MOST_TOGETHER: usize = 9;
/// Most dilations of a kernel.
const MOST_DILATIONS: usize = 32;
/// The fraction of the golden ratio: its multiples are spread evenly over the levels of quantiles.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// A kernel with a dilation over the sum of some channels.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Convolution {
    /// Which of the kernels.
    pub kernel: u8,
    /// Distance of neighbouring taps.
    pub dilation: u32,
    /// Channels that are summed.
    pub channels: Vec<u32>,
    /// Thresholds.
    pub biases: Vec<f32>,
}

impl Convolution {
    /// Whether it can be computed of series with so many channels and about so many points.
    pub fn is_valid(&self, channels: usize, points: usize) -> bool {
        usize::from(self.kernel) < KERNELS
            && (1..=points).contains(&(self.dilation as usize))
            && !self.channels.is_empty()
            && self.channels.iter().all(|&channel| (channel as usize) < channels)
    }

    /// Convolutions for series with so many channels and points, with about `comparisons` thresholds in all. What
    /// `series` gives is a training series, `[C, L]` with its `L`.
    pub fn draw(
        channels: usize,
        points: usize,
        comparisons: usize,
        stream: &mut Stream,
        mut series: impl FnMut(&mut Stream) -> (Vec<f32>, usize),
    ) -> Vec<Self> {
        if channels == 0 {
            return Vec::new();
        }
        let each = (comparisons / KERNELS).max(1);
        let dilations = dilations(points, each.min(MOST_DILATIONS));
        let heavy = heavy_taps();
        let (mut padded, mut convolved) = (Padded::default(), Vec::new());
        let (mut drawn, mut level) = (Vec::new(), 0.0);
        for (rank, &dilation) in dilations.iter().enumerate() {
            // What does not go up goes to the shortest dilations.
            let count = each / dilations.len() + usize::from(rank < each % dilations.len());
            for (kernel, &heavy) in heavy.iter().enumerate() {
                let together = together(channels, stream);
                let (values, points) = series(stream);
                padded.set(&values, points, &together, dilation);
                padded.convolve(heavy, &mut convolved);
                let mut sorted = trimmed(&convolved, dilation, kernel).to_vec();
                sorted.sort_by(f32::total_cmp);
                let biases = (0..count).map(|_| {
                    level = (level + GOLDEN) % 1.0;
                    let place = level * (sorted.len() - 1) as f64;
                    let (below, weight) = (place as usize, (place % 1.0) as f32);
                    let above = sorted[(below + 1).min(sorted.len() - 1)];
                    sorted[below] + weight * (above - sorted[below])
                });
                drawn.push(Self {
                    kernel: kernel as u8,
                    dilation: dilation as u32,
                    biases: biases.collect(),
                    channels: together,
                });
            }
        }
        drawn
    }
}

/// The features of a view `[C, L]` of a series: share, mean and longest run of every comparison of every convolution in
/// order, then all places.
pub(super) fn features(convolutions: &[Convolution], values: &[f32], points: usize, out: &mut Vec<f32>) {
    let heavy = heavy_taps();
    let (mut padded, mut convolved) = (Padded::default(), Vec::new());
    let mut places = Vec::new();
    let mut last: Option<(u32, &[u32])> = None;
    for convolution in convolutions {
        let now = (convolution.dilation, convolution.channels.as_slice());
        if last != Some(now) {
            padded.set(values, points, &convolution.channels, convolution.dilation as usize);
            last = Some(now);
        }
        padded.convolve(heavy[usize::from(convolution.kernel)], &mut convolved);
        let part = trimmed(&convolved, convolution.dilation as usize, usize::from(convolution.kernel));
        for &bias in &convolution.biases {
            let [share, mean, place, run] = pooled(part, bias);
            out.extend([share, mean, run]);
            places.push(place);
        }
    }
    out.append(&mut places);
}

/// Every other kernel sees only what lies wholly within the series, where anything does.
fn trimmed(convolved: &[f32], dilation: usize, kernel: usize) -> &[f32] {
    let margin = TAPS / 2 * dilation;
    match kernel % 2 == 1 && convolved.len() > 2 * margin {
        true => &convolved[margin..convolved.len() - margin],
        false => convolved,
    }
}

/// Share, mean, mean place and longest run of the numbers above a threshold.
fn pooled(convolved: &[f32], bias: f32) -> [f32; POOLED] {
    let length = convolved.len().max(1) as f32;
    let (mut count, mut sum, mut places) = (0.0f32, 0.0f32, 0.0f32);
    // Blocks, because a place is exact in single precision only while it is small.
    for (block, part) in convolved.chunks(256).enumerate() {
        let (mut here, mut above, mut place) = (0.0f32, 0.0f32, 0.0f32);
        for (i, z) in part.iter().enumerate() {
            let positive = if *z > bias { 1.0 } else { 0.0 };
            here += positive;
            above += positive * (z - bias);
            place += positive * i as f32;
        }
        count += here;
        sum += above;
        places += (place + (256 * block) as f32 * here) / length;
    }
    let (mut longest, mut run) = (0u32, 0u32);
    for z in convolved {
        run = if *z > bias { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let (mean, place) = if count > 0.0 { (sum / count, places / count) } else { (0.0, 0.5) };
    [count / length, mean, place, longest as f32 / length]
}

/// Some channels, in order: few more often than many.
fn together(channels: usize, stream: &mut Stream) -> Vec<u32> {
    if channels == 1 {
        return vec![0];
    }
    let most = channels.min(MOST_TOGETHER) as f64;
    let count = (most + 1.0).powf(stream.uniform()).floor().clamp(1.0, most) as usize;
    let mut all: Vec<u32> = (0..channels as u32).collect();
    for i in 0..count {
        let other = i + (stream.next_u64() % (channels - i) as u64) as usize;
        all.swap(i, other);
    }
    all.truncate(count);
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pooled_numbers_are_their_definitions() {
        let convolved = [1.0, -1.0, 3.0, 2.0, 0.5, -2.0, 4.0, -1.0];
        let [share, mean, place, run] = pooled(&convolved, 0.75);
        assert_eq!(share, 0.5);
        assert_eq!(mean, (0.25 + 2.25 + 1.25 + 3.25) / 4.0);
        assert_eq!(place, (2.0 + 3.0 + 6.0) / 4.0 / 8.0);
        assert_eq!(run, 2.0 / 8.0);
        assert_eq!(pooled(&convolved, 9.0), [0.0, 0.0, 0.5, 0.0]);
        // Longer than a block.
        let long: Vec<f32> = (0..1000).map(|i| if i >= 600 { 1.0 } else { -1.0 }).collect();
        let [share, mean, place, run] = pooled(&long, 0.0);
        assert_eq!((share, mean, run), (0.4, 1.0, 0.4));
        assert!((place - 0.7995).abs() < 1e-5, "{place}");
    }
}
