//! `stroock evaluate`: values are held out, and predicted.

use std::path::{Path, PathBuf};

use stroock::estimator::{
    EvaluateOptions, Evaluation, LeftOut, Model, SampleSource, SamplesEvaluation, Subject,
};
use stroock::run::RunPaths;
use stroock::score::{EnergyTest, HoldOut, Scores, VariableLook};
use stroock::series::SeriesSource;
use stroock::series::table::AnyTable;
use stroock_model_report::short;

use crate::arguments::{EvaluateArguments, HeldArguments, HoldOutName, TableArguments};
use crate::busy::busy;
use crate::failure::Failure;
use crate::fit::{config_of, tables_of};
use crate::output::{print, print_json, say};
use crate::predict::warn_of_prior;
use crate::record::{Coverage, Record};
use crate::tables::{load, read_for, warn};

pub fn run(arguments: &EvaluateArguments) -> Result<(), Failure> {
    let model = load(&arguments.model)?;
    let subject = open(&model, arguments)?;
    let mut evaluation = evaluate(&model, &subject, &options(&arguments.held))?;
    warn(&evaluation.warnings);
    if let Some(source) = arguments.samples {
        warn_of_prior(&model, source);
        let seed = arguments.held.seed;
        let samples =
            busy("comparing samples with the data", || subject.samples(&model, source.into(), seed))?;
        evaluation.samples = Some(samples);
    }
    if let Some(path) = &arguments.record {
        let config = config_of(&arguments.model)?;
        let coverage = Coverage::of(&subject.prepared.data, subject.table.account.files)?;
        let paths = RunPaths::new(&arguments.model);
        Record::new(&config, coverage, &evaluation, &paths)?.write(path)?;
    }
    if arguments.json {
        return print_json(&evaluation);
    }
    print(&format!("On {}:", subject.part.in_words()))?;
    print(&text(&evaluation))
}

/// The scores of a model, while a sign of life is given.
pub fn evaluate(model: &Model, subject: &Subject, options: &EvaluateOptions) -> Result<Evaluation, Failure> {
    Ok(busy("predicting values that are held out", || subject.evaluate(model, options))?)
}

fn open(model: &Model, arguments: &EvaluateArguments) -> Result<Subject, Failure> {
    match arguments.data.is_empty() {
        true => of_run(model, &arguments.model, &arguments.table),
        false => given(model, &arguments.data, &arguments.table),
    }
}

/// All series of tables.
pub fn given(model: &Model, files: &[PathBuf], table: &TableArguments) -> Result<Subject, Failure> {
    match read_for(model, files, table, None)? {
        AnyTable::Memory(table) => Ok(Subject::given(model, table)?),
        AnyTable::Stored(table) => {
            let subject = Subject::given_stored(model, &table)?;
            say_of_some(&subject, table.data.len());
            Ok(subject)
        }
    }
}

/// Says that a model is tested on some of very many series.
pub fn say_of_some(subject: &Subject, all: usize) {
    if subject.table.data.series().len() < all {
        let tested = subject.numbers.as_ref().map_or(subject.table.data.series().len(), Vec::len);
        say(&format!("tested on {tested} of the {all} series, which do not fit into memory"));
    }
}

/// The series that a run has kept for testing; those of validation where it has none.
pub fn of_run(model: &Model, run: &Path, table: &TableArguments) -> Result<Subject, Failure> {
    let config = config_of(run)?;
    match tables_of(&config, &table.room(Some(run)), "name the data to test on")? {
        AnyTable::Memory(table) => {
            let (split, prepared) = (config.fit.split(&table)?, model.prepare(&table)?);
            Ok(Subject::of_split(split, prepared, table))
        }
        AnyTable::Stored(table) => {
            let subject = Subject::of_stored(model, config.fit.split(&table)?, &table)?;
            say_of_some(&subject, table.data.len());
            Ok(subject)
        }
    }
}

/// The options of the arguments.
pub fn options(arguments: &HeldArguments) -> EvaluateOptions {
    let share = arguments.share;
    let hold_out = match arguments.hold_out {
        HoldOutName::Random => HoldOut::Random { share },
        HoldOutName::Blocks => HoldOut::Blocks { share, length: arguments.block },
        HoldOutName::Tail => HoldOut::Tail { share },
    };
    EvaluateOptions { hold_out, draws: arguments.draws, seed: arguments.seed, origins: arguments.origins }
}

/// The evaluation as tables.
pub fn text(evaluation: &Evaluation) -> String {
    let overall = &evaluation.overall;
    let mut lines = vec![
        format!(
            "{} series; held out: {} ({} values)",
            evaluation.series,
            evaluation.options.hold_out.in_words(),
            overall.count
        ),
        String::new(),
    ];
    let names: Vec<&str> = overall.baselines.iter().map(|baseline| baseline.name.as_str()).collect();
    let width = evaluation.variables.iter().map(|v| v.name.chars().count()).max().unwrap_or(0).clamp(20, 32);
    let mut header = format!("  {:<width$}{:>8}{:>11}", "variable", "values", "RMSE");
    header.extend(names.iter().map(|name| format!("{name:>16}")));
    header += &format!("{:>11}{:>11}{:>11}{:>9}{:>11}", "MAE", "CRPS", "NLL", "in 90 %", "width");
    lines.push(header);
    let row = |name: &str, scores: &Scores| {
        let name: String = name.chars().take(width - 1).collect();
        let mut line = format!("  {name:<width$}{:>8}{}", scores.count, number(scores.rmse));
        line.extend(scores.baselines.iter().map(|baseline| format!("{:>16}", short(baseline.mse.sqrt()))));
        let at = |list: &[(f64, f64)]| list.iter().find(|(level, _)| *level == 0.9).map(|pair| pair.1);
        line += &number(scores.mae);
        line += &number(scores.crps.unwrap_or(f64::NAN));
        line += &number(scores.nll.unwrap_or(f64::NAN));
        line += &format!("{:>7.1} %", 100.0 * at(&scores.coverage).unwrap_or(f64::NAN));
        line + &number(at(&scores.width).unwrap_or(f64::NAN))
    };
    lines.extend(evaluation.variables.iter().map(|variable| row(&variable.name, &variable.scores)));
    lines.push(row("all, in standard deviations", overall));
    let mse: Vec<String> = overall
        .baselines
        .iter()
        .map(|baseline| format!("{} {}", short(baseline.mse), baseline.name))
        .collect();
    lines.push(String::new());
    lines.push(format!(
        "MSE over all values, each variable divided by its standard deviation: {} ({})",
        short(overall.mse),
        mse.join(", ")
    ));
    let covered = overall
        .coverage
        .iter()
        .map(|(level, share)| format!("{:.0} % intervals hold {:.1} %", 100.0 * level, 100.0 * share));
    lines.push(covered.collect::<Vec<_>>().join(", "));
    if let Some(classes) = &evaluation.classes {
        lines.push(String::new());
        lines.extend(class_lines(classes));
    }
    if let Some(samples) = &evaluation.samples {
        lines.push(String::new());
        lines.extend(sample_lines(samples));
    }
    lines.join("\n")
}

fn class_lines(evaluation: &stroock::estimator::ClassEvaluation) -> Vec<String> {
    let scores = &evaluation.scores;
    let mut lines = vec![format!(
        "classes: accuracy {:.1} %, macro F1 {:.3}, log loss {:.3}, over {} labels",
        100.0 * scores.accuracy,
        scores.macro_f1,
        scores.log_loss,
        scores.count
    )];
    if let Some(left_out) = &evaluation.left_out {
        lines.push(format!("  {}", answer(left_out)));
    }
    lines.push(format!(
        "  {:<20}{:>8}{:>11}{:>9}{:>7}   taken for",
        "class", "labels", "precision", "recall", "F1"
    ));
    for (index, (name, class)) in evaluation.classes.iter().zip(&scores.classes).enumerate() {
        let counts = scores.confusion.counts[index].iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
        let name: String = name.chars().take(19).collect();
        lines.push(format!(
            "  {name:<20}{:>8}{:>11.3}{:>9.3}{:>7.3}   {counts}",
            class.count, class.precision, class.recall, class.f1
        ));
    }
    lines
}

/// Sampled series beside observed ones, variable by variable, and the two-sample tests.
fn sample_lines(samples: &SamplesEvaluation) -> Vec<String> {
    let source = match samples.source {
        SampleSource::Posterior => "",
        SampleSource::Prior => " from the prior",
    };
    let mut lines = vec![
        format!(
            "{} series sampled{source} at the times of the series above, beside these and beside series of the training:",
            samples.series
        ),
        format!(
            "  {:<20}{:<10}{:>11}{:>11}{:>11}{:>11}{:>17}",
            "variable", "series", "mean", "sd", "sd within", "profile", "autocorrelation"
        ),
    ];
    let row = |name: &str, kind: &str, look: &VariableLook, differences: [Option<f64>; 2]| {
        let name: String = name.chars().take(19).collect();
        let [profile, autocorrelation] =
            differences.map(|found| found.map_or_else(String::new, |found| format!("{found:.3}")));
        let moments = [look.mean, look.sd, look.sd_within].map(number).concat();
        format!("  {name:<20}{kind:<10}{moments}{profile:>11}{autocorrelation:>17}").trim_end().to_owned()
    };
    for variable in &samples.variables {
        lines.push(row(&variable.name, "test", &variable.test, [None; 2]));
        let others = [("sampled", Some(&variable.samples)), ("training", variable.training.as_ref())];
        lines.extend(others.into_iter().filter_map(|(kind, compared)| {
            let compared = compared?;
            let differences = [compared.profile_difference, compared.autocorrelation_difference];
            Some(row("", kind, &compared.look, differences))
        }));
    }
    lines.push("  (profile, autocorrelation: root mean square difference from the test series)".into());
    let test = |kind: &str, test: &Option<EnergyTest>| {
        test.map(|test| format!("{kind} {:.4} (p = {:.3})", test.distance, test.p_value))
    };
    let tests = [test("sampled", &samples.samples), test("training", &samples.training)];
    let tests: Vec<String> = tests.into_iter().flatten().collect();
    if !tests.is_empty() {
        lines.push(format!("Energy distance from the test series: {}", tests.join(", ")));
    }
    lines
}

/// Who answers for classes of series, and what is known of that from the labelled series.
fn answer(left_out: &LeftOut) -> String {
    let choice = &left_out.choice;
    let who = match choice.share {
        1.0 => "convolutions with ridge regression".into(),
        0.0 => "the latent SDE".into(),
        share => format!(
            "convolutions with ridge regression ({:.0} %) and the latent SDE ({:.0} %)",
            100.0 * share,
            100.0 * (1.0 - share)
        ),
    };
    let why = match choice.series {
        0 => "too few validation series to compare".into(),
        series => format!(
            "log loss {:.3} and {:.3} for the latent SDE on {series} validation series",
            choice.classifier_log_loss, choice.model_log_loss
        ),
    };
    format!(
        "answered by {who} ({why}); the former on {} labelled series, each left out in turn: accuracy {:.1} %, log loss {:.3}",
        left_out.series,
        100.0 * left_out.accuracy,
        left_out.log_loss
    )
}

fn number(value: f64) -> String {
    format!("{:>11}", short(value))
}
