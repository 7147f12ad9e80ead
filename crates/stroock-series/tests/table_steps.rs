//! Steps along the calendar.

use stroock_series::table::{Step, TimeScale};

fn dates(zone: &str, texts: &[&str]) -> (TimeScale, Vec<f64>) {
    let scale = TimeScale::date(zone);
    let times = texts.iter().map(|text| scale.parse(text).unwrap()).collect();
    (scale, times)
}

#[test]
fn months_quarters_and_years_are_found_and_followed() {
    for (texts, count, next) in [
        (&["2023-11-01", "2023-12-01", "2024-01-01"][..], 1, "2024-02-01T00:00:00Z"),
        (&["2023-03-15", "2023-06-15", "2023-12-15"], 3, "2024-03-15T00:00:00Z"),
        (&["1999-01-01", "2000-01-01", "2001-01-01"], 12, "2002-01-01T00:00:00Z"),
    ] {
        let (scale, times) = dates("UTC", texts);
        let step = Step::usual([&times[..]], &scale).unwrap();
        assert_eq!(step, Step::Months { count, last_day: false });
        assert_eq!(scale.write(step.after(&scale, *times.last().unwrap(), 1)), next);
        let places: Vec<f64> = times.iter().map(|&time| step.place(&scale, time)).collect();
        assert!(places.windows(2).all(|pair| (pair[1] - pair[0]).fract().abs() < 1e-9), "{places:?}");
    }
}

#[test]
fn days_keep_their_hour_when_the_clocks_are_turned() {
    let (scale, times) = dates("Europe/Vienna", &["2024-03-28", "2024-03-29", "2024-03-30"]);
    let step = Step::usual([&times[..]], &scale).unwrap();
    assert_eq!(step, Step::Days(1));
    assert_eq!(scale.write(step.after(&scale, times[2], 2)), "2024-04-01T00:00:00+02:00");
    assert_eq!(step.place(&scale, step.after(&scale, times[2], 5)) - step.place(&scale, times[2]), 5.0);
    assert_eq!(step.calendar_periods(&scale), [7.0, 365.25]);
}

#[test]
fn other_times_have_lengths() {
    let (scale, hours) = dates("UTC", &["2024-01-01 00:00", "2024-01-01 01:00", "2024-01-01 02:00"]);
    assert_eq!(Step::usual([&hours[..]], &scale), Some(Step::Length(3600.0)));
    assert_eq!(Step::Length(3600.0).calendar_periods(&scale), [24.0, 168.0, 8766.0]);
    assert_eq!(Step::usual([&[1.0, 2.0, 4.0][..]], &TimeScale::Number), Some(Step::Length(2.0)));
    assert_eq!(Step::usual([&[1.0][..]], &TimeScale::Number), None);
    // Beyond the calendar.
    assert!(Step::Days(1).after(&scale, 1e17, 3).is_finite());
}
