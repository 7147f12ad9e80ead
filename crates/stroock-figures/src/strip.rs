//! Images in time: rows of frames above a time axis.

use std::path::Path;

use crate::axes::{Entry, Key, Legend, MARGIN, evenly};
use crate::numbers::{length, not_empty};
use crate::picture::{Anchor, Area, Image, Label, Picture, Stroke, VAlign, Weight, width_of};
use crate::theme::{AXIS, Colour, FAINT, LABEL_SIZE, PALETTE, PIXELS, TICK_SIZE};
use crate::{FigureError, Numbers};

const MARK: Colour = PALETTE[1];
/// Space between images beside each other.
const GAP: f64 = 3.0;
/// Space between rows.
const ROW_GAP: f64 = 5.0;
/// Further space where the extrapolation begins.
const BREAK: f64 = 10.0;

/// Grey-valued images in rows, one column for each time.
///
/// ```
/// use stroock_figures::{StripFigure, StripRow};
/// let frames: Vec<[f32; 4]> = (0..3).map(|t| [0.0, 0.3 * t as f32, 0.5, 1.0]).collect();
/// let frames = frames.iter().map(|frame| Some(&frame[..])).collect();
/// let row = StripRow { label: "truth", frames, marked: &[0] };
/// let figure = StripFigure {
///     rows: vec![row],
///     size: [2, 2],
///     times: (&[0.0, 0.1, 0.2]).into(),
///     marked: "given",
///     ..StripFigure::default()
/// };
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("strip.svg");
/// figure.save(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct StripFigure<'a> {
    /// The rows, from the top.
    pub rows: Vec<StripRow<'a>>,
    /// Height and width of an image in pixels.
    pub size: [usize; 2],
    /// Values that are black and white; what lies outside is cut.
    pub range: [f32; 2],
    /// Whether black and white change places, for dark ink on white ground.
    pub inverted: bool,
    /// Times of the columns.
    pub times: Numbers<'a>,
    /// Name of the time, with its unit.
    pub time: &'a str,
    /// What the marked frames are; may be empty.
    pub marked: &'a str,
    /// Time from which on columns are set apart, as extrapolation.
    pub forecast_from: Option<f64>,
    /// Width of an image in CSS pixels; rounded so that all of its pixels are equally wide in a PNG.
    pub image_width: f64,
}

/// One row of images.
#[derive(Clone, Debug, Default)]
pub struct StripRow<'a> {
    /// Its name.
    pub label: &'a str,
    /// Images, each `[height, width]`, or `None` where there is none; one for each time.
    pub frames: Vec<Option<&'a [f32]>>,
    /// Columns whose frames are marked by a coloured rim, such as those that the encoder saw.
    pub marked: &'a [usize],
}

impl Default for StripFigure<'_> {
    /// Images of 28 x 28 pixels with values from 0 to 1, without rows.
    fn default() -> Self {
        StripFigure {
            rows: Vec::new(),
            size: [28, 28],
            range: [0.0, 1.0],
            inverted: false,
            times: Numbers::default(),
            time: "time",
            marked: "",
            forecast_from: None,
            image_width: 42.0,
        }
    }
}

impl StripFigure<'_> {
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
        let columns = self.times.len();
        let [rows, cells] = self.size.map(|side| side as f64);
        // A whole number of pixels of the PNG for each pixel of an image.
        let zoom = (self.image_width * f64::from(PIXELS) / cells).round().max(1.0) / f64::from(PIXELS);
        let (wide, high) = (zoom * cells, zoom * rows);

        let widths = self.rows.iter().map(|row| row.label).chain([self.time]);
        let labels = widths.map(|text| width_of(text, LABEL_SIZE, Weight::Regular)).fold(0.0, f64::max);
        // On whole pixels, so that the images are, too.
        let times = evenly(self.times.iter());
        let widest = times.iter().map(|text| width_of(text, TICK_SIZE, Weight::Regular)).fold(0.0, f64::max);
        let overhang = ((widest - wide) / 2.0).max(0.0);
        let left = (MARGIN + labels + if labels > 0.0 { 8.0 } else { 0.0 } + overhang).ceil();
        let broken = self.forecast_from.map(|from| self.times.iter().take_while(|time| *time < from).count());
        let broken = broken.filter(|column| (1..columns).contains(column));
        let column_left = |column: usize| {
            let gap = if broken.is_some_and(|first| column >= first) { BREAK } else { 0.0 };
            left + column as f64 * (wide + GAP) + gap
        };
        let width = (column_left(columns - 1) + wide + overhang + MARGIN).max(120.0);
        let legend = Legend::new(self.legend(), width - left - MARGIN);
        let top = (MARGIN + legend.height()).ceil();
        let foot = top + self.rows.len() as f64 * (high + ROW_GAP) - ROW_GAP;
        let mut picture = Picture::new(width, foot + 6.0 + LABEL_SIZE + MARGIN);
        legend.draw(&mut picture, left, MARGIN);

        for (index, row) in self.rows.iter().enumerate() {
            let row_top = top + index as f64 * (high + ROW_GAP);
            for (column, frame) in row.frames.iter().enumerate() {
                let area = Area::sized(column_left(column), row_top, wide, high);
                self.draw_frame(&mut picture, area, *frame, row.marked.contains(&column));
            }
            let at = [left - overhang - 8.0, row_top + high / 2.0];
            picture.text(Label::new(at, row.label, LABEL_SIZE, Anchor::End, VAlign::Middle));
        }
        if let Some(column) = broken {
            let x = column_left(column) - (BREAK + GAP) / 2.0;
            picture.line(vec![[x, top - 2.0], [x, foot + 2.0]], Stroke::new(AXIS, 0.9).dashed());
        }
        let middle = foot + 6.0 + LABEL_SIZE / 2.0;
        let every = ((widest + 6.0) / (wide + GAP)).ceil().max(1.0) as usize;
        for (column, text) in times.into_iter().enumerate().step_by(every) {
            let at = [column_left(column) + wide / 2.0, middle];
            picture.text(Label::new(at, text, TICK_SIZE, Anchor::Middle, VAlign::Middle));
        }
        let at = [left - overhang - 8.0, middle];
        picture.text(Label::new(at, self.time, LABEL_SIZE, Anchor::End, VAlign::Middle));
        Ok(picture)
    }

    fn check(&self) -> Result<(), FigureError> {
        not_empty("rows", self.rows.len())?;
        if self.size.iter().any(|side| !(1..=4096).contains(side)) {
            return Err(FigureError::invalid("size", format!("{:?}", self.size), "between 1 and 4096 each"));
        }
        if !(self.range.iter().all(|end| end.is_finite()) && self.range[0] < self.range[1]) {
            let requirement = "two finite numbers, the second one larger";
            return Err(FigureError::invalid("range", format!("{:?}", self.range), requirement));
        }
        if !(4.0..=2000.0).contains(&self.image_width) {
            return Err(FigureError::invalid("image_width", self.image_width, "between 4 and 2000"));
        }
        self.times.times("times")?;
        if let Some(from) = self.forecast_from {
            Numbers::from(&[from]).finite("forecast_from")?;
        }
        for (index, row) in self.rows.iter().enumerate() {
            let field = format!("rows[{index}]");
            length(&format!("{field}.frames"), self.times.len(), row.frames.len())?;
            for (column, frame) in row.frames.iter().enumerate() {
                if let Some(frame) = frame {
                    let pixels = self.size[0] * self.size[1];
                    Numbers::from(*frame).check(&format!("{field}.frames[{column}]"), pixels)?;
                }
            }
            if let Some(place) = row.marked.iter().position(|column| *column >= self.times.len()) {
                let requirement = format!("below {}, the number of times", self.times.len());
                let field = format!("{field}.marked[{place}]");
                return Err(FigureError::invalid(field, row.marked[place], requirement));
            }
        }
        Ok(())
    }

    fn legend(&self) -> Vec<Entry> {
        if self.marked.is_empty() || self.rows.iter().all(|row| row.marked.is_empty()) {
            return Vec::new();
        }
        vec![Entry::new(Key::Frame(Stroke::new(MARK, 1.6)), self.marked)]
    }

    fn draw_frame(&self, picture: &mut Picture, area: Area, frame: Option<&[f32]>, marked: bool) {
        let mut rim = area.corners().to_vec();
        rim.push(rim[0]);
        match frame {
            // An empty place shows that nothing is missing by mistake.
            None => picture.line(rim.clone(), Stroke::new(FAINT, 0.8)),
            Some(frame) => {
                let [black, white] = self.range;
                let grey = |value: &f32| {
                    let share = ((value - black) / (white - black)).clamp(0.0, 1.0);
                    (255.0 * if self.inverted { 1.0 - share } else { share }).round() as u8
                };
                let rgb = frame.iter().map(grey).flat_map(|grey| [grey; 3]).collect();
                let [rows, columns] = self.size.map(|side| side as u32);
                picture.image(Image { area, columns, rows, rgb });
                if self.inverted {
                    picture.line(rim.clone(), Stroke::new(FAINT, 0.8));
                }
            }
        }
        if marked {
            picture.line(rim, Stroke::new(MARK, 1.6));
        }
    }
}
