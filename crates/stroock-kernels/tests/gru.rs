//! The gated recurrent unit: against a plain loop, by finite differences, to the last bit over threads and
//! splits, in both precisions and at every level, and on bad input.

use proptest::prelude::*;
use stroock_kernels::argument::ArgumentError;
use stroock_kernels::gru::{Gradients, GruError, GruProblem, GruReal, GruSolver, Recurrence, Weights};
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
    steps: usize,
    width: usize,
    hidden: usize,
    inputs: Vec<T>,
    w_ih: Vec<T>,
    w_hh: Vec<T>,
    b_ih: Vec<T>,
    b_hh: Vec<T>,
}

impl<T: GruReal> Batch<T> {
    fn new(series: usize, steps: usize, width: usize, hidden: usize) -> Self {
        Self {
            steps,
            width,
            hidden,
            inputs: scatters(1, series * steps * width, 2.0),
            w_ih: scatters(2, 3 * hidden * width, 1.5 / (width as f64).sqrt()),
            w_hh: scatters(3, 3 * hidden * hidden, 1.5 / (hidden as f64).sqrt()),
            b_ih: scatters(4, 3 * hidden, 0.5),
            b_hh: scatters(5, 3 * hidden, 0.5),
        }
    }

    fn problem(&self) -> GruProblem<'_, T> {
        let weights = Weights { w_ih: &self.w_ih, w_hh: &self.w_hh, b_ih: &self.b_ih, b_hh: &self.b_hh };
        let Self { steps, width, hidden, ref inputs, .. } = *self;
        GruProblem { steps, width, hidden, inputs, weights }
    }

    fn series(&self) -> usize {
        self.inputs.len() / (self.steps * self.width)
    }

    fn of_last(&self) -> Vec<T> {
        scatters(6, self.series() * self.hidden, 1.0)
    }

    fn run(&self, solver: GruSolver) -> (Recurrence<T>, Gradients<T>) {
        self.run_with(solver, &self.of_last())
    }

    fn run_with(&self, solver: GruSolver, of_last: &[T]) -> (Recurrence<T>, Gradients<T>) {
        let recurrence = solver.forward(&self.problem()).unwrap();
        let gradients = solver.backward(&self.problem(), &recurrence.tape, of_last).unwrap();
        (recurrence, gradients)
    }
}

fn all<T: Clone>((recurrence, gradients): &(Recurrence<T>, Gradients<T>)) -> [Vec<T>; 6] {
    let Gradients { inputs, w_ih, w_hh, b_ih, b_hh } = gradients;
    [&recurrence.last, inputs, w_ih, w_hh, b_ih, b_hh].map(Vec::clone)
}

const NAMES: [&str; 6] = ["last", "inputs", "w_ih", "w_hh", "b_ih", "b_hh"];

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.is_available())
}

/// The definition, one number at a time.
fn plain(batch: &Batch<f64>) -> Vec<f64> {
    let (width, hidden) = (batch.width, batch.hidden);
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let mut last = Vec::new();
    for sequence in batch.inputs.chunks(batch.steps * width) {
        let mut h = vec![0.0; hidden];
        for x in sequence.chunks(width) {
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
        }
        last.extend(h);
    }
    last
}

#[test]
fn states_follow_the_definition() {
    for (series, steps, width, hidden) in [(1, 1, 1, 1), (7, 20, 3, 5), (5, 33, 19, 16), (13, 8, 41, 35)] {
        let batch = Batch::<f64>::new(series, steps, width, hidden);
        let expected = plain(&batch);
        for level in levels() {
            let recurrence = GruSolver { level }.forward(&batch.problem()).unwrap();
            assert_close("last", &recurrence.last, &expected, 1e-12);
        }
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    for (series, steps, width, hidden) in [(2, 5, 3, 4), (6, 19, 2, 3), (1, 1, 1, 1)] {
        let batch = Batch::<f64>::new(series, steps, width, hidden);
        let of_last = batch.of_last();
        let (_, gradients) = batch.run(GruSolver::default());
        let loss = |change: &dyn Fn(&mut Batch<f64>)| {
            let mut batch = batch.clone();
            change(&mut batch);
            let last = GruSolver::default().forward(&batch.problem()).unwrap().last;
            last.iter().zip(&of_last).map(|(h, g)| h * g).sum::<f64>()
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
}

#[test]
fn threads_do_not_change_a_bit() {
    let batch = Batch::<f32>::new(23, 37, 11, 20);
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

#[test]
fn a_split_of_the_batch_does_not_change_a_bit() {
    let batch = Batch::<f32>::new(13, 21, 9, 17);
    let (sequence, hidden, of_last) = (batch.steps * batch.width, batch.hidden, batch.of_last());
    for level in levels() {
        let solver = GruSolver { level };
        let (whole, whole_gradients) = batch.run(solver);
        for cuts in [vec![0, 1, 13], vec![0, 6, 11, 13], (0..=13).collect::<Vec<usize>>()] {
            let [mut last, mut inputs] = [Vec::new(), Vec::new()];
            for cut in cuts.windows(2) {
                let mut part = batch.clone();
                part.inputs = batch.inputs[cut[0] * sequence..cut[1] * sequence].to_vec();
                let (recurrence, gradients) =
                    part.run_with(solver, &of_last[cut[0] * hidden..cut[1] * hidden]);
                last.extend(recurrence.last);
                inputs.extend(gradients.inputs);
            }
            assert!(last == whole.last, "{level:?} {cuts:?}");
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
        (error(|b| b.steps = 0), "steps"),
        (error(|b| b.width = 0), "width"),
        (error(|b| b.hidden = 0), "hidden"),
        (error(|b| b.hidden = usize::MAX), "weights.w_ih"),
        (error(|b| b.steps = usize::MAX), "inputs"),
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
        let error = GruSolver { level }.forward(&batch.problem()).map(|_| ()).unwrap_err();
        assert_eq!(error, GruError::Overflow { series: 5 });
    }
}

#[test]
fn gradients_and_tapes_are_checked() {
    let (batch, longer) = (Batch::<f32>::new(2, 3, 4, 5), Batch::<f32>::new(2, 4, 4, 5));
    let solver = GruSolver::default();
    let recurrence = solver.forward(&batch.problem()).unwrap();
    assert!(!recurrence.tape.is_empty() && recurrence.tape.len() > recurrence.last.len());
    let backward = |problem, of_last: &[f32]| {
        solver.backward(&problem, &recurrence.tape, of_last).map(|_| ()).unwrap_err()
    };
    assert_eq!(
        backward(batch.problem(), &[0.0; 9]),
        ArgumentError::Length { argument: "of_last", shape: "[series, hidden]", expected: 10, actual: 9 }
            .into()
    );
    assert_eq!(
        backward(batch.problem(), &[f32::NAN; 10]),
        ArgumentError::NotFinite { argument: "of_last", index: 0 }.into()
    );
    assert_eq!(backward(longer.problem(), &[0.0; 10]), GruError::ForeignTape);
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
        extents in prop::array::uniform4(0usize..6),
        scale in prop::sample::select(vec![0.0f32, 1e-20, 1.0, 1e3, 1e18, 1e38, f32::NAN]),
        change in -1isize..2,
        argument in 0usize..5,
    ) {
        let [series, steps, width, hidden] = extents;
        let mut batch = Batch::<f32>::new(series, steps, width.max(1), hidden.max(1));
        (batch.width, batch.hidden) = (width, hidden);
        batch.w_hh.iter_mut().for_each(|w| *w *= scale);
        let values =
            [&mut batch.inputs, &mut batch.w_ih, &mut batch.w_hh, &mut batch.b_ih, &mut batch.b_hh];
        let changed = values.into_iter().nth(argument).unwrap();
        changed.resize(changed.len().saturating_add_signed(change), 0.1);
        if let Ok(recurrence) = GruSolver::default().forward(&batch.problem()) {
            prop_assert!(recurrence.last.iter().all(|h| h.abs() <= 1.0));
            let of_last = vec![1.0; recurrence.last.len()];
            let gradients = GruSolver::default().backward(&batch.problem(), &recurrence.tape, &of_last);
            let gradients = gradients.expect("what has gone forward goes backward");
            prop_assert_eq!(gradients.inputs.len(), batch.inputs.len());
            prop_assert_eq!(gradients.w_hh.len(), batch.w_hh.len());
        }
    }
}
