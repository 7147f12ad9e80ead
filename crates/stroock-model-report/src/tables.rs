//! What a report says in words and numbers.

use burn::module::Module;
use stroock::estimator::{Evaluation, Model, RunConfig, Subject};
use stroock::model::ModelSettings;
use stroock::run::MetricsRow;
use stroock::score::Scores;
use stroock_report::{Row, Table};

use crate::number::short;

/// The column of the model's error; those of the baselines follow.
const RMSE: usize = 2;

/// What was fitted to what.
pub fn facts(
    model: &Model,
    config: Option<&RunConfig>,
    subject: &Subject,
    rows: &[MetricsRow],
) -> Vec<(String, String)> {
    let about = &model.description.data;
    let seconds: f64 = rows.iter().filter_map(|row| row.get("seconds")?.as_number()).sum();
    let threads = rows.iter().rev().find_map(|row| row.get("threads")?.as_number());
    let threads = threads.map_or_else(String::new, |count| format!(" on {count} threads"));
    let tested = subject.numbers.as_ref().map_or(subject.prepared.data.series().len(), Vec::len);
    let window = about.table.as_ref().and_then(|table| Some((table, table.sampling.window?)));
    let trained = (!rows.is_empty()).then_some(rows.len());
    let facts = [
        ("Series", config.map(|config| config.data.series.to_string())),
        ("Windows of", window.map(|(table, window)| table.time.write_length(window))),
        ("Values", config.map(|config| config.data.values.to_string())),
        ("Variables", Some(about.variables.len().to_string())),
        ("Series in this report", Some(tested.to_string())),
        ("Latent space", model.description.model.latent_space().map(|(space, dim)| space.in_words(dim))),
        ("Model", Some(model.description.model.kind().to_owned())),
        ("Epochs", trained.map(|epochs| epochs.to_string())),
        ("Training time", trained.map(|_| format!("{}{threads}", duration(seconds)))),
        ("Parameters", Some(model.model.num_params().to_string())),
        ("Seed", config.map(|config| config.fit.training.seed.to_string())),
        ("stroock", Some(env!("CARGO_PKG_VERSION").to_owned())),
    ];
    facts.into_iter().filter_map(|(name, fact)| Some((name.to_owned(), fact?))).collect()
}

/// A time in the unit that suits it.
fn duration(seconds: f64) -> String {
    match seconds {
        few if few < 9.95 => format!("{few:.1} s"),
        some if some < 120.0 => format!("{some:.0} s"),
        many if many < 7200.0 => format!("{:.0} min", many / 60.0),
        all => format!("{:.1} h", all / 3600.0),
    }
}

/// Scores of held-out values.
pub fn scores(evaluation: &Evaluation, held_out: &str) -> Vec<Table> {
    let overall = &evaluation.overall;
    let mut header: Vec<String> = ["Variable", "Values", "RMSE"].map(String::from).to_vec();
    header.extend(overall.baselines.iter().map(|baseline| format!("RMSE, {}", baseline.name)));
    header.extend(["MAE", "CRPS", "NLL", "In 90 % intervals", "Their width"].map(String::from));
    let row = |name: &str, scores: &Scores| {
        let at = |list: &[(f64, f64)]| list.iter().find(|(level, _)| *level == 0.9).map(|pair| pair.1);
        let mut row = vec![name.to_owned(), scores.count.to_string(), short(scores.rmse)];
        row.extend(scores.baselines.iter().map(|baseline| short(baseline.mse.sqrt())));
        row.push(short(scores.mae));
        row.push(scores.crps.map_or_else(String::new, short));
        row.push(scores.nll.map_or_else(String::new, short));
        row.push(at(&scores.coverage).map_or_else(String::new, |share| format!("{:.1} %", 100.0 * share)));
        row.push(at(&scores.width).map_or_else(String::new, short));
        let errors = std::iter::once(scores.mse).chain(scores.baselines.iter().map(|baseline| baseline.mse));
        let best = errors.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(place, _)| RMSE + place);
        Row { cells: row, best: best.into_iter().collect() }
    };
    let mut rows: Vec<Row> =
        evaluation.variables.iter().map(|variable| row(&variable.name, &variable.scores)).collect();
    rows.push(row("all, in standard deviations", overall));
    let mut tables = vec![Table {
        caption: format!("Values that were held out: {held_out}"),
        header,
        rows,
        note:
            "Straight lines, the last value and the training mean are what anybody can do without a model. \
               CRPS and NLL are better when smaller."
                .into(),
    }];
    if let Some(classes) = &evaluation.classes {
        let rows = classes.classes.iter().zip(&classes.scores.classes).map(|(name, class)| {
            let numbers = [class.precision, class.recall, class.f1].map(|x| format!("{x:.3}"));
            Row::from([vec![name.clone(), class.count.to_string()], numbers.to_vec()].concat())
        });
        tables.push(Table {
            caption: format!(
                "Classes: accuracy {:.1} %, macro F1 {:.3}",
                100.0 * classes.scores.accuracy,
                classes.scores.macro_f1
            ),
            header: ["Class", "Labels", "Precision", "Recall", "F1"].map(String::from).to_vec(),
            rows: rows.collect(),
            ..Table::default()
        });
    }
    tables
}
