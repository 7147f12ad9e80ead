//! The code of a series with knots: what leads its paths, at evenly spaced times that all series share.
//!
//! Knots lie at the observed times of a series, so that no two series have the same. What they lead to is linear in
//! time between them: read off at [`KNOTS`] even times it has one length for all series, and is exact where these times
//! are the knots.

use burn::tensor::{Tensor, TensorData};

use crate::encoder::Knots;
use crate::entries::entries;
use crate::latent::{
    KAPPA_SCALE, MarginalProcess, RaggedTimes, SteeredParameters, SteeredProcess, linear_between,
    power_spherical,
};
use crate::model::ModelError;

/// Evenly spaced times on `[0, 1]`, the span of the model's time, both ends included.
const KNOTS: usize = 17;

/// Widths of marginals do not fall below this, whatever a code says.
const NARROWEST: f64 = 1e-3;

impl From<Knots> for RaggedTimes {
    fn from(Knots { offsets, times, .. }: Knots) -> Self {
        RaggedTimes { offsets, times }
    }
}

/// Steering vectors at the even times, the mean start point, and the root of its concentration: `[B, (KNOTS + 1) n + 1]`.
pub(super) fn of_steered(process: &SteeredParameters, knots: &RaggedTimes) -> Tensor<2> {
    let [series, _] = process.location.dims();
    // The head's own output up to its sign: see `power_spherical`.
    let spread = process.spread.clone().div_scalar(KAPPA_SCALE).sqrt().reshape([series, 1]);
    Tensor::cat(vec![at_even_times(process.steering.clone(), knots), process.location.clone(), spread], 1)
}

/// The processes of codes.
pub(super) fn to_steered(
    codes: Tensor<2>,
    process: &SteeredProcess,
) -> Result<(SteeredParameters, RaggedTimes), ModelError> {
    let dim = process.config().dim;
    let series = check_width(&codes, (KNOTS + 1) * dim + 1)?;
    let direction = codes.clone().narrow(1, KNOTS * dim, dim);
    let (location, spread) = power_spherical(direction, codes.clone().narrow(1, (KNOTS + 1) * dim, 1));
    let parameters = SteeredParameters {
        location,
        spread: spread.reshape([series]),
        steering: codes.narrow(1, 0, KNOTS * dim).reshape([series * KNOTS, dim]),
        sigma: process.scale(),
        prior: process.prior.as_ref().map(|prior| prior.coefficients(series)),
    };
    Ok((parameters, even_times(series)))
}

/// Positions and logarithms of widths at the even times, `[B, KNOTS (n + 1)]`.
pub(super) fn of_marginals((positions, widths): (Tensor<2>, Tensor<1>), knots: &RaggedTimes) -> Tensor<2> {
    let widths = at_even_times(widths.unsqueeze_dim(1), knots);
    Tensor::cat(vec![at_even_times(positions, knots), widths.log()], 1)
}

/// Positions `[B KNOTS, n]` and widths `[B KNOTS]` of codes.
pub(super) fn to_marginals(
    codes: Tensor<2>,
    process: &MarginalProcess,
) -> Result<((Tensor<2>, Tensor<1>), RaggedTimes), ModelError> {
    let dim = process.config().dim;
    let series = check_width(&codes, KNOTS * (dim + 1))?;
    let widths = codes.clone().narrow(1, KNOTS * dim, KNOTS).exp().clamp_min(NARROWEST);
    let positions = codes.narrow(1, 0, KNOTS * dim).reshape([series * KNOTS, dim]);
    Ok(((positions, widths.reshape([series * KNOTS])), even_times(series)))
}

/// The number of codes, where they are as wide as they should be.
fn check_width(codes: &Tensor<2>, expected: usize) -> Result<usize, ModelError> {
    let [series, actual] = codes.dims();
    match actual == expected {
        true => Ok(series),
        false => Err(ModelError::CodeWidth { expected, actual }),
    }
}

fn even_times(series: usize) -> RaggedTimes {
    let times = (0..series * KNOTS).map(|place| (place % KNOTS) as f64 / (KNOTS - 1) as f64);
    RaggedTimes { offsets: (0..=series).map(|b| b * KNOTS).collect(), times: times.collect() }
}

/// Values at knots `[N, width]`, linear between them, at the even times of every series: `[B, KNOTS width]`.
fn at_even_times(values: Tensor<2>, knots: &RaggedTimes) -> Tensor<2> {
    let (series, width) = (knots.offsets.len() - 1, values.dims()[1]);
    let options = (&values.device(), values.dtype());
    let at_knots: Vec<f64> = entries(values).into_iter().map(f64::from).collect();
    let found = linear_between(knots, &at_knots, width, &even_times(series));
    Tensor::from_data(TensorData::new(found, [series, KNOTS * width]), options)
}
