//! The gated recurrent unit.

use burn::module::{Param, ParamId};
use burn::tensor::{Device, Tensor};
use stroock::encoder::{BidirectionalGru, Direction, Gru};
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

/// Lengths of sequences: more than a thread runs side by side, one without rows, in no order.
const LENGTHS: [usize; 7] = [3, 0, 9, 1, 5, 5, 2];

fn offsets(lengths: &[usize]) -> Vec<usize> {
    (0..=lengths.len()).map(|b| lengths[..b].iter().sum()).collect()
}

#[test]
fn all_states_of_any_lengths() {
    for (lengths, width, hidden) in [(&LENGTHS[..], 3, 5), (&[2], 1, 1), (&[4, 9], 4, 17)] {
        let offsets = offsets(lengths);
        let rows = offsets[lengths.len()];
        let leaves = [
            ("inputs", uniform(rows * width, 1)),
            ("w_ih", uniform(3 * hidden * width, 2)),
            ("w_hh", uniform(3 * hidden * hidden, 3)),
            ("b_ih", uniform(3 * hidden, 4)),
            ("b_hh", uniform(3 * hidden, 5)),
        ];
        let inputs = |leaf: &Tensor<1>| leaf.clone().reshape([rows, width]);
        let matrix = |leaf: &Tensor<1>| leaf.clone().reshape([3 * hidden, leaf.dims()[0] / (3 * hidden)]);
        for direction in [Direction::Forward, Direction::Backward] {
            assert_agreement(
                &format!("{direction:?}, lengths {lengths:?}, {width} inputs, {hidden} units"),
                &leaves,
                |l| {
                    let unit = unit([matrix(&l[1]), matrix(&l[2])], [l[3].clone(), l[4].clone()]);
                    unit.states(inputs(&l[0]), &offsets, direction).unwrap().flatten(0, 1)
                },
                |l| {
                    let (w_ih, w_hh) = (matrix(&l[1]), matrix(&l[2]));
                    let (b_ih, b_hh) = (l[3].clone(), l[4].clone());
                    let states = plain::states(inputs(&l[0]), &offsets, direction, w_ih, w_hh, b_ih, b_hh);
                    states.unwrap().flatten(0, 1)
                },
            );
        }
    }
}

#[test]
fn states_from_both_ends() {
    let (width, hidden) = (2, 3);
    let offsets = offsets(&LENGTHS);
    let rows = offsets[LENGTHS.len()];
    let columns = 3 * hidden * (width + hidden + 2);
    let leaves = [
        ("inputs", uniform(rows * width, 1)),
        ("forward", uniform(columns, 2)),
        ("backward", uniform(columns, 3)),
    ];
    // All weights of a unit, one after the other.
    let weights = |leaf: &Tensor<1>| {
        let of = |from: usize, count: usize| leaf.clone().narrow(0, 3 * hidden * from, 3 * hidden * count);
        let matrix = |from: usize, count: usize| of(from, count).reshape([3 * hidden, count]);
        let matrices = [matrix(0, width), matrix(width, hidden)];
        (matrices, [of(width + hidden, 1), of(width + hidden + 1, 1)])
    };
    assert_agreement(
        "both directions",
        &leaves,
        |l| {
            let [forward, backward] = [&l[1], &l[2]].map(|leaf| {
                let (matrices, biases) = weights(leaf);
                unit(matrices, biases)
            });
            let both = BidirectionalGru { forward, backward };
            both.states(l[0].clone().reshape([rows, width]), &offsets).unwrap().flatten(0, 1)
        },
        |l| {
            let [forward, backward] =
                [(&l[1], Direction::Forward), (&l[2], Direction::Backward)].map(|(leaf, direction)| {
                    let ([w_ih, w_hh], [b_ih, b_hh]) = weights(leaf);
                    let inputs = l[0].clone().reshape([rows, width]);
                    plain::states(inputs, &offsets, direction, w_ih, w_hh, b_ih, b_hh).unwrap()
                });
            Tensor::cat(vec![forward, backward], 1).flatten(0, 1)
        },
    );
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

#[test]
fn offsets_that_do_not_fit_are_errors() {
    let device = Device::flex();
    let run = |rows: usize, offsets: &[usize]| {
        let (w_ih, w_hh) = (Tensor::zeros([6, 4], &device), Tensor::zeros([6, 2], &device));
        let bias = Tensor::zeros([6], &device);
        let inputs = Tensor::<2>::zeros([rows, 4], &device);
        let fused = unit([w_ih.clone(), w_hh.clone()], [bias.clone(), bias.clone()]);
        let [fused, plain] = [
            fused.states(inputs.clone(), offsets, Direction::Backward),
            plain::states(inputs, offsets, Direction::Backward, w_ih, w_hh, bias.clone(), bias),
        ]
        .map(|states| states.ok().map(|states| states.dims()));
        assert_eq!(fused, plain);
        fused
    };
    assert_eq!(run(5, &[0, 3, 3, 5]), Some([5, 2]));
    assert_eq!(run(0, &[0, 0]), Some([0, 2]));
    for offsets in [&[][..], &[0], &[0, 4], &[1, 5], &[0, 6, 5], &[0, 6]] {
        assert_eq!(run(5, offsets), None, "{offsets:?}");
    }
}
