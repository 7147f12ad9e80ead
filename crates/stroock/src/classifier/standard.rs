//! Features with mean 0 and standard deviation 1, and groups of them with equal weight.

use std::ops::Range;

/// Features that vary less than this among the training series are noise of rounding.
const CONSTANT: f64 = 1e-5;
/// Further than this many standard deviations from the mean nothing is learnt, and nothing follows.
const FURTHEST: f32 = 3.0;

/// `x -> (x - mean) / sd`, cut off far out; what is constant in the training data becomes 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Standard {
    pub means: Vec<f32>,
    /// `1 / sd`, or 0.
    pub factors: Vec<f32>,
    /// Means of the training series after the cut, which are taken away at last: `[P]`.
    pub centres: Vec<f32>,
}

impl Standard {
    /// Of the rows of training series.
    pub fn of(rows: &[Vec<f32>], width: usize) -> Self {
        let count = rows.len().max(1) as f64;
        let moments = |j: usize| {
            let mean = rows.iter().map(|row| f64::from(row[j])).sum::<f64>() / count;
            let variance = rows.iter().map(|row| (f64::from(row[j]) - mean).powi(2)).sum::<f64>() / count;
            let sd = variance.sqrt();
            (mean as f32, if sd > CONSTANT * (1.0 + mean.abs()) { (1.0 / sd) as f32 } else { 0.0 })
        };
        let (means, factors): (Vec<f32>, Vec<f32>) = (0..width).map(moments).unzip();
        let cut = |row: &Vec<f32>, j: usize| f64::from(cut(row[j], means[j], factors[j]));
        let centre = |j: usize| (rows.iter().map(|row| cut(row, j)).sum::<f64>() / count) as f32;
        let centres = (0..width).map(centre).collect();
        Self { means, factors, centres }
    }

    /// A row, standardised in place.
    pub fn apply(&self, row: &mut [f32]) {
        let known = self.means.iter().zip(&self.factors).zip(&self.centres);
        for (x, ((mean, factor), centre)) in row.iter_mut().zip(known) {
            *x = cut(*x, *mean, *factor) - centre;
        }
    }

    /// Features of a group that vary.
    pub fn varying(&self, group: &Range<usize>) -> usize {
        self.factors[group.clone()].iter().filter(|factor| **factor > 0.0).count()
    }
}

fn cut(x: f32, mean: f32, factor: f32) -> f32 {
    ((x - mean) * factor).clamp(-FURTHEST, FURTHEST)
}
