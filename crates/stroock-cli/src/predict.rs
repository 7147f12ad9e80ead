//! `stroock impute`, `forecast`, `classify` and `sample`: predictions of a fitted model.

use stroock::estimator::{Answered, Horizon, Model, PredictOptions};
use stroock::series::table::{AnyTable, DataFrame, Form, TimeScale};

use crate::arguments::{
    ClassifyArguments, ForecastArguments, ImputeArguments, OutputArguments, SampleArguments, SourceName,
};
use crate::busy::busy;
use crate::failure::Failure;
use crate::output::say;
use crate::tables::{TableOutput, load, read_cells_for, read_for, warn, write};

const FILLING: &str = "filling gaps";
const FORECASTING: &str = "forecasting";
const CLASSIFYING: &str = "classifying";
const SAMPLING: &str = "sampling";

pub fn impute(arguments: &ImputeArguments) -> Result<(), Failure> {
    let subject = &arguments.subject;
    let model = load(&subject.model)?;
    let scale = &model.table()?.time;
    let at = arguments.at.iter().map(|text| time(scale, "--at", text)).collect::<Result<Vec<f64>, _>>()?;
    let options = arguments.intervals.options();
    if arguments.wide {
        return impute_wide(&model, arguments, &options);
    }
    let output = &arguments.output;
    let at = (!at.is_empty()).then_some(at.as_slice());
    match read_for(&model, &subject.data, &subject.table, output.output.as_deref())? {
        AnyTable::Memory(table) => {
            let predictions = busy(FILLING, || model.impute(&table, at, &options))?;
            warn(&predictions.warnings);
            write(&predictions.data_frame(), output)
        }
        AnyTable::Stored(table) => in_parts(output, FILLING, |write| {
            model.impute_stored(&table, at, &options, |part| write(&part.data_frame()))
        }),
    }
}

/// Writes answers part by part.
fn in_parts(
    output: &OutputArguments,
    doing: &str,
    answer: impl FnOnce(&mut dyn FnMut(&DataFrame) -> Result<(), Failure>) -> Result<Answered, Failure>,
) -> Result<(), Failure> {
    let mut out = TableOutput::open(output)?;
    let answered = busy(doing, || {
        answer(&mut |part| {
            out.append(part)?;
            match out.is_read() {
                true => Ok(()),
                false => Err(NobodyReads.into()),
            }
        })
    });
    match answered {
        Ok(answered) => {
            warn(&answered.warnings);
            answered.notes.iter().for_each(|note| say(note));
            out.finish()
        }
        Err(failure) if failure.error::<NobodyReads>().is_some() => Ok(()),
        Err(failure) => Err(failure),
    }
}

/// Answers that nobody reads any more need not be found.
#[derive(Debug, thiserror::Error)]
#[error("nobody reads the output any more")]
struct NobodyReads;

/// The given files with their gaps filled, and everything else as it was; or a long table as a wide one.
fn impute_wide(model: &Model, arguments: &ImputeArguments, options: &PredictOptions) -> Result<(), Failure> {
    let (subject, output) = (&arguments.subject, &arguments.output);
    let (table, mut cells) = read_cells_for(model, &subject.data, &subject.table)?;
    let predictions = busy(FILLING, || model.impute(&table, None, options))?;
    warn(&predictions.warnings);
    match table.columns.form {
        Form::Long { .. } => write(&model.filled(&table, &predictions)?, output),
        Form::Wide { .. } => {
            predictions.fill(&mut cells);
            write(&cells.data_frame(output.has_types()), output)
        }
    }
}

pub fn forecast(arguments: &ForecastArguments) -> Result<(), Failure> {
    let subject = &arguments.subject;
    let model = load(&subject.model)?;
    let scale = &model.table()?.time;
    let horizon = match (&arguments.until, &arguments.ahead) {
        (Some(text), _) => Horizon::Until(time(scale, "--until", text)?),
        (None, Some(text)) => match text.trim().parse() {
            Ok(steps) => Horizon::Steps(steps),
            Err(_) => Horizon::Length(length(scale, "--for", text)?),
        },
        (None, None) => return Err(Failure::from("how far? name --for 24 or --until TIME")),
    };
    let every = arguments.every.as_deref().map(|text| length(scale, "--every", text)).transpose()?;
    let (options, output) = (arguments.intervals.options(), &arguments.output);
    match read_for(&model, &subject.data, &subject.table, output.output.as_deref())? {
        AnyTable::Memory(table) => {
            let predictions = busy(FORECASTING, || model.forecast(&table, horizon, every, &options))?;
            warn(&predictions.warnings);
            predictions.notes.iter().for_each(|note| say(note));
            write(&predictions.data_frame(), output)
        }
        AnyTable::Stored(table) => in_parts(output, FORECASTING, |write| {
            model.forecast_stored(&table, horizon, every, &options, |part| write(&part.data_frame()))
        }),
    }
}

pub fn classify(arguments: &ClassifyArguments) -> Result<(), Failure> {
    let subject = &arguments.subject;
    let model = load(&subject.model)?;
    let options =
        PredictOptions { draws: arguments.draws, seed: arguments.seed, ..PredictOptions::default() };
    let output = &arguments.output;
    match read_for(&model, &subject.data, &subject.table, output.output.as_deref())? {
        AnyTable::Memory(table) => {
            let classes = busy(CLASSIFYING, || model.classify(&table, &options))?;
            warn(&classes.warnings);
            write(&classes.data_frame(), output)
        }
        AnyTable::Stored(table) => in_parts(output, CLASSIFYING, |write| {
            model.classify_stored(&table, &options, |part| write(&part.data_frame()))
        }),
    }
}

pub fn sample(arguments: &SampleArguments) -> Result<(), Failure> {
    let model = load(&arguments.model)?;
    let every = match &arguments.every {
        Some(text) => Some(length(&model.table()?.time, "--every", text)?),
        None => None,
    };
    let data_frame = match arguments.data.is_empty() {
        true => {
            warn_of_prior(&model, arguments.from);
            let source = arguments.from.into();
            busy(SAMPLING, || model.sample_from(source, arguments.count, every, arguments.seed))?
        }
        false => {
            let table = read_for(&model, &arguments.data, &arguments.table, None)?;
            let AnyTable::Memory(table) = table else {
                return Err(Failure::from(
                    "paths are sampled for tables that fit into memory; name fewer files, or allow more with --memory",
                ));
            };
            busy(SAMPLING, || model.sample_given(&table, arguments.count, every, arguments.seed))?
        }
    };
    write(&data_frame, &arguments.output)
}

/// Says that new series come from the prior where that was not asked for.
pub fn warn_of_prior(model: &Model, source: SourceName) {
    if source == SourceName::Posterior && model.sampler.is_none() {
        let sentence = "the model file does not hold what series that look like the training data are sampled from: they \
                        are sampled from the prior; fit the model again";
        warn(&[sentence.into()]);
    }
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
