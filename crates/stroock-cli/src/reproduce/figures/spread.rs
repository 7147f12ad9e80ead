//! How the states of drawn paths lie on the sphere.

use stroock::latent::Steering;

/// Where the states of paths are at each of `T` times.
pub struct Spread {
    /// Their mean directions, `[T, n]`.
    pub means: Vec<f64>,
    /// Standard deviations per direction about them, in radians, `[T]`.
    pub widths: Vec<f64>,
}

impl Spread {
    /// Of the states `[S, T, n]` of paths at so many times.
    pub fn of(states: &[f32], points: usize, n: usize) -> Self {
        let (mut means, mut widths) = (Vec::with_capacity(points * n), Vec::with_capacity(points));
        for t in 0..points {
            let states = states.chunks_exact(n.max(1)).skip(t).step_by(points);
            let mut mean = vec![0.0; n];
            for state in states.clone() {
                mean.iter_mut().zip(state).for_each(|(sum, x)| *sum += f64::from(*x));
            }
            let norm = mean.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
            mean.iter_mut().for_each(|x| *x /= norm);
            let across = |state: &[f32]| {
                let along: f64 = mean.iter().zip(state).map(|(m, x)| m * f64::from(*x)).sum();
                (1.0 - along * along).max(0.0)
            };
            let directions = states.len().max(1) as f64 * (n.max(2) - 1) as f64;
            widths.push((states.map(across).sum::<f64>() / directions).sqrt());
            means.extend(mean);
        }
        Self { means, widths }
    }

    /// Angles between the means and where the paths are drawn to, in radians, `[T]`; `None` if nothing steers somewhere.
    pub fn angles_to(&self, steering: &Steering) -> Option<Vec<f64>> {
        let means = self.means.chunks_exact(steering.dim).enumerate();
        let angle = |(t, mean): (usize, &[f64])| {
            let direction = steering.direction(t)?;
            let chord = mean.iter().zip(&direction).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            Some(2.0 * (0.5 * chord).min(1.0).asin())
        };
        means.map(angle).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_widths_and_angles_of_four_paths_at_two_times() {
        // Four states about the first axis, 0.3 radians away from it, and then all at the second axis.
        let (sin, cos) = 0.3f32.sin_cos();
        let about = [[cos, sin, 0.0], [cos, -sin, 0.0], [cos, 0.0, sin], [cos, 0.0, -sin]];
        let states: Vec<f32> =
            about.into_iter().flat_map(|state| [state, [0.0, 1.0, 0.0]]).flatten().collect();
        let spread = Spread::of(&states, 2, 3);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} {b}");
        spread.means.iter().zip([1.0, 0.0, 0.0, 0.0, 1.0, 0.0]).for_each(|(a, b)| close(*a, b));
        close(spread.widths[0], f64::from(sin) / 2f64.sqrt());
        close(spread.widths[1], 0.0);
        let target = |second: [f64; 3]| Steering::of_pull(3, [[0.0, 0.0, 2.0], second].concat(), 0.1);
        let angles = spread.angles_to(&target([0.0, 3.0, 0.0])).unwrap();
        close(angles[0], std::f64::consts::FRAC_PI_2);
        close(angles[1], 0.0);
        assert_eq!(spread.angles_to(&target([0.0; 3])), None);
    }
}
