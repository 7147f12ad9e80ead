//! How far paths of windows with and without a change of activity are from the prior, and where they run.

use std::path::Path;

use stroock::entries::entries;
use stroock::model::SeriesModel;
use stroock::objective::ElboWeights;
use stroock::series::{Labels, Series};
use stroock_experiments::reproduce::{PreparedData, Reproduction};
use stroock_figures::{Colouring, Globe, HistogramFigure, HistogramGroup, SphereFigure, SpherePath};

use super::{draws, is_globe, predictor, save};
use crate::failure::Failure;

/// Windows of each group whose paths are shown.
const SHOWN: usize = 8;

pub fn draw(run: &Reproduction, prepared: &PreparedData, folder: &Path) -> Result<(), Failure> {
    let (switching, steady): (Vec<usize>, Vec<usize>) =
        prepared.split.test.iter().partition(|&&number| switches(&prepared.data.series()[number]));
    let divergences = [&switching, &steady].map(|numbers| divergences(run, prepared, numbers));
    let [switching_kl, steady_kl] = divergences;
    let (switching_kl, steady_kl) = (switching_kl?, steady_kl?);
    let groups: Vec<HistogramGroup> = [("activity changes", &switching_kl), ("activity stays", &steady_kl)]
        .into_iter()
        // Paths without noise have no divergence.
        .filter(|(_, values)| values.iter().any(|&kl| kl != 0.0))
        .map(|(name, values)| HistogramGroup { name, values: values.into() })
        .collect();
    if !groups.is_empty() {
        let figure = HistogramFigure {
            groups,
            label: "divergence of the path from the prior",
            ..HistogramFigure::default()
        };
        save(&figure.picture()?, folder, "divergence")?;
    }
    if is_globe(run) {
        globes(run, prepared, &switching, &steady, folder)?;
    }
    Ok(())
}

/// Whether the activity changes within a window.
fn switches(series: &Series) -> bool {
    match &series.labels {
        Labels::ClassPerTime(classes) => {
            let mut known = classes.iter().flatten();
            known.next().is_some_and(|first| known.any(|class| class != first))
        }
        _ => false,
    }
}

fn divergences(run: &Reproduction, prepared: &PreparedData, numbers: &[usize]) -> Result<Vec<f32>, Failure> {
    let mut all = Vec::with_capacity(numbers.len());
    let draws = draws(1);
    for numbers in numbers.chunks(64) {
        let batch = run.description.data.batcher.assemble(&prepared.data, numbers, draws.key)?;
        let parts = run.model.objective(&batch, draws, ElboWeights::default())?.parts;
        all.extend(parts.into_iter().filter(|(name, _)| *name == "kl_path").flat_map(|(_, kl)| entries(kl)));
    }
    Ok(all)
}

fn globes(
    run: &Reproduction,
    prepared: &PreparedData,
    switching: &[usize],
    steady: &[usize],
    folder: &Path,
) -> Result<(), Failure> {
    let mut shown = Vec::new();
    for (title, numbers) in [("activity changes", switching), ("activity stays", steady)] {
        let numbers: Vec<usize> = numbers.iter().copied().take(SHOWN).collect();
        if numbers.is_empty() {
            continue;
        }
        let times: Vec<Vec<f64>> = numbers.iter().map(|&n| prepared.data.series()[n].times.clone()).collect();
        let drawn = predictor(run).posterior(&prepared.data, &numbers, &times, draws(1))?;
        let paths = numbers.iter().zip(drawn).map(|(&number, drawn)| {
            let classes = match &prepared.data.series()[number].labels {
                Labels::ClassPerTime(classes) => classes.iter().map(|c| c.unwrap_or(0) as usize).collect(),
                _ => Vec::new(),
            };
            (drawn.states, classes)
        });
        shown.push((title, paths.collect::<Vec<(Vec<f32>, Vec<usize>)>>()));
    }
    let names: Vec<&str> = prepared.classes.iter().map(String::as_str).collect();
    let figure = SphereFigure {
        globes: shown
            .iter()
            .map(|(title, paths)| Globe {
                title,
                paths: paths
                    .iter()
                    .map(|(states, classes)| SpherePath {
                        points: states.into(),
                        classes,
                        ..SpherePath::default()
                    })
                    .collect(),
                ..Globe::default()
            })
            .collect(),
        colouring: Colouring::Class { names },
        ..SphereFigure::default()
    };
    save(&figure.picture()?, folder, "activities")
}
