//! Malformed figures give errors that name the field; odd ones are drawn.

mod samples;

use samples::{TIMES, VALUES};
use stroock_figures::{
    Band, CurvesFigure, DensityFigure, FigureError, FitFigure, FitPanel, FollowingFigure, Globe,
    GrowthFigure, HistogramFigure, Numbers, Paths3dFigure, Picture, Points, SphereFigure, SphereTarget,
    StripFigure,
};

const HOLE: [f32; 4] = [0.0, f32::NAN, 0.0, 0.0];

fn refused(result: Result<Picture, FigureError>, field: &str) {
    let message = result.err().unwrap_or_else(|| panic!("{field} was accepted")).to_string();
    assert!(message.contains(&format!("`{field}")), "{field} is not in: {message}");
}

#[test]
fn nothing_to_draw() {
    refused(FitFigure::default().picture(), "panels");
    refused(FitFigure { panels: vec![FitPanel::default()], ..FitFigure::default() }.picture(), "panels[0]");
    refused(FollowingFigure::default().picture(), "quantities");
    refused(SphereFigure::default().picture(), "globes");
    refused(HistogramFigure::default().picture(), "groups");
    refused(StripFigure::default().picture(), "rows");
    refused(CurvesFigure::default().picture(), "runs");
    refused(GrowthFigure::default().picture(), "panels");
    refused(DensityFigure::default().picture(), "panels");
    refused(Paths3dFigure::default().picture(), "panels");
}

#[test]
fn fit() {
    let broken = |change: fn(&mut FitFigure<'static>), field: &str| {
        let mut figure = samples::fit();
        change(&mut figure);
        refused(figure.picture(), field);
    };
    broken(|figure| figure.panels[1].mean = (&[1.0]).into(), "panels[1].mean");
    broken(|figure| figure.panels[2].mean = (&HOLE).into(), "panels[2].mean[1]");
    broken(|figure| figure.panels[0].times = (&[0.0, 2.0, 1.0, 3.0]).into(), "panels[0].times[2]");
    broken(|figure| figure.panels[0].seen.times = (&[0.0]).into(), "panels[0].seen.values");
    broken(
        |figure| figure.panels[0].withheld.values = (&[f64::INFINITY]).into(),
        "panels[0].withheld.values[0]",
    );
    broken(|figure| figure.panels[0].truth = Some(Points::default()), "panels[0].truth.times");
    broken(|figure| figure.panels[0].bands[1].level = 90.0, "panels[0].bands[1].level");
    broken(|figure| figure.panels[0].bands[1].upper = (&HOLE).into(), "panels[0].bands[1].upper[1]");
    broken(
        |figure| {
            let Band { lower, upper, .. } = figure.panels[0].bands[1];
            figure.panels[0].bands[1] = Band { level: 0.9, lower: upper, upper: lower };
        },
        "panels[0].bands[1].lower[0]",
    );
    broken(|figure| figure.panels[0].forecast_from = Some(f64::NAN), "panels[0].forecast_from");
    broken(
        |figure| figure.panels[0].seen.values = (&[0.0, 1e200, 0.0, 0.0]).into(),
        "panels[0].seen.values[1]",
    );
    broken(|figure| figure.columns = 0, "columns");
    broken(|figure| figure.width = f64::NAN, "width");
    broken(|figure| figure.width = 120.0, "width");
    broken(|figure| figure.panel_height = -1.0, "panel_height");
}

#[test]
fn following() {
    let broken = |change: fn(&mut FollowingFigure<'static>), field: &str| {
        let mut figure = samples::following();
        change(&mut figure);
        refused(figure.picture(), field);
    };
    broken(|figure| figure.fits[1].mean = (&[1.0]).into(), "fits[1].mean");
    broken(|figure| figure.quantities.clear(), "quantities");
    broken(|figure| figure.quantities[0].curves.clear(), "quantities[0].curves");
    broken(
        |figure| figure.quantities[1].curves[0].values = (&HOLE).into(),
        "quantities[1].curves[0].values[1]",
    );
    broken(|figure| figure.times = (&[0.0]).into(), "quantities[0].curves[0].values");
    broken(|figure| figure.times = (&[0.0, 2.0, 1.0, 3.0]).into(), "times[2]");
    broken(|figure| figure.observed = (&[f64::NAN]).into(), "observed[0]");
    broken(|figure| figure.width = 60.0, "width");
    broken(|figure| figure.fit_height = 0.0, "fit_height");
    broken(|figure| figure.quantity_height = f64::NAN, "quantity_height");
    // Without a fit, quantities stand alone; values that are all 0 or negative can be drawn.
    let mut figure = samples::following();
    figure.fits.clear();
    figure.quantities[0].curves[0].values = (&[0.0; 4]).into();
    figure.quantities[1].curves[0].values = (&[-1.0, 0.0, 1.0, 0.5]).into();
    figure.picture().unwrap();
}

#[test]
fn sphere() {
    let broken = |change: fn(&mut SphereFigure<'static>), field: &str| {
        let mut figure = samples::sphere();
        change(&mut figure);
        refused(figure.picture(), field);
    };
    broken(|figure| figure.globes[1].paths[0].points = (&[1.0, 0.0]).into(), "globes[1].paths[0].points");
    broken(|figure| figure.globes[0].paths[0].points = Numbers::default(), "globes[0].paths[0].points");
    broken(
        |figure| figure.globes[0].paths[0].points = (&samples::SPATIAL).into(),
        "globes[0].paths[0].points[0]` is a point of norm 0",
    );
    broken(|figure| figure.globes[0].paths[0].times = (&[0.0]).into(), "globes[0].paths[0].times");
    broken(|figure| figure.globe_width = 1e9, "globe_width");
    broken(|figure| (figure.globe_width, figure.columns) = (4990.0, 2), "globe_width");
    broken(|figure| figure.centre = [f64::NAN, 0.0], "centre[0]");
    broken(|figure| figure.columns = 0, "columns");
    let broken = |change: fn(&mut SphereTarget<'static>), field: &str| {
        let mut figure = samples::target();
        change(figure.globes[0].target.as_mut().unwrap());
        refused(figure.picture(), field);
    };
    broken(|target| target.points = (&samples::SPATIAL).into(), "globes[0].target.points[0]");
    broken(|target| target.points = Numbers::default(), "globes[0].target.points");
    broken(|target| target.means = (&samples::SPATIAL).into(), "globes[0].target.means[0]");
    broken(
        |target| target.means = (&[1.0, 0.0, 0.0]).into(),
        "globes[0].target.widths` has 4 entries, but 1",
    );
    broken(|target| target.widths = (&[0.1]).into(), "globes[0].target.widths` has 1 entries, but 4");
    broken(|target| target.widths = (&[0.1, 0.1, 2.0, 0.1]).into(), "globes[0].target.widths[2]");
    broken(|target| target.widths = (&HOLE).into(), "globes[0].target.widths[1]");
    broken(|target| target.observed = (&[1.0, 1.0, 0.0]).into(), "globes[0].target.observed[0]");
    let mut figure = samples::classes();
    figure.globes[0].paths[0].classes = &[0, 1];
    refused(figure.picture(), "globes[0].paths[0].classes");
    figure.globes[0].paths[0].classes = &[0, 1, 2, 0];
    refused(figure.picture(), "globes[0].paths[0].classes[2]");
}

#[test]
fn histogram_and_density() {
    let mut figure = samples::histogram();
    figure.groups[1].values = (&HOLE).into();
    refused(figure.picture(), "groups[1].values[1]");
    figure.groups[1].values = Numbers::default();
    refused(figure.picture(), "groups[1].values");
    refused(HistogramFigure { bins: Some(0), ..samples::histogram() }.picture(), "bins");

    let mut figure = samples::density();
    figure.panels[0].draws = (&[0.0; 7]).into();
    refused(figure.picture(), "panels[0].draws` has 7 entries, but 8");
    figure.panels[0].draws = (&HOLE).into();
    refused(figure.picture(), "panels[0].draws[1]");
    refused(DensityFigure { bandwidth: 0.0, ..samples::density() }.picture(), "bandwidth");
}

#[test]
fn strip() {
    let broken = |change: fn(&mut StripFigure<'static>), field: &str| {
        let mut figure = samples::strip();
        change(&mut figure);
        refused(figure.picture(), field);
    };
    broken(|figure| figure.rows[1].frames.truncate(2), "rows[1].frames");
    broken(|figure| figure.rows[1].frames[2] = Some(&VALUES[..3]), "rows[1].frames[2]");
    broken(|figure| figure.rows[0].frames[0] = Some(&HOLE), "rows[0].frames[0][1]");
    broken(|figure| figure.rows[0].marked = &[0, 3], "rows[0].marked[1]");
    broken(|figure| figure.size = [0, 2], "size");
    broken(|figure| figure.range = [1.0, 1.0], "range");
    broken(|figure| figure.times = Numbers::default(), "times");
    broken(|figure| figure.image_width = 0.0, "image_width");
}

#[test]
fn curves() {
    let broken = |change: fn(&mut CurvesFigure<'static>), field: &str| {
        let mut figure = samples::curves();
        change(&mut figure);
        refused(figure.picture(), field);
    };
    broken(|figure| figure.runs[1].values = (&[1.0, 2.0]).into(), "runs[1].values");
    broken(|figure| figure.runs[1].values = (&[1.0, 0.0, 1.0, 1.0]).into(), "runs[1].values[1]");
    broken(|figure| figure.runs[0].seconds = (&[1.0, 2.0]).into(), "runs[0].seconds");
    broken(|figure| figure.runs[0].epochs = (&[3.0, 2.0, 1.0, 0.0]).into(), "runs[0].epochs[1]");
    broken(|figure| figure.published[0].value = -1.0, "published[0].value");
    broken(|figure| figure.range = Some([2.0, 1.0]), "range");
}

#[test]
fn growth() {
    let broken = |change: fn(&mut GrowthFigure<'static>), field: &str| {
        let mut figure = samples::growth();
        change(&mut figure);
        refused(figure.picture(), field);
    };
    broken(|figure| figure.panels[1].curves.clear(), "panels[1].curves");
    broken(|figure| figure.panels[0].curves[1].costs = (&[1.0]).into(), "panels[0].curves[1].costs");
    broken(|figure| figure.panels[0].curves[1].costs = (&HOLE).into(), "panels[0].curves[1].costs[1]");
    broken(|figure| figure.panels[0].curves[0].sizes = (&TIMES).into(), "panels[0].curves[0].sizes[0]");
    broken(|figure| figure.panels[0].curves[0].line = Some([[1.0, -1.0]; 2]), "panels[0].curves[0].line[1]");
    broken(|figure| figure.columns = 0, "columns");
}

#[test]
fn paths() {
    let mut figure = samples::paths();
    figure.panels[1].paths[1] = (&VALUES).into();
    refused(figure.picture(), "panels[1].paths[1]");
    figure.times = Numbers::default();
    refused(figure.picture(), "panels[1].paths[1]` has 4 entries, but 6");
    figure.panels[1].paths.clear();
    refused(figure.picture(), "panels[1].paths");
    refused(Paths3dFigure { eye: [0.0, 90.0], ..samples::paths() }.picture(), "eye[1]");
    refused(Paths3dFigure { panel_width: 1.0, ..samples::paths() }.picture(), "panel_width");
}

#[test]
fn a_png_that_would_be_too_large_is_refused_but_not_the_svg() {
    let panels = vec![samples::fit().panels.swap_remove(0); 400];
    let picture = FitFigure { panels, columns: 1, ..FitFigure::default() }.picture().unwrap();
    assert!(matches!(picture.to_png(), Err(FigureError::TooLarge { .. })));
    assert!(picture.to_svg().unwrap().len() > 100_000);
}

#[test]
fn odd_but_sound_data_are_drawn() {
    // One point, one constant, one enormous and one tiny range, names that do not fit or hold odd signs.
    let point = Points { times: (&[3.0]).into(), values: (&[2.0]).into() };
    let panel = |values: &'static [f64; 4]| FitPanel {
        series: "a name of a series that is much longer than its panel is wide, and then some more",
        variable: "\u{0}\n漢字",
        times: (&TIMES).into(),
        mean: values.into(),
        ..FitPanel::default()
    };
    let figure = FitFigure {
        panels: vec![
            FitPanel { seen: point, ..FitPanel::default() },
            panel(&[1.0; 4]),
            panel(&[-1e99, 0.0, 1.0, 1e99]),
            panel(&[0.0, 1e-300, 0.0, 1e-320]),
            panel(&[1e15, 1e15 + 1.0, 1e15, 1e15]),
        ],
        ..FitFigure::default()
    };
    figure.picture().unwrap().to_png().unwrap();

    let mut figure = samples::curves();
    figure.range = Some([0.5, 0.500001]);
    figure.picture().unwrap().to_png().unwrap();

    let figure = SphereFigure { globes: vec![Globe::default()], ..SphereFigure::default() };
    figure.picture().unwrap().to_png().unwrap();

    // A step to the opposite point has no direction, and a path of one point no length.
    let mut figure = samples::sphere();
    figure.globes[0].paths[0].points = (&[1.0, 0.0, 0.0, -1.0, 0.0, 0.0]).into();
    figure.globes[0].paths[0].times = (&[0.0, 0.0]).into();
    figure.globes[1].paths[0].points = (&[0.0, 0.0, 1.0]).into();
    figure.globes[1].paths[0].times = (&[0.0]).into();
    figure.picture().unwrap().to_png().unwrap();

    let mut figure = samples::paths();
    figure.times = Numbers::default();
    figure.panels[0].paths[0] = (&[1.0, 1.0, 1.0]).into();
    figure.picture().unwrap().to_png().unwrap();
}
