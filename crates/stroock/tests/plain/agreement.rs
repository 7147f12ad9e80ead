//! Operations agree with their reference implementations in values and in the gradients of every input, in both precisions.

use burn::tensor::{DType, Device, Tensor, TensorData};

use crate::numbers::{doubles, uniform};

/// An input by name, flat.
pub type Leaf = (&'static str, Vec<f64>);

/// Compares two functions of flat inputs with flat outputs, and the gradients of a sum of their outputs with
/// arbitrary weights. Differences are relative to the largest number of each list, or to 1.
pub fn assert_agreement(
    name: &str,
    leaves: &[Leaf],
    fused: impl Fn(&[Tensor<1>]) -> Tensor<1>,
    plain: impl Fn(&[Tensor<1>]) -> Tensor<1>,
) {
    for (dtype, of_values, of_gradients) in [(DType::F64, 1e-12, 1e-10), (DType::F32, 1e-5, 1e-5)] {
        let [(value, gradients), (expected, expected_gradients)] =
            [run(leaves, dtype, &fused), run(leaves, dtype, &plain)];
        assert_near(&format!("{name}, {dtype:?}, value"), &value, &expected, of_values);
        for (((leaf, _), gradient), expected) in leaves.iter().zip(&gradients).zip(&expected_gradients) {
            assert_near(&format!("{name}, {dtype:?}, gradient of {leaf}"), gradient, expected, of_gradients);
            assert!(gradient.iter().any(|g| *g != 0.0), "{name}: nothing flows to {leaf}");
        }
    }
}

/// The value and the gradients.
fn run(
    leaves: &[Leaf],
    dtype: DType,
    function: &impl Fn(&[Tensor<1>]) -> Tensor<1>,
) -> (Vec<f64>, Vec<Vec<f64>>) {
    let device = Device::flex().autodiff();
    let flat = |values: &[f64]| {
        Tensor::<1>::from_data(TensorData::new(values.to_vec(), [values.len()]), (&device, dtype))
    };
    let inputs: Vec<_> = leaves.iter().map(|(_, values)| flat(values).require_grad()).collect();
    let output = function(&inputs);
    let weights = flat(&uniform(output.dims()[0], 77));
    let gradients = (output.clone() * weights).sum().backward();
    let of_input = |input: &Tensor<1>| doubles(input.grad(&gradients).expect("a gradient"));
    (doubles(output), inputs.iter().map(of_input).collect())
}

pub fn assert_near(name: &str, actual: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(actual.len(), expected.len(), "{name}: lengths differ");
    let scale = expected.iter().fold(1f64, |largest, x| largest.max(x.abs()));
    for (i, (a, e)) in actual.iter().zip(expected).enumerate() {
        let difference = (a - e).abs();
        assert!(
            difference <= tolerance * scale,
            "{name}[{i}]: {a} is not {e} ({difference:e}, scale {scale})"
        );
    }
}
