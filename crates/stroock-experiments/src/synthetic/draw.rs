//! Random numbers and choices from a stream of random words.

use rand_core::Rng;

/// A number from the uniform distribution on [low, high), with 53 random bits.
pub(super) fn uniform(words: &mut impl Rng, low: f64, high: f64) -> f64 {
    let unit = (words.next_u64() >> 11) as f64 * 2f64.powi(-53);
    low + (high - low) * unit
}

/// Standard normal numbers, made in pairs by the transform of Box and Muller.
#[derive(Clone, Debug, Default)]
pub(super) struct Normals {
    spare: Option<f64>,
}

impl Normals {
    /// The next number.
    pub(super) fn next(&mut self, words: &mut impl Rng) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        // In (0, 1], where the logarithm is finite.
        let radius = (-2.0 * (1.0 - uniform(words, 0.0, 1.0)).ln()).sqrt();
        let (sine, cosine) = uniform(words, 0.0, std::f64::consts::TAU).sin_cos();
        self.spare = Some(radius * sine);
        radius * cosine
    }
}

/// `count` different numbers below `of` (all of them where `count` is larger), in increasing order.
pub(super) fn choose(words: &mut impl Rng, count: usize, of: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..of).collect();
    let count = count.min(of);
    for i in 0..count {
        // The bias of the remainder is below 2^-32 for any list that fits a machine.
        let other = i + (words.next_u64() % (of - i) as u64) as usize;
        numbers.swap(i, other);
    }
    numbers.truncate(count);
    numbers.sort_unstable();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use stroock_kernels::noise::{NoiseKey, Purpose};
    use stroock_testing::statistics::estimate;

    #[test]
    fn moments_of_uniform_and_normal_numbers() {
        let mut words = NoiseKey::new(1, 0).stream(Purpose::Synthetic, 0, 0);
        let uniforms: Vec<f64> = (0..100_000).map(|_| uniform(&mut words, -1.0, 3.0)).collect();
        assert!(uniforms.iter().all(|u| (-1.0..3.0).contains(u)));
        estimate(uniforms.iter().copied()).assert_mean("uniform", 1.0);
        estimate(uniforms.iter().map(|u| (u - 1.0).powi(2))).assert_mean("its variance", 16.0 / 12.0);
        let mut normals = Normals::default();
        let draws: Vec<f64> = (0..100_000).map(|_| normals.next(&mut words)).collect();
        for (power, moment) in [(1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)] {
            estimate(draws.iter().map(|x| x.powi(power))).assert_mean("normal moment", moment);
        }
        estimate(draws.chunks_exact(2).map(|pair| pair[0] * pair[1])).assert_mean("covariance", 0.0);
    }

    #[test]
    fn every_number_is_chosen_equally_often() {
        let mut words = NoiseKey::new(2, 0).stream(Purpose::Synthetic, 0, 0);
        let mut counts = [0.0; 10];
        for _ in 0..10_000 {
            let chosen = choose(&mut words, 3, 10);
            assert!(chosen.len() == 3 && chosen.is_sorted_by(|a, b| a < b));
            chosen.iter().for_each(|&i| counts[i] += 1.0);
        }
        // Binomial with p = 0.3: five standard deviations are 230.
        assert!(counts.iter().all(|count: &f64| (count - 3000.0).abs() < 230.0), "{counts:?}");
        assert_eq!(choose(&mut words, 5, 3), [0, 1, 2]);
    }
}
