//! The times of a residual in order, and the two passes over them.

/// One time of the chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Event {
    /// Time since the event before; infinite where a new series begins, which forgets everything before it.
    pub gap: f64,
    /// The residual that was seen here, or `None` where one is asked for.
    pub seen: Option<f64>,
}

/// The state after one event: process of `f = a u` given what was seen up to here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filtered {
    /// `f(t_k) = persistence f(t_{k-1}) + sqrt(fresh) w`.
    persistence: f64,
    fresh: f64,
    /// Mean and variance of `f(t_k)` before anything is seen at `t_k`.
    pub predicted: Moments,
    /// Mean and variance of `f(t_k)` with what is seen at `t_k`.
    pub updated: Moments,
}

/// A mean and a variance.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    pub mean: f64,
    pub variance: f64,
}

/// The moving part of the process: variance `a^2`, length `l`, and the variance `s^2` of the noise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dynamics {
    pub variance: f64,
    pub length: f64,
    pub noise: f64,
}

/// Seen values beyond this are cut off, and larger standard deviations are not valid: their squares would not be
/// finite.
pub(super) const LARGEST: f64 = 1e150;

/// Appends one series to `events`: seen places (where time and value are finite) and asked places in the
/// order of time, the seen one first where both coincide.
pub(super) fn append(events: &mut Vec<Event>, times: &[f64], values: &[f64], at: &[f64]) {
    events.reserve(times.len().min(values.len()) + at.len());
    let mut seen = times.iter().zip(values).filter(|(t, x)| t.is_finite() && x.is_finite()).peekable();
    let mut asked = at.iter().peekable();
    let mut before = None;
    loop {
        let seen_first = match (seen.peek(), asked.peek()) {
            (None, None) => break,
            (Some((time, _)), Some(at)) => *time <= *at,
            (some, _) => some.is_some(),
        };
        let next = if seen_first {
            seen.next().map(|(&time, &value)| (time, Some(value.clamp(-LARGEST, LARGEST))))
        } else {
            asked.next().map(|&time| (time, None))
        };
        let Some((time, value)) = next else { break };
        // `max` turns a gap that is not a number into no gap.
        let gap = before.map_or(f64::INFINITY, |before: f64| (time - before).max(0.0));
        events.push(Event { gap, seen: value });
        before = Some(time);
    }
}

impl Dynamics {
    /// `(exp(-gap / l), a^2 (1 - exp(-2 gap / l)))`, without cancellation for short gaps.
    fn transition(&self, gap: f64) -> (f64, f64) {
        if gap == f64::INFINITY || (gap > 0.0 && self.length <= 0.0) {
            return (0.0, self.variance);
        }
        if gap == 0.0 {
            return (1.0, 0.0);
        }
        let lost = (-gap / self.length).exp_m1();
        (1.0 + lost, self.variance * -lost * (2.0 + lost))
    }

    /// The filter, forwards: hands every event with its state to `each`.
    pub fn filter(&self, events: &[Event], mut each: impl FnMut(&Event, Filtered)) {
        let mut state = Moments::default();
        for event in events {
            let (persistence, fresh) = self.transition(event.gap);
            let predicted = Moments {
                mean: persistence * state.mean,
                variance: persistence * persistence * state.variance + fresh,
            };
            state = match event.seen {
                Some(value) => self.update(predicted, value),
                None => predicted,
            };
            each(event, Filtered { persistence, fresh, predicted, updated: state });
        }
    }

    fn update(&self, predicted: Moments, value: f64) -> Moments {
        let total = predicted.variance + self.noise;
        if total <= 0.0 {
            return predicted;
        }
        let gain = predicted.variance / total;
        Moments { mean: predicted.mean + gain * (value - predicted.mean), variance: gain * self.noise }
    }

    /// The states of all events, for a backward pass.
    pub fn filtered(&self, events: &[Event], states: &mut Vec<Filtered>) {
        states.clear();
        states.reserve(events.len());
        self.filter(events, |_, state| states.push(state));
    }
}

/// How `f(t_k)` follows from `f(t_{k+1})` given everything seen:
/// `f_k = shift + slope f_{k+1} + sqrt(variance) w`.
///
/// The variance is `P Q / (phi^2 P + Q)`, which cannot become negative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backward {
    pub slope: f64,
    pub shift: f64,
    pub variance: f64,
}

impl Backward {
    /// From the state at `t_k` and the one after it; at the end of the chain there is none after it.
    pub fn new(state: &Filtered, after: Option<&Filtered>) -> Self {
        let Moments { mean, variance } = state.updated;
        match after {
            Some(after) if after.predicted.variance > 0.0 && after.persistence > 0.0 => {
                let slope = variance * after.persistence / after.predicted.variance;
                let shift = mean - slope * after.predicted.mean;
                Backward { slope, shift, variance: variance * (after.fresh / after.predicted.variance) }
            }
            _ => Backward { slope: 0.0, shift: mean, variance },
        }
    }
}

/// The smoother, backwards: hands the number of every asked event, last first, with the moments of `f` there
/// given everything seen to `each`.
pub(super) fn smooth(events: &[Event], states: &[Filtered], mut each: impl FnMut(usize, Moments)) {
    let mut smoothed = Moments::default();
    for (k, state) in states.iter().enumerate().rev() {
        let Backward { slope, shift, variance } = Backward::new(state, states.get(k + 1));
        smoothed = Moments {
            mean: shift + slope * smoothed.mean,
            variance: variance + slope * slope * smoothed.variance,
        };
        if events[k].seen.is_none() {
            each(k, smoothed);
        }
    }
}
