//! The gated recurrent unit on sequences of equal and of any lengths: against a plain loop, by finite differences,
//! to the last bit over threads and neighbours, in both precisions and at every level, and on bad input.

use proptest::prelude::*;
use stroock_kernels::argument::ArgumentError;
use stroock_kernels::gru::{
    Direction, Gradients, GruError, GruProblem, GruReal, GruSolver, Recurrence, Requested, Weights,
};
use stroock_kernels::noise::philox;
use stroock_kernels::simd::Level;
use stroock_testing::finite_difference::{assert_close, gradient};

/// A number in (-1, 1) that depends on `seed` and `i` alone.
fn scatter(seed: u32, i: usize) -> f64 {
    f64::from(philox([i as u32, seed, 0, 0], [0x5EED, 0])[0] as i32) / 2f64.powi(31)
}

fn scatters<T: GruReal>(seed: u32, count: usize, scale: f64) -> Vec<T> {
    (0..count).map(|i| T::of(scale * scatter(seed, i))).collect()
}

fn doubles<T: GruReal>(values: &[T]) -> Vec<f64> {
    values.iter().map(|x| x.as_f64()).collect()
}

/// An owned problem.
#[derive(Clone)]
struct Batch<T> {
    offsets: Vec<usize>,
    direction: Direction,
    requested: Requested,
    width: usize,
    hidden: usize,
    inputs: Vec<T>,
    w_ih: Vec<T>,
    w_hh: Vec<T>,
    b_ih: Vec<T>,
    b_hh: Vec<T>,
}

impl<T: GruReal> Batch<T> {
    /// Sequences of the same length, of which the last state is wanted.
    fn new(series: usize, steps: usize, width: usize, hidden: usize) -> Self {
        Self::ragged(&vec![steps; series], width, hidden)
    }

    /// Sequences of these lengths.
    fn ragged(lengths: &[usize], width: usize, hidden: usize) -> Self {
        let mut offsets = vec![0];
        offsets.extend(lengths.iter().scan(0, |sum, length| {
            *sum += length;
            Some(*sum)
        }));
        Self {
            inputs: scatters(1, offsets[lengths.len()] * width, 2.0),
            offsets,
            direction: Direction::Forward,
            requested: Requested::Last,
            width,
            hidden,
            w_ih: scatters(2, 3 * hidden * width, 1.5 / (width as f64).sqrt()),
            w_hh: scatters(3, 3 * hidden * hidden, 1.5 / (hidden as f64).sqrt()),
            b_ih: scatters(4, 3 * hidden, 0.5),
            b_hh: scatters(5, 3 * hidden, 0.5),
        }
    }

    fn with(self, direction: Direction, requested: Requested) -> Self {
        Self { direction, requested, ..self }
    }

    fn problem(&self) -> GruProblem<'_, T> {
        let weights = Weights { w_ih: &self.w_ih, w_hh: &self.w_hh, b_ih: &self.b_ih, b_hh: &self.b_hh };
        let Self { ref offsets, direction, requested, width, hidden, ref inputs, .. } = *self;
        GruProblem { offsets, direction, requested, width, hidden, inputs, weights }
    }

    fn series(&self) -> usize {
        self.offsets.len() - 1
    }

    fn rows(&self) -> usize {
        self.offsets[self.series()]
    }

    /// A gradient of the states.
    fn of_states(&self) -> Vec<T> {
        let states = match self.requested {
            Requested::Last => self.series(),
            Requested::All => self.rows(),
        };
        scatters(6, states * self.hidden, 1.0)
    }

    fn run(&self, solver: GruSolver) -> (Recurrence<T>, Gradients<T>) {
        self.run_with(solver, &self.of_states())
    }

    fn run_with(&self, solver: GruSolver, of_states: &[T]) -> (Recurrence<T>, Gradients<T>) {
        let recurrence = solver.forward(&self.problem()).unwrap();
        let gradients = solver.backward(&self.problem(), &recurrence.tape, of_states).unwrap();
        (recurrence, gradients)
    }
}

fn all<T: Clone>((recurrence, gradients): &(Recurrence<T>, Gradients<T>)) -> [Vec<T>; 6] {
    let Gradients { inputs, w_ih, w_hh, b_ih, b_hh } = gradients;
    [&recurrence.states, inputs, w_ih, w_hh, b_ih, b_hh].map(Vec::clone)
}

const NAMES: [&str; 6] = ["states", "inputs", "w_ih", "w_hh", "b_ih", "b_hh"];

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.is_available())
}

const DIRECTIONS: [Direction; 2] = [Direction::Forward, Direction::Backward];

/// The definition, one number at a time.
fn plain(batch: &Batch<f64>) -> Vec<f64> {
    let (width, hidden) = (batch.width, batch.hidden);
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let mut states = vec![0.0; batch.rows() * hidden];
    let mut last = Vec::new();
    for rows in batch.offsets.windows(2) {
        let mut h = vec![0.0; hidden];
        let mut order: Vec<usize> = (rows[0]..rows[1]).collect();
        if batch.direction == Direction::Backward {
            order.reverse();
        }
        for row in order {
            let x = &batch.inputs[row * width..(row + 1) * width];
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let from_input =
                |row: usize| batch.b_ih[row] + dot(&batch.w_ih[row * width..(row + 1) * width], x);
            let from_hidden =
                |row: usize| batch.b_hh[row] + dot(&batch.w_hh[row * hidden..(row + 1) * hidden], &h);
            h = (0..hidden)
                .map(|j| {
                    let r = sigmoid(from_input(j) + from_hidden(j));
                    let z = sigmoid(from_input(hidden + j) + from_hidden(hidden + j));
                    let n = (from_input(2 * hidden + j) + r * from_hidden(2 * hidden + j)).tanh();
                    (1.0 - z) * n + z * h[j]
                })
                .collect();
            states[row * hidden..(row + 1) * hidden].copy_from_slice(&h);
        }
        last.extend(h);
    }
    match batch.requested {
        Requested::Last => last,
        Requested::All => states,
    }
}

#[test]
fn states_follow_the_definition() {
    for (series, steps, width, hidden) in [(1, 1, 1, 1), (7, 20, 3, 5), (5, 33, 19, 16), (13, 8, 41, 35)] {
        let batch = Batch::<f64>::new(series, steps, width, hidden);
        let expected = plain(&batch);
        for level in levels() {
            let recurrence = GruSolver { level }.forward(&batch.problem()).unwrap();
            assert_close("last", &recurrence.states, &expected, 1e-12);
        }
    }
}

/// Lengths of sequences: more than a group and more than a window, in any order, some of them 0.
const LENGTHS: [usize; 13] = [3, 0, 18, 1, 33, 5, 5, 0, 16, 40, 2, 17, 5];

#[test]
fn states_of_any_lengths_follow_the_definition() {
    for lengths in [&LENGTHS[..], &[1], &[4, 9], &[0, 0, 2]] {
        for (width, hidden) in [(1, 1), (3, 5), (19, 16), (9, 35)] {
            for direction in DIRECTIONS {
                for requested in [Requested::Last, Requested::All] {
                    let batch = Batch::<f64>::ragged(lengths, width, hidden).with(direction, requested);
                    let expected = plain(&batch);
                    for level in levels() {
                        let recurrence = GruSolver { level }.forward(&batch.problem()).unwrap();
                        let name = format!("{direction:?} {requested:?}");
                        assert_close(&name, &recurrence.states, &expected, 1e-12);
                    }
                }
            }
        }
    }
}

#[test]
fn the_last_states_are_the_last_of_all() {
    for direction in DIRECTIONS {
        let last = Batch::<f32>::ragged(&LENGTHS, 7, 18).with(direction, Requested::Last);
        let every = last.clone().with(direction, Requested::All);
        let hidden = last.hidden;
        let of_last = last.of_states();
        let mut of_all = vec![0.0; every.rows() * hidden];
        let place = |rows: &[usize]| match direction {
            Direction::Forward => rows[1] - 1,
            Direction::Backward => rows[0],
        };
        let full = || last.offsets.windows(2).enumerate().filter(|(_, rows)| rows[0] < rows[1]);
        for (b, rows) in full() {
            of_all[place(rows) * hidden..][..hidden].copy_from_slice(&of_last[b * hidden..][..hidden]);
        }
        for level in levels() {
            let solver = GruSolver { level };
            let (last_run, all_run) = (last.run_with(solver, &of_last), every.run_with(solver, &of_all));
            let mut expected = vec![0.0; last.series() * hidden];
            for (b, rows) in full() {
                let state = &all_run.0.states[place(rows) * hidden..][..hidden];
                expected[b * hidden..][..hidden].copy_from_slice(state);
            }
            assert!(last_run.0.states == expected, "{level:?} {direction:?}");
            assert!(all(&last_run)[1..] == all(&all_run)[1..], "{level:?} {direction:?}");
        }
    }
}

/// Backward is forward over the rows in the opposite order.
#[test]
fn backward_is_forward_over_reversed_sequences() {
    let batch = Batch::<f32>::ragged(&LENGTHS, 4, 9).with(Direction::Backward, Requested::All);
    let reverse = |values: &[f32], width: usize| -> Vec<f32> {
        let sequence = |rows: &[usize]| values[rows[0] * width..rows[1] * width].rchunks(width).flatten();
        batch.offsets.windows(2).flat_map(sequence).copied().collect()
    };
    let mut reversed = batch.clone().with(Direction::Forward, Requested::All);
    reversed.inputs = reverse(&batch.inputs, batch.width);
    let solver = GruSolver::default();
    let (states, gradients) = batch.run(solver);
    let (of_reversed, reversed_gradients) =
        reversed.run_with(solver, &reverse(&batch.of_states(), batch.hidden));
    assert!(reverse(&states.states, batch.hidden) == of_reversed.states);
    assert!(reverse(&gradients.inputs, batch.width) == reversed_gradients.inputs);
    assert!(gradients.w_ih == reversed_gradients.w_ih && gradients.w_hh == reversed_gradients.w_hh);
    assert!(gradients.b_ih == reversed_gradients.b_ih && gradients.b_hh == reversed_gradients.b_hh);
}

/// The bits that a kernel for sequences of the same length gave, the same at every level.
#[test]
fn equal_lengths_keep_their_bits() {
    let mut batch = Batch::<f64>::new(13, 37, 9, 17);
    batch.w_ih = scatters(2, 3 * 17 * 9, 0.5);
    batch.w_hh = scatters(3, 3 * 17 * 17, 0.375);
    let expected: [u64; 6] = [
        0x4302_7997_0f64_d582,
        0xb1a2_ae7b_d959_e301,
        0xe931_624b_6e77_ac9e,
        0x23d0_6cc6_5fcf_7a77,
        0xd45b_9d8e_596b_de2b,
        0x3e8c_d4a4_0500_bde6,
    ];
    for level in levels() {
        for ((name, values), expected) in NAMES.iter().zip(all(&batch.run(GruSolver { level }))).zip(expected)
        {
            let hash = |hash: u64, x: &f64| (hash ^ x.to_bits()).wrapping_mul(0x100_0000_01b3);
            let actual = values.iter().fold(0xcbf2_9ce4_8422_2325, hash);
            assert_eq!(actual, expected, "{level:?} {name}");
        }
    }
}

/// Compares the gradients of every argument.
fn check_gradients(batch: &Batch<f64>) {
    let of_states = batch.of_states();
    let (_, gradients) = batch.run(GruSolver::default());
    let loss = |change: &dyn Fn(&mut Batch<f64>)| {
        let mut batch = batch.clone();
        change(&mut batch);
        let states = GruSolver::default().forward(&batch.problem()).unwrap().states;
        states.iter().zip(&of_states).map(|(h, g)| h * g).sum::<f64>()
    };
    let difference = |name, actual: &[f64], x: &[f64], set: fn(&mut Batch<f64>, &[f64])| {
        let expected = gradient(x, 1e-3, |x| loss(&|batch| set(batch, x)));
        assert_close(name, actual, &expected, 1e-9);
    };
    difference("inputs", &gradients.inputs, &batch.inputs, |b, x| b.inputs.copy_from_slice(x));
    difference("w_ih", &gradients.w_ih, &batch.w_ih, |b, x| b.w_ih.copy_from_slice(x));
    difference("w_hh", &gradients.w_hh, &batch.w_hh, |b, x| b.w_hh.copy_from_slice(x));
    difference("b_ih", &gradients.b_ih, &batch.b_ih, |b, x| b.b_ih.copy_from_slice(x));
    difference("b_hh", &gradients.b_hh, &batch.b_hh, |b, x| b.b_hh.copy_from_slice(x));
}

#[test]
fn gradients_are_those_of_finite_differences() {
    for (series, steps, width, hidden) in [(2, 5, 3, 4), (6, 19, 2, 3), (1, 1, 1, 1)] {
        check_gradients(&Batch::new(series, steps, width, hidden));
    }
}

#[test]
fn gradients_of_any_lengths_are_those_of_finite_differences() {
    for (lengths, width, hidden) in [(&[3, 0, 18, 1, 7, 5, 2][..], 2, 3), (&[4, 2], 3, 5), (&[1], 1, 1)] {
        for direction in DIRECTIONS {
            for requested in [Requested::Last, Requested::All] {
                check_gradients(&Batch::ragged(lengths, width, hidden).with(direction, requested));
            }
        }
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let lengths: Vec<usize> = (0..23).map(|i| i * 29 % 41).collect();
    let ragged = Batch::<f32>::ragged(&lengths, 11, 20).with(Direction::Backward, Requested::All);
    for batch in [Batch::<f32>::new(23, 37, 11, 20), ragged] {
        for level in levels() {
            let with_threads = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                all(&pool.install(|| batch.run(GruSolver { level })))
            };
            let one = with_threads(1);
            for threads in [2, 3] {
                assert!(one == with_threads(threads), "{level:?}, {threads} threads");
            }
        }
    }
}

/// Each sequence alone, and in reversed company, has the states and the gradients that it has in the batch.
#[test]
fn neighbours_do_not_change_a_bit() {
    for direction in DIRECTIONS {
        let batch = Batch::<f32>::ragged(&LENGTHS, 9, 17).with(direction, Requested::All);
        let (width, hidden, of_states) = (batch.width, batch.hidden, batch.of_states());
        let backwards: Vec<usize> = (0..LENGTHS.len()).rev().collect();
        let alone = (0..LENGTHS.len()).map(|b| vec![b]);
        for level in levels() {
            let solver = GruSolver { level };
            let (whole, whole_gradients) = batch.run(solver);
            for chosen in alone.clone().chain([backwards.clone(), vec![9, 3], vec![2, 8, 11]]) {
                let pick = |values: &[f32], width: usize| -> Vec<f32> {
                    let sequence =
                        |&b: &usize| &values[batch.offsets[b] * width..batch.offsets[b + 1] * width];
                    chosen.iter().flat_map(sequence).copied().collect()
                };
                let lengths: Vec<usize> = chosen.iter().map(|&b| LENGTHS[b]).collect();
                let mut part = Batch::ragged(&lengths, width, hidden).with(direction, Requested::All);
                part.inputs = pick(&batch.inputs, width);
                let (recurrence, gradients) = part.run_with(solver, &pick(&of_states, hidden));
                assert!(recurrence.states == pick(&whole.states, hidden), "{level:?} {chosen:?}");
                assert!(gradients.inputs == pick(&whole_gradients.inputs, width), "{level:?} {chosen:?}");
            }
        }
    }
}

#[test]
fn a_split_of_the_batch_does_not_change_a_bit() {
    let batch = Batch::<f32>::new(13, 21, 9, 17);
    let (steps, hidden, of_last) = (21, batch.hidden, batch.of_states());
    let sequence = steps * batch.width;
    for level in levels() {
        let solver = GruSolver { level };
        let (whole, whole_gradients) = batch.run(solver);
        for cuts in [vec![0, 1, 13], vec![0, 6, 11, 13], (0..=13).collect::<Vec<usize>>()] {
            let [mut last, mut inputs] = [Vec::new(), Vec::new()];
            for cut in cuts.windows(2) {
                let mut part = Batch::new(cut[1] - cut[0], steps, batch.width, hidden);
                part.inputs = batch.inputs[cut[0] * sequence..cut[1] * sequence].to_vec();
                let (recurrence, gradients) =
                    part.run_with(solver, &of_last[cut[0] * hidden..cut[1] * hidden]);
                last.extend(recurrence.states);
                inputs.extend(gradients.inputs);
            }
            assert!(last == whole.states, "{level:?} {cuts:?}");
            assert!(inputs == whole_gradients.inputs, "{level:?} {cuts:?}");
        }
    }
}

#[test]
fn precisions_and_instruction_sets_agree_within_rounding() {
    let (single, double) = (Batch::<f32>::new(11, 128, 41, 40), Batch::<f64>::new(11, 128, 41, 40));
    let exact = all(&double.run(GruSolver::default()));
    for level in levels() {
        let rounded = all(&single.run(GruSolver { level }));
        for ((name, rounded), exact) in NAMES.iter().zip(&rounded).zip(&exact) {
            let largest = exact.iter().fold(0f64, |max, x| max.max(x.abs()));
            let error = doubles(rounded).iter().zip(exact).fold(0f64, |max, (a, e)| max.max((a - e).abs()));
            assert!(error < 1e-5 * largest, "{level:?} {name}: {error:e} of {largest:e}");
        }
        for ((name, other), exact) in NAMES.iter().zip(all(&double.run(GruSolver { level }))).zip(&exact) {
            assert_close(name, &other, exact, 1e-12);
        }
    }
}

fn error(change: impl FnOnce(&mut Batch<f32>)) -> GruError {
    let mut batch = Batch::new(2, 3, 4, 5);
    change(&mut batch);
    GruSolver::default().forward(&batch.problem()).map(|_| ()).unwrap_err()
}

#[test]
fn arguments_are_named() {
    let cases = [
        (error(|b| b.offsets.clear()), "offsets"),
        (error(|b| b.offsets.truncate(1)), "offsets"),
        (error(|b| b.offsets[0] = 1), "offsets"),
        (error(|b| b.offsets[1] = 7), "offsets"),
        (error(|b| b.width = 0), "width"),
        (error(|b| b.hidden = 0), "hidden"),
        (error(|b| b.hidden = usize::MAX), "weights.w_ih"),
        (error(|b| b.offsets[2] = usize::MAX), "inputs"),
        (error(|b| b.offsets[2] = 5), "inputs"),
        (error(|b| b.inputs.clear()), "inputs"),
        (error(|b| _ = b.inputs.pop()), "inputs"),
        (error(|b| b.inputs[3] = f32::NAN), "inputs"),
        (error(|b| _ = b.w_ih.pop()), "weights.w_ih"),
        (error(|b| b.w_ih[0] = f32::INFINITY), "weights.w_ih"),
        (error(|b| b.w_hh.push(0.0)), "weights.w_hh"),
        (error(|b| b.b_ih.clear()), "weights.b_ih"),
        (error(|b| b.b_hh[14] = f32::NAN), "weights.b_hh"),
    ];
    for (error, argument) in cases {
        let message = error.to_string();
        assert!(message.contains(&format!("`{argument}`")), "`{message}` does not name `{argument}`");
    }
}

/// In series 5 alone, units at 1 make `W_hn h` infinite while the reset gate is 0: their product has no value.
#[test]
fn an_overflow_stops() {
    let (width, hidden, steps) = (1, 2, 3);
    let mut batch = Batch::<f32>::new(7, steps, width, hidden);
    batch.w_ih.copy_from_slice(&[-1e3, -1e3, -1e3, -1e3, 1e3, 1e3]);
    batch.w_hh[2 * hidden * hidden..].fill(3e38);
    for values in [&mut batch.inputs, &mut batch.b_ih, &mut batch.b_hh] {
        values.fill(0.0);
    }
    batch.inputs[5 * steps..6 * steps].fill(1.0);
    for level in levels() {
        for (direction, requested) in DIRECTIONS.into_iter().zip([Requested::Last, Requested::All]) {
            let batch = batch.clone().with(direction, requested);
            let error = GruSolver { level }.forward(&batch.problem()).map(|_| ()).unwrap_err();
            assert_eq!(error, GruError::Overflow { series: 5 });
        }
    }
}

/// There is nothing to read, and nothing to pull back.
#[test]
fn sequences_without_rows_stay_at_zero() {
    let solver = GruSolver::default();
    for (requested, count) in [(Requested::Last, 3), (Requested::All, 0)] {
        let batch = Batch::<f32>::ragged(&[0; 3], 2, 5).with(Direction::Backward, requested);
        let (recurrence, gradients) = batch.run(solver);
        assert!(recurrence.states == vec![0.0; 5 * count] && recurrence.tape.is_empty());
        assert!(gradients.inputs.is_empty());
        assert!(gradients.w_ih == [0.0; 30] && gradients.w_hh == [0.0; 75]);
        assert!(gradients.b_ih == [0.0; 15] && gradients.b_hh == [0.0; 15]);
    }
}

#[test]
fn gradients_and_tapes_are_checked() {
    let (batch, longer) = (Batch::<f32>::new(2, 3, 4, 5), Batch::<f32>::new(2, 4, 4, 5));
    let solver = GruSolver::default();
    let recurrence = solver.forward(&batch.problem()).unwrap();
    assert!(!recurrence.tape.is_empty() && recurrence.tape.len() > recurrence.states.len());
    let backward = |problem: GruProblem<'_, f32>, of_states: &[f32]| {
        solver.backward(&problem, &recurrence.tape, of_states).map(|_| ()).unwrap_err()
    };
    assert_eq!(
        backward(batch.problem(), &[0.0; 9]),
        ArgumentError::Length { argument: "of_states", shape: "[series, hidden]", expected: 10, actual: 9 }
            .into()
    );
    assert_eq!(
        backward(batch.problem(), &[f32::NAN; 10]),
        ArgumentError::NotFinite { argument: "of_states", index: 0 }.into()
    );
    let every = batch.clone().with(Direction::Forward, Requested::All);
    assert_eq!(
        backward(every.problem(), &[0.0; 10]),
        ArgumentError::Length {
            argument: "of_states",
            shape: "[last offset, hidden]",
            expected: 30,
            actual: 10
        }
        .into()
    );
    let reversed = batch.clone().with(Direction::Backward, Requested::Last);
    for other in [longer, Batch::ragged(&[4, 2], 4, 5), reversed] {
        assert_eq!(backward(other.problem(), &[0.0; 10]), GruError::ForeignTape);
    }
    let other = GruSolver { level: Level::Portable };
    if solver.level != other.level {
        let error = other.backward(&batch.problem(), &recurrence.tape, &[0.0; 10]).map(|_| ()).unwrap_err();
        assert_eq!(error, GruError::ForeignTape);
    }
}

proptest! {
    /// Whatever the numbers, a problem gives states in [-1, 1] or an error.
    #[test]
    fn random_problems_never_panic(
        lengths in prop::collection::vec(0usize..6, 0..8),
        extents in prop::array::uniform2(0usize..6),
        direction in prop::sample::select(DIRECTIONS.to_vec()),
        requested in prop::sample::select(vec![Requested::Last, Requested::All]),
        scale in prop::sample::select(vec![0.0f32, 1e-20, 1.0, 1e3, 1e18, 1e38, f32::NAN]),
        change in -1isize..2,
        argument in 0usize..5,
        shift in -1isize..2,
        moved in 0usize..8,
    ) {
        let [width, hidden] = extents;
        let mut batch = Batch::<f32>::ragged(&lengths, width.max(1), hidden.max(1)).with(direction, requested);
        (batch.width, batch.hidden) = (width, hidden);
        batch.w_hh.iter_mut().for_each(|w| *w *= scale);
        if let Some(offset) = batch.offsets.get_mut(moved) {
            *offset = offset.saturating_add_signed(shift);
        }
        let values =
            [&mut batch.inputs, &mut batch.w_ih, &mut batch.w_hh, &mut batch.b_ih, &mut batch.b_hh];
        let changed = values.into_iter().nth(argument).unwrap();
        changed.resize(changed.len().saturating_add_signed(change), 0.1);
        if let Ok(recurrence) = GruSolver::default().forward(&batch.problem()) {
            prop_assert!(recurrence.states.iter().all(|h| h.abs() <= 1.0));
            let of_states = vec![1.0; recurrence.states.len()];
            let gradients = GruSolver::default().backward(&batch.problem(), &recurrence.tape, &of_states);
            let gradients = gradients.expect("what has gone forward goes backward");
            prop_assert_eq!(gradients.inputs.len(), batch.inputs.len());
            prop_assert_eq!(gradients.w_hh.len(), batch.w_hh.len());
        }
    }
}
