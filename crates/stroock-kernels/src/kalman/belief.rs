//! What an observation does to a belief, and the adjoint.

use stroock_geometry::Real;

/// A belief as its mean (the observed half, then the other), variances of both halves, and the covariances between
/// coordinate `i` of one and of the other.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a, T> {
    pub mean: &'a [T],
    pub upper: &'a [T],
    pub lower: &'a [T],
    pub cross: &'a [T],
}

/// The parts of the numbers of a belief.
#[inline(always)]
pub(super) fn parts<T>(belief: &[T], half: usize) -> Parts<'_, T> {
    let (mean, rest) = belief.split_at(2 * half);
    let (upper, rest) = rest.split_at(half);
    let (lower, cross) = rest.split_at(half);
    Parts { mean, upper, lower, cross }
}

/// The update with the observation `y`, `r` (`[2, d]`): with `c = u + r` and `e = y - m_u`,
///
/// ```text
/// m_u + u e / c,   m_l + s e / c,   u r / c,   l - s^2 / c,   s r / c.
/// ```
#[inline(always)]
pub(super) fn update<T: Real>(belief: &mut [T], observation: &[T], half: usize) {
    let (y, r) = observation.split_at(half);
    for i in 0..half {
        let [u, l, s] = [2, 3, 4].map(|part| belief[part * half + i]);
        let sum = u + r[i];
        let [gain, cross_gain, rest] = [u / sum, s / sum, r[i] / sum];
        let error = y[i] - belief[i];
        belief[i] += gain * error;
        belief[half + i] += cross_gain * error;
        belief[2 * half + i] = u * rest;
        belief[3 * half + i] = l - cross_gain * s;
        belief[4 * half + i] = s * rest;
    }
}

/// The adjoint of [`update`] at the belief before it: turns the cotangent of the belief after it into the one before,
/// and writes that of the observation.
#[inline(always)]
pub(super) fn pull_back_update<T: Real>(
    before: &[T],
    observation: &[T],
    half: usize,
    of_belief: &mut [T],
    of_observation: &mut [T],
) {
    let (y, r) = observation.split_at(half);
    let (of_y, of_r) = of_observation.split_at_mut(half);
    for i in 0..half {
        let [u, s] = [before[2 * half + i], before[4 * half + i]];
        let sum = u + r[i];
        let [gain, cross_gain, rest] = [u / sum, s / sum, r[i] / sum];
        let error = y[i] - before[i];
        let [of_mean, of_other, of_u, of_l, of_s] = [0, 1, 2, 3, 4].map(|part| of_belief[part * half + i]);
        let of_error = of_mean * gain + of_other * cross_gain;
        let of_gain = of_mean * error;
        let of_cross_gain = of_other * error - of_l * s;
        let of_rest = of_u * u + of_s * s;
        let of_sum = -(of_gain * gain + of_cross_gain * cross_gain + of_rest * rest) / sum;
        of_belief[i] = of_mean - of_error;
        of_belief[2 * half + i] = of_u * rest + of_gain / sum + of_sum;
        of_belief[4 * half + i] = of_s * rest - of_l * cross_gain + of_cross_gain / sum;
        of_y[i] = of_error;
        of_r[i] = of_rest / sum + of_sum;
    }
}
