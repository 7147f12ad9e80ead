//! Overviews: the numbers are right, and the text is readable.

mod by_hand;

use by_hand::{dated, line, series, table};
use proptest::prelude::*;
use stroock_series::table::{
    Align, Finding, LabelColumn, Overview, ReadOptions, Sampling, Table, VariableOverview,
};
use stroock_series::{Labels, Series};
use stroock_testing::golden::shared_folder;

/// One series of one variable at the times 0, 1, 2, …
fn column(values: Vec<f64>) -> VariableOverview {
    let times = (0..values.len()).map(|index| index as f64).collect();
    Overview::of(&table(&["x"], vec![line("s", times, values)])).variables.remove(0)
}

/// Numbers without a pattern, in [0, 1).
fn scattered(count: usize) -> Vec<f64> {
    (1..=count).map(|index| (index as f64 * 0.618_033_988_75).fract()).collect()
}

#[test]
fn numbers_are_those_of_the_table() {
    let one = series("a", &[0.0, 1.0, 4.0], &[&[Some(1.0), None], &[None, None], &[Some(3.0), None]]);
    let two = series("b", &[10.0, 10.5], &[&[None, None], &[Some(8.0), None]]);
    let overview = Overview::of(&table(&["x", "y"], vec![one, two, line("empty", vec![], vec![])]));
    assert_eq!((overview.series, overview.times, overview.values), (3, 5, 3));
    assert_eq!(overview.range, Some((0.0, 10.5)));
    let lengths = overview.lengths.unwrap();
    assert_eq!((lengths.min, lengths.median, lengths.max), (0.0, 2.0, 3.0));
    let spans = overview.spans.unwrap();
    assert_eq!((spans.min, spans.median, spans.max), (0.5, 2.25, 4.0));
    let gaps = overview.gaps.unwrap();
    assert_eq!((gaps.min, gaps.median, gaps.max), (0.5, 1.0, 3.0));
    let x = &overview.variables[0];
    assert_eq!((x.count, x.distinct, x.longest_gap), (3, 3, Some(4.0)));
    assert!((x.missing - 0.4).abs() < 1e-12);
    let summary = x.summary.unwrap();
    assert_eq!((summary.min, summary.median, summary.mean, summary.max), (1.0, 3.0, 4.0, 8.0));
    assert!((summary.sd - 13_f64.sqrt()).abs() < 1e-12);
    let y = &overview.variables[1];
    assert_eq!((y.count, y.missing, y.summary), (0, 1.0, None));
    assert_eq!(y.findings, [Finding::NeverObserved]);
    assert_eq!(overview.unobserved, ["empty"]);
}

#[test]
fn quantiles_are_interpolated() {
    let times: Vec<f64> = (0..101).map(|index| f64::from(index * index)).collect();
    let gaps = Overview::of(&table(&["x"], vec![line("s", times, scattered(101))])).gaps.unwrap();
    // Gaps are 1, 3, …, 199.
    assert_eq!((gaps.min, gaps.median, gaps.max), (1.0, 100.0, 199.0));
    assert!((gaps.low - 9.1).abs() < 1e-9 && (gaps.high - 190.9).abs() < 1e-9);
}

#[test]
fn what_is_suspicious_is_found() {
    assert_eq!(column(vec![2.5; 40]).findings, [Finding::Constant { value: 2.5 }]);
    assert_eq!(column((0..40).map(|index| index as f64).collect()).findings, [Finding::CountsUp]);
    let classes = (0..100).map(|index| (index * index % 3) as f64).collect();
    assert_eq!(column(classes).findings, [Finding::FewValues { distinct: 2 }]);
    let mut coded = scattered(100);
    coded[7] = -999.0;
    coded[70] = -999.0;
    assert_eq!(column(coded).findings, [Finding::MissingCode { value: -999.0, count: 2 }]);
    let mut coded = scattered(100);
    coded[7] = 9999.0;
    coded[70] = 9999.0;
    assert_eq!(column(coded).findings, [Finding::MissingCode { value: 9999.0, count: 2 }]);
    let mut wild = scattered(100);
    wild.iter_mut().for_each(|value| *value -= 0.5);
    wild[3] = -44.0;
    assert_eq!(column(wild).findings, [Finding::Outliers { count: 1, farthest: -44.0 }]);
    let heavy = scattered(1000).iter().map(|value| (1.0 - value).powf(-0.45)).collect();
    assert!(matches!(column(heavy).findings[..], [.., Finding::Logarithm { .. }]));
    // Logarithms of squares are as skewed to the other side.
    let curved = scattered(1000).iter().map(|value| value.powi(2)).collect();
    assert_eq!(column(curved).findings, []);
    // Most are zero, with and without a logarithm.
    let rare = scattered(1000).iter().map(|value| if *value < 0.97 { 0.0 } else { *value }).collect();
    assert!(matches!(column(rare).findings[..], [Finding::Skewed { .. }]));
}

#[test]
fn what_is_ordinary_is_not_suspicious() {
    assert_eq!(column(scattered(500)).findings, []);
    assert_eq!(column(scattered(500).iter().map(|value| -value.ln()).collect()).findings, []);
    assert_eq!(column((0..500).map(|index| (index * 7 % 100) as f64).collect()).findings, []);
    assert_eq!(column(vec![1.0]).findings, []);
    assert_eq!(column(vec![1.0, 2.0]).findings, []);
}

#[test]
fn what_never_changes_within_a_series_may_be_static() {
    let age = |id: &str, age| line(id, vec![0.0, 1.0, 2.0], vec![age; 3]);
    let overview = Overview::of(&table(&["age"], vec![age("a", 61.5), age("b", 40.0)]));
    assert_eq!(overview.variables[0].findings, [Finding::ConstantInSeries]);
}

#[test]
fn copies_of_a_series_are_found_whatever_hides_behind_missing_values() {
    let cells: &[&[Option<f64>]] = &[&[Some(1.0), None], &[None, Some(2.0)]];
    let one = series("one", &[0.0, 1.0], cells);
    let mut copy = series("copy", &[0.0, 1.0], cells);
    copy.values[1] = 77.0; // not observed
    let other = series("other", &[0.0, 1.0], &[&[Some(1.0), Some(0.0)], &[None, Some(2.0)]]);
    let later = series("later", &[5.0, 6.0], cells);
    let unseen = |id| series(id, &[0.0], &[&[None, None]]);
    let made = table(&["x", "y"], vec![one, other, copy, later, unseen("u"), unseen("v")]);
    assert_eq!(Overview::of(&made).alike, [["one", "copy"]]);
    // Counted from their starts, the shifted one is a copy as well.
    let aligned = made.sampled(Sampling { window: None, align: Align::Start });
    assert_eq!(Overview::of(&aligned).alike, [["one", "copy", "later"]]);
}

#[test]
fn static_variables_count_series() {
    let one = series("a", &[0.0, 1.0], &[&[Some(50.0)], &[None]]);
    let two = series("b", &[0.0, 1.0], &[&[None], &[None]]);
    let age = &Overview::of(&table(&["*age"], vec![one, two])).variables[0];
    assert_eq!((age.count, age.missing, age.longest_gap), (1, 0.5, None));
}

fn labelled(classes: &[Option<u32>], per_time: bool) -> Overview {
    let labels = |class: &Option<u32>| match class {
        _ if per_time => Labels::ClassPerTime(vec![*class, Some(0)]),
        Some(class) => Labels::Class(*class),
        None => Labels::None,
    };
    let make = |class| Series { labels: labels(class), ..line("s", vec![0.0, 1.0], vec![1.0, 2.0]) };
    let mut made = table(&["x"], classes.iter().map(make).collect());
    made.classes = vec!["alive".into(), "died".into()];
    made.columns.label = Some(LabelColumn { column: "outcome".into(), per_time });
    Overview::of(&made)
}

#[test]
fn classes_are_counted() {
    let labels = labelled(&[Some(1), Some(0), None, Some(0)], false).labels.unwrap();
    assert_eq!(labels.classes, [("alive".to_string(), 2), ("died".to_string(), 1)]);
    assert_eq!(labels.unknown, 1);
    let labels = labelled(&[Some(1), None], true).labels.unwrap();
    assert_eq!(labels.classes, [("alive".to_string(), 2), ("died".to_string(), 1)]);
    assert_eq!(labels.unknown, 1);
    let mut classes = vec![Some(0); 30];
    classes[0] = Some(1);
    let text = labelled(&classes, false).text();
    assert!(text.contains("is right in 96.7 % of"), "{text}");
}

/// Patients, with names that a terminal does not like.
fn patients() -> Table {
    let names = [
        "heart rate",
        "Körpertemperatur in Grad Celsius, rektal gemessen, nach der Visite und vor dem Essen",
        "血圧",
        "line\nbreak\tand tab",
        "*age",
    ];
    let make = |patient: usize| {
        let count = 5 + patient * 7 % 11;
        let times: Vec<f64> = (0..count).map(|index| index as f64 * 0.7 + patient as f64 * 0.01).collect();
        let values = scattered(count * names.len());
        let observed = (0..count * names.len()).map(|place| match place % names.len() {
            4 => place < names.len(),
            channel => (place / names.len() + patient).is_multiple_of(channel + 1),
        });
        let mut made = line(&format!("patient {patient}"), times, values);
        made.observed = Some(observed.collect());
        made
    };
    let mut made = table(&names, (0..12).map(make).collect());
    made.columns.ignored = vec![("comment".into(), "text".into()), ("ward".into(), "text".into())];
    made.account.skipped = 2;
    made.account.faults = vec!["`ward.csv`, line 7: column `血圧`: `high` is not a number".into()];
    made.account.merged = 3;
    made
}

#[test]
fn text_is_readable() {
    let text = Overview::of(&patients()).text();
    println!("{text}");
    let parts = [
        "12 series: ",
        "2 rows of ",
        "line 7",
        "comment (text)",
        "line break and tab",
        "血圧",
        "age (static)",
        "3 values merged",
        "Hold out a fifth of the 12 series",
    ];
    for part in parts {
        assert!(text.contains(part), "{part}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.lines().all(|line| !line.chars().any(char::is_control)));
}

#[test]
fn many_variables_and_long_numbers_stay_within_the_width() {
    let names: Vec<String> =
        (0..200).map(|index| format!("a long name of a sensor in the plant, number {index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let values = (0..200 * 50).map(|place| (place as f64 - 5e3) * -1.234_567e-20).collect();
    let times = (0..50).map(|index| 1.7e9 + f64::from(index) * 12_345.678).collect();
    let made = dated(table(&names, vec![line("s", times, values)]), "Europe/Vienna");
    let text = Overview::of(&made).text();
    println!("{text}");
    assert!(text.contains("… and 140 more variables"));
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains("(Europe/Vienna)"));
}

#[test]
fn five_years_of_hourly_air_quality() {
    let Some(folder) = shared_folder() else { return };
    let path = folder.join("data/beijing_pm25/PRSA_data_2010.1.1-2014.12.31.csv");
    if !path.exists() {
        eprintln!("SKIPPED: no file at {}", path.display());
        return;
    }
    let table = Table::read(&[path], &ReadOptions::default()).unwrap();
    let overview = Overview::of(&table);
    println!("{}", overview.text());
    assert_eq!((overview.series, overview.times), (1, 43_824));
    let dust = overview.variables.iter().find(|variable| variable.name == "pm2.5").unwrap();
    assert_eq!(dust.count, 43_824 - 2_067);
    assert_eq!(overview.suggestion.sampling.window, Some(2.0 * 86_400.0));
    let windows = table.sampled(overview.suggestion.sampling);
    assert_eq!(windows.data.series().len(), 913);
    assert!(overview.held_out.contains("913 windows"));
    assert!(overview.text().lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn a_small_long_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stays.csv");
    let mut rows = String::from("patient,hours,variable,value,age,outcome\n");
    for patient in 0..40 {
        let outcome = if patient % 5 == 0 { "died" } else { "survived" };
        for step in 0..6 + patient % 9 {
            let measure = ["pulse", "temperature", "lactate"][(step + patient) % 3];
            let value = 20.0 + ((step * 7 + patient * 13) % 50) as f64 / 2.0;
            let hours = step as f64 * 1.25 + patient as f64 / 16.0;
            let age = 40 + patient;
            rows += &format!("p{patient},{hours},{measure},{value},{age},{outcome}\n");
        }
    }
    std::fs::write(&path, rows).unwrap();
    let options =
        ReadOptions { statics: vec!["age".into()], label: Some("outcome".into()), ..ReadOptions::default() };
    let overview = Overview::of(&Table::read(&[path], &options).unwrap());
    println!("{}", overview.text());
    assert_eq!(overview.series, 40);
    assert_eq!(overview.variables.len(), 4);
    assert_eq!(overview.labels.unwrap().classes, [("died".to_string(), 8), ("survived".to_string(), 32)]);
}

#[test]
fn empty_tables_are_described() {
    for made in [table(&["x"], vec![]), table(&[], vec![]), table(&["x"], vec![line("e", vec![], vec![])])] {
        let overview = Overview::of(&made);
        assert!(!overview.text().is_empty());
        serde_json::to_string(&overview).unwrap();
    }
}

proptest! {
    #[test]
    fn any_table_is_described(
        names in proptest::collection::vec("\\PC*|[a-z\\n\\t]{0,60}", 1..5),
        cells in proptest::collection::vec(proptest::option::of(any::<f64>()), 0..60),
        step in 1e-9_f64..1e9,
        is_dated in any::<bool>(),
    ) {
        let channels = names.len();
        let count = cells.len() / channels;
        let cells: Vec<Option<f64>> =
            cells[..count * channels].iter().map(|cell| cell.filter(|value| value.is_finite())).collect();
        let rows: Vec<&[Option<f64>]> = cells.chunks(channels).collect();
        let times: Vec<f64> = (0..count).map(|index| index as f64 * step).collect();
        let names: Vec<&str> = names.iter().map(|name| name.trim_start_matches('*')).collect();
        let mut made = table(&names, vec![series("s", &times, &rows)]);
        if is_dated {
            made = dated(made, "Asia/Shanghai");
        }
        let overview = Overview::of(&made);
        let present = cells.iter().filter(|cell| cell.is_some()).count();
        prop_assert_eq!(overview.values, present);
        prop_assert!(overview.text().lines().all(|line| !line.chars().any(char::is_control)));
        prop_assert!(serde_json::to_string(&overview).is_ok());
    }
}
