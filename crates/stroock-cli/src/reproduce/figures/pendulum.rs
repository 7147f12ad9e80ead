//! The density of the angle of a pendulum, from many draws.

use std::path::Path;

use stroock::series::Labels;
use stroock_experiments::reproduce::{PreparedData, Reproduction};
use stroock_figures::{DensityFigure, DensityPanel, Points};

use super::{between, draws, predictor, save};
use crate::failure::Failure;

const SAMPLES: usize = 1000;
const SHOWN: usize = 2;

pub fn draw(run: &Reproduction, prepared: &PreparedData, folder: &Path) -> Result<(), Failure> {
    let numbers = &prepared.split.test[..SHOWN.min(prepared.split.test.len())];
    let about = &run.description.data;
    let times = between(about.batcher.grid_axis.start, about.batcher.grid_axis.end, 100);
    let mut panels = Vec::new();
    for &number in numbers {
        let asked = [times.clone()];
        let drawn = predictor(run).posterior(&prepared.data, &[number], &asked, draws(SAMPLES))?;
        let Some(drawn) = drawn.first() else { continue };
        let angle = |sample: usize, time: usize| {
            let at = (sample * times.len() + time) * 2;
            drawn.task[at].atan2(drawn.task[at + 1])
        };
        let angles: Vec<f32> = (0..times.len())
            .flat_map(|t| (0..SAMPLES).map(move |s| (s, t)))
            .map(|(s, t)| angle(s, t))
            .collect();
        let series = &prepared.data.series()[number];
        let truth: Vec<f32> = match &series.labels {
            Labels::RealPerTime { values, .. } => {
                values.chunks_exact(2).map(|pair| pair[0].atan2(pair[1])).collect()
            }
            _ => Vec::new(),
        };
        panels.push((series, angles, truth));
    }
    let figure = DensityFigure {
        panels: panels
            .iter()
            .map(|(series, angles, truth)| DensityPanel {
                title: &series.id,
                times: (&times).into(),
                draws: angles.into(),
                truth: Some(Points { times: (&series.times).into(), values: truth.into() }),
            })
            .collect(),
        angle: "angle",
        time: "recorded step",
        ..DensityFigure::default()
    };
    save(&figure.picture()?, folder, "angle")
}
