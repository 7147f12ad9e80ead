//! The page: one HTML document with its styles, its script and its numbers.

mod ball;
mod colours;
mod content;
mod data;
mod diagonal;
mod escape;
mod sections;
mod still;
mod tables;

use content::Content;
use data::Data;

use crate::{Report, ReportError};

const STYLE: &str = include_str!("report.css");
const ERRORS: &str = include_str!("errors.js");
/// The parts of the script: each uses names of those before it.
const SCRIPT: [&str; 7] = [
    include_str!("numbers.js"),
    include_str!("dates.js"),
    include_str!("chart.js"),
    include_str!("fits.js"),
    include_str!("curves.js"),
    include_str!("sphere.js"),
    include_str!("start.js"),
];
/// Nothing may be fetched from anywhere, and nothing sent.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// The document of a report.
pub(crate) fn document(report: &Report) -> Result<String, ReportError> {
    let content = Content::new(report)?;
    let sections = sections::all(report, &content)?;
    let data = escape::json(&Data::new(report, &content))?;
    let title = escape::html(if report.title.is_empty() { "Report" } else { &report.title });
    let links: String = sections
        .iter()
        .map(|section| format!("<li><a href=\"#{}\">{}</a></li>", section.id, section.heading))
        .collect();
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"stroock {}\">\n<title>{title}</title>\n\
         <style>\n{}{STYLE}</style>\n<script>\n{ERRORS}</script>\n</head>\n<body>\n",
        env!("CARGO_PKG_VERSION"),
        colours::variables()
    );
    out += &format!("<header>\n<p class=\"kind\">Latent SDE report</p>\n<h1>{title}</h1>\n");
    if !report.subtitle.is_empty() {
        out += &format!("<p class=\"subtitle\">{}</p>\n", escape::html(&report.subtitle));
    }
    if sections.len() > 1 {
        out += &format!("<nav aria-label=\"Sections\"><ul>{links}</ul></nav>\n");
    }
    out += "</header>\n<main>\n";
    out += &summary(report, &content);
    for section in &sections {
        let (id, heading, body) = (section.id, section.heading, &section.body);
        out += &format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-heading\">\n<h2 id=\"{id}-heading\">{heading}</h2>\n\
             {body}</section>\n"
        );
    }
    out += &format!(
        "</main>\n<footer><p>Written by stroock {}. This file is complete: it loads nothing.</p></footer>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n\
         <script>\n\"use strict\";\n(() => {{\n{}}})();\n</script>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION"),
        SCRIPT.concat()
    );
    Ok(out)
}

/// Warnings, and what was fitted to what.
fn summary(report: &Report, content: &Content) -> String {
    let mut out = String::new();
    if !content.warnings.is_empty() {
        let warnings: String =
            content.warnings.iter().map(|warning| format!("<li>{}</li>", escape::html(warning))).collect();
        out += &format!("<aside class=\"warnings\" aria-label=\"Warnings\"><ul>{warnings}</ul></aside>\n");
    }
    if !report.facts.is_empty() {
        let facts = report.facts.iter();
        let facts: String = facts
            .map(|(name, value)| {
                format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape::html(name), escape::html(value))
            })
            .collect();
        out += &format!("<dl class=\"facts\" aria-label=\"Summary\">\n{facts}</dl>\n");
    }
    out
}
