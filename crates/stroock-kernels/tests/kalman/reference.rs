//! The filter by its formulas, one series after the other, with full covariances over every gap.

use crate::batch::{Batch, Mixed};

/// Square matrices of any size, row by row.
type Matrix = Vec<f64>;

fn product(a: &[f64], b: &[f64], n: usize) -> Matrix {
    let mut out = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            out[i * n + j] = (0..n).map(|k| a[i * n + k] * b[k * n + j]).sum();
        }
    }
    out
}

fn transposed(a: &[f64], n: usize) -> Matrix {
    (0..n * n).map(|place| a[place % n * n + place / n]).collect()
}

/// `e^a` by its power series, squared back.
fn exponential(a: &[f64], n: usize) -> Matrix {
    const SQUARINGS: i32 = 5;
    let a: Matrix = a.iter().map(|x| x / 2f64.powi(SQUARINGS)).collect();
    let identity: Matrix = (0..n * n).map(|place| f64::from(u8::from(place / n == place % n))).collect();
    let (mut sum, mut term) = (identity.clone(), identity);
    for k in 1..40 {
        term = product(&term, &a, n).iter().map(|x| x / f64::from(k)).collect();
        sum.iter_mut().zip(&term).for_each(|(sum, term)| *sum += term);
    }
    for _ in 0..SQUARINGS {
        sum = product(&sum, &sum, n);
    }
    sum
}

/// `e^{A t}` and the noise that gathers, from one exponential of twice the size (Van Loan 1978).
fn over_gap(a: &[f64], q: &[f64], t: f64, n: usize) -> (Matrix, Matrix) {
    let m = 2 * n;
    let mut block = vec![0.0; m * m];
    for i in 0..n {
        for j in 0..n {
            block[i * m + j] = -a[i * n + j] * t;
            block[(n + i) * m + n + j] = a[j * n + i] * t;
        }
        block[i * m + n + i] = q[i] * t;
    }
    let whole = exponential(&block, m);
    let part = |row: usize, column: usize| -> Matrix {
        (0..n * n).map(|place| whole[(row + place / n) * m + column + place % n]).collect()
    };
    let transition = transposed(&part(n, n), n);
    let noise = product(&transition, &part(0, n), n);
    (transition, noise)
}

/// Beliefs at all points, `[P, 5d]`.
pub fn filter(batch: &Batch<f64>) -> Vec<f64> {
    let (d, n) = (batch.half, 2 * batch.half);
    let mut beliefs = Vec::new();
    let mut observed = 0;
    for pair in batch.offsets.windows(2) {
        let mut mean = vec![0.0; n];
        let mut upper = batch.initial[..d].to_vec();
        let mut lower = batch.initial[d..].to_vec();
        let mut cross = vec![0.0; d];
        for point in pair[0]..pair[1] {
            if point > pair[0] {
                let a = drift(batch, &mean);
                let (transition, noise) = over_gap(&a, &batch.noise, batch.gaps[point], n);
                let mut covariance = vec![0.0; n * n];
                for i in 0..d {
                    covariance[i * n + i] = upper[i];
                    covariance[(d + i) * n + d + i] = lower[i];
                    covariance[i * n + d + i] = cross[i];
                    covariance[(d + i) * n + i] = cross[i];
                }
                let moved = product(&product(&transition, &covariance, n), &transposed(&transition, n), n);
                let at = |i: usize, j: usize| moved[i * n + j] + noise[i * n + j];
                upper = (0..d).map(|i| at(i, i)).collect();
                lower = (0..d).map(|i| at(d + i, d + i)).collect();
                cross = (0..d).map(|i| at(i, d + i)).collect();
                mean = (0..n).map(|i| (0..n).map(|j| transition[i * n + j] * mean[j]).sum()).collect();
            }
            if batch.observed[point] {
                let row = &batch.observations[observed * n..(observed + 1) * n];
                observed += 1;
                for i in 0..d {
                    let (y, r) = (row[i], row[d + i]);
                    let (gain, cross_gain) = (upper[i] / (upper[i] + r), cross[i] / (upper[i] + r));
                    let error = y - mean[i];
                    mean[i] += gain * error;
                    mean[d + i] += cross_gain * error;
                    upper[i] *= 1.0 - gain;
                    lower[i] -= cross_gain * cross[i];
                    cross[i] *= 1.0 - gain;
                }
            }
            beliefs.extend([&mean, &upper, &lower, &cross].into_iter().flatten());
        }
    }
    beliefs
}

/// The drift matrix at a mean.
fn drift(batch: &Batch<f64>, mean: &[f64]) -> Matrix {
    let (d, n, sets) = (batch.half, 2 * batch.half, batch.biases.len());
    let logit = |k: usize| -> f64 {
        batch.biases[k] + (0..n).map(|i| mean[i] * batch.weights[i * sets + k]).sum::<f64>()
    };
    let shares: Vec<f64> = (0..sets).map(|k| logit(k).exp()).collect();
    let sum: f64 = shares.iter().sum();
    let entries = batch.coefficients.len() / sets;
    let mixed: Vec<f64> = (0..entries)
        .map(|c| (0..sets).map(|k| shares[k] / sum * batch.coefficients[k * entries + c]).sum())
        .collect();
    let mut a = vec![0.0; n * n];
    match &batch.mixed {
        Mixed::Banded { bandwidth } => {
            let mut entries = mixed.into_iter();
            for i in 0..n {
                for j in (0..n).filter(|j| (i % d).abs_diff(j % d) <= *bandwidth) {
                    a[i * n + j] = entries.next().expect("an entry");
                }
            }
        }
        Mixed::Eigenvalues { basis } => {
            for i in 0..n {
                for j in 0..n {
                    a[i * n + j] = (0..n).map(|k| basis[i * n + k] * mixed[k] * basis[j * n + k]).sum();
                }
            }
        }
    }
    a
}

/// An orthogonal matrix, `[n, n]`: the exponential of a skew one.
pub fn orthogonal(numbers: &[f64], n: usize) -> Matrix {
    let skew: Matrix = (0..n * n).map(|place| numbers[place] - numbers[place % n * n + place / n]).collect();
    exponential(&skew, n)
}
