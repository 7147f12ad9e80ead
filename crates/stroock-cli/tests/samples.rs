//! Samples that look like the data, as a user sees them.

mod command;
mod sensors;

use command::{done, refused};
use sensors::sensors;

#[test]
fn samples_are_compared_with_the_test_series() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("sensors.csv"), sensors(60)).unwrap();
    done(&["fit", "sensors.csv", "--out", "run", "--epochs", "30"], at);
    let json =
        |arguments: &[&str]| -> serde_json::Value { serde_json::from_str(&done(arguments, at).0).unwrap() };
    let found = json(&["evaluate", "run", "--samples", "--json"]);
    let samples = &found["samples"];
    assert_eq!((&samples["source"], &samples["series"]), (&"posterior".into(), &found["series"]));
    assert_eq!(samples["variables"].as_array().unwrap().len(), 3);
    let pressure = &samples["variables"][1];
    for kind in [&pressure["test"], &pressure["samples"]["look"], &pressure["training"]["look"]] {
        assert!((kind["mean"].as_f64().unwrap() - 1004.0).abs() < 3.0, "{kind}");
    }
    let p_value = samples["samples"]["p_value"].as_f64().unwrap();
    assert!((0.001..=1.0).contains(&p_value), "{samples}");
    assert!(json(&["evaluate", "run", "--json"])["samples"].is_null());
    assert_eq!(json(&["evaluate", "run", "--samples=prior", "--json"])["samples"]["source"], "prior");
    assert_eq!(found, json(&["evaluate", "run", "--samples", "--json"]), "the same command says the same");

    let (table, _) = done(&["evaluate", "run", "--samples"], at);
    for words in ["autocorrelation", "sampled", "training", "Energy distance from the test series"] {
        assert!(table.contains(words), "{table}");
    }
    // Also of series that are given, where nothing is known of the training series.
    let (table, _) = done(&["evaluate", "run", "sensors.csv", "--samples", "--record", "record.json"], at);
    assert!(table.contains("60 series sampled"), "{table}");
    let record: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(at.join("record.json")).unwrap()).unwrap();
    assert!(record["scores"]["samples"]["training"].is_null());

    // What is sampled stays within what was observed.
    let (drawn, _) = done(&["sample", "run", "--count", "40"], at);
    for line in drawn.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').skip(2).map(|cell| cell.parse().unwrap()).collect();
        assert!((14.0..26.0).contains(&cells[0]) && (999.0..1009.0).contains(&cells[1]), "{line}");
        assert!((0.0..4.0).contains(&cells[2]), "{line}");
    }
    let (prior, _) = done(&["sample", "run", "--count", "40", "--from", "prior"], at);
    assert_ne!(prior, drawn);
    refused(&["sample", "run", "sensors.csv", "--from", "prior"], 2, at);
}

#[test]
fn logarithms_are_suggested_and_learned() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // A load whose logarithm is a wave.
    let mut table = String::from("id,time,load,level\n");
    for series in 0..30 {
        for time in 0..20 {
            let wave = (0.4 * f64::from(time) + f64::from(series)).sin() + 0.3 * f64::from(series % 7);
            table += &format!("s{series},{time},{:.4},{:.3}\n", (2.0 * wave).exp(), wave - 1.0);
        }
    }
    std::fs::write(at.join("loads.csv"), table).unwrap();
    let (described, _) = done(&["describe", "loads.csv"], at);
    assert!(
        described.contains("stroock fit --log load") && described.contains("in logarithms"),
        "{described}"
    );
    done(&["fit", "loads.csv", "--out", "run", "--epochs", "10", "--log", "load"], at);
    let config = std::fs::read_to_string(at.join("run/config.toml")).unwrap();
    assert!(config.contains("logarithms = [\"load\"]"), "{config}");
    let (filled, _) = done(&["impute", "run", "loads.csv", "--at", "2.5,7.5"], at);
    let loads = filled.lines().filter(|line| line.contains(",load,"));
    for line in loads {
        let numbers: Vec<f64> = line.split(',').skip(3).map(|cell| cell.parse().unwrap()).collect();
        assert!(numbers.iter().all(|&number| number > 0.0), "{line}");
    }
    let said = refused(&["fit", "loads.csv", "--out", "other", "--log", "level"], 1, at);
    assert!(said.contains("`level`") && said.contains("negative") && said.contains("--log"), "{said}");
    let said = refused(&["fit", "loads.csv", "--out", "other", "--log", "nothing"], 1, at);
    assert!(said.contains("`nothing`") && said.contains("--log"), "{said}");
    assert!(!at.join("other").exists(), "a refused fit leaves no folder");
}
