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

/// What findings about the values of a variable are made of.
pub(super) trait Values {
    /// How many there are.
    fn count(&self) -> usize;
    /// The smallest and the largest; `None` where there are none.
    fn extremes(&self) -> Option<(f64, f64)>;
    /// Whether all are whole numbers.
    fn are_whole(&self) -> bool;
    /// How often an extreme value is there, how many others there are, the nearest of these, and the width between their
    /// 5 % and 95 % quantiles.
    fn at_extreme(&self, value: f64) -> Option<AtExtreme>;
    /// Quantiles of 25 %, 50 % and 75 %.
    fn quartiles(&self) -> Option<[f64; 3]>;
    /// How many are farther than `reach` from `middle`.
    fn beyond(&self, middle: f64, reach: f64) -> usize;
    /// Third standardised moments of the values, none of which is negative, and of their logarithms; `None` where none is
    /// positive.
    fn skewness(&self) -> Option<(f64, f64)>;
}

/// An extreme value and the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtExtreme {
    pub count: usize,
    pub others: usize,
    pub nearest: f64,
    pub width: f64,
}

/// Whether a value may be a code for missing ones.
pub(super) fn may_be_code(value: f64) -> bool {
    [99.0, 999.0, 9_999.0, 99_999.0, 999_999.0].contains(&value.abs())
}

/// How far from the median an outlier is at least; `None` where there is too little to tell.
pub(super) fn reach(quartiles: [f64; 3], count: usize) -> Option<f64> {
    let reach = FAR * (quartiles[2] - quartiles[0]);
    (reach > 0.0 && count >= SHAPED).then_some(reach)
}

/// What the values of a variable give away; the gravest thing alone where one explains the others.
pub(super) fn findings(
    values: &impl Values,
    distinct: usize,
    steps: &Steps,
    is_static: bool,
) -> Vec<Finding> {
    let Some((least, most)) = values.extremes() else { return vec![Finding::NeverObserved] };
    if distinct == 1 {
        return if values.count() > 1 { vec![Finding::Constant { value: least }] } else { Vec::new() };
    }
    if !is_static {
        if steps.all_count && steps.pairs >= FEW {
            return vec![Finding::CountsUp];
        }
        if steps.all_equal && steps.series >= 2 {
            return vec![Finding::ConstantInSeries];
        }
        if distinct <= FEW && values.count() >= 10 * distinct && values.are_whole() {
            return vec![Finding::FewValues { distinct }];
        }
    }
    if let Some(code) = missing_code(values, least).or_else(|| missing_code(values, most)) {
        return vec![code];
    }
    let outliers = outliers(values, least, most);
    outliers.into_iter().chain(skewed(values, least)).collect()
}

fn missing_code(values: &impl Values, value: f64) -> Option<Finding> {
    if !may_be_code(value) {
        return None;
    }
    let AtExtreme { count, others, nearest, width } = values.at_extreme(value)?;
    let is_apart = (value - nearest).abs() > width;
    (count >= 2 && others >= FEW && is_apart).then_some(Finding::MissingCode { value, count })
}

fn outliers(values: &impl Values, least: f64, most: f64) -> Option<Finding> {
    let quartiles = values.quartiles()?;
    let (middle, reach) = (quartiles[1], reach(quartiles, values.count())?);
    let count = values.beyond(middle, reach);
    let farthest = if middle - least > most - middle { least } else { most };
    (count > 0).then_some(Finding::Outliers { count, farthest })
}

/// Skew of values that are never negative: whether logarithms cure it, or it is heavy.
fn skewed(values: &impl Values, least: f64) -> Option<Finding> {
    if values.count() < SHAPED || least < 0.0 {
        return None;
    }
    let (skewness, of_logarithms) = values.skewness()?;
    if skewness > CURABLE && of_logarithms.abs() < CURED * skewness {
        return Some(Finding::Logarithm { skewness, of_logarithms });
    }
    (skewness > SKEWED).then_some(Finding::Skewed { skewness })
}

/// Values that are in memory and sorted.
pub(super) struct Sorted<'a>(pub &'a [f64]);

impl Values for Sorted<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn extremes(&self) -> Option<(f64, f64)> {
        Some((*self.0.first()?, *self.0.last()?))
    }

    fn are_whole(&self) -> bool {
        self.0.iter().all(|value| value.fract() == 0.0)
    }

    fn at_extreme(&self, value: f64) -> Option<AtExtreme> {
        let begin = self.0.partition_point(|other| *other < value);
        let end = self.0.partition_point(|other| *other <= value);
        let others = if begin == 0 { &self.0[end..] } else { &self.0[..begin] };
        let nearest = if begin == 0 { *others.first()? } else { *others.last()? };
        let width = quantile(others, 0.95)? - quantile(others, 0.05)?;
        Some(AtExtreme { count: end - begin, others: others.len(), nearest, width })
    }

    fn quartiles(&self) -> Option<[f64; 3]> {
        Some([quantile(self.0, 0.25)?, quantile(self.0, 0.5)?, quantile(self.0, 0.75)?])
    }

    fn beyond(&self, middle: f64, reach: f64) -> usize {
        self.0.iter().filter(|value| (*value - middle).abs() > reach).count()
    }

    fn skewness(&self) -> Option<(f64, f64)> {
        let &positive = self.0.iter().find(|value| **value > 0.0)?;
        let offset = logarithm_offset(self.0[0], positive);
        let logarithms: Vec<f64> = self.0.iter().map(|value| (value + offset).ln()).collect();
        Some((skewness(self.0), skewness(&logarithms)))
    }
}

/// What is added before logarithms are taken, as a fit takes them: zeros are moved by half of the smallest positive value.
pub(super) fn logarithm_offset(least: f64, positive: f64) -> f64 {
    if least > 0.0 { 0.0 } else { 0.5 * positive }
}

/// The third standardised moment.
fn skewness(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let moment = |power| values.iter().map(|value| (value - mean).powi(power)).sum::<f64>() / count;
    moment(3) / moment(2).powf(1.5)
}
