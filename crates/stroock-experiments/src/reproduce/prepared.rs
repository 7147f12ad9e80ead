//! The data of a run: read or generated, scaled, split.

use stroock::model::{DataDescription, Variable};
use stroock::series::{Dataset, Scaler, SeriesError, Split, shuffled};
use stroock_kernels::noise::{NoiseKey, Stage};
use thiserror::Error;

use super::{Preset, RunConfig};
use crate::data::activity::{self, ActivitySettings};
use crate::data::mnist::Digits;
use crate::data::physionet::{self, PhysionetSettings, ScaleOver};
use crate::data::{Cache, DataError, DataFolder};
use crate::protocol::{Experiment, Options, Resolution, rotating_mnist};
use crate::synthetic::{
    Dropped, IrregularSine, PendulumInterpolation, PendulumRegression, RotatingDigits, Sizes, SplitData,
    StochasticLorenz, SyntheticError, Variants,
};

/// The data of a run.
#[derive(Clone, Debug)]
pub struct PreparedData {
    /// All series, in the units of the model.
    pub data: Dataset,
    /// Which of them are for what.
    pub split: Split,
    /// Values of the user to values of the model.
    pub scaler: Scaler,
    /// Names and units of the channels; empty for images.
    pub variables: Vec<Variable>,
    /// Unit of time.
    pub time_unit: String,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// How much of the published data this is, in words.
    pub coverage: String,
}

/// Why there are no data.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PreparedDataError {
    /// Files are missing or damaged.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Series cannot be generated.
    #[error(transparent)]
    Synthetic(#[from] SyntheticError),
    /// Series do not make a data set.
    #[error(transparent)]
    Series(#[from] SeriesError),
}

/// Stays of sets a and b.
const STAYS: usize = 8000;

impl PreparedData {
    /// Reads or generates the data of a run.
    ///
    /// # Errors
    /// When files are missing or damaged; the sentence says how to get them.
    pub fn load(config: &RunConfig, folder: &DataFolder, cache: &Cache) -> Result<Self, PreparedDataError> {
        let seed = config.data_seed;
        let prepared = match config.experiment {
            Experiment::RotatingMnist => rotating_digits(config, folder)?,
            Experiment::PendulumAngle => {
                let sizes = limited(PendulumRegression::default().sizes, config.limit);
                let set = PendulumRegression { sizes, ..Default::default() }.generate(seed)?;
                generated(mirrored(config, set)?, "steps")
            }
            Experiment::PendulumImages => {
                let sizes = limited(PendulumInterpolation::default().sizes, config.limit);
                let redrawn = config.options.redrawn;
                let set = PendulumInterpolation { sizes, redrawn, ..Default::default() }.generate(seed)?;
                generated(mirrored(config, set)?, "steps")
            }
            Experiment::Activity => activity_windows(config, folder, cache)?,
            Experiment::Physionet => stays(config, folder, cache)?,
            Experiment::Lorenz => lorenz(config)?,
            Experiment::Sine => {
                let data = IrregularSine::default().generate(seed)?;
                let split = Split { train: vec![0], validation: Vec::new(), test: vec![0] };
                PreparedData { variables: variables(&["x"]), ..generated(SplitData { data, split }, "") }
            }
        };
        Ok(prepared.limited(config.limit))
    }

    /// What a model file says about these data.
    pub fn description(&self, config: &RunConfig) -> DataDescription {
        DataDescription {
            variables: self.variables.clone(),
            time_unit: self.time_unit.clone(),
            scaler: self.scaler.clone(),
            batcher: config.protocol.batcher,
            classes: self.classes.clone(),
            residual: None,
            table: None,
            forecast: None,
        }
    }

    fn limited(mut self, limit: usize) -> Self {
        if limit > 0 {
            let Split { train, validation, test } = &mut self.split;
            [train, validation, test].into_iter().for_each(|part| part.truncate(limit));
            self.coverage = format!("{}; at most {limit} series of each part", self.coverage);
        }
        self
    }
}

fn limited(sizes: Sizes, limit: usize) -> Sizes {
    let at_most = |count: usize| if limit > 0 { count.min(limit) } else { count };
    Sizes { train: at_most(sizes.train), validation: at_most(sizes.validation), test: at_most(sizes.test) }
}

fn variables(names: &[&str]) -> Vec<Variable> {
    names.iter().map(|&name| Variable { name: name.into(), ..Variable::default() }).collect()
}

fn generated(SplitData { data, split }: SplitData, time_unit: &str) -> PreparedData {
    PreparedData {
        data,
        split,
        scaler: Scaler::identity(),
        variables: Vec::new(),
        time_unit: time_unit.into(),
        classes: Vec::new(),
        coverage: "generated, as many series as published".into(),
    }
}

/// The same data with mirrored training series, where the run asks for them.
fn mirrored(config: &RunConfig, set: SplitData) -> Result<SplitData, SyntheticError> {
    if config.options.mirrored { set.with_mirrored_training() } else { Ok(set) }
}

fn rotating_digits(config: &RunConfig, folder: &DataFolder) -> Result<PreparedData, PreparedDataError> {
    let digits = Digits::load(folder)?;
    let threes = digits.threes();
    let pixels: Vec<u8> =
        threes.iter().filter_map(|&number| digits.images.get(number)).flatten().copied().collect();
    let sizes = limited(RotatingDigits::default().sizes, config.limit);
    let Options { variants, transductive, .. } = config.options;
    // The random frames are left out by the batches, anew in every epoch; but a model that is tested on digits of its
    // training must never have seen them.
    let random = if transductive { rotating_mnist::DROPPED } else { 0 };
    let dropped = Some(Dropped { always: rotating_mnist::HIDDEN, random });
    let digits = RotatingDigits { sizes, dropped, variants, transductive, ..Default::default() };
    let set = digits.generate(&pixels, config.data_seed)?;
    let mut coverage = format!("{} threes of the first 10 000 training images", threes.len());
    if let Some(Variants { each, .. }) = variants {
        coverage += &format!(", {each} variants of each for training");
    }
    if transductive {
        coverage += "; those for testing are those for training";
    }
    Ok(PreparedData { coverage, ..generated(set, "frames") })
}

fn activity_windows(
    config: &RunConfig,
    folder: &DataFolder,
    cache: &Cache,
) -> Result<PreparedData, PreparedDataError> {
    let windows = activity::load(folder, &ActivitySettings::default(), cache)?;
    let published = matches!(config.preset, Preset::Paper | Preset::Best);
    let split = match config.options.overlapping.unwrap_or(published) {
        true => Split::random(windows.recordings.len(), 0.16, 0.2, config.data_seed),
        false => by_recording(&windows.recordings, config.data_seed),
    };
    let channels =
        activity::TAGS.iter().flat_map(|(_, tag)| ["x", "y", "z"].map(|axis| format!("{tag} {axis}")));
    let coverage = match windows.coverage.is_whole() {
        true => format!("{} windows of the whole file", windows.recordings.len()),
        false => {
            format!("{} windows of {}: not the paper's numbers", windows.recordings.len(), windows.coverage)
        }
    };
    Ok(PreparedData {
        data: windows.dataset,
        split,
        scaler: Scaler::identity(),
        variables: channels.map(|name| Variable { name, unit: "m".into(), ..Variable::default() }).collect(),
        time_unit: "10 ms".into(),
        classes: activity::CLASSES.map(str::to_owned).to_vec(),
        coverage,
    })
}

/// A split of about 64/16/20 % that keeps the windows of a recording together.
fn by_recording(recordings: &[String], seed: u64) -> Split {
    let mut names: Vec<&String> = recordings.iter().collect();
    names.sort();
    names.dedup();
    let order = shuffled(names.len(), NoiseKey::of(seed, Stage::Split));
    let (test, validation) = (names.len().div_ceil(5), (names.len() * 4).div_ceil(25));
    let part = |from: usize, to: usize| {
        let chosen: Vec<&String> = order[from..to].iter().map(|&i| names[i]).collect();
        (0..recordings.len()).filter(|&i| chosen.contains(&&recordings[i])).collect()
    };
    let end = test + validation;
    Split { test: part(0, test), validation: part(test, end), train: part(end, names.len()) }
}

fn stays(config: &RunConfig, folder: &DataFolder, cache: &Cache) -> Result<PreparedData, PreparedDataError> {
    let settings = match config.options.resolution {
        Resolution::SixMinutes => PhysionetSettings::six_minutes(),
        Resolution::OneMinute => PhysionetSettings::published_one_minute(),
    };
    let split = Split::random(STAYS, config.options.validation.unwrap_or(0.0), 0.2, config.data_seed);
    let prepared = match config.preset {
        Preset::Paper => physionet::load(folder, &settings, ScaleOver::All, cache)?,
        Preset::Clean | Preset::Globe | Preset::Following | Preset::Tuned | Preset::Best => {
            physionet::load(folder, &settings.clean(), ScaleOver::Stays(&split.train), cache)?
        }
    };
    let scaling = &prepared.scaling;
    let doubles = |values: &[f32]| values.iter().map(|&x| f64::from(x)).collect();
    Ok(PreparedData {
        split,
        scaler: Scaler {
            shift: doubles(&scaling.minimum),
            scale: doubles(&scaling.maximum),
            ..Scaler::identity()
        },
        variables: variables(&physionet::VARIABLES),
        time_unit: "h".into(),
        classes: Vec::new(),
        coverage: format!("{} stays of sets a and b", prepared.dataset.series().len()),
        data: prepared.dataset,
    })
}

fn lorenz(config: &RunConfig) -> Result<PreparedData, PreparedDataError> {
    let default = StochasticLorenz::default();
    let series = if config.limit > 0 { (3 * config.limit).min(default.series) } else { default.series };
    let made = StochasticLorenz { series, ..default }.generate(config.data_seed)?;
    let split = Split::random(series, 0.1, 0.1, config.data_seed);
    let normaliser = made.normaliser;
    Ok(PreparedData {
        scaler: Scaler {
            shift: normaliser.mean.to_vec(),
            scale: normaliser.sd.to_vec(),
            ..Scaler::identity()
        },
        variables: variables(&["X", "Y", "Z"]),
        ..generated(SplitData { data: made.data, split }, "")
    })
}
