//! The gated recurrent unit.

use burn::module::{Param, ParamId};
use burn::tensor::{Device, Tensor};
use stroock::encoder::Gru;
use stroock::plain;

use crate::agreement::{assert_agreement, assert_near};
use crate::numbers::{doubles, tensor, uniform};

/// A unit whose parameters are results of other operations.
fn unit([w_ih, w_hh]: [Tensor<2>; 2], [b_ih, b_hh]: [Tensor<1>; 2]) -> Gru {
    let matrix = |tensor| Param::initialized(ParamId::new(), tensor);
    let vector = |tensor| Param::initialized(ParamId::new(), tensor);
    Gru { w_ih: matrix(w_ih), w_hh: matrix(w_hh), b_ih: vector(b_ih), b_hh: vector(b_hh) }
}

#[test]
fn last_states() {
    // Seven series are more than a thread runs side by side.
    for [series, steps, width, hidden] in [[7, 6, 3, 5], [1, 2, 1, 1], [2, 9, 4, 17]] {
        let leaves = [
            ("inputs", uniform(series * steps * width, 1)),
            ("w_ih", uniform(3 * hidden * width, 2)),
            ("w_hh", uniform(3 * hidden * hidden, 3)),
            ("b_ih", uniform(3 * hidden, 4)),
            ("b_hh", uniform(3 * hidden, 5)),
        ];
        let inputs = |leaf: &Tensor<1>| leaf.clone().reshape([series, steps, width]);
        let matrix = |leaf: &Tensor<1>| leaf.clone().reshape([3 * hidden, leaf.dims()[0] / (3 * hidden)]);
        assert_agreement(
            &format!("{series} series, {steps} steps, {width} inputs, {hidden} units"),
            &leaves,
            |l| {
                let unit = unit([matrix(&l[1]), matrix(&l[2])], [l[3].clone(), l[4].clone()]);
                unit.forward(inputs(&l[0])).unwrap().flatten(0, 1)
            },
            |l| {
                let (w_ih, w_hh) = (matrix(&l[1]), matrix(&l[2]));
                let last = plain::last_state(inputs(&l[0]), w_ih, w_hh, l[3].clone(), l[4].clone());
                last.unwrap().flatten(0, 1)
            },
        );
    }
}

#[test]
fn a_single_step_from_the_zero_state() {
    let device = Device::flex();
    let inputs = tensor(&uniform(4, 1), [2, 1, 2], &device);
    let weights = [tensor(&uniform(18, 2), [9, 2], &device), tensor(&uniform(27, 3), [9, 3], &device)];
    let biases = [4, 5].map(|seed| tensor(&uniform(9, seed), [9], &device));
    let [w_ih, w_hh] = weights.clone();
    let [b_ih, b_hh] = biases.clone();
    let fused = doubles(unit(weights, biases).forward(inputs.clone()).unwrap());
    let plain = doubles(plain::last_state(inputs, w_ih, w_hh, b_ih, b_hh).unwrap());
    assert_near("one step", &fused, &plain, 1e-14);
}

#[test]
fn shapes_that_do_not_fit_are_errors() {
    let device = Device::flex();
    let run = |inputs: [usize; 3], w_ih: [usize; 2], w_hh: [usize; 2], b: usize| {
        let bias = Tensor::zeros([b], &device);
        let (w_ih, w_hh) = (Tensor::zeros(w_ih, &device), Tensor::zeros(w_hh, &device));
        plain::last_state(Tensor::zeros(inputs, &device), w_ih, w_hh, bias.clone(), bias).is_ok()
    };
    assert!(run([2, 3, 4], [6, 4], [6, 2], 6));
    assert!(!run([2, 3, 5], [6, 4], [6, 2], 6));
    assert!(!run([2, 3, 4], [6, 4], [6, 3], 6));
    assert!(!run([2, 3, 4], [6, 4], [6, 2], 2));
    assert!(!run([2, 0, 4], [6, 4], [6, 2], 6));
}
