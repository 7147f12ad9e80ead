//! How a posterior follows its observations: fits, and below them what leads it, over one axis of time.

use std::path::Path;

use crate::axes::{Entry, Frame, Key, Legend, Limits, MARGIN, Row, Scale, Stack, Ticks, size};
use crate::fit::{FitPanel, legend_of};
use crate::numbers::not_empty;
use crate::picture::{Area, Picture, Stroke};
use crate::theme::{Colour, FAINT, LINE_WIDTH, PALETTE, TITLE_SIZE, WIDTH};
use crate::{FigureError, Numbers};

/// Space between panels above each other.
const BETWEEN: f64 = 14.0;
/// Colours of the curves of a quantity; the first ones of the palette belong to the fit.
const COLOURS: [Colour; 4] = [PALETTE[6], PALETTE[2], PALETTE[4], PALETTE[3]];

/// Fits of a series above quantities of its path, in panels that share the axis of time.
///
/// Observed times run through all panels as faint lines.
///
/// ```
/// use stroock_figures::{FitPanel, FollowingFigure, Points, Quantity, QuantityCurve};
/// let times = [0.0, 0.5, 1.0, 1.5];
/// let figure = FollowingFigure {
///     fits: vec![FitPanel {
///         variable: "x",
///         seen: Points { times: (&[0.5]).into(), values: (&[0.9]).into() },
///         times: (&times).into(),
///         mean: (&[0.0, 0.9, 1.0, 0.8]).into(),
///         ..FitPanel::default()
///     }],
///     quantities: vec![Quantity {
///         label: "gain",
///         curves: vec![QuantityCurve { name: "", values: (&[2.0, 30.0, 11.0, 1.0]).into() }],
///     }],
///     times: (&times).into(),
///     observed: (&[0.5]).into(),
///     ..FollowingFigure::default()
/// };
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("following.svg");
/// figure.save(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FollowingFigure<'a> {
    /// The fits, from top to bottom.
    pub fits: Vec<FitPanel<'a>>,
    /// The quantities below them.
    pub quantities: Vec<Quantity<'a>>,
    /// Times of the quantities, `[T]`, in order.
    pub times: Numbers<'a>,
    /// Times at which something is observed.
    pub observed: Numbers<'a>,
    /// Name of the time axis, with its unit.
    pub time: &'a str,
    /// Width of the picture in CSS pixels.
    pub width: f64,
    /// Height of the panel of a fit.
    pub fit_height: f64,
    /// Height of the panel of a quantity.
    pub quantity_height: f64,
}

/// A quantity over time. Its axis begins at 0 unless it is negative somewhere.
#[derive(Clone, Debug, Default)]
pub struct Quantity<'a> {
    /// Its name, with its unit.
    pub label: &'a str,
    /// Its curves; later ones cover earlier ones.
    pub curves: Vec<QuantityCurve<'a>>,
}

/// One course of a quantity.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuantityCurve<'a> {
    /// Its name; may be empty where there is only one.
    pub name: &'a str,
    /// Its values at the times of the figure, `[T]`.
    pub values: Numbers<'a>,
}

impl Default for FollowingFigure<'_> {
    /// Without panels.
    fn default() -> Self {
        FollowingFigure {
            fits: Vec::new(),
            quantities: Vec::new(),
            times: Numbers::default(),
            observed: Numbers::default(),
            time: "time",
            width: WIDTH,
            fit_height: 150.0,
            quantity_height: 76.0,
        }
    }
}

impl FollowingFigure<'_> {
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
        let left = self.left();
        let room = self.width - 2.0 * MARGIN - left;
        let legend = Legend::new(self.legend(), room);
        let legends: Vec<Legend> = self.quantities.iter().map(|q| Legend::new(q.legend(), room)).collect();
        let stack =
            Stack { width: self.width, left, rows: self.rows(&legend, &legends), below: Frame::below(true) };
        let (areas, height) = stack.place()?;
        let mut picture = Picture::new(self.width, height);
        legend.draw(&mut picture, areas[0].left, MARGIN);

        let times = (Scale::Linear, self.time_limits());
        let (of_fits, of_quantities) = areas.split_at(self.fits.len());
        for (index, (fit, area)) in self.fits.iter().zip(of_fits).enumerate() {
            let mut frame = Frame::new(*area, times, (Scale::Linear, fit.value_limits()));
            let time = self.axis(&mut frame, index);
            self.draw_observed(&mut picture, &frame);
            fit.draw(&mut picture, &frame, time, left);
        }
        for (index, (quantity, area)) in self.quantities.iter().zip(of_quantities).enumerate() {
            let mut frame = Frame::new(*area, times, (Scale::Linear, quantity.limits()));
            let time = self.axis(&mut frame, self.fits.len() + index);
            self.draw_observed(&mut picture, &frame);
            self.draw_quantity(&mut picture, quantity, &frame);
            frame.draw_axes(&mut picture, time, quantity.label, left);
            legends[index].draw(&mut picture, area.left, area.top - legends[index].height());
        }
        Ok(picture)
    }

    fn check(&self) -> Result<(), FigureError> {
        for (index, fit) in self.fits.iter().enumerate() {
            fit.check(&format!("fits[{index}]"))?;
        }
        not_empty("quantities", self.quantities.len())?;
        self.times.times("times")?;
        self.observed.finite("observed")?;
        for (index, quantity) in self.quantities.iter().enumerate() {
            let field = format!("quantities[{index}].curves");
            not_empty(&field, quantity.curves.len())?;
            for (which, curve) in quantity.curves.iter().enumerate() {
                curve.values.check(&format!("{field}[{which}].values"), self.times.len())?;
            }
        }
        size("fit_height", self.fit_height)?;
        size("quantity_height", self.quantity_height)
    }

    /// Space left of all panels: their names stand in one line.
    fn left(&self) -> f64 {
        let of_fits = self
            .fits
            .iter()
            .map(|fit| Frame::left_of(&Ticks::up(Scale::Linear, fit.value_limits(), self.fit_height), true));
        let of_quantities = self.quantities.iter().map(|quantity| {
            Frame::left_of(&Ticks::up(Scale::Linear, quantity.limits(), self.quantity_height), true)
        });
        of_fits.chain(of_quantities).fold(0.0, f64::max)
    }

    fn rows(&self, legend: &Legend, legends: &[Legend]) -> Vec<Row> {
        let titled = |fit: &FitPanel| if fit.series.is_empty() { 0.0 } else { TITLE_SIZE + 4.0 };
        let fits = self.fits.iter().map(|fit| Row { above: BETWEEN + titled(fit), height: self.fit_height });
        let quantities =
            legends.iter().map(|own| Row { above: BETWEEN + own.height(), height: self.quantity_height });
        let mut rows: Vec<Row> = fits.chain(quantities).collect();
        rows[0].above += legend.height() - if legend.height() > 0.0 { 8.0 } else { BETWEEN };
        rows
    }

    /// Numbers stand below the lowest panel only, where the name of the axis is, too.
    fn axis(&self, frame: &mut Frame, panel: usize) -> &str {
        if panel + 1 == self.fits.len() + self.quantities.len() {
            return self.time;
        }
        frame.x_ticks.major.iter_mut().for_each(|tick| tick.label.clear());
        ""
    }

    fn time_limits(&self) -> Limits {
        let fits = self.fits.iter().map(FitPanel::times_shown);
        let own = Limits::of(self.times.iter().chain(self.observed.iter()));
        let all = fits.chain(own).flat_map(|Limits { low, high }| [low, high]);
        Limits::of(all).unwrap_or(Limits { low: 0.0, high: 1.0 }).padded(0.01)
    }

    fn draw_observed(&self, picture: &mut Picture, frame: &Frame) {
        let Area { top, bottom, .. } = frame.area;
        let lines = self.observed.iter().map(|time| frame.x.place(time));
        let lines: Vec<_> = lines.map(|x| vec![[x, top], [x, bottom]]).collect();
        if !lines.is_empty() {
            picture.lines(lines, observed_stroke());
        }
    }

    fn draw_quantity(&self, picture: &mut Picture, quantity: &Quantity, frame: &Frame) {
        for (index, curve) in quantity.curves.iter().enumerate() {
            let points = self.times.iter().zip(curve.values.iter());
            picture.line(points.map(|(time, value)| frame.place(time, value)).collect(), stroke(index));
        }
    }

    fn legend(&self) -> Vec<Entry> {
        let mut entries = legend_of(&self.fits);
        if !self.observed.is_empty() {
            entries.push(Entry::new(Key::Line(observed_stroke()), "observed time"));
        }
        entries
    }
}

impl Quantity<'_> {
    fn limits(&self) -> Limits {
        let values = Limits::of(self.curves.iter().flat_map(|curve| curve.values.iter()));
        let Limits { low, high } = values.unwrap_or(Limits { low: 0.0, high: 1.0 });
        match low >= 0.0 {
            true => Limits { low: 0.0, high: if high > 0.0 { 1.06 * high } else { 1.0 } },
            false => Limits { low, high }.padded(0.06),
        }
    }

    fn legend(&self) -> Vec<Entry> {
        let curves = self.curves.iter().enumerate().filter(|(_, curve)| !curve.name.is_empty());
        curves.map(|(index, curve)| Entry::new(Key::Line(stroke(index)), curve.name)).collect()
    }
}

fn stroke(index: usize) -> Stroke {
    Stroke::new(COLOURS[index % COLOURS.len()], LINE_WIDTH)
}

fn observed_stroke() -> Stroke {
    Stroke::new(FAINT, 1.0)
}
