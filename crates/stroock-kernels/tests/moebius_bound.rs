//! The evidence lower bound of processes with given marginals lies below the evidence, which a particle filter computes.

mod marginals;

use marginals::{Batch, dot, normal, stream};
use stroock_kernels::noise::{NoiseKey, Stream};
use stroock_testing::statistics::{Estimate, estimate};

const TIMES: [f64; 4] = [0.2, 0.45, 0.7, 0.95];
/// Standard deviation of the observations.
const NOISE: f64 = 0.35;
const SIGMA: f64 = 0.7;

struct Problem {
    dim: usize,
    observations: Vec<Vec<f64>>,
    /// Pull, rates and frequencies of the prior.
    prior: Option<[Vec<f64>; 3]>,
}

impl Problem {
    /// Observations of a path of the prior.
    fn new(dim: usize, prior: Option<[Vec<f64>; 3]>) -> Self {
        let mut problem = Self { dim, observations: Vec::new(), prior };
        let mut s = stream(31 + dim as u64);
        let mut z = uniform(dim, &mut s);
        let mut time = 0.0;
        for next in TIMES {
            problem.walk(&mut z, next - time, &mut s);
            time = next;
            problem.observations.push(z.iter().map(|z| z + NOISE * normal(&mut s)).collect());
        }
        problem
    }

    /// A step of the prior, in parts of about a fiftieth.
    fn walk(&self, z: &mut [f64], length: f64, s: &mut Stream) {
        let parts = (length / 0.02).ceil();
        let dt = length / parts;
        for _ in 0..parts as usize {
            let mut x: Vec<f64> = z.iter().map(|_| SIGMA * dt.sqrt() * normal(s)).collect();
            if let Some([pull, rates, frequencies]) = &self.prior {
                x.iter_mut().zip(pull).for_each(|(x, pull)| *x += dt * pull);
                for (i, (rate, frequency)) in rates.iter().zip(frequencies).enumerate() {
                    x[2 * i] += dt * (rate * z[2 * i] - frequency * z[2 * i + 1]);
                    x[2 * i + 1] += dt * (rate * z[2 * i + 1] + frequency * z[2 * i]);
                }
            }
            let normal = dot(&x, z);
            z.iter_mut().zip(&x).for_each(|(z, x)| *z += x - normal * *z);
            let norm = dot(z, z).sqrt();
            z.iter_mut().for_each(|z| *z /= norm);
        }
    }

    fn ln_likelihood(&self, observation: usize, z: &[f64]) -> f64 {
        let x = &self.observations[observation];
        let square: f64 = z.iter().zip(x).map(|(z, x)| (z - x).powi(2)).sum();
        let variance = NOISE * NOISE;
        -0.5 * (square / variance + self.dim as f64 * (std::f64::consts::TAU * variance).ln())
    }

    /// An unbiased estimate of the evidence, by a bootstrap filter.
    fn evidence(&self, particles: usize, s: &mut Stream) -> f64 {
        let mut cloud: Vec<Vec<f64>> = (0..particles).map(|_| uniform(self.dim, s)).collect();
        let (mut evidence, mut time) = (1.0, 0.0);
        for (i, next) in TIMES.into_iter().enumerate() {
            for z in &mut cloud {
                self.walk(z, next - time, s);
            }
            time = next;
            let weights: Vec<f64> = cloud.iter().map(|z| self.ln_likelihood(i, z).exp()).collect();
            let total: f64 = weights.iter().sum();
            evidence *= total / particles as f64;
            let (mut k, mut sum) = (0, weights[0]);
            let first = s.uniform();
            cloud = (0..particles)
                .map(|p| {
                    while k + 1 < particles && sum < total * (p as f64 + first) / particles as f64 {
                        k += 1;
                        sum += weights[k];
                    }
                    cloud[k].clone()
                })
                .collect();
        }
        evidence
    }

    /// A process that passes by the observations with constant width.
    fn process(&self, width: f64, smoothing: f64) -> Batch<f64> {
        let knots: Vec<(f64, Vec<f64>, f64)> = TIMES
            .iter()
            .map(|&time| {
                let mut w = vec![0.0; self.dim];
                for (other, x) in TIMES.iter().zip(&self.observations) {
                    let weight = (-(time - other).abs() / smoothing).exp();
                    w.iter_mut().zip(x).for_each(|(w, x)| *w += weight * x);
                }
                (time, w, width)
            })
            .collect();
        Batch {
            prior: self.prior.clone(),
            spans: vec![[0.0, TIMES[TIMES.len() - 1]]],
            request_times: TIMES.to_vec(),
            request_offsets: vec![0, TIMES.len()],
            ..Batch::one(self.dim, &knots, SIGMA)
        }
    }

    fn bound(&self, process: &Batch<f64>) -> Estimate {
        let drawn = Batch { samples: 8_000, ..process.clone() }.problem().forward().unwrap();
        let rows = drawn.states.chunks_exact(TIMES.len() * self.dim).zip(&drawn.kl_path);
        estimate(rows.map(|(states, kl)| {
            let states = states.chunks_exact(self.dim).enumerate();
            states.map(|(i, z)| self.ln_likelihood(i, z)).sum::<f64>() - kl - drawn.kl_start[0]
        }))
    }

    /// The process after some steps of Adam up the bound, in its positions and the logarithms of its widths.
    fn improved(&self, mut process: Batch<f64>) -> Batch<f64> {
        const STEPS: i32 = 300;
        process.samples = 64;
        let mut moments = vec![[0.0; 2]; process.positions.len() + process.widths.len()];
        for step in 1..=STEPS {
            process.key = NoiseKey::new(1, step as u64);
            let drawn = process.problem().forward().unwrap();
            let share = -1.0 / process.samples as f64;
            let of_state = |(row, z): (usize, &[f64])| {
                let x = &self.observations[row % TIMES.len()];
                z.iter().zip(x).map(|(z, x)| share * (z - x) / (NOISE * NOISE)).collect::<Vec<_>>()
            };
            let of_states: Vec<f64> =
                drawn.states.chunks_exact(self.dim).enumerate().flat_map(of_state).collect();
            let of_path = vec![share; process.samples];
            let gradients = process.problem().backward(&of_states, &[-1.0], &of_path).unwrap();
            let of_ln_widths = gradients.widths.iter().zip(&process.widths).map(|(g, width)| g * width);
            let up: Vec<f64> = gradients.positions.iter().copied().chain(of_ln_widths).collect();
            let rate = 0.05 * (1.0 - f64::from(step) / f64::from(STEPS));
            for (i, ([first, second], g)) in moments.iter_mut().zip(up).enumerate() {
                *first = 0.9 * *first + 0.1 * g;
                *second = 0.99 * *second + 0.01 * g * g;
                let (first, second) =
                    (*first / (1.0 - 0.9f64.powi(step)), *second / (1.0 - 0.99f64.powi(step)));
                let change = rate * first / (second.sqrt() + 1e-8);
                match process.positions.get_mut(i) {
                    Some(position) => *position += change,
                    None => process.widths[i - TIMES.len() * self.dim] *= change.exp(),
                }
            }
        }
        process
    }
}

fn uniform(dim: usize, s: &mut Stream) -> Vec<f64> {
    marginals::unit((0..dim).map(|_| normal(s)).collect())
}

#[test]
fn the_bound_lies_below_the_evidence_and_not_far_below() {
    // The tails of the marginals are those of the Cauchy distribution: heaviest in low dimension.
    let attractor = || Some([vec![0.8, 0.3, -0.4], vec![0.6], vec![2.0]]);
    for (name, below, problem) in [
        ("circle", 6.0, Problem::new(2, None)),
        ("sphere", 3.5, Problem::new(3, None)),
        ("sphere, attractor", 4.0, Problem::new(3, attractor())),
        ("sphere in R^8", 3.5, Problem::new(8, None)),
    ] {
        let mut s = stream(77);
        let evidence = estimate((0..16).map(|_| problem.evidence(2000, &mut s)));
        let ln_evidence = evidence.mean.ln();
        let ln_error = evidence.standard_error / evidence.mean;
        assert!(ln_error < 0.1, "{name}: the filter is not certain, {ln_error}");
        let mut best = f64::NEG_INFINITY;
        let mut check = |process: &Batch<f64>| {
            let bound = problem.bound(process);
            let error = ln_error.hypot(bound.standard_error);
            assert!(bound.mean < ln_evidence + 5.0 * error, "{name}: {} above {ln_evidence}", bound.mean);
            best = best.max(bound.mean);
        };
        for width in [0.1, 0.3, 0.7, 3.0] {
            for smoothing in [0.05, 0.3, 1.0] {
                check(&problem.process(width, smoothing));
            }
        }
        check(&problem.improved(problem.process(0.3, 0.3)));
        println!("{name}: best bound {best:.3}, evidence {ln_evidence:.3} +- {ln_error:.3}");
        assert!(best > ln_evidence - below, "{name}: {best} is far below {ln_evidence}");
    }
}
