//! The picture as SVG.

use std::fmt::Write;

use base64::prelude::{BASE64_STANDARD, Engine};

use super::font::{FAMILY, Weight};
use super::marks::{Anchor, Fill, Image, Label, Mark, Outline, Shape, Stroke};
use super::{Picture, Point, pixels};
use crate::FigureError;
use crate::theme::{Colour, PAPER};

pub(super) fn document(picture: &Picture) -> Result<String, FigureError> {
    let [width, height] = [picture.width, picture.height].map(number);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{FAMILY}\" fill=\"none\" stroke-linecap=\"round\" \
         stroke-linejoin=\"round\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>\n",
        PAPER.to_hex()
    );
    for mark in &picture.marks {
        match mark {
            Mark::Shape(shape) => write_shape(&mut out, shape),
            Mark::Text(label) => write_text(&mut out, label),
            Mark::Image(image) => write_image(&mut out, image)?,
            // An inner svg cuts off what lies outside of it, and needs no identifier, which could occur twice
            // in a page with several pictures.
            Mark::Clip(area) => {
                let [x, y, width, height] = [area.left, area.top, area.width(), area.height()].map(number);
                out += &format!(
                    "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
                     viewBox=\"{x} {y} {width} {height}\" overflow=\"hidden\">\n"
                );
            }
            Mark::Unclip => out += "</svg>\n",
        }
    }
    out += "</svg>\n";
    Ok(out)
}

fn write_shape(out: &mut String, shape: &Shape) {
    let mut paint = String::new();
    match &shape.fill {
        None => {}
        Some(Fill::Flat(colour)) => paint += &coloured("fill", *colour),
        Some(Fill::Radial { centre, radius, stops }) => {
            let id = write_gradient(out, *centre, *radius, stops);
            paint += &format!(" fill=\"url(#{id})\"");
        }
    }
    if let Some(stroke) = &shape.stroke {
        paint += &stroked(stroke);
    }
    match &shape.outline {
        Outline::Lines(lines) => {
            let lines: String = lines.iter().map(|line| path(line)).collect();
            *out += &format!("<path d=\"{lines}\"{paint}/>\n");
        }
        Outline::Polygon(points) => *out += &format!("<path d=\"{}Z\"{paint}/>\n", path(points)),
        Outline::Circle { centre, radius } => {
            let [x, y, radius] = [centre[0], centre[1], *radius].map(number);
            *out += &format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"{paint}/>\n");
        }
    }
}

/// Commands of a path through points. A line of one point gets a second one, so that round ends show it.
fn path(points: &[Point]) -> String {
    let mut text = String::new();
    let mut before = String::new();
    for (index, point) in points.iter().enumerate() {
        let place = format!("{} {}", number(point[0]), number(point[1]));
        // Points that fall together after rounding add nothing.
        if place != before || index == 1 {
            text.push(if index == 0 { 'M' } else { 'L' });
            text += &place;
        }
        before = place;
    }
    text
}

fn coloured(attribute: &str, colour: Colour) -> String {
    let mut text = format!(" {attribute}=\"{}\"", colour.to_hex());
    if colour.opacity < 1.0 {
        text += &format!(" {attribute}-opacity=\"{}\"", number(colour.opacity));
    }
    text
}

fn stroked(stroke: &Stroke) -> String {
    let mut text = coloured("stroke", stroke.colour) + &format!(" stroke-width=\"{}\"", number(stroke.width));
    if let Some([dash, gap]) = stroke.dash {
        text += &format!(" stroke-dasharray=\"{} {}\" stroke-linecap=\"butt\"", number(dash), number(gap));
    }
    text
}

/// Writes a gradient and gives its identifier, which is made of its content: if it occurs twice in a page, both
/// are the same.
fn write_gradient(out: &mut String, centre: Point, radius: f64, stops: &[(f64, Colour)]) -> String {
    let [x, y, radius] = [centre[0], centre[1], radius].map(number);
    let mut body = format!("gradientUnits=\"userSpaceOnUse\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\">");
    for (share, colour) in stops {
        body += &format!("<stop offset=\"{}\" stop-color=\"{}\"/>", number(*share), colour.to_hex());
    }
    // FNV-1a
    let hash = body.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let id = format!("shade-{hash:016x}");
    *out += &format!("<radialGradient id=\"{id}\" {body}</radialGradient>\n");
    id
}

fn write_text(out: &mut String, label: &Label) {
    let [x, y] = label.at.map(number);
    let anchor = match label.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let weight = match label.weight {
        Weight::Regular => "",
        Weight::SemiBold => " font-weight=\"600\"",
    };
    let turn = if label.upwards { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    *out += &format!(
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"{anchor}{weight}{turn}{}>{}</text>\n",
        number(label.size),
        coloured("fill", label.colour),
        escaped(&label.text)
    );
}

fn write_image(out: &mut String, image: &Image) -> Result<(), FigureError> {
    let png = pixels::encode(image.columns, image.rows, &image.rgb)?;
    let area = image.area;
    let [x, y, width, height] = [area.left, area.top, area.width(), area.height()].map(number);
    *out += &format!(
        "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" preserveAspectRatio=\"none\" \
         style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>\n",
        BASE64_STANDARD.encode(&png)
    );
    Ok(())
}

/// A number with two decimals at most.
fn number(value: f64) -> String {
    let mut text = String::new();
    let _ = write!(text, "{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A text with the signs that mean something to XML written out, without those that it does not allow.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '\u{fffe}' | '\u{ffff}' => {}
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [(1.0, "1"), (0.126, "0.13"), (-0.001, "0"), (100.0, "100"), (-2.5, "-2.5")] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn signs_of_xml_are_written_out() {
        assert_eq!(escaped("a<b & c>\u{1}"), "a&lt;b &amp; c&gt; ");
    }

    #[test]
    fn points_that_fall_together_are_drawn_once() {
        assert_eq!(path(&[[0.0, 0.0], [1.0, 0.0], [1.001, 0.0], [2.0, 1.0]]), "M0 0L1 0L2 1");
        assert_eq!(path(&[[3.0, 3.0], [3.0, 3.0]]), "M3 3L3 3");
    }
}
