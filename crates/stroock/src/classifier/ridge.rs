//! Ridge regression on classes, with the scores that every series would have had without it in closed form.
//!
//! With standardised features `X` `[N, P]`, the kernel `K = X X^T` and centred indicators `Y` of classes `[N, K]`, the
//! coefficients are `A = (K + l I)^-1 Y` and scores `mean(Y) + K A`. Rows and columns of `K` sum to zero, so that
//! `C = (K + l I + 1 1^T / N)^-1` has the same `A = C Y`, and is well conditioned along the ones. The residual of series
//! `i`, had it been left out, is `A_i / (C_ii - 1 / (N (1 + l)))`: no second fit is needed.

use rayon::prelude::*;

/// Series by series products of rows `[N][P]`, `[N, N]`. Sums of short blocks in single precision are added in double.
pub(super) fn gram(rows: &[Vec<f32>]) -> Vec<f64> {
    let count = rows.len();
    let lower: Vec<Vec<f64>> =
        (0..count).into_par_iter().map(|i| (0..=i).map(|j| dot(&rows[i], &rows[j])).collect()).collect();
    let mut all = vec![0.0; count * count];
    for (i, row) in lower.iter().enumerate() {
        for (j, &entry) in row.iter().enumerate() {
            (all[i * count + j], all[j * count + i]) = (entry, entry);
        }
    }
    all
}

/// Products of rows as those of rows whose mean was taken away, in double precision: what rounding leaves of the mean is
/// not small beside a weak ridge.
pub(super) fn centre(products: &mut [f64], count: usize) {
    let means: Vec<f64> =
        products.chunks(count.max(1)).map(|row| row.iter().sum::<f64>() / count as f64).collect();
    let mean = means.iter().sum::<f64>() / count.max(1) as f64;
    for (row, own) in products.chunks_mut(count.max(1)).zip(&means) {
        row.iter_mut().zip(&means).for_each(|(entry, other)| *entry += mean - own - other);
    }
}

/// A fitted regression in its dual form.
#[derive(Clone, Debug)]
pub(super) struct Dual {
    /// Coefficients `A`, `[N, K]`.
    pub coefficients: Vec<f64>,
    /// Scores of every series when it is left out, `[N, K]`.
    pub left_out: Vec<f64>,
}

/// The shares of classes among series.
pub(super) fn shares(truths: &[usize], classes: usize) -> Vec<f64> {
    let mut shares = vec![0.0; classes];
    truths.iter().for_each(|&truth| shares[truth] += 1.0 / truths.len() as f64);
    shares
}

/// Solves `(kernel + ridge I) A = Y` for a centred kernel and indicators of classes; `None` where the matrix is not
/// positive definite.
pub(super) fn solve(kernel: &[f64], truths: &[usize], classes: usize, ridge: f64) -> Option<Dual> {
    let count = truths.len();
    let ones = 1.0 / count as f64;
    let shifted: Vec<f64> = kernel.iter().map(|entry| entry + ones).collect();
    let factor = cholesky(&shifted, count, ridge)?;
    let shares = shares(truths, classes);
    let mut coefficients = vec![0.0; count * classes];
    for class in 0..classes {
        let target = |&truth: &usize| f64::from(u8::from(truth == class)) - shares[class];
        let mut column: Vec<f64> = truths.iter().map(target).collect();
        forward(&factor, count, 0, &mut column);
        backward(&factor, count, &mut column);
        column.iter().enumerate().for_each(|(i, a)| coefficients[i * classes + class] = *a);
    }
    let inverse_diagonal: Vec<f64> = (0..count)
        .into_par_iter()
        .map(|i| {
            let mut unit = vec![0.0; count];
            unit[i] = 1.0;
            forward(&factor, count, i, &mut unit);
            unit[i..].iter().map(|x| x * x).sum()
        })
        .collect();
    let mut left_out = vec![0.0; count * classes];
    let rows = coefficients.chunks(classes.max(1)).zip(left_out.chunks_mut(classes.max(1)));
    for ((coefficients, left_out), (own, &truth)) in rows.zip(inverse_diagonal.iter().zip(truths)) {
        let own = (own - ones / (1.0 + ridge)).max(f64::MIN_POSITIVE);
        for (class, (score, coefficient)) in left_out.iter_mut().zip(coefficients).enumerate() {
            *score = f64::from(u8::from(truth == class)) - coefficient / own;
        }
    }
    Some(Dual { coefficients, left_out })
}

/// What a regression in the features themselves needs of rows `[N][P]`: for more series than features.
pub(super) struct Primal {
    width: usize,
    /// `X^T X`, `[P, P]`.
    products: Vec<f64>,
    /// `X^T Y`, `[K][P]`.
    targets: Vec<Vec<f64>>,
}

impl Primal {
    pub fn of(rows: &[Vec<f32>], truths: &[usize], classes: usize) -> Self {
        let width = rows.first().map_or(0, Vec::len);
        let columns: Vec<Vec<f32>> =
            (0..width).into_par_iter().map(|j| rows.iter().map(|row| row[j]).collect()).collect();
        let shares = shares(truths, classes);
        let of_class = |class: usize| {
            let target = |&truth: &usize| f32::from(u8::from(truth == class)) - shares[class] as f32;
            let targets: Vec<f32> = truths.iter().map(target).collect();
            columns.iter().map(|column| dot(column, &targets)).collect()
        };
        let targets = (0..classes).into_par_iter().map(of_class).collect();
        Self { width, products: gram(&columns), targets }
    }

    /// Coefficients `[K, P]` that solve `(X^T X + ridge I) W = X^T Y`; `None` where that is not positive definite.
    pub fn solve(&self, ridge: f64) -> Option<Vec<f64>> {
        let factor = cholesky(&self.products, self.width, ridge)?;
        let solved = self.targets.par_iter().map(|target| {
            let mut column = target.clone();
            forward(&factor, self.width, 0, &mut column);
            backward(&factor, self.width, &mut column);
            column
        });
        Some(solved.collect::<Vec<_>>().concat())
    }
}

/// The lower factor `L` of `matrix + ridge I`, `[N, N]`.
fn cholesky(matrix: &[f64], count: usize, ridge: f64) -> Option<Vec<f64>> {
    let mut factor = vec![0.0; count * count];
    for i in 0..count {
        let (before, rest) = factor.split_at_mut(i * count);
        let row = &mut rest[..count];
        for j in 0..i {
            let other = &before[j * count..][..=j];
            row[j] = (matrix[i * count + j] - dot_f64(&row[..j], &other[..j])) / other[j];
        }
        let pivot = matrix[i * count + i] + ridge - dot_f64(&row[..i], &row[..i]);
        row[i] = Some(pivot.sqrt()).filter(|root| root.is_finite() && *root > 0.0)?;
    }
    Some(factor)
}

/// Solves `L x = b` in place, where `b` is zero before `from`.
fn forward(factor: &[f64], count: usize, from: usize, x: &mut [f64]) {
    for i in from..count {
        let row = &factor[i * count..][..=i];
        x[i] = (x[i] - dot_f64(&row[from..i], &x[from..i])) / row[i];
    }
}

/// Solves `L^T x = b` in place.
fn backward(factor: &[f64], count: usize, x: &mut [f64]) {
    for i in (0..count).rev() {
        let row = &factor[i * count..][..=i];
        x[i] /= row[i];
        let scale = x[i];
        x[..i].iter_mut().zip(row).for_each(|(x, l)| *x -= scale * l);
    }
}

/// In eight chains whatever the length, so that the same bits come out everywhere.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f64 {
    let mut sum = 0.0;
    for (a, b) in a.chunks(512).zip(b.chunks(512)) {
        let mut lanes = [0f32; 8];
        let (whole_a, rest_a) = a.as_chunks::<8>();
        let (whole_b, rest_b) = b.as_chunks::<8>();
        for (a, b) in whole_a.iter().zip(whole_b) {
            lanes.iter_mut().zip(a).zip(b).for_each(|((lane, a), b)| *lane += a * b);
        }
        sum += lanes.iter().map(|lane| f64::from(*lane)).sum::<f64>();
        sum += rest_a.iter().zip(rest_b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
    }
    sum
}

fn dot_f64(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0f64; 8];
    let (whole_a, rest_a) = a.as_chunks::<8>();
    let (whole_b, rest_b) = b.as_chunks::<8>();
    for (a, b) in whole_a.iter().zip(whole_b) {
        lanes.iter_mut().zip(a).zip(b).for_each(|((lane, a), b)| *lane += a * b);
    }
    lanes.iter().sum::<f64>() + rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> (Vec<Vec<f32>>, Vec<usize>) {
        let number = |i: usize, j: usize| ((i * 37 + j * 101 + i * j * 13) % 29) as f32 / 7.0 - 2.0;
        let rows = (0..14).map(|i| (0..6).map(|j| number(i, j)).collect()).collect();
        (rows, (0..14).map(|i| (i * i + i / 5) % 3).collect())
    }

    /// Columns with mean 0.
    fn centred(rows: &[Vec<f32>]) -> (Vec<Vec<f32>>, Vec<f32>) {
        let mean = |j: usize| rows.iter().map(|row| row[j]).sum::<f32>() / rows.len() as f32;
        let means: Vec<f32> = (0..rows[0].len()).map(mean).collect();
        let centre = |row: &Vec<f32>| row.iter().zip(&means).map(|(x, m)| x - m).collect();
        (rows.iter().map(centre).collect(), means)
    }

    #[test]
    fn scores_of_series_that_are_left_out_are_those_of_a_second_fit() {
        // A weak ridge, too, with more features than series.
        let wide: Vec<Vec<f32>> = (0..9usize)
            .map(|i| {
                (0..40usize).map(|j| ((i * i * 31 + j * j * 17 + i * j * 7) % 23) as f32 - 11.0).collect()
            })
            .collect();
        left_out_scores_are_right(&wide, &[0, 1, 2, 0, 1, 2, 0, 1, 2], 1e-4);
        let (rows, truths) = rows();
        left_out_scores_are_right(&rows, &truths, 0.7);
    }

    fn left_out_scores_are_right(rows: &[Vec<f32>], truths: &[usize], ridge: f64) {
        let classes = 3;
        let kernel = |rows: &[Vec<f32>]| {
            let mut kernel = gram(rows);
            centre(&mut kernel, rows.len());
            kernel
        };
        let all = solve(&kernel(rows), truths, classes, ridge).unwrap();
        for out in 0..rows.len() {
            let others = |i: &usize| *i != out;
            let kept: Vec<Vec<f32>> = (0..rows.len()).filter(others).map(|i| rows[i].clone()).collect();
            let known: Vec<usize> = (0..rows.len()).filter(others).map(|i| truths[i]).collect();
            let (kept, means) = centred(&kept);
            let fit = solve(&kernel(&kept), &known, classes, ridge).unwrap();
            let row: Vec<f32> = rows[out].iter().zip(&means).map(|(x, m)| x - m).collect();
            for (class, share) in shares(&known, classes).into_iter().enumerate() {
                let products = kept
                    .iter()
                    .enumerate()
                    .map(|(i, kept)| dot(kept, &row) * fit.coefficients[i * classes + class]);
                let expected = share + products.sum::<f64>();
                let found = all.left_out[out * classes + class];
                assert!((found - expected).abs() < 1e-4, "{out} {class}: {found} and {expected}");
            }
        }
    }

    #[test]
    fn both_forms_give_the_same_scores() {
        let (rows, truths) = rows();
        let (rows, _) = centred(&rows);
        let (classes, ridge) = (3, 0.3);
        let mut kernel = gram(&rows);
        centre(&mut kernel, rows.len());
        let dual = solve(&kernel, &truths, classes, ridge).unwrap();
        let primal = Primal::of(&rows, &truths, classes).solve(ridge).unwrap();
        for row in &rows {
            for class in 0..classes {
                let of_dual: f64 = rows
                    .iter()
                    .enumerate()
                    .map(|(i, other)| dot(other, row) * dual.coefficients[i * classes + class])
                    .sum();
                let weights = &primal[class * row.len()..][..row.len()];
                let of_primal: f64 = row.iter().zip(weights).map(|(x, w)| f64::from(*x) * w).sum();
                assert!((of_dual - of_primal).abs() < 1e-5, "{of_dual} and {of_primal}");
            }
        }
    }

    #[test]
    fn what_is_not_positive_definite_is_refused() {
        assert!(solve(&[-1.0, 1.0, 1.0, -1.0], &[0, 1], 2, 0.5).is_none());
        assert!(solve(&[f64::NAN], &[0], 2, 1.0).is_none());
    }
}
