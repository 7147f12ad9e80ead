//! Strips of images: what was there, what the model sees, and what it says.

use std::path::Path;

use stroock::predict::Draws;
use stroock::series::Series;
use stroock_experiments::reproduce::{PreparedData, Reproduction};
use stroock_figures::{StripFigure, StripRow};

use super::{draws, predictor, save};
use crate::failure::Failure;

/// Model time up to which digits are extrapolated.
const EXTRAPOLATED: f64 = 4.0;
const SAMPLES: usize = 16;
/// Frames beside each other.
const COLUMNS: usize = 16;

/// A digit in its turn and far beyond it, from its first frame.
pub fn digits(run: &Reproduction, prepared: &PreparedData, folder: &Path) -> Result<(), Failure> {
    let Some(&number) = prepared.split.test.first() else { return Ok(()) };
    let axis = run.description.data.batcher.grid_axis;
    let turn: Vec<f64> = (0..COLUMNS).map(|frame| frame as f64).collect();
    let last = axis.to_user(EXTRAPOLATED);
    let beyond: Vec<f64> = super::between(0.0, last, COLUMNS).iter().map(|t| t.round()).collect();
    let series = &prepared.data.series()[number];
    let inside = drawn(run, prepared, number, &turn)?;
    let outside = drawn(run, prepared, number, &beyond)?;
    let truth = frames(&series.values, extent(prepared));
    let [inside, outside] = [&inside, &outside].map(mean_frames);
    let once = StripFigure {
        rows: vec![
            row("truth", truth.iter().copied().map(Some)),
            row("from frame 0", inside.iter().map(|frame| Some(&frame[..]))),
        ],
        size: size(prepared),
        times: (&turn).into(),
        time: "frame",
        ..StripFigure::default()
    };
    save(&once.picture()?, folder, "turn")?;
    let model_times: Vec<f64> = beyond.iter().map(|&time| axis.to_model(time)).collect();
    let far = StripFigure {
        rows: vec![row("from frame 0", outside.iter().map(|frame| Some(&frame[..])))],
        size: size(prepared),
        times: (&model_times).into(),
        time: "model time",
        forecast_from: Some(axis.horizon),
        ..StripFigure::default()
    };
    save(&far.picture()?, folder, "extrapolation")
}

/// Frames of a pendulum that were seen, that were there, and that are made of them.
pub fn pendulum(run: &Reproduction, prepared: &PreparedData, folder: &Path) -> Result<(), Failure> {
    let Some(&number) = prepared.split.test.first() else { return Ok(()) };
    let series = &prepared.data.series()[number];
    let chosen: Vec<usize> = (0..series.times.len()).take(COLUMNS).collect();
    let times: Vec<f64> = chosen.iter().map(|&i| series.times[i]).collect();
    let made = mean_frames(&drawn(run, prepared, number, &times)?);
    let truth = frames(&series.values, extent(prepared));
    let is_seen = |series: &Series, i: usize| series.is_visible(extent(prepared), i, 0);
    let figure = StripFigure {
        rows: vec![
            row("truth", chosen.iter().map(|&i| Some(truth[i]))),
            row("seen", chosen.iter().map(|&i| is_seen(series, i).then_some(truth[i]))),
            row("posterior", made.iter().map(|frame| Some(&frame[..]))),
        ],
        size: size(prepared),
        times: (&times).into(),
        time: "recorded step",
        ..StripFigure::default()
    };
    save(&figure.picture()?, folder, "frames")
}

fn row<'a>(label: &'a str, frames: impl Iterator<Item = Option<&'a [f32]>>) -> StripRow<'a> {
    StripRow { label, frames: frames.collect(), ..StripRow::default() }
}

fn drawn(
    run: &Reproduction,
    prepared: &PreparedData,
    number: usize,
    times: &[f64],
) -> Result<Draws, Failure> {
    let drawn = predictor(run).posterior(&prepared.data, &[number], &[times.to_vec()], draws(SAMPLES))?;
    drawn.into_iter().next().ok_or_else(|| "no draws".into())
}

fn extent(prepared: &PreparedData) -> usize {
    prepared.data.observation().len()
}

fn size(prepared: &PreparedData) -> [usize; 2] {
    match prepared.data.observation() {
        stroock::series::Observation::Image { height, width, .. } => [height, width],
        stroock::series::Observation::Vector { channels } => [1, channels],
    }
}

fn frames(values: &[f32], extent: usize) -> Vec<&[f32]> {
    values.chunks_exact(extent).collect()
}

/// The mean image at every time.
fn mean_frames(drawn: &Draws) -> Vec<Vec<f32>> {
    let row = drawn.times.len() * drawn.channels;
    let samples = drawn.means.len() / row.max(1);
    let mean = |place: usize| {
        (0..samples).map(|s| drawn.means[s * row + place]).sum::<f32>() / samples.max(1) as f32
    };
    (0..drawn.times.len())
        .map(|t| (t * drawn.channels..(t + 1) * drawn.channels).map(mean).collect())
        .collect()
}
