//! Moments of motions on `S^2` in closed form, and of steps by quadrature.

use crate::motion::dot;

pub const DRIFT: [f64; 3] = [1.0, -0.5, 2.0];

pub fn apply(matrix: &[f64], z: &[f64]) -> Vec<f64> {
    matrix.chunks_exact(z.len()).map(|row| dot(row, z)).collect()
}

/// `exp(A) z` in short steps of the Taylor series.
pub fn exponential_action(a: &[f64], z: &[f64]) -> Vec<f64> {
    let parts = 32;
    let mut z = z.to_vec();
    for _ in 0..parts {
        let mut term = z.clone();
        for k in 1..20 {
            term = apply(a, &term).iter().map(|x| x / f64::from(parts * k)).collect();
            z.iter_mut().zip(&term).for_each(|(z, term)| *z += term);
        }
    }
    z
}

/// The skew matrix of three coefficients.
pub fn skew(c: &[f64]) -> Vec<f64> {
    vec![0.0, -c[0], -c[1], c[0], 0.0, -c[2], c[1], c[2], 0.0]
}

/// `E z_T = exp((K - sigma^2) T) z_0` at `T = 1` on S^2.
pub fn exact_mean(sigma: f64, drift: &[f64], start: &[f64]) -> Vec<f64> {
    let mut generator = skew(drift);
    (0..3).for_each(|i| generator[i * 4] -= sigma * sigma);
    exponential_action(&generator, start)
}

/// `E[z z^T]` (nine numbers) and the divergence (the tenth) at `T = 1`, by the linear equations
/// `M' = K M + M K^T + sigma^2 (tr(M) I - 3 M)` and `KL' = tr(K^T K M) / (2 sigma^2)`.
pub fn exact_second_moment_and_divergence(sigma: f64, drift: &[f64], start: &[f64]) -> Vec<f64> {
    let k = skew(drift);
    let identity = |i: usize, j: usize| f64::from(u8::from(i == j));
    let mut generator = vec![0.0; 100];
    for row in 0..9 {
        for column in 0..9 {
            let [(i, j), (a, b)] = [(row / 3, row % 3), (column / 3, column % 3)];
            let turning = k[i * 3 + a] * identity(j, b) + identity(i, a) * k[j * 3 + b];
            let spreading = identity(i, j) * identity(a, b) - 3.0 * identity(i, a) * identity(j, b);
            generator[row * 10 + column] = turning + sigma.powi(2) * spreading;
        }
    }
    for (place, weight) in divergence_weights(sigma, drift).into_iter().enumerate() {
        generator[90 + place] = weight;
    }
    let mut z = outer(start);
    z.push(0.0);
    exponential_action(&generator, &z)
}

pub fn outer(z: &[f64]) -> Vec<f64> {
    z.iter().flat_map(|a| z.iter().map(move |b| a * b)).collect()
}

/// `K^T K / (2 sigma^2)`, whose product with `E[z z^T]` is the rate of the divergence.
pub fn divergence_weights(sigma: f64, drift: &[f64]) -> Vec<f64> {
    let k = skew(drift);
    let column = |j: usize| [k[j], k[3 + j], k[6 + j]];
    let entries = (0..9).map(|place| dot(&column(place / 3), &column(place % 3)));
    entries.map(|x| x / (2.0 * sigma * sigma)).collect()
}

/// Nodes and weights of Gauss's quadrature for a standard normal number.
pub fn normal_quadrature(count: usize) -> Vec<(f64, f64)> {
    // Hermite's polynomials of degrees `count` and `count - 1`.
    let hermite = |x: f64| (1..count).fold((x, 1.0), |(h, before), k| (x * h - k as f64 * before, h));
    let root = |mut low: f64, mut high: f64| {
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if (hermite(middle).0 > 0.0) == (hermite(low).0 > 0.0) { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    };
    let factorial: f64 = (1..=count).map(|k| k as f64).product();
    // Brackets that are no roots themselves.
    let brackets = (-800..800).map(|i| (f64::from(i) * 0.01 + 0.005, f64::from(i + 1) * 0.01 + 0.005));
    let changes = brackets.filter(|&(low, high)| (hermite(low).0 > 0.0) != (hermite(high).0 > 0.0));
    changes
        .map(|(low, high)| {
            let x = root(low, high);
            (x, factorial / (count as f64 * hermite(x).1).powi(2))
        })
        .collect()
}
