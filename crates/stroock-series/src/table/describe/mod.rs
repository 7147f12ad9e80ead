//! What is in a table, before anything is learnt from it.

mod alike;
mod amount;
mod finding;
mod label;
mod layout;
mod moments;
mod spread;
mod stored;
mod stored_variable;
mod text;
mod variable;

use serde::Serialize;

use super::{Account, Columns, Sampling, Suggestion, Table, TimeScale};

pub(super) use amount::Amount;
pub use finding::Finding;
pub use label::LabelBalance;
pub use spread::Spread;
pub use variable::{Summary, VariableOverview};

/// What is in a table: counts, lengths, gaps, the variables one by one, what is suspicious, and what to do.
///
/// All of it serialises; [`Overview::text`] is for a terminal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overview {
    /// Series.
    pub series: usize,
    /// Times of all series.
    pub times: usize,
    /// Values of all series.
    pub values: usize,
    /// How times are written.
    pub time: TimeScale,
    /// Earliest and latest time of the user; `None` where there is no time.
    pub range: Option<(f64, f64)>,
    /// Times of a series.
    pub lengths: Option<Spread>,
    /// Last time of a series minus its first.
    pub spans: Option<Spread>,
    /// From one time of a series to the next.
    pub gaps: Option<Spread>,
    /// The variables, in the order of the table.
    pub variables: Vec<VariableOverview>,
    /// How often each class is there, with a label column.
    pub labels: Option<LabelBalance>,
    /// Names of series without any value.
    pub unobserved: Vec<String>,
    /// Names of series with the same content, group by group.
    pub alike: Vec<Vec<String>>,
    /// Which column is what.
    pub columns: Columns,
    /// What became of the rows.
    pub account: Account,
    /// Windows and alignment that suit the table.
    pub suggestion: Suggestion,
    /// How to hold data out.
    pub held_out: String,
}

impl Overview {
    /// What is in a table.
    pub fn of(table: &Table) -> Overview {
        let series = table.data.series();
        let channels = table.variables.len();
        let names = |index: &usize| series[*index].id.clone();
        let variables: Vec<VariableOverview> =
            (0..channels).map(|channel| VariableOverview::of(table, channel)).collect();
        let is_unobserved = |index: &usize| match &series[*index].observed {
            Some(observed) => !observed.contains(&true),
            None => series[*index].values.is_empty(),
        };
        let spans = series.iter().filter_map(|series| Some(series.times.last()? - series.times.first()?));
        let gaps = series.iter().flat_map(|series| series.times.windows(2).map(|pair| pair[1] - pair[0]));
        let bounds = series.iter().zip(&table.origins).filter_map(|(series, origin)| {
            Some((origin + series.times.first()?, origin + series.times.last()?))
        });
        let suggestion = Sampling::suggest(table);
        let windows = suggestion.sampling.window.map_or(0, |window| table.window_count(window));
        let mut labels = LabelBalance::none(table);
        series.iter().for_each(|series| labels.iter_mut().for_each(|labels| labels.add(series)));
        Overview {
            series: series.len(),
            times: series.iter().map(|series| series.times.len()).sum(),
            values: variables.iter().map(|variable| variable.count).sum(),
            time: table.time.clone(),
            range: bounds.reduce(|one, next| (one.0.min(next.0), one.1.max(next.1))),
            lengths: Spread::of(series.iter().map(|series| series.times.len() as f64).collect()),
            spans: Spread::of(spans.collect()),
            gaps: Spread::of(gaps.collect()),
            labels,
            unobserved: (0..series.len()).filter(is_unobserved).map(|index| names(&index)).collect(),
            alike: alike::alike(series, channels)
                .into_iter()
                .map(|group| group.iter().map(names).collect())
                .collect(),
            columns: table.columns.clone(),
            account: table.account.clone(),
            held_out: held_out(series.len(), windows, &suggestion),
            suggestion,
            variables,
        }
    }
}

/// How to hold data out of so many series, which would be so many windows.
fn held_out(series: usize, windows: usize, suggestion: &Suggestion) -> String {
    match suggestion.sampling.window {
        Some(_) => format!(
            "Hold out the last fifth of the {windows} windows: windows of one series resemble their \
             neighbours, and chosen at random they would flatter the model."
        ),
        None if series < 5 => "Too few series to hold any out: hold out values instead.".into(),
        None => format!("Hold out a fifth of the {series} series, {} of them.", series.div_ceil(5)),
    }
}
