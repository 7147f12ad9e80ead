//! How the paths of a series follow its observations: fits, and below them what steers the paths.

use std::path::Path;

use stroock_experiments::reproduce::{PreparedData, Reproduction};
use stroock_figures::{FollowingFigure, Quantity, QuantityCurve};

use super::spread::Spread;
use super::{draws, fits, predictor, save, visible_times};
use crate::failure::Failure;

const SAMPLES: usize = 400;
/// Variables of the series that are shown.
const VARIABLES: usize = 2;

/// The first test series; nothing for a model whose paths follow nothing.
pub fn draw(run: &Reproduction, prepared: &PreparedData, folder: &Path) -> Result<(), Failure> {
    let Some(&number) = prepared.split.test.first() else { return Ok(()) };
    let times = [fits::grid(run)];
    let found = predictor(run).steering(&prepared.data, &[number], &times)?;
    let Some(steering) = found.and_then(|of_series| of_series.into_iter().next()) else { return Ok(()) };
    let drawn = predictor(run).posterior(&prepared.data, &[number], &times, draws(SAMPLES))?;
    let Some(drawn) = drawn.first() else { return Ok(()) };

    // Images have no variables to be shown over time.
    let about = &run.description.data;
    let shown = match about.variables.is_empty() {
        true => Vec::new(),
        false => fits::fit(run, prepared, number, &fits::most_observed(prepared, number, VARIABLES))?,
    };
    let spread = Spread::of(&drawn.states, drawn.times.len(), drawn.dim);
    let angles = spread.angles_to(&steering).map(|angles| degrees(&angles));
    let [settled, found] = [&steering.widths, &spread.widths].map(|widths| degrees(widths));
    let curve = |name, values| QuantityCurve { name, values };
    let mut quantities = vec![
        Quantity { label: "gain", curves: vec![curve("", (&steering.gains).into())] },
        Quantity {
            label: "width (°)",
            curves: vec![
                curve("that the steering settles at", (&settled).into()),
                curve("of the paths", (&found).into()),
            ],
        },
    ];
    if let Some(angles) = &angles {
        let curves = vec![curve("from the target to the mean of the paths", angles.into())];
        quantities.push(Quantity { label: "angle (°)", curves });
    }
    let observed = visible_times(prepared, number);
    let time = match about.time_unit.as_str() {
        "" => "time".to_owned(),
        unit => format!("time ({unit})"),
    };
    let figure = FollowingFigure {
        fits: shown.iter().map(crate::fits::panel).collect(),
        quantities,
        times: (&times[0]).into(),
        observed: (&observed).into(),
        time: &time,
        ..FollowingFigure::default()
    };
    save(&figure.picture()?, folder, "following")
}

fn degrees(angles: &[f64]) -> Vec<f64> {
    angles.iter().map(|angle| angle.to_degrees()).collect()
}
