//! How long a plan will take: from the pace of the runs that go on and the lengths of those that are done.

/// How far a run is, and how long that took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Epochs that are done.
    pub done: u64,
    /// Epochs of the whole run.
    pub epochs: u64,
    /// Seconds of those that are done.
    pub seconds: f64,
}

impl Pace {
    /// Seconds of the whole run; `None` before the first epoch.
    fn whole(self) -> Option<f64> {
        (self.done > 0).then(|| self.seconds / self.done as f64 * self.epochs as f64)
    }
}

/// The lengths of the runs that are done.
#[derive(Clone, Debug)]
pub struct TimeLeft {
    at_once: usize,
    lengths: Vec<f64>,
}

impl TimeLeft {
    /// Nothing is known yet.
    pub fn new(at_once: usize) -> Self {
        Self { at_once, lengths: Vec::new() }
    }

    /// A run has taken so many seconds.
    pub fn note(&mut self, seconds: f64) {
        self.lengths.push(seconds);
    }

    /// The seconds left; runs of which nothing is known take as long as the others on average. `None` where nothing is
    /// known of any.
    fn seconds(&self, running: &[Pace], waiting: usize) -> Option<f64> {
        let wholes: Vec<f64> = running.iter().filter_map(|pace| pace.whole()).collect();
        let known = self.lengths.len() + wholes.len();
        let mean = (self.lengths.iter().sum::<f64>() + wholes.iter().sum::<f64>()) / known as f64;
        let rest = |pace: &Pace| pace.whole().unwrap_or(mean) - pace.seconds;
        let work = running.iter().map(rest).sum::<f64>() + waiting as f64 * mean;
        // The last runs have nothing beside them.
        let longest = running.iter().map(rest).fold(0.0, f64::max);
        (known > 0).then(|| (work / self.at_once.max(1) as f64).max(longest))
    }

    /// The time left, in words.
    pub fn words(&self, running: &[Pace], waiting: usize) -> Option<String> {
        let minutes = self.seconds(running, waiting)? / 60.0;
        Some(match minutes {
            ..1.0 => "less than a minute left".to_owned(),
            ..120.0 => format!("about {minutes:.0} min left"),
            _ => format!("about {:.1} h left", minutes / 60.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_as_long_as_the_rest() {
        let mut left = TimeLeft::new(2);
        assert_eq!(left.words(&[], 3), None);
        let half = Pace { done: 5, epochs: 10, seconds: 300.0 };
        // 300 s of this one, and twice 600 s, two at a time.
        assert_eq!(left.seconds(&[half], 2), Some(750.0));
        left.note(1200.0);
        assert_eq!(left.seconds(&[half], 2), Some(1050.0));
        assert_eq!(left.words(&[half], 2).unwrap(), "about 18 min left");
        let begun = Pace { done: 0, epochs: 10, seconds: 0.0 };
        assert_eq!(left.seconds(&[half, begun], 0), Some(900.0));
    }
}
