//! Windows and alignment: nothing is lost, and times of the user stay what they are.

mod by_hand;

use by_hand::{dated, line, series, table};
use proptest::prelude::*;
use stroock_series::table::{Align, Sampling, Table};
use stroock_series::{Labels, Series};

const DAY: f64 = 86_400.0;

fn windows(length: f64) -> Sampling {
    Sampling { window: Some(length), align: Align::Start }
}

/// Every time of the table of the user with what is observed there, static variables left out.
fn observations(table: &Table) -> Vec<(String, u64, Vec<Option<u64>>)> {
    let channels = table.variables.len();
    let mut all = Vec::new();
    for (series, origin) in table.data.series().iter().zip(&table.origins) {
        for (index, time) in series.times.iter().enumerate() {
            let cells = (0..channels).filter(|&channel| !table.variables[channel].is_static).map(|channel| {
                let value = series.values[index * channels + channel];
                series.is_observed(channels, index, channel).then_some(value.to_bits())
            });
            all.push((series.id.clone(), (origin + time).to_bits(), cells.collect()));
        }
    }
    all.sort();
    all
}

/// The static value of each series, with the name of the series; those without times are left out.
fn statics(table: &Table) -> Vec<(String, Option<u64>)> {
    let series = table.data.series().iter().filter(|series| !series.times.is_empty());
    let value = |series: &Series<f64>| series.is_observed(3, 0, 2).then(|| series.values[2].to_bits());
    series.map(|series| (series.id.clone(), value(series))).collect()
}

/// A time in small steps, and its cells.
type Row = (u32, [Option<f64>; 3]);

fn ragged() -> impl Strategy<Value = Table> {
    let cell = || proptest::option::weighted(0.6, -1e3_f64..1e3);
    let row = move || (0_u32..100_000, [cell(), cell(), cell()]);
    let rows = move || proptest::collection::vec(row(), 0..40);
    (proptest::collection::vec(rows(), 1..6), 1_u32..1000, 0_u32..10_000).prop_map(|(all, step, shift)| {
        let make = |(index, mut rows): (usize, Vec<Row>)| {
            rows.sort_by_key(|row| row.0);
            rows.dedup_by_key(|row| row.0);
            // As decimal times would be read, none of them a binary fraction.
            let time = |row: &Row| f64::from(row.0 * step + shift) / 1000.0;
            let times: Vec<f64> = rows.iter().map(time).collect();
            // The last channel is static: it is observed at the first time at most.
            let cells: Vec<[Option<f64>; 3]> = rows
                .iter()
                .enumerate()
                .map(|(index, row)| [row.1[0], row.1[1], row.1[2].filter(|_| index == 0)])
                .collect();
            let cells: Vec<&[Option<f64>]> = cells.iter().map(|row| row.as_slice()).collect();
            let mut made = series(&format!("s{}", index % 4), &times, &cells);
            made.labels = Labels::ClassPerTime((0..times.len()).map(|time| Some(time as u32)).collect());
            made
        };
        table(&["a", "b", "*c"], all.into_iter().enumerate().map(make).collect())
    })
}

proptest! {
    #[test]
    fn nothing_is_lost_and_times_stay(
        table in ragged(),
        window in proptest::option::of((1_u32..100_000).prop_map(|length| f64::from(length) / 100.0)),
        align in prop_oneof![Just(Align::None), Just(Align::Start)],
    ) {
        let before = observations(&table);
        let static_before = statics(&table);
        let classes: usize = table.data.series().iter().map(|series| series.times.len()).sum();
        let sampled = table.clone().sampled(Sampling { window, align });
        prop_assert_eq!(&observations(&sampled), &before);
        prop_assert_eq!(sampled.origins.len(), sampled.data.series().len());
        let mut class_count = 0;
        for (series, origin) in sampled.data.series().iter().zip(&sampled.origins) {
            if let Labels::ClassPerTime(classes) = &series.labels {
                class_count += classes.len();
            }
            let (Some(first), Some(last)) = (series.times.first(), series.times.last()) else { continue };
            match (window, align) {
                (Some(window), _) => {
                    let index = (origin + first).div_euclid(window);
                    let (begin, end) = (index * window, (index + 2.0) * window);
                    prop_assert!(begin <= (origin + first) * (1.0 + 1e-12));
                    prop_assert!(origin + last < end);
                    prop_assert!(last - first < window * (1.0 + 1e-9));
                    if align == Align::Start {
                        prop_assert!(*first >= 0.0 && *last <= window, "{first} {last} {window}");
                    }
                }
                (None, Align::Start) => prop_assert!((0.0..1e-8).contains(first)),
                (None, Align::None) => prop_assert_eq!(*origin, 0.0),
            }
        }
        prop_assert_eq!(class_count, classes);
        // Static values: those of the series in each of its windows.
        let mut static_after = statics(&sampled);
        static_after.dedup();
        let mut expected = static_before;
        expected.dedup();
        prop_assert_eq!(static_after, expected);
        // Sampling again gives the same table.
        prop_assert_eq!(observations(&sampled.clone().sampled(Sampling { window, align })), before);
    }

    #[test]
    fn no_numbers_make_it_panic(
        mut times in proptest::collection::vec(any::<f64>(), 0..20),
        window in any::<f64>(),
        align in prop_oneof![Just(Align::None), Just(Align::Start)],
        again in any::<f64>(),
    ) {
        times.retain(|time| time.is_finite());
        times.sort_by(f64::total_cmp);
        times.dedup();
        let count = times.len();
        let made = table(&["x"], vec![line("x", times, vec![1.0; count])]);
        let sampled = made.sampled(Sampling { window: Some(window), align });
        let times = |table: &Table| -> usize {
            table.data.series().iter().map(|series| series.times.len()).sum()
        };
        prop_assert_eq!(times(&sampled), count);
        let again = sampled.sampled(Sampling { window: Some(again), align });
        prop_assert_eq!(times(&again), count);
    }
}

#[test]
fn windows_have_their_boundary_as_origin_and_the_static_values_of_the_series() {
    let mut one = series(
        "η",
        &[9.5, 10.0, 19.9, 30.5],
        &[&[Some(1.0), Some(7.0)], &[Some(2.0), None], &[None, None], &[Some(4.0), None]],
    );
    one.labels = Labels::Class(1);
    one.withheld = Some(vec![false, true, false, false, false, false, true, false]);
    let cut = table(&["x", "*age"], vec![one]).sampled(windows(10.0));
    assert_eq!(cut.origins, [0.0, 10.0, 30.0]);
    let parts = cut.data.series();
    assert!(parts.iter().all(|part| part.id == "η" && part.labels == Labels::Class(1)));
    assert_eq!(parts[1].times, [0.0, 19.9 - 10.0]);
    assert_eq!(parts[1].values[..2], [2.0, 7.0]);
    assert_eq!(parts[1].observed.as_deref(), Some(&[true, true, false, false][..]));
    assert_eq!(parts[1].withheld.as_deref(), Some(&[false, true, false, false][..]));
    assert_eq!(parts[2].values, [4.0, 7.0]);
    assert_eq!(parts[2].observed.as_deref(), Some(&[true, true][..]));
    assert_eq!(parts[2].withheld.as_deref(), Some(&[true, true][..]));
}

#[test]
fn targets_are_cut_with_their_times() {
    let times = vec![-0.5, 0.0, 0.5, 1.0];
    let mut classes = line("c", times.clone(), vec![0.0; 4]);
    classes.labels = Labels::ClassPerTime(vec![Some(3), None, Some(1), Some(2)]);
    let mut reals = line("r", times, vec![0.0; 4]);
    reals.labels = Labels::RealPerTime { width: 2, values: (0..8).map(|value| value as f32).collect() };
    let cut = table(&["x"], vec![classes, reals]).sampled(windows(1.0));
    assert_eq!(cut.origins, [-1.0, 0.0, 1.0, -1.0, 0.0, 1.0]);
    let targets: Vec<&Labels> = cut.data.series().iter().map(|series| &series.labels).collect();
    assert_eq!(*targets[1], Labels::ClassPerTime(vec![None, Some(1)]));
    assert_eq!(*targets[4], Labels::RealPerTime { width: 2, values: vec![2.0, 3.0, 4.0, 5.0] });
}

#[test]
fn windows_without_alignment_keep_the_times_of_the_user() {
    let made = table(&["x"], vec![line("x", vec![1.0, 2.0, 3.0], vec![0.0; 3])]);
    let cut = made.sampled(Sampling { window: Some(2.0), align: Align::None });
    assert_eq!(cut.origins, [0.0, 0.0]);
    assert_eq!(cut.data.series()[1].times, [2.0, 3.0]);
}

#[test]
fn series_without_times_stay_in_the_table() {
    let made = table(&["x"], vec![line("empty", vec![], vec![]), line("one", vec![5.0], vec![1.0])]);
    let cut = made.sampled(windows(2.0));
    assert_eq!(cut.data.series().len(), 2);
    assert_eq!(cut.data.series()[0].id, "empty");
    assert_eq!(cut.origins, [0.0, 4.0]);
}

fn hourly(series: usize, hours: usize, gap: f64) -> Table {
    let make = |index: usize| {
        let start = 1_262_304_000.0 + index as f64 * 1e6;
        let times = (0..hours).map(|hour| start + hour as f64 * gap).collect();
        line(&format!("s{index}"), times, vec![0.0; hours])
    };
    table(&["x"], (0..series).map(make).collect())
}

#[test]
fn one_long_series_of_dates_is_cut_into_days() {
    let suggested = |gap| Sampling::suggest(&dated(hourly(1, 2000, gap), "UTC"));
    assert_eq!(suggested(3_600.0).sampling, windows(2.0 * DAY));
    assert_eq!(suggested(1_900.0).sampling, windows(2.0 * DAY));
    assert_eq!(suggested(1_000.0).sampling, windows(DAY));
    assert_eq!(suggested(300.0).sampling, windows(4.0 * 3_600.0));
    assert_eq!(suggested(1.0).sampling, windows(60.0));
    assert_eq!(suggested(0.001).sampling, windows(0.05));
    let reasons = suggested(3_600.0).reasons;
    assert_eq!(reasons.len(), 2);
    assert!(reasons[0].starts_with("Windows of 2 days: 1 series with 2000 times"), "{}", reasons[0]);
}

#[test]
fn numbers_are_cut_at_round_ones() {
    let suggested = |gap| Sampling::suggest(&hourly(3, 500, gap)).sampling;
    assert_eq!(suggested(1.0), windows(50.0));
    assert_eq!(suggested(0.1), windows(5.0));
    assert_eq!(suggested(100.0 / 48.0), windows(100.0));
    assert_eq!(suggested(0.0025), windows(0.2));
}

#[test]
fn many_or_short_series_stay_whole() {
    let none = Sampling::default();
    let start = Sampling { window: None, align: Align::Start };
    // Starts a million apart, spans of 500: a common axis would be empty.
    assert_eq!(Sampling::suggest(&hourly(50, 500, 1.0)).sampling, start);
    // From 8 series on, only long ones are cut.
    assert_eq!(Sampling::suggest(&hourly(8, 300, 1.0)).sampling, start);
    assert_eq!(Sampling::suggest(&hourly(8, 401, 1.0)).sampling, windows(50.0));
    assert_eq!(Sampling::suggest(&hourly(40, 401, 1.0)).sampling, start);
    // Too few times to cut, and one axis.
    assert_eq!(Sampling::suggest(&hourly(1, 199, 1.0)).sampling, none);
    assert_eq!(Sampling::suggest(&dated(hourly(1, 199, 1.0), "UTC")).sampling, start);
    // Seven series of 30 times are 210, but shorter than a window.
    assert_eq!(Sampling::suggest(&hourly(7, 30, 1.0)).sampling, start);
    for empty in [table(&["x"], vec![]), table(&["x"], vec![line("e", vec![], vec![])])] {
        assert_eq!(Sampling::suggest(&empty).sampling, none);
    }
}

#[test]
fn a_sampling_is_read_as_it_was_written() {
    for sampling in [Sampling::default(), windows(0.1), windows(2.0 * DAY)] {
        let text = serde_json::to_string(&sampling).unwrap();
        assert_eq!(serde_json::from_str::<Sampling>(&text).unwrap(), sampling);
    }
    assert_eq!(serde_json::from_str::<Sampling>("{}").unwrap(), Sampling::default());
}
