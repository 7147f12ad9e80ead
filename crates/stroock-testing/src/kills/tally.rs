//! What a campaign has seen.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Counts of kills and faults, and everything that went wrong.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Kills inside calls, by fault and by the file that the call was about.
    pub at_calls: BTreeMap<String, BTreeMap<String, usize>>,
    /// Kills at random instants, by what the command did then.
    pub at_instants: BTreeMap<String, usize>,
    /// Calls that failed, by error; the sentences that were said then, and how often.
    pub failures: BTreeMap<String, BTreeMap<String, usize>>,
    /// Runs that were compared at their end.
    pub compared: usize,
    /// Everything that went wrong.
    pub defects: Vec<String>,
}

impl Tally {
    /// How often a process was killed.
    pub fn kills(&self) -> usize {
        self.at_calls.values().flat_map(BTreeMap::values).chain(self.at_instants.values()).sum()
    }

    /// How often a call failed.
    pub fn faults(&self) -> usize {
        self.failures.values().flat_map(BTreeMap::values).sum()
    }

    /// Adds what another campaign has seen.
    pub fn add(&mut self, other: Self) {
        let add = |to: &mut BTreeMap<String, usize>, from: BTreeMap<String, usize>| {
            from.into_iter().for_each(|(key, count)| *to.entry(key).or_default() += count);
        };
        for (fault, counts) in other.at_calls {
            add(self.at_calls.entry(fault).or_default(), counts);
        }
        for (fault, counts) in other.failures {
            add(self.failures.entry(fault).or_default(), counts);
        }
        add(&mut self.at_instants, other.at_instants);
        self.compared += other.compared;
        self.defects.extend(other.defects);
    }

    /// All of it, for a file.
    pub fn to_json(&self) -> Value {
        json!({
            "kills": self.kills(),
            "kills_inside_calls": self.at_calls,
            "kills_at_random_instants": self.at_instants,
            "failed_calls": self.faults(),
            "what_was_said": self.failures,
            "runs_compared": self.compared,
            "defects": self.defects,
        })
    }
}
