//! What was measured, as a picture.

use stroock_figures::{FigureError, GrowthCurve, GrowthFigure, GrowthPanel, Picture};

use super::memory::Peak;
use super::{Growth, Report};

/// The resolution of what the system tells of memory; less is drawn as if it were that much.
const LEAST_MB: f64 = 0.01;

/// Sizes, costs and a law for them.
struct Curve {
    name: &'static str,
    sizes: Vec<f64>,
    costs: Vec<f64>,
    line: Option<[[f64; 2]; 2]>,
}

impl Curve {
    fn of_growth(growth: &Growth) -> Self {
        let line = growth
            .fit
            .map(|law| [law.from, law.to].map(|value| [value, law.scale_ms * value.powf(law.exponent)]));
        Self {
            name: "",
            sizes: growth.points.iter().map(|point| point.value as f64).collect(),
            costs: growth.points.iter().map(|point| point.median_ms).collect(),
            line,
        }
    }

    fn of_memory(name: &'static str, peaks: &[Peak], reversible: bool) -> Self {
        let peaks = || peaks.iter().filter(|peak| peak.reversible == reversible);
        Self {
            name,
            sizes: peaks().map(|peak| peak.steps as f64).collect(),
            costs: peaks().map(|peak| peak.path_mb.max(LEAST_MB)).collect(),
            line: None,
        }
    }

    fn view(&self) -> GrowthCurve<'_> {
        let Self { name, sizes, costs, line } = self;
        GrowthCurve { name, sizes: sizes.into(), costs: costs.into(), line: *line }
    }
}

/// A panel for every quantity, and one for memory.
pub fn draw(report: &Report) -> Result<Picture, FigureError> {
    let curves: Vec<Curve> = report.growth.iter().map(Curve::of_growth).collect();
    let titles = report.growth.iter().map(|growth| match growth.fit {
        Some(law) => {
            format!("{}: b = {:.2} ± {:.2}", growth.quantity.name(), law.exponent, law.standard_error)
        }
        None => growth.quantity.name().to_owned(),
    });
    let titles: Vec<String> = titles.collect();
    let panels = report.growth.iter().zip(&curves).zip(&titles).map(|((growth, curve), title)| GrowthPanel {
        title,
        x_label: growth.quantity.name(),
        y_label: "ms",
        curves: vec![curve.view()],
    });
    let mut panels: Vec<GrowthPanel<'_>> = panels.collect();
    let memory = [("stored", false), ("reversible", true)]
        .map(|(name, reversible)| Curve::of_memory(name, &report.memory, reversible));
    if !report.memory.is_empty() {
        let curves = memory.iter().map(Curve::view).collect();
        panels.push(GrowthPanel { title: "memory of a path", x_label: "steps", y_label: "MB", curves });
    }
    GrowthFigure { panels, ..GrowthFigure::default() }.picture()
}
