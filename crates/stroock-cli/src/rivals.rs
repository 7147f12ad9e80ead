//! The rivals of the paper, where a command names one that is not there.

use stroock_experiments::protocol::Experiment;
use stroock_experiments::rival::Rival;

use crate::failure::Failure;

/// What there is instead, where a rival has no preset for an experiment.
pub fn no_model(rival: Rival, experiment: Experiment) -> Failure {
    let (model, name) = (rival.name(), experiment.name());
    let there: Vec<&str> = rival.experiments().map(Experiment::name).collect();
    let others: Vec<&str> = Rival::of(experiment).map(Rival::name).collect();
    let there = there.join(", ");
    let words = match others.is_empty() {
        true => format!("{name} has no model but its own; `{model}` has presets for {there}"),
        false => {
            let others = others.join(", ");
            format!("{name} has no model `{model}`, but {others}; `{model}` has presets for {there}")
        }
    };
    words.into()
}
