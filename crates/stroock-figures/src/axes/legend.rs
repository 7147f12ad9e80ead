//! What colours and marks mean.

use crate::picture::{
    Anchor, Area, Label, Outline, Picture, Shape, Stroke, VAlign, Weight, shortened, width_of,
};
use crate::theme::{Colour, LABEL_SIZE};

/// Width of a key.
const KEY: f64 = 18.0;
/// From a key to its text.
const GAP: f64 = 5.0;
/// From a text to the next key.
const BETWEEN: f64 = 16.0;
/// From one row to the next.
const ROW: f64 = 17.0;

/// How something is drawn.
#[derive(Clone, Debug)]
pub(crate) enum Key {
    Line(Stroke),
    /// A disc, and its rim.
    Disc(Colour, Option<Stroke>),
    /// A filled rectangle, and its rim.
    Patch(Colour, Option<Stroke>),
    /// The rim of a square.
    Frame(Stroke),
}

/// A key and what it means.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: Key,
    pub text: String,
}

impl Entry {
    pub fn new(key: Key, text: impl Into<String>) -> Entry {
        Entry { key, text: text.into() }
    }

    fn key_width(&self) -> f64 {
        match self.key {
            Key::Line(_) | Key::Patch(..) => KEY,
            Key::Disc(..) | Key::Frame(_) => 9.0,
        }
    }

    fn width(&self) -> f64 {
        self.key_width() + GAP + width_of(&self.text, LABEL_SIZE, Weight::Regular)
    }
}

/// Entries in rows, as they fit into a width.
#[derive(Clone, Debug)]
pub(crate) struct Legend {
    rows: Vec<Vec<Entry>>,
}

impl Legend {
    pub fn new(entries: Vec<Entry>, width: f64) -> Legend {
        let mut rows: Vec<Vec<Entry>> = Vec::new();
        let mut used = f64::INFINITY;
        for mut entry in entries {
            let room = width - entry.key_width() - GAP;
            entry.text = shortened(&entry.text, LABEL_SIZE, Weight::Regular, room);
            let wide = entry.width();
            match rows.last_mut() {
                Some(row) if used + BETWEEN + wide <= width => {
                    used += BETWEEN + wide;
                    row.push(entry);
                }
                _ => {
                    used = wide;
                    rows.push(vec![entry]);
                }
            }
        }
        Legend { rows }
    }

    /// Width of the widest row.
    pub fn width(&self) -> f64 {
        let of_row =
            |row: &Vec<Entry>| row.iter().map(Entry::width).sum::<f64>() + BETWEEN * (row.len() - 1) as f64;
        self.rows.iter().map(of_row).fold(0.0, f64::max)
    }

    /// Height with the space below it; 0 if there are no entries.
    pub fn height(&self) -> f64 {
        if self.rows.is_empty() { 0.0 } else { ROW * self.rows.len() as f64 + 5.0 }
    }

    pub fn draw(&self, picture: &mut Picture, left: f64, top: f64) {
        for (index, row) in self.rows.iter().enumerate() {
            let y = top + ROW * (index as f64 + 0.5);
            let mut x = left;
            for entry in row {
                draw_key(picture, &entry.key, Area::sized(x, y - 5.0, entry.key_width(), 10.0));
                let at = [x + entry.key_width() + GAP, y];
                picture.text(Label::new(at, &entry.text, LABEL_SIZE, Anchor::Start, VAlign::Middle));
                x += entry.width() + BETWEEN;
            }
        }
    }
}

fn draw_key(picture: &mut Picture, key: &Key, area: Area) {
    let [x, y] = area.centre();
    match *key {
        Key::Line(stroke) => picture.line(vec![[area.left, y], [area.right, y]], stroke),
        Key::Disc(colour, rim) => {
            picture.disc([x, y], if rim.is_some() { 2.8 } else { 3.2 }, colour.into(), rim);
        }
        Key::Patch(colour, rim) => {
            let outline = Outline::Polygon(area.corners().to_vec());
            picture.shape(Shape { outline, fill: Some(colour.into()), stroke: rim });
        }
        Key::Frame(rim) => {
            let mut square = Area::sized(x - 4.0, y - 4.0, 8.0, 8.0).corners().to_vec();
            square.push(square[0]);
            picture.line(square, rim);
        }
    }
}
