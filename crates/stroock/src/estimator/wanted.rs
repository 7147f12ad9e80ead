//! Which values of which series are to be predicted, in parts that fit into memory.

use std::collections::HashMap;

use super::{EstimatorError, Prepared};

/// Points times draws that are simulated at once.
const AT_ONCE: usize = 1 << 18;

/// Times of all series together that may be asked for, and times of one series times draws: what does not fit into
/// the memory of a usual computer is refused before it is begun.
pub(super) const MOST_TIMES: usize = 1 << 24;

/// What is to be predicted of one series.
#[derive(Default)]
pub(super) struct Wanted {
    /// Number of the series.
    pub number: usize,
    /// Increasing times, counted from the origin of the series.
    pub times: Vec<f64>,
    /// The same as the user has them.
    pub user_times: Vec<f64>,
    /// For each wanted value the index of its time, and its channel.
    pub entries: Vec<(usize, usize)>,
}

/// Wanted values, gathered by the windows that answer for them, in the order in which these are first asked.
#[derive(Default)]
pub(super) struct Gathered {
    wanted: Vec<Wanted>,
    places: HashMap<usize, usize>,
}

impl Gathered {
    /// Adds values of some channels at one time of a window, once for each time.
    pub fn add(
        &mut self,
        (number, time): (usize, f64),
        user_time: f64,
        channels: impl Iterator<Item = usize>,
    ) {
        let mut channels = channels.peekable();
        if channels.peek().is_none() {
            return;
        }
        let place = *self.places.entry(number).or_insert_with(|| {
            self.wanted.push(Wanted { number, ..Wanted::default() });
            self.wanted.len() - 1
        });
        let wanted = &mut self.wanted[place];
        let index = wanted.times.len();
        wanted.times.push(time);
        wanted.user_times.push(user_time);
        wanted.entries.extend(channels.map(|channel| (index, channel)));
    }

    /// What was gathered, each window with increasing times.
    pub fn finish(self) -> Vec<Wanted> {
        self.wanted.into_iter().map(Wanted::in_order).collect()
    }
}

impl Wanted {
    fn in_order(self) -> Self {
        if self.times.is_sorted() {
            return self;
        }
        let mut order: Vec<usize> = (0..self.times.len()).collect();
        order.sort_by(|&a, &b| self.times[a].total_cmp(&self.times[b]));
        let mut ranks = vec![0; order.len()];
        order.iter().enumerate().for_each(|(rank, &index)| ranks[index] = rank);
        let sorted = |values: &[f64]| order.iter().map(|&index| values[index]).collect();
        let mut entries: Vec<(usize, usize)> =
            self.entries.iter().map(|&(index, channel)| (ranks[index], channel)).collect();
        entries.sort_unstable();
        Wanted {
            number: self.number,
            times: sorted(&self.times),
            user_times: sorted(&self.user_times),
            entries,
        }
    }
}

/// `first + every * k` up to `last`, for whole `k` from `from` on.
///
/// # Errors
/// When there would be more times than can be predicted, with so many draws at each.
pub(super) fn steps(
    first: f64,
    last: f64,
    every: f64,
    from: usize,
    draws: usize,
) -> Result<Vec<f64>, EstimatorError> {
    // A whole number of steps stays one although it is rounded.
    let count = ((last - first) / every * (1.0 + 1e-12)).floor();
    let most = MOST_TIMES / draws.max(1);
    if count > most as f64 || count.is_nan() {
        return Err(EstimatorError::TooManyTimes { times: count, most, draws: Some(draws) });
    }
    // A step may be too short for the times that it leads to.
    if first + every == first || last + every == last {
        return Err(EstimatorError::Step { every });
    }
    // A negative count is 0.
    Ok((from..(count + 1.0) as usize).map(|step| first + every * step as f64).collect())
}

/// Refuses more times than predictions of all series together may have.
pub(super) fn check_total(wanted: &[Wanted]) -> Result<(), EstimatorError> {
    let times: usize = wanted.iter().map(|wanted| wanted.times.len()).sum();
    match times > MOST_TIMES {
        true => Err(EstimatorError::TooManyTimes { times: times as f64, most: MOST_TIMES, draws: None }),
        false => Ok(()),
    }
}

/// Parts that are small enough to be simulated at once.
pub(super) fn chunks<'a>(
    prepared: &Prepared,
    mut wanted: &'a [Wanted],
    draws: usize,
) -> impl Iterator<Item = &'a [Wanted]> {
    let sizes: Vec<usize> =
        prepared.data.series().iter().map(|series| series.times.len() * draws.max(1)).collect();
    std::iter::from_fn(move || {
        let mut points = 0;
        let fits = |wanted: &&Wanted| {
            points += wanted.times.len() * draws.max(1) + sizes[wanted.number];
            points <= AT_ONCE
        };
        let count = wanted.iter().take_while(fits).count().max(1).min(wanted.len());
        let (now, later) = wanted.split_at(count);
        wanted = later;
        (!now.is_empty()).then_some(now)
    })
}
