//! From a table to a fitted model and filled gaps: `own-table sensors.csv run filled.csv`.

use std::error::Error;

use stroock::estimator::{EvaluateOptions, Goal, Model, PredictOptions};
use stroock::series::Dataset;

fn main() -> Result<(), Box<dyn Error>> {
    let [table, run, filled] = &std::env::args().skip(1).collect::<Vec<_>>()[..] else {
        return Err("usage: own-table TABLE RUN FILLED".into());
    };
    let model = Model::fit(&Dataset::read(table)?, Goal::Impute, run)?;

    // Every gap with its mean, standard deviation and quantiles, in the units of the table.
    let predictions = model.impute(&Dataset::read(table)?, None, &PredictOptions::default())?;
    predictions.data_frame().save(filled.as_ref())?;
    println!("{} gaps filled", predictions.len());

    // How well values are predicted that the model is not shown.
    let prepared = model.prepare(&Dataset::read(table)?)?;
    let scores = model.evaluate(&prepared, None, &EvaluateOptions::default())?.overall;
    println!("MSE {:.3}, straight lines {:.3}", scores.mse, scores.baselines[0].mse);
    Ok(())
}
