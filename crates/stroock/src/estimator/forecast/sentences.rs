//! Which methods answer, in words.

use super::super::Model;
use crate::forecast::{Forecaster, Kind, Method, VariableForecaster};

/// Variables that are spoken about one by one.
const VARIABLES: usize = 4;

impl Model {
    /// How the variables are forecast so many steps ahead, and what backtests say about it.
    pub fn forecast_sentences(&self, forecaster: &Forecaster, horizon: f64) -> Vec<String> {
        let variables = self.description.data.variables.iter().zip(&forecaster.variables);
        let all: Vec<String> = variables
            .filter_map(|(variable, found)| {
                let found = found.as_ref()?;
                let text = sentence(&variable.name, found, horizon);
                Some(text + &self.effects(forecaster, found).unwrap_or_default())
            })
            .collect();
        let more = all.len().saturating_sub(VARIABLES);
        let mut some: Vec<String> = all.into_iter().take(VARIABLES).collect();
        if more > 0 {
            some.push(format!("and {more} more variables, each by what did best for it"));
        }
        some
    }

    /// What variables that are known ahead of time do to another one; `None` where none are.
    fn effects(&self, forecaster: &Forecaster, found: &VariableForecaster) -> Option<String> {
        let name = |channel: &usize| self.description.data.variables.get(*channel).map(|known| &known.name);
        if forecaster.known.is_empty() {
            return None;
        }
        let Some(regression) = &found.regression else {
            return Some("; what is known ahead of time did not help".into());
        };
        let terms = regression.coefficients.iter().zip(forecaster.known.iter().filter_map(name));
        let terms: Vec<String> = terms.map(|(b, name)| format!("{b:+.4} of `{name}`")).collect();
        Some(format!("; known ahead of time: {}", terms.join(", ")))
    }
}

fn sentence(name: &str, found: &VariableForecaster, horizon: f64) -> String {
    let choice = &found.choice;
    let rung = choice.rung(horizon);
    let methods: Vec<String> = match rung.weights.as_slice() {
        [one] => vec![one.method.to_string()],
        several => several.iter().map(|w| format!("{:.0} % {}", 100.0 * w.weight, w.method)).collect(),
    };
    let periods: Vec<String> =
        choice.periods.iter().map(|period| format!("{:.4}", period)).map(trimmed).collect();
    let season = match periods.is_empty() {
        true => "no season".to_owned(),
        false => format!("season of {} steps", periods.join(" and ")),
    };
    let mut text = format!("`{name}` ({season}) is forecast by {}", methods.join(", "));
    let Some(error) = rung.error else {
        return text + "; it is too short for backtests";
    };
    let baselines = [Kind::Naive, Kind::SeasonalNaive].map(Method::of);
    let others: Vec<String> = baselines
        .iter()
        .filter_map(|&method| Some(format!("{method} {:.3}", rung.error_of(method)?)))
        .collect();
    let origins = rung.origins;
    text += &format!(
        ": error {error:.3} in backtests from {origins} origin{} ({})",
        if origins == 1 { "" } else { "s" },
        others.join(", ")
    );
    if let Some(latent) = found.latent {
        let answers = latent.answers() && horizon <= latent.horizon + 1e-9;
        text += &format!(
            "; the latent model {} ({:.3} standard deviations on {} series it was not trained on, the methods {:.3})",
            if answers { "answers in their place" } else { "did not do better or does not reach so far" },
            latent.latent,
            latent.series,
            latent.methods
        );
        return text;
    }
    if let [one] = rung.weights.as_slice()
        && baselines.contains(&one.method)
    {
        text += "; nothing did better than this plain rule";
    }
    text
}

/// A number without zeros at its end.
fn trimmed(text: String) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
