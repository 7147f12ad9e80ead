//! Losses that are a sum over observed entries, with a dense mask.

use std::f64::consts::TAU;

use burn::tensor::activation::log_sigmoid;
use burn::tensor::{Bool, Tensor, TensorData};

use crate::batch::{Targets, TargetsError};

/// The loss of each series (`[B]`): `loss(x, output)`, entry by entry, summed over the observed entries of the series
/// and averaged over the samples of the output (`[S, Q, C]`).
///
/// `loss` gets the values `x` (`[1, Q, C]`, 0 where nothing is observed) and the output. Any loss of single entries is
/// a likelihood with it:
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use stroock::batch::Targets;
/// use stroock::plain::entrywise;
///
/// let targets = Targets::new(2, vec![0, 1], vec![1.0, 2.0], Some(&[true, false]))?;
/// let output = Tensor::<3>::from_floats([[[4.0, 7.0]]], &Device::flex());
/// let absolute = entrywise(output, &targets, |x, output| (output - x).abs())?;
/// assert_eq!(absolute.into_data().try_to_vec::<f32>().unwrap(), [3.0]);
/// # Ok::<(), stroock::batch::TargetsError>(())
/// ```
///
/// # Errors
/// When the output does not have the shape of the targets.
pub fn entrywise(
    output: Tensor<3>,
    targets: &Targets,
    loss: impl FnOnce(Tensor<3>, Tensor<3>) -> Tensor<3>,
) -> Result<Tensor<1>, TargetsError> {
    let (points, channels) = (targets.points(), targets.channels());
    let [samples, rows, width] = output.dims();
    if rows != points || width != channels || samples == 0 {
        return Err(TargetsError::Output { expected: channels, actual: vec![samples, rows, width] });
    }
    let mut values = vec![0f32; points * channels];
    for series in 0..targets.series() {
        targets.for_each_entry(series, |place, value| values[place] = value);
    }
    let options = (&output.device(), output.dtype());
    let values = Tensor::<3>::from_data(TensorData::new(values, [1, points, channels]), options);
    Ok(sum_observed(loss(values, output), targets))
}

/// The sum of the observed entries of `losses` (`[S, Q, C]`) over each series, averaged over the samples, `[B]`.
pub(super) fn sum_observed(losses: Tensor<3>, targets: &Targets) -> Tensor<1> {
    let ([samples, points, channels], series) = (losses.dims(), targets.series());
    let (device, dtype) = (losses.device(), losses.dtype());
    if points * channels == 0 {
        return Tensor::zeros([series], (&device, dtype));
    }
    let mut hidden = vec![true; points * channels];
    let mut belongs = vec![0f32; series * points];
    for b in 0..series {
        targets.for_each_entry(b, |place, _| hidden[place] = false);
        let offsets = targets.point_offsets();
        belongs[b * points + offsets[b]..b * points + offsets[b + 1]].fill(1.0);
    }
    let hidden = Tensor::<3, Bool>::from_data(TensorData::new(hidden, [1, points, channels]), &device);
    let belongs = Tensor::<2>::from_data(TensorData::new(belongs, [series, points]), (&device, dtype));
    let observed = losses.mask_fill(hidden.expand([samples, points, channels]), 0.0);
    let of_points = observed.sum_dim(2).mean_dim(0).reshape([points, 1]);
    belongs.matmul(of_points).reshape([series])
}

/// `-ln p(x) = ((x - mean) / s)^2 / 2 + ln s + ln(2 pi) / 2` with one `ln s` for all channels (`[1]`) or one for each
/// (`[C]`).
///
/// # Errors
/// When the shapes do not fit.
pub fn gaussian(mean: Tensor<3>, ln_scale: Tensor<1>, targets: &Targets) -> Result<Tensor<1>, TargetsError> {
    let (scales, channels) = (ln_scale.dims()[0], targets.channels());
    if scales != 1 && scales != channels {
        return Err(TargetsError::Length { argument: "ln_scale", expected: channels, actual: scales });
    }
    entrywise(mean, targets, |x, mean| {
        let ln_scale = ln_scale.reshape([1, 1, scales]);
        let standardised = (mean - x) / ln_scale.clone().exp();
        standardised.powi_scalar(2).mul_scalar(0.5) + ln_scale.add_scalar(0.5 * TAU.ln())
    })
}

/// `-ln p(x) = -x ln p - (1 - x) ln(1 - p)` with `p = sigmoid(logit)`.
///
/// # Errors
/// When the shapes do not fit.
pub fn bernoulli(logits: Tensor<3>, targets: &Targets) -> Result<Tensor<1>, TargetsError> {
    entrywise(logits, targets, cross_entropy_of_grey)
}

/// `-ln p(x) = -x ln p - (1 - x) ln(1 - p) - ln C` with `p = sigmoid(l)` and `C = l / tanh(l / 2)`.
///
/// # Errors
/// When the shapes do not fit.
pub fn continuous_bernoulli(logits: Tensor<3>, targets: &Targets) -> Result<Tensor<1>, TargetsError> {
    entrywise(logits, targets, |x, logits| cross_entropy_of_grey(x, logits.clone()) - ln_normaliser(logits))
}

/// `(x - output)^2`.
///
/// # Errors
/// When the shapes do not fit.
pub fn squared_error(output: Tensor<3>, targets: &Targets) -> Result<Tensor<1>, TargetsError> {
    entrywise(output, targets, |x, output| (output - x).powi_scalar(2))
}

fn cross_entropy_of_grey(x: Tensor<3>, logits: Tensor<3>) -> Tensor<3> {
    let [white, black] = [log_sigmoid(logits.clone()), log_sigmoid(logits.neg())];
    (black.clone() - white) * x - black
}

/// `ln(l / tanh(l / 2))`; near 0, where that is 0 / 0, by `l / 2 / tanh(l / 2) = sum_i c_i l^(2 i)`.
fn ln_normaliser(logits: Tensor<3>) -> Tensor<3> {
    const SMALL: f64 = 0.5;
    /// `c_i = B_2i / (2 i)!` with the Bernoulli numbers.
    const SERIES: [f64; 8] = [
        1.0,
        1.0 / 12.0,
        -1.0 / 720.0,
        1.0 / 30_240.0,
        -1.0 / 1_209_600.0,
        1.0 / 47_900_160.0,
        -691.0 / 1_307_674_368_000.0,
        1.0 / 74_724_249_600.0,
    ];
    let small = logits.clone().abs().lower_elem(SMALL);
    let square = logits.clone().powi_scalar(2).mask_fill(small.clone().bool_not(), 0.0);
    let near = SERIES.iter().rev().fold(square.zeros_like(), |sum, &c| (sum * square.clone()).add_scalar(c));
    // The quotient is not looked at where it is small, but its gradient must be a number there too.
    let away = logits.mask_fill(small.clone(), 1.0);
    let far = away.clone() / away.mul_scalar(0.5).tanh();
    far.mask_where(small, near.mul_scalar(2.0)).log()
}
