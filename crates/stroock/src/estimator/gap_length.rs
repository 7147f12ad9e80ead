//! How long the gaps of a table are: what is held out is to be like what will be asked for.

use std::collections::BTreeMap;

use crate::series::{Series, SeriesError, SeriesSource};

/// Shortest runs that are held out: single values between neighbours hardly need a model.
const SHORTEST: f64 = 6.0;

/// Values of one variable in a run that is held out: as many as are missing in the gap of the median missing value, and
/// six at least.
///
/// A gap counts the times at which others were observed, multiplied by how often its variable is observed at all: where
/// every variable has its own times, these are no gaps.
pub(super) fn usual_run(data: &dyn SeriesSource, statics: &[bool]) -> Result<usize, SeriesError> {
    let channels = data.observation().len();
    let is_static = |channel: &usize| statics.get(*channel).copied().unwrap_or(false);
    let asked: Vec<usize> = (0..channels).filter(|channel| !is_static(channel)).collect();
    // How often there is a run of each length.
    let mut runs: Vec<BTreeMap<usize, usize>> = vec![BTreeMap::new(); channels];
    let mut rows = 0;
    data.for_each(&mut |_, series| {
        rows += series.times.len();
        for &channel in &asked {
            for length in missing_runs(series, channels, channel) {
                *runs[channel].entry(length).or_default() += 1;
            }
        }
        Ok(())
    })?;
    let mut gaps: Vec<(f64, usize)> = Vec::new();
    for runs in asked.iter().map(|&channel| &runs[channel]) {
        let missing: usize = runs.iter().map(|(length, count)| length * count).sum();
        let share = (rows - missing) as f64 / rows.max(1) as f64;
        gaps.extend(runs.iter().map(|(&length, count)| (share * length as f64, length * count)));
    }
    gaps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = gaps.iter().map(|(_, count)| count).sum::<usize>() / 2;
    let mut before = 0;
    let median = gaps.iter().find(|(_, count)| {
        before += count;
        before > half
    });
    Ok(median.map_or(SHORTEST, |(length, _)| length.round().max(SHORTEST)) as usize)
}

/// Lengths of the runs of times at which a channel is not observed.
fn missing_runs(series: &Series, channels: usize, channel: usize) -> Vec<usize> {
    let is_missing = |&i: &usize| !series.is_observed(channels, i, channel);
    let times: Vec<usize> = (0..series.times.len()).collect();
    let runs = times.chunk_by(|a, b| is_missing(a) == is_missing(b));
    runs.filter(|run| is_missing(&run[0])).map(<[usize]>::len).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::{Dataset, Observation};

    /// Series of two channels and 60 times; the first is observed where the function says.
    fn data(observed: impl Fn(usize) -> bool) -> Dataset {
        let one = Series {
            times: (0..60).map(f64::from).collect(),
            values: vec![0.0; 120],
            observed: Some((0..120).map(|i| i % 2 == 1 || observed(i / 2)).collect()),
            ..Series::default()
        };
        Dataset::new(Observation::Vector { channels: 2 }, vec![one; 5]).unwrap()
    }

    #[test]
    fn runs_are_as_long_as_gaps_and_six_at_least() {
        assert_eq!(usual_run(&data(|_| true), &[]).unwrap(), 6);
        assert_eq!(usual_run(&data(|time| time % 5 != 0), &[]).unwrap(), 6);
        assert_eq!(usual_run(&data(|time| !(20..40).contains(&time)), &[]).unwrap(), 13);
        // Nobody asks for what never changes.
        assert_eq!(usual_run(&data(|time| !(20..40).contains(&time)), &[true, false]).unwrap(), 6);
        // Observed now and then: there are long stretches without it, but these are not gaps of it.
        assert_eq!(usual_run(&data(|time| time % 20 == 0), &[]).unwrap(), 6);
    }
}
