//! One small figure of every kind.

use stroock_figures::{
    Band, Colouring, CurvesFigure, DensityFigure, DensityPanel, FitFigure, FitPanel, FollowingFigure, Globe,
    GrowthCurve, GrowthFigure, GrowthPanel, HistogramFigure, HistogramGroup, Paths3dFigure, Paths3dPanel,
    Points, Published, Quantity, QuantityCurve, Run, SphereFigure, SpherePath, SphereTarget, StripFigure,
    StripRow,
};

pub const TIMES: [f64; 4] = [0.0, 1.0, 2.0, 4.0];
pub const VALUES: [f32; 4] = [0.5, 1.5, 1.0, 2.0];
pub const LOWER: [f32; 4] = [0.2, 1.0, 0.4, 1.0];
pub const UPPER: [f32; 4] = [0.8, 2.0, 1.6, 3.0];
/// Four points of a great circle, the first in the middle of the globe and the last almost behind it.
pub const CIRCLE: [f64; 12] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, -0.6, 0.8, 0.0, -0.8, 0.6, 0.0];
pub const SPATIAL: [f32; 12] = [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 2.0, 2.0, 4.0, 3.0, 1.0, 5.0];
pub const IMAGE: [f32; 4] = [0.0, 0.2, 0.6, 1.0];

pub fn fit() -> FitFigure<'static> {
    let panel = FitPanel {
        series: "patient <1>",
        variable: "heart rate",
        unit: "1/min",
        seen: Points { times: (&TIMES).into(), values: (&VALUES).into() },
        withheld: Points { times: (&[3.0]).into(), values: (&[1.7]).into() },
        truth: Some(Points { times: (&TIMES).into(), values: (&VALUES).into() }),
        times: (&TIMES).into(),
        mean: (&VALUES).into(),
        bands: vec![
            Band { level: 0.5, lower: (&LOWER).into(), upper: (&VALUES).into() },
            Band { level: 0.9, lower: (&LOWER).into(), upper: (&UPPER).into() },
        ],
        forecast_from: Some(3.0),
    };
    FitFigure { panels: vec![panel.clone(), panel.clone(), panel], columns: 2, ..FitFigure::default() }
}

pub fn sphere() -> SphereFigure<'static> {
    let path = SpherePath { points: (&CIRCLE).into(), times: (&TIMES).into(), classes: &[0, 0, 1, 1] };
    let globe = Globe { title: "posterior", paths: vec![path], target: None };
    SphereFigure { globes: vec![globe.clone(), globe], centre: [0.0, 0.0], ..SphereFigure::default() }
}

/// A globe whose path follows a target.
pub fn target() -> SphereFigure<'static> {
    let mut figure = sphere();
    figure.globes[0].target = Some(SphereTarget {
        points: (&CIRCLE).into(),
        means: (&CIRCLE).into(),
        widths: (&[0.1, 0.3, 0.2, 0.4]).into(),
        observed: (&[1.0, 0.0, 0.0]).into(),
    });
    figure
}

pub fn following() -> FollowingFigure<'static> {
    let curve = |name, values| QuantityCurve { name, values };
    FollowingFigure {
        fits: fit().panels[..2].to_vec(),
        quantities: vec![
            Quantity { label: "gain", curves: vec![curve("", (&UPPER).into())] },
            Quantity {
                label: "width",
                curves: vec![curve("settled", (&LOWER).into()), curve("of paths", (&VALUES).into())],
            },
        ],
        times: (&TIMES).into(),
        observed: (&[1.0, 2.0]).into(),
        time: "time (h)",
        ..FollowingFigure::default()
    }
}

pub fn classes() -> SphereFigure<'static> {
    SphereFigure { colouring: Colouring::Class { names: vec!["walking", "sitting"] }, ..sphere() }
}

pub fn histogram() -> HistogramFigure<'static> {
    let groups = vec![
        HistogramGroup { name: "one", values: (&VALUES).into() },
        HistogramGroup { name: "two", values: (&UPPER).into() },
    ];
    HistogramFigure { groups, ..HistogramFigure::default() }
}

pub fn strip() -> StripFigure<'static> {
    let row =
        |label| StripRow { label, frames: vec![Some(&IMAGE[..]), None, Some(&IMAGE[..])], marked: &[2] };
    StripFigure {
        rows: vec![row("truth"), row("mean")],
        size: [2, 2],
        times: (&[0.0, 0.5, 1.0]).into(),
        marked: "given",
        forecast_from: Some(0.7),
        ..StripFigure::default()
    }
}

pub fn curves() -> CurvesFigure<'static> {
    let run =
        |name| Run { name, epochs: (&TIMES).into(), seconds: (&TIMES).into(), values: (&VALUES).into() };
    CurvesFigure {
        runs: vec![run("seed 1"), run("seed 2")],
        logarithmic: true,
        published: vec![Published { name: "published", value: 0.7 }],
        ..CurvesFigure::default()
    }
}

pub fn growth() -> GrowthFigure<'static> {
    const SIZES: [f64; 4] = [10.0, 100.0, 1e3, 1e4];
    let line = Some([[10.0, 0.4], [1e4, 2.0]]);
    let curve = |name| GrowthCurve { name, sizes: (&SIZES).into(), costs: (&VALUES).into(), line };
    let curves = vec![curve("stored"), GrowthCurve { line: None, ..curve("reversible") }];
    let panel = GrowthPanel { title: "path", x_label: "steps", y_label: "ms", curves };
    GrowthFigure {
        panels: vec![panel.clone(), panel.clone(), panel.clone(), panel],
        ..GrowthFigure::default()
    }
}

pub fn density() -> DensityFigure<'static> {
    const DRAWS: [f64; 8] = [0.0, 0.1, 1.0, 1.1, 2.0, 2.1, 3.1, -3.1];
    let panel = DensityPanel {
        title: "pendulum",
        times: (&TIMES).into(),
        draws: (&DRAWS).into(),
        truth: Some(Points { times: (&TIMES).into(), values: (&VALUES).into() }),
    };
    DensityFigure { panels: vec![panel], ..DensityFigure::default() }
}

pub fn paths() -> Paths3dFigure<'static> {
    let panel = Paths3dPanel { title: "prior", paths: vec![(&SPATIAL).into(), (&SPATIAL).into()] };
    Paths3dFigure { panels: vec![panel.clone(), panel], times: (&TIMES).into(), ..Paths3dFigure::default() }
}
