//! From a series to normal distributions at the reference points.

use burn::module::Module;
use burn::tensor::Tensor;

use super::{ReferenceSizes, reference_times};
use crate::batch::EncoderInput;
use crate::decoder::{Mlp, MlpConfig};
use crate::encoder::{BidirectionalGru, BidirectionalGruConfig, EncoderError, TimeViews, TimeViewsConfig};
use crate::initial::InitialWeights;
use crate::latent::NormalStart;

/// Views of a series at the reference points, a recurrent unit over them in both directions, and a head.
#[derive(Module, Debug)]
pub struct ReferencePosterior {
    /// Attention over the observed entries.
    pub views: TimeViews,
    /// Over the reference points, in both directions.
    pub recurrence: BidirectionalGru,
    /// From a state to means and logarithms of variances.
    pub head: Mlp,
    #[module(skip)]
    reference_points: usize,
}

impl ReferencePosterior {
    /// Initialises it for points of so many features.
    pub fn new(channels: usize, sizes: ReferenceSizes, weights: &mut InitialWeights) -> Self {
        let ReferenceSizes { embedding, hidden, head, latent, reference_points, .. } = sizes;
        let network = MlpConfig { hidden: vec![head], ..MlpConfig::default() };
        Self {
            views: TimeViewsConfig { channels, embedding, hidden }.init(weights),
            recurrence: BidirectionalGruConfig { width: hidden, hidden }.init(weights),
            head: network.init(2 * hidden, 2 * latent, weights),
            reference_points,
        }
    }

    /// The states `[B R, 2 H]` of the recurrent unit, from features `[N, F]` of the points of an input.
    ///
    /// # Errors
    /// When the features do not fit the input.
    pub fn read(&self, input: &EncoderInput, features: Tensor<2>) -> Result<Tensor<2>, EncoderError> {
        let views = self.views.at(input, features, &reference_times(self.reference_points))?;
        let [series, references, width] = views.dims();
        let offsets: Vec<usize> = (0..=series).map(|b| b * references).collect();
        Ok(self.recurrence.states(views.reshape([series * references, width]), &offsets)?)
    }

    /// Distributions of all latent numbers of every series, `[B, R L]`, from features `[N, F]` of the points of an input.
    ///
    /// # Errors
    /// When the features do not fit the input.
    pub fn distribution(
        &self,
        input: &EncoderInput,
        features: Tensor<2>,
    ) -> Result<NormalStart, EncoderError> {
        let series = input.series();
        let both = self.head.forward(self.read(input, features)?);
        let latent = both.dims()[1] / 2;
        let part = |first: usize| {
            both.clone().narrow(1, first, latent).reshape([series, self.reference_points * latent])
        };
        Ok(NormalStart { mean: part(0), ln_scale: part(latent).mul_scalar(0.5) })
    }
}
