//! One's own tables, from the first look to the report, as a user has it.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

mod sensors;

use sensors::sensors;
use stroock::estimator::{Goal, Model};
use stroock::series::table::{ReadOptions, Table};

fn stroock(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stroock")).args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Standard output of a command that must succeed.
fn done(arguments: &[&str], folder: &Path) -> String {
    let output = stroock(arguments, folder);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn lines(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(',').collect()).collect()
}

const COMMANDS: [&str; 8] =
    ["describe", "fit", "impute", "forecast", "classify", "sample", "evaluate", "report"];

/// The examples in the help of a command, as they are printed.
fn examples(command: &str, folder: &Path) -> Vec<String> {
    let help = done(&[command, "--help"], folder);
    let examples = help.split_once("Example").expect("there are examples").1;
    let lines = examples.lines().map(str::trim).filter(|line| line.contains("stroock "));
    lines.map(str::to_owned).collect()
}

#[test]
fn examples_of_the_help_work_as_printed() {
    let folder = tempfile::tempdir().unwrap();
    let table = sensors(40);
    std::fs::write(folder.path().join("sensors.csv"), &table).unwrap();
    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    zipped.write_all(table.as_bytes()).unwrap();
    std::fs::write(folder.path().join("sensors.csv.gz"), zipped.finish().unwrap()).unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_stroock")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    for command in COMMANDS {
        let examples = examples(command, folder.path());
        assert!(!examples.is_empty(), "{command} has no example");
        for example in examples {
            let output = Command::new("sh")
                .args(["-c", &example])
                .env("PATH", &path)
                .current_dir(folder.path())
                .output()
                .unwrap();
            assert_eq!(output.status.code(), Some(0), "{example}: {}", text(&output.stderr));
        }
    }
    for file in ["filled.csv", "ahead.csv", "classes.csv", "samples.csv", "run/report.html"] {
        let length = std::fs::metadata(folder.path().join(file)).unwrap().len();
        assert!(length > 100, "{file} has {length} bytes");
    }
    // What was learnt about classes that are plain to see.
    let classes = std::fs::read_to_string(folder.path().join("classes.csv")).unwrap();
    let rows = lines(&classes);
    assert_eq!(rows[0][..2], ["sensor", "class"]);
    assert_eq!(rows.len(), 41);
    let right = rows[1..].iter().filter(|row| row[1] == sensors::state(row[0])).count();
    assert!(right >= 36, "{right} of 40 classes are right");
}

#[test]
fn predictions_are_about_the_gaps_and_in_the_units_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("sensors.csv"), sensors(12)).unwrap();
    let fitted = done(&["fit", "sensors.csv", "--out", "run", "--epochs", "30", "--json"], at);
    let results: serde_json::Value = serde_json::from_str(&fitted).unwrap();
    assert_eq!(results["epochs"], 30);
    assert!(results["evaluation"]["overall"]["mse"].as_f64().unwrap() > 0.0);

    let gaps = sensors(12)
        .lines()
        .skip(1)
        .flat_map(|line| line.split(',').skip(3).collect::<Vec<_>>())
        .filter(|cell| cell.is_empty())
        .count();
    let filled = done(&["impute", "run", "sensors.csv", "--quantiles", "0.1,0.9", "--samples", "2"], at);
    let rows = lines(&filled);
    assert_eq!(rows[0], ["sensor", "hour", "variable", "mean", "sd", "q0.1", "q0.9", "sample_1", "sample_2"]);
    assert_eq!(rows.len() - 1, gaps);
    for row in &rows[1..] {
        let numbers: Vec<f64> = row[3..].iter().map(|cell| cell.parse().unwrap()).collect();
        assert!(numbers[1] > 0.0 && numbers[2] < numbers[3], "{row:?}");
        // The pressure of the sensors is about 1 000.
        assert_eq!(row[2] == "pressure", numbers[0] > 500.0, "{row:?}");
    }
    assert_eq!(
        filled,
        done(&["impute", "run", "sensors.csv", "--quantiles", "0.1,0.9", "--samples", "2"], at)
    );

    // The wide form keeps every value that was there.
    let wide = done(&["impute", "run", "sensors.csv", "--wide"], at);
    let (wide, given) = (lines(&wide), sensors(12));
    let given = lines(&given);
    assert_eq!(wide.len(), given.len());
    assert_eq!(wide[0], given[0]);
    for (filled, row) in wide.iter().zip(&given).skip(1) {
        assert_eq!(filled[..3], row[..3]);
        for (value, cell) in filled[3..].iter().zip(&row[3..]) {
            assert!(value.parse::<f64>().is_ok() && (cell.is_empty() || value == cell), "{filled:?}");
        }
    }
    // So do new values that single precision does not have.
    std::fs::write(at.join("fine.csv"), "sensor,hour,temperature,pressure,power\na,0.1,16777217,,0.1\n")
        .unwrap();
    let fine = done(&["impute", "run", "fine.csv", "--wide"], at);
    assert!(fine.contains("\na,0.1,16777217,") && fine.trim_end().ends_with(",0.1"), "{fine}");

    // What is out of all bounds is refused in words.
    for (arguments, flag) in [
        (&["forecast", "run", "sensors.csv", "--until", "1e300"][..], "--until"),
        (&["sample", "run", "--every", "1e-300"][..], "--every"),
    ] {
        let refused = stroock(arguments, at);
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(
            said.contains("times are asked for") && said.contains("at most") && said.contains(flag),
            "{said}"
        );
    }

    // The record says what the scores were taken from.
    done(&["evaluate", "run", "--record", "record.json"], at);
    let record = |path: &str| -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(at.join(path)).unwrap()).unwrap()
    };
    let (fitted, evaluated) = (record("run/evaluation.json"), record("record.json"));
    assert_eq!(fitted["scores"], results["evaluation"]);
    assert_eq!(fitted["scores"], evaluated["scores"], "the series, the split and the scale are the same");
    assert_eq!(fitted["data"], evaluated["data"]);
    assert_eq!((&fitted["data"]["series"], &fitted["epochs"]), (&12.into(), &30.into()));
    assert!(evaluated["command"].as_str().unwrap().ends_with("evaluate run --record record.json"));

    // A run that goes on beyond its end goes on at the lowest rate.
    done(&["fit", "--out", "run", "--resume", "--epochs", "33"], at);
    let metrics = std::fs::read_to_string(at.join("run/metrics.jsonl")).unwrap();
    let rate =
        |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["rate"].as_f64().unwrap();
    let rates: Vec<f64> = metrics.lines().map(rate).collect();
    assert_eq!(rates.len(), 33);
    assert!(rates.is_sorted_by(|one, next| one >= next), "{rates:?}");
    assert!(rates[32] == 0.01 * rates[0] && rates[29] > rates[30], "{rates:?}");

    let ahead = stroock(&["forecast", "run", "sensors.csv", "--until", "70", "--every", "4"], at);
    assert_eq!(ahead.status.code(), Some(0), "{}", text(&ahead.stderr));
    assert!(text(&ahead.stderr).contains("is forecast by"), "{}", text(&ahead.stderr));
    let ahead = text(&ahead.stdout);
    assert!(lines(&ahead).len() > 12, "{ahead}");
    assert!(lines(&ahead)[1..].iter().all(|row| row[1].parse::<f64>().unwrap() <= 70.0));

    // Parquet predictions are read again; nothing is overwritten.
    done(&["impute", "run", "sensors.csv", "--output", "filled.parquet"], at);
    let described =
        done(&["describe", "filled.parquet", "--variable", "variable", "--value", "mean", "--json"], at);
    assert!(described.contains("pressure"), "{described}");
    let again = stroock(&["impute", "run", "sensors.csv", "--output", "filled.parquet"], at);
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains("filled.parquet"), "{}", text(&again.stderr));
    done(&["impute", "run", "sensors.csv", "--output", "filled.parquet", "--overwrite"], at);

    // JSON, one object a row.
    let json = done(&["sample", "run", "--count", "2", "--json"], at);
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert!(first["temperature"].is_number() && first["sensor"] == "sample 1", "{first}");
}

#[test]
fn new_series_of_other_lengths_and_columns_are_predicted() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("sensors.csv"), sensors(12)).unwrap();
    done(&["fit", "sensors.csv", "--out", "run", "--epochs", "5"], at);
    // Other order of columns, one variable less, one more, one time only, the model file by itself.
    let new = "hour,sensor,power,humidity,temperature\n3,x,,40,21.5\n1,y,3.5,41,\n";
    std::fs::write(at.join("new.csv"), new).unwrap();
    let output = stroock(&["impute", "run/model.safetensors", "new.csv"], at);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert!(said.contains("pressure") && said.contains("humidity"), "{said}");
    let (table, mut asked) = (text(&output.stdout), Vec::new());
    for row in &lines(&table)[1..] {
        asked.push(format!("{} {} {}", row[0], row[1], row[2]));
    }
    assert_eq!(asked, ["x 3 pressure", "x 3 power", "y 1 temperature", "y 1 pressure"]);
    // From standard input.
    let mut child = Command::new(env!("CARGO_BIN_EXE_stroock"))
        .args(["impute", "run", "-", "--at", "2,2.5"])
        .current_dir(at)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(new.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(text(&output.stdout).lines().count(), 1 + 2 * 2 * 3, "{}", text(&output.stderr));
}

#[test]
fn a_report_names_the_space_and_the_command_that_made_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("sensors.csv"), sensors(8)).unwrap();
    let report = |run: &str| std::fs::read_to_string(at.join(run).join("report.html")).unwrap();
    let dim = "model.latent.dim=4";
    done(
        &["fit", "sensors.csv", "--out", "sphere", "--epochs", "2", "--missing", "no reading", "--set", dim],
        at,
    );
    let page = report("sphere");
    let command =
        "stroock fit sensors.csv --out sphere --epochs 2 --missing 'no reading' --set model.latent.dim=4";
    let escaped = |text: &str| text.replace('\'', "&#39;");
    assert!(page.contains(command) || page.contains(&escaped(command)), "the command is in the page");
    assert!(page.contains("sphere in R^4"), "the space is in the page");
    assert!(page.contains(" s on ") && page.contains(" threads"), "the threads are in the page");

    let space = "model.latent.space=general-linear";
    done(&["fit", "sensors.csv", "--out", "linear", "--epochs", "2", "--set", space, "--set", dim], at);
    assert!(report("linear").contains("R^4 without the origin, under GL(4)"));
    assert!(!report("linear").contains("sphere in R^4"));

    done(&["fit", "sensors.csv", "--out", "ode", "--epochs", "2", "--model", "latent-ode"], at);
    assert!(report("ode").contains("latent-ode"), "the model is in the page");
    assert!(!report("ode").contains("sphere in"));
}

#[test]
fn a_fit_of_the_library_can_be_reported_on() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("sensors.csv"), sensors(6)).unwrap();
    let table = Table::read(&[at.join("sensors.csv")], &ReadOptions::default()).unwrap();
    Model::fit(&table, Goal::Impute, at.join("run")).unwrap();
    done(&["report", "run", "sensors.csv"], at);
    let page = std::fs::read_to_string(at.join("run/report.html")).unwrap();
    assert!(page.contains("Model::fit(table, Goal::Impute"), "what made the model is in the page");
    let output = stroock(&["report", "run"], at);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("name the data"), "{}", text(&output.stderr));
}

#[test]
fn mistakes_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let fails = |arguments: &[&str], code: i32, words: &[&str]| {
        let output = stroock(arguments, at);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        for word in words {
            assert!(said.contains(word), "{arguments:?}: {said}");
        }
    };
    std::fs::write(at.join("bad.csv"), "id,time,x\na,0,1\na,1,zwei\n").unwrap();
    std::fs::write(at.join("twice.csv"), "id,time,x\na,0,1\na,0,2\n").unwrap();
    std::fs::write(at.join("empty.csv"), "id,time,x\na,0,\n").unwrap();
    fails(&["describe", "nowhere.csv"], 1, &["nowhere.csv"]);
    fails(&["describe", "bad.csv"], 1, &["bad.csv", "line 3", "`x`", "zwei", "--skip-bad-rows"]);
    fails(&["describe", "bad.csv"], 1, &["--missing", "--ignore"]);
    fails(&["describe", "twice.csv"], 1, &["line 3", "--duplicates mean"]);
    std::fs::write(at.join("timeless.csv"), "a,b\n0,1\n").unwrap();
    fails(&["describe", "timeless.csv"], 1, &["`a`, `b`", "name it with --time"]);
    fails(&["describe", "twice.csv", "--static", "zzz"], 1, &["zzz", "check --static"]);
    fails(&["describe", "twice.csv", "--id", "id", "--target", "id"], 1, &["check --id and --target"]);
    fails(&["describe", "twice.csv", "--value", "x"], 1, &["--variable and --value"]);
    fails(&["describe", "bad.csv", "--time", "tiem"], 1, &["tiem", "time"]);
    fails(&["fit", "empty.csv", "--out", "run"], 1, &["nothing is observed"]);
    fails(&["fit", "bad.csv", "--skip-bad-rows", "--out", "run", "--task", "classify"], 1, &["--target"]);
    fails(&["fit", "bad.csv"], 2, &["--out"]);
    std::fs::write(at.join("good.csv"), "id,time,x,y\na,0,1,2\na,1,2,3\na,2,1,1\n").unwrap();
    fails(&["fit", "good.csv", "--out", "run", "--known", "z"], 1, &["`z`", "`x`, `y`"]);
    fails(&["fit", "good.csv", "--out", "run", "--known", "x,y"], 1, &["nothing to forecast"]);
    fails(&["impute", "no-run", "bad.csv"], 1, &["no-run"]);
    fails(&["evaluate", "no-run", "--share", "2"], 2, &["between 0 and 1"]);
    assert!(!at.join("run").exists(), "a refused fit leaves no folder");
    let skipped = stroock(&["describe", "bad.csv", "--skip-bad-rows"], at);
    assert_eq!(skipped.status.code(), Some(0));
}
