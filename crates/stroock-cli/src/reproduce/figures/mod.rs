//! The figures of the experiments, as SVG and PNG in the run folder.

mod activity;
mod curves;
mod fits;
mod following;
mod globe;
mod images;
mod lorenz;
mod pendulum;
mod spread;

use std::path::Path;

use stroock::latent::Space;
use stroock::model::{ModelConfig, PathDraws, StandardModel};
use stroock::predict::Predictor;
use stroock_experiments::protocol::Experiment;
use stroock_experiments::reproduce::{PreparedData, Reproduction};
use stroock_figures::Picture;
use stroock_kernels::noise::{NoiseKey, Stage};

use crate::failure::Failure;

/// Draws all figures of a finished run.
pub fn draw(run: &Reproduction, prepared: &PreparedData, folder: &Path) -> Result<(), Failure> {
    curves::draw(run, folder)?;
    match run.result.config.experiment {
        Experiment::RotatingMnist => images::digits(run, prepared, folder)?,
        Experiment::PendulumImages => images::pendulum(run, prepared, folder)?,
        Experiment::PendulumAngle if !is_random(run) => {}
        Experiment::PendulumAngle => pendulum::draw(run, prepared, folder)?,
        Experiment::Activity => activity::draw(run, prepared, folder)?,
        Experiment::Physionet => fits::stays(run, prepared, folder)?,
        Experiment::Lorenz => lorenz::draw(run, prepared, folder)?,
        Experiment::Sine => fits::sine(run, prepared, folder)?,
    }
    following::draw(run, prepared, folder)?;
    match is_globe(run) {
        true => globe::draw(run, prepared, folder),
        false => Ok(()),
    }
}

/// Whether the model draws anything: those that predict one number have no densities to show.
fn is_random(run: &Reproduction) -> bool {
    let model = &run.description.model;
    !matches!(
        model,
        ModelConfig::MtandEnc(_) | ModelConfig::S5(_) | ModelConfig::Cru(_) | ModelConfig::FCru(_)
    )
}

/// Whether latent paths lie on the two-dimensional sphere, and can be shown as they are.
fn is_globe(run: &Reproduction) -> bool {
    run.description.model.latent_space() == Some((Space::Sphere, 3))
}

/// Saves a picture as SVG and PNG.
fn save(picture: &Picture, folder: &Path, name: &str) -> Result<(), Failure> {
    picture.save(&folder.join(format!("{name}.svg")))?;
    Ok(picture.save(&folder.join(format!("{name}.png")))?)
}

/// The tested model of a run.
fn predictor(run: &Reproduction) -> Predictor<'_, StandardModel> {
    let about = &run.description.data;
    Predictor::new(&run.model, about)
}

/// Draws of figures, apart from those of training and testing.
fn draws(samples: usize) -> PathDraws {
    PathDraws { key: NoiseKey::of(2024, Stage::Figures), samples, first_sample: 0 }
}

/// The times at which the encoder sees anything of a series.
fn visible_times(prepared: &PreparedData, number: usize) -> Vec<f64> {
    let (channels, series) = (prepared.data.observation().len(), &prepared.data.series()[number]);
    let visible = |&i: &usize| (0..channels).any(|channel| series.is_visible(channels, i, channel));
    (0..series.times.len()).filter(visible).map(|i| series.times[i]).collect()
}

/// `count` times from `start` to `end`, both included.
fn between(start: f64, end: f64, count: usize) -> Vec<f64> {
    let last = count.max(2) - 1;
    (0..=last).map(|i| start + (end - start) * i as f64 / last as f64).collect()
}
