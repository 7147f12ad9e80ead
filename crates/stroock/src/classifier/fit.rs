//! From labelled series to a classifier.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::ridge::{Dual, Primal, centre, gram, shares, solve};
use super::standard::Standard;
use super::{
    Choice, ClassifierDescription, FeatureMap, SeriesClassifier, View, ViewKind, calibration, ridge, summary,
};
use crate::series::Series;

/// Strengths of the ridge that are tried, for features whose squares sum to 1 on average.
const RIDGES: [f64; 9] = [1e-5, 1e-4, 1e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0, 10.0];
/// Up to so many series the regression is solved between series, beyond between features.
const MOST_BETWEEN_SERIES: usize = 1500;
/// Features where the regression is solved between them.
const MOST_BETWEEN_FEATURES: usize = 2048;
/// Weight of the places of what is found beside that of what is found: as much a feature.
const PLACE: f64 = 1.0 / 3.0;
/// Most series that choose groups of features.
const MOST_TO_CHOOSE: usize = 400;
/// Most series that are learnt from.
const MOST_SERIES: usize = 20_000;
/// One in so many series is left out to choose by where the regression is solved between features.
const ONE_IN: usize = 5;

/// How a [`SeriesClassifier`] is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClassifierConfig {
    /// Comparisons of convolutions with thresholds, of which four features are made each.
    pub comparisons: usize,
    /// Seed of the convolutions.
    pub seed: u64,
}

impl Default for ClassifierConfig {
    fn default() -> Self {
        Self { comparisons: 6000, seed: 1 }
    }
}

impl ClassifierConfig {
    /// Fits a classifier to series with values of so many channels and their classes, numbers below `classes`; a larger
    /// number makes more classes. Without series all classes are equally probable.
    /// `statics` says which channels have one value for a whole series; it may be empty.
    pub fn fit(
        &self,
        series: &[&Series],
        truths: &[usize],
        classes: usize,
        channels: usize,
        statics: &[bool],
    ) -> SeriesClassifier {
        let truths = &truths[..truths.len().min(series.len())];
        let classes = truths.iter().map(|truth| truth + 1).fold(classes.max(1), usize::max);
        // Every class keeps its share when there are too many.
        let step = series.len().div_ceil(MOST_SERIES).max(1);
        let kept: Vec<usize> = by_class(truths).into_iter().step_by(step).collect();
        let series: Vec<&Series> = kept.iter().map(|&i| series[i]).collect();
        let truths: Vec<usize> = kept.iter().map(|&i| truths[i]).collect();
        let is_dual = series.len() <= MOST_BETWEEN_SERIES;
        let comparisons = match is_dual {
            true => self.comparisons,
            false => {
                let room = MOST_BETWEEN_FEATURES.saturating_sub(summary::length(channels, statics));
                self.comparisons.min(room / super::convolution::POOLED)
            }
        };
        let map = FeatureMap::draw(&series, channels, statics, comparisons, self.seed);
        let mut rows: Vec<Vec<f32>> = series.par_iter().map(|series| map.row(series)).collect();
        let standard = Standard::of(&rows, map.len());
        rows.par_iter_mut().for_each(|row| standard.apply(row));
        let problem = Problem { rows, truths, classes };
        let solved = match is_dual {
            true => problem.between_series(&map, &standard),
            false => problem.between_features(&map, &standard),
        };
        let description = ClassifierDescription {
            plan: map.plan.clone(),
            classes,
            sharpness: solved.sharpness,
            ridge: solved.ridge,
            groups: solved.groups,
            log_loss: solved.log_loss,
            accuracy: solved.accuracy,
            series: problem.rows.len(),
            choice: Choice::default(),
        };
        SeriesClassifier {
            weights: solved.weights.into_iter().map(|weight| weight as f32).collect(),
            intercepts: shares(&problem.truths, classes),
            sharpness: solved.sharpness,
            description,
            map,
            standard,
        }
    }
}

/// Numbers of series in an order in which classes take turns as far as they reach: every part of it has of all.
pub(super) fn by_class(truths: &[usize]) -> Vec<usize> {
    let classes = truths.iter().max().map_or(0, |most| most + 1);
    let mut counts = vec![0usize; classes];
    truths.iter().for_each(|&truth| counts[truth] += 1);
    let mut seen = vec![0usize; classes];
    let place = |&truth: &usize| {
        seen[truth] += 1;
        (seen[truth] as f64 - 0.5) / counts[truth] as f64
    };
    let places: Vec<f64> = truths.iter().map(place).collect();
    let mut order: Vec<usize> = (0..truths.len()).collect();
    order.sort_by(|&a, &b| places[a].total_cmp(&places[b]).then(truths[a].cmp(&truths[b])));
    order
}

/// Weights of groups of features that are worth trying: all views, those that know levels and scales and those that
/// do not, each with and without the places of what is found, and without the plain numbers (the last group), with a
/// little of them, and with as much of them as of a view.
fn candidates(views: &[View], varies: &[bool]) -> Vec<Vec<f64>> {
    let knows_level =
        |view: &View| !matches!(view.kind, ViewKind::Standardised | ViewKind::StandardisedDifferences);
    let is_standardised = |view: &View| !knows_level(view) || view.kind == ViewKind::Observed;
    let chosen = |keep: &dyn Fn(&View) -> bool, place: f64, plain: f64| -> Vec<f64> {
        let of_view = |view| if keep(view) { [1.0, place] } else { [0.0, 0.0] };
        let weights = views.iter().flat_map(of_view).chain([plain]);
        weights.zip(varies).map(|(weight, varies)| if *varies { weight } else { 0.0 }).collect()
    };
    let mut candidates: Vec<Vec<f64>> = Vec::new();
    for plain in [0.0, 0.1, 1.0] {
        for place in [PLACE, 0.0] {
            candidates.push(chosen(&|_| true, place, plain));
            candidates.push(chosen(&knows_level, place, plain));
            candidates.push(chosen(&is_standardised, place, plain));
        }
    }
    candidates.push(chosen(&|_| false, 0.0, 1.0));
    let mut seen: Vec<Vec<f64>> = Vec::new();
    candidates.retain(|groups| {
        let is_new = groups.iter().any(|group| *group > 0.0) && !seen.contains(groups);
        seen.push(groups.clone());
        is_new
    });
    candidates
}

/// Standardised features of series, and their classes.
struct Problem {
    rows: Vec<Vec<f32>>,
    truths: Vec<usize>,
    classes: usize,
}

/// What is left of a regression.
struct Solved {
    /// Of the standardised features, `[K, P]`.
    weights: Vec<f64>,
    sharpness: f64,
    ridge: f64,
    /// Weights of the groups of features.
    groups: Vec<f64>,
    /// Of series that were left out.
    log_loss: f64,
    accuracy: f64,
}

/// A regression and how well it does on series that were left out.
struct Trial {
    dual: Dual,
    ridge: f64,
    sharpness: f64,
    log_loss: f64,
}

impl Problem {
    fn between_series(&self, map: &FeatureMap, standard: &Standard) -> Solved {
        let ranges = map.groups();
        let kernels: Vec<Vec<f64>> = ranges
            .iter()
            .map(|range| {
                let part: Vec<Vec<f32>> = self.rows.iter().map(|row| row[range.clone()].to_vec()).collect();
                let factor = 1.0 / standard.varying(range).max(1) as f64;
                let mut kernel = gram(&part);
                centre(&mut kernel, part.len());
                kernel.iter_mut().for_each(|entry| *entry *= factor);
                kernel
            })
            .collect();
        let varies: Vec<bool> = ranges.iter().map(|range| standard.varying(range) > 0).collect();
        let (groups, trial) = self.choose(&kernels, candidates(&map.plan.views, &varies));
        let mut weights = vec![0.0; self.classes * map.len()];
        let Some(Trial { dual, ridge, sharpness, log_loss }) = trial else {
            return Solved { weights, sharpness: 1.0, ridge: 1.0, groups, log_loss: 0.0, accuracy: 0.0 };
        };
        let total: f64 = groups.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        for (i, row) in self.rows.iter().enumerate() {
            for (range, group) in ranges.iter().zip(&groups) {
                let factor = group / total / standard.varying(range).max(1) as f64;
                for class in 0..self.classes {
                    let scale = factor * dual.coefficients[i * self.classes + class];
                    let weights = &mut weights[class * row.len()..][range.clone()];
                    weights
                        .iter_mut()
                        .zip(&row[range.clone()])
                        .for_each(|(w, x)| *w += scale * f64::from(*x));
                }
            }
        }
        let accuracy = accuracy(&dual.left_out, self.classes, &self.truths);
        Solved { weights, sharpness, ridge, groups, log_loss, accuracy }
    }

    /// The groups of features with the least loss on series that are left out, and the regression on them. Where there
    /// are many series, some of them choose the groups.
    fn choose(&self, kernels: &[Vec<f64>], candidates: Vec<Vec<f64>>) -> (Vec<f64>, Option<Trial>) {
        let count = self.truths.len();
        let step = count.div_ceil(MOST_TO_CHOOSE).max(1);
        let best = match step {
            1 => self.least(kernels, &candidates),
            _ => {
                let some: Vec<usize> = (0..count).step_by(step).collect();
                let part = |kernel: &Vec<f64>| -> Vec<f64> {
                    some.iter().flat_map(|i| some.iter().map(move |j| kernel[i * count + j])).collect()
                };
                let mut parts: Vec<Vec<f64>> = kernels.iter().map(part).collect();
                parts.iter_mut().for_each(|kernel| centre(kernel, some.len()));
                let truths = some.iter().map(|&i| self.truths[i]).collect();
                Problem { rows: Vec::new(), truths, classes: self.classes }.least(&parts, &candidates)
            }
        };
        let groups = best.unwrap_or_default();
        let trial = self.trial(kernels, &groups);
        (groups, trial)
    }

    /// The candidate with the least loss, the first of equal ones.
    fn least(&self, kernels: &[Vec<f64>], candidates: &[Vec<f64>]) -> Option<Vec<f64>> {
        if let [one] = candidates {
            return Some(one.clone());
        }
        let loss =
            |groups: &Vec<f64>| self.trial(kernels, groups).map(|trial| (trial.log_loss, groups.clone()));
        let losses: Vec<Option<(f64, Vec<f64>)>> = candidates.par_iter().map(loss).collect();
        losses.into_iter().flatten().reduce(|a, b| if b.0 < a.0 { b } else { a }).map(|(_, groups)| groups)
    }

    /// The best regression on a weighted mean of kernels.
    fn trial(&self, kernels: &[Vec<f64>], groups: &[f64]) -> Option<Trial> {
        let total: f64 = groups.iter().sum();
        let mut kernel = vec![0.0; self.truths.len() * self.truths.len()];
        for (part, group) in kernels.iter().zip(groups).filter(|(_, group)| **group > 0.0) {
            kernel.iter_mut().zip(part).for_each(|(sum, entry)| *sum += group / total * entry);
        }
        let trials: Vec<Option<Trial>> = RIDGES
            .par_iter()
            .map(|&ridge| {
                let dual = solve(&kernel, &self.truths, self.classes, ridge)?;
                let (sharpness, log_loss) =
                    calibration::sharpness(&dual.left_out, self.classes, &self.truths);
                Some(Trial { dual, ridge, sharpness, log_loss })
            })
            .collect();
        trials.into_iter().flatten().reduce(|a, b| if b.log_loss < a.log_loss { b } else { a })
    }

    fn between_features(&self, map: &FeatureMap, standard: &Standard) -> Solved {
        let ranges = map.groups();
        let varies: Vec<bool> = ranges.iter().map(|range| standard.varying(range) > 0).collect();
        // All of them: many series can do without a choice.
        let weights = map.plan.views.iter().flat_map(|_| [1.0, PLACE]).chain([1.0]);
        let groups: Vec<f64> =
            weights.zip(varies).map(|(weight, varies)| if varies { weight } else { 0.0 }).collect();
        let total: f64 = groups.iter().sum();
        let mut factors = vec![0.0f32; map.len()];
        for (range, group) in ranges.iter().zip(&groups) {
            let share = group / total.max(PLACE) / standard.varying(range).max(1) as f64;
            factors[range.clone()].fill(share.sqrt() as f32);
        }
        let scaled = |i: &usize| self.rows[*i].iter().zip(&factors).map(|(x, f)| x * f).collect::<Vec<f32>>();
        // Classes take turns, so that the series that are left out have of all.
        let out: Vec<usize> = (0..self.rows.len()).filter(|i| i % ONE_IN == ONE_IN - 1).collect();
        let kept: Vec<usize> = (0..self.rows.len()).filter(|i| i % ONE_IN != ONE_IN - 1).collect();
        let rows: Vec<Vec<f32>> = kept.par_iter().map(scaled).collect();
        let known: Vec<usize> = kept.iter().map(|&i| self.truths[i]).collect();
        let primal = Primal::of(&rows, &known, self.classes);
        let held: Vec<Vec<f32>> = out.par_iter().map(scaled).collect();
        let truths: Vec<usize> = out.iter().map(|&i| self.truths[i]).collect();
        let shares = shares(&known, self.classes);
        let scores = |weights: &[f64]| -> Vec<f64> {
            let weights: Vec<Vec<f32>> = weights
                .chunks(map.len().max(1))
                .map(|weights| weights.iter().map(|w| *w as f32).collect())
                .collect();
            let of_row = |row: &Vec<f32>| {
                weights.iter().zip(&shares).map(|(w, s)| s + ridge::dot(row, w)).collect::<Vec<f64>>()
            };
            held.par_iter().map(of_row).collect::<Vec<_>>().concat()
        };
        let trials: Vec<Option<(f64, f64, f64, f64)>> = RIDGES
            .par_iter()
            .map(|&ridge| {
                let scores = scores(&primal.solve(ridge)?);
                let (sharpness, log_loss) = calibration::sharpness(&scores, self.classes, &truths);
                Some((ridge, sharpness, log_loss, accuracy(&scores, self.classes, &truths)))
            })
            .collect();
        let best = trials.into_iter().flatten().reduce(|a, b| if b.2 < a.2 { b } else { a });
        let (ridge, sharpness, log_loss, accuracy) = best.unwrap_or((1.0, 1.0, 0.0, 0.0));
        let all: Vec<usize> = (0..self.rows.len()).collect();
        let rows: Vec<Vec<f32>> = all.par_iter().map(scaled).collect();
        let solved = Primal::of(&rows, &self.truths, self.classes).solve(ridge);
        let mut weights = solved.unwrap_or_else(|| vec![0.0; self.classes * map.len()]);
        for weights in weights.chunks_mut(map.len().max(1)) {
            weights.iter_mut().zip(&factors).for_each(|(w, f)| *w *= f64::from(*f));
        }
        Solved { weights, sharpness, ridge, groups, log_loss, accuracy }
    }
}

/// The share of rows of scores `[N, K]` whose largest is that of the true class.
fn accuracy(scores: &[f64], classes: usize, truths: &[usize]) -> f64 {
    let right = scores.chunks(classes.max(1)).zip(truths).filter(|(row, truth)| {
        row.iter().enumerate().all(|(class, score)| class == **truth || *score < row[**truth])
    });
    right.count() as f64 / truths.len().max(1) as f64
}
