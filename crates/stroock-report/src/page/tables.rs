//! Tables of scores and of classes.

use super::diagonal::percent;
use super::escape;
use crate::{Confusion, Table};

/// A table, which scrolls inside of its own box where the page is narrow.
pub(super) fn table(table: &Table) -> String {
    let caption = escape::html(&table.caption);
    let align = |column: usize| if column > 0 && table.is_numeric(column) { " class=\"number\"" } else { "" };
    let header = table.header.iter().enumerate();
    let header: String = header
        .map(|(column, name)| format!("<th scope=\"col\"{}>{}</th>", align(column), escape::html(name)))
        .collect();
    let mut out = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table>\
         <caption><span>{caption}</span></caption>\n<thead><tr>{header}</tr></thead>\n<tbody>\n"
    );
    for row in &table.rows {
        out += "<tr>";
        for (column, cell) in row.cells.iter().enumerate() {
            let text = escape::html(cell);
            let text = if row.best.contains(&column) { format!("<strong>{text}</strong>") } else { text };
            out += &match column {
                0 => format!("<th scope=\"row\">{text}</th>"),
                _ => format!("<td{}>{text}</td>", align(column)),
            };
        }
        out += "</tr>\n";
    }
    out += "</tbody></table></div>\n";
    if !table.note.is_empty() {
        out += &format!("<p class=\"note\">{}</p>\n", escape::html(&table.note));
    }
    out
}

/// True against predicted classes; a cell is the darker, the larger its share of the true class.
pub(super) fn confusion(confusion: &Confusion) -> String {
    let (right, all) = confusion.right();
    let accuracy = match all > 0.0 {
        true => format!("Accuracy {}: {right} of {all} are right.", percent(right / all)),
        false => "There are no predictions.".to_owned(),
    };
    let classes = confusion.classes.iter();
    let header: String = classes
        .map(|name| format!("<th scope=\"col\" class=\"number\">{}</th>", escape::html(name)))
        .collect();
    let columns = confusion.classes.len();
    let mut out = format!(
        "<p>{accuracy}</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"True and predicted \
         classes\"><table class=\"confusion\"><caption><span>True and predicted classes</span></caption>\n<thead>\
         <tr><td></td><th scope=\"colgroup\" colspan=\"{columns}\" class=\"over\">predicted</th></tr>\n\
         <tr><th scope=\"col\">true</th>{header}</tr></thead>\n<tbody>\n"
    );
    for (name, row) in confusion.classes.iter().zip(&confusion.counts) {
        let sum: f64 = row.iter().map(|&count| count as f64).sum();
        out += &format!("<tr><th scope=\"row\">{}</th>", escape::html(name));
        for &count in row {
            let share = if sum > 0.0 { count as f64 / sum } else { 0.0 };
            // Half of the colour at most, so that the number stays readable.
            let (part, of) = (50.0 * share, percent(share));
            out += &format!(
                "<td class=\"number\" style=\"--part:{part:.1}%\" title=\"{of} of this class\">{count}</td>"
            );
        }
        out += "</tr>\n";
    }
    out + "</tbody></table></div>\n<p class=\"note\">Shades show the share of each true class.</p>\n"
}
