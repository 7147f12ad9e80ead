//! The embedded typeface: widths and outlines of text.

use std::sync::LazyLock;

use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// Name of the family, as an SVG asks for it.
pub(super) const FAMILY: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif";

/// Height of capitals at size 1.
pub(crate) const CAP_HEIGHT: f64 = 0.7275;

/// How bold letters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    SemiBold,
}

static REGULAR: LazyLock<Face<'static>> =
    LazyLock::new(|| parse(include_bytes!("../../fonts/Inter-Regular.ttf")));
static SEMI_BOLD: LazyLock<Face<'static>> =
    LazyLock::new(|| parse(include_bytes!("../../fonts/Inter-SemiBold.ttf")));

fn parse(bytes: &'static [u8]) -> Face<'static> {
    Face::parse(bytes, 0).expect("the embedded typeface is whole")
}

fn face(weight: Weight) -> &'static Face<'static> {
    match weight {
        Weight::Regular => &REGULAR,
        Weight::SemiBold => &SEMI_BOLD,
    }
}

/// Glyphs of a text and where they start, in units of the typeface, and where the text ends.
fn set(face: &Face<'_>, text: &str) -> (Vec<(GlyphId, f64)>, f64) {
    let mut pen = 0.0;
    let mut before = None;
    let mut glyphs = Vec::new();
    for letter in text.chars() {
        let letter = if letter.is_control() { ' ' } else { letter };
        let glyph = face.glyph_index(letter).unwrap_or_default();
        if let Some(before) = before {
            pen += kerning(face, before, glyph);
        }
        glyphs.push((glyph, pen));
        pen += f64::from(face.glyph_hor_advance(glyph).unwrap_or(0));
        before = Some(glyph);
    }
    (glyphs, pen)
}

fn kerning(face: &Face<'_>, left: GlyphId, right: GlyphId) -> f64 {
    let tables = face.tables().kern.into_iter().flat_map(|kern| kern.subtables);
    tables.filter_map(|table| table.glyphs_kerning(left, right)).map(f64::from).sum()
}

/// Width of a text.
pub(crate) fn width_of(text: &str, size: f64, weight: Weight) -> f64 {
    let face = face(weight);
    set(face, text).1 * size / f64::from(face.units_per_em())
}

/// The text, or as much of its beginning as fits into `width`, with an ellipsis.
pub(crate) fn shortened(text: &str, size: f64, weight: Weight, width: f64) -> String {
    if width_of(text, size, weight) <= width {
        return text.to_owned();
    }
    let mut letters: Vec<char> = text.chars().collect();
    while letters.pop().is_some() {
        let beginning = letters.iter().collect::<String>().trim_end().to_owned() + "…";
        if width_of(&beginning, size, weight) <= width {
            return beginning;
        }
    }
    String::new()
}

/// Outlines of a text that starts at the origin, y downwards; `None` if it has no ink.
pub(super) fn outline(text: &str, size: f64, weight: Weight) -> Option<Path> {
    let face = face(weight);
    let scale = size / f64::from(face.units_per_em());
    let mut pen = Pen { path: PathBuilder::new(), origin: 0.0, scale };
    for (glyph, origin) in set(face, text).0 {
        pen.origin = origin;
        face.outline_glyph(glyph, &mut pen);
    }
    pen.path.finish()
}

/// Puts glyphs beside each other on a path.
struct Pen {
    path: PathBuilder,
    origin: f64,
    scale: f64,
}

impl Pen {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        (((self.origin + f64::from(x)) * self.scale) as f32, (-f64::from(y) * self.scale) as f32)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_typeface_has_the_signs_of_the_labels() {
        for weight in [Weight::Regular, Weight::SemiBold] {
            for letter in "azAZ09äéőαβθκλμπσφωΔΩ−×·±≤≥≈∞∂∫√°%‰…–—⁰¹²³⁴⁵⁶⁷⁸⁹⁻₀₁₂₃₉→".chars()
            {
                assert!(face(weight).glyph_index(letter).is_some(), "{letter} in {weight:?}");
            }
        }
    }

    #[test]
    fn capitals_are_as_high_as_the_alignment_assumes() {
        for weight in [Weight::Regular, Weight::SemiBold] {
            let face = face(weight);
            let height = f64::from(face.capital_height().unwrap()) / f64::from(face.units_per_em());
            assert!((height - CAP_HEIGHT).abs() < 1e-3, "{height}");
        }
    }

    #[test]
    fn pairs_are_kerned() {
        let apart = width_of("A", 10.0, Weight::Regular) + width_of("V", 10.0, Weight::Regular);
        assert!(width_of("AV", 10.0, Weight::Regular) < apart - 0.1);
    }

    #[test]
    fn a_text_is_cut_to_the_width() {
        let text = "Systolic arterial blood pressure";
        assert_eq!(shortened(text, 10.0, Weight::Regular, 1000.0), text);
        let cut = shortened(text, 10.0, Weight::Regular, 80.0);
        assert!(cut.starts_with("Systolic") && cut.ends_with('…'), "{cut}");
        assert!(width_of(&cut, 10.0, Weight::Regular) <= 80.0);
        assert_eq!(shortened(text, 10.0, Weight::Regular, 0.0), "");
    }
}
