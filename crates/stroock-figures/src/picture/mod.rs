//! A finished picture: shapes, letters and pixels at places, before they become SVG or PNG.
//!
//! Lengths are CSS pixels; x runs to the right, y downwards.

mod area;
mod file;
mod font;
mod marks;
mod pixels;
mod svg;

use std::path::Path;

pub(crate) use area::Area;
pub(crate) use font::{Weight, shortened, width_of};
pub(crate) use marks::{Anchor, Fill, Image, Label, Outline, Shape, Stroke, VAlign};

use crate::FigureError;
use marks::Mark;

/// A point on the picture.
pub(crate) type Point = [f64; 2];

/// A finished picture, to be saved or put into a document.
#[derive(Clone, Debug)]
pub struct Picture {
    width: f64,
    height: f64,
    marks: Vec<Mark>,
}

impl Picture {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Picture { width: width.ceil(), height: height.ceil(), marks: Vec::new() }
    }

    /// Width in CSS pixels.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Height in CSS pixels.
    pub fn height(&self) -> f64 {
        self.height
    }

    /// The picture as an SVG document, which can stand in an HTML page as it is.
    pub fn to_svg(&self) -> Result<String, FigureError> {
        svg::document(self)
    }

    /// The picture as a PNG with [`PIXELS`](crate::theme::PIXELS) pixels in each CSS pixel.
    pub fn to_png(&self) -> Result<Vec<u8>, FigureError> {
        pixels::document(self)
    }

    /// Writes the picture to `path`, as SVG or PNG by its extension; the file appears complete or not at all.
    pub fn save(&self, path: &Path) -> Result<(), FigureError> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let content = match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("svg") => self.to_svg()?.into_bytes(),
            Some("png") => self.to_png()?,
            _ => return Err(FigureError::Extension { path: path.to_owned() }),
        };
        file::write_atomic(path, &content)
    }

    pub(crate) fn shape(&mut self, shape: Shape) {
        self.marks.push(Mark::Shape(shape));
    }

    /// A line through points.
    pub(crate) fn line(&mut self, points: Vec<Point>, stroke: Stroke) {
        self.lines(vec![points], stroke);
    }

    /// Several lines of one style.
    pub(crate) fn lines(&mut self, lines: Vec<Vec<Point>>, stroke: Stroke) {
        self.shape(Shape { outline: Outline::Lines(lines), fill: None, stroke: Some(stroke) });
    }

    /// A filled polygon.
    pub(crate) fn polygon(&mut self, points: Vec<Point>, fill: Fill) {
        self.shape(Shape { outline: Outline::Polygon(points), fill: Some(fill), stroke: None });
    }

    /// A filled rectangle.
    pub(crate) fn rectangle(&mut self, area: Area, fill: Fill) {
        self.polygon(area.corners().to_vec(), fill);
    }

    /// A disc, with a rim if there is a stroke.
    pub(crate) fn disc(&mut self, centre: Point, radius: f64, fill: Fill, stroke: Option<Stroke>) {
        self.shape(Shape { outline: Outline::Circle { centre, radius }, fill: Some(fill), stroke });
    }

    /// Letters; nothing for an empty text.
    pub(crate) fn text(&mut self, label: Label) {
        if !label.text.is_empty() {
            self.marks.push(Mark::Text(label));
        }
    }

    pub(crate) fn image(&mut self, image: Image) {
        self.marks.push(Mark::Image(image));
    }

    /// Draws with everything outside of `area` cut off.
    pub(crate) fn clipped(&mut self, area: Area, draw: impl FnOnce(&mut Picture)) {
        self.marks.push(Mark::Clip(area));
        draw(self);
        self.marks.push(Mark::Unclip);
    }
}
