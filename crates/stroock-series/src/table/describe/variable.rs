//! What is known of a variable.

use serde::Serialize;

use super::super::Table;
use super::finding::{Finding, Sorted, Steps, findings};
use crate::quantile;

/// What is known of a variable.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VariableOverview {
    /// Its name.
    pub name: String,
    /// Whether it has one value for a whole series.
    pub is_static: bool,
    /// Values.
    pub count: usize,
    /// Share of the times at which it is missing, or of the series for a static variable; between 0 and 1.
    pub missing: f64,
    /// Its values; `None` where there are none.
    pub summary: Option<Summary>,
    /// Different values.
    pub distinct: usize,
    /// The longest time of a series without a value: between two values, or between one and the first or last
    /// time. `None` for static variables.
    pub longest_gap: Option<f64>,
    /// What is worth a look.
    pub findings: Vec<Finding>,
}

/// Some numbers in short.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The smallest.
    pub min: f64,
    /// Half of them lie below.
    pub median: f64,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, with `n - 1`; zero for a single number.
    pub sd: f64,
    /// The largest.
    pub max: f64,
}

impl Summary {
    /// Of sorted numbers; `None` where there are none.
    fn of(sorted: &[f64]) -> Option<Self> {
        let count = sorted.len() as f64;
        let mean = sorted.iter().sum::<f64>() / count;
        let squares: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Summary {
            min: *sorted.first()?,
            median: quantile(sorted, 0.5)?,
            mean,
            sd: (squares / (count - 1.0).max(1.0)).sqrt(),
            max: *sorted.last()?,
        })
    }
}

impl VariableOverview {
    /// What is known of a channel of a table.
    pub(super) fn of(table: &Table, channel: usize) -> Self {
        let variable = &table.variables[channel];
        let channels = table.variables.len();
        let mut values = Vec::new();
        let mut steps = Steps { pairs: 0, series: 0, all_equal: true, all_count: true };
        let mut longest_gap = 0.0_f64;
        let mut places = 0;
        for series in table.data.series() {
            let Some((&first, &end)) = series.times.first().zip(series.times.last()) else { continue };
            places += if variable.is_static { 1 } else { series.times.len() };
            let begin = values.len();
            let mut last = first;
            for (index, &time) in series.times.iter().enumerate() {
                if series.is_observed(channels, index, channel) {
                    values.push(series.values[index * channels + channel]);
                    longest_gap = longest_gap.max(time - last);
                    last = time;
                }
            }
            longest_gap = longest_gap.max(end - last);
            let own = &values[begin..];
            steps.pairs += own.len().saturating_sub(1);
            steps.series += usize::from(own.len() > 1);
            steps.all_equal &= own.windows(2).all(|pair| pair[0] == pair[1]);
            steps.all_count &= own.windows(2).all(|pair| pair[1] - pair[0] == 1.0);
        }
        values.sort_unstable_by(f64::total_cmp);
        let distinct = values.chunk_by(|one, next| one == next).count();
        VariableOverview {
            name: variable.name.clone(),
            is_static: variable.is_static,
            count: values.len(),
            missing: if places == 0 { 0.0 } else { 1.0 - (values.len() as f64 / places as f64).min(1.0) },
            summary: Summary::of(&values),
            distinct,
            longest_gap: (!variable.is_static).then_some(longest_gap),
            findings: findings(&Sorted(&values), distinct, &steps, variable.is_static),
        }
    }
}
