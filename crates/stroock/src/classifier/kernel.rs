//! Kernels of nine taps: three of weight 2, six of weight -1, in all 84 ways.
//!
//! They are those of Dempster, Schmidt and Webb, *MiniRocket: a very fast (almost) deterministic transform for time
//! series classification* (KDD 2021). The weights of a kernel sum to zero, so that the level of a series does not matter
//! away from its ends.

/// Taps of a kernel.
pub(super) const TAPS: usize = 9;
/// Kernels that there are.
pub(super) const KERNELS: usize = 84;

/// The taps of weight 2 of every kernel, in the order of combinations.
pub(super) fn heavy_taps() -> [[usize; 3]; KERNELS] {
    let mut kernels = [[0; 3]; KERNELS];
    let triples =
        (0..TAPS).flat_map(|a| (a + 1..TAPS).flat_map(move |b| (b + 1..TAPS).map(move |c| [a, b, c])));
    kernels.iter_mut().zip(triples).for_each(|(kernel, triple)| *kernel = triple);
    kernels
}

/// At most `most` dilations, evenly spaced on a logarithmic scale, with which a kernel fits into so many points.
pub(super) fn dilations(points: usize, most: usize) -> Vec<usize> {
    let largest = (points.saturating_sub(1) as f64 / (TAPS - 1) as f64).max(1.0);
    let steps = most.max(1);
    let dilation = |k: usize| largest.powf(k as f64 / (steps - 1).max(1) as f64).floor() as usize;
    let mut dilations: Vec<usize> = (0..steps).map(dilation).collect();
    dilations.dedup();
    dilations
}

/// A channel, or the sum of some, with room for the taps beyond its ends.
#[derive(Default)]
pub(super) struct Padded {
    buffer: Vec<f32>,
    points: usize,
    dilation: usize,
    /// Sums over all nine taps.
    sums: Vec<f32>,
}

impl Padded {
    /// The sum of channels of `[C, L]`.
    pub fn set(&mut self, values: &[f32], points: usize, channels: &[u32], dilation: usize) {
        let margin = TAPS / 2 * dilation;
        self.buffer.clear();
        self.buffer.resize(points + 2 * margin, 0.0);
        for &channel in channels {
            let channel = &values[channel as usize * points..][..points];
            self.buffer[margin..][..points].iter_mut().zip(channel).for_each(|(sum, x)| *sum += x);
        }
        (self.points, self.dilation) = (points, dilation);
        self.sums.clear();
        self.sums.resize(points, 0.0);
        for tap in 0..TAPS {
            let shifted = &self.buffer[tap * dilation..][..points];
            self.sums.iter_mut().zip(shifted).for_each(|(sum, x)| *sum += x);
        }
    }

    /// The convolution with a kernel, `[L]`: `3 (x_a + x_b + x_c) - sum of all nine`.
    pub fn convolve(&self, heavy: [usize; 3], out: &mut Vec<f32>) {
        let tap = |tap: usize| &self.buffer[tap * self.dilation..][..self.points];
        let (a, b, c) = (tap(heavy[0]), tap(heavy[1]), tap(heavy[2]));
        out.clear();
        let taps = a.iter().zip(b).zip(c).zip(&self.sums);
        out.extend(taps.map(|(((a, b), c), sum)| 3.0 * (a + b + c) - sum));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_all_kernels_once() {
        let mut kernels = heavy_taps().to_vec();
        kernels.sort();
        kernels.dedup();
        assert_eq!(kernels.len(), KERNELS);
        assert!(kernels.iter().all(|[a, b, c]| a < b && b < c && *c < TAPS));
    }

    #[test]
    fn a_convolution_is_its_definition() {
        let values: Vec<f32> = (0..60).map(|i| ((i * i) % 17) as f32 - 3.0).collect();
        let (points, dilation) = (30, 3);
        let mut padded = Padded::default();
        padded.set(&values, points, &[0, 1], dilation);
        let (heavy, mut out) = ([1, 4, 8], Vec::new());
        padded.convolve(heavy, &mut out);
        for (t, found) in out.iter().enumerate() {
            let tap = |j: usize| {
                let place = (t + j * dilation).checked_sub(4 * dilation).filter(|place| *place < points);
                let weight = if heavy.contains(&j) { 2.0 } else { -1.0 };
                place.map_or(0.0, |place| weight * (values[place] + values[points + place]))
            };
            let expected: f32 = (0..TAPS).map(tap).sum();
            assert!((found - expected).abs() < 1e-3, "{t}: {found} and {expected}");
        }
    }

    #[test]
    fn dilations_fit_the_series() {
        assert_eq!(dilations(9, 8), [1]);
        assert_eq!(dilations(3, 8), [1]);
        let many = dilations(1000, 32);
        assert_eq!(many[0], 1);
        assert!(many.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(8 * many[many.len() - 1] < 1000 && many.len() > 16);
    }
}
