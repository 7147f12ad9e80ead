//! An overview as text for a terminal.

use super::amount::{Amount, number};
use super::layout::{cut, grid, one_line, paragraph, place_for_names, width};
use super::{LabelBalance, Overview, Spread, TimeScale, VariableOverview};
use crate::table::Form;

/// Rows of a list that are shown; a reader of a terminal does not read more.
const SHOWN_VARIABLES: usize = 60;
const SHOWN_NAMES: usize = 8;
const SHOWN_CLASSES: usize = 20;
/// Places for a name within a sentence.
const NAME: usize = 40;
/// Places for a name in the grid of variables, and the columns that make room for it, the first one first.
const NAME_COLUMN: usize = 24;
const DISPENSABLE: [&str; 3] = ["distinct", "mean", "sd"];

impl Overview {
    /// The overview in lines of at most 100 characters (a single word that is longer excepted), with a line
    /// end after each.
    pub fn text(&self) -> String {
        let mut lines = self.counts();
        let sections = [
            ("Series", self.spreads()),
            ("Columns", self.roles()),
            ("Variables", self.variable_grid()),
            ("Labels", self.labels.as_ref().map(labels).unwrap_or_default()),
            ("Worth a look", self.findings()),
            ("Suggested", self.suggested()),
        ];
        for (title, section) in sections {
            if !section.is_empty() {
                lines.extend([String::new(), title.to_string()]);
                lines.extend(section);
            }
        }
        lines.iter().flat_map(|line| [line.trim_end(), "\n"]).collect()
    }

    fn counts(&self) -> Vec<String> {
        let rows = counted(self.account.rows as usize, "row", "rows");
        let files = counted(self.account.files, "file", "files");
        let (times, values) = (counted(self.times, "time", "times"), counted(self.values, "value", "values"));
        let mut lines = vec![format!("{} series: {rows} in {files}, {times}, {values}", self.series)];
        if let Some((first, last)) = self.range {
            let amount = Amount::of(&self.time);
            let zone = match &self.time {
                TimeScale::Number => String::new(),
                TimeScale::Date { zone, .. } => format!(" ({zone})"),
            };
            lines.push(format!("from {} to {}{zone}", amount.point(first), amount.point(last)));
        }
        lines
    }

    fn spreads(&self) -> Vec<String> {
        let amount = Amount::of(&self.time);
        let row = |name: &str, spread: &Option<Spread>, write: &dyn Fn(f64) -> String| {
            let spread = (*spread)?;
            let numbers = [spread.min, spread.low, spread.median, spread.high, spread.max].map(write);
            let is_one = numbers.iter().all(|number| *number == numbers[2]);
            let shown = if is_one { ["", "", &numbers[2], "", ""].map(String::from) } else { numbers };
            Some(std::iter::once(name.to_string()).chain(shown).collect::<Vec<_>>())
        };
        let span = |length| amount.span(length);
        let rows = [
            row("times", &self.lengths, &number),
            row("span", &self.spans, &span),
            row("gap between times", &self.gaps, &span),
        ];
        let head = ["", "least", "5 %", "median", "95 %", "most"].map(String::from).to_vec();
        grid(&std::iter::once(head).chain(rows.into_iter().flatten()).collect::<Vec<_>>(), 2)
    }

    fn roles(&self) -> Vec<String> {
        let columns = &self.columns;
        let mut roles = vec![
            (
                "series",
                columns.id.as_ref().map_or_else(|| "none: the table is one series".into(), |id| one_line(id)),
            ),
            (
                "time",
                format!(
                    "{} ({})",
                    listed(columns.time.iter(), columns.time.len()),
                    self.how_times_are_written()
                ),
            ),
        ];
        match &columns.form {
            Form::Long { variable, value } => {
                roles.push(("values", format!("{} of {}", one_line(value), one_line(variable))));
            }
            Form::Wide { variables } => {
                let shown = counted(variables.len(), "column", "columns");
                roles.push(("values", format!("{shown}, one for each variable")));
            }
        }
        if !columns.statics.is_empty() {
            roles.push(("static", listed(columns.statics.iter(), SHOWN_NAMES)));
        }
        if let Some(label) = &columns.label {
            let each = if label.per_time { "for each time" } else { "for each series" };
            roles.push(("label", format!("{}, {each}", one_line(&label.column))));
        }
        for (index, (name, reason)) in columns.ignored.iter().enumerate().take(SHOWN_VARIABLES) {
            let role = if index == 0 { "not read" } else { "" };
            roles.push((role, format!("{} ({})", cut(&one_line(name), NAME), one_line(reason))));
        }
        if columns.ignored.len() > SHOWN_VARIABLES {
            roles.push(("", format!("… and {} more", columns.ignored.len() - SHOWN_VARIABLES)));
        }
        roles.into_iter().flat_map(|(role, text)| paragraph(&format!("  {role:<10}"), &text, 12)).collect()
    }

    /// What the times are, and what they may be.
    fn how_times_are_written(&self) -> String {
        let mut text = self.time.in_words();
        if let Some(format) = self.columns.looks_like {
            text += &format!(", although they look like {format}");
        }
        text
    }

    fn variable_grid(&self) -> Vec<String> {
        let head = ["", "values", "missing", "min", "median", "mean", "sd", "max", "distinct", "longest gap"];
        let mut rows = vec![head.map(String::from).to_vec()];
        let amount = Amount::of(&self.time);
        let shown = self.variables.iter().take(SHOWN_VARIABLES);
        rows.extend(shown.map(|variable| variable_row(variable, &amount)));
        let needed = rows.iter().map(|row| width(&row[0])).max().unwrap_or(0).min(NAME_COLUMN);
        for column in DISPENSABLE {
            if place_for_names(&rows, 2) < needed {
                let place = rows[0].iter().position(|head| head == column);
                rows.iter_mut().for_each(|row| drop(place.map(|place| row.remove(place))));
            }
        }
        let mut lines = grid(&rows, 2);
        if self.variables.len() > SHOWN_VARIABLES {
            let rest = self.variables.len() - SHOWN_VARIABLES;
            lines.push(format!("  … and {}", counted(rest, "more variable", "more variables")));
        }
        lines
    }

    fn findings(&self) -> Vec<String> {
        let mut points: Vec<String> = Vec::new();
        let account = &self.account;
        if account.skipped > 0 {
            let rows = counted(account.skipped as usize, "row", "rows");
            points.push(format!("{rows} of {} could not be understood and were left out", account.rows));
        }
        points.extend(
            account.faults.iter().take(SHOWN_NAMES).map(|fault| format!("left out: {}", one_line(fault))),
        );
        if account.merged > 0 {
            let values = counted(account.merged as usize, "value", "values");
            points.push(format!("{values} merged with others of the same series, variable and time"));
        }
        if !self.unobserved.is_empty() {
            let names = listed(self.unobserved.iter(), SHOWN_NAMES);
            points.push(format!(
                "{} of {} series without any value: {names}",
                self.unobserved.len(),
                self.series
            ));
        }
        if let Some(first) = self.alike.first() {
            let copies: usize = self.alike.iter().map(|group| group.len() - 1).sum();
            let names = listed(first.iter(), SHOWN_NAMES);
            points.push(format!(
                "{copies} of {} series repeat another one value by value, first {names}",
                self.series
            ));
        }
        points.extend(self.variable_findings());
        let extremes = self.labels.as_ref().and_then(LabelBalance::extremes);
        if let Some((_, most)) = extremes.filter(|(rarest, most)| *rarest < 0.05 || *most > 0.9) {
            points.push(format!(
                "classes are unbalanced: a model that always says the most frequent one is right in {} of the \
                 cases",
                percent(most)
            ));
        }
        points.iter().flat_map(|point| paragraph("  - ", point, 4)).collect()
    }

    /// One point for each kind of finding, with the variables it concerns.
    fn variable_findings(&self) -> Vec<String> {
        let mut kinds: Vec<(&'static str, Vec<String>)> = Vec::new();
        for variable in &self.variables {
            for finding in &variable.findings {
                let name = cut(&one_line(&variable.name), NAME);
                let name = finding.detail().map_or(name.clone(), |detail| format!("{name} ({detail})"));
                match kinds.iter_mut().find(|kind| kind.0 == finding.advice()) {
                    Some(kind) => kind.1.push(name),
                    None => kinds.push((finding.advice(), vec![name])),
                }
            }
        }
        kinds.into_iter().map(|(advice, names)| format!("{}: {advice}", joined(names, SHOWN_NAMES))).collect()
    }

    fn suggested(&self) -> Vec<String> {
        let reasons = self.suggestion.reasons.iter().chain([&self.held_out]);
        reasons.flat_map(|reason| paragraph("  - ", reason, 4)).collect()
    }
}

fn variable_row(variable: &VariableOverview, amount: &Amount) -> Vec<String> {
    let name = one_line(&variable.name);
    let mut row = vec![if variable.is_static { format!("{name} (static)") } else { name }];
    row.extend([variable.count.to_string(), percent(variable.missing)]);
    match &variable.summary {
        Some(all) => row.extend([all.min, all.median, all.mean, all.sd, all.max].map(number)),
        None => row.extend(std::iter::repeat_n("–".to_string(), 5)),
    }
    row.push(variable.distinct.to_string());
    row.push(variable.longest_gap.map_or_else(|| "–".into(), |gap| amount.span(gap)));
    row
}

fn labels(labels: &LabelBalance) -> Vec<String> {
    let known: usize = labels.classes.iter().map(|class| class.1).sum();
    let all = (known + labels.unknown).max(1) as f64;
    let counts = if labels.per_time { "times" } else { "series" };
    let mut rows = vec![vec![String::new(), counts.to_string(), "share".into()]];
    let row = |name: &str, count: usize| {
        vec![cut(&one_line(name), NAME), count.to_string(), percent(count as f64 / all)]
    };
    rows.extend(labels.classes.iter().take(SHOWN_CLASSES).map(|class| row(&class.0, class.1)));
    if labels.classes.len() > SHOWN_CLASSES {
        let rest = &labels.classes[SHOWN_CLASSES..];
        rows.push(row(&format!("… {} more", rest.len()), rest.iter().map(|class| class.1).sum()));
    }
    if labels.unknown > 0 {
        rows.push(row("(unknown)", labels.unknown));
    }
    grid(&rows, 2)
}

/// A share in percent that says 0 and 100 only where it is exactly so.
fn percent(share: f64) -> String {
    match 100.0 * share {
        0.0 => "0 %".into(),
        100.0 => "100 %".into(),
        few if few < 0.1 => "<0.1 %".into(),
        most if most > 99.9 => ">99.9 %".into(),
        some => format!("{some:.1} %"),
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The first names with commas, each cut to a readable length, and how many more there are.
fn listed(names: impl Iterator<Item = impl AsRef<str>>, shown: usize) -> String {
    joined(names.map(|name| cut(&one_line(name.as_ref()), NAME)).collect(), shown)
}

fn joined(mut names: Vec<String>, shown: usize) -> String {
    let rest = names.len().saturating_sub(shown);
    if rest > 0 {
        names.truncate(shown);
        names.push(format!("… and {rest} more"));
    }
    names.join(", ")
}
