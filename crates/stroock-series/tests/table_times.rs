//! Times of tables: numbers, clocks, and dates.

mod text;

use stroock_series::table::{DateFormat, ReadOptions, TimeScale};
use text::{assert_says, read_with, some};

#[test]
fn times_are_dates_in_a_zone_or_clocks_or_parts() {
    let times = |content: &str, options: &ReadOptions| {
        let table = read_with(content, options).unwrap();
        (table.data.series()[0].times.clone(), table.time)
    };
    let utc = TimeScale::date("UTC");
    let default = ReadOptions::default();
    let content =
        "date,x\n1970-01-02,1\n1970-01-01T00:00:01.25Z,1\n1970/01/01 02:00,1\n1970-01-01 04:00+01:00,1\n";
    assert_eq!(times(content, &default), (vec![1.25, 7200.0, 10_800.0, 86_400.0], utc.clone()));
    let vienna = ReadOptions { time_zone: some("Europe/Vienna"), ..ReadOptions::default() };
    let (read, scale) = times("date,x\n2024-07-01 12:00,1\n2024-03-31 02:30,1\n", &vienna);
    assert_eq!(scale.write(read[1]), "2024-07-01T12:00:00+02:00");
    // Clocks skip half past two on that day.
    assert_eq!(scale.write(read[0]), "2024-03-31T03:30:00+02:00");
    assert_eq!(times("Time,x\n00:30,1\n47:15,2\n", &default), (vec![0.5, 47.25], TimeScale::Number));
    assert_eq!(times("year,month,day,hour,x\n1970,1,2,1,5\n", &default), (vec![90_000.0], utc.clone()));
    assert_eq!(times("date,time,x\n1970-01-01,1:30,5\n", &default), (vec![5400.0], utc));
    let years = TimeScale::Date { zone: "UTC".into(), format: DateFormat::Year, calendar: None };
    assert_eq!(times("year,x\n1971,5\n", &default), (vec![31_536_000.0], years));
    assert_eq!(times("year,x\n0.5,5\n", &default), (vec![0.5], TimeScale::Number));
    assert_says(text::read("year,month,day,x\n2024,2,1,0\n2024,2,30,1\n"), &["line 3", "2024,2,30"]);
    assert_says(
        text::read("date,x\n2024-02-01,0\n2024-02-30,1\n"),
        &["line 3", "2024-02-30", "a date such as"],
    );
    let nowhere = ReadOptions { time_zone: some("Mars/Base"), ..ReadOptions::default() };
    assert_says(read_with("date,x\n2024-02-01,0\n", &nowhere), &["no time zone `Mars/Base`"]);
}

#[test]
fn times_and_lengths_are_written_as_they_are_read() {
    let date = TimeScale::date("Asia/Kolkata");
    for time in [0.0, 1_700_000_000.0, 1_700_000_000.125, -86_400.5] {
        assert_eq!(date.parse(&date.write(time)), Some(time));
        assert_eq!(TimeScale::Number.parse(&TimeScale::Number.write(time)), Some(time));
    }
    assert_eq!(date.write(0.0), "1970-01-01T05:30:00+05:30");
    let lengths = [("90s", 90.0), ("15min", 900.0), ("6h", 21_600.0), ("2 d", 172_800.0), ("1w", 604_800.0)];
    for (text, length) in lengths {
        assert_eq!(date.parse_length(text), Some(length));
        assert_eq!(date.parse_length(&date.write_length(length)), Some(length));
        assert_eq!(TimeScale::Number.parse_length(text), None);
    }
    assert_eq!(date.parse_length("30"), Some(30.0));
    assert_eq!(
        (date.parse_length("h"), date.parse_length("3 moons"), date.parse_length("")),
        (None, None, None)
    );
    assert_eq!(date.write_length(5400.0), "1.5 h");
    assert_eq!(TimeScale::Number.write_length(0.1 + 0.2), "0.3");
    assert_eq!(
        (TimeScale::Number.write(1e300), TimeScale::Number.write(0.1)),
        ("1e300".into(), "0.1".into())
    );
    assert_eq!((date.unit(), TimeScale::Number.unit()), ("s", ""));
    assert_eq!(date.write(f64::NAN), "NaN");
}

#[test]
fn local_mean_times_of_old_are_written_such_that_they_are_read_again() {
    // Vienna was 1 h 5 min 21 s ahead until 1893, which no offset by RFC 3339 can say.
    let scale = TimeScale::date("Europe/Vienna");
    let time = scale.parse("1850-03-01 12:00").unwrap();
    assert_eq!(scale.write(time), "1850-03-01T10:54:39Z");
    assert_eq!(scale.parse(&scale.write(time)), Some(time));
}

#[test]
fn days_that_cannot_be_read_without_separators_are_written_with_them() {
    let scale = TimeScale::Date { zone: "UTC".into(), format: DateFormat::Yyyymmdd, calendar: None };
    assert_eq!(scale.write(scale.parse("22991231").unwrap()), "22991231");
    let time = scale.parse("2314-01-01").unwrap();
    assert_eq!(scale.write(time), "2314-01-01T00:00:00Z");
    assert_eq!(scale.parse(&scale.write(time)), Some(time));
}
