//! Classes of whole series in closed form: what it learns, how sure it is, and its file.

use stroock::classifier::{ClassifierConfig, SeriesClassifier};
use stroock::run::TensorFile;
use stroock::series::Series;
use stroock_kernels::noise::{NoiseKey, Purpose, Stream};

fn stream(seed: u64, number: usize) -> Stream {
    NoiseKey::new(seed, 3).stream(Purpose::Caller, number as u32, 0)
}

/// A standard normal number from the sum of twelve uniform ones.
fn normal(stream: &mut Stream) -> f64 {
    (0..12).map(|_| stream.uniform()).sum::<f64>() - 6.0
}

fn config() -> ClassifierConfig {
    ClassifierConfig { comparisons: 1000, ..ClassifierConfig::default() }
}

fn fit(series: &[Series], truths: &[usize], classes: usize, channels: usize) -> SeriesClassifier {
    config().fit(&series.iter().collect::<Vec<_>>(), truths, classes, channels, &[])
}

fn accuracy(classifier: &SeriesClassifier, series: &[Series], truths: &[usize]) -> f64 {
    let right = series.iter().zip(truths).filter(|(series, truth)| {
        let p = classifier.probabilities(series);
        assert!(
            (p.iter().sum::<f64>() - 1.0).abs() < 1e-9 && p.iter().all(|p| (0.0..=1.0).contains(p)),
            "{p:?}"
        );
        (0..p.len()).all(|class| class == **truth || p[class] < p[**truth])
    });
    right.count() as f64 / series.len() as f64
}

fn alternating(count: usize, classes: usize) -> Vec<usize> {
    (0..count).map(|number| number % classes).collect()
}

/// A bump that is one-sided in one class and two-sided in the other, anywhere in a series, of any level and scale.
fn bump(seed: u64, number: usize, class: usize) -> Series {
    let mut s = stream(seed, number);
    let (place, level, scale) =
        (20.0 + 60.0 * s.uniform(), 50.0 * normal(&mut s), (2.0 * normal(&mut s)).exp());
    let values = (0..100).map(|t| {
        let x = (f64::from(t) - place) / 5.0;
        let shape = if class == 0 { (-x * x).exp() } else { 2.0 * x * (-x * x).exp() };
        (level + scale * (shape + 0.05 * normal(&mut s))) as f32
    });
    Series { times: (0..100).map(f64::from).collect(), values: values.collect(), ..Series::default() }
}

#[test]
fn shapes_are_found_at_any_place_level_and_scale() {
    let make =
        |seed, count| -> Vec<Series> { (0..count).map(|number| bump(seed, number, number % 2)).collect() };
    let classifier = fit(&make(1, 24), &alternating(24, 2), 2, 1);
    let found = accuracy(&classifier, &make(2, 100), &alternating(100, 2));
    assert!(found >= 0.95, "{found}");
}

/// Oscillations of one of three frequencies with a random phase, at irregular times of their own, of two channels that
/// are each observed half of the time, and of lengths between a third and all.
fn gappy(seed: u64, number: usize, class: usize) -> Series {
    let mut s = stream(seed, number);
    let (phase, end) = (s.uniform() * 6.3, 40.0 * (1.0 + 2.0 * s.uniform()) / 3.0);
    let (mut t, mut series) = (0.0, Series { observed: Some(Vec::new()), ..Series::default() });
    while t < end {
        series.times.push(t);
        let wave = ((0.4 + 0.3 * class as f64) * t + phase).sin();
        series
            .values
            .extend([wave as f32, if s.uniform() < 0.5 { f32::NAN } else { (0.1 * normal(&mut s)) as f32 }]);
        let seen = s.uniform() < 0.5;
        let noise = series.values[series.values.len() - 1];
        if let Some(observed) = &mut series.observed {
            observed.extend([seen, noise.is_finite()]);
        }
        t += 0.1 + 0.4 * s.uniform();
    }
    series
}

#[test]
fn gaps_and_unequal_lengths_are_no_hindrance() {
    let make =
        |seed, count| -> Vec<Series> { (0..count).map(|number| gappy(seed, number, number % 3)).collect() };
    let classifier = fit(&make(1, 45), &alternating(45, 3), 3, 2);
    let plan = &classifier.description().plan;
    assert!(plan.grid.ragged && plan.grid.gappy, "{:?}", plan.grid);
    let found = accuracy(&classifier, &make(2, 90), &alternating(90, 3));
    assert!(found >= 0.9, "{found}");
}

/// White noise around a level of 0 or 1: the mean of 16 values of standard deviation 2 tells classes apart with the
/// probability `Phi(0.5 / (2 / sqrt 16)) = Phi(1) = 0.841`, and no classifier does better.
fn levels(seed: u64, count: usize) -> (Vec<Series>, Vec<usize>) {
    let make = |number: usize| {
        let mut s = stream(seed, number);
        let values = (0..16).map(|_| ((number % 2) as f64 + 2.0 * normal(&mut s)) as f32).collect();
        Series { times: (0..16).map(f64::from).collect(), values, ..Series::default() }
    };
    ((0..count).map(make).collect(), alternating(count, 2))
}

#[test]
fn probabilities_are_calibrated() {
    let (series, truths) = levels(1, 300);
    let classifier = fit(&series, &truths, 2, 1);
    let (new, new_truths) = levels(2, 2000);
    let found = accuracy(&classifier, &new, &new_truths);
    assert!((0.80..0.87).contains(&found), "{found}");
    // What was left out has foretold it.
    assert!(
        (classifier.description().accuracy - found).abs() < 0.06,
        "{:?}",
        classifier.description().accuracy
    );
    let mut bins = [(0.0, 0.0, 0.0); 10];
    let mut loss = 0.0;
    for (series, &truth) in new.iter().zip(&new_truths) {
        let p = classifier.probabilities(series);
        let bin = &mut bins[((10.0 * p[1]) as usize).min(9)];
        *bin = (bin.0 + 1.0, bin.1 + p[1], bin.2 + truth as f64);
        loss -= p[truth].ln() / new.len() as f64;
    }
    let error: f64 = bins.iter().map(|(_, p, truth)| (p - truth).abs()).sum::<f64>() / new.len() as f64;
    assert!(error < 0.06, "expected calibration error {error}, {bins:?}");
    // The loss of who knows the distributions is that of a logistic of N(2, 4) variables: about 0.36.
    assert!(loss < 0.42, "{loss}");
}

#[test]
fn few_series_and_single_ones_are_enough_for_an_answer() {
    let series: Vec<Series> = (0..5).map(|number| bump(1, number, number % 2)).collect();
    for (truths, classes) in
        [(vec![0, 1, 0, 1], 2), (vec![0, 1, 0, 2], 3), (vec![0, 0, 0, 0], 2), (vec![1], 2)]
    {
        let classifier = fit(&series[..truths.len()], &truths, classes, 1);
        let p = classifier.probabilities(&series[4]);
        assert!(p.len() == classes && p.iter().all(|p| p.is_finite() && *p > 0.0), "{truths:?}: {p:?}");
    }
    // Nothing to learn from, and a class that was not announced.
    assert_eq!(fit(&[], &[], 2, 1).probabilities(&series[4]), [0.5, 0.5]);
    assert_eq!(fit(&series[..2], &[0, 2], 2, 1).classes(), 3);
    // A series without a time, with one time, and without a value.
    let classifier = fit(&series[..4], &[0, 1, 0, 1], 2, 1);
    let one = Series { times: vec![3.0], values: vec![1.0], ..Series::default() };
    let none = Series { observed: Some(vec![false]), ..one.clone() };
    for series in [Series::default(), one, none] {
        let p = classifier.probabilities(&series);
        assert!(p.iter().all(|p| p.is_finite()), "{p:?}");
    }
}

#[test]
fn a_file_gives_the_same_bits_and_damaged_ones_are_refused() {
    let series: Vec<Series> = (0..12).map(|number| gappy(1, number, number % 3)).collect();
    let classifier = fit(&series, &alternating(12, 3), 3, 2);
    let mut file = TensorFile::new();
    classifier.note(&mut file).unwrap();
    let bytes = file.to_bytes().unwrap();
    let read = || TensorFile::from_bytes("classifier", &bytes).unwrap();
    let mut file = read();
    let again = SeriesClassifier::take(&mut file).unwrap().unwrap();
    assert!(file.tensors.is_empty() && SeriesClassifier::take(&mut file).unwrap().is_none());
    assert_eq!(again, classifier);
    for series in &series {
        assert_eq!(again.probabilities(series), classifier.probabilities(series));
    }
    for place in 0..read().tensors.len() {
        let mut lacking = read();
        let (name, tensor) = lacking.tensors.remove(place);
        assert!(SeriesClassifier::take(&mut lacking).is_err(), "without {name}");
        let mut short = read();
        let shape = vec![0; tensor.shape().len()];
        let empty = match &tensor.values() {
            stroock::run::TensorValues::F32(_) => stroock::run::Tensor::new(shape, Vec::<f32>::new()),
            stroock::run::TensorValues::F64(_) => stroock::run::Tensor::new(shape, Vec::<f64>::new()),
            stroock::run::TensorValues::U8(_) => stroock::run::Tensor::new(shape, Vec::<u8>::new()),
            _ => stroock::run::Tensor::new(shape, Vec::<u32>::new()),
        };
        short.tensors[place].1 = empty.unwrap();
        assert!(SeriesClassifier::take(&mut short).is_err(), "nothing in {name}");
    }
    assert!(
        classifier.check(2, 3).is_ok() && classifier.check(1, 3).is_err() && classifier.check(2, 4).is_err()
    );
}

#[test]
fn threads_do_not_matter() {
    let series: Vec<Series> = (0..18).map(|number| gappy(4, number, number % 3)).collect();
    let truths = alternating(18, 3);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fit(&series, &truths, 3, 2))
    };
    let one = with(1);
    assert_eq!(one, with(3));
    let row: Vec<&Series> = series.iter().collect();
    // A series has the same probabilities alone.
    assert_eq!(one.all_probabilities(&row)[5], one.probabilities(&series[5]));
}

#[test]
fn more_series_than_features_are_learnt_from_too() {
    let (series, truths) = levels(7, 1800);
    let classifier = ClassifierConfig { comparisons: 100, seed: 1 }.fit(
        &series.iter().collect::<Vec<_>>(),
        &truths,
        2,
        1,
        &[],
    );
    let (new, new_truths) = levels(8, 1000);
    let found = accuracy(&classifier, &new, &new_truths);
    assert!((0.80..0.88).contains(&found), "{found}");
}
