//! Draws and divergences of processes with given marginals: gradients, precision, determinism, bad input.

mod marginals;

use marginals::{Batch, divergence_by_integration, dot, radius};
use stroock_geometry::Real;
use stroock_kernels::moebius::{MoebiusDraws, MoebiusError, MoebiusGradients, SeriesTimes, StepLengths};
use stroock_kernels::path::Attractor;
use stroock_kernels::start::Draws;
use stroock_testing::finite_difference::{assert_close, gradient};
use stroock_testing::statistics::estimate;

/// Arbitrary weights of the outputs.
fn weights<T: Real>(count: usize, phase: f64) -> Vec<T> {
    (0..count).map(|i| T::of((phase + 1.7 * i as f64).sin())).collect()
}

struct Weights<T>([Vec<T>; 3]);

impl<T: Real> Weights<T> {
    fn of(batch: &Batch<T>) -> Self {
        let states = batch.samples * batch.request_times.len() * batch.dim;
        Self([
            weights(states, 0.3),
            weights(batch.series(), 0.9),
            weights(batch.samples * batch.series(), 2.0),
        ])
    }

    fn loss(&self, drawn: &MoebiusDraws<T>) -> f64 {
        let outputs = [&drawn.states, &drawn.kl_start, &drawn.kl_path];
        let pairs = self.0.iter().zip(outputs).flat_map(|(weights, output)| weights.iter().zip(output));
        pairs.map(|(weight, output)| weight.as_f64() * output.as_f64()).sum()
    }

    fn pull_back(&self, batch: &Batch<T>) -> MoebiusGradients<T> {
        let [states, start, path] = &self.0;
        batch.problem().backward(states, start, path).unwrap()
    }
}

/// Gradients of every input against differences of step `h`, relative to the largest gradient of the input.
fn assert_gradients(name: &str, batch: &Batch<f64>, weights: &Weights<f64>, h: f64) {
    let gradients = weights.pull_back(batch);
    let check = |input: &str, exact: &[f64], x: &[f64], change: &dyn Fn(&mut Batch<f64>, &[f64])| {
        let numeric = gradient(x, h, |x| {
            let mut batch = batch.clone();
            change(&mut batch, x);
            weights.loss(&batch.problem().forward().unwrap())
        });
        let scale = numeric.iter().fold(1f64, |largest, g| largest.max(g.abs()));
        let scaled = |values: &[f64]| values.iter().map(|g| g / scale).collect::<Vec<_>>();
        assert_close(&format!("{name}: {input}"), &scaled(exact), &scaled(&numeric), 2e-8);
        assert!(exact.iter().any(|g| *g != 0.0), "{name}: nothing flows to {input}");
    };
    check("positions", &gradients.positions, &batch.positions, &|b, x| b.positions = x.to_vec());
    check("widths", &gradients.widths, &batch.widths, &|b, x| b.widths = x.to_vec());
    let of_sigma = gradients.sigma.iter().sum();
    check("sigma", &[of_sigma], &[batch.sigma], &|b, x| b.sigma = x[0]);
    let Some(prior) = &batch.prior else {
        assert!(gradients.prior.is_empty());
        return;
    };
    let mut sum = vec![0.0; prior.len()];
    for series in gradients.prior.chunks_exact(sum.len()) {
        sum.iter_mut().zip(series).for_each(|(sum, g)| *sum += g);
    }
    check("prior", &sum, prior, &|b, x| b.prior = Some(x.to_vec()));
}

#[test]
fn gradients_are_those_of_finite_differences() {
    for dim in [2, 3, 5, 8] {
        let batch = Batch::random(dim, 5, 3);
        let weights = Weights::of(&batch);
        assert_gradients(&format!("{dim}, driftless"), &batch, &weights, 1e-4);
        assert_gradients(&format!("{dim}, attractor"), &batch.with_prior(), &weights, 1e-4);
    }
}

#[test]
fn gradients_hold_for_every_output_alone() {
    let batch = Batch::random(4, 3, 2).with_prior();
    for output in 0..3 {
        let mut weights = Weights::of(&batch);
        for (i, part) in weights.0.iter_mut().enumerate() {
            part.iter_mut().for_each(|x| *x *= if i == output { 1.0 } else { 0.0 });
        }
        if output == 2 {
            assert_gradients("path divergence", &batch, &weights, 1e-4);
            continue;
        }
        // Neither sigma nor the prior moves states or the start.
        let gradients = weights.pull_back(&batch);
        assert!(gradients.sigma.iter().chain(&gradients.prior).all(|g| *g == 0.0));
        let numeric = gradient(&batch.widths, 1e-4, |x| {
            weights.loss(&Batch { widths: x.to_vec(), ..batch.clone() }.problem().forward().unwrap())
        });
        assert_close("widths", &gradients.widths, &numeric, 1e-8);
    }
}

/// A curve through the origin of R^n: the direction turns over within a small part of the time.
#[test]
fn gradients_hold_where_positions_are_short() {
    let knots = [(0.0, vec![2e-5, 1e-5, -1e-5], 0.3), (1.0, vec![-1e-5, 2e-5, 3e-5], 0.5)];
    let mut batch = Batch::<f64>::one(3, &knots, 0.5).with_prior();
    batch.request_times = vec![0.45];
    let weights = Weights::of(&batch);
    let gradients = weights.pull_back(&batch);
    let numeric = gradient(&batch.positions, 1e-7, |x| {
        weights.loss(&Batch { positions: x.to_vec(), ..batch.clone() }.problem().forward().unwrap())
    });
    let scale = numeric.iter().fold(1f64, |largest, g| largest.max(g.abs()));
    let scaled = |values: &[f64]| values.iter().map(|g| g / scale).collect::<Vec<_>>();
    assert_close("positions", &scaled(&gradients.positions), &scaled(&numeric), 1e-7);
    // And at a knot of length 0 everything is finite: the marginal there is nearly uniform.
    batch.positions[..3].fill(0.0);
    batch.request_times = vec![0.0];
    let drawn = batch.problem().forward().unwrap();
    assert!((dot(&drawn.states, &drawn.states) - 1.0).abs() < 1e-12);
    assert!(drawn.kl_start[0].abs() < 1e-14);
    let gradients = weights.pull_back(&batch);
    assert!(gradients.positions.iter().chain(&gradients.widths).all(|g| g.is_finite()));
}

#[test]
fn single_precision_is_the_rounded_double_for_all_widths() {
    for dim in [2, 3, 16] {
        let mut batch = Batch::<f64>::random(dim, 9, 4).with_prior();
        for (i, width) in batch.widths.iter_mut().enumerate() {
            *width = [1e-3, 3e-3, 0.02, 0.3, 1.0, 10.0][i % 6];
        }
        let single = batch.single();
        // The same numbers in double precision.
        let exact = |values: &[f32]| values.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
        batch.positions = exact(&single.positions);
        batch.widths = exact(&single.widths);
        batch.sigma = f64::from(single.sigma);
        batch.prior = single.prior.as_ref().map(|prior| exact(prior));
        let assert_rounded = |name: &str, single: &[f32], double: &[f64]| {
            for (s, d) in single.iter().zip(double) {
                assert!(s.is_finite(), "{dim} {name}: {s} {d}");
                assert!((f64::from(*s) - d).abs() <= 1e-6 * d.abs() + 1e-9, "{dim} {name}: {s} {d}");
            }
        };
        let (a, b) = (single.problem().forward().unwrap(), batch.problem().forward().unwrap());
        assert_rounded("states", &a.states, &b.states);
        assert_rounded("kl_start", &a.kl_start, &b.kl_start);
        assert_rounded("kl_path", &a.kl_path, &b.kl_path);
        assert!(a.states.chunks_exact(dim).all(|z| (dot(&exact(z), &exact(z)) - 1.0).abs() < 1e-6));
        // Weights of the two precisions differ by rounding, so gradients are held against those of ones.
        let ones = |count: usize| vec![1.0; count];
        let of = |count: usize| vec![1f32; count];
        let [states, start, path] = [a.states.len(), a.kl_start.len(), a.kl_path.len()];
        let a = single.problem().backward(&of(states), &of(start), &of(path)).unwrap();
        let b = batch.problem().backward(&ones(states), &ones(start), &ones(path)).unwrap();
        assert_rounded("of positions", &a.positions, &b.positions);
        assert_rounded("of widths", &a.widths, &b.widths);
        assert_rounded("of sigma", &a.sigma, &b.sigma);
        assert_rounded("of prior", &a.prior, &b.prior);
    }
}

/// Double precision itself: a narrow marginal against the same one far from its boundary cases, by scaling laws.
#[test]
fn narrow_marginals_are_stereographic() {
    // For eps -> 0, (z - d)/eps tends to a multivariate t distribution that does not depend on eps.
    let at = |width: f64| {
        let mut batch = Batch::<f64>::one(3, &[(0.0, vec![0.0, 0.0, 1.0], width)], 1.0);
        batch.samples = 200;
        let states = batch.problem().forward().unwrap().states;
        let scaled = |z: &[f64]| [z[0] / width, z[1] / width, (1.0 - z[2]) / (width * width)];
        states
            .chunks_exact(3)
            .filter(|z| 1.0 - z[2] < 10.0 * width * width)
            .flat_map(scaled)
            .collect::<Vec<_>>()
    };
    let (narrow, narrower) = (at(1e-3), at(1e-4));
    assert!(narrow.len() > 450);
    assert_close("coordinates over the width", &narrow, &narrower, 2e-2);
}

#[test]
fn the_divergence_at_the_start_is_its_integral() {
    for dim in [2, 3, 4, 5, 6, 7, 8, 16, 17, 64, 65] {
        for width in [1e-3, 1e-2, 0.1, 0.3, 0.6, 0.7, 0.8, 1.0, 2.0, 5.0, 10.0] {
            let position = (0..dim).map(|i| if i == 1 { 1e3 } else { 0.0 }).collect();
            let mut batch = Batch::<f64>::one(dim, &[(0.0, position, width)], 1.0);
            let kl = batch.problem().forward().unwrap().kl_start[0];
            let expected = divergence_by_integration(dim, width);
            let difference = (kl - expected).abs();
            assert!(difference < 1e-8 * expected.max(1e-3), "{dim} {width}: {kl} is not {expected}");

            let zeros = |count: usize| vec![0.0; count];
            let of_width = batch.problem().backward(&zeros(dim), &[1.0], &[0.0]).unwrap().widths[0];
            let slope = gradient(&[width], 1e-2 * width, |x| {
                batch.widths = x.to_vec();
                batch.problem().forward().unwrap().kl_start[0]
            })[0];
            assert!(
                (of_width - slope).abs() < 1e-8 * slope.abs(),
                "{dim} {width}: {of_width} is not {slope}"
            );
        }
    }
}

#[test]
fn the_divergence_at_the_start_is_the_mean_logarithmic_density() {
    for (dim, width) in [(2, 0.3), (3, 0.05), (5, 0.4), (16, 1.5)] {
        let position: Vec<f64> = (0..dim).map(|i| (1.0 + i as f64).sin()).collect();
        let mut batch = Batch::<f64>::one(dim, &[(0.0, position.clone(), width)], 1.0);
        batch.samples = 40_000;
        let drawn = batch.problem().forward().unwrap();
        let (r, d) = (radius(width), marginals::unit(position));
        let ln_density = |z: &[f64]| {
            let distance: f64 = z.iter().zip(&d).map(|(z, d)| (z - r * d).powi(2)).sum();
            (dim as f64 - 1.0) * ((1.0 - r * r).ln() - distance.ln())
        };
        let name = format!("n = {dim}, width {width}");
        estimate(drawn.states.chunks_exact(dim).map(ln_density)).assert_mean(&name, drawn.kl_start[0]);
    }
}

type Bits = Vec<Vec<u32>>;

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| x.to_bits()).collect()
}

fn outputs_and_gradients(batch: &Batch<f32>) -> (MoebiusDraws<f32>, MoebiusGradients<f32>) {
    let drawn = batch.problem().forward().unwrap();
    let of = [&drawn.states, &drawn.kl_start].map(|x| x.iter().map(|x| x.sin()).collect::<Vec<_>>());
    let of_path = vec![0.5; drawn.kl_path.len()];
    let gradients = batch.problem().backward(&of[0], &of[1], &of_path).unwrap();
    (drawn, gradients)
}

fn all_bits(batch: &Batch<f32>) -> Bits {
    let (drawn, gradients) = outputs_and_gradients(batch);
    let steps = StepLengths { smallest: 0.02, largest: 0.05 };
    let mut sorted = batch.clone();
    for pair in batch.request_offsets.windows(2) {
        sorted.request_times[pair[0]..pair[1]].sort_by(f64::total_cmp);
    }
    let starts = vec![-0.3; batch.series()];
    let paths = sorted.process().simulate(sorted.requests(), &starts, steps, batch.draws()).unwrap();
    let MoebiusGradients { positions, widths, sigma, prior } = &gradients;
    [&drawn.states, &drawn.kl_start, &drawn.kl_path, &paths, positions, widths, sigma, prior]
        .map(|values| bits(values))
        .to_vec()
}

#[test]
fn threads_do_not_change_a_bit() {
    for batch in [Batch::random(5, 13, 3), Batch::random(4, 13, 3).with_prior()] {
        let with_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| all_bits(&batch))
        };
        let one = with_threads(1);
        assert!([2, 3, 5].into_iter().all(|threads| one == with_threads(threads)));
    }
}

#[test]
fn splits_do_not_change_a_bit() {
    // With one sample, whatever belongs to a series is contiguous.
    let batch = Batch { samples: 1, first_sample: 6, ..Batch::random(5, 7, 1).with_prior() };
    let whole = all_bits(&batch);
    let mut parts = all_bits(&batch.part(0, 2));
    for part in [batch.part(2, 3), batch.part(3, 7)] {
        parts.iter_mut().zip(all_bits(&part)).for_each(|(all, part)| all.extend(part));
    }
    assert!(whole == parts);
    // Samples continue earlier ones.
    let both = Batch { samples: 2, ..batch.clone() }.problem().forward().unwrap();
    let second = Batch { first_sample: 7, ..batch }.problem().forward().unwrap();
    assert_eq!(bits(&both.states[both.states.len() / 2..]), bits(&second.states));
    assert_eq!(bits(&both.kl_path[both.kl_path.len() / 2..]), bits(&second.kl_path));
}

#[test]
fn outside_of_the_knots_the_curve_stands_still() {
    let knots = [(0.2, vec![1.0, 2.0, 0.5], 0.3), (0.4, vec![0.0, 1.0, 1.0], 0.6)];
    let mut batch = Batch::<f64>::one(3, &knots, 0.5);
    let point = [0.6, 0.0, 0.8];
    let drift = |batch: &Batch<f64>, time| batch.process().drift(0, time, &point).unwrap();
    assert_eq!(drift(&batch, -5.0), drift(&batch, 0.1));
    assert_eq!(drift(&batch, 0.4), drift(&batch, 7.0));
    assert_ne!(drift(&batch, 0.2), drift(&batch, 0.1));
    assert!(dot(&drift(&batch, 0.3), &point).abs() < 1e-14);
    // With equal noise, states at all times beyond the last knot are equal.
    batch.request_times = vec![9.0];
    let late = batch.problem().forward().unwrap().states;
    batch.request_times = vec![0.4];
    assert_eq!(late, batch.problem().forward().unwrap().states);
    // The span before the knots: the divergence of a marginal that does not move.
    batch.spans = vec![[-2.0, 0.1]];
    batch.samples = 4000;
    batch.request_offsets = vec![0, 1];
    let r = radius(0.3);
    let expected = 2.1 * 8.0 * 0.25 * r * r / (6.0 * (1.0 - r * r).powi(2));
    estimate(batch.problem().forward().unwrap().kl_path).assert_mean("before the knots", expected);
    // An empty span has no divergence.
    batch.spans = vec![[0.3, 0.3]];
    assert!(batch.problem().forward().unwrap().kl_path.iter().all(|kl| *kl == 0.0));
}

fn good() -> Batch<f32> {
    Batch::random(3, 2, 1).with_prior()
}

fn error(change: impl FnOnce(&mut Batch<f32>)) -> MoebiusError {
    let mut batch = good();
    change(&mut batch);
    let error = batch.problem().forward().unwrap_err();
    let backward = batch.problem().backward(&[], &[], &[]).unwrap_err();
    assert_eq!(backward.to_string(), error.to_string());
    error
}

fn path_error(change: impl FnOnce(&mut Batch<f32>, &mut Vec<f64>, &mut StepLengths)) -> MoebiusError {
    let (mut batch, mut starts) = (good(), vec![-1.0; 2]);
    batch.request_times.sort_by(f64::total_cmp);
    let mut steps = StepLengths { smallest: 0.1, largest: 0.2 };
    change(&mut batch, &mut starts, &mut steps);
    batch.process().simulate(batch.requests(), &starts, steps, batch.draws()).unwrap_err()
}

#[test]
fn arguments_are_named() {
    let attractor = Attractor { coefficients: &[0.0; 4] };
    let batch = good();
    let process = batch.process();
    let cases = [
        (error(|b| b.dim = 1), "dim"),
        (error(|b| b.sigma = 0.0), "sigma"),
        (error(|b| b.sigma = f32::NAN), "sigma"),
        (error(|b| b.widths[1] = 0.0), "widths"),
        (error(|b| b.widths[1] = f32::INFINITY), "widths"),
        (error(|b| _ = b.widths.pop()), "widths"),
        (error(|b| _ = b.positions.pop()), "positions"),
        (error(|b| b.positions[2] = f32::NAN), "positions"),
        (error(|b| b.knot_times[1] = b.knot_times[0]), "knots"),
        (error(|b| b.knot_times[1] = f64::NAN), "knots.times"),
        (error(|b| _ = b.knot_times.pop()), "knots.times"),
        (error(|b| b.knot_offsets.clear()), "knots.offsets"),
        (error(|b| b.knot_offsets = vec![0]), "knots.times"),
        (error(|b| b.knot_offsets = vec![0, 0, b.knot_times.len()]), "knots"),
        (error(|b| _ = b.prior.as_mut().unwrap().pop()), "prior.coefficients"),
        (error(|b| b.prior.as_mut().unwrap()[4] = f32::NAN), "prior.coefficients"),
        (error(|b| _ = b.request_times.pop()), "requests.times"),
        (error(|b| b.request_times[0] = f64::INFINITY), "requests.times"),
        (error(|b| b.request_offsets = vec![0, b.request_times.len()]), "requests.offsets"),
        (error(|b| b.samples = 0), "samples"),
        (error(|b| _ = b.numbers.pop()), "series"),
        (error(|b| b.strata = 0), "strata"),
        (error(|b| _ = b.spans.pop()), "spans"),
        (error(|b| b.spans[0] = [1.0, 0.5]), "spans"),
        (error(|b| b.spans[1][0] = f64::NAN), "spans"),
        (path_error(|_, starts, _| _ = starts.pop()), "starts"),
        (path_error(|_, starts, _| starts[0] = f64::NAN), "starts"),
        (path_error(|b, _, _| b.request_times[0] = -3.0), "requests"),
        (path_error(|b, _, _| b.request_times.reverse()), "requests"),
        (path_error(|_, _, steps| steps.smallest = 0.0), "steps"),
        (path_error(|_, _, steps| steps.largest = 0.05), "steps"),
        (process.drift(2, 0.0, &[0.0; 3]).unwrap_err(), "series"),
        (process.drift(0, 0.0, &[0.0; 2]).unwrap_err(), "point"),
        (process.drift(0, f64::NAN, &[0.0; 3]).unwrap_err(), "time"),
        (attractor.velocity(&[1.0, 0.0, 0.0]).unwrap_err().into(), "coefficients"),
        (batch.problem().backward(&[0.0], &[0.0], &[0.0]).unwrap_err(), "of_states"),
    ];
    for (error, argument) in cases {
        assert!(error.to_string().contains(&format!("`{argument}`")), "{argument}: {error}");
    }
    let draws = Draws { samples: 1, ..batch.draws() };
    let none = SeriesTimes { offsets: &[0, 0, 0], times: &[] };
    let steps = StepLengths { smallest: 0.1, largest: 0.2 };
    assert!(process.simulate(none, &[0.0; 2], steps, draws).is_err());
}
