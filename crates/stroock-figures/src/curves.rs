//! Training curves: what training improves, against epochs and against wall time.

use std::path::Path;

use crate::axes::{Entry, Frame, Grid, Key, Legend, Limits, MARGIN, Placed, Scale, Ticks, plain};
use crate::numbers::not_empty;
use crate::picture::{Area, Picture, Stroke};
use crate::theme::{FAINT, GREY, LINE_WIDTH, PALETTE, TITLE_SIZE, WIDTH, palette};
use crate::{FigureError, Numbers};

/// A quantity in the course of training, for several runs.
///
/// ```
/// use stroock_figures::{CurvesFigure, Published, Run};
/// let figure = CurvesFigure {
///     runs: vec![Run {
///         name: "seed 1",
///         epochs: (&[1.0, 2.0, 3.0]).into(),
///         seconds: (&[2.1, 4.2, 6.4]).into(),
///         values: (&[0.9, 0.4, 0.3]).into(),
///     }],
///     label: "test MSE",
///     logarithmic: true,
///     published: vec![Published { name: "published", value: 0.25 }],
///     ..CurvesFigure::default()
/// };
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("curves.svg");
/// figure.save(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CurvesFigure<'a> {
    /// The runs; later ones cover earlier ones.
    pub runs: Vec<Run<'a>>,
    /// What the values are.
    pub label: &'a str,
    /// Title; may be empty.
    pub title: &'a str,
    /// Whether the values are on a logarithmic scale.
    pub logarithmic: bool,
    /// Lowest and highest value to be shown; `None` shows all of them.
    pub range: Option<[f64; 2]>,
    /// Values to compare with, as dashed lines.
    pub published: Vec<Published<'a>>,
    /// Width of the picture in CSS pixels.
    pub width: f64,
    /// Height of a panel without its title and axis.
    pub panel_height: f64,
}

/// One run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run<'a> {
    /// Its name.
    pub name: &'a str,
    /// Epochs of the values.
    pub epochs: Numbers<'a>,
    /// Seconds since the start of the run at which the values were reached; empty if unknown.
    pub seconds: Numbers<'a>,
    /// The values.
    pub values: Numbers<'a>,
}

/// A value to compare with.
#[derive(Clone, Copy, Debug)]
pub struct Published<'a> {
    /// Where it is from.
    pub name: &'a str,
    /// The value.
    pub value: f64,
}

impl Default for CurvesFigure<'_> {
    /// A linear scale, without runs.
    fn default() -> Self {
        CurvesFigure {
            runs: Vec::new(),
            label: "loss",
            title: "",
            logarithmic: false,
            range: None,
            published: Vec::new(),
            width: WIDTH,
            panel_height: 200.0,
        }
    }
}

impl CurvesFigure<'_> {
    /// Writes the figure, as SVG or PNG by the extension of the file.
    ///
    /// # Errors
    /// When a field is malformed or the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), FigureError> {
        self.picture()?.save(path)
    }

    /// Draws the figure: a panel against epochs, and one against wall time if any run knows it.
    ///
    /// # Errors
    /// When a field is malformed.
    pub fn picture(&self) -> Result<Picture, FigureError> {
        self.check()?;
        let timed = self.runs.iter().any(|run| !run.seconds.is_empty());
        let y = self.value_axis();
        let ticks = Ticks::up(y.0, y.1, self.panel_height);
        let lefts = [Frame::left_of(&ticks, !self.label.is_empty()), Frame::left_of(&ticks, false)];
        let grid = Grid {
            columns: 2,
            width: self.width,
            panel_height: self.panel_height,
            above: if self.title.is_empty() { 4.0 } else { TITLE_SIZE + 10.0 },
            left: lefts[..if timed { 2 } else { 1 }].to_vec(),
            below: 0.0,
            below_last: Frame::below(true),
        };
        let placed = grid.place()?;
        let legend = Legend::new(self.legend(), placed.legend_width(self.width));
        let Placed { areas, left, height, .. } = placed.lowered(legend.height());
        let mut picture = Picture::new(self.width, height);
        legend.draw(&mut picture, areas[0].left, MARGIN);
        let frame = self.draw_panel(&mut picture, areas[0], y, 1.0, |run| run.epochs);
        frame.draw_axes(&mut picture, "epoch", self.label, left[0]);
        frame.draw_title(&mut picture, self.title);
        if timed {
            let (unit, name) = self.time_unit();
            let frame = self.draw_panel(&mut picture, areas[1], y, unit, |run| run.seconds);
            frame.draw_axes(&mut picture, name, "", left[1]);
        }
        Ok(picture)
    }

    fn check(&self) -> Result<(), FigureError> {
        not_empty("runs", self.runs.len())?;
        for (index, run) in self.runs.iter().enumerate() {
            let field = format!("runs[{index}]");
            run.epochs.times(&format!("{field}.epochs"))?;
            let values = format!("{field}.values");
            run.values.check(&values, run.epochs.len())?;
            if !run.seconds.is_empty() {
                run.seconds.times(&format!("{field}.seconds"))?;
                run.seconds.check(&format!("{field}.seconds"), run.epochs.len())?;
            }
            for (place, value) in run.values.iter().enumerate() {
                self.check_positive(&format!("{values}[{place}]"), value)?;
            }
        }
        for (index, published) in self.published.iter().enumerate() {
            let field = format!("published[{index}].value");
            Numbers::from(&[published.value]).finite(&field)?;
            self.check_positive(&field, published.value)?;
        }
        if let Some(range) = self.range {
            Numbers::from(&range).finite("range")?;
            self.check_positive("range[0]", range[0])?;
            if range[0] >= range[1] {
                let requirement = "a lower number before a higher one";
                return Err(FigureError::invalid("range", format!("{range:?}"), requirement));
            }
        }
        Ok(())
    }

    fn check_positive(&self, field: &str, value: f64) -> Result<(), FigureError> {
        if self.logarithmic && value < 1e-100 {
            let requirement = "positive for a logarithmic scale; or set `logarithmic` to false";
            return Err(FigureError::invalid(field, value, requirement));
        }
        Ok(())
    }

    fn value_axis(&self) -> (Scale, Limits) {
        let values = self.runs.iter().flat_map(|run| run.values.iter());
        let values = values.chain(self.published.iter().map(|published| published.value));
        let all = Limits::of(values).unwrap_or(Limits { low: 1.0, high: 2.0 });
        let asked = self.range.map(|[low, high]| Limits { low, high });
        match self.logarithmic {
            true => (Scale::Logarithmic, asked.unwrap_or_else(|| all.padded_log(0.05))),
            false => (Scale::Linear, asked.unwrap_or_else(|| all.padded(0.05)).opened()),
        }
    }

    /// Seconds in the unit of the time axis, and its name.
    fn time_unit(&self) -> (f64, &'static str) {
        let longest = self.runs.iter().flat_map(|run| run.seconds.iter()).fold(0.0, f64::max);
        match longest {
            ..=180.0 => (1.0, "wall time (s)"),
            ..=7200.0 => (60.0, "wall time (min)"),
            _ => (3600.0, "wall time (h)"),
        }
    }

    fn draw_panel<'s>(
        &'s self,
        picture: &mut Picture,
        area: Area,
        y: (Scale, Limits),
        unit: f64,
        across: impl Fn(&'s Run<'s>) -> Numbers<'s>,
    ) -> Frame {
        let all = Limits::of(self.runs.iter().flat_map(|run| across(run).iter().map(|x| x / unit)));
        let x = all.unwrap_or(Limits { low: 0.0, high: 1.0 });
        let x = Limits { low: x.low.min(0.0), ..x }.padded(0.015);
        let frame = Frame::new(area, (Scale::Linear, x), y);
        let levels = frame.y_ticks.major.iter().map(|tick| frame.y.place(tick.value));
        let levels = levels.map(|y| vec![[area.left, y], [area.right, y]]).collect();
        picture.lines(levels, Stroke::new(FAINT, 0.8));
        picture.clipped(area, |picture| {
            for (index, published) in self.published.iter().enumerate() {
                let y = frame.y.place(published.value);
                picture.line(vec![[area.left, y], [area.right, y]], published_stroke(index));
            }
            for (index, run) in self.runs.iter().enumerate() {
                let points = across(run).iter().zip(run.values.iter());
                let line: Vec<_> = points.map(|(x, value)| frame.place(x / unit, value)).collect();
                if !line.is_empty() {
                    picture.line(line, run_stroke(index));
                }
            }
        });
        frame
    }

    fn legend(&self) -> Vec<Entry> {
        let runs = self.runs.iter().enumerate().filter(|(_, run)| !run.name.is_empty());
        let runs = runs.map(|(index, run)| Entry::new(Key::Line(run_stroke(index)), run.name));
        let published = self.published.iter().enumerate().map(|(index, published)| {
            let text = format!("{} ({})", published.name, plain(published.value));
            Entry::new(Key::Line(published_stroke(index)), text)
        });
        runs.chain(published).collect()
    }
}

/// After all colours have been used they come again with dashes.
fn run_stroke(index: usize) -> Stroke {
    let stroke = Stroke::new(palette(index), LINE_WIDTH);
    match index / PALETTE.len() {
        0 => stroke,
        round => Stroke { dash: Some([1.5 + 4.0 / round as f64, 2.0]), ..stroke },
    }
}

/// Dashes get shorter from one published value to the next.
fn published_stroke(index: usize) -> Stroke {
    Stroke { dash: Some([5.0 / (1.0 + index as f64), 3.2]), ..Stroke::new(GREY, 1.1) }
}
