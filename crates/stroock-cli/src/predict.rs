//! `stroock impute`, `forecast`, `classify` and `sample`: predictions of a fitted model.

use stroock::estimator::{Model, PredictOptions};
use stroock::series::table::TimeScale;

use crate::arguments::{ClassifyArguments, ForecastArguments, ImputeArguments, SampleArguments};
use crate::failure::Failure;
use crate::tables::{read_for, warn, write};

pub fn impute(arguments: &ImputeArguments) -> Result<(), Failure> {
    let subject = &arguments.subject;
    let model = Model::load(&subject.model)?;
    let scale = &model.table()?.time;
    let at = arguments.at.iter().map(|text| time(scale, "--at", text)).collect::<Result<Vec<f64>, _>>()?;
    let table = read_for(&model, &subject.data, &subject.table)?;
    let options = arguments.intervals.options();
    if arguments.wide {
        let predictions = model.impute(&table, None, &options)?;
        warn(&predictions.warnings);
        return write(&model.filled(&table, &predictions)?, &arguments.output);
    }
    let predictions = model.impute(&table, (!at.is_empty()).then_some(at.as_slice()), &options)?;
    warn(&predictions.warnings);
    write(&predictions.data_frame(), &arguments.output)
}

pub fn forecast(arguments: &ForecastArguments) -> Result<(), Failure> {
    let subject = &arguments.subject;
    let model = Model::load(&subject.model)?;
    let scale = &model.table()?.time;
    let until = time(scale, "--until", &arguments.until)?;
    let every = arguments.every.as_deref().map(|text| length(scale, "--every", text)).transpose()?;
    let table = read_for(&model, &subject.data, &subject.table)?;
    let predictions = model.forecast(&table, until, every, &arguments.intervals.options())?;
    warn(&predictions.warnings);
    write(&predictions.data_frame(), &arguments.output)
}

pub fn classify(arguments: &ClassifyArguments) -> Result<(), Failure> {
    let subject = &arguments.subject;
    let model = Model::load(&subject.model)?;
    let table = read_for(&model, &subject.data, &subject.table)?;
    let options =
        PredictOptions { draws: arguments.draws, seed: arguments.seed, ..PredictOptions::default() };
    let classes = model.classify(&table, &options)?;
    warn(&classes.warnings);
    write(&classes.data_frame(), &arguments.output)
}

pub fn sample(arguments: &SampleArguments) -> Result<(), Failure> {
    let model = Model::load(&arguments.model)?;
    let every = match &arguments.every {
        Some(text) => Some(length(&model.table()?.time, "--every", text)?),
        None => None,
    };
    let data_frame = match arguments.data.is_empty() {
        true => model.sample(arguments.count, every, arguments.seed)?,
        false => {
            let table = read_for(&model, &arguments.data, &arguments.table)?;
            model.sample_given(&table, arguments.count, every, arguments.seed)?
        }
    };
    write(&data_frame, &arguments.output)
}

/// A time as the user writes it.
fn time(scale: &TimeScale, flag: &str, text: &str) -> Result<f64, Failure> {
    scale.parse(text.trim()).ok_or_else(|| {
        let like = match scale {
            TimeScale::Number => "a number, as the times of the training data",
            TimeScale::Date { .. } => "a date, as in 2024-01-31T14:00:00",
        };
        Failure::from(format!("{flag}: `{text}` is no time; write {like}"))
    })
}

/// A length of time as the user writes it.
pub fn length(scale: &TimeScale, flag: &str, text: &str) -> Result<f64, Failure> {
    scale.parse_length(text.trim()).filter(|length| *length > 0.0 && length.is_finite()).ok_or_else(|| {
        let like = match scale {
            TimeScale::Number => "a positive number, in the unit of the times",
            TimeScale::Date { .. } => "a length of time, as in 15min, 6h or 2d",
        };
        Failure::from(format!("{flag}: `{text}` is no length of time; write {like}"))
    })
}
