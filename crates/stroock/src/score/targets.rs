//! Metrics over the targets of a batch: a sum over their entries, and how many there are.

use crate::batch::Targets;

/// Squared errors of `output` `[Q, C]` at the points that are `counted`.
pub fn squared_errors(output: &[f32], targets: &Targets, counted: impl Fn(usize) -> bool) -> (f64, usize) {
    let (mut sum, mut count) = (0.0, 0);
    for series in 0..targets.series() {
        targets.for_each_entry(series, |place, value| {
            if counted(place / targets.channels()) {
                sum += f64::from(output[place] - value).powi(2);
                count += 1;
            }
        });
    }
    (sum, count)
}

/// How often the most probable class (the last of several) is the right one, for probabilities `[Q, classes]`.
pub fn hits(probabilities: &[f32], targets: &Targets, classes: usize) -> (f64, usize) {
    let (mut right, mut count) = (0.0, 0);
    for series in 0..targets.series() {
        targets.for_each_entry(series, |place, class| {
            let here = &probabilities[place * classes..(place + 1) * classes];
            let best = (0..classes).max_by(|&a, &b| here[a].total_cmp(&here[b]));
            right += f64::from(u8::from(best == Some(class as usize)));
            count += 1;
        });
    }
    (right, count)
}
