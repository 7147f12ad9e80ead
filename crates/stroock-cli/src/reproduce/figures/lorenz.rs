//! Sample paths of the Lorenz attractor, from the posterior and from the prior.

use std::path::Path;

use stroock::predict::Draws;
use stroock_experiments::reproduce::{PreparedData, Reproduction};
use stroock_figures::{Numbers, Paths3dFigure, Paths3dPanel};

use super::{between, draws, predictor, save};
use crate::failure::Failure;

const PATHS: usize = 75;

pub fn draw(run: &Reproduction, prepared: &PreparedData, folder: &Path) -> Result<(), Failure> {
    let about = &run.description.data;
    let times = between(about.batcher.grid_axis.start, about.batcher.grid_axis.end, 161);
    let numbers: Vec<usize> = prepared.split.test.iter().copied().cycle().take(PATHS).collect();
    let posterior: Vec<Vec<f32>> = match numbers.is_empty() {
        true => Vec::new(),
        false => predictor(run)
            .posterior(&prepared.data, &numbers, &vec![times.clone(); numbers.len()], draws(1))?
            .into_iter()
            .map(|drawn| drawn.means)
            .collect(),
    };
    let prior = predictor(run).prior(prepared.data.observation(), &times, draws(PATHS))?;
    let prior = rows(&prior);
    let panel = |title, paths: &'_ [Vec<f32>]| (title, paths.to_vec());
    let panels = [panel("posterior", &posterior), panel("prior", &prior)];
    let figure = Paths3dFigure {
        panels: panels
            .iter()
            .map(|(title, paths)| Paths3dPanel { title, paths: paths.iter().map(Numbers::from).collect() })
            .collect(),
        axes: ["X", "Y", "Z"],
        ..Paths3dFigure::default()
    };
    save(&figure.picture()?, folder, "paths")
}

/// The means of each sample as a path.
fn rows(drawn: &Draws) -> Vec<Vec<f32>> {
    drawn.means.chunks_exact((drawn.times.len() * drawn.channels).max(1)).map(<[f32]>::to_vec).collect()
}
