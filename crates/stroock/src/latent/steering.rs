//! What steers random paths over time: where they are drawn to, how strongly, and how wide they are about it.

use super::RaggedTimes;

/// What steers the paths of some series at `Q` times.
///
/// A path is led by a vector of the ambient space: it is drawn towards the direction of the vector, and the longer the
/// vector, the closer it keeps to it. Where the vector is 0, nothing steers.
///
/// ```
/// use stroock::latent::Steering;
/// let steering = Steering::of_pull(3, vec![0.0, 0.0, 8.0, 0.0, 0.0, 0.0], 0.1);
/// assert_eq!(steering.direction(0), Some(vec![0.0, 0.0, 1.0]));
/// assert_eq!(steering.gains, [8.0, 0.0]);
/// // About sigma / sqrt(2 |b|) = 0.025 where paths are pulled, and that of the uniform distribution where not.
/// assert!((steering.widths[0] - 0.025).abs() < 1e-4);
/// assert_eq!(steering.widths[1], (1.0f64 / 3.0).sqrt());
/// assert_eq!(steering.direction(1), None);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Steering {
    /// Ambient dimension `n`.
    pub dim: usize,
    /// The vectors, `[Q, n]`: `b` of [steered paths](super::SteeredProcess), `psi` of
    /// [marginals](super::MarginalProcess).
    pub vectors: Vec<f64>,
    /// Rates at which a path next to the direction of its vector is pulled towards it, per unit of model time, `[Q]`.
    pub gains: Vec<f64>,
    /// Standard deviations per direction across the vector, `[Q]`: `sqrt(E |z - <z, d> d|^2 / (n - 1))` with its
    /// direction `d`. Of marginals this is what paths have; of steered paths, what they settle at when the vector stays
    /// as it is for some `1 / gain` and the prior has no drift.
    pub widths: Vec<f64>,
    /// Whether the states that a model draws at several times are those of one path; those of marginals are drawn
    /// independently of each other.
    pub coherent: bool,
}

impl Steering {
    /// Of paths with the drift `b - <b, z> z` and the diffusion scale `sigma`, where `vectors` (`[Q, n]`) are `b`.
    ///
    /// The gain is `|b|`. With `b` held, paths settle at the von Mises-Fisher distribution of concentration
    /// `kappa = 2 |b| / sigma^2`, whose width is `sqrt(A(kappa) / kappa)` with `A = I_{n/2} / I_{n/2 - 1}`: about
    /// `sigma / sqrt(2 |b|)` where that is small.
    pub fn of_pull(dim: usize, vectors: Vec<f64>, sigma: f64) -> Self {
        let gains = norms(&vectors, dim);
        let width = |gain: &f64| von_mises_fisher_variance(dim, 2.0 * gain / (sigma * sigma)).sqrt();
        Self { dim, widths: gains.iter().map(width).collect(), gains, vectors, coherent: true }
    }

    /// Of processes with the diffusion scale `sigma` whose marginals are the spherical Cauchy distributions of the
    /// points `vectors` (`[Q, n]`) of the open unit ball.
    ///
    /// With `r = |psi|` the gain is that of the drift that keeps the marginal together, `(n - 1) sigma^2 r / (1 - r)^2`,
    /// and the width the root of `(1 - r^2)^2 F(2, 2 - n/2; 1 + n/2; r^2) / n` with the hypergeometric function `F`.
    pub fn of_marginals(dim: usize, vectors: Vec<f64>, sigma: f64) -> Self {
        let radii = norms(&vectors, dim);
        let gain = |r: &f64| (dim as f64 - 1.0) * sigma * sigma * r / (1.0 - r).powi(2);
        let width = |r: &f64| spherical_cauchy_variance(dim, *r).sqrt();
        let (gains, widths) = (radii.iter().map(gain).collect(), radii.iter().map(width).collect());
        Self { dim, vectors, gains, widths, coherent: false }
    }

    /// The unit vector that paths are drawn to at time number `index`; `None` where nothing steers.
    pub fn direction(&self, index: usize) -> Option<Vec<f64>> {
        let vector = &self.vectors[index * self.dim..][..self.dim];
        let norm = norms(vector, self.dim)[0];
        (norm > 0.0).then(|| vector.iter().map(|x| x / norm).collect())
    }

    /// The steering of each of several series, whose times begin at `offsets` (`[B + 1]`).
    pub fn split(&self, offsets: &[usize]) -> Vec<Self> {
        let part = |run: &[usize]| Self {
            dim: self.dim,
            vectors: self.vectors[run[0] * self.dim..run[1] * self.dim].to_vec(),
            gains: self.gains[run[0]..run[1]].to_vec(),
            widths: self.widths[run[0]..run[1]].to_vec(),
            coherent: self.coherent,
        };
        offsets.windows(2).map(part).collect()
    }
}

/// Values `[Q, width]` at requested times of what has the given values (`[K, width]`) at knots: linear between the knots
/// of a series, constant outside of them, as the kernels have it; 0 for a series without knots.
pub(crate) fn linear_between(
    knots: &RaggedTimes,
    values: &[f64],
    width: usize,
    requests: &RaggedTimes,
) -> Vec<f64> {
    let mut found = Vec::with_capacity(requests.times.len() * width);
    for (of_knots, of_requests) in knots.offsets.windows(2).zip(requests.offsets.windows(2)) {
        let times = &knots.times[of_knots[0]..of_knots[1]];
        let value = |knot: usize| &values[(of_knots[0] + knot) * width..][..width];
        let Some(last) = times.len().checked_sub(1) else {
            found.resize(of_requests[1] * width, 0.0);
            continue;
        };
        for &time in &requests.times[of_requests[0]..of_requests[1]] {
            let after = times.partition_point(|&knot| knot <= time).clamp(1, last.max(1));
            let (left, right) = (after - 1, after.min(last));
            let span = times[right] - times[left];
            let share = if span > 0.0 { ((time - times[left]) / span).clamp(0.0, 1.0) } else { 0.0 };
            let ends = value(left).iter().zip(value(right));
            found.extend(ends.map(|(left, right)| (1.0 - share) * left + share * right));
        }
    }
    found
}

fn norms(vectors: &[f64], dim: usize) -> Vec<f64> {
    vectors.chunks_exact(dim.max(1)).map(|vector| vector.iter().map(|x| x * x).sum::<f64>().sqrt()).collect()
}

/// Orders above its own from which a ratio of Bessel functions is computed downwards.
const ORDERS: usize = 240;

/// `A(kappa) / kappa` with `A = I_{n/2} / I_{n/2 - 1}`: variance per direction across the mean of the von Mises-Fisher
/// distribution.
fn von_mises_fisher_variance(dim: usize, kappa: f64) -> f64 {
    let order = |k: usize| 0.5 * dim as f64 + k as f64;
    // `I_{v + 1} / I_v` at the highest order by the bound of Amos (1974), which is right to second order in `1 / kappa`;
    // then by the recurrence `1 / (2 (v + 1) / kappa + ratio above)`.
    let top = order(ORDERS);
    let mut ratio = kappa / (top + 0.5 + kappa.hypot(top + 1.5));
    for k in (0..ORDERS).rev() {
        ratio = kappa / (2.0 * (order(k) + 1.0) + kappa * ratio);
    }
    1.0 / (dim as f64 + kappa * ratio)
}

/// Terms of a hypergeometric series; on the two-dimensional sphere the narrowest marginals need some ten thousand.
const TERMS: usize = 1_000_000;

/// Variance per direction across `psi`, `|psi| = r < 1`, of the spherical Cauchy distribution.
fn spherical_cauchy_variance(dim: usize, r: f64) -> f64 {
    let (n, x) = (dim as f64, r * r);
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 0..TERMS {
        let k = k as f64;
        term *= (2.0 + k) * (2.0 - 0.5 * n + k) / ((1.0 + 0.5 * n + k) * (1.0 + k)) * x;
        sum += term;
        if term.abs() <= 1e-16 * sum.abs() {
            break;
        }
    }
    (1.0 - x).powi(2) * sum / n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_between_knots_end_where_the_knots_end() {
        let ragged = |offsets: &[usize], times: &[f64]| RaggedTimes {
            offsets: offsets.to_vec(),
            times: times.to_vec(),
        };
        let knots = ragged(&[0, 3, 4], &[0.0, 0.5, 1.0, 0.2]);
        let values = [0.0, 1.0, 1.0, 3.0, 2.0, -1.0, 7.0, 8.0];
        let requests = ragged(&[0, 5, 7], &[-1.0, 0.25, 0.5, 0.75, 3.0, 0.0, 0.9]);
        let found = linear_between(&knots, &values, 2, &requests);
        assert_eq!(found, [0.0, 1.0, 0.5, 2.0, 1.0, 3.0, 1.5, 1.0, 2.0, -1.0, 7.0, 8.0, 7.0, 8.0]);
    }
}
