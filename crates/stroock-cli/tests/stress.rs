//! Numbers at the edges: the right answer or a sentence, never a panic, and nothing that is no number.

use std::fmt::Write;
use std::fs;
use std::path::Path;

mod command;

use command::{done, refused};

/// Twelve series of two variables at their own times, with times and values multiplied by factors.
fn waves(time: f64, values: [f64; 2]) -> String {
    let mut table = String::from("id,time,a,b\n");
    for series in 0..12 {
        for row in 0..14 {
            let t = f64::from(row) + f64::from((series * 7 + row * 3) % 8) / 16.0;
            let (a, b) = ((0.7 * t + f64::from(series)).sin(), (0.4 * t).cos());
            writeln!(table, "s{series},{},{},{}", t * time, a * values[0], b * values[1]).unwrap();
        }
    }
    table
}

/// A table of one column beside a wave.
fn beside_a_wave(value: impl Fn(usize) -> String) -> String {
    let mut table = String::from("id,time,a,b\n");
    for row in 0..12 * 14 {
        let t = f64::from(row as u32 % 14);
        writeln!(table, "s{},{t},{},{}", row / 14, value(row), (0.4 * t).cos()).unwrap();
    }
    table
}

/// Fits a table, fills gaps, and gives the error in standard deviations and all predicted means of `a`.
fn fitted(name: &str, table: &str, at: &Path) -> (f64, Vec<f64>) {
    let file = format!("{name}.csv");
    fs::write(at.join(&file), table).unwrap();
    let (said, _) = done(&["fit", &file, "--out", name, "--epochs", "2"], at);
    assert!(!said.contains("NaN") && !said.contains("inf "), "{name}: {said}");
    let metrics = fs::read_to_string(at.join(name).join("metrics.jsonl")).unwrap();
    assert!(!metrics.contains("NaN") && !metrics.contains("null"), "{name}: {metrics}");
    let error = said.split("standard deviation: ").nth(1).and_then(|rest| rest.split(' ').next());
    let error: f64 = error.unwrap_or_else(|| panic!("{name}: {said}")).parse().unwrap();
    let time = table.lines().nth(3).unwrap().split(',').nth(1).unwrap();
    let (filled, _) = done(&["impute", name, &file, "--at", time], at);
    let rows: Vec<Vec<&str>> = filled.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert!(rows.len() >= 24, "{name}: {filled}");
    for row in &rows {
        let numbers: Vec<f64> = row[3..].iter().map(|cell| cell.parse().unwrap()).collect();
        assert!(numbers.iter().all(|number| number.is_finite()), "{name}: {row:?}");
    }
    let means = rows.iter().filter(|row| row[2] == "a").map(|row| row[3].parse().unwrap()).collect();
    (error, means)
}

/// Relative to the largest of the expected ones.
fn assert_close(what: &str, actual: &[f64], expected: &[f64], tolerance: f64) {
    let scale = expected.iter().fold(0.0, |scale: f64, x| scale.max(x.abs()));
    for (actual, expected) in actual.iter().zip(expected) {
        assert!((actual - expected).abs() <= tolerance * scale, "{what}: {actual} is not {expected}");
    }
}

#[test]
fn units_of_times_and_values_do_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (error, means) = fitted("plain", &waves(1.0, [1.0, 1.0]), at);
    // From nanoseconds to centuries, and from 1e-30 to 1e30, by powers of two: the digits are the same.
    let small = 2f64.powi(-100);
    for (name, time, values) in [
        ("nanoseconds", 2f64.powi(-30), [1.0, 1.0]),
        ("centuries", 2f64.powi(32), [1.0, 1.0]),
        ("tiny", 1.0, [small, small]),
        ("huge", 1.0, [1.0 / small, 1.0 / small]),
        ("both", 1.0, [small, 1.0 / small]),
    ] {
        let (other, moved) = fitted(name, &waves(time, values), at);
        assert!((other - error).abs() <= 0.02 * error, "{name}: {other} instead of {error}");
        let moved: Vec<f64> = moved.into_iter().map(|mean| mean / values[0]).collect();
        assert_close(name, &moved, &means, 0.02);
    }
}

#[test]
fn times_of_all_sizes_in_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = String::from("id,time,a,b\n");
    for row in 0..12 * 16 {
        let t = 10f64.powf(-9.0 + 1.2 * f64::from(row % 16));
        writeln!(table, "s{},{t:e},{},{}", row / 16, t.ln().sin(), t.ln().cos()).unwrap();
    }
    fitted("mixed", &table, folder.path());
}

#[test]
fn constant_and_nearly_constant_columns() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for constant in ["5", "0", "-1e30", "1e-30"] {
        let name = format!("constant{constant}");
        let (_, means) = fitted(&name, &beside_a_wave(|_| constant.into()), at);
        assert_close(&name, &means, &vec![constant.parse().unwrap(); means.len()], 1e-12);
    }
    let noise = |row: usize| (row * 7 % 11) as f64 / 11.0;
    let (_, means) = fitted("nearly", &beside_a_wave(|row| format!("{:?}", 1e6 + 1e-7 * noise(row))), at);
    assert!(means.iter().all(|mean| (1e6 - 1e-7..1e6 + 2e-7).contains(mean)), "{means:?}");
    let once = |row: usize| if row == 40 { "5.0000001".into() } else { "5".to_owned() };
    let (_, means) = fitted("once", &beside_a_wave(once), at);
    assert!(means.iter().all(|mean| (mean - 5.0).abs() < 2e-7), "{means:?}");
}

#[test]
fn values_beyond_all_scales_are_refused_before_there_is_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("large.csv"), beside_a_wave(|row| format!("{}e308", row % 2))).unwrap();
    let said = refused(&["fit", "large.csv", "--out", "run"], 1, at);
    assert!(said.contains("the values of `a` are too large"), "{said}");
    assert!(!at.join("run").exists(), "nothing is in the way of the next try");
    fs::write(at.join("empty.csv"), "id,time,a\n0,1,\n1,2,\n").unwrap();
    let said = refused(&["fit", "empty.csv", "--out", "run", "--variables", "a"], 1, at);
    assert!(said.contains("there is no value to learn from"), "{said}");
    assert!(!at.join("run").exists());
}

#[test]
fn duplicated_series() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut table = String::from("id,time,a\n");
    for row in 0..12 * 14 {
        writeln!(table, "s{},{},{}", row / 14, row % 14, f64::from(row % 14).sin()).unwrap();
    }
    fs::write(at.join("same.csv"), table).unwrap();
    let (described, _) = done(&["describe", "same.csv"], at);
    assert!(described.contains("11 of 12 series repeat another one value by value"), "{described}");
    done(&["fit", "same.csv", "--out", "run", "--epochs", "2"], at);
}

#[test]
fn one_observation() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("one.csv"), "id,time,a\nonly,1,3.5\n").unwrap();
    done(&["describe", "one.csv"], at);
    for (task, out) in [("impute", "gaps"), ("forecast", "ahead")] {
        let arguments = ["fit", "one.csv", "--task", task, "--out", out, "--epochs", "1"];
        let (said, _) = done(&arguments, at);
        let sentence =
            "There are no scores and no report: nothing can be held out: no series has two values.";
        assert!(said.contains(sentence) && said.contains("The model: "), "{said}");
    }
    let (filled, _) = done(&["impute", "gaps", "one.csv", "--at", "1"], at);
    let mean: f64 = filled.lines().nth(1).unwrap().split(',').nth(3).unwrap().parse().unwrap();
    assert!((mean - 3.5).abs() < 1e-6, "{filled}");
}

#[test]
fn a_thousand_channels() {
    // Ten thousand take ten times as long: `scripts/stress`.
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let channels = 1000;
    let mut table = String::from("id,time");
    (0..channels).for_each(|channel| write!(table, ",c{channel}").unwrap());
    for row in 0..12 * 6 {
        write!(table, "\ns{},{}", row / 6, row % 6).unwrap();
        for channel in 0..channels {
            write!(table, ",{:.3}", (f64::from(row) + 0.01 * f64::from(channel)).sin()).unwrap();
        }
    }
    fs::write(at.join("wide.csv"), table).unwrap();
    let (described, _) = done(&["describe", "wide.csv"], at);
    assert!(described.contains("940 more variables"), "{described}");
    done(&["fit", "wide.csv", "--out", "run", "--epochs", "1"], at);
    let size = fs::metadata(at.join("run/model.safetensors")).unwrap().len();
    assert!(size < 20 << 20, "a model of {size} bytes");
    let (sampled, _) = done(&["sample", "run", "--count", "1"], at);
    assert!(sampled.lines().count() > 1 && !sampled.contains("NaN"));
}

#[test]
fn a_million_series() {
    // Of a point or two each; `scripts/stress` also fits a model to them.
    let folder = tempfile::tempdir().unwrap();
    let mut table = String::from("id,time,a\n");
    for series in 0..1_000_000 {
        writeln!(table, "{series},{},{}", series % 17, series % 1009).unwrap();
        if series % 2 == 0 {
            writeln!(table, "{series},{},{}", 17 + series % 5, series % 13).unwrap();
        }
    }
    fs::write(folder.path().join("many.csv"), table).unwrap();
    let (described, _) = done(&["describe", "many.csv"], folder.path());
    assert!(described.starts_with("1000000 series: 1500000 rows"), "{described}");
}

#[test]
fn training_that_diverges() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("waves.csv"), waves(1.0, [1.0, 1.0])).unwrap();
    done(&["fit", "waves.csv", "--out", "run", "--epochs", "1"], at);
    let model = fs::read(at.join("run/model.safetensors")).unwrap();
    let wild = ["--set", "training.rate=1e30"];
    let said = refused(&[&["fit", "--out", "run", "--resume", "--epochs", "5"][..], &wild].concat(), 1, at);
    assert!(said.contains("in epoch 2, batch 1") && said.contains("series `s"), "{said}");
    assert!(said.contains("model") && said.contains("is kept. A smaller learning rate"), "{said}");
    assert!(fs::read(at.join("run/model.safetensors")).unwrap() == model);
    done(&["impute", "run", "waves.csv"], at);
    // It goes on from the last good state.
    let tame = ["--set", "training.rate=0.001"];
    done(&[&["fit", "--out", "run", "--resume", "--epochs", "2"][..], &tame].concat(), at);
    // Where nothing good came before, that is said as well, and nothing is there that looks like a model.
    let said = refused(&[&["fit", "waves.csv", "--out", "lost"][..], &wild].concat(), 1, at);
    assert!(said.contains("in epoch 1") && said.contains("series `s"), "{said}");
    assert!(!at.join("lost/model.safetensors").exists());
}
