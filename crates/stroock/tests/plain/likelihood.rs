//! Losses over the observed entries of ragged series.

use std::sync::Arc;

use burn::module::{Param, ParamId};
use burn::tensor::{DType, Device, Tensor};
use stroock::batch::{Targets, TargetsError};
use stroock::likelihood::{Bernoulli, Categorical, ContinuousBernoulli, Gaussian, squared_error};
use stroock::plain;

use crate::agreement::assert_agreement;
use crate::numbers::{doubles, uniform};

const SAMPLES: usize = 3;
const CHANNELS: usize = 2;
const POINTS: usize = 10;

/// Series of 4, 1, 0 and 5 points; the first never observes its second channel.
fn targets(value: impl Fn(f64) -> f64, masked: bool) -> Arc<Targets> {
    let observed: Vec<bool> =
        (0..POINTS * CHANNELS).map(|place| place % 5 != 3 && !(place < 8 && place % 2 == 1)).collect();
    let values = uniform(POINTS * CHANNELS, 8).into_iter().zip(&observed).map(|(x, &observed)| {
        // What is not observed may be anything.
        if observed || !masked { value(x) as f32 } else { f32::NAN }
    });
    let offsets = vec![0, 4, 5, 5, 10];
    Arc::new(Targets::new(CHANNELS, offsets, values.collect(), masked.then_some(&observed[..])).unwrap())
}

/// A flat output as `[S, Q, width]`.
fn output(leaf: &Tensor<1>) -> Tensor<3> {
    let width = leaf.dims()[0] / (SAMPLES * POINTS);
    leaf.clone().reshape([SAMPLES, POINTS, width])
}

fn outputs(width: usize, size: f64) -> Vec<f64> {
    uniform(SAMPLES * POINTS * width, 9).into_iter().map(|x| size * x).collect()
}

#[test]
fn gaussian_with_one_scale_and_with_one_a_channel() {
    for (masked, scales) in [(true, 1), (true, CHANNELS), (false, CHANNELS)] {
        let targets = targets(|x| x, masked);
        assert_agreement(
            &format!("gaussian, masked {masked}, {scales} scales"),
            &[("mean", outputs(CHANNELS, 1.0)), ("ln scale", uniform(scales, 4))],
            |leaves| {
                let ln_scale = Param::initialized(ParamId::new(), leaves[1].clone());
                let gaussian = Gaussian { ln_scale };
                gaussian.negative_log_likelihood(output(&leaves[0]), Arc::clone(&targets)).unwrap()
            },
            |leaves| plain::gaussian(output(&leaves[0]), leaves[1].clone(), &targets).unwrap(),
        );
    }
}

#[test]
fn grey_values_and_squared_errors() {
    for masked in [true, false] {
        let targets = targets(|x| 0.5 + 0.5 * x, masked);
        for size in [0.3, 30.0] {
            let leaves = [("logits", outputs(CHANNELS, size))];
            assert_agreement(
                "bernoulli",
                &leaves,
                |leaves| Bernoulli.negative_log_likelihood(output(&leaves[0]), Arc::clone(&targets)).unwrap(),
                |leaves| plain::bernoulli(output(&leaves[0]), &targets).unwrap(),
            );
            assert_agreement(
                "continuous bernoulli",
                &leaves,
                |leaves| {
                    let logits = output(&leaves[0]);
                    ContinuousBernoulli.negative_log_likelihood(logits, Arc::clone(&targets)).unwrap()
                },
                |leaves| plain::continuous_bernoulli(output(&leaves[0]), &targets).unwrap(),
            );
            assert_agreement(
                "squared error",
                &leaves,
                |leaves| squared_error(output(&leaves[0]), Arc::clone(&targets)).unwrap(),
                |leaves| plain::squared_error(output(&leaves[0]), &targets).unwrap(),
            );
        }
    }
}

#[test]
fn classes() {
    for (masked, classes) in [(true, 4), (false, 4), (true, 2)] {
        let targets = targets(|x| ((0.5 + 0.5 * x) * classes as f64).floor(), masked);
        assert_agreement(
            "classes",
            &[("logits", outputs(CHANNELS * classes, 20.0))],
            |leaves| {
                let logits = output(&leaves[0]);
                Categorical { classes }.negative_log_likelihood(logits, Arc::clone(&targets)).unwrap()
            },
            |leaves| plain::cross_entropy(classes, output(&leaves[0]), &targets).unwrap(),
        );
    }
}

#[test]
fn no_targets_and_what_does_not_fit() {
    let zeros = |shape: [usize; 3]| Tensor::<3>::zeros(shape, (&Device::flex(), DType::F64));
    let nothing = Targets::new(2, vec![0, 0], Vec::new(), None).unwrap();
    assert_eq!(doubles(plain::bernoulli(zeros([1, 0, 2]), &nothing).unwrap()), [0.0]);
    let classes = targets(|_| 7.0, false);
    let wrong = plain::cross_entropy(4, zeros([1, POINTS, 8]), &classes).unwrap_err();
    assert_eq!(wrong, TargetsError::Class { point: 0, channel: 0, value: 7.0, classes: 4 });
    assert!(plain::cross_entropy(4, zeros([1, POINTS, 2]), &classes).is_err());
    assert!(plain::squared_error(zeros([1, POINTS + 1, 2]), &classes).is_err());
    assert!(plain::squared_error(zeros([1, POINTS, 1]), &classes).is_err());
    let scales = Tensor::<1>::zeros([3], (&Device::flex(), DType::F64));
    assert!(plain::gaussian(zeros([1, POINTS, 2]), scales, &classes).is_err());
}
