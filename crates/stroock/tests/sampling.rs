//! New series that look like the data, variables that stay positive, and logarithms.

use stroock::estimator::{
    EstimatorError, EvaluateOptions, FitConfig, Fitted, Goal, Model, PredictOptions, SampleSource,
};
use stroock::run::{Progress, StopFlag};
use stroock::sampler::MarginalMap;
use stroock::series::table::{Column, DataFrame, Sampling, Table};
use stroock_kernels::noise::{NoiseKey, Purpose, Stream};

const SERIES: u32 = 150;
const HOURS: u32 = 24;

fn normal(stream: &mut Stream) -> f64 {
    (-2.0 * stream.uniform().ln()).sqrt() * (std::f64::consts::TAU * stream.uniform()).cos()
}

/// Days of a temperature with a daily wave of random height, and of a load that is log-normal; some values are missing.
fn days() -> Table {
    let (mut ids, mut times) = (Vec::new(), Vec::new());
    let (mut temperature, mut load) = (Vec::new(), Vec::new());
    for day in 0..SERIES {
        let mut stream = NoiseKey::new(12, 0).stream(Purpose::Caller, day, 0);
        let (level, height) = (3.0 * normal(&mut stream), 4.0 + normal(&mut stream));
        let drift = 0.5 * normal(&mut stream);
        for hour in 0..HOURS {
            let wave = -(std::f64::consts::TAU * f64::from(hour) / 24.0).cos();
            let gap = |value: f64, stream: &mut Stream| if stream.uniform() < 0.2 { f64::NAN } else { value };
            ids.push(format!("day {day}"));
            times.push(f64::from(hour));
            let warm = 10.0 + level + height * wave + 0.5 * normal(&mut stream);
            temperature.push(gap(warm, &mut stream));
            let log = drift + 0.5 * wave + 0.4 * normal(&mut stream);
            load.push(gap(log.exp(), &mut stream));
        }
    }
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    Table::from_columns(&ids, &times, &[("temperature", &temperature), ("load", &load)]).unwrap()
}

fn fit(table: &Table, epochs: u64, logarithms: &[&str]) -> Result<Fitted, EstimatorError> {
    let sampling = Sampling { window: None, ..Sampling::default() };
    let config = FitConfig::suggest(table, sampling, Goal::Impute)?.with_epochs(epochs);
    let logarithms = logarithms.iter().map(|&name| name.to_owned()).collect();
    let config = FitConfig { test_share: 0.3, logarithms, ..config };
    config.fit(table, None, &StopFlag::new(), Progress::hidden)
}

fn numbers<'a>(data_frame: &'a DataFrame, name: &str) -> &'a [f64] {
    let place = data_frame.names.iter().position(|other| other == name).unwrap();
    let Column::Number(numbers) = &data_frame.columns[place] else { panic!("`{name}` has no numbers") };
    numbers
}

#[test]
fn samples_look_like_the_data_and_broken_ones_do_not() {
    let table = days();
    let Fitted { mut model, split, prepared, .. } = fit(&table, 60, &[]).unwrap();
    let compared = |model: &Model, source| {
        model.evaluate_samples(&prepared, &split.test, &split.train, source, 1).unwrap()
    };
    let found = compared(&model, SampleSource::Posterior);
    assert_eq!((found.series, found.variables.len()), (split.test.len(), 2));
    let (samples, training) = (found.samples.unwrap(), found.training.unwrap());
    assert!(samples.p_value > 0.02, "{samples:?}, training {training:?}");
    assert!(training.p_value > 0.02, "{training:?}");
    for variable in &found.variables {
        let (test, samples) = (&variable.test, &variable.samples);
        let near = |a: f64, b: f64, share: f64| (a / b - 1.0).abs() < share;
        assert!((samples.look.mean - test.mean).abs() < 0.25 * test.sd, "{variable:?}");
        assert!(near(samples.look.sd, test.sd, 0.25), "{variable:?}");
        assert!(near(samples.look.sd_within, test.sd_within, 0.25), "{variable:?}");
        assert!(samples.profile_difference.unwrap() < 0.35, "{variable:?}");
        assert!(samples.autocorrelation_difference.unwrap() < 0.25, "{variable:?}");
    }
    // The prior knows nothing of days.
    let prior = compared(&model, SampleSource::Prior).samples.unwrap();
    assert!(prior.p_value <= 0.01 && prior.distance > samples.distance, "{prior:?}");

    // A load is never negative, whatever is written of it; a temperature may be.
    let drawn = model.sample(50, None, 7).unwrap();
    assert!(numbers(&drawn, "load").iter().all(|&load| load >= 0.0));
    assert_eq!(numbers(&drawn, "load").len(), 50 * HOURS as usize);
    let wide = PredictOptions { quantiles: vec![0.001, 0.5], samples: 20, ..PredictOptions::default() };
    for options in [wide.clone(), PredictOptions { samples: 0, ..wide }] {
        let filled = model.impute(&table, None, &options).unwrap();
        let lists = [&filled.mean].into_iter().chain(&filled.quantiles).chain(&filled.samples);
        for list in lists {
            let loads = list.iter().zip(&filled.channels).filter(|(_, channel)| **channel == 1);
            assert!(loads.clone().count() > 100 && loads.clone().all(|(&load, _)| load >= 0.0));
        }
        let lowest = filled.quantiles[0].iter().zip(&filled.channels).filter(|(_, channel)| **channel == 0);
        assert!(lowest.into_iter().any(|(&degrees, _)| degrees < 0.0));
    }
    let ahead = model.forecast(&table, 30.0, None, &PredictOptions::default()).unwrap();
    let loads = ahead.quantiles[0].iter().zip(&ahead.channels).filter(|(_, channel)| **channel == 1);
    assert!(loads.into_iter().all(|(&load, _)| load >= 0.0));

    // The same from a file; a file without it samples from the prior.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    model.save(&path).unwrap();
    let loaded = Model::load(&path).unwrap();
    assert_eq!(loaded.sampler, model.sampler);
    assert_eq!(loaded.sample(3, None, 5).unwrap(), model.sample(3, None, 5).unwrap());
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(one_thread.install(|| loaded.sample(50, None, 7).unwrap()), drawn);
    // A series does not depend on how many others are drawn.
    let few = loaded.sample(2, None, 7).unwrap();
    assert_eq!(numbers(&few, "load"), &numbers(&drawn, "load")[..2 * HOURS as usize]);

    // Residuals that are far too large are told from the data.
    let sampler = model.sampler.as_mut().unwrap();
    sampler.residual.channels.iter_mut().for_each(|channel| channel.noise = 3.0);
    sampler.marginals.iter_mut().for_each(|map| *map = MarginalMap::default());
    let broken = compared(&model, SampleSource::Posterior);
    assert!(broken.samples.unwrap().p_value <= 0.01, "{broken:?}");
    model.sampler = None;
    let from_prior = model.sample_from(SampleSource::Prior, 3, None, 5).unwrap();
    assert_eq!(model.sample(3, None, 5).unwrap(), from_prior);
}

#[test]
fn logarithms_are_learned_and_means_are_means() {
    let table = days();
    let fitted = fit(&table, 40, &["load"]).unwrap();
    let (model, plain) = (&fitted.model, fit(&table, 40, &[]).unwrap().model);
    assert!(model.description.data.scaler.logarithm(1).is_some());
    assert!(model.description.data.scaler.logarithm(0).is_none());
    // In closed form and from draws the mean of a skewed variable lies above its median.
    let closed = model.impute(&table, None, &PredictOptions::default()).unwrap();
    let drawn = PredictOptions { draws: 400, samples: 1, ..PredictOptions::default() };
    let drawn = model.impute(&table, None, &drawn).unwrap();
    let of_load = |values: &[f64]| -> Vec<f64> {
        let loads = values.iter().zip(&closed.channels).filter(|(_, channel)| **channel == 1);
        loads.map(|(value, _)| *value).collect()
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (means, medians) = (of_load(&closed.mean), of_load(&closed.quantiles[1]));
    assert!(means.iter().zip(&medians).all(|(mean, median)| mean > median));
    assert!((mean(&of_load(&drawn.mean)) / mean(&means) - 1.0).abs() < 0.05);
    assert!((mean(&of_load(&drawn.sd)) / mean(&of_load(&closed.sd)) - 1.0).abs() < 0.15);
    assert!(of_load(&closed.quantiles[0]).iter().all(|&low| low > 0.0));
    // Scores are in the units of the table, and skewed densities fit skewed values better.
    let scores = |model: &Model| {
        let prepared = model.prepare(&table).unwrap();
        let test = Some(fitted.split.test.as_slice());
        model.evaluate(&prepared, test, &EvaluateOptions::default()).unwrap().variables[1].scores.clone()
    };
    let (of_logarithms, of_values) = (scores(model), scores(&plain));
    assert!(of_logarithms.nll.unwrap() < of_values.nll.unwrap(), "{of_logarithms:?} {of_values:?}");
    assert!((of_logarithms.rmse / of_values.rmse - 1.0).abs() < 0.2, "{of_logarithms:?} {of_values:?}");
    for (one, other) in of_logarithms.baselines.iter().zip(&of_values.baselines) {
        assert!((one.mse / other.mse - 1.0).abs() < 1e-3, "baselines do not know of logarithms");
    }

    let refused = |name: &str| fit(&table, 1, &[name]).unwrap_err().to_string();
    assert!(refused("temperature").contains("`temperature`") && refused("temperature").contains("negative"));
    assert!(refused("wind").contains("no such variable"));
}
