//! How the parts of a residual move from one time to the next.

use super::gaussian::{Matrix, Vector, identity};

/// How smooth the paths of the quick part are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Smoothness {
    /// Matérn 1/2, the Ornstein-Uhlenbeck process: `E u(t) u(t') = exp(-d)`, `d = |t - t'| / l`. Paths are continuous.
    #[default]
    Half,
    /// Matérn 3/2: `E u(t) u(t') = (1 + sqrt(3) d) exp(-sqrt(3) d)`. Paths have slopes.
    ThreeHalves,
}

/// Variances and lengths of the parts of a residual.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dynamics {
    pub smoothness: Smoothness,
    /// Variance `a^2` and length `l` of the quick part.
    pub quick: Part,
    /// Variance `w^2` and length `m` of the slow part, an Ornstein-Uhlenbeck process.
    pub slow: Part,
    /// Variance `s^2` of the noise.
    pub noise: f64,
}

/// Variance and length of one part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub variance: f64,
    pub length: f64,
}

/// `x(t + gap) = matrix x(t) + w`, with `w` of covariance `added`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transition<const N: usize> {
    pub matrix: Matrix<N>,
    pub added: Matrix<N>,
}

impl Dynamics {
    /// Numbers in the state: the quick part, its slope where it has one, and the slow part where there is one.
    pub fn dimension(&self) -> usize {
        self.quick_dimension() + usize::from(self.slow.variance > 0.0)
    }

    fn quick_dimension(&self) -> usize {
        match self.smoothness {
            Smoothness::Half => 1,
            Smoothness::ThreeHalves => 2,
        }
    }

    /// What of a state of dimension `N` is measured: the sum of the parts.
    pub fn measured<const N: usize>(&self) -> Vector<N> {
        let mut measured = [0.0; N];
        measured[0] = 1.0;
        if let Some(slow) = measured.get_mut(self.quick_dimension()) {
            *slow = 1.0;
        }
        measured
    }

    /// The transition over a gap of a state of dimension `N`. An infinite one forgets everything.
    pub fn transition<const N: usize>(&self, gap: f64) -> Transition<N> {
        let mut step = Transition { matrix: identity(), added: [[0.0; N]; N] };
        if gap == 0.0 {
            return step;
        }
        match self.smoothness {
            Smoothness::Half => {
                let (kept, added) = self.quick.ornstein_uhlenbeck(gap);
                (step.matrix[0][0], step.added[0][0]) = (kept, added);
            }
            Smoothness::ThreeHalves => {
                let (kept, added) = self.quick.three_halves(gap);
                for i in 0..2.min(N) {
                    for j in 0..2.min(N) {
                        (step.matrix[i][j], step.added[i][j]) = (kept[i][j], added[i][j]);
                    }
                }
            }
        }
        let slow = self.quick_dimension();
        if slow < N {
            let (kept, added) = self.slow.ornstein_uhlenbeck(gap);
            (step.matrix[slow][slow], step.added[slow][slow]) = (kept, added);
        }
        step
    }
}

impl Part {
    /// Gaps in units of the length; infinite where the length is none.
    fn distance(&self, gap: f64) -> f64 {
        if self.length > 0.0 { gap / self.length } else { f64::INFINITY }
    }

    /// `(exp(-d), v (1 - exp(-2 d)))`, without cancellation for short gaps.
    fn ornstein_uhlenbeck(&self, gap: f64) -> (f64, f64) {
        let lost = (-self.distance(gap)).exp_m1();
        (1.0 + lost, self.variance * -lost * (2.0 + lost))
    }

    /// The same for the state `(u, u' / r)`, `r = sqrt(3) / l`, whose stationary covariance is `v I`:
    /// `exp(-x) [[1 + x, x], [-x, 1 - x]]` with `x = r gap`, and `v (I - A A^T)`.
    fn three_halves(&self, gap: f64) -> (Matrix<2>, Matrix<2>) {
        let x = 3f64.sqrt() * self.distance(gap);
        let v = self.variance;
        // Nothing is left of what was before.
        if x > 300.0 {
            return ([[0.0; 2]; 2], [[v, 0.0], [0.0, v]]);
        }
        let kept = (-x).exp();
        let y = 2.0 * x;
        let squared = kept * kept;
        // `1 - exp(-y) (1 + y + y^2 / 2)`: the rest of the exponential series where that would cancel.
        let first = if y < 1.0 {
            let (mut term, mut rest) = (y * y * y / 6.0, 0.0);
            for k in 4..20 {
                rest += term;
                term *= y / f64::from(k);
            }
            squared * rest
        } else {
            1.0 - squared * (1.0 + y + 0.5 * y * y)
        };
        let second = -(-y).exp_m1() + squared * (y - 0.5 * y * y);
        let both = squared * 0.5 * y * y;
        (
            [[kept * (1.0 + x), kept * x], [-kept * x, kept * (1.0 - x)]],
            [[v * first, v * both], [v * both, v * second]],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::residual::gaussian::{congruent, sum};

    #[test]
    fn every_transition_keeps_the_stationary_distribution() {
        for smoothness in [Smoothness::Half, Smoothness::ThreeHalves] {
            let dynamics = Dynamics {
                smoothness,
                quick: Part { variance: 0.7, length: 2.0 },
                slow: Part { variance: 0.2, length: 30.0 },
                noise: 0.1,
            };
            let state = |step: Transition<3>, dimension: usize| {
                let quick = if smoothness == Smoothness::Half { [0.7, 0.2, 0.0] } else { [0.7, 0.7, 0.2] };
                let mut stationary = [[0.0; 3]; 3];
                (0..dimension).for_each(|i| stationary[i][i] = quick[i]);
                let after = sum(&congruent(&step.matrix, &stationary), &step.added);
                for i in 0..dimension {
                    for j in 0..dimension {
                        assert!((after[i][j] - stationary[i][j]).abs() < 1e-15, "{smoothness:?} {after:?}");
                    }
                }
            };
            for gap in [0.0, 1e-9, 0.01, 0.28, 0.3, 1.0, 10.0, 1e4, f64::INFINITY] {
                state(dynamics.transition(gap), dynamics.dimension());
            }
        }
    }
}
