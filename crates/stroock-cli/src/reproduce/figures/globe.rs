//! Latent paths on the two-dimensional sphere.

use std::path::Path;

use stroock::predict::Draws;
use stroock_experiments::reproduce::{PreparedData, Reproduction};
use stroock_figures::{Colouring, Globe, SphereFigure, SpherePath};

use super::{between, draws, predictor, save};
use crate::failure::Failure;

const PATHS: usize = 20;
const POINTS: usize = 201;

/// Paths of one series from the posterior, and as many from the prior.
pub fn draw(run: &Reproduction, prepared: &PreparedData, folder: &Path) -> Result<(), Failure> {
    let Some(&number) = prepared.split.test.first() else { return Ok(()) };
    let about = &run.description.data;
    let times = between(about.batcher.grid_axis.start, about.batcher.grid_axis.end, POINTS);
    let posterior =
        predictor(run).posterior(&prepared.data, &[number], std::slice::from_ref(&times), draws(PATHS))?;
    let prior = predictor(run).prior(prepared.data.observation(), &times, draws(PATHS))?;
    let globe = |title, drawn: &'_ Draws| (title, drawn.states.clone());
    let globes: Vec<_> = posterior
        .first()
        .map(|drawn| globe("posterior", drawn))
        .into_iter()
        .chain([globe("prior", &prior)])
        .collect();
    let figure = SphereFigure {
        globes: globes
            .iter()
            .map(|(title, states)| Globe {
                title,
                paths: states
                    .chunks_exact(3 * times.len())
                    .map(|points| SpherePath {
                        points: points.into(),
                        times: (&times).into(),
                        ..SpherePath::default()
                    })
                    .collect(),
            })
            .collect(),
        colouring: Colouring::Time { label: "time" },
        ..SphereFigure::default()
    };
    save(&figure.picture()?, folder, "globe")
}
