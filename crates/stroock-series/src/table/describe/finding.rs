//! What is suspicious about a variable.

use serde::Serialize;

use super::amount::number;
use crate::quantile;

/// Farther from the median than so many interquartile ranges is an outlier.
const FAR: f64 = 20.0;
/// So much skewness is heavy; that of an exponential distribution is 2.
const SKEWED: f64 = 4.0;
/// So much skewness is worth a logarithm that leaves less than this share of it.
const CURABLE: f64 = 1.5;
const CURED: f64 = 0.5;
/// So many different whole numbers at most look like classes.
const FEW: usize = 10;
/// So many values at least have a shape.
const SHAPED: usize = 30;

/// Something about a variable that is worth a look.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Finding {
    /// It has no value at all.
    NeverObserved,
    /// All its values are equal.
    Constant {
        /// The value.
        value: f64,
    },
    /// It grows by one from each value to the next.
    CountsUp,
    /// It differs between series, and never within one.
    ConstantInSeries,
    /// It takes a few whole numbers only, as classes do.
    FewValues {
        /// How many.
        distinct: usize,
    },
    /// An extreme value of nines far from all others, as stands for a missing value in some tables.
    MissingCode {
        /// The value.
        value: f64,
        /// How often it is there.
        count: usize,
    },
    /// Values more than twenty interquartile ranges from the median.
    Outliers {
        /// How many.
        count: usize,
        /// The farthest.
        farthest: f64,
    },
    /// No value is negative, one tail is longer than the other, and those of the logarithms are not.
    Logarithm {
        /// The third standardised moment of the values.
        skewness: f64,
        /// That of their logarithms.
        of_logarithms: f64,
    },
    /// One tail is much longer than the other.
    Skewed {
        /// The third standardised moment.
        skewness: f64,
    },
}

impl Finding {
    /// What it means and what may be done, without the name of the variable.
    pub fn advice(&self) -> &'static str {
        match self {
            Finding::NeverObserved => "never observed, so that there is nothing to learn: leave out",
            Finding::Constant { .. } => "constant, so that there is nothing to learn: leave out",
            Finding::CountsUp => "counting up by one each time, like a row number: leave out",
            Finding::ConstantInSeries => "without a change within any series: static?",
            Finding::FewValues { .. } => "only a few whole numbers: classes, or codes of them?",
            Finding::MissingCode { .. } => {
                "far from all other values, as codes for missing ones are: is it one?"
            }
            Finding::Outliers { .. } => "more than 20 interquartile ranges from the median: are they right?",
            Finding::Logarithm { .. } => {
                "skewed, and much less so in logarithms: these may be easier to learn"
            }
            Finding::Skewed { .. } => "heavily skewed: a few values decide what is learnt",
        }
    }

    /// The numbers behind it.
    pub fn detail(&self) -> Option<String> {
        match *self {
            Finding::NeverObserved | Finding::CountsUp | Finding::ConstantInSeries => None,
            Finding::Constant { value } => Some(format!("always {}", number(value))),
            Finding::FewValues { distinct } => Some(format!("{distinct} values")),
            Finding::MissingCode { value, count } => Some(format!("{} at {count} times", number(value))),
            Finding::Outliers { count: 1, farthest } => Some(number(farthest)),
            Finding::Outliers { count, farthest } => {
                Some(format!("{count} values, up to {}", number(farthest)))
            }
            Finding::Logarithm { skewness, of_logarithms } => {
                Some(format!("skewness {}, {} in logarithms", number(skewness), number(of_logarithms)))
            }
            Finding::Skewed { skewness } => Some(format!("skewness {}", number(skewness))),
        }
    }
}

/// How the values of a variable follow each other within the series.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    /// Pairs of a value and the next one of the same series.
    pub pairs: usize,
    /// Series with such a pair.
    pub series: usize,
    /// Whether all pairs are equal values.
    pub all_equal: bool,
    /// Whether all pairs grow by one.
    pub all_count: bool,
}

/// What the sorted values of a variable give away; the gravest thing alone where one explains the others.
pub(super) fn findings(sorted: &[f64], distinct: usize, steps: &Steps, is_static: bool) -> Vec<Finding> {
    let (Some(&least), Some(&most)) = (sorted.first(), sorted.last()) else {
        return vec![Finding::NeverObserved];
    };
    if distinct == 1 {
        return if sorted.len() > 1 { vec![Finding::Constant { value: least }] } else { Vec::new() };
    }
    if !is_static {
        if steps.all_count && steps.pairs >= FEW {
            return vec![Finding::CountsUp];
        }
        if steps.all_equal && steps.series >= 2 {
            return vec![Finding::ConstantInSeries];
        }
        let is_whole = sorted.iter().all(|value| value.fract() == 0.0);
        if is_whole && distinct <= FEW && sorted.len() >= 10 * distinct {
            return vec![Finding::FewValues { distinct }];
        }
    }
    if let Some(code) = missing_code(sorted, least).or_else(|| missing_code(sorted, most)) {
        return vec![code];
    }
    let outliers = outliers(sorted, least, most);
    outliers.into_iter().chain(skewed(sorted)).collect()
}

fn missing_code(sorted: &[f64], value: f64) -> Option<Finding> {
    let size = value.abs();
    if ![99.0, 999.0, 9_999.0, 99_999.0, 999_999.0].contains(&size) {
        return None;
    }
    let (begin, end) =
        (sorted.partition_point(|other| *other < value), sorted.partition_point(|other| *other <= value));
    let (count, others) = (end - begin, if begin == 0 { &sorted[end..] } else { &sorted[..begin] });
    let nearest = if begin == 0 { *others.first()? } else { *others.last()? };
    let width = quantile(others, 0.95)? - quantile(others, 0.05)?;
    let is_apart = (value - nearest).abs() > width;
    (count >= 2 && others.len() >= FEW && is_apart).then_some(Finding::MissingCode { value, count })
}

fn outliers(sorted: &[f64], least: f64, most: f64) -> Option<Finding> {
    let middle = quantile(sorted, 0.5)?;
    let reach = FAR * (quantile(sorted, 0.75)? - quantile(sorted, 0.25)?);
    if reach <= 0.0 || sorted.len() < SHAPED {
        return None;
    }
    let count = sorted.iter().filter(|value| (*value - middle).abs() > reach).count();
    let farthest = if middle - least > most - middle { least } else { most };
    (count > 0).then_some(Finding::Outliers { count, farthest })
}

/// Skew of values that are never negative: whether logarithms cure it, or it is heavy.
fn skewed(sorted: &[f64]) -> Option<Finding> {
    let &positive = sorted.iter().find(|value| **value > 0.0)?;
    if sorted.len() < SHAPED || sorted[0] < 0.0 {
        return None;
    }
    let skewness = skewness(sorted);
    // As a fit takes them: zeros are moved by half of the smallest positive value.
    let offset = if sorted[0] > 0.0 { 0.0 } else { 0.5 * positive };
    let logarithms: Vec<f64> = sorted.iter().map(|value| (value + offset).ln()).collect();
    let of_logarithms = self::skewness(&logarithms);
    if skewness > CURABLE && of_logarithms.abs() < CURED * skewness {
        return Some(Finding::Logarithm { skewness, of_logarithms });
    }
    (skewness > SKEWED).then_some(Finding::Skewed { skewness })
}

/// The third standardised moment.
fn skewness(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let moment = |power| values.iter().map(|value| (value - mean).powi(power)).sum::<f64>() / count;
    moment(3) / moment(2).powf(1.5)
}
