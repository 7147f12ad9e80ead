//! Dates, numbers and lengths of time as people write them.

use stroock_series::table::{CalendarStep, DateFormat, TimeScale};

const ZONES: [&str; 6] = ["UTC", "Europe/Vienna", "America/St_Johns", "+05:45", "Z", "-23:59:59"];

const FIRST_OF_YEAR_ONE: f64 = -62_135_596_800.0;

/// The first byte says how times are written, the rest is a time; or, as a text of its own, the name of a zone.
pub fn run(data: &[u8]) {
    let Some((&choice, text)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let _ = TimeScale::Number.parse(text);
    let _ = TimeScale::Number.parse_length(text);
    let _ = TimeScale::date(text).parse("2024-01-31 14:05");
    let format = DateFormat::ALL[usize::from(choice) % DateFormat::ALL.len()];
    let zone = ZONES[usize::from(choice) / DateFormat::ALL.len() % ZONES.len()];
    let calendar = (choice >= 128).then_some(CalendarStep { months: 1, month_end: choice >= 192 });
    let scale = TimeScale::Date { zone: zone.into(), format, calendar };
    if let Some(length) = scale.parse_length(text) {
        let _ = scale.write_length(length);
        let _ = scale.write(length);
    }
    let Some(time) = scale.parse(text) else { return };
    assert!(time.is_finite(), "{text:?} is no time");
    for steps in [0, 1, -1, i32::MAX, i32::MIN] {
        let _ = scale.calendar_steps_after(time, steps);
    }
    // Whoever lives east of Greenwich begins the year 0 in a year before it, which is not read.
    if time < FIRST_OF_YEAR_ONE {
        return;
    }
    // What is written is read as the same time again, to the microsecond that is written and the rounding of a number.
    let slack = 1.5e-6 + 4.0 * f64::EPSILON * time.abs();
    let written = scale.write(time);
    match scale.parse(&written) {
        Some(again) => {
            assert!((again - time).abs() <= slack, "{text:?} -> {time} -> {written:?} -> {again}")
        }
        None => panic!("{text:?} -> {time} -> {written:?}, which cannot be read"),
    }
}
