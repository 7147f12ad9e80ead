//! The same bits for any number of threads, any split of the batch, and either memory; the same numbers
//! within rounding for every instruction set.

mod problems;

use problems::Batch;
use stroock_kernels::noise::NoiseKey;
use stroock_kernels::path::{Gradients, Memory, Path, PathSolver, Scheme, Space};
use stroock_kernels::simd::Level;
use stroock_kernels::start::{Draws, PowerSphericalStart, StartDistribution};
use stroock_testing::finite_difference::assert_close;

type Bits = Vec<Vec<u32>>;

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| x.to_bits()).collect()
}

fn run(solver: PathSolver, batch: &Batch<f32>) -> (Path<f32>, Gradients<f32>) {
    let path = solver.forward(&batch.problem()).unwrap();
    let of_states: Vec<f32> = path.states.iter().map(|x| x.sin()).collect();
    let of_kl = vec![0.5; path.kl.len()];
    let gradients = solver.backward(&batch.problem(), &path.tape, &of_states, &of_kl).unwrap();
    (path, gradients)
}

fn all_bits((path, gradients): &(Path<f32>, Gradients<f32>)) -> Bits {
    let Gradients { start, drift, prior, sigma } = gradients;
    [&path.states, &path.kl, start, drift, prior, sigma].map(|v| bits(v)).to_vec()
}

/// Turning angles that differ by orders of magnitude, so that neighbours differ in terms and in parts.
fn uneven(series: usize, samples: usize) -> Batch<f32> {
    let mut batch = Batch::chebyshev(Space::Sphere, 6, series, samples, 12);
    let per_series = batch.drift.len() / series;
    for (b, drift) in batch.drift.chunks_mut(per_series).enumerate() {
        drift.iter_mut().for_each(|c| *c *= 10f32.powi(b as i32 % 5 - 2));
    }
    batch
}

#[test]
fn threads_do_not_change_a_bit() {
    let batches = [
        uneven(21, 2),
        Batch::ragged(Space::Sphere, 4, 19, 3),
        uneven(21, 2).with_prior(3),
        Batch::ragged(Space::GeneralLinear, 3, 19, 3).with_prior(7),
        Batch::ragged(Space::Hyperbolic, 3, 19, 3).with_knots(true),
    ];
    for batch in &batches {
        for memory in [Memory::Stored, Memory::Reversible] {
            let solver = PathSolver { memory, ..PathSolver::default() };
            let with_threads = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                all_bits(&pool.install(|| run(solver, batch)))
            };
            let one = with_threads(1);
            for threads in [2, 3, 5] {
                assert!(one == with_threads(threads), "{threads} threads, {memory:?}");
            }
        }
    }
}

#[test]
fn a_split_of_the_batch_does_not_change_a_bit() {
    let batches = [
        uneven(21, 1),
        Batch::ragged(Space::Sphere, 2, 21, 1),
        Batch::ragged(Space::Sphere, 5, 21, 1),
        Batch::ragged(Space::GeneralLinear, 3, 21, 1),
        uneven(21, 1).with_prior(2),
        Batch::ragged(Space::Sphere, 5, 21, 1).with_prior(7),
        Batch::ragged(Space::GeneralLinear, 3, 21, 1).with_prior(4),
        Batch::ragged(Space::Hyperbolic, 4, 21, 1),
        Batch::chebyshev(Space::Sphere, 3, 21, 1, 9).with_knots(false),
    ];
    for (batch, level) in batches.iter().flat_map(|batch| Level::ALL.map(|level| (batch, level))) {
        for memory in [Memory::Stored, Memory::Reversible] {
            let solver = PathSolver { level, memory, ..PathSolver::default() };
            let whole = all_bits(&run(solver, batch));
            for cuts in [vec![0, 1, 21], vec![0, 5, 11, 20, 21], (0..=21).collect()] {
                let mut joined: Bits = vec![Vec::new(); whole.len()];
                for cut in cuts.windows(2) {
                    let part = all_bits(&run(solver, &batch.part(cut[0]..cut[1])));
                    joined.iter_mut().zip(part).for_each(|(all, part)| all.extend(part));
                }
                assert!(whole == joined, "{level:?} {memory:?} {cuts:?}");
            }
        }
        let tangent = PathSolver { level, scheme: Scheme::TangentNoise, ..PathSolver::default() };
        let (whole, [first, rest]) = (run(tangent, batch), [batch.part(0..8), batch.part(8..21)]);
        let parts = [first, rest].map(|part| bits(&run(tangent, &part).1.start));
        assert!(bits(&whole.1.start) == parts.concat(), "{level:?}, noise along the space");
    }
}

#[test]
fn instruction_sets_agree_within_rounding() {
    let batch = Batch::chebyshev(Space::Sphere, 16, 11, 1, 30).with_prior(5);
    let doubles = |bits: &Bits| -> Vec<Vec<f64>> {
        bits.iter().map(|v| v.iter().map(|&x| f64::from(f32::from_bits(x))).collect()).collect()
    };
    let portable = doubles(&all_bits(&run(
        PathSolver { level: Level::Portable, memory: Memory::Stored, ..PathSolver::default() },
        &batch,
    )));
    for level in [Level::Avx2, Level::Avx512] {
        if !level.is_available() {
            eprintln!("SKIPPED: this processor has no {level:?}");
            continue;
        }
        let other = doubles(&all_bits(&run(
            PathSolver { level, memory: Memory::Stored, ..PathSolver::default() },
            &batch,
        )));
        for (portable, other) in portable.iter().zip(&other) {
            assert_close("level", other, portable, 1e-4);
        }
    }
}

#[test]
fn the_reversible_mode_gives_the_same_gradients() {
    let batch = Batch::<f64>::chebyshev(Space::Sphere, 5, 6, 2, 2000).with_prior(3);
    let single = batch.single();
    let run = |memory| {
        let solver = PathSolver { memory, ..PathSolver::default() };
        let path = solver.forward(&batch.problem()).unwrap();
        let of_states: Vec<f64> = path.states.iter().map(|x| x.cos()).collect();
        let of_kl = vec![0.1; path.kl.len()];
        (path.tape.len(), solver.backward(&batch.problem(), &path.tape, &of_states, &of_kl).unwrap())
    };
    let (stored_len, stored) = run(Memory::Stored);
    let (reversible_len, reversible) = run(Memory::Reversible);
    assert_eq!(stored_len, 2001 * reversible_len);
    assert_close("start", &reversible.start, &stored.start, 1e-9);
    assert_close("drift", &reversible.drift, &stored.drift, 1e-9);
    assert_close("prior", &reversible.prior, &stored.prior, 1e-9);
    assert_close("sigma", &reversible.sigma, &stored.sigma, 1e-9);

    // In single precision the states that come back differ by the rounding of two thousand steps.
    let doubles = |values: &[f32]| values.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
    let [stored, reversible] = [Memory::Stored, Memory::Reversible]
        .map(|memory| gradients_of(PathSolver { memory, ..PathSolver::default() }, &single));
    for (reversible, stored) in reversible.iter().zip(&stored) {
        let scale = stored.iter().fold(1f32, |max, x| max.max(x.abs()));
        let scaled = |v: &[f32]| doubles(v).iter().map(|x| x / f64::from(scale)).collect::<Vec<_>>();
        assert_close("single precision", &scaled(reversible), &scaled(stored), 2e-4);
    }
}

fn gradients_of(solver: PathSolver, batch: &Batch<f32>) -> [Vec<f32>; 4] {
    let (_, gradients) = run(solver, batch);
    [gradients.start, gradients.drift, gradients.prior, gradients.sigma]
}

#[test]
fn start_points_depend_on_their_place_alone() {
    let (n, series, samples) = (5, 7, 3);
    let mu: Vec<f32> =
        (0..series).flat_map(|b| (0..n).map(move |i| if i == b % n { 1.0 } else { 0.0 })).collect();
    let kappa: Vec<f32> = (0..series).map(|b| 10f32.powi(b as i32 - 2)).collect();
    let numbers: Vec<u32> = (0..series as u32).map(|b| 3 * b + 1).collect();
    let key = NoiseKey::new(5, 9);
    let whole = PowerSphericalStart { dim: n, mu: &mu, kappa: &kappa };
    let draws = Draws { key, series: &numbers, samples, first_sample: 0 };
    let points = whole.sample(draws).unwrap();
    let gradients = whole.pull_back(draws, &points, &kappa).unwrap();
    for b in 0..series {
        let alone = PowerSphericalStart { dim: n, mu: &mu[b * n..(b + 1) * n], kappa: &kappa[b..=b] };
        for sample in 0..samples {
            let draws = Draws { key, series: &numbers[b..=b], samples: 1, first_sample: sample as u32 };
            let point = alone.sample(draws).unwrap();
            assert_eq!(bits(&point), bits(&points[(sample * series + b) * n..][..n]));
        }
        let draws = Draws { key, series: &numbers[b..=b], samples, first_sample: 0 };
        let of_points: Vec<f32> =
            (0..samples).flat_map(|s| points[(s * series + b) * n..][..n].to_vec()).collect();
        let pulled = alone.pull_back(draws, &of_points, &kappa[b..=b]).unwrap();
        assert_eq!(bits(&pulled.location), bits(&gradients.location[b * n..(b + 1) * n]));
        assert_eq!(bits(&pulled.spread), bits(&gradients.spread[b..=b]));
    }
}
