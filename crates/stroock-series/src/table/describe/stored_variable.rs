//! What is known of a variable whose values do not fit into memory.

use super::finding::{AtExtreme, Steps, Values, findings, logarithm_offset, may_be_code, reach};
use super::moments::{Distinct, Moments};
use super::{Summary, VariableOverview};
use crate::table::TableVariable;
use crate::{Selection, Series};

/// Shares of the quantiles that a variable is described by.
const SHARES: [f64; 3] = [0.25, 0.5, 0.75];
/// Those of the values that are no code for missing ones.
const CODE_SHARES: [f64; 2] = [0.05, 0.95];

/// What is gathered about a channel, pass by pass over the series.
pub(super) struct ChannelStream {
    channel: usize,
    is_static: bool,
    most: usize,
    pass: usize,
    places: usize,
    longest_gap: f64,
    steps: Steps,
    least: f64,
    largest: f64,
    least_positive: f64,
    are_whole: bool,
    moments: Moments,
    distinct: Distinct,
    quantiles: Selection,
    /// Of the logarithms, where they are of interest, and what is added before they are taken.
    logarithms: Option<(f64, Moments)>,
    codes: Vec<Code>,
    outliers: Option<Outliers>,
}

/// An extreme value that may stand for a missing one.
struct Code {
    value: f64,
    count: usize,
    nearest: f64,
    others: Selection,
}

/// Values that are farther from the median than others, where there are any.
#[derive(Clone, Copy)]
struct Outliers {
    middle: f64,
    reach: f64,
    count: usize,
    /// The pass that counts them.
    pass: usize,
}

impl ChannelStream {
    /// Before the first pass; at most `most` values are kept.
    pub fn new(channel: usize, is_static: bool, most: usize) -> Self {
        Self {
            channel,
            is_static,
            most,
            pass: 0,
            places: 0,
            longest_gap: 0.0,
            steps: Steps { pairs: 0, series: 0, all_equal: true, all_count: true },
            least: f64::INFINITY,
            largest: f64::NEG_INFINITY,
            least_positive: f64::INFINITY,
            are_whole: true,
            moments: Moments::default(),
            distinct: Distinct::default(),
            quantiles: Selection::new(&SHARES, most),
            logarithms: None,
            codes: Vec::new(),
            outliers: None,
        }
    }

    /// Whether another pass is needed.
    pub fn wants_more(&self) -> bool {
        let has_logarithms = self.pass == 1 && self.logarithms.is_some();
        let of_codes = self.codes.iter().any(|code| code.others.wants_more());
        let has_outliers = self.outliers.is_some_and(|outliers| outliers.pass == self.pass);
        self.pass == 0 || self.quantiles.wants_more() || has_logarithms || of_codes || has_outliers
    }

    /// Takes the next series of a pass, with observations of so many channels.
    pub fn add(&mut self, series: &Series<f64>, channels: usize) {
        let Some((&first, &end)) = series.times.first().zip(series.times.last()) else { return };
        if self.pass > 0 {
            for index in 0..series.times.len() {
                if series.is_observed(channels, index, self.channel) {
                    self.add_again(series.values[index * channels + self.channel]);
                }
            }
            return;
        }
        self.places += if self.is_static { 1 } else { series.times.len() };
        let (mut last, mut before, mut pairs) = (first, None, 0);
        for (index, &time) in series.times.iter().enumerate() {
            if !series.is_observed(channels, index, self.channel) {
                continue;
            }
            let value = series.values[index * channels + self.channel];
            self.longest_gap = self.longest_gap.max(time - last);
            last = time;
            if let Some(before) = before {
                pairs += 1;
                self.steps.all_equal &= before == value;
                self.steps.all_count &= value - before == 1.0;
            }
            before = Some(value);
            self.add_first(value);
        }
        self.longest_gap = self.longest_gap.max(end - last);
        self.steps.pairs += pairs;
        self.steps.series += usize::from(pairs > 0);
    }

    fn add_first(&mut self, value: f64) {
        self.least = self.least.min(value);
        self.largest = self.largest.max(value);
        if value > 0.0 {
            self.least_positive = self.least_positive.min(value);
        }
        self.are_whole &= value.fract() == 0.0;
        self.moments.add(value);
        self.distinct.add(value);
        self.quantiles.add(value);
    }

    fn add_again(&mut self, value: f64) {
        if self.quantiles.wants_more() {
            self.quantiles.add(value);
        }
        if let (1, Some((offset, moments))) = (self.pass, &mut self.logarithms) {
            moments.add((value + *offset).ln());
        }
        for code in &mut self.codes {
            if value == code.value {
                code.count += usize::from(self.pass == 1);
                continue;
            }
            if (value - code.value).abs() < (code.nearest - code.value).abs() {
                code.nearest = value;
            }
            code.others.add(value);
        }
        if let Some(outliers) = self.outliers.as_mut().filter(|outliers| outliers.pass == self.pass) {
            outliers.count += usize::from((value - outliers.middle).abs() > outliers.reach);
        }
    }

    /// Ends a pass.
    pub fn end_pass(&mut self) {
        self.quantiles.end_pass();
        self.codes.iter_mut().for_each(|code| code.others.end_pass());
        if self.pass == 0 && self.moments.count > 0.0 {
            if self.least >= 0.0 && self.least_positive.is_finite() {
                let offset = logarithm_offset(self.least, self.least_positive);
                self.logarithms = Some((offset, Moments::default()));
            }
            let code = |value: f64| Code {
                value,
                count: 0,
                nearest: f64::INFINITY * -value.signum(),
                others: Selection::new(&CODE_SHARES, self.most),
            };
            self.codes =
                [self.least, self.largest].into_iter().filter(|v| may_be_code(*v)).map(code).collect();
        }
        if let (None, Some([low, middle, high])) = (self.outliers, self.quartiles())
            && let Some(reach) = reach([low, middle, high], self.moments.count as usize)
            && (middle - self.least > reach || self.largest - middle > reach)
        {
            self.outliers = Some(Outliers { middle, reach, count: 0, pass: self.pass + 1 });
        }
        self.pass += 1;
    }

    /// Everything that is known after the last pass.
    pub fn finish(self, variable: &TableVariable) -> VariableOverview {
        let (count, distinct) = (self.moments.count as usize, self.distinct.count());
        let places = self.places;
        VariableOverview {
            name: variable.name.clone(),
            is_static: variable.is_static,
            count,
            missing: if places == 0 { 0.0 } else { 1.0 - (count as f64 / places as f64).min(1.0) },
            summary: self.quartiles().map(|[_, median, _]| Summary {
                min: self.least,
                median,
                mean: self.moments.mean,
                sd: self.moments.sd(),
                max: self.largest,
            }),
            distinct,
            longest_gap: (!variable.is_static).then_some(self.longest_gap),
            findings: findings(&self, distinct, &self.steps, variable.is_static),
        }
    }
}

impl Values for ChannelStream {
    fn count(&self) -> usize {
        self.moments.count as usize
    }

    fn extremes(&self) -> Option<(f64, f64)> {
        (self.moments.count > 0.0).then_some((self.least, self.largest))
    }

    fn are_whole(&self) -> bool {
        self.are_whole
    }

    fn at_extreme(&self, value: f64) -> Option<AtExtreme> {
        let code = self.codes.iter().find(|code| code.value == value)?;
        let quantiles = code.others.quantiles()?;
        let others = code.others.count() as usize;
        Some(AtExtreme {
            count: code.count,
            others,
            nearest: code.nearest,
            width: quantiles[1] - quantiles[0],
        })
    }

    fn quartiles(&self) -> Option<[f64; 3]> {
        self.quantiles.quantiles()?.try_into().ok()
    }

    fn beyond(&self, _: f64, _: f64) -> usize {
        self.outliers.map_or(0, |outliers| outliers.count)
    }

    fn skewness(&self) -> Option<(f64, f64)> {
        self.logarithms.map(|(_, moments)| (self.moments.skewness(), moments.skewness()))
    }
}
