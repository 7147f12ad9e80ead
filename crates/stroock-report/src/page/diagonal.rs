//! Calibration: observed against nominal probabilities, beside the diagonal.

use super::escape;
use crate::{Calibration, CalibrationPoint};

const LEFT: f64 = 48.0;
const TOP: f64 = 26.0;
const SIDE: f64 = 270.0;
/// Up to so many curves each have a colour; of more, all but the first are thin and grey.
const COLOURED: usize = 4;

/// The curves in one square plot, as SVG, and its legend.
pub(super) fn figure(curves: &[Calibration]) -> String {
    let [width, height] = [LEFT + SIDE + 22.0, TOP + SIDE + 42.0];
    let (right, bottom) = (LEFT + SIDE, TOP + SIDE);
    let mut out = format!(
        "<svg class=\"square\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-label=\"{}\">\n",
        escape::html(&spoken(curves))
    );
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let [x, y] = place(share, share);
        let text = percent(share);
        out += &format!("<path class=\"level\" d=\"M{LEFT} {y}H{right}\"/>");
        out += &format!("<path class=\"axis\" d=\"M{x} {bottom}v4\"/>");
        let before = LEFT - 6.0;
        out += &format!(
            "<text class=\"tick\" x=\"{before}\" y=\"{y}\" dy=\"0.32em\" text-anchor=\"end\">{text}</text>"
        );
        let below = bottom + 17.0;
        out +=
            &format!("<text class=\"tick\" x=\"{x}\" y=\"{below}\" text-anchor=\"middle\">{text}</text>\n");
    }
    out += &format!("<path class=\"axis\" d=\"M{LEFT} {bottom}H{right}\"/>");
    out += &format!("<path class=\"diagonal\" d=\"M{LEFT} {bottom}L{right} {TOP}\"/>\n");
    out += "<text class=\"name\" x=\"0\" y=\"13\">observed</text>";
    let low = height - 5.0;
    out += &format!("<text class=\"name\" x=\"{right}\" y=\"{low}\" text-anchor=\"end\">nominal</text>\n");
    // The first curve is drawn last, so that it lies on top.
    for (index, curve) in curves.iter().enumerate().rev() {
        out += &drawn(curve, class(index, curves.len()), index == 0 || curves.len() <= COLOURED);
    }
    out + "</svg>\n" + &legend(curves)
}

fn drawn(curve: &Calibration, class: String, dotted: bool) -> String {
    let name = escape::html(&curve.name);
    let places: Vec<([f64; 2], &CalibrationPoint)> =
        curve.finite().map(|point| (place(point.nominal, point.observed), point)).collect();
    let line: Vec<String> = places.iter().map(|([x, y], _)| format!("{x:.1} {y:.1}")).collect();
    if line.is_empty() {
        return String::new();
    }
    let mut out =
        format!("<path class=\"curve {class}\" d=\"M{}\"><title>{name}</title></path>\n", line.join("L"));
    for ([x, y], point) in places.into_iter().filter(|_| dotted) {
        let (nominal, observed) = (percent(point.nominal), percent(point.observed));
        out += &format!(
            "<circle class=\"spot {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"><title>{name}: {observed} at \
             {nominal}</title></circle>\n"
        );
    }
    out
}

fn legend(curves: &[Calibration]) -> String {
    let shown = if curves.len() <= COLOURED { curves.len() } else { 1 };
    let mut keys: Vec<String> = (0..shown)
        .map(|index| {
            let name = escape::html(&curves[index].name);
            format!("<li><i class=\"line {}\"></i>{name}</li>", class(index, curves.len()))
        })
        .collect();
    if shown < curves.len() {
        let rest = curves.len() - shown;
        keys.push(format!("<li><i class=\"line others\"></i>{rest} single variables</li>"));
    }
    keys.push("<li><i class=\"line diagonal\"></i>as promised</li>".to_owned());
    format!("<ul class=\"legend\">{}</ul>\n", keys.concat())
}

fn class(index: usize, count: usize) -> String {
    if index == 0 || count <= COLOURED { format!("colour{index}") } else { "others".to_owned() }
}

/// The first curve in words, for readers who do not see it.
fn spoken(curves: &[Calibration]) -> String {
    let Some(first) = curves.first() else { return String::new() };
    let words = first.finite().map(|p| format!("{} at {}", percent(p.observed), percent(p.nominal)));
    let words: Vec<String> = words.collect();
    format!("Calibration of {}, observed at nominal: {}.", first.name, words.join(", "))
}

fn place(nominal: f64, observed: f64) -> [f64; 2] {
    [LEFT + SIDE * nominal, TOP + SIDE * (1.0 - observed)]
}

/// A share in percent, with one decimal where it needs one.
pub(super) fn percent(share: f64) -> String {
    let text = format!("{:.1}", 100.0 * share);
    format!("{}\u{202f}%", text.strip_suffix(".0").unwrap_or(&text))
}
