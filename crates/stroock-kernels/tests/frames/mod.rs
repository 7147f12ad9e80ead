//! Frames with everything that their normalisation reads, and the normalisation by its formulas.

use std::ops::Range;

use stroock_kernels::convolution::Images;
use stroock_kernels::noise::philox;
use stroock_kernels::normalisation::{FrameNorm, Gradients, NormalisationReal, Normalised};
use stroock_kernels::simd::Level;

/// A number in (-1, 1) that depends on `seed` and `i` alone.
pub fn scatter(seed: u32, i: usize) -> f64 {
    f64::from(philox([i as u32, seed, 0, 0], [0x5EED, 0])[0] as i32) / 2f64.powi(31)
}

/// A normalisation with everything that its two passes read.
#[derive(Clone, Debug)]
pub struct Case<T> {
    pub norm: FrameNorm,
    pub frames: usize,
    pub size: [usize; 2],
    pub input: Vec<T>,
    pub scale: Vec<T>,
    pub offset: Vec<T>,
    pub of_output: Vec<T>,
}

impl<T: NormalisationReal> Case<T> {
    /// Frames of different means and standard deviations.
    pub fn new(norm: FrameNorm, frames: usize, size: [usize; 2], seed: u32) -> Self {
        let extent = norm.channels * size[0] * size[1];
        let numbers = |seed, count| (0..count).map(|i| T::of(scatter(seed, i))).collect::<Vec<_>>();
        let spread =
            |i: usize| scatter(seed, i) * (1 + i / extent % 3) as f64 + scatter(seed + 9, i / extent);
        Self {
            norm,
            frames,
            size,
            input: (0..frames * extent).map(|i| T::of(spread(i))).collect(),
            scale: numbers(seed + 1, norm.channels),
            offset: numbers(seed + 2, norm.channels),
            of_output: numbers(seed + 3, frames * extent),
        }
    }

    pub fn images(&self) -> Images<'_, T> {
        Images { values: &self.input, frames: self.frames, size: self.size }
    }

    pub fn forward(&self) -> Normalised<T> {
        self.norm.forward(self.images(), &self.scale, &self.offset).unwrap()
    }

    /// The output and the three gradients.
    pub fn run(&self) -> [Vec<T>; 4] {
        let Normalised { values, tape } = self.forward();
        let gradients = self.norm.backward(self.images(), &self.scale, &self.offset, &tape, &self.of_output);
        let Gradients { input, scale, offset } = gradients.unwrap();
        [values, input, scale, offset]
    }

    pub fn at(&self, level: Level) -> Self {
        Self { norm: FrameNorm { level, ..self.norm }, ..self.clone() }
    }

    /// The frames of a range.
    pub fn part(&self, frames: Range<usize>) -> Self {
        let extent = self.input.len() / self.frames;
        let cut = |values: &[T]| values[frames.start * extent..frames.end * extent].to_vec();
        let (input, of_output) = (cut(&self.input), cut(&self.of_output));
        Self { frames: frames.len(), input, of_output, ..self.clone() }
    }

    pub fn cast<U: NormalisationReal>(&self) -> Case<U> {
        let cast = |values: &[T]| values.iter().map(|x| U::of(x.as_f64())).collect();
        Case {
            norm: self.norm,
            frames: self.frames,
            size: self.size,
            input: cast(&self.input),
            scale: cast(&self.scale),
            offset: cast(&self.offset),
            of_output: cast(&self.of_output),
        }
    }
}

/// The output and the three gradients by the formulas, in double precision.
pub fn by_definition(case: &Case<f64>) -> [Vec<f64>; 4] {
    let (plane, channels) = (case.size[0] * case.size[1], case.norm.channels);
    let extent = plane * channels;
    let n = extent as f64;
    let [mut output, mut of_input] = [Vec::new(), Vec::new()];
    let [mut of_scale, mut of_offset] = [vec![0.0; channels], vec![0.0; channels]];
    for (x, g) in case.input.chunks(extent).zip(case.of_output.chunks(extent)) {
        let mean = x.iter().sum::<f64>() / n;
        let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        let r = 1.0 / (variance + case.norm.epsilon).sqrt();
        let h: Vec<f64> = x.iter().map(|x| (x - mean) * r).collect();
        let mut of_h = Vec::new();
        for i in 0..extent {
            let (scale, offset) = (case.scale[i / plane], case.offset[i / plane]);
            let y = h[i] * scale + offset;
            let cut = case.norm.relu && y <= 0.0;
            let g = if cut { 0.0 } else { g[i] };
            output.push(if cut { 0.0 } else { y });
            of_scale[i / plane] += g * h[i];
            of_offset[i / plane] += g;
            of_h.push(g * scale);
        }
        let mean_of_h = of_h.iter().sum::<f64>() / n;
        let along: f64 = of_h.iter().zip(&h).map(|(g, h)| g * h).sum::<f64>() / (n - 1.0).max(1.0);
        of_input.extend(of_h.iter().zip(&h).map(|(g, h)| r * (g - mean_of_h - h * along)));
    }
    [output, of_input, of_scale, of_offset]
}
