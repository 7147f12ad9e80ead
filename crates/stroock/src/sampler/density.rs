//! A density of codes, from the codes of some series.

use rand_core::Rng;
use stroock_kernels::noise::Stream;

use crate::predict::normal;

/// The smooth bootstrap (Silverman 1986, section 6.4) of codes `c_1 .. c_N` with the mean `m`:
///
/// ```text
/// c = m + (c_i - m + h e) / sqrt(1 + h^2),     i uniform,     e ~ N(0, S),
/// ```
///
/// where `S` is the covariance of the codes. The mean of what is drawn is `m` and its covariance `S`, whatever the
/// bandwidth `h` is. That is chosen by Silverman's rule `h = (4 / (d + 2) / N)^(1 / (d + 4))` for the effective number of
/// dimensions `d = (tr S)^2 / tr S^2`.
///
/// ```
/// use stroock::sampler::CodeDensity;
/// use stroock_kernels::noise::{NoiseKey, Purpose};
///
/// let density = CodeDensity::of(vec![1.0, 0.0, 3.0, 0.0], 2).unwrap();
/// let code = density.draw(&mut NoiseKey::new(1, 0).stream(Purpose::Caller, 0, 0));
/// assert_eq!(code.len(), 2);
/// assert_eq!(code[1], 0.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CodeDensity {
    codes: Vec<f32>,
    width: usize,
    mean: Vec<f64>,
    bandwidth: f64,
}

impl CodeDensity {
    /// The density of codes `[N, width]`, one after the other; `None` where there are none, or one is not finite.
    pub fn of(codes: Vec<f32>, width: usize) -> Option<Self> {
        let usable = width > 0 && !codes.is_empty() && codes.len().is_multiple_of(width);
        if !usable || codes.iter().any(|number| !number.is_finite()) {
            return None;
        }
        let count = (codes.len() / width) as f64;
        let mut mean = vec![0.0; width];
        for code in codes.chunks_exact(width) {
            mean.iter_mut().zip(code).for_each(|(mean, &number)| *mean += f64::from(number) / count);
        }
        let bandwidth = silverman(count, effective_dimensions(&codes, &mean));
        Some(Self { codes, width, mean, bandwidth })
    }

    /// The codes `[N, width]`, one after the other.
    pub fn codes(&self) -> &[f32] {
        &self.codes
    }

    /// Numbers of a code.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The bandwidth `h`, as a share of the standard deviations of the codes.
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// Draws a code, `[width]`.
    pub fn draw(&self, stream: &mut Stream) -> Vec<f32> {
        let count = self.codes.len() / self.width;
        let chosen = (stream.next_u64() % count as u64) as usize;
        let shrink = 1.0 / (1.0 + self.bandwidth * self.bandwidth).sqrt();
        // Normal weights on the codes give noise with their covariance, without a matrix of it.
        let spread = shrink * self.bandwidth / (count as f64).sqrt();
        let mut code = self.mean.clone();
        for (i, other) in self.codes.chunks_exact(self.width).enumerate() {
            let weight = spread * normal(stream) + if i == chosen { shrink } else { 0.0 };
            for ((code, &number), mean) in code.iter_mut().zip(other).zip(&self.mean) {
                *code += weight * (f64::from(number) - mean);
            }
        }
        code.into_iter().map(|number| number as f32).collect()
    }
}

/// Silverman's rule for so many points in so many dimensions.
fn silverman(count: f64, dimensions: f64) -> f64 {
    (4.0 / (dimensions + 2.0) / count).powf(1.0 / (dimensions + 4.0))
}

/// `(tr S)^2 / tr S^2`: how many directions the codes spread over; 1 where they do not spread at all.
fn effective_dimensions(codes: &[f32], mean: &[f64]) -> f64 {
    let width = mean.len();
    let centred: Vec<f64> =
        codes.iter().enumerate().map(|(place, &number)| f64::from(number) - mean[place % width]).collect();
    let rows: Vec<&[f64]> = centred.chunks_exact(width).collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let trace: f64 = rows.iter().map(|row| product(row, row)).sum();
    // The trace of the square of the covariance is that of the matrix of products of codes.
    let squares: f64 = (rows.iter())
        .enumerate()
        .map(|(i, a)| {
            let others: f64 = rows[..i].iter().map(|b| product(a, b).powi(2)).sum();
            2.0 * others + product(a, a).powi(2)
        })
        .sum();
    if squares > 0.0 { trace * trace / squares } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use stroock_kernels::noise::{NoiseKey, Purpose};

    use super::*;

    #[test]
    fn mean_and_covariance_are_those_of_the_codes() {
        let codes = vec![0.0, 1.0, 2.0, -1.0, 4.0, 3.0, 2.0, 5.0, -3.0, 0.5];
        let density = CodeDensity::of(codes.clone(), 2).unwrap();
        let moments = |codes: &[Vec<f64>]| {
            let count = codes.len() as f64;
            let mean = [0, 1].map(|i| codes.iter().map(|code| code[i]).sum::<f64>() / count);
            let covariance = |i: usize, j: usize| {
                codes.iter().map(|code| (code[i] - mean[i]) * (code[j] - mean[j])).sum::<f64>() / count
            };
            [mean[0], mean[1], covariance(0, 0), covariance(0, 1), covariance(1, 1)]
        };
        let doubles = |code: &[f32]| code.iter().map(|&number| f64::from(number)).collect::<Vec<f64>>();
        let given: Vec<Vec<f64>> = codes.chunks(2).map(doubles).collect();
        let key = NoiseKey::new(5, 0);
        let drawn: Vec<Vec<f64>> = (0..40_000)
            .map(|number| doubles(&density.draw(&mut key.stream(Purpose::Caller, number, 0))))
            .collect();
        for (expected, found) in moments(&given).into_iter().zip(moments(&drawn)) {
            assert!((expected - found).abs() < 0.12, "{expected} {found}");
        }
    }

    #[test]
    fn the_bandwidth_follows_the_rule() {
        // Codes along a line have one dimension, whatever their width is.
        let line: Vec<f32> = (0..100).flat_map(|i| [i as f32, 2.0 * i as f32, 0.0]).collect();
        let density = CodeDensity::of(line, 3).unwrap();
        assert!((density.bandwidth() - (4.0f64 / 300.0).powf(0.2)).abs() < 1e-9);
        // Corners of a square have two.
        let corners = vec![1.0, 1.0, 1.0, -1.0, -1.0, 1.0, -1.0, -1.0];
        assert!((CodeDensity::of(corners, 2).unwrap().bandwidth() - 0.25f64.powf(1.0 / 6.0)).abs() < 1e-9);
        assert_eq!(CodeDensity::of(vec![f32::NAN], 1), None);
        assert_eq!(CodeDensity::of(Vec::new(), 1), None);
        // A single code, or equal ones, are always drawn.
        let one = CodeDensity::of(vec![2.0, 2.0], 1).unwrap();
        assert_eq!(one.draw(&mut NoiseKey::new(1, 0).stream(Purpose::Caller, 0, 0)), [2.0]);
    }
}
