//! How long it takes to read a million observations from CSV, in the long form and in the wide one.
//!
//! `cargo run --release -p stroock-series --example read_speed`

use std::fmt::Write;
use std::time::Instant;

use stroock_series::table::{ReadOptions, Table};

const SERIES: usize = 1_000;
const TIMES: usize = 100;
const VARIABLES: usize = 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    for (form, text) in [("long", long()), ("wide", wide(false)), ("wide, with dates", wide(true))] {
        let path = folder.path().join("table.csv");
        std::fs::write(&path, &text)?;
        let options = ReadOptions::default();
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let start = Instant::now();
            let table = Table::read(std::slice::from_ref(&path), &options)?;
            best = best.min(start.elapsed().as_secs_f64());
            assert_eq!(table.account.values, (SERIES * TIMES * VARIABLES) as u64);
        }
        let (observations, size) = (SERIES * TIMES * VARIABLES, text.len() as f64 / 1e6);
        println!("{form}: {observations} observations, {size:.0} MB, {best:.3} s");
    }
    Ok(())
}

/// Some number with a few digits.
fn value(series: usize, time: usize, variable: usize) -> f64 {
    ((series * 7919 + time * 104_729 + variable * 1299) % 100_003) as f64 / 1000.0
}

fn long() -> String {
    let mut text = "id,time,variable,value\n".to_owned();
    for (series, time, variable) in indices() {
        let value = value(series, time, variable);
        let _ = writeln!(text, "patient {series},{},variable {variable},{value}", time as f64 * 0.25);
    }
    text
}

fn wide(dates: bool) -> String {
    let mut text = "id,time".to_owned();
    (0..VARIABLES).for_each(|variable| text.push_str(&format!(",variable {variable}")));
    for (series, time, variable) in indices() {
        if variable == 0 {
            let _ = match dates {
                true => write!(text, "\npatient {series},2024-01-{:02} {:02}:00", 1 + time / 24, time % 24),
                false => write!(text, "\npatient {series},{}", time as f64 * 0.25),
            };
        }
        let _ = write!(text, ",{}", value(series, time, variable));
    }
    text
}

fn indices() -> impl Iterator<Item = (usize, usize, usize)> {
    (0..SERIES * TIMES * VARIABLES).map(|i| (i / VARIABLES / TIMES, i / VARIABLES % TIMES, i % VARIABLES))
}
