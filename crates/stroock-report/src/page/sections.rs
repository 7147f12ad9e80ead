//! The sections of the page, in the order in which they are read.

use super::content::Content;
use super::diagonal::{self, percent};
use super::{escape, still, tables};
use crate::{Report, ReportError};

/// A part of the page with a heading.
pub(super) struct Section {
    /// Its place in the address.
    pub id: &'static str,
    pub heading: &'static str,
    pub body: String,
}

/// All sections that have something to show.
pub(super) fn all(report: &Report, content: &Content) -> Result<Vec<Section>, ReportError> {
    let parts = [
        ("fits", "Fits", fits(report, content)?),
        ("scores", "Scores", report.tables.iter().map(tables::table).collect()),
        ("calibration", "Calibration", calibration(report)),
        ("classes", "Classes", report.confusion.as_ref().map_or(String::new(), tables::confusion)),
        ("latent", "Latent paths", latent(report, content)?),
        ("training", "Training", training(content)?),
        ("configuration", "Configuration", configuration(report)),
    ];
    let full = parts.into_iter().filter(|(_, _, body)| !body.is_empty());
    Ok(full.map(|(id, heading, body)| Section { id, heading, body }).collect())
}

/// A still picture, which gives way to the live one.
fn stilled(svg: &str, caption: &str) -> String {
    format!("<figure class=\"still\">{svg}<figcaption>{caption}</figcaption></figure>\n")
}

fn fits(report: &Report, content: &Content) -> Result<String, ReportError> {
    if content.fits.is_empty() {
        return Ok(String::new());
    }
    let any = |has: fn(&crate::Fit) -> bool| content.fits.iter().any(|drawn| has(&drawn.fit));
    let mut keys = String::new();
    let mut key = |name: &str, class: &str, text: &str| {
        keys += &format!("<li data-key=\"{name}\"><i class=\"{class}\"></i>{text}</li>");
    };
    if any(|fit| !fit.seen.times.is_empty()) {
        key("seen", "disc seen", "observed");
    }
    if any(|fit| !fit.withheld.times.is_empty()) {
        key("withheld", "disc withheld", "withheld");
    }
    if any(|fit| !fit.mean.is_empty()) {
        key("mean", "line colour0", "posterior mean");
    }
    let levels = content.levels();
    for (place, level) in levels.iter().enumerate() {
        // The script gives the widest band of a fit the palest of three shades.
        let rank = match levels.len() {
            1 => 1,
            count => (2.0 * (count - 1 - place) as f64 / (count - 1) as f64).round() as usize,
        };
        let class = format!("patch band{rank}");
        key(&format!("band {level}"), &class, &format!("{} interval", percent(*level)));
    }
    if any(|fit| fit.forecast_from.is_some()) {
        key("forecast", "patch forecast", "forecast");
    }
    let live = format!(
        "<div class=\"live\">\n<div class=\"controls\">\n\
         <button type=\"button\" id=\"before\" aria-label=\"Series before\">‹</button>\n\
         <label>Series <select id=\"series\"></select></label>\n\
         <button type=\"button\" id=\"after\" aria-label=\"Next series\">›</button>\n\
         <label>Variable <select id=\"variable\"></select></label>\n</div>\n\
         <ul class=\"legend\" id=\"fit-legend\">{keys}</ul>\n<div class=\"plot\" id=\"fit-plot\"></div>\n\
         <p class=\"readout\" id=\"fit-readout\" aria-live=\"polite\"></p>\n\
         <p class=\"note\" id=\"fit-note\"></p>\n</div>\n"
    );
    let count = content.fits.len();
    let caption = match count > still::PANELS {
        true => format!("The first {} of {count} fits.", still::PANELS),
        false => String::new(),
    };
    Ok(live + &stilled(&still::fits(report, content)?, &caption))
}

fn calibration(report: &Report) -> String {
    if report.calibration.iter().all(|curve| curve.finite().next().is_none()) {
        return String::new();
    }
    format!(
        "<p>The share of withheld values that the model's probabilities hold, beside what they promise. On the \
         diagonal they keep it.</p>\n<figure class=\"narrow\">{}</figure>\n",
        diagonal::figure(&report.calibration)
    )
}

fn latent(report: &Report, content: &Content) -> Result<String, ReportError> {
    let (Some(given), Some(drawn)) = (&report.paths, &content.paths) else { return Ok(String::new()) };
    let mut words = match given.directions.trim() {
        "" => String::new(),
        directions => format!("<p>{}</p>\n", escape::html(directions)),
    };
    if drawn.inside {
        words += "<p>The circle is the rim of the unit ball, which holds the projected paths.</p>\n";
    }
    let select = match drawn.groups.len() {
        1 => String::new(),
        count => {
            let named = drawn.groups.iter().enumerate();
            let options: String = named
                .map(|(index, group)| {
                    format!("<option value=\"{index}\">{}</option>", escape::html(&group.name))
                })
                .collect();
            format!(
                "<label>Show <select id=\"group\"><option value=\"\">all {count}</option>{options}</select></label>\n"
            )
        }
    };
    let dropped = match drawn.dropped {
        0 => String::new(),
        count => format!("<p class=\"note\">Not drawn for want of room: {count} further paths.</p>\n"),
    };
    let live = format!(
        "<div class=\"live globe\">\n<div class=\"controls\">\n{select}\
         <button type=\"button\" id=\"turn\">Stop turning</button>\n</div>\n\
         <canvas id=\"globe\" tabindex=\"0\" role=\"img\" aria-label=\"Latent paths on a ball. Drag it, or use the \
         arrow keys, to turn it.\"></canvas>\n\
         <div class=\"foot\"><ul class=\"legend\"><li><i class=\"disc withheld start\"></i>start</li>\
         <li><i class=\"disc seen\"></i>end</li></ul>\n\
         <div class=\"bar\"><span id=\"bar-low\"></span><i></i><span id=\"bar-high\"></span>\
         <span class=\"name\">{}</span></div></div>\n{dropped}</div>\n",
        escape::html(content.time())
    );
    let caption = match drawn.groups.len() > still::GLOBES {
        true => format!("The first {} of {} groups.", still::GLOBES, drawn.groups.len()),
        false => String::new(),
    };
    Ok(words + &live + &stilled(&still::paths(report, content, drawn)?, &caption))
}

fn training(content: &Content) -> Result<String, ReportError> {
    if content.curves.is_empty() {
        return Ok(String::new());
    }
    let named = content.curves.iter().enumerate();
    let keys: String = named
        .map(|(index, curve)| {
            let name = escape::html(&curve.name);
            format!("<li><i class=\"line colour{}\"></i>{name}</li>", index % 8)
        })
        .collect();
    let cut = match content.loss_axis.cut {
        true => "<p class=\"note\">The first epochs lie above the plot.</p>\n",
        false => "",
    };
    let live = format!(
        "<div class=\"live\">\n<ul class=\"legend\">{keys}</ul>\n<div class=\"plot\" id=\"curve-plot\"></div>\n\
         <p class=\"readout\" id=\"curve-readout\" aria-live=\"polite\"></p>\n</div>\n"
    );
    Ok(live + &stilled(&still::curves(content)?, "") + cut)
}

fn configuration(report: &Report) -> String {
    let mut out = String::new();
    if !report.command.trim().is_empty() {
        let command = escape::html(report.command.trim());
        out += &format!(
            "<pre class=\"command\" tabindex=\"0\" aria-label=\"Command\"><code>{command}</code></pre>\n"
        );
    }
    if !report.configuration.trim().is_empty() {
        out += &format!(
            "<details>\n<summary>All settings of the run</summary>\n<div class=\"copied\">\
             <button type=\"button\" id=\"copy\" class=\"live\">Copy</button>\
             <pre tabindex=\"0\" aria-label=\"Configuration\"><code id=\"configuration-text\">{}</code></pre></div>\n\
             </details>\n",
            escape::html(&report.configuration)
        );
    }
    out
}
