//! What a picture is made of.

use super::font::{CAP_HEIGHT, Weight, width_of};
use super::{Area, Point};
use crate::theme::{Colour, INK};

/// One thing on a picture; later ones cover earlier ones.
#[derive(Clone, Debug)]
pub(super) enum Mark {
    Shape(Shape),
    Text(Label),
    Image(Image),
    /// From here on everything outside of the area is cut off.
    Clip(Area),
    /// No longer.
    Unclip,
}

/// A shape, filled, with a rim, or both.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub outline: Outline,
    pub fill: Option<Fill>,
    pub stroke: Option<Stroke>,
}

/// Where a shape ends.
#[derive(Clone, Debug)]
pub(crate) enum Outline {
    Lines(Vec<Vec<Point>>),
    Polygon(Vec<Point>),
    Circle { centre: Point, radius: f64 },
}

/// What is inside of a shape.
#[derive(Clone, Debug)]
pub(crate) enum Fill {
    Flat(Colour),
    /// Colours at shares of the radius around a centre.
    Radial {
        centre: Point,
        radius: f64,
        stops: Vec<(f64, Colour)>,
    },
}

impl From<Colour> for Fill {
    fn from(colour: Colour) -> Self {
        Fill::Flat(colour)
    }
}

/// How a line is drawn; ends and corners are round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stroke {
    pub colour: Colour,
    pub width: f64,
    /// Lengths of dash and gap.
    pub dash: Option<[f64; 2]>,
}

impl Stroke {
    pub fn new(colour: Colour, width: f64) -> Self {
        Stroke { colour, width, dash: None }
    }

    pub fn dashed(self) -> Self {
        Stroke { dash: Some([4.0, 3.2]), ..self }
    }
}

/// Which part of a text stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Where a text stands across its direction, by the height of its capitals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VAlign {
    Top,
    Middle,
    Baseline,
}

/// One line of letters.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    /// Anchor on the baseline.
    pub at: Point,
    pub text: String,
    pub size: f64,
    pub weight: Weight,
    pub colour: Colour,
    pub anchor: Anchor,
    /// Whether the text runs upwards.
    pub upwards: bool,
}

impl Label {
    /// A text whose anchor is at `at`.
    pub fn new(at: Point, text: impl Into<String>, size: f64, anchor: Anchor, align: VAlign) -> Self {
        let drop = drop(size, align);
        Label {
            at: [at[0], at[1] + drop],
            text: text.into(),
            size,
            weight: Weight::Regular,
            colour: INK,
            anchor,
            upwards: false,
        }
    }

    /// A text that runs upwards, with its middle at `at`.
    pub fn upwards(at: Point, text: impl Into<String>, size: f64) -> Self {
        let mut label = Label::new(at, text, size, Anchor::Middle, VAlign::Baseline);
        label.at[0] += drop(size, VAlign::Middle);
        label.upwards = true;
        label
    }

    /// The rectangle that the capitals and descenders take.
    pub fn area(&self) -> Area {
        let width = width_of(&self.text, self.size, self.weight);
        let start = match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -width / 2.0,
            Anchor::End => -width,
        };
        let ([x, y], above, below) = (self.at, CAP_HEIGHT * self.size, 0.2 * self.size);
        match self.upwards {
            false => Area { left: x + start, right: x + start + width, top: y - above, bottom: y + below },
            true => Area { left: x - above, right: x + below, top: y - start - width, bottom: y - start },
        }
    }

    pub fn colour(self, colour: Colour) -> Self {
        Label { colour, ..self }
    }

    pub fn bold(self) -> Self {
        Label { weight: Weight::SemiBold, ..self }
    }
}

/// From the anchor to the baseline.
fn drop(size: f64, align: VAlign) -> f64 {
    match align {
        VAlign::Top => CAP_HEIGHT * size,
        VAlign::Middle => CAP_HEIGHT * size / 2.0,
        VAlign::Baseline => 0.0,
    }
}

/// Coloured cells that fill an area.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    pub area: Area,
    pub columns: u32,
    pub rows: u32,
    /// Red, green and blue of each cell, row by row from the top.
    pub rgb: Vec<u8>,
}
