//! The figures of README's table of one's own series, against the records they are taken from.
//!
//! `scripts/measure-tables` measures both tables anew and replaces the records in `results/tables`; this test then says
//! which cells of README.md have to be changed, and to what.

use std::path::{Path, PathBuf};

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn record(name: &str) -> Value {
    let path = root().join("results/tables").join(name);
    serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The cells of README's row about a table.
fn row(name: &str) -> Vec<String> {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let line =
        readme.lines().find(|line| line.starts_with(&format!("| {name}"))).expect("the table has a row");
    line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
}

/// A number of so many digits as the cell has, and what follows it.
fn like(cell: &str, value: f64) -> String {
    let (digits, unit) = cell.split_once(' ').map_or((cell, String::new()), |(d, u)| (d, format!(" {u}")));
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    format!("{value:.decimals$}{unit}")
}

fn baseline(scores: &Value, name: &str) -> f64 {
    let all = scores["baselines"].as_array().unwrap();
    number(&all.iter().find(|baseline| baseline["name"] == name).unwrap()["mse"])
}

#[test]
fn the_figures_of_the_readme_are_those_of_the_records() {
    for (name, file) in [("Beijing", "beijing.json"), ("PhysioNet", "physionet.json")] {
        let (cells, record) = (row(name), record(file));
        let (data, overall) = (&record["data"], &record["scores"]["overall"]);
        let held_out = &record["held_out"]["hold_out"];
        assert_eq!(held_out["kind"], "blocks", "{file}");
        assert_eq!((number(&held_out["share"]), number(&held_out["length"])), (0.2, 6.0), "{file}");
        assert!(
            number(&data["tested"]) < number(&data["series"]),
            "{file}: tested on series of the training"
        );
        assert!(cells[0].ends_with(&format!("{} variables", data["variables"])), "{cells:?}");
        let covered = overall["coverage"].as_array().unwrap().iter().find(|pair| pair[0] == 0.9).unwrap();
        let found = [
            number(&overall["mse"]),
            baseline(overall, "straight lines"),
            baseline(overall, "training mean"),
            100.0 * number(&covered[1]),
            (number(&record["training_seconds"]) / 60.0).max(1.0),
        ];
        let expected: Vec<String> =
            cells[1..].iter().zip(found).map(|(cell, value)| like(cell, value)).collect();
        assert_eq!(cells[1..], expected, "{name}: README.md on the left, {file} on the right");
    }
    let beijing = record("beijing.json");
    assert!(
        row("Beijing")[0].contains("43 824 hours") && beijing["data"]["times"] == 43_824,
        "{}",
        beijing["data"]
    );
    let physionet = record("physionet.json");
    assert!(row("PhysioNet")[0].contains("8 000 stays") && physionet["data"]["series"] == 8000);
}
