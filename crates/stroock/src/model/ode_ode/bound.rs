//! Importance-weighted bounds.

use burn::tensor::{Tensor, TensorData};

use super::ImportanceBound;
use crate::batch::{Targets, TargetsError};
use crate::objective::importance_weighted_loss;

/// The observations of a batch, and how much each of them counts: entries of a channel alike, channels alike.
#[derive(Clone, Debug)]
pub struct ScoredEntries {
    /// Values, `[Q, C]`.
    pub values: Tensor<2>,
    /// `1 / (C times the observed points of the channel)`, and 0 where nothing is observed, `[Q, C]`.
    pub shares: Tensor<2>,
    /// `[B + 1]`: where the points of a series begin.
    pub offsets: Vec<usize>,
}

impl ScoredEntries {
    /// The observations of targets, as tensors of the kind of `like`.
    pub fn new<const D: usize>(targets: &Targets, like: &Tensor<D>) -> Self {
        let channels = targets.channels();
        let count = targets.values().len();
        let (mut shares, mut values) = (vec![0.0; count], vec![0.0; count]);
        for series in 0..targets.series() {
            let mut counts = vec![0usize; channels];
            targets.for_each_entry(series, |place, _| counts[place % channels] += 1);
            targets.for_each_entry(series, |place, value| {
                shares[place] = 1.0 / (channels * counts[place % channels]) as f64;
                values[place] = f64::from(value);
            });
        }
        let tensor = |entries: Vec<f64>| {
            let data = TensorData::new(entries, [targets.points(), channels]);
            Tensor::from_data(data, (&like.device(), like.dtype()))
        };
        Self { values: tensor(values), shares: tensor(shares), offsets: targets.point_offsets().to_vec() }
    }

    /// The log likelihoods `[S, B]` of every sample under normal noise of size `scale` around means `[S, Q, C]`: means over
    /// the observed points of a channel, 0 where there are none, then over channels.
    ///
    /// # Errors
    /// When the means do not have the shape of the values.
    pub fn ln_likelihoods(&self, mean: Tensor<3>, scale: f64) -> Result<Tensor<2>, TargetsError> {
        let ([samples, points, outputs], [expected, channels]) = (mean.dims(), self.values.dims());
        if outputs != channels || points != expected {
            return Err(TargetsError::Output { expected: channels, actual: mean.dims().to_vec() });
        }
        let options = (&mean.device(), mean.dtype());
        let normalised = (mean - self.values.clone().unsqueeze_dim(0)).mul_scalar(1.0 / scale);
        let offset = scale.ln() + 0.5 * (2.0 * std::f64::consts::PI).ln();
        let entries = normalised.powi_scalar(2).mul_scalar(-0.5).sub_scalar(offset);
        let of_points =
            (entries * self.shares.clone().unsqueeze_dim(0)).sum_dim(2).reshape([samples, points]);
        let of_series = self.offsets.windows(2).map(|pair| match pair[1] - pair[0] {
            0 => Tensor::zeros([samples, 1], options),
            count => of_points.clone().narrow(1, pair[0], count).sum_dim(1),
        });
        Ok(Tensor::cat(of_series.collect(), 1))
    }
}

/// The bound of every series, `[B]`, from the log likelihoods `[S, B]` of its samples and its weighted divergence, `[B]`.
pub fn importance_bound(kind: ImportanceBound, ln_p: Tensor<2>, divergence: Tensor<1>) -> Tensor<1> {
    let [samples, series] = ln_p.dims();
    match kind {
        ImportanceBound::Series => importance_weighted_loss(ln_p.neg(), divergence).neg(),
        ImportanceBound::Released => {
            let loss = importance_weighted_loss(ln_p.mean_dim(1).neg(), divergence.mean());
            loss.neg().add_scalar((samples as f64).ln()).expand([series])
        }
    }
}
