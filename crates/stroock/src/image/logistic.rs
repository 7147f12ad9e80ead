//! Grey values from logits, with a kernel of their own.

use std::convert::Infallible;

use burn::tensor::Tensor;
use stroock_kernels::logistic::{logistic as squash, pull_back};

use crate::fused::{self, Computed, Evaluated, FusedReal, Operation};

/// `1 / (1 + e^{-x})` of every entry.
pub fn logistic<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    match fused::apply(Logistic, [x.into_dispatch()]) {
        Ok(y) => y,
        Err(never) => match never {},
    }
}

#[derive(Clone, Copy, Debug)]
struct Logistic;

impl Operation<1> for Logistic {
    type Tape<T: FusedReal> = ();
    type Error = Infallible;

    fn forward<T: FusedReal>(
        &self,
        [x]: [&[T]; 1],
        shapes: [&[usize]; 1],
    ) -> Result<Evaluated<T, ()>, Infallible> {
        Ok(Evaluated { output: squash(x), shape: shapes[0].to_vec(), tape: () })
    }

    fn backward<T: FusedReal>(
        &self,
        computed: Computed<'_, T, (), 1>,
        of_output: &[T],
        _: [bool; 1],
    ) -> Result<[Vec<T>; 1], Infallible> {
        Ok([pull_back(computed.output, of_output)])
    }
}
