//! What a model is asked, and its answers, as they stand in the folder of a version.

use std::path::Path;

use serde_json::{Value, json};
use stroock::estimator::{Horizon, Model, PredictOptions, Predictions, SampleSource};
use stroock::series::table::{Column, ReadOptions, Table};

/// The answers of a model to `{"table": file, "target": column or null, "question": ..., "steps": ...}`.
pub fn of(model: &Model, folder: &Path, asked: &Value) -> Value {
    let label = asked["target"].as_str().map(str::to_owned);
    let options = ReadOptions { label, ..ReadOptions::default() };
    let table = Table::read(&[folder.join(asked["table"].as_str().unwrap())], &options).unwrap();
    let options = PredictOptions { draws: 20, ..PredictOptions::default() };
    match asked["question"].as_str().unwrap() {
        "gaps" => json!({
            "filled": predicted(&model.impute(&table, None, &options).unwrap()),
            "sampled": sampled(model, SampleSource::Posterior),
            "prior": sampled(model, SampleSource::Prior),
        }),
        "ahead" => {
            let steps = Horizon::Steps(asked["steps"].as_u64().unwrap() as usize);
            json!({
                "forecast": predicted(&model.forecast(&table, steps, None, &options).unwrap()),
                "prior": sampled(model, SampleSource::Prior),
            })
        }
        "classes" => {
            let classes = model.classify(&table, &options).unwrap();
            json!({ "ids": classes.ids, "classes": classes.classes, "probabilities": classes.probabilities })
        }
        other => panic!("nobody knows how to ask for `{other}`"),
    }
}

fn predicted(predictions: &Predictions) -> Value {
    json!({
        "ids": predictions.ids,
        "times": predictions.times,
        "channels": predictions.channels,
        "variables": predictions.variables,
        "mean": predictions.mean,
        "sd": predictions.sd,
        "quantiles": predictions.quantiles,
    })
}

/// The columns of numbers of new series.
fn sampled(model: &Model, source: SampleSource) -> Value {
    let data_frame = model.sample_from(source, 2, None, 1).unwrap();
    let numbers =
        data_frame.names.iter().zip(&data_frame.columns).filter_map(|(name, column)| match column {
            Column::Number(numbers) => Some((name.clone(), json!(numbers))),
            _ => None,
        });
    Value::Object(numbers.collect())
}
