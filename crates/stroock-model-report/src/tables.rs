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
    config: &RunConfig,
    subject: &Subject,
    rows: &[MetricsRow],
) -> Vec<(String, String)> {
    let about = &model.description.data;
    let seconds: f64 = rows.iter().filter_map(|row| row.get("seconds")?.as_number()).sum();
    let threads = rows.iter().rev().find_map(|row| row.get("threads")?.as_number());
    let threads = threads.map_or_else(String::new, |count| format!(" on {count} threads"));
    let tested = subject.numbers.as_ref().map_or(subject.prepared.data.series().len(), Vec::len);
    let mut facts = vec![
        ("Series".to_owned(), config.data.series.to_string()),
        ("Values".to_owned(), config.data.values.to_string()),
        ("Variables".to_owned(), about.variables.len().to_string()),
        ("Series in this report".to_owned(), tested.to_string()),
        ("Model".to_owned(), model.description.model.kind().to_owned()),
        ("Parameters".to_owned(), model.model.num_params().to_string()),
        ("Seed".to_owned(), config.fit.training.seed.to_string()),
        ("stroock".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
    ];
    if !rows.is_empty() {
        facts.insert(5, ("Epochs".to_owned(), rows.len().to_string()));
        facts.insert(6, ("Training time".to_owned(), format!("{}{threads}", duration(seconds))));
    }
    if let Some((space, dim)) = model.description.model.latent_space() {
        facts.insert(4, ("Latent space".to_owned(), space.in_words(dim)));
    }
    if let Some(table) = &about.table
        && let Some(window) = table.sampling.window
    {
        facts.insert(1, ("Windows of".to_owned(), table.time.write_length(window)));
    }
    facts
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
