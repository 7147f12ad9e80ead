//! Time attention: against a dense masked softmax, by finite differences, to the last bit over threads and
//! splits, in both precisions and at every level, and on bad input.

mod encoder;

use encoder::Ragged;
use proptest::prelude::*;
use stroock_kernels::argument::ArgumentError;
use stroock_kernels::attention::{
    Attended, AttentionError, AttentionReal, AttentionSolver, Gradients, ValueGradient,
};
use stroock_kernels::simd::Level;
use stroock_testing::finite_difference::{assert_close, gradient};

fn doubles<T: AttentionReal>(values: &[T]) -> Vec<f64> {
    values.iter().map(|x| x.as_f64()).collect()
}

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.is_available())
}

fn run<T: AttentionReal>(solver: AttentionSolver, ragged: &Ragged<T>) -> (Attended<T>, Gradients<T>) {
    let attended = solver.forward(&ragged.problem()).unwrap();
    let of_output: Vec<T> = attended.output.iter().map(|x| x.sin() + T::of(0.3)).collect();
    let problem = ragged.problem();
    let gradients = solver.backward(&problem, &attended.tape, &of_output, ValueGradient::Computed).unwrap();
    (attended, gradients)
}

fn all<T: Clone>((attended, gradients): &(Attended<T>, Gradients<T>)) -> [Vec<T>; 4] {
    let values = gradients.values.as_ref().expect("the gradient of the values was asked for");
    [&attended.output, &gradients.queries, &gradients.keys, values].map(Vec::clone)
}

const NAMES: [&str; 4] = ["output", "queries", "keys", "values"];

/// Every channel as a softmax over all points of the series, with the scores of missing entries at -1e9.
fn dense(ragged: &Ragged<f64>) -> Vec<f64> {
    let (width, channels) = (ragged.width, ragged.channels);
    let mut output = Vec::new();
    for (b, points) in ragged.point_offsets.windows(2).enumerate() {
        let own = points[0]..points[1];
        for query in ragged.queries.chunks(width) {
            for c in 0..channels {
                let run = b * channels + c;
                let entries = &ragged.points[ragged.offsets[run]..ragged.offsets[run + 1]];
                let is_observed = |p: usize| entries.contains(&(p as u32));
                let scores: Vec<f64> = own
                    .clone()
                    .map(|p| {
                        let key = &ragged.keys[ragged.times[p] as usize * width..][..width];
                        let dot = query.iter().zip(key).map(|(q, k)| q * k).sum::<f64>();
                        if is_observed(p) { dot / (width as f64).sqrt() } else { -1e9 }
                    })
                    .collect();
                let maximum = scores.iter().fold(f64::NEG_INFINITY, |max, s| max.max(*s));
                let weights: Vec<f64> = scores.iter().map(|s| (s - maximum).exp()).collect();
                let attended = own.clone().zip(&weights).filter(|(p, _)| is_observed(*p));
                let sum: f64 = attended.map(|(p, w)| w * ragged.values[p * channels + c]).sum();
                output.push(if entries.is_empty() { 0.0 } else { sum / weights.iter().sum::<f64>() });
            }
        }
    }
    output
}

/// Batches with empty series, empty channels, single points, and more or fewer reference points than lanes.
fn batches() -> Vec<Ragged<f64>> {
    [(1, 1, 1, 1), (3, 4, 2, 5), (5, 33, 6, 3), (9, 128, 7, 41)]
        .into_iter()
        .map(|(series, references, width, channels)| Ragged::new(series, references, width, channels))
        .collect()
}

/// Queries and keys so large that most weights vanish beside the largest one of the series.
fn steep(ragged: &Ragged<f64>, scale: f64) -> Ragged<f64> {
    let mut steep = ragged.clone();
    steep.keys.iter_mut().for_each(|k| *k *= scale);
    steep
}

#[test]
fn outputs_are_those_of_a_dense_masked_softmax() {
    for ragged in batches() {
        for scale in [1.0, 1e2, 1e4] {
            let ragged = steep(&ragged, scale);
            let expected = dense(&ragged);
            for level in levels() {
                let solver = AttentionSolver { level };
                let output = solver.forward(&ragged.problem()).unwrap().output;
                assert_close("double", &output, &expected, 1e-11);
            }
        }
    }
}

/// A channel far below the largest score of its series: its softmax is computed again, not lost.
#[test]
fn vanishing_weights_are_computed_again() {
    let ragged = Ragged {
        width: 1,
        channels: 2,
        queries: vec![1.0, -1.0, 0.5],
        keys: vec![0.0, 2000.0, 2001.0],
        values: vec![1.0, 0.0, 3.0, 0.0, 0.0, 5.0],
        offsets: vec![0, 2, 3],
        points: vec![0, 1, 2],
        times: vec![0, 0, 1],
        point_offsets: vec![0, 3],
    };
    for level in levels() {
        let solver = AttentionSolver { level };
        let single = solver.forward(&ragged.single().problem()).unwrap();
        assert_eq!(single.output, [2.0, 5.0, 2.0, 5.0, 2.0, 5.0]);
        let double = solver.forward(&ragged.problem()).unwrap();
        assert_eq!(double.output, [2.0, 5.0, 2.0, 5.0, 2.0, 5.0]);
        let gradients = all(&run(solver, &ragged.single()));
        for (single, double) in gradients.iter().zip(all(&run(solver, &ragged))) {
            assert_close("steep", &doubles(single), &double, 2e-4);
        }
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let small = Ragged::<f64>::new(3, 5, 4, 3);
    // The second: a channel of the last series lies so far below the rest that it is computed again.
    for (ragged, h) in [(small.clone(), 1e-3), (steep_channel(small), 1e-4)] {
        let problem = ragged.problem();
        let solver = AttentionSolver::default();
        let attended = solver.forward(&problem).unwrap();
        let of_output: Vec<f64> = (0..attended.output.len()).map(|i| encoder::scatter(9, i)).collect();
        let gradients =
            solver.backward(&problem, &attended.tape, &of_output, ValueGradient::Computed).unwrap();
        let difference = |name, actual: &[f64], x: &[f64], set: fn(&mut Ragged<f64>, &[f64])| {
            let expected = gradient(x, h, |x| {
                let mut changed = ragged.clone();
                set(&mut changed, x);
                let output = solver.forward(&changed.problem()).unwrap().output;
                output.iter().zip(&of_output).map(|(x, g)| x * g).sum()
            });
            assert_close(name, actual, &expected, 1e-8);
        };
        difference("queries", &gradients.queries, &ragged.queries, |r, x| r.queries.copy_from_slice(x));
        difference("keys", &gradients.keys, &ragged.keys, |r, x| r.keys.copy_from_slice(x));
        let values = gradients.values.unwrap();
        difference("values", &values, &ragged.values, |r, x| r.values.copy_from_slice(x));
        let skipped = solver.backward(&problem, &attended.tape, &of_output, ValueGradient::Skipped).unwrap();
        assert_eq!(skipped.keys, gradients.keys);
        assert_eq!(skipped.values, None);
    }
}

/// Moves the time of the last point of the last series, and of nothing else, far away, and leaves one
/// channel unobserved there.
fn steep_channel(mut ragged: Ragged<f64>) -> Ragged<f64> {
    let last = ragged.times.len() - 1;
    ragged.times[last] = (ragged.keys.len() / ragged.width) as u32;
    let far: Vec<f64> = ragged.queries[..ragged.width].iter().map(|q| 4000.0 * q).collect();
    ragged.keys.extend(far);
    let run = ragged.offsets.len() - 2;
    let own = ragged.offsets[run]..ragged.offsets[run + 1];
    let place = own.clone().find(|&i| ragged.points[i] as usize == last);
    if let Some(place) = place {
        ragged.points.remove(place);
        *ragged.offsets.last_mut().unwrap() -= 1;
    }
    assert!(ragged.offsets[run + 1] - ragged.offsets[run] >= 2, "the channel is observed elsewhere");
    ragged
}

#[test]
fn threads_do_not_change_a_bit() {
    let ragged = Ragged::<f64>::new(23, 40, 8, 6);
    for scale in [1.0, 300.0] {
        let ragged = steep(&ragged, scale).single();
        for level in levels() {
            let with_threads = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                all(&pool.install(|| run(AttentionSolver { level }, &ragged)))
            };
            let one = with_threads(1);
            for threads in [2, 3] {
                assert!(one == with_threads(threads), "{level:?}, {threads} threads");
            }
        }
    }
}

#[test]
fn a_split_of_the_batch_does_not_change_a_bit() {
    let ragged = Ragged::<f64>::new(13, 40, 8, 6);
    for scale in [1.0, 300.0] {
        let ragged = steep(&ragged, scale).single();
        for level in levels() {
            let solver = AttentionSolver { level };
            let [output, _, _, values] = all(&run(solver, &ragged));
            for cuts in [vec![0, 1, 13], vec![0, 6, 11, 13], (0..=13).collect::<Vec<usize>>()] {
                let [mut joined, mut joined_values] = [Vec::new(), Vec::new()];
                for cut in cuts.windows(2) {
                    let [output, _, _, values] = all(&run(solver, &ragged.part(cut[0]..cut[1])));
                    joined.extend(output);
                    joined_values.extend(values);
                }
                assert!(joined == output, "{level:?} {cuts:?}");
                assert!(joined_values == values, "{level:?} {cuts:?}");
            }
        }
    }
}

#[test]
fn precisions_and_instruction_sets_agree_within_rounding() {
    let ragged = Ragged::<f64>::new(11, 128, 32, 12);
    let exact = all(&run(AttentionSolver::default(), &ragged));
    for level in levels() {
        let rounded = all(&run(AttentionSolver { level }, &ragged.single()));
        for ((name, rounded), exact) in NAMES.iter().zip(&rounded).zip(&exact) {
            let largest = exact.iter().fold(0f64, |max, x| max.max(x.abs()));
            let error = doubles(rounded).iter().zip(exact).fold(0f64, |max, (a, e)| max.max((a - e).abs()));
            assert!(error < 3e-6 * largest, "{level:?} {name}: {error:e} of {largest:e}");
        }
        let doubles = all(&run(AttentionSolver { level }, &ragged));
        for ((name, other), exact) in NAMES.iter().zip(doubles).zip(&exact) {
            assert_close(name, &other, exact, 1e-12);
        }
    }
}

#[test]
fn a_batch_without_points_gives_zeros() {
    let ragged = Ragged::<f32> {
        width: 2,
        channels: 3,
        queries: vec![1.0; 4],
        keys: vec![],
        values: vec![],
        offsets: vec![0; 7],
        points: vec![],
        times: vec![],
        point_offsets: vec![0; 3],
    };
    let (attended, gradients) = run(AttentionSolver::default(), &ragged);
    assert_eq!(attended.output, [0.0; 12]);
    assert_eq!(gradients.queries, [0.0; 4]);
    assert!(gradients.keys.is_empty() && gradients.values == Some(vec![]));
}

#[test]
fn unobserved_values_are_not_read() {
    let mut ragged = Ragged::<f64>::new(4, 3, 2, 3);
    let before = AttentionSolver::default().forward(&ragged.problem()).unwrap().output;
    let mut observed = vec![false; ragged.values.len()];
    for (run, offsets) in ragged.offsets.windows(2).enumerate() {
        for &p in &ragged.points[offsets[0]..offsets[1]] {
            observed[p as usize * ragged.channels + run % ragged.channels] = true;
        }
    }
    let unobserved = ragged.values.iter_mut().zip(observed).filter(|(_, observed)| !observed);
    unobserved.for_each(|(x, _)| *x = f64::NAN);
    assert_eq!(AttentionSolver::default().forward(&ragged.problem()).unwrap().output, before);
}

fn error(change: impl FnOnce(&mut Ragged<f32>)) -> AttentionError {
    let mut ragged = Ragged::<f64>::new(3, 4, 2, 3).single();
    change(&mut ragged);
    AttentionSolver::default().forward(&ragged.problem()).map(|_| ()).unwrap_err()
}

#[test]
fn arguments_are_named() {
    let cases = [
        (error(|r| r.width = 0), "width"),
        (error(|r| r.width = usize::MAX), "queries"),
        (error(|r| r.channels = 0), "channels"),
        (error(|r| r.channels = usize::MAX), "values"),
        (error(|r| r.queries.clear()), "queries"),
        (error(|r| _ = r.queries.pop()), "queries"),
        (error(|r| r.queries[1] = f32::NAN), "queries"),
        (error(|r| _ = r.keys.pop()), "keys"),
        (error(|r| r.keys[0] = f32::INFINITY), "keys"),
        (error(|r| r.keys.clear()), "keys"),
        (error(|r| _ = r.values.pop()), "values"),
        (error(|r| r.values.iter_mut().for_each(|x| *x = f32::NAN)), "values"),
        (error(|r| r.offsets[0] = 1), "entries.offsets"),
        (error(|r| _ = r.offsets.pop()), "entries.offsets"),
        (error(|r| r.offsets[4] = usize::MAX), "entries.offsets"),
        (error(|r| _ = r.points.pop()), "entries.points"),
        (error(|r| r.points[0] = u32::MAX), "entries.points"),
        (error(|r| *r.points.last_mut().unwrap() = 0), "entries.points"),
        (error(|r| _ = r.times.pop()), "entries.times"),
        (error(|r| r.times[0] = u32::MAX), "entries.times"),
        (error(|r| r.point_offsets.clear()), "entries.point_offsets"),
        (error(|r| r.point_offsets.truncate(1)), "entries.point_offsets"),
        (error(|r| r.point_offsets[0] = 1), "entries.point_offsets"),
        (error(|r| r.point_offsets[1] = usize::MAX), "entries.point_offsets"),
        (error(|r| r.keys.iter_mut().chain(&mut r.queries).for_each(|k| *k *= 1e38)), "keys"),
    ];
    for (error, argument) in cases {
        let message = error.to_string();
        assert!(message.contains(&format!("`{argument}`")), "`{message}` does not name `{argument}`");
    }
}

#[test]
fn gradients_and_tapes_are_checked() {
    let [ragged, other] = [3, 4].map(|series| Ragged::<f64>::new(series, 4, 2, 3));
    let solver = AttentionSolver::default();
    let attended = solver.forward(&ragged.problem()).unwrap();
    assert!(!attended.tape.is_empty() && attended.tape.len() > attended.output.len());
    let backward = |ragged: &Ragged<f64>, of_output: &[f64]| {
        let gradients = solver.backward(&ragged.problem(), &attended.tape, of_output, ValueGradient::Skipped);
        gradients.map(|_| ()).unwrap_err()
    };
    let error = backward(&ragged, &[0.0; 35]);
    assert!(
        matches!(
            error,
            AttentionError::Argument(ArgumentError::Length { argument: "of_output", expected: 36, .. })
        ),
        "{error}"
    );
    let error = backward(&ragged, &[f64::NAN; 36]);
    assert_eq!(error, ArgumentError::NotFinite { argument: "of_output", index: 0 }.into());
    assert_eq!(backward(&other, &[0.0; 48]), AttentionError::ForeignTape);
}

proptest! {
    /// Whatever the numbers, a problem gives averages of its values or an error.
    #[test]
    fn random_problems_never_panic(
        extents in prop::array::uniform4(0usize..6),
        scale in prop::sample::select(vec![0.0f64, 1e-20, 1.0, 1e3, 1e20, f64::NAN]),
        change in -1isize..2,
        argument in 0usize..7,
        index in any::<prop::sample::Index>(),
        number in prop::sample::select(vec![0usize, 1, 3, 7, usize::MAX]),
    ) {
        let [series, references, width, channels] = extents;
        let mut ragged = Ragged::<f64>::new(series, references, width.max(1), channels.max(1)).single();
        (ragged.width, ragged.channels) = (width, channels);
        ragged.keys.iter_mut().for_each(|k| *k *= scale as f32);
        let resize = |values: &mut Vec<f32>| values.resize(values.len().saturating_add_signed(change), 0.1);
        match argument {
            0 => resize(&mut ragged.queries),
            1 => resize(&mut ragged.keys),
            2 => resize(&mut ragged.values),
            3 if !ragged.offsets.is_empty() => *index.get_mut(&mut ragged.offsets) = number,
            4 if !ragged.points.is_empty() => *index.get_mut(&mut ragged.points) = number as u32,
            5 if !ragged.times.is_empty() => *index.get_mut(&mut ragged.times) = number as u32,
            6 if !ragged.point_offsets.is_empty() => *index.get_mut(&mut ragged.point_offsets) = number,
            _ => {}
        }
        let solver = AttentionSolver::default();
        if let Ok(attended) = solver.forward(&ragged.problem()) {
            prop_assert!(attended.output.iter().all(|x| x.abs() <= 1.001));
            let of_output = vec![1.0; attended.output.len()];
            let problem = ragged.problem();
            let gradients = solver.backward(&problem, &attended.tape, &of_output, ValueGradient::Computed);
            let gradients = gradients.expect("what has gone forward goes backward");
            prop_assert_eq!(gradients.queries.len(), ragged.queries.len());
            prop_assert_eq!(gradients.keys.len(), ragged.keys.len());
        }
    }
}
