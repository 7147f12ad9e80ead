//! What was measured, in Markdown, which reads well as it is.

use super::memory::Peak;
use super::{Expected, Growth, Report};

/// The points of one quantity.
pub fn points(growth: &Growth) -> String {
    let name = growth.quantity.name();
    let mut text =
        format!("{}\n\n| {name} | ms | 80 % of the runs | runs |\n|---|---|---|---|\n", growth.work);
    for point in &growth.points {
        let &super::Point { value, runs, median_ms, low_ms, high_ms } = point;
        text += &format!("| {value} | {median_ms:.3} | {low_ms:.3} to {high_ms:.3} | {runs} |\n");
    }
    text
}

/// The exponents beside what they should be.
pub fn exponents(report: &Report) -> String {
    let mut text = format!(
        "time = a x^b on {} threads\n\n| x | b | fitted over | expected |\n|---|---|---|---|\n",
        report.threads
    );
    for growth in &report.growth {
        let Expected { exponent, at_most } = growth.expected;
        let bound = if at_most { "at most " } else { "" };
        let (found, range) = match &growth.fit {
            Some(law) => (
                format!("{:.2} ± {:.2}", law.exponent, law.standard_error),
                format!("{} to {}, {} points", law.from, law.to, law.points),
            ),
            None => ("-".to_owned(), "too few points".to_owned()),
        };
        text += &format!("| {} | {found} | {range} | {bound}{exponent} |\n", growth.quantity.name());
    }
    text
}

/// Memory against steps.
pub fn memory(peaks: &[Peak]) -> String {
    if peaks.is_empty() {
        return "This system does not tell how much memory a process has had.\n".to_owned();
    }
    let mut text =
        "memory that a path takes forward and backward, beside its times: 16 series, n = 16, the last \
        states asked for\n\n\
        | steps | times (MB) | stored (MB) | reversible (MB) | whole process, reversible (MB) |\n\
        |---|---|---|---|---|\n"
            .to_owned();
    let mut steps: Vec<usize> = peaks.iter().map(|peak| peak.steps).collect();
    steps.sort_unstable();
    steps.dedup();
    for steps in steps {
        let of = |reversible| peaks.iter().find(|peak| peak.steps == steps && peak.reversible == reversible);
        let path = |reversible| of(reversible).map_or("-".to_owned(), |peak| format!("{:.2}", peak.path_mb));
        let times = of(true).or(of(false)).map_or(0.0, |peak| peak.times_mb);
        let process = of(true).map_or("-".to_owned(), |peak| format!("{:.1}", peak.before_mb + peak.path_mb));
        text += &format!("| {steps} | {times:.3} | {} | {} | {process} |\n", path(false), path(true));
    }
    text
}

/// Everything.
pub fn page(report: &Report) -> String {
    let mut text = exponents(report) + "\n" + &memory(&report.memory);
    for growth in &report.growth {
        text += &format!("\n{}", points(growth));
    }
    text
}
