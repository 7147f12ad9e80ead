//! Fitted models of tables: windows, forecasts, classes per time, static variables, files.

use std::fmt::Write;
use std::path::Path;

use stroock::estimator::{
    EstimatorError, EvaluateOptions, FitConfig, Goal, Horizon, Model, ModelKind, PredictOptions,
};
use stroock::model::ModelSettings;
use stroock::run::{Progress, RunFolder, StopFlag, TensorFile};
use stroock::score::HoldOut;
use stroock::series::Labels;
use stroock::series::table::{Column, DataFrame, ReadOptions, Sampling, Table};

fn read(folder: &Path, name: &str, text: &str, options: &ReadOptions) -> Table {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    Table::read(&[path], options).unwrap()
}

/// Fits for a few epochs, with everything else as suits the table.
fn fit(table: Table, goal: Goal, epochs: u64, folder: &Path) -> Model {
    let sampling = Sampling::suggest(&table).sampling;
    let table = table.sampled(sampling);
    let config = FitConfig::suggest(&table, sampling, goal).unwrap().with_epochs(epochs);
    let folder = RunFolder::create(folder.join("run")).unwrap();
    config.fit(&table, &folder, &StopFlag::new(), Progress::hidden).unwrap().model
}

/// One long series by the hour, with a daily wave and a gap of a day.
fn hourly() -> String {
    let mut text = String::from("date,load,wind\n");
    for hour in 0..24 * 40 {
        let (day, of_day) = (hour / 24, hour % 24);
        let wave = (std::f64::consts::TAU * f64::from(of_day) / 24.0).sin();
        let load = if day == 11 { String::new() } else { format!("{:.3}", 50.0 + 10.0 * wave) };
        let date = format!("2024-{:02}-{:02}T{of_day:02}:00:00Z", 1 + day / 28, 1 + day % 28);
        writeln!(text, "{date},{load},{:.3}", 3.0 - wave + 0.01 * f64::from(hour % 7)).unwrap();
    }
    text
}

fn numbers<'a>(data_frame: &'a DataFrame, name: &str) -> &'a [f64] {
    let place = data_frame.names.iter().position(|other| other == name).unwrap();
    let Column::Number(numbers) = &data_frame.columns[place] else { panic!("`{name}` has no numbers") };
    numbers
}

#[test]
fn long_series_are_cut_filled_and_forecast() {
    let folder = tempfile::tempdir().unwrap();
    let table = read(folder.path(), "load.csv", &hourly(), &ReadOptions::default());
    let model = fit(table.clone(), Goal::Impute, 150, folder.path());
    let window = model.table().unwrap().sampling.window.expect("one long series is cut");
    assert_eq!(window % 86_400.0, 0.0);

    // The gap of a day, in the units of the table, between what the wave says.
    let predictions = model.impute(&table, None, &PredictOptions::default()).unwrap();
    assert_eq!(predictions.len(), 24);
    let errors = predictions.times.iter().zip(&predictions.mean).map(|(time, mean)| {
        let hour = (time / 3600.0).rem_euclid(24.0);
        (mean - (50.0 + 10.0 * (std::f64::consts::TAU * hour / 24.0).sin())).abs()
    });
    let errors: Vec<f64> = errors.collect();
    let rmse = (errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64).sqrt();
    assert!(rmse < 2.5, "an amplitude of 10 is missed by {rmse}");
    let data_frame = predictions.data_frame();
    assert_eq!(data_frame.names[..4], ["id", "date", "variable", "mean"]);
    assert!(numbers(&data_frame, "sd").iter().all(|&sd| sd > 0.0));

    // Times in windows that have no rows are predicted, too, and a saved model gives the same predictions.
    let ahead = table.data.series()[0].times.last().unwrap() + 40.0 * 86_400.0;
    let at = [ahead, ahead + 1800.0];
    let asked = model.impute(&table, Some(&at), &PredictOptions::default()).unwrap();
    assert_eq!(asked.len(), 4);
    assert_eq!(asked.times[0], ahead);
    let again = Model::load(&folder.path().join("run")).unwrap();
    assert_eq!(again.impute(&table, Some(&at), &PredictOptions::default()).unwrap(), asked);

    // A forecast goes on from the last row, hour by hour, and within a window nobody is warned.
    let last = *table.data.series()[0].times.last().unwrap();
    let forecast = model.forecast(&table, last + 6.0 * 3600.0, None, &PredictOptions::default()).unwrap();
    assert_eq!(forecast.len(), 12);
    assert_eq!(forecast.times[0], last + 3600.0);
    assert!(forecast.warnings.is_empty(), "{:?}", forecast.warnings);
    assert!(forecast.notes[0].contains("`load` (season of 24 steps)"), "{:?}", forecast.notes);
    // The wave goes on, as far as one likes.
    let far = model.forecast(&table, Horizon::Steps(900), None, &PredictOptions::default()).unwrap();
    assert_eq!(far.len(), 1800);
    for row in (0..far.len()).filter(|&row| far.channels[row] == 0) {
        let hour = (far.times[row] / 3600.0).rem_euclid(24.0);
        let truth = 50.0 + 10.0 * (std::f64::consts::TAU * hour / 24.0).sin();
        assert!((far.mean[row] - truth).abs() < 0.5, "{} for {truth}", far.mean[row]);
    }
    let days = model.forecast(&table, Horizon::Length(86_400.0), Some(7200.0), &PredictOptions::default());
    assert_eq!(days.unwrap().len(), 24);
    let options =
        EvaluateOptions { hold_out: HoldOut::Tail { share: 0.1 }, origins: 2, ..EvaluateOptions::default() };
    let scores = model.evaluate_forecasts(&table, None, &options).unwrap().overall;
    assert!(scores.mse < 0.01 * scores.baselines[0].mse, "{scores:?}");
    let endless = model.forecast(&table, 1e300, None, &PredictOptions::default());
    assert!(matches!(endless, Err(EstimatorError::TooManyTimes { times, .. }) if times > 1e290));
    for refused in [model.sample(2, Some(1e-300), 1), model.sample_given(&table, 2, Some(1e-300), 1)] {
        assert!(matches!(refused, Err(EstimatorError::TooManyTimes { most: 8_388_608, .. })), "{refused:?}");
    }
    let past = model.forecast(&table, last, None, &PredictOptions::default());
    assert!(matches!(past, Err(EstimatorError::NothingAhead { .. })));
}

#[test]
fn classes_per_time_are_learnt_and_scored() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("id,time,x,state\n");
    for series in 0..30 {
        for step in 0..20 {
            let high = (step + series) / 5 % 2 == 0;
            let x = if high { 1.0 } else { -1.0 } + 0.01 * f64::from(step);
            writeln!(text, "s{series},{step},{x},{}", if high { "high" } else { "low" }).unwrap();
        }
    }
    let options = ReadOptions { label: Some("state".into()), ..ReadOptions::default() };
    let table = read(folder.path(), "states.csv", &text, &options);
    assert_eq!(table.classes, ["high", "low"]);
    assert!(matches!(table.data.series()[0].labels, Labels::ClassPerTime(_)));
    let model = fit(table.clone(), Goal::Classify, 200, folder.path());
    let classes = model.classify(&table, &PredictOptions::default()).unwrap();
    assert_eq!(classes.probabilities.len(), 600);
    assert!(classes.probabilities.iter().all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-6));
    let prepared = model.prepare(&table).unwrap();
    let scores = model.evaluate(&prepared, None, &EvaluateOptions::default()).unwrap();
    let scores = scores.classes.unwrap().scores;
    assert_eq!(scores.count, 600);
    assert!(scores.accuracy > 0.85, "{scores:?}");
}

/// Series of two shapes with levels of their own, a few of them long enough to be cut for another goal.
fn shapes(series: usize) -> String {
    let mut text = String::from("id,time,x,kind\n");
    for series in 0..series {
        for step in 0..60 {
            let t = f64::from(step) / 60.0;
            let x = if series % 2 == 0 { (12.0 * t).sin() } else { (30.0 * t).sin() };
            let level = f64::from(series as u32 % 7);
            writeln!(
                text,
                "s{series},{step},{:.4},{}",
                x + level,
                if series % 2 == 0 { "slow" } else { "fast" }
            )
            .unwrap();
        }
    }
    text
}

#[test]
fn classes_of_series_are_learnt_from_few_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let options = ReadOptions { label: Some("kind".into()), ..ReadOptions::default() };
    let table = read(folder.path(), "shapes.csv", &shapes(6), &options);
    // Six series would be cut into windows to fill gaps.
    assert!(Sampling::suggest(&table).sampling.window.is_some());
    let sampling = FitConfig::sampling(&table, Goal::Classify).sampling;
    assert_eq!(sampling.window, None);
    let table = table.sampled(sampling);
    let config = FitConfig::suggest(&table, sampling, Goal::Classify).unwrap().with_epochs(2);
    let run = RunFolder::create(folder.path().join("run")).unwrap();
    let fitted = config.fit(&table, &run, &StopFlag::new(), Progress::hidden).unwrap();
    let classes = |numbers: &[usize]| -> Vec<&Labels> {
        numbers.iter().map(|&number| &table.data.series()[number].labels).collect()
    };
    for class in 0..2 {
        assert!(classes(&fitted.split.train).contains(&&Labels::Class(class)), "{:?}", fitted.split);
    }
    let about = fitted.model.classifier.as_ref().unwrap().description();
    assert_eq!((about.choice.share, about.classes), (1.0, 2));
    assert_eq!(about.series, fitted.split.train.len() + fitted.split.validation.len());

    // New series, and the same bits from the file and for a part of the table.
    let new = read(folder.path(), "new.csv", &shapes(9), &options);
    let found = fitted.model.classify(&new, &PredictOptions::default()).unwrap();
    let names: Vec<usize> = found.probabilities.iter().map(|row| usize::from(row[1] > row[0])).collect();
    assert_eq!(found.classes, ["fast", "slow"]);
    assert_eq!(names, [1, 0, 1, 0, 1, 0, 1, 0, 1]);
    let loaded = Model::load(&folder.path().join("run")).unwrap();
    assert_eq!(loaded.classify(&new, &PredictOptions::default()).unwrap(), found);
    let part = read(folder.path(), "part.csv", &shapes(3), &options);
    assert_eq!(
        loaded.classify(&part, &PredictOptions::default()).unwrap().probabilities,
        found.probabilities[..3]
    );
    let prepared = loaded.prepare(&new).unwrap();
    let evaluation = loaded.evaluate(&prepared, None, &EvaluateOptions::default()).unwrap().classes.unwrap();
    assert_eq!((evaluation.scores.count, evaluation.scores.accuracy), (9, 1.0));
    assert_eq!(evaluation.left_out.unwrap().series, about.series);

    // Of a file of a later version, whose classifier may be another one, the version is what is told.
    let path = folder.path().join("later.safetensors");
    let mut file = TensorFile::load(&folder.path().join("run/model.safetensors")).unwrap();
    file.set_format("stroock-model", 7);
    file.metadata.insert("classifier".into(), "{}".into());
    file.save(&path).unwrap();
    let words = Model::load(&path).unwrap_err().to_string();
    assert!(words.contains("has format version 7"), "{words}");
}

#[test]
fn static_variables_are_seen_and_never_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("id,time,level,x\n");
    for series in 0..40 {
        for step in 0..12 {
            let x = if step % 3 == 1 { String::new() } else { format!("{}", series % 4) };
            writeln!(text, "s{series},{step},{},{x}", series % 4).unwrap();
        }
    }
    let options = ReadOptions { statics: vec!["level".into()], ..ReadOptions::default() };
    let table = read(folder.path(), "levels.csv", &text, &options);
    let model = fit(table.clone(), Goal::Impute, 60, folder.path());
    let predictions = model.impute(&table, None, &PredictOptions::default()).unwrap();
    assert_eq!(predictions.len(), 40 * 4);
    assert!(predictions.data_frame().rows().unwrap() == 160);
    let prepared = model.prepare(&table).unwrap();
    for hold_out in [HoldOut::Random { share: 0.3 }, HoldOut::Tail { share: 0.3 }] {
        let options = EvaluateOptions { hold_out, ..EvaluateOptions::default() };
        let evaluation = model.evaluate(&prepared, None, &options).unwrap();
        let names: Vec<&str> = evaluation.variables.iter().map(|v| v.name.as_str()).collect();
        assert_eq!(names, ["x"]);
        assert!(evaluation.overall.mse < evaluation.overall.baselines[1].mse, "{evaluation:?}");
    }
}

#[test]
fn tables_without_anything_to_learn_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let empty = read(folder.path(), "empty.csv", "id,time,x\na,0,\nb,1,\n", &ReadOptions::default());
    let refused = FitConfig::suggest(&empty, Sampling::default(), Goal::Impute);
    assert!(matches!(refused, Err(EstimatorError::NoValues { series: 2 })));
    let plain = read(folder.path(), "plain.csv", "id,time,x\na,0,1\nb,1,2\n", &ReadOptions::default());
    let refused = FitConfig::suggest(&plain, Sampling::default(), Goal::Classify);
    assert!(matches!(refused, Err(EstimatorError::NoClasses)));
}

#[test]
fn the_smallest_tables_are_fitted() {
    for (name, text, gaps) in [
        ("one value", "id,time,x\na,0,1\n", 0),
        ("one series", "time,x\n0,1\n1,2\n2,\n5,4\n", 1),
        ("a constant", "id,time,x,y\na,0,1,\na,3,1,\nb,1,1,\n", 3),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let table = read(folder.path(), "small.csv", text, &ReadOptions::default());
        let model = fit(table.clone(), Goal::Impute, 2, folder.path());
        let predictions = model.impute(&table, None, &PredictOptions::default()).unwrap();
        assert_eq!(predictions.len(), gaps, "{name}");
        // Two epochs teach nothing: predictions are about as far from the values as these are from each other.
        let plausible = |(mean, sd): (&f64, &f64)| (mean - 2.0).abs() < 6.0 && *sd > 0.0 && *sd < 6.0;
        assert!(predictions.mean.iter().zip(&predictions.sd).all(plausible), "{name}: {predictions:?}");
    }
}

#[test]
fn what_was_given_comes_back_to_the_last_digit() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = [16_777_217.0, 0.1, 1.0 / 3.0, 1e-12, -123_456_789.123_456_7, 2f64.powi(53) - 1.0];
    // Negative times in windows: counted from the beginning of a window they are rounded.
    let times: Vec<f64> = (0..300).map(|step| -10.0 + 0.1 * f64::from(step) + 1e-3 / 3.0).collect();
    let values: Vec<f64> =
        (0..300).map(|step| if step % 7 == 3 { f64::NAN } else { hostile[step % 6] }).collect();
    let table = Table::from_columns(&vec!["a"; 300], &times, &[("x", &values)]).unwrap();
    let config = Sampling { window: Some(5.0), ..Sampling::suggest(&table).sampling };
    let cut = table.clone().sampled(config);
    let fit = FitConfig::suggest(&cut, config, Goal::Impute).unwrap().with_epochs(2);
    let run = RunFolder::create(folder.path().join("run")).unwrap();
    let fitted = fit.fit(&cut, &run, &StopFlag::new(), Progress::hidden).unwrap();
    assert_eq!(fitted.split, fit.split(&cut).unwrap());
    let prepared = fitted.model.prepare(&table).unwrap();
    assert_eq!((&fitted.prepared.data, &fitted.prepared.origins), (&prepared.data, &prepared.origins));

    let predictions = fitted.model.impute(&table, None, &PredictOptions::default()).unwrap();
    assert_eq!(predictions.len(), values.iter().filter(|value| value.is_nan()).count());
    let filled = fitted.model.filled(&table, &predictions).unwrap();
    for path in ["filled.csv", "filled.parquet"].map(|name| folder.path().join(name)) {
        filled.save(&path).unwrap();
        let again = Table::read(&[path], &ReadOptions::default()).unwrap();
        let series = &again.data.series()[0];
        assert_eq!(series.times, times);
        for (given, found) in values.iter().zip(&series.values) {
            assert!(given.is_nan() || given.to_bits() == found.to_bits(), "{given} became {found}");
        }
    }
}

#[test]
fn written_quantiles_are_those_that_coverage_is_measured_by() {
    let folder = tempfile::tempdir().unwrap();
    let table = read(folder.path(), "load.csv", &hourly(), &ReadOptions::default());
    let model = fit(table.clone(), Goal::Impute, 2, folder.path());
    let options =
        PredictOptions { draws: 19, samples: 19, quantiles: vec![0.05, 0.33], ..PredictOptions::default() };
    let predictions = model.impute(&table, None, &options).unwrap();
    for row in 0..predictions.len() {
        let mut draws: Vec<f64> = predictions.samples.iter().map(|samples| samples[row]).collect();
        draws.sort_by(f64::total_cmp);
        // One of nineteen draws is the quantile of a twentieth.
        assert_eq!(predictions.quantiles[0][row], draws[0]);
        assert_eq!(Some(predictions.quantiles[1][row]), stroock::series::quantile(&draws, 0.33));
    }
}

#[test]
fn values_without_a_finite_variance_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let table = Table::from_columns(&["a", "b"], &[0.0, 1.0], &[("huge", &[1e300, -1e300])]).unwrap();
    let config = FitConfig::suggest(&table, Sampling::default(), Goal::Impute).unwrap();
    let config = FitConfig { validation_share: 0.0, test_share: 0.0, ..config };
    let run = RunFolder::create(folder.path().join("run")).unwrap();
    let refused = config.fit(&table, &run, &StopFlag::new(), Progress::hidden);
    assert!(matches!(refused, Err(EstimatorError::Scale { variable }) if variable == "huge"));
}

/// A number from 0 to 1 that follows no rule.
fn by_chance(number: usize) -> f64 {
    let mixed = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed ^ (mixed >> 32)) % 1000) as f64 / 1000.0
}

fn is_promoted(day: usize) -> bool {
    by_chance(day) < 0.25
}

/// Half a year of sales that wander about a week, with a promotion on some days that lifts them by 30; `known` more days
/// with the promotion alone.
fn promoted(known: usize) -> String {
    let sales = |day: usize| {
        let week = [0.0, 2.0, 4.0, 6.0, 9.0, 14.0, 11.0][day % 7];
        let wandering = 3.0 * (0.13 * day as f64).sin() + 2.0 * by_chance(day + 1000);
        100.0 + week + wandering + if is_promoted(day) { 30.0 } else { 0.0 }
    };
    let mut text = "day,sales,promotion\n".to_owned();
    for day in 0..180 + known {
        let sold = if day < 180 { format!("{:.3}", sales(day)) } else { String::new() };
        text += &format!("{day},{sold},{}\n", u8::from(is_promoted(day)));
    }
    text
}

#[test]
fn what_is_known_ahead_of_time_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let table = read(folder.path(), "past.csv", &promoted(0), &ReadOptions::default());
    let sampling = FitConfig::sampling(&table, Goal::Forecast).sampling;
    let cut = table.clone().sampled(sampling);
    let mut config = FitConfig::suggest(&cut, sampling, Goal::Forecast).unwrap().with_epochs(1);
    let fit = |config: &FitConfig| config.fit(&cut, None, &StopFlag::new(), Progress::hidden).unwrap().model;
    let plain = fit(&config);
    config.known = vec!["promotion".into()];
    let model = fit(&config);

    let ahead = read(folder.path(), "ahead.csv", &promoted(21), &ReadOptions::default());
    let options = PredictOptions::default();
    let predicted = model.forecast(&ahead, Horizon::Steps(21), None, &options).unwrap();
    assert_eq!(predicted.len(), 21, "what is known is not forecast");
    assert!(predicted.times.iter().zip(180..).all(|(&time, day)| time == f64::from(day)));
    let without = plain.forecast(&table, Horizon::Steps(21), None, &options).unwrap();
    let sales: Vec<f64> = (0..without.len())
        .filter(|&row| without.variables[without.channels[row]] == "sales")
        .map(|row| without.mean[row])
        .collect();
    let lift: Vec<f64> = predicted.mean.iter().zip(&sales).map(|(a, b)| a - b).collect();
    let mean = |rows: &[usize]| rows.iter().map(|&row| lift[row]).sum::<f64>() / rows.len() as f64;
    let (on, off): (Vec<usize>, Vec<usize>) = (0..21).partition(|row| is_promoted(180 + row));
    assert!((mean(&on) - mean(&off) - 30.0).abs() < 5.0, "{} and {}", mean(&on), mean(&off));

    let missing = model.forecast(&table, Horizon::Steps(3), None, &options).unwrap_err();
    assert!(missing.to_string().contains("`promotion`"), "{missing}");
    let path = folder.path().join("model.safetensors");
    model.save(&path).unwrap();
    let again = Model::load(&path).unwrap().forecast(&ahead, Horizon::Steps(21), None, &options).unwrap();
    assert_eq!(again.mean, predicted.mean);

    config.known = vec!["promotions".into()];
    assert!(config.known_channels(&cut).unwrap_err().to_string().contains("`promotion`"));
    config.known = vec!["sales".into(), "promotion".into()];
    assert!(config.known_channels(&cut).is_err());
}

#[test]
fn a_table_can_be_fitted_with_any_of_the_models() {
    let folder = tempfile::tempdir().unwrap();
    let table = read(folder.path(), "load.csv", &hourly(), &ReadOptions::default());
    let sampling = Sampling::suggest(&table).sampling;
    let cut = table.clone().sampled(sampling);
    for kind in ModelKind::ALL {
        let config = FitConfig::suggest_with(kind, &cut, sampling, Goal::Impute).unwrap().with_epochs(2);
        assert_eq!(config.model.kind(), kind.name());
        let model = config.fit(&cut, None, &StopFlag::new(), Progress::hidden).unwrap().model;
        let file = folder.path().join(kind.name());
        model.save(&file).unwrap();
        let predict = |model: &Model| model.impute(&table, None, &PredictOptions::default()).unwrap().mean;
        let (before, after) = (predict(&model), predict(&Model::load(&file).unwrap()));
        assert!(before.len() == 24 && before.iter().all(|mean| mean.is_finite()), "{}", kind.name());
        assert_eq!(before, after, "{}", kind.name());
    }
}
