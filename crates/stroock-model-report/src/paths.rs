//! Latent paths in three directions.

use nalgebra::{DMatrix, SymmetricEigen};
use stroock_report::{LatentPaths, PathGroup};

use crate::fits::{Shown, ShownSeries};
use crate::number::short;

/// Paths of a series that are shown.
const PATHS: usize = 12;

/// Paths of the posterior for each series that is shown: as they are in three dimensions, otherwise in the three
/// directions that hold the most of their squared length. They lie inside the unit ball: on a sphere by themselves,
/// elsewhere because they are scaled.
///
/// A model without latent states has none.
pub fn paths(shown: &Shown) -> Option<LatentPaths> {
    let dim = shown.series.iter().map(|series| series.drawn.dim).max().filter(|&dim| dim > 0)?;
    let (axes, mut directions) = directions(shown, dim);
    let farthest = farthest(shown, dim);
    let scale = if farthest > 1.001 { 1.0 / farthest } else { 1.0 };
    if scale < 1.0 {
        let farthest = short(f64::from(farthest));
        directions += &format!(" Lengths are divided by that of the farthest state, {farthest}.");
    }
    let project = |state: &[f32]| -> [f32; 3] {
        std::array::from_fn(|axis| {
            let axis = axes.get(axis).map_or(&[][..], Vec::as_slice);
            scale * state.iter().zip(axis).map(|(x, a)| x * a).sum::<f32>()
        })
    };
    let group = |series: &ShownSeries| {
        let count = series.drawn.times.len();
        let paths = series.drawn.states.chunks(count * dim).take(PATHS);
        PathGroup {
            name: series.name.clone(),
            times: series.drawn.times.iter().map(|time| series.origin + time).collect(),
            paths: paths.map(|path| path.chunks(dim).map(project).collect()).collect(),
        }
    };
    let some = shown.series.iter().filter(|series| !series.drawn.times.is_empty());
    Some(LatentPaths { directions, groups: some.map(group).collect() })
}

/// The largest norm of a state that is shown.
fn farthest(shown: &Shown, dim: usize) -> f32 {
    let states = shown.series.iter().flat_map(|series| series.drawn.states.chunks(dim));
    states.map(|state| state.iter().map(|x| x * x).sum::<f32>().sqrt()).fold(0.0, f32::max)
}

/// Up to three unit vectors, and how they were chosen.
fn directions(shown: &Shown, dim: usize) -> (Vec<Vec<f32>>, String) {
    if dim <= 3 {
        let unit = |axis| (0..dim).map(|i| f32::from(i == axis)).collect();
        return ((0..dim).map(unit).collect(), String::new());
    }
    let mut moment = DMatrix::<f64>::zeros(dim, dim);
    let states = shown.series.iter().flat_map(|series| {
        let count = series.drawn.times.len() * dim;
        series.drawn.states.chunks(dim).take(PATHS * count / dim.max(1))
    });
    for state in states {
        for (i, &x) in state.iter().enumerate() {
            for (j, &y) in state.iter().enumerate() {
                moment[(i, j)] += f64::from(x) * f64::from(y);
            }
        }
    }
    let eigen = SymmetricEigen::new(moment);
    let mut order: Vec<usize> = (0..dim).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let share: f64 = order[..3].iter().map(|&i| eigen.eigenvalues[i]).sum::<f64>()
        / eigen.eigenvalues.sum().max(f64::MIN_POSITIVE);
    let axes = order[..3].iter().map(|&i| eigen.eigenvectors.column(i).iter().map(|&x| x as f32).collect());
    let sentence = format!(
        "Shown are the three directions of R^{dim} that hold the most of the squared length of these paths, {:.0} % \
         of it.",
        100.0 * share
    );
    (axes.collect(), sentence)
}
