//! Tables in many files that take more memory than they may: the same answers from a temporary file.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn stroock(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stroock")).args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Both outputs of a command that must succeed.
fn done(arguments: &[&str], folder: &Path) -> [String; 2] {
    let output = stroock(arguments, folder);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    [text(&output.stdout), text(&output.stderr)]
}

/// 400 000 rows in four files, which take more than an eighth of 64 MB; the rows of every series are in all files. One in
/// a thousand has a gap.
fn many_rows(folder: &Path) {
    fs::create_dir(folder.join("parts")).unwrap();
    for file in 0..4 {
        let mut rows = String::from("sensor,hour,load\n");
        for row in 0..100_000_u32 {
            let (sensor, hour) = (row % 500, f64::from(file * 200 + row / 500) * 0.05);
            let load = (hour + f64::from(sensor)).sin();
            match row % 1000 {
                77 => writeln!(rows, "m{sensor},{hour:.2},"),
                _ => writeln!(rows, "m{sensor},{hour:.2},{load:.3}"),
            }
            .unwrap();
        }
        fs::write(folder.join(format!("parts/{file}.csv")), rows).unwrap();
    }
}

#[test]
fn a_limit_of_memory_changes_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    many_rows(folder);
    let little = ["--memory", "64MB"];
    let [plain, _] = done(&["describe", "parts"], folder);
    let [limited, _] = done(&[&["describe", "parts/*.csv"], &little[..]].concat(), folder);
    // Different values beyond four thousand are estimated, and `load` has fewer.
    assert_eq!(limited, plain);
    assert!(plain.contains("500 series: 400000 rows in 4 files"), "{plain}");

    fs::write(folder.join("few.csv"), few()).unwrap();
    let fit =
        ["fit", "few.csv", "--out", "run", "--epochs", "1", "--set", "training.seed=3", "--window", "none"];
    done(&fit, folder);
    let impute = ["impute", "run", "parts", "--draws", "8"];
    let [plain, _] = done(&[&impute[..], &["--output", "plain.csv"]].concat(), folder);
    assert_eq!(plain, "");
    let outputs = [&impute[..], &["--output", "limited.csv"], &little[..]].concat();
    let [_, said] = done(&outputs, folder);
    assert!(said.contains("temporary file") && said.contains("400 rows written"), "{said}");
    let [plain, limited] = ["plain.csv", "limited.csv"].map(|file| fs::read(folder.join(file)).unwrap());
    assert!(plain == limited, "filled gaps differ");
    let [printed, _] = done(&[&impute[..], &little[..]].concat(), folder);
    assert_eq!(printed.as_bytes(), plain);
    // Nothing is left behind.
    let mut left: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    left.sort();
    assert_eq!(left, ["few.csv", "limited.csv", "parts", "plain.csv", "run"]);
}

/// A small table of the same kind.
fn few() -> String {
    let mut rows = String::from("sensor,hour,load\n");
    for row in 0..1200_u32 {
        let (sensor, hour) = (row % 60, f64::from(row / 60) * 1.5);
        writeln!(rows, "m{sensor},{hour},{:.3}", (hour + f64::from(sensor)).sin()).unwrap();
    }
    rows
}

#[test]
fn limits_and_places_that_are_none_are_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("sensors.csv"), few()).unwrap();
    for (arguments, parts) in [
        (vec!["describe", "sensors.csv", "--memory", "much"], vec!["--memory", "2GB"]),
        (vec!["describe", "sensors.csv", "--memory", "1MB"], vec!["64MB"]),
        (vec!["describe", "nothing-*.csv"], vec!["nothing-*.csv", "no table"]),
        (vec!["describe", "."], vec![]),
    ] {
        let output = stroock(&arguments, folder.path());
        let said = text(&output.stderr);
        assert_eq!(output.status.success(), parts.is_empty(), "{arguments:?}: {said}");
        assert!(parts.iter().all(|part| said.contains(part)), "{arguments:?}: {said}");
    }
}
