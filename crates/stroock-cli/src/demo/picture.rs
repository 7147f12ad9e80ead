//! The picture of the demo: fits with their intervals.

use std::path::Path;

use stroock::model::{Description, PathDraws, StandardModel};
use stroock::predict::Predictor;
use stroock::series::Dataset;
use stroock_experiments::synthetic::Motion;
use stroock_kernels::noise::{NoiseKey, Stage};

use crate::failure::Failure;
use crate::fits;

/// Series that are shown.
const SHOWN: usize = 3;
const SAMPLES: usize = 400;
const POINTS: usize = 101;

/// Draws the first of the given series of a data set in model units.
pub fn draw(
    model: &StandardModel,
    description: &Description,
    data: &Dataset,
    motions: &[Motion],
    numbers: &[usize],
    path: &Path,
) -> Result<(), Failure> {
    let about = &description.data;
    let end = about.batcher.grid_axis.end;
    let times: Vec<f64> = (0..POINTS).map(|i| end * i as f64 / (POINTS - 1) as f64).collect();
    let draws = PathDraws { key: NoiseKey::of(8, Stage::Prediction), samples: SAMPLES, first_sample: 0 };
    let predictor = Predictor::new(model, about);
    let channels: Vec<usize> = (0..data.observation().len()).collect();
    let mut panels = Vec::new();
    for &number in numbers.iter().take(SHOWN) {
        let truth = motions[number].on(&times);
        let of_series = fits::fit(&predictor, about, data, number, &channels, &times, draws)?;
        for (channel, mut fit) in of_series.into_iter().enumerate() {
            let truth = truth.iter().skip(channel).step_by(channels.len());
            fit.truth = Some(truth.map(|&x| f64::from(x)).collect());
            panels.push(fit);
        }
    }
    let picture = fits::picture(&panels, channels.len(), "time (s)")?;
    picture.save(path)?;
    Ok(picture.save(&path.with_extension("svg"))?)
}
