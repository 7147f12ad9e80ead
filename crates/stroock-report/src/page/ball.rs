//! Projected paths inside of the unit ball, as a still picture.

use std::fmt::Write;

use stroock_figures::theme::{Colour, ColourMap, GREY, INK, PAPER};

use super::escape;
use crate::PathGroup;

const SIZE: f64 = 230.0;
const RADIUS: f64 = 102.0;
const STEPS: f64 = 23.0;
const FAR: Colour = Colour::hex(0xf1f4f7);

/// Balls beside each other, one for each group, with its first `most` paths; seen as the page first shows them.
/// Below them stands which colour is which time, as `shown` writes it.
pub(super) fn svg(groups: &[PathGroup], most: usize, name: &str, shown: impl Fn(f64) -> f64) -> String {
    let (width, height) = (SIZE * groups.len().max(2) as f64, SIZE + 48.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} \
         {height}\" font-family=\"system-ui, sans-serif\" fill=\"none\" stroke-linecap=\"round\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>\n",
        PAPER.to_hex()
    );
    let ends = groups.iter().filter_map(|group| Some((*group.times.first()?, *group.times.last()?)));
    let (low, high) =
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (a, b)| (low.min(a), high.max(b)));
    for (index, group) in groups.iter().enumerate() {
        let centre = [SIZE * (index as f64 + 0.5), SIZE / 2.0 + 20.0];
        let name = escape::html(&shortened(&group.name));
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"14\" font-size=\"12\" font-weight=\"600\" text-anchor=\"middle\" \
             fill=\"{}\">{name}</text>\n<circle cx=\"{0}\" cy=\"{}\" r=\"{RADIUS}\" fill=\"{}\" stroke=\"{}\"/>",
            centre[0],
            INK.to_hex(),
            centre[1],
            Colour::hex(0xf8f9fb).to_hex(),
            GREY.mixed(PAPER, 0.4).to_hex()
        );
        draw(&mut out, group, most, centre, [low, high]);
    }
    draw_bar(&mut out, height - 16.0, [shown(low), shown(high)].map(short), &escape::html(name));
    out + "</svg>\n"
}

/// The colours from the first time to the last.
fn draw_bar(out: &mut String, y: f64, [low, high]: [String; 2], name: &str) {
    let left = 12.0 + 6.5 * low.chars().count() as f64;
    let text = format!("font-size=\"11\" y=\"{}\" fill=\"{}\"", y + 8.0, GREY.to_hex());
    let _ = write!(out, "<text x=\"6\" {text}>{low}</text>");
    for step in 0..=STEPS as usize {
        let colour = ColourMap::Dusk.at(step as f64 / STEPS).to_hex();
        let x = left + 5.0 * step as f64;
        let _ = write!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"5.2\" height=\"8\" fill=\"{colour}\"/>");
    }
    let right = left + 5.0 * (STEPS + 1.0) + 6.0;
    let _ = writeln!(out, "<text x=\"{right}\" {text}>{high}   {name}</text>");
}

/// A number with two decimals at most.
fn short(value: f64) -> String {
    format!("{value:.2}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The paths, far steps first, each step with the colour of its time.
fn draw(out: &mut String, group: &PathGroup, most: usize, centre: [f64; 2], [low, high]: [f64; 2]) {
    let level = |time: f64| if high > low { ((time - low) / (high - low) * STEPS).round() } else { 0.0 };
    for near in [false, true] {
        for step in 0..=STEPS as usize {
            let mut line = String::new();
            for path in group.paths.iter().take(most) {
                for (index, pair) in path.windows(2).enumerate() {
                    let [from, to] = [seen(pair[0]), seen(pair[1])];
                    let time = group.times.get(index + 1).copied().unwrap_or(low);
                    if (from[2] + to[2] >= 0.0) == near && level(time) as usize == step {
                        let [[a, b], [c, d]] =
                            [from, to].map(|[x, y, _]| [centre[0] + RADIUS * x, centre[1] - RADIUS * y]);
                        let _ = write!(line, "M{a:.1} {b:.1}L{c:.1} {d:.1}");
                    }
                }
            }
            if !line.is_empty() {
                let colour = ColourMap::Dusk.at(step as f64 / STEPS);
                let colour = if near { colour } else { colour.mixed(FAR, 0.6) };
                let _ =
                    writeln!(out, "<path d=\"{line}\" stroke=\"{}\" stroke-width=\"1.3\"/>", colour.to_hex());
            }
        }
    }
}

/// To the right, upwards, and towards an eye over 30 degrees east and 25 degrees north.
fn seen(point: [f32; 3]) -> [f64; 3] {
    let (sin_l, cos_l) = 30f64.to_radians().sin_cos();
    let (sin_p, cos_p) = 25f64.to_radians().sin_cos();
    let axes = [
        [-sin_l, cos_l, 0.0],
        [-sin_p * cos_l, -sin_p * sin_l, cos_p],
        [cos_p * cos_l, cos_p * sin_l, sin_p],
    ];
    axes.map(|axis| axis.iter().zip(point).map(|(a, x)| a * f64::from(x)).sum())
}

/// A name that fits above a ball.
fn shortened(name: &str) -> String {
    if name.chars().count() <= 32 { name.to_owned() } else { name.chars().take(31).chain(['…']).collect() }
}
