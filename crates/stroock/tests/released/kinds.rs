//! The models that can be fitted to a table, as small as they can be.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use stroock::classifier::{Choice, ClassifierConfig, SeriesClassifier};
use stroock::estimator::{FitConfig, Goal, Model, ModelKind};
use stroock::run::{Progress, StopFlag};
use stroock::series::table::{ReadOptions, Table};
use stroock::series::{Dataset, Labels, Series};

/// A model of one kind and the table that it is fitted to.
pub struct Kind {
    /// Stem of its files.
    pub name: &'static str,
    model: ModelKind,
    data: Data,
}

#[derive(Clone, Copy)]
enum Data {
    Gaps,
    Ahead,
    SeriesClasses,
    TimeClasses,
}

/// One for every goal, and one for every model that can be chosen.
pub const KINDS: [Kind; 8] = [
    Kind { name: "latent-sde", model: ModelKind::LatentSde, data: Data::Gaps },
    Kind { name: "knot-sde", model: ModelKind::KnotSde, data: Data::Gaps },
    Kind { name: "latent-ode", model: ModelKind::LatentOde, data: Data::Gaps },
    Kind { name: "neural-sde", model: ModelKind::NeuralSde, data: Data::Gaps },
    Kind { name: "mtand-full", model: ModelKind::MtandFull, data: Data::Gaps },
    Kind { name: "forecast", model: ModelKind::LatentSde, data: Data::Ahead },
    Kind { name: "classes-of-series", model: ModelKind::LatentSde, data: Data::SeriesClasses },
    Kind { name: "classes-of-times", model: ModelKind::LatentSde, data: Data::TimeClasses },
];

/// Series to fit to, and the first of them to ask about.
const FITTED: usize = 24;
const ASKED: usize = 3;
const EPOCHS: u64 = 20;

impl Kind {
    /// Fits it, leaves the table of the question in a folder, and says what is asked.
    pub fn fit(&self, folder: &Path) -> (Model, Value) {
        let data = self.data;
        let options = ReadOptions { label: data.target().map(str::to_owned), ..ReadOptions::default() };
        let of = |series: usize, name: &str| {
            let path = folder.join(name);
            fs::write(&path, data.text(series)).unwrap();
            let table = Table::read(std::slice::from_ref(&path), &options).unwrap();
            (path, table)
        };
        let (path, table) = of(FITTED, "fitted.csv");
        let sampling = FitConfig::sampling(&table, data.goal()).sampling;
        let table = table.sampled(sampling);
        let config = FitConfig::suggest_with(self.model, &table, sampling, data.goal()).unwrap();
        let config = small(config).with_epochs(EPOCHS);
        let mut fitted = config.fit(&table, None, &StopFlag::new(), Progress::hidden).unwrap();
        // What a network says is shrunk until it is worth something; here it has to be heard.
        for channel in
            fitted.model.description.data.residual.iter_mut().flat_map(|process| &mut process.channels)
        {
            channel.shrinkage = 1.0;
        }
        if fitted.model.classifier.is_some() {
            fitted.model.classifier = Some(classifier(&fitted.prepared.data));
        }
        fs::remove_file(path).unwrap();
        let name = data.file();
        of(ASKED, name);
        let question = match data.goal() {
            Goal::Impute => "gaps",
            Goal::Forecast => "ahead",
            Goal::Classify => "classes",
        };
        let asked = json!({ "table": name, "target": data.target(), "question": question, "steps": 4 });
        (fitted.model, asked)
    }
}

/// One of the usual kind takes half a megabyte. Half of the answer is left to the latent SDE.
fn classifier(data: &Dataset) -> SeriesClassifier {
    let series: Vec<&Series> = data.series().iter().collect();
    let class = |series: &&Series| match series.labels {
        Labels::Class(class) => class as usize,
        _ => panic!("`{}` has no class", series.id),
    };
    let truths: Vec<usize> = series.iter().map(class).collect();
    let config = ClassifierConfig { comparisons: 100, ..ClassifierConfig::default() };
    let fitted = config.fit(&series, &truths, 2, data.observation().len(), &[]);
    fitted.with_choice(Choice { share: 0.5, ..Choice::default() })
}

/// The same with the fewest units in every layer.
fn small(config: FitConfig) -> FitConfig {
    let mut model = serde_json::to_value(&config.model).unwrap();
    shrink(&mut model);
    FitConfig { model: serde_json::from_value(model).unwrap(), ..config }
}

/// What settings call the sizes of layers.
const SIZES: [&str; 8] =
    ["hidden", "width", "embedding", "reference_points", "dim", "head", "latent", "generator"];

fn shrink(settings: &mut Value) {
    let Value::Object(entries) = settings else { return };
    for (key, value) in entries {
        let is_size = SIZES.contains(&key.as_str());
        match value {
            Value::Array(_) if is_size => *value = json!([4]),
            Value::Number(_) if is_size => *value = json!(4),
            _ => shrink(value),
        }
    }
}

impl Data {
    fn goal(self) -> Goal {
        match self {
            Data::Gaps => Goal::Impute,
            Data::Ahead => Goal::Forecast,
            Data::SeriesClasses | Data::TimeClasses => Goal::Classify,
        }
    }

    fn target(self) -> Option<&'static str> {
        match self {
            Data::SeriesClasses | Data::TimeClasses => Some("state"),
            Data::Gaps | Data::Ahead => None,
        }
    }

    fn file(self) -> &'static str {
        match self {
            Data::Gaps => "gaps.csv",
            Data::Ahead => "ahead.csv",
            Data::SeriesClasses => "series.csv",
            Data::TimeClasses => "times.csv",
        }
    }

    /// A table of so many series of waves in two variables.
    fn text(self, series: usize) -> String {
        let mut text = String::from(match self.target() {
            Some(_) => "id,time,level,flow,state\n",
            None => "id,time,level,flow\n",
        });
        for number in 0..series {
            let pace = if number % 2 == 0 { 0.5 } else { 1.1 };
            for step in 0..16 {
                // Gaps are filled between uneven times.
                let uneven =
                    if matches!(self, Data::Gaps) { 0.25 * f64::from((step * 7 + 3) % 3) } else { 0.0 };
                let time = f64::from(step) + uneven;
                let wave = (pace * time + number as f64).sin();
                let value =
                    |shown: bool, value: f64| if shown { format!("{value:.3}") } else { String::new() };
                let all = !matches!(self, Data::Gaps);
                let level = value(all || (step as usize + number) % 4 != 1, 2.0 + wave);
                let flow = value(all || (step as usize + number) % 5 != 2, 0.5 - 0.5 * wave);
                write!(text, "s{number},{time},{level},{flow}").unwrap();
                match self {
                    Data::SeriesClasses => write!(text, ",{}", if number % 2 == 0 { "slow" } else { "fast" }),
                    Data::TimeClasses => write!(text, ",{}", if wave > 0.0 { "high" } else { "low" }),
                    _ => Ok(()),
                }
                .unwrap();
                text.push('\n');
            }
        }
        text
    }
}
