//! How well values are recovered that the encoder did not see.

use serde::Serialize;
use stroock::model::{Description, PathDraws, StandardModel, Variable};
use stroock::predict::Predictor;
use stroock::score::{self, HeldOutScores, HoldOut, ScoreSums};
use stroock::series::{Dataset, SeriesError};
use stroock_kernels::noise::{NoiseKey, Stage};

use crate::failure::Failure;

/// What is withheld: a quarter of the values.
const HOLD_OUT: HoldOut = HoldOut::Random { share: 0.25 };
const SAMPLES: usize = 200;

/// How well the withheld values of a variable are recovered, in its unit.
#[derive(Clone, Debug, Serialize)]
pub struct Recovery {
    pub variable: String,
    pub unit: String,
    pub values: u64,
    /// Root mean squared error of the predictive mean.
    pub rmse: f64,
    /// That of straight lines between the values that are seen.
    pub interpolation_rmse: f64,
    /// Share of the values inside their 90 % intervals.
    pub coverage_90: f64,
}

/// The same data with a part of the values of some series withheld from the encoder.
pub fn withhold(data: Dataset, numbers: &[usize], seed: u64) -> Result<Dataset, SeriesError> {
    score::withhold(data, numbers, HOLD_OUT, &[], seed)
}

/// Recovers what is withheld of the given series of a data set in model units.
pub fn measure(
    model: &StandardModel,
    description: &Description,
    data: &Dataset,
    numbers: &[usize],
) -> Result<Vec<Recovery>, Failure> {
    let draws = PathDraws { key: NoiseKey::of(7, Stage::Prediction), samples: SAMPLES, first_sample: 0 };
    let predictor = Predictor::new(model, &description.data);
    let sums = HeldOutScores::of(&predictor, &description.data.scaler, data, numbers, HOLD_OUT, draws)?;
    let recovery = |(variable, sums): (&Variable, &ScoreSums)| {
        let scores = sums.finish()?;
        let covered = scores.coverage.iter().find(|(level, _)| *level == 0.9)?.1;
        Some(Recovery {
            variable: variable.name.clone(),
            unit: variable.unit.clone(),
            values: scores.count,
            rmse: scores.rmse,
            interpolation_rmse: scores.baselines.first()?.mse.sqrt(),
            coverage_90: covered,
        })
    };
    Ok(description.data.variables.iter().zip(&sums.variables).filter_map(recovery).collect())
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
