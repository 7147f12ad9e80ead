//! Two gated recurrent units that read a sequence from both ends.

use burn::module::Module;
use burn::tensor::Tensor;
use rayon::prelude::*;
use stroock_kernels::gru::{Direction, GruError, GruProblem, GruSolver, Tape};

use super::recurrence::Recurrence;
use super::{Gru, GruConfig};
use crate::fused::{self, Computed, Evaluated, FusedReal, Operation};
use crate::initial::InitialWeights;

/// Sizes of a [`BidirectionalGru`].
#[derive(Clone, Copy, Debug)]
pub struct BidirectionalGruConfig {
    /// Width `D` of the input.
    pub width: usize,
    /// Units `H` of each direction.
    pub hidden: usize,
}

/// A gated recurrent unit that reads from the first row to the last, and one that reads from the last to the first:
/// together, their states at a row know the whole sequence.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use stroock::encoder::BidirectionalGruConfig;
/// use stroock::initial::InitialWeights;
///
/// let device = Device::flex();
/// let unit = BidirectionalGruConfig { width: 3, hidden: 4 }.init(&mut InitialWeights::new(1, &device));
/// // A sequence of three rows and one of two.
/// let states = unit.states(Tensor::ones([5, 3], &device), &[0, 3, 5])?;
/// assert_eq!(states.dims(), [5, 8]);
/// # Ok::<(), stroock_kernels::gru::GruError>(())
/// ```
#[derive(Module, Debug)]
pub struct BidirectionalGru {
    /// Reads from the first row on.
    pub forward: Gru,
    /// Reads from the last row on.
    pub backward: Gru,
}

impl BidirectionalGruConfig {
    /// Initialises both units, uniformly in `+-1/sqrt(H)`.
    pub fn init(&self, weights: &mut InitialWeights) -> BidirectionalGru {
        let unit = GruConfig { width: self.width, hidden: self.hidden };
        BidirectionalGru { forward: unit.init(weights), backward: unit.init(weights) }
    }
}

impl BidirectionalGru {
    /// The states `[N, 2 H]` at every row of `inputs` `[N, D]`: after this row and those before it, then after this
    /// row and those behind it.
    ///
    /// Sequence `b` has the rows `offsets[b] .. offsets[b + 1]`, which may be none.
    ///
    /// # Errors
    /// When the inputs or the offsets do not fit.
    pub fn states(&self, inputs: Tensor<2>, offsets: &[usize]) -> Result<Tensor<2>, GruError> {
        let Self { forward, backward } = self;
        let width = inputs.dims()[1];
        let operation = BothWays {
            forward: forward.over(width, offsets, Direction::Forward),
            backward: backward.over(width, offsets, Direction::Backward),
        };
        let both = |weight: fn(&Gru) -> Tensor<2>| Tensor::cat(vec![weight(forward), weight(backward)], 0);
        let biases = |bias: fn(&Gru) -> Tensor<1>| Tensor::cat(vec![bias(forward), bias(backward)], 0);
        fused::apply(
            operation,
            [
                inputs.into_dispatch(),
                both(|unit| unit.w_ih.val()).into_dispatch(),
                both(|unit| unit.w_hh.val()).into_dispatch(),
                biases(|unit| unit.b_ih.val()).into_dispatch(),
                biases(|unit| unit.b_hh.val()).into_dispatch(),
            ],
        )
    }
}

/// Both recurrences over the same inputs, of weights on top of each other. As one operation they need no copies of all
/// states by a single thread.
#[derive(Debug)]
struct BothWays {
    forward: Recurrence,
    backward: Recurrence,
}

impl BothWays {
    /// The problems of both directions.
    fn problems<'a, T>(&'a self, [inputs, weights @ ..]: [&'a [T]; 5]) -> [GruProblem<'a, T>; 2] {
        let halves = weights.map(|weights| weights.split_at(weights.len() / 2));
        let ([f0, f1, f2, f3], [b0, b1, b2, b3]) = (halves.map(|half| half.0), halves.map(|half| half.1));
        [self.forward.problem([inputs, f0, f1, f2, f3]), self.backward.problem([inputs, b0, b1, b2, b3])]
    }
}

impl Operation<5> for BothWays {
    type Tape<T: FusedReal> = [Tape<T>; 2];
    type Error = GruError;

    fn forward<T: FusedReal>(
        &self,
        inputs: [&[T]; 5],
        _: [&[usize]; 5],
    ) -> Result<Evaluated<T, [Tape<T>; 2]>, GruError> {
        let solver = GruSolver::default();
        let [forward, backward] = self.problems(inputs);
        let (forward, backward) = rayon::join(|| solver.forward(&forward), || solver.forward(&backward));
        let (forward, backward) = (forward?, backward?);
        let hidden = self.forward.hidden;
        let mut output = vec![T::zero(); 2 * forward.states.len()];
        let states = forward.states.par_chunks_exact(hidden).zip(backward.states.par_chunks_exact(hidden));
        output.par_chunks_exact_mut(2 * hidden).zip(states).for_each(|(row, (f, b))| {
            row[..hidden].copy_from_slice(f);
            row[hidden..].copy_from_slice(b);
        });
        let shape = vec![forward.states.len() / hidden, 2 * hidden];
        Ok(Evaluated { output, shape, tape: [forward.tape, backward.tape] })
    }

    fn backward<T: FusedReal>(
        &self,
        computed: Computed<'_, T, [Tape<T>; 2], 5>,
        of_states: &[T],
        _: [bool; 5],
    ) -> Result<[Vec<T>; 5], GruError> {
        let hidden = self.forward.hidden;
        let half = |first: usize| {
            let mut half = vec![T::zero(); of_states.len() / 2];
            let rows = half.par_chunks_exact_mut(hidden).zip(of_states.par_chunks_exact(2 * hidden));
            rows.for_each(|(half, row)| half.copy_from_slice(&row[first..first + hidden]));
            half
        };
        let solver = GruSolver::default();
        let ([forward, backward], [f_tape, b_tape]) = (self.problems(computed.inputs), computed.tape);
        let (f, b) = rayon::join(
            || solver.backward(&forward, f_tape, &half(0)),
            || solver.backward(&backward, b_tape, &half(hidden)),
        );
        let (mut f, b) = (f?, b?);
        f.inputs.par_iter_mut().zip(&b.inputs).for_each(|(sum, part)| *sum += *part);
        let both = |f: Vec<T>, b: Vec<T>| [f, b].concat();
        Ok([f.inputs, both(f.w_ih, b.w_ih), both(f.w_hh, b.w_hh), both(f.b_ih, b.b_ih), both(f.b_hh, b.b_hh)])
    }
}
