//! How well values are recovered that the encoder did not see.

use serde::Serialize;
use stroock::model::{Description, PathDraws, StandardModel};
use stroock::predict::{Predictor, Summary};
use stroock::score::{self, HoldOut, VisibleSeries};
use stroock::series::{Dataset, SeriesError};
use stroock_kernels::noise::NoiseKey;

use crate::failure::Failure;

/// Share of the values that is withheld.
const SHARE: f64 = 0.25;
const SAMPLES: usize = 200;
const LEVELS: [f64; 2] = [0.05, 0.95];

/// How well the withheld values of a variable are recovered, in its unit.
#[derive(Clone, Debug, Serialize)]
pub struct Recovery {
    pub variable: String,
    pub unit: String,
    pub values: usize,
    /// Root mean squared error of the predictive mean.
    pub rmse: f64,
    /// That of straight lines between the values that are seen.
    pub interpolation_rmse: f64,
    /// Share of the values inside their 90 % intervals.
    pub coverage_90: f64,
}

/// The same data with a part of the values of some series withheld from the encoder.
pub fn withhold(data: Dataset, numbers: &[usize], seed: u64) -> Result<Dataset, SeriesError> {
    score::withhold(data, numbers, HoldOut::Random { share: SHARE }, &[], seed)
}

/// Recovers what is withheld of the given series of a data set in model units.
pub fn measure(
    model: &StandardModel,
    description: &Description,
    data: &Dataset,
    numbers: &[usize],
) -> Result<Vec<Recovery>, Failure> {
    let (scaler, channels) = (&description.data.scaler, data.observation().len());
    let times: Vec<Vec<f64>> = numbers.iter().map(|&number| data.series()[number].times.clone()).collect();
    let draws = PathDraws { key: NoiseKey::new(7, 0), samples: SAMPLES, first_sample: 0 };
    let predictor = Predictor::new(model, &description.data);
    let drawn = predictor.posterior(data, numbers, &times, draws)?;
    let mut sums = vec![(0usize, 0.0, 0.0, 0usize); channels];
    for (&number, drawn) in numbers.iter().zip(&drawn) {
        let series = &data.series()[number];
        let visible = VisibleSeries::new(series, channels);
        let summary = Summary::of(&drawn.observations, series.values.len(), &LEVELS);
        for place in 0..series.values.len() {
            let (index, channel) = (place / channels, place % channels);
            let seen = series.is_visible(channels, index, channel);
            if seen || !series.is_observed(channels, index, channel) {
                continue;
            }
            let truth = scaler.to_user(channel, f64::from(series.values[place]));
            // Without any neighbour it is the mean, which is 0 for the model.
            let straight = visible.linear(series.times[index], channel).unwrap_or(0.0);
            let straight = scaler.to_user(channel, straight);
            let (count, model, line, inside) = &mut sums[channel];
            *count += 1;
            *model += (summary.mean[place] - truth).powi(2);
            *line += (straight - truth).powi(2);
            let interval = summary.quantiles[0][place]..=summary.quantiles[1][place];
            *inside += usize::from(interval.contains(&truth));
        }
    }
    let variables = description.data.variables.iter().zip(sums);
    Ok(variables
        .map(|(variable, (count, model, line, inside))| {
            let mean = |sum: f64| sum / count.max(1) as f64;
            Recovery {
                variable: variable.name.clone(),
                unit: variable.unit.clone(),
                values: count,
                rmse: mean(model).sqrt(),
                interpolation_rmse: mean(line).sqrt(),
                coverage_90: mean(inside as f64),
            }
        })
        .collect())
}

/// The recoveries as a table.
pub fn table(recovered: &[Recovery]) -> String {
    let mut lines = vec![format!(
        "  {:<24}{:>8}{:>12}{:>22}{:>24}",
        "variable", "values", "RMSE", "straight lines RMSE", "inside 90 % intervals"
    )];
    lines.extend(recovered.iter().map(|r| {
        let name = format!("{} ({})", r.variable, r.unit);
        format!(
            "  {name:<24}{:>8}{:>12.3}{:>22.3}{:>22.1} %",
            r.values,
            r.rmse,
            r.interpolation_rmse,
            100.0 * r.coverage_90
        )
    }));
    lines.join("\n")
}
