//! The codes of all training frames, as of the beginning of an epoch.

use std::collections::BTreeMap;
use std::ops::Range;

use nalgebra::{DMatrix, DVector};

use super::kernel::{FrameKernel, matrix};
use super::process::CodedFrames;
use crate::batch::Batch;
use crate::latent::NormalStart;

/// The training series: their frames, and the codes that these had when they were last encoded all together.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// The rows of every series, by its number.
    rows: BTreeMap<u32, Range<usize>>,
    objects: Vec<usize>,
    times: Vec<f64>,
    /// Means and summed variances of the codes, row after row.
    means: Vec<f64>,
    variances: Vec<f64>,
}

impl Memory {
    /// Series.
    pub fn series(&self) -> usize {
        self.rows.len()
    }

    /// Takes in the series of a batch with the codes of their frames.
    pub fn push(&mut self, batch: &Batch, codes: &NormalStart) {
        let first = self.times.len();
        for (&number, pair) in batch.numbers.iter().zip(batch.requests.offsets.windows(2)) {
            let object = self.rows.len();
            self.objects.extend((pair[0]..pair[1]).map(|_| object));
            self.rows.insert(number, first + pair[0]..first + pair[1]);
        }
        self.times.extend(batch.request_times());
        let (means, variances) = numbers(codes);
        // The transpose of a matrix stored by columns is the matrix by rows.
        self.means.extend_from_slice(means.transpose().as_slice());
        self.variances.extend_from_slice(variances.as_slice());
    }

    /// All frames with the codes as they were taken in.
    pub fn frames(&self, kernel: &FrameKernel) -> CodedFrames {
        let count = self.times.len();
        CodedFrames {
            objects: self.objects.clone(),
            harmonics: kernel.harmonics(&self.times),
            means: DMatrix::from_row_slice(count, self.means.len() / count.max(1), &self.means),
            variances: DVector::from_row_slice(&self.variances),
        }
    }

    /// The rows of the frames of a batch, `[Q]`; `None` where some of them are no training frames.
    pub fn rows_of(&self, batch: &Batch) -> Option<Vec<usize>> {
        let times = batch.request_times();
        let mut all = Vec::with_capacity(times.len());
        for (number, pair) in batch.numbers.iter().zip(batch.requests.offsets.windows(2)) {
            let rows = self.rows.get(number)?.clone();
            if self.times[rows.clone()] != times[pair[0]..pair[1]] {
                return None;
            }
            all.extend(rows);
        }
        Some(all)
    }
}

/// The codes of some frames as numbers: their means, and their variances summed over coordinates.
pub(super) fn numbers(codes: &NormalStart) -> (DMatrix<f64>, DVector<f64>) {
    let variances = matrix(codes.ln_scale.clone().mul_scalar(2.0).exp());
    (matrix(codes.mean.clone()), variances.column_sum())
}
