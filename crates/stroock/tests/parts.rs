//! A part of a table, with whole series, has the answers of the whole to the last bit: engines answer in parts.

use std::f64::consts::TAU;

use stroock::estimator::{
    EvaluateOptions, EvaluationSums, FitConfig, Goal, Horizon, Model, PredictOptions, Predictions, Subject,
};
use stroock::forecast::LatentScore;
use stroock::run::{Progress, StopFlag};
use stroock::score::HoldOut;
use stroock::series::table::{Align, Sampling, Table};
use stroock::series::{Dataset, Labels};

const SERIES: usize = 24;

/// Waves with gaps, each with a beginning and an end of its own.
fn waves() -> Table {
    let (mut ids, mut times, mut x, mut y) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for series in 0..SERIES {
        for step in series % 5..60 + 7 * (series % 3) {
            let angle = TAU * (step as f64 / 12.0 + series as f64 / 7.0);
            let is_gap = (step * 7 + series) % 5 == 0;
            ids.push(format!("s{series}"));
            times.push(step as f64);
            x.push(if is_gap { f64::NAN } else { angle.sin() });
            y.push(if (step + series) % 4 == 0 { f64::NAN } else { 3.0 + angle.cos() });
        }
    }
    Table::from_columns(&ids, &times, &[("x", &x), ("y", &y)]).unwrap()
}

/// The same with a class for every series.
fn classed() -> Table {
    let mut table = waves();
    let observation = table.data.observation();
    let mut series = table.data.into_series();
    for (number, series) in series.iter_mut().enumerate() {
        series.labels = Labels::Class((number % 2) as u32);
    }
    table.data = Dataset::new(observation, series).unwrap();
    table.with_classes(["even", "odd"])
}

/// The table in three parts, whose series are in another order.
fn parts(table: &Table) -> Vec<Table> {
    let part = |first: usize| {
        let numbers: Vec<usize> = (0..SERIES).rev().filter(|number| number % 3 == first).collect();
        let series = numbers.iter().map(|&number| table.data.series()[number].clone()).collect();
        let mut part = table.clone();
        part.origins = numbers.iter().map(|&number| table.origins[number]).collect();
        part.data = Dataset::new(table.data.observation(), series).unwrap();
        part
    };
    (0..3).map(part).collect()
}

fn fit(table: &Table, goal: Goal, window: Option<f64>) -> Model {
    let sampling = Sampling { window, align: Align::Start };
    let cut = table.clone().sampled(sampling);
    let config = FitConfig::suggest(&cut, sampling, goal).unwrap().with_epochs(1);
    config.fit(&cut, None, &StopFlag::new(), Progress::hidden).unwrap().model
}

/// The rows of predictions, sorted, every number by its bits.
fn rows<'a>(all: impl IntoIterator<Item = &'a Predictions>) -> Vec<(String, u64, usize, Vec<u64>)> {
    let of_one = |predictions: &'a Predictions| {
        (0..predictions.len()).map(move |row| {
            let lists = [&predictions.mean, &predictions.sd].into_iter();
            let lists = lists.chain(&predictions.quantiles).chain(&predictions.samples);
            let numbers = lists.map(|list| list[row].to_bits()).collect();
            let (id, time) = (predictions.ids[row].clone(), predictions.times[row].to_bits());
            (id, time, predictions.channels[row], numbers)
        })
    };
    let mut rows: Vec<_> = all.into_iter().flat_map(of_one).collect();
    rows.sort();
    rows
}

/// Compares what is said about the table with what is said about its parts.
fn compare(table: &Table, predict: impl Fn(&Table) -> Predictions) -> Predictions {
    let whole = predict(table);
    let apart: Vec<Predictions> = parts(table).iter().map(predict).collect();
    assert!(!whole.is_empty());
    assert!(rows([&whole]) == rows(&apart), "a part is answered otherwise than the whole");
    whole
}

#[test]
fn gaps_are_filled_part_by_part() {
    let table = waves();
    for window in [None, Some(24.0)] {
        let model = fit(&table, Goal::Impute, window);
        for samples in [0, 2] {
            let options = PredictOptions { draws: 20, samples, ..PredictOptions::default() };
            compare(&table, |table| model.impute(table, None, &options).unwrap());
            let at = [3.5, 30.0, 55.25];
            compare(&table, |table| model.impute(table, Some(&at), &options).unwrap());
        }
    }
}

#[test]
fn forecasts_are_made_part_by_part() {
    let table = waves();
    let options = PredictOptions { draws: 20, samples: 3, ..PredictOptions::default() };
    for window in [None, Some(24.0)] {
        let mut model = fit(&table, Goal::Forecast, window);
        let without_latent = model.description.data.forecast.as_mut().unwrap();
        without_latent.variables.iter_mut().flatten().for_each(|found| found.latent = None);
        let forecast = |model: &Model, horizon: Horizon| {
            compare(&table, |table| model.forecast(table, horizon, None, &options).unwrap())
        };
        let until = Horizon::Until(78.0);
        for horizon in [Horizon::Steps(5), Horizon::Length(7.0)] {
            forecast(&model, horizon);
        }
        let plain = forecast(&model, until);
        // The latent model answers for one of the variables: how far, is decided for every series by itself.
        let forecaster = model.description.data.forecast.as_mut().unwrap();
        let found = forecaster.variables[0].as_mut().unwrap();
        found.latent = Some(LatentScore { latent: 0.1, methods: 1.0, horizon: 14.0, series: 20 });
        forecast(&model, Horizon::Steps(5));
        let mixed = forecast(&model, until);
        for row in 0..mixed.len() {
            // Series end at 59, 66 and 73: the first of them are forecast over more than fourteen steps.
            let number: usize = mixed.ids[row][1..].parse().unwrap();
            let is_latent = mixed.channels[row] == 0 && !number.is_multiple_of(3);
            assert_eq!(mixed.mean[row] != plain.mean[row], is_latent, "row {row} of {}", mixed.ids[row]);
        }
    }
}

#[test]
fn classes_are_found_part_by_part() {
    let table = classed();
    let model = fit(&table, Goal::Classify, None);
    let options = PredictOptions { draws: 10, ..PredictOptions::default() };
    let bits = |row: &Vec<f64>| row.iter().map(|p| p.to_bits()).collect::<Vec<_>>();
    let classify = |table: &Table| {
        let found = model.classify(table, &options).unwrap();
        found.ids.into_iter().zip(found.probabilities.iter().map(bits)).collect::<Vec<_>>()
    };
    let mut whole = classify(&table);
    let mut apart: Vec<_> = parts(&table).iter().flat_map(classify).collect();
    whole.sort();
    apart.sort();
    assert_eq!(whole, apart);
}

/// Numbers that differ by rounding alone.
fn assert_close(one: f64, other: f64) {
    assert!((one - other).abs() <= 1e-12 * one.abs().max(1e-3), "{one} and {other}");
}

#[test]
fn scores_are_those_of_the_parts_together() {
    let table = classed();
    for (goal, window) in [(Goal::Classify, None), (Goal::Impute, Some(24.0))] {
        let model = fit(&table, goal, window);
        for hold_out in [HoldOut::Random { share: 0.3 }, HoldOut::Blocks { share: 0.2, length: 4 }] {
            let options = EvaluateOptions { hold_out, draws: 20, ..EvaluateOptions::default() };
            let whole = Subject::given(&model, table.clone()).unwrap().evaluate(&model, &options).unwrap();
            let sums = |table: &Table| {
                let prepared = model.prepare(table).unwrap();
                model.evaluation_sums(&prepared, None, &options).unwrap()
            };
            let merged = parts(&table).iter().map(sums).reduce(|mut all: EvaluationSums, part| {
                all.merge(&part).unwrap();
                all
            });
            let apart = model.evaluation(&merged.unwrap()).unwrap();
            assert_eq!((apart.series, apart.overall.count), (whole.series, whole.overall.count));
            assert_eq!(apart.overall.coverage, whole.overall.coverage);
            assert_close(apart.overall.mse, whole.overall.mse);
            assert_close(apart.overall.crps.unwrap(), whole.overall.crps.unwrap());
            for (one, other) in apart.variables.iter().zip(&whole.variables) {
                assert_eq!((&one.name, one.scores.count), (&other.name, other.scores.count));
                assert_close(one.scores.mae, other.scores.mae);
                assert_close(one.scores.nll.unwrap(), other.scores.nll.unwrap());
            }
            assert_eq!(apart.classes.is_some(), goal == Goal::Classify);
            if let (Some(one), Some(other)) = (apart.classes, whole.classes) {
                assert_eq!(one.scores.confusion, other.scores.confusion);
                assert_close(one.scores.log_loss, other.scores.log_loss);
            }
        }
    }
}

#[test]
fn sums_of_other_tests_are_refused() {
    let table = waves();
    let model = fit(&table, Goal::Impute, None);
    let prepared = model.prepare(&table).unwrap();
    let options = EvaluateOptions { draws: 5, ..EvaluateOptions::default() };
    let mut sums = model.evaluation_sums(&prepared, None, &options).unwrap();
    let other = EvaluateOptions { seed: 2, ..options };
    let refused = sums.merge(&model.evaluation_sums(&prepared, None, &other).unwrap()).unwrap_err();
    assert!(refused.to_string().contains("options"), "{refused}");
}
