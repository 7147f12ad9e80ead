//! The series that a report shows with forecasts of their last part.

use stroock::estimator::{EvaluateOptions, Model, Subject};
use stroock_report::{Band, Fit, Points};

use crate::ModelReportError;
use crate::fits::LEVELS;

/// Values before the forecast that are shown for each one in it.
const BEFORE: usize = 4;

/// Every variable of the longest series.
pub fn fits(
    model: &Model,
    subject: &Subject,
    options: &EvaluateOptions,
    count: usize,
) -> Result<Vec<Fit>, ModelReportError> {
    let views = model.forecast_views(&subject.table, subject.numbers.as_deref(), options, &LEVELS, count)?;
    let fit = |view: stroock::estimator::ForecastView| {
        let variable = &model.description.data.variables[view.channel];
        let band = |level, lower: usize, upper: usize| Band {
            level,
            lower: view.quantiles[lower].clone(),
            upper: view.quantiles[upper].clone(),
        };
        let bands = vec![band(0.9, 0, 3), band(0.5, 1, 2)];
        let from = view.seen.0.len().saturating_sub((BEFORE * view.held.0.len()).max(40));
        Fit {
            series: view.id,
            variable: variable.name.clone(),
            unit: variable.unit.clone(),
            forecast_from: view.seen.0.last().copied(),
            seen: Points { times: view.seen.0[from..].to_vec(), values: view.seen.1[from..].to_vec() },
            withheld: Points { times: view.held.0.clone(), values: view.held.1 },
            times: view.held.0,
            mean: view.mean,
            bands,
        }
    };
    Ok(views.into_iter().map(fit).collect())
}
