//! Costs against sizes, on logarithmic axes: a power law is a straight line.

use std::path::Path;

use crate::axes::{Entry, Frame, Grid, Key, Legend, Limits, MARGIN, Placed, Scale, Ticks};
use crate::numbers::not_empty;
use crate::picture::{Area, Picture, Stroke};
use crate::theme::{FAINT, LINE_WIDTH, TITLE_SIZE, WIDTH, palette};
use crate::{FigureError, Numbers};

/// Radius of a measured point.
const RADIUS: f64 = 2.6;

/// How costs grow with sizes.
///
/// ```
/// use stroock_figures::{GrowthCurve, GrowthFigure, GrowthPanel};
/// let figure = GrowthFigure {
///     panels: vec![GrowthPanel {
///         title: "b = 1.02",
///         x_label: "steps",
///         y_label: "ms",
///         curves: vec![GrowthCurve {
///             name: "stored",
///             sizes: (&[10.0, 100.0, 1000.0]).into(),
///             costs: (&[0.4, 1.1, 10.3]).into(),
///             line: Some([[100.0, 1.1], [1000.0, 10.3]]),
///         }],
///     }],
///     ..GrowthFigure::default()
/// };
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("growth.svg");
/// figure.save(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct GrowthFigure<'a> {
    /// The panels, row by row.
    pub panels: Vec<GrowthPanel<'a>>,
    /// Panels beside each other.
    pub columns: usize,
    /// Width of the picture in CSS pixels.
    pub width: f64,
    /// Height of a panel without its title and axis.
    pub panel_height: f64,
}

/// Costs against one size.
#[derive(Clone, Debug, Default)]
pub struct GrowthPanel<'a> {
    /// Title; may be empty.
    pub title: &'a str,
    /// What the sizes are.
    pub x_label: &'a str,
    /// What the costs are, with their unit.
    pub y_label: &'a str,
    /// What was measured. A curve has the same colour in every panel.
    pub curves: Vec<GrowthCurve<'a>>,
}

/// Measured points, and a law for them.
#[derive(Clone, Copy, Debug, Default)]
pub struct GrowthCurve<'a> {
    /// Its name; curves of the same place in other panels share it, and the first name counts.
    pub name: &'a str,
    /// Sizes, positive.
    pub sizes: Numbers<'a>,
    /// Costs, positive.
    pub costs: Numbers<'a>,
    /// Two points, (size, cost) each, between which a straight line is drawn.
    pub line: Option<[[f64; 2]; 2]>,
}

impl Default for GrowthFigure<'_> {
    /// Three columns, without panels.
    fn default() -> Self {
        GrowthFigure { panels: Vec::new(), columns: 3, width: WIDTH, panel_height: 150.0 }
    }
}

impl GrowthFigure<'_> {
    /// Writes the figure, as SVG or PNG by the extension of the file.
    ///
    /// # Errors
    /// When a field is malformed or the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), FigureError> {
        self.picture()?.save(path)
    }

    /// Draws the figure.
    ///
    /// # Errors
    /// When a field is malformed.
    pub fn picture(&self) -> Result<Picture, FigureError> {
        self.check()?;
        let scales: Vec<[Limits; 2]> = self.panels.iter().map(GrowthPanel::limits).collect();
        let left = self.panels.iter().zip(&scales).map(|(panel, [_, y])| {
            Frame::left_of(&Ticks::up(Scale::Logarithmic, *y, self.panel_height), !panel.y_label.is_empty())
        });
        let named = self.panels.iter().any(|panel| !panel.x_label.is_empty());
        let titled = self.panels.iter().any(|panel| !panel.title.is_empty());
        let grid = Grid {
            columns: self.columns,
            width: self.width,
            panel_height: self.panel_height,
            above: if titled { TITLE_SIZE + 10.0 } else { 4.0 },
            left: left.collect(),
            below: Frame::below(named) + 10.0,
            below_last: Frame::below(named),
        };
        let placed = grid.place()?;
        let legend = Legend::new(self.legend(), placed.legend_width(self.width));
        let Placed { areas, left, height, .. } = placed.lowered(legend.height());
        let mut picture = Picture::new(self.width, height);
        legend.draw(&mut picture, areas[0].left, MARGIN);
        for (((panel, scale), area), left) in self.panels.iter().zip(scales).zip(areas).zip(left) {
            let frame = panel.draw(&mut picture, area, scale);
            frame.draw_axes(&mut picture, panel.x_label, panel.y_label, left);
            frame.draw_title(&mut picture, panel.title);
        }
        Ok(picture)
    }

    fn check(&self) -> Result<(), FigureError> {
        not_empty("panels", self.panels.len())?;
        for (index, panel) in self.panels.iter().enumerate() {
            not_empty(&format!("panels[{index}].curves"), panel.curves.len())?;
            for (place, curve) in panel.curves.iter().enumerate() {
                let field = format!("panels[{index}].curves[{place}]");
                curve.sizes.filled(&format!("{field}.sizes"))?;
                curve.costs.check(&format!("{field}.costs"), curve.sizes.len())?;
                positive(&format!("{field}.sizes"), curve.sizes)?;
                positive(&format!("{field}.costs"), curve.costs)?;
                if let Some(line) = &curve.line {
                    positive(&format!("{field}.line"), Numbers::from(line.as_flattened()))?;
                }
            }
        }
        Ok(())
    }

    /// The first name of every place.
    fn legend(&self) -> Vec<Entry> {
        let most = self.panels.iter().map(|panel| panel.curves.len()).max().unwrap_or(0);
        let name = |place: usize| {
            let mut names =
                self.panels.iter().filter_map(|panel| panel.curves.get(place)).map(|curve| curve.name);
            names.find(|name| !name.is_empty())
        };
        let entry = |place| Some(Entry::new(Key::Disc(palette(place), None), name(place)?));
        (0..most).filter_map(entry).collect()
    }
}

impl GrowthPanel<'_> {
    /// Limits of sizes and costs.
    fn limits(&self) -> [Limits; 2] {
        let sizes = self.curves.iter().flat_map(|curve| curve.sizes.iter());
        let costs = self.curves.iter().flat_map(|curve| curve.costs.iter());
        let around = |limits: Option<Limits>| {
            let limits = limits.unwrap_or(Limits { low: 1.0, high: 10.0 });
            // Less than a decade would show scatter as if it were growth.
            let middle = (limits.low * limits.high).sqrt();
            let (low, high) = (middle / 10f64.sqrt(), middle * 10f64.sqrt());
            Limits { low: limits.low.min(low), high: limits.high.max(high) }.padded_log(0.06)
        };
        [around(Limits::of(sizes)), around(Limits::of(costs))]
    }

    fn draw(&self, picture: &mut Picture, area: Area, [x, y]: [Limits; 2]) -> Frame {
        let frame = Frame::new(area, (Scale::Logarithmic, x), (Scale::Logarithmic, y));
        let levels = frame.y_ticks.major.iter().map(|tick| frame.y.place(tick.value));
        let levels = levels.map(|y| vec![[area.left, y], [area.right, y]]).collect();
        picture.lines(levels, Stroke::new(FAINT, 0.8));
        picture.clipped(area, |picture| {
            for (place, curve) in self.curves.iter().enumerate() {
                if let Some(line) = curve.line {
                    let ends = line.map(|[size, cost]| frame.place(size, cost));
                    picture.line(ends.to_vec(), Stroke::new(palette(place), LINE_WIDTH));
                }
                for (size, cost) in curve.sizes.iter().zip(curve.costs.iter()) {
                    picture.disc(frame.place(size, cost), RADIUS, palette(place).into(), None);
                }
            }
        });
        frame
    }
}

fn positive(field: &str, numbers: Numbers<'_>) -> Result<(), FigureError> {
    numbers.finite(field)?;
    match numbers.iter().position(|number| number < 1e-100) {
        Some(place) => {
            let requirement = "positive: the axes are logarithmic";
            Err(FigureError::invalid(format!("{field}[{place}]"), numbers.at(place), requirement))
        }
        None => Ok(()),
    }
}
