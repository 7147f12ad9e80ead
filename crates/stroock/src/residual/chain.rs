//! The times of a residual in order, and the two passes over them: a Kalman filter forwards, a smoother backwards.
//!
//! Everything is in units of the stationary standard deviation of the process.

use super::dynamics::{Dynamics, Transition};
use super::gaussian::{Matrix, Vector, congruent, divided, identity, sum, times_vector};

/// One time of the chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Event {
    /// Time since the event before; infinite where a new series begins, which forgets everything before it.
    pub gap: f64,
    /// The residual that was seen here, or `None` where one is asked for.
    pub seen: Option<f64>,
}

/// Seen values beyond this many standard deviations of the process are cut off: their slopes would not be finite.
const LARGEST: f64 = 1e60;
/// What is known so well (as a variance) is not learnt again from one more value.
const KNOWN: f64 = 1e-14;

/// Appends one series to `events`: seen places (where time and value are finite) and asked places in the
/// order of time, the seen one first where both coincide. Values are divided by `scale`.
pub(super) fn append(events: &mut Vec<Event>, times: &[f64], values: &[f64], at: &[f64], scale: f64) {
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
            seen.next().map(|(&time, &value)| (time, Some((value / scale).clamp(-LARGEST, LARGEST))))
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

/// A normal distribution of the state.
#[derive(Clone, Copy, Debug)]
pub(super) struct State<const N: usize> {
    pub mean: Vector<N>,
    pub covariance: Matrix<N>,
}

/// The state at one event, given what was seen up to there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filtered<const N: usize> {
    transition: Transition<N>,
    /// Before anything is seen at the event.
    predicted: State<N>,
    /// With what is seen at it.
    updated: State<N>,
}

/// A mean and a variance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    pub mean: f64,
    pub variance: f64,
}

impl<const N: usize> State<N> {
    const NOTHING: Self = State { mean: [0.0; N], covariance: [[0.0; N]; N] };

    fn moved(&self, by: &Transition<N>) -> Self {
        State {
            mean: times_vector(&by.matrix, &self.mean),
            covariance: sum(&congruent(&by.matrix, &self.covariance), &by.added),
        }
    }

    /// With a value that measures `measured` and noise; in the form of Joseph, which stays positive semidefinite.
    fn updated(&self, measured: &Vector<N>, value: f64, noise: f64) -> Self {
        let gain = times_vector(&self.covariance, measured);
        let total = dot(measured, &gain) + noise;
        if total <= KNOWN {
            return *self;
        }
        let gain = gain.map(|entry| entry / total);
        let error = value - dot(measured, &self.mean);
        let (mut mean, mut rest) = (self.mean, identity());
        for i in 0..N {
            mean[i] += gain[i] * error;
            for j in 0..N {
                rest[i][j] -= gain[i] * measured[j];
            }
        }
        let mut covariance = congruent(&rest, &self.covariance);
        for i in 0..N {
            for j in 0..N {
                covariance[i][j] += gain[i] * gain[j] * noise;
            }
        }
        State { mean, covariance }
    }

    /// Of the sum of the parts.
    fn of(&self, measured: &Vector<N>) -> Moments {
        let variance = dot(measured, &times_vector(&self.covariance, measured));
        Moments { mean: dot(measured, &self.mean), variance: variance.max(0.0) }
    }
}

fn dot<const N: usize>(a: &Vector<N>, b: &Vector<N>) -> f64 {
    let mut sum = 0.0;
    for i in 0..N {
        sum += a[i] * b[i];
    }
    sum
}

impl Dynamics {
    /// The filter, forwards: hands every event with its state to `each`.
    fn filter<const N: usize>(&self, events: &[Event], mut each: impl FnMut(&Event, Filtered<N>)) {
        let measured = self.measured();
        let mut state = State::NOTHING;
        // Gaps of regular series repeat.
        let (mut gap, mut transition) = (0.0, self.transition(0.0));
        for event in events {
            if event.gap != gap {
                (gap, transition) = (event.gap, self.transition(event.gap));
            }
            let predicted = state.moved(&transition);
            state = match event.seen {
                Some(value) => predicted.updated(&measured, value, self.noise),
                None => predicted,
            };
            each(event, Filtered { transition, predicted, updated: state });
        }
    }

    /// Hands every seen value to `each` with the moments of a measurement there, given those seen before it.
    pub fn ahead(&self, events: &[Event], each: impl FnMut(f64, Moments)) {
        match self.dimension() {
            1 => self.ahead_of::<1>(events, each),
            2 => self.ahead_of::<2>(events, each),
            _ => self.ahead_of::<3>(events, each),
        }
    }

    fn ahead_of<const N: usize>(&self, events: &[Event], mut each: impl FnMut(f64, Moments)) {
        let measured = self.measured();
        self.filter::<N>(events, |event, state| {
            if let Some(value) = event.seen {
                let Moments { mean, variance } = state.predicted.of(&measured);
                each(value, Moments { mean, variance: variance + self.noise });
            }
        });
    }

    /// Hands the moments of a measurement at every asked event, last first, given everything seen to `each`.
    pub fn smooth(&self, events: &[Event], each: impl FnMut(Moments)) {
        match self.dimension() {
            1 => self.smooth_of::<1>(events, each),
            2 => self.smooth_of::<2>(events, each),
            _ => self.smooth_of::<3>(events, each),
        }
    }

    fn smooth_of<const N: usize>(&self, events: &[Event], mut each: impl FnMut(Moments)) {
        let (measured, states) = (self.measured(), self.filtered::<N>(events));
        let mut smoothed = State::NOTHING;
        for (k, state) in states.iter().enumerate().rev() {
            smoothed = Backward::new(state, states.get(k + 1)).from(&smoothed);
            if events[k].seen.is_none() {
                let Moments { mean, variance } = smoothed.of(&measured);
                each(Moments { mean, variance: variance + self.noise });
            }
        }
    }

    /// The states of all events, for a backward pass.
    pub fn filtered<const N: usize>(&self, events: &[Event]) -> Vec<Filtered<N>> {
        let mut states = Vec::with_capacity(events.len());
        self.filter(events, |_, state| states.push(state));
        states
    }
}

/// How the state `x_k` follows from `x_{k+1}` given everything seen: `x_k = shift + slope x_{k+1} + w`.
///
/// The covariance of `w` is `(I - G A) P (I - G A)^T + G Q G^T` for the slope `G`, which is positive semidefinite
/// whatever rounding does to `G`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backward<const N: usize> {
    pub slope: Matrix<N>,
    pub shift: Vector<N>,
    pub covariance: Matrix<N>,
}

impl<const N: usize> Backward<N> {
    /// From the state at `t_k` and the one after it; at the end of the chain there is none after it.
    pub fn new(state: &Filtered<N>, after: Option<&Filtered<N>>) -> Self {
        let State { mean, covariance } = state.updated;
        let Some(Filtered { transition: Transition { matrix, added }, predicted, .. }) = after else {
            return Backward { slope: [[0.0; N]; N], shift: mean, covariance };
        };
        let mut crossed = [[0.0; N]; N];
        for i in 0..N {
            for j in 0..N {
                crossed[i][j] = dot(&covariance[i], &matrix[j]);
            }
        }
        let slope = divided(&crossed, &predicted.covariance);
        let (mut shift, said) = (mean, times_vector(&slope, &predicted.mean));
        let mut rest = identity();
        for i in 0..N {
            shift[i] -= said[i];
            for j in 0..N {
                for k in 0..N {
                    rest[i][j] -= slope[i][k] * matrix[k][j];
                }
            }
        }
        let covariance = sum(&congruent(&rest, &covariance), &congruent(&slope, added));
        Backward { slope, shift, covariance }
    }

    /// The state at `t_k` given everything seen, from the one after it.
    fn from(&self, after: &State<N>) -> State<N> {
        let mut mean = times_vector(&self.slope, &after.mean);
        for (mean, shift) in mean.iter_mut().zip(&self.shift) {
            *mean += shift;
        }
        State { mean, covariance: sum(&self.covariance, &congruent(&self.slope, &after.covariance)) }
    }
}
