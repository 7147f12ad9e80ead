//! Fitted series: what was seen, what was withheld, and what the model says with which certainty.

use std::path::Path;

use crate::axes::{Entry, Frame, Grid, Key, Legend, Limits, MARGIN, Placed, Scale, Ticks};
use crate::numbers::not_empty;
use crate::picture::{Area, Picture, Point, Stroke};
use crate::theme::{Colour, GREY, INK, LINE_WIDTH, PALETTE, PAPER, SHADE, TITLE_SIZE, WIDTH};
use crate::{FigureError, Numbers, Points};

const MEAN: Colour = PALETTE[0];
const WITHHELD: Colour = PALETTE[1];
const RADIUS: f64 = 2.1;

/// Small multiples of fitted series, one panel for each series and variable.
///
/// ```
/// use stroock_figures::{Band, FitFigure, FitPanel, Points};
/// let (times, mean) = ([0.0, 1.0, 2.0], [36.8f32, 37.4, 37.1]);
/// let (lower, upper) = ([36.5f32, 37.0, 36.4], [37.1f32, 37.8, 37.9]);
/// let figure = FitFigure {
///     panels: vec![FitPanel {
///         series: "132539",
///         variable: "Temp",
///         unit: "°C",
///         seen: Points { times: (&[0.0, 1.0]).into(), values: (&[36.9f32, 37.3]).into() },
///         times: (&times).into(),
///         mean: (&mean).into(),
///         bands: vec![Band { level: 0.9, lower: (&lower).into(), upper: (&upper).into() }],
///         ..FitPanel::default()
///     }],
///     time: "time (h)",
///     ..FitFigure::default()
/// };
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("fit.svg");
/// figure.save(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FitFigure<'a> {
    /// The panels, row by row.
    pub panels: Vec<FitPanel<'a>>,
    /// Panels beside each other.
    pub columns: usize,
    /// Name of the time axis, with its unit.
    pub time: &'a str,
    /// Width of the picture in CSS pixels.
    pub width: f64,
    /// Height of a panel without its title and axis.
    pub panel_height: f64,
}

/// One variable of one series.
#[derive(Clone, Debug, Default)]
pub struct FitPanel<'a> {
    /// Name of the series, the title of the panel.
    pub series: &'a str,
    /// Name of the variable.
    pub variable: &'a str,
    /// Its unit; may be empty.
    pub unit: &'a str,
    /// Observations that the encoder saw.
    pub seen: Points<'a>,
    /// Observations that it did not see.
    pub withheld: Points<'a>,
    /// The true values, if they are known; in order of time.
    pub truth: Option<Points<'a>>,
    /// Times of the mean and the bands, in order.
    pub times: Numbers<'a>,
    /// Mean of the posterior at these times.
    pub mean: Numbers<'a>,
    /// Intervals at these times, in any order.
    pub bands: Vec<Band<'a>>,
    /// Time from which on there is nothing but forecast.
    pub forecast_from: Option<f64>,
}

/// Intervals that hold the value with some probability.
#[derive(Clone, Copy, Debug)]
pub struct Band<'a> {
    /// The probability, between 0 and 1.
    pub level: f64,
    /// Lower ends.
    pub lower: Numbers<'a>,
    /// Upper ends.
    pub upper: Numbers<'a>,
}

impl Default for FitFigure<'_> {
    /// Three columns without panels.
    fn default() -> Self {
        FitFigure { panels: Vec::new(), columns: 3, time: "time", width: WIDTH, panel_height: 110.0 }
    }
}

impl FitFigure<'_> {
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
        not_empty("panels", self.panels.len())?;
        for (index, panel) in self.panels.iter().enumerate() {
            panel.check(&format!("panels[{index}]"))?;
        }
        let left = |panel: &FitPanel| {
            let ticks = Ticks::up(Scale::Linear, panel.value_limits(), self.panel_height);
            Frame::left_of(&ticks, !panel.name().is_empty())
        };
        let titled = self.panels.iter().any(|panel| !panel.series.is_empty());
        let grid = Grid {
            columns: self.columns,
            width: self.width,
            panel_height: self.panel_height,
            above: if titled { TITLE_SIZE + 10.0 } else { 4.0 },
            left: self.panels.iter().map(left).collect(),
            below: Frame::below(false) + 4.0,
            below_last: Frame::below(!self.time.is_empty()),
        };
        let placed = grid.place()?;
        let legend = Legend::new(legend_of(&self.panels), placed.legend_width(self.width));
        let Placed { areas, left, lowest, height } = placed.lowered(legend.height());
        let mut picture = Picture::new(self.width, height);
        legend.draw(&mut picture, areas[0].left, MARGIN);
        for (index, panel) in self.panels.iter().enumerate() {
            let time = if lowest[index] { self.time } else { "" };
            let times = (Scale::Linear, panel.times_shown().padded(0.02));
            let frame = Frame::new(areas[index], times, (Scale::Linear, panel.value_limits()));
            panel.draw(&mut picture, &frame, time, left[index]);
        }
        Ok(picture)
    }
}

/// What occurs in some panel, with the levels of all bands.
pub(crate) fn legend_of(panels: &[FitPanel]) -> Vec<Entry> {
    let any = |has: fn(&FitPanel) -> bool| panels.iter().any(has);
    let mut entries = Vec::new();
    if any(|panel| !panel.seen.times.is_empty()) {
        entries.push(Entry::new(Key::Disc(INK, None), "observed"));
    }
    if any(|panel| !panel.withheld.times.is_empty()) {
        entries.push(Entry::new(Key::Disc(PAPER, Some(withheld_rim())), "withheld"));
    }
    if any(|panel| panel.truth.is_some()) {
        entries.push(Entry::new(Key::Line(truth_stroke()), "truth"));
    }
    if any(|panel| !panel.mean.is_empty()) {
        entries.push(Entry::new(Key::Line(Stroke::new(MEAN, LINE_WIDTH)), "posterior mean"));
    }
    let mut levels: Vec<(f64, Colour)> = Vec::new();
    for panel in panels {
        for (rank, band) in panel.widest_first().into_iter().enumerate() {
            if levels.iter().all(|(level, _)| *level != band.level) {
                levels.push((band.level, band_colour(rank, panel.bands.len())));
            }
        }
    }
    levels.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (level, colour) in levels {
        let percent = (level * 1000.0).round() / 10.0;
        entries.push(Entry::new(Key::Patch(colour, None), format!("{percent} % interval")));
    }
    if any(|panel| panel.forecast_from.is_some()) {
        entries.push(Entry::new(Key::Patch(SHADE, None), "forecast"));
    }
    entries
}

impl FitPanel<'_> {
    pub(crate) fn check(&self, field: &str) -> Result<(), FigureError> {
        self.seen.check(&format!("{field}.seen"))?;
        self.withheld.check(&format!("{field}.withheld"))?;
        if let Some(truth) = &self.truth {
            truth.check(&format!("{field}.truth"))?;
            truth.times.times(&format!("{field}.truth.times"))?;
        }
        if !self.mean.is_empty() || !self.bands.is_empty() {
            self.times.times(&format!("{field}.times"))?;
        }
        if !self.mean.is_empty() {
            self.mean.check(&format!("{field}.mean"), self.times.len())?;
        }
        for (index, band) in self.bands.iter().enumerate() {
            let field = format!("{field}.bands[{index}]");
            if !(band.level > 0.0 && band.level < 1.0) {
                return Err(FigureError::invalid(format!("{field}.level"), band.level, "between 0 and 1"));
            }
            band.lower.check(&format!("{field}.lower"), self.times.len())?;
            band.upper.check(&format!("{field}.upper"), self.times.len())?;
            let crossed = band.lower.iter().zip(band.upper.iter()).position(|(lower, upper)| lower > upper);
            if let Some(place) = crossed {
                let (lower, upper) = (band.lower.at(place), band.upper.at(place));
                let requirement = format!("at most the upper end, {upper}");
                return Err(FigureError::invalid(format!("{field}.lower[{place}]"), lower, requirement));
            }
        }
        if let Some(from) = self.forecast_from {
            Numbers::from(&[from]).finite(&format!("{field}.forecast_from"))?;
        }
        if self.seen.times.is_empty()
            && self.withheld.times.is_empty()
            && self.truth.is_none()
            && self.mean.is_empty()
            && self.bands.is_empty()
        {
            return Err(FigureError::Empty { field: field.to_owned() });
        }
        Ok(())
    }

    fn name(&self) -> String {
        match self.unit {
            "" => self.variable.to_owned(),
            unit => format!("{} ({unit})", self.variable),
        }
    }

    pub(crate) fn value_limits(&self) -> Limits {
        let truth = self.truth.unwrap_or_default();
        let bands = self.bands.iter().flat_map(|band| band.lower.iter().chain(band.upper.iter()));
        let points = self.seen.values.iter().chain(self.withheld.values.iter()).chain(truth.values.iter());
        let limits = Limits::of(points.chain(self.mean.iter()).chain(bands));
        limits.unwrap_or(Limits { low: 0.0, high: 1.0 }).padded(0.06)
    }

    /// From the first time of anything in the panel to the last.
    pub(crate) fn times_shown(&self) -> Limits {
        let truth = self.truth.unwrap_or_default();
        let model =
            if self.mean.is_empty() && self.bands.is_empty() { Numbers::default() } else { self.times };
        let points = self.seen.times.iter().chain(self.withheld.times.iter()).chain(truth.times.iter());
        Limits::of(points.chain(model.iter())).unwrap_or(Limits { low: 0.0, high: 1.0 })
    }

    fn widest_first(&self) -> Vec<Band<'_>> {
        let mut bands = self.bands.clone();
        bands.sort_by(|a, b| b.level.total_cmp(&a.level));
        bands
    }

    pub(crate) fn draw(&self, picture: &mut Picture, frame: &Frame, time: &str, left: f64) {
        let area = frame.area;
        if let Some(from) = self.forecast_from {
            let start = frame.x.place(from).clamp(area.left, area.right);
            picture.rectangle(Area { left: start, ..area }, SHADE.into());
        }
        for (rank, band) in self.widest_first().into_iter().enumerate() {
            let upper = self.times.iter().zip(band.upper.iter());
            let lower = self.times.iter().zip(band.lower.iter()).rev();
            let rim: Vec<Point> = upper.chain(lower).map(|(time, value)| frame.place(time, value)).collect();
            picture.polygon(rim, band_colour(rank, self.bands.len()).into());
        }
        if let Some(truth) = &self.truth {
            let line = truth.iter().map(|(time, value)| frame.place(time, value)).collect();
            picture.line(line, truth_stroke());
        }
        if !self.mean.is_empty() {
            let line = self.times.iter().zip(self.mean.iter());
            let line = line.map(|(time, value)| frame.place(time, value)).collect();
            picture.line(line, Stroke::new(MEAN, LINE_WIDTH));
        }
        for (time, value) in self.withheld.iter() {
            picture.disc(frame.place(time, value), RADIUS, PAPER.into(), Some(withheld_rim()));
        }
        for (time, value) in self.seen.iter() {
            picture.disc(frame.place(time, value), RADIUS, INK.into(), None);
        }
        frame.draw_axes(picture, time, &self.name(), left);
        frame.draw_title(picture, self.series);
    }
}

/// Wide bands are pale, narrow ones on top of them stronger.
fn band_colour(rank: usize, count: usize) -> Colour {
    let share = 0.22 + 0.26 * rank as f64 / (count.max(2) - 1) as f64;
    PAPER.mixed(MEAN, share)
}

fn truth_stroke() -> Stroke {
    Stroke::new(GREY, 0.9)
}

fn withheld_rim() -> Stroke {
    Stroke::new(WITHHELD, 1.1)
}
