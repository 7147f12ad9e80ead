//! Geometric Euler-Maruyama by its definition: dense matrices, one path at a time.

use stroock_kernels::path::Space;

/// Largest norm of a step that is followed: beyond it the two sums of the exponential differ by rounding alone.
const LARGEST: f64 = 30.0;

/// One path.
pub struct PlainPath<'a> {
    pub space: Space,
    pub dim: usize,
    pub sigma: f64,
    pub times: &'a [f64],
    /// Coefficients of the drift at each step, `[steps, m]`.
    pub drift: &'a [f64],
    /// Normals of each step, `[steps, m]`.
    pub noise: &'a [f64],
    pub start: &'a [f64],
}

impl PlainPath<'_> {
    /// The states at all times; `None` where a step is too large to be compared.
    pub fn states(&self) -> Option<Vec<f64>> {
        let (n, m) = (self.dim, self.space.algebra_dim(self.dim));
        let mut all = self.start.to_vec();
        let mut state = self.start.to_vec();
        for (step, pair) in self.times.windows(2).enumerate() {
            let dt = pair[1] - pair[0];
            let run = step * m..(step + 1) * m;
            let coefficients: Vec<f64> = self.drift[run.clone()]
                .iter()
                .zip(&self.noise[run])
                .map(|(k, xi)| k * dt + self.sigma * dt.sqrt() * xi)
                .collect();
            state = moved(&matrix(self.space, n, &coefficients), &state)?;
            all.extend(&state);
        }
        Some(all)
    }
}

/// The matrix of coefficients over the basis of the Lie algebra.
fn matrix(space: Space, n: usize, coefficients: &[f64]) -> Vec<f64> {
    let mut matrix = vec![0.0; n * n];
    if space == Space::GeneralLinear {
        return coefficients.to_vec();
    }
    let below = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
    for ((i, j), &a) in below.zip(coefficients) {
        matrix[i * n + j] = a;
        matrix[j * n + i] = -a;
    }
    if space == Space::Hyperbolic {
        matrix[..n].iter_mut().for_each(|entry| *entry = -*entry);
    }
    matrix
}

/// `exp(A) z` in parts of small norm.
fn moved(matrix: &[f64], z: &[f64]) -> Option<Vec<f64>> {
    let norm = matrix.iter().map(|a| a * a).sum::<f64>().sqrt();
    if norm.is_nan() || norm >= LARGEST {
        return None;
    }
    let parts = norm.ceil().max(1.0);
    let mut z = z.to_vec();
    for _ in 0..parts as usize {
        let (mut sum, mut term) = (z.clone(), z.clone());
        for k in 1..30 {
            let product =
                matrix.chunks(z.len()).map(|row| row.iter().zip(&term).map(|(a, x)| a * x).sum::<f64>());
            term = product.map(|x| x / (parts * f64::from(k))).collect();
            sum.iter_mut().zip(&term).for_each(|(sum, x)| *sum += x);
        }
        z = sum;
    }
    Some(z)
}
