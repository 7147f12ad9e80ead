//! Loss against epochs and against wall time.

use std::path::Path;

use stroock::run::{Metrics, RunPaths};
use stroock_experiments::reproduce::{Reproduction, published::counterpart};
use stroock_figures::{CurvesFigure, Published, Run};

use super::save;
use crate::failure::Failure;

pub fn draw(run: &Reproduction, folder: &Path) -> Result<(), Failure> {
    let rows = Metrics::read(&RunPaths::new(folder).metrics())?.rows;
    let column = |name: &str| -> Vec<f64> {
        rows.iter().filter_map(|row| row.get(name)).map(|cell| cell.as_number().unwrap_or(f64::NAN)).collect()
    };
    let mut elapsed = 0.0;
    let seconds: Vec<f64> = column("seconds")
        .into_iter()
        .map(|seconds| {
            elapsed += seconds;
            elapsed
        })
        .collect();
    let metric = run.result.config.protocol.metric;
    let validation = format!("validation_{}", metric.name());
    let (label, values) = match column(&validation) {
        values if values.len() == rows.len() => (validation.replace('_', " "), values),
        _ => ("training loss".to_owned(), column("loss")),
    };
    let epochs: Vec<f64> = (1..=values.len()).map(|epoch| epoch as f64).collect();
    let name = format!("seed {}", run.result.config.protocol.training.seed);
    let with_published = label != "training loss";
    let figure = CurvesFigure {
        runs: vec![Run {
            name: &name,
            epochs: (&epochs).into(),
            seconds: (&seconds).into(),
            values: (&values).into(),
        }],
        label: &label,
        logarithmic: values.iter().all(|value| *value > 0.0) && !metric.is_gain(),
        published: counterpart(&run.result.config)
            .filter(|_| with_published)
            .map(|row| Published { name: "published, test", value: row.mean })
            .into_iter()
            .collect(),
        ..CurvesFigure::default()
    };
    save(&figure.picture()?, folder, "curves")
}
