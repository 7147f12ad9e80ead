//! Every experiment from raw data to its result, on a small slice.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The public data, where they are at hand.
fn data() -> Option<PathBuf> {
    // Says so where there are none.
    stroock_testing::golden::shared_folder().map(|shared| shared.join("data"))
}

/// Runs an experiment, and gives the text of the files that it must have written beside the usual ones; those with `!`
/// before their names must not be there.
fn reproduce(name: &str, data: Option<&Path>, more: &[&str], files: &[&str]) -> Vec<String> {
    reproduce_as("**stroock**", name, data, more, files)
}

/// The same of any system, with its name in the table.
fn reproduce_as(system: &str, name: &str, data: Option<&Path>, more: &[&str], files: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_stroock"));
    command.args(["reproduce", name, "--epochs", "2", "--limit", "4", "--out", "runs/one", "--json"]);
    command.args(["--set", "protocol.training.batch_size=4"]).args(more);
    command.env("XDG_CACHE_HOME", folder.path()).current_dir(folder.path());
    if let Some(data) = data {
        command.arg("--data-dir").arg(data);
    }
    let done = command.output().unwrap();
    assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
    let result: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((&result["epochs"], &result["status"]), (&2.into(), &"finished".into()), "{result}");
    // Nearly untrained models are about as good as the mean of the data, whose scale is about 1, or as chance.
    let is_share = result["config"]["protocol"]["metric"]["kind"] == "accuracy";
    for test in [&result["test"], &result["test_with_draws"][1]] {
        let (value, entries) = (test["value"].as_f64().unwrap(), test["entries"].as_u64().unwrap());
        assert!(value > 0.0 || is_share && value == 0.0, "{result}");
        assert!(value < if is_share { 1.0 } else { 10.0 } && entries > 0, "{result}");
    }
    assert_eq!(result["test"]["entries"], result["test_with_draws"][1]["entries"]);
    assert!(
        result["threads"].as_u64().unwrap() >= 1 && result["seconds"].as_f64().unwrap() > 0.0,
        "{result}"
    );
    let run = folder.path().join("runs/one");
    for file in
        ["result.json", "config.toml", "metrics.jsonl", "model.safetensors", "curves.svg", "curves.png"]
    {
        assert!(run.join(file).is_file(), "{name}: {file}");
    }
    let table = Command::new(env!("CARGO_BIN_EXE_stroock"))
        .args(["reproduce", "--table", "runs"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(table.status.success(), "{}", String::from_utf8_lossy(&table.stderr));
    let table = std::fs::read_to_string(folder.path().join("RESULTS.md")).unwrap();
    let threads = format!(" min | {} |", result["threads"]);
    assert!(table.contains(&threads), "{table}");
    assert!(table.contains(system) && table.contains(&format!("stroock reproduce {name}")), "{table}");
    let text = |file: &&str| match file.strip_prefix('!') {
        Some(absent) => {
            assert!(!run.join(absent).exists(), "{name}: {absent}");
            String::new()
        }
        None => String::from_utf8_lossy(&std::fs::read(run.join(file)).unwrap()).into_owned(),
    };
    files.iter().map(text).collect()
}

#[test]
fn the_sine() {
    reproduce("sine", None, &[], &[]);
}

#[test]
fn the_sine_on_a_globe_that_is_followed() {
    let files = ["globe.png", "globe.svg", "following.png", "following.svg"];
    let texts = reproduce("sine", None, &["--preset", "following"], &files);
    assert!(texts[1].contains("width of the paths"));
    assert!(texts[3].contains("that the steering settles at") && texts[3].contains("90 % interval"));
    // A model that follows nothing has no such picture, and no target on its globe.
    let texts = reproduce("sine", None, &["--preset", "globe"], &["globe.svg", "!following.svg"]);
    assert!(!texts[0].contains("target"));
}

#[test]
fn frames_that_are_followed() {
    reproduce("pendulum-images", None, &["--preset", "best"], &["following.svg", "frames.svg"]);
}

#[test]
fn the_lorenz_attractor() {
    reproduce("lorenz", None, &[], &[]);
}

#[test]
fn the_angle_of_the_pendulum() {
    reproduce("pendulum-angle", None, &[], &[]);
}

#[test]
fn the_images_of_the_pendulum() {
    reproduce("pendulum-images", None, &[], &[]);
}

#[test]
fn the_rotating_digits() {
    let Some(data) = data() else { return };
    reproduce("rotating-mnist", Some(&data), &[], &[]);
}

#[test]
fn the_rotating_digits_with_variants() {
    let Some(data) = data() else { return };
    reproduce("rotating-mnist", Some(&data), &["--preset", "tuned"], &[]);
}

#[test]
fn rivals_of_the_pendulum() {
    reproduce_as(
        "| mTAND-ODE (our harness), preset `clean` |",
        "pendulum-angle",
        None,
        &["--model", "latent-ode"],
        &[],
    );
    reproduce_as(
        "| mTAND-SDE (our harness), preset `clean` |",
        "pendulum-images",
        None,
        &["--model", "neural-sde"],
        &[],
    );
    reproduce_as(
        "| mTAND-Enc (our harness), preset `clean` |",
        "pendulum-angle",
        None,
        &["--model", "mtand-enc"],
        &[],
    );
    reproduce_as(
        "| mTAND-Full (our harness), preset `clean` |",
        "pendulum-images",
        None,
        &["--model", "mtand-full"],
        &[],
    );
    reproduce_as("| S5 (our harness), preset `clean` |", "pendulum-angle", None, &["--model", "s5"], &[]);
}

#[test]
fn recurrent_units_of_the_pendulum() {
    for (system, model) in [("CRU", "cru"), ("f-CRU", "f-cru"), ("ODE-ODE", "ode-ode")] {
        let system = format!("| {system} (our harness), preset `clean` |");
        for name in ["pendulum-angle", "pendulum-images"] {
            reproduce_as(&system, name, None, &["--model", model], &[]);
        }
    }
}

#[test]
fn rivals_on_public_data() {
    let Some(data) = data() else { return };
    let run = |system: &str, name: &str, model: &str| {
        let system = format!("| {system} (our harness), preset `clean` |");
        reproduce_as(&system, name, Some(&data), &["--model", model], &[]);
    };
    run("CNN-ODE", "rotating-mnist", "latent-ode");
    run("CNN-SDE", "rotating-mnist", "neural-sde");
    run("ODE2VAE", "rotating-mnist", "ode2vae");
    run("ODE2VAE-KL", "rotating-mnist", "ode2vae-kl");
    run("ODE2VAE, transductive", "rotating-mnist", "ode2vae-transductive");
    run("ODE2VAE-KL, transductive", "rotating-mnist", "ode2vae-kl-transductive");
    run("GPPVAE-dis, transductive", "rotating-mnist", "gppvae-dis");
    run("GPPVAE-joint, transductive", "rotating-mnist", "gppvae-joint");
    run("mTAND-ODE", "activity", "latent-ode");
    run("mTAND-SDE", "activity", "neural-sde");
    run("ODE-ODE", "activity", "ode-ode");
    run("mTAND-ODE", "physionet", "latent-ode");
    run("mTAND-SDE", "physionet", "neural-sde");
    run("mTAND-Enc", "activity", "mtand-enc");
    run("mTAND-Full", "activity", "mtand-full");
    run("mTAND-Full", "physionet", "mtand-full");
    run("CRU", "physionet", "cru");
    run("f-CRU", "physionet", "f-cru");
}

#[test]
fn a_model_that_an_experiment_does_not_have() {
    let said = |arguments: &[&str]| {
        let done =
            Command::new(env!("CARGO_BIN_EXE_stroock")).arg("reproduce").args(arguments).output().unwrap();
        assert!(!done.status.success());
        String::from_utf8_lossy(&done.stderr).into_owned()
    };
    let words = said(&["sine", "--model", "latent-ode"]);
    let there = "rotating-mnist, pendulum-angle, pendulum-images, activity, physionet";
    let expected = format!("sine has no model but its own; `latent-ode` has presets for {there}");
    assert!(words.contains(&expected), "{words}");
    let words = said(&["activity", "--model", "latent-ode", "--preset", "best"]);
    assert!(words.contains("it has no preset `best`, but paper, clean"), "{words}");
    let words = said(&["activity", "--model", "perceptron"]);
    assert!(words.contains("latent-ode") && words.contains("neural-sde"), "{words}");
}

#[test]
fn a_preset_that_an_experiment_does_not_have() {
    let done = Command::new(env!("CARGO_BIN_EXE_stroock"))
        .args(["reproduce", "sine", "--preset", "tuned"])
        .output()
        .unwrap();
    assert!(!done.status.success());
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(said.contains("sine has no preset `tuned`, but paper, clean, globe"), "{said}");
}

#[test]
fn the_activities_on_a_globe() {
    let Some(data) = data() else { return };
    reproduce("activity", Some(&data), &["--preset", "globe"], &[]);
}

#[test]
fn the_stays() {
    let Some(data) = data() else { return };
    reproduce("physionet", Some(&data), &["--observed", "0.7"], &[]);
}

#[test]
fn a_table_replaces_no_file_but_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let own = "# Results\n\nof a year's work\n";
    std::fs::write(folder.path().join("RESULTS.md"), own).unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_stroock"))
        .args(["reproduce", "--table", "."])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(!done.status.success());
    assert!(String::from_utf8_lossy(&done.stderr).contains("not a table of runs"));
    assert_eq!(std::fs::read_to_string(folder.path().join("RESULTS.md")).unwrap(), own);
}

/// The command `reproduce all` on a small plan, in a folder.
fn all(folder: &Path, more: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_stroock"))
        .args(["reproduce", "all", "--plan", "plan.toml", "--out", "runs"])
        .args(more)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
fn all_runs_of_a_plan() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let write = |seeds: &str| {
        let plan = format!(
            "at_once = 2\nthreads = 1\n[[runs]]\nexperiments = ['sine']\nepochs = 30\nseeds = {seeds}\n\
             [[runs]]\nexperiments = ['pendulum-angle']\nmodels = ['latent-ode']\nepochs = 2\nlimit = 4\n"
        );
        std::fs::write(path.join("plan.toml"), plan).unwrap();
    };
    write("[1]");
    let done = all(path, &[]);
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    let result = |name: &str| std::fs::read(path.join("runs").join(name).join("result.json"));
    let first = result("sine-clean-1").unwrap();
    assert!(result("pendulum-angle-latent-ode-clean-1").is_ok());
    let table = || std::fs::read_to_string(path.join("runs/RESULTS.md")).unwrap();
    assert!(table().contains("## sine") && table().contains("mTAND-ODE (our harness)"), "{}", table());

    // Nothing is begun anew unasked, and what is finished is left alone.
    assert!(!all(path, &[]).status.success());
    let again = all(path, &["--resume"]);
    assert!(again.status.success());
    assert!(String::from_utf8_lossy(&again.stderr).contains("2 runs, 2 of them finished already"));
    assert_eq!(result("sine-clean-1").unwrap(), first);

    // A plan can grow. A run alone gives what it gives among others.
    write("[1, 2]");
    assert!(all(path, &["--resume"]).status.success());
    let alone = Command::new(env!("CARGO_BIN_EXE_stroock"))
        .args(["reproduce", "sine", "--epochs", "30", "--seed", "2", "--out", "alone"])
        .current_dir(path)
        .output()
        .unwrap();
    assert!(alone.status.success());
    let model = |run: &str| std::fs::read(path.join(run).join("model.safetensors")).unwrap();
    assert_eq!(model("alone"), model("runs/sine-clean-2"));
}

#[test]
fn a_run_of_a_plan_that_fails_takes_no_other_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let plan = "[[runs]]\nexperiments = ['activity', 'sine']\nepochs = 2\n";
    std::fs::write(path.join("plan.toml"), plan).unwrap();
    let done = all(path, &["--data-dir", "nowhere"]);
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success());
    assert!(said.contains("1 of 2 runs failed") && said.contains("activity-clean-1.log"), "{said}");
    assert!(path.join("runs/sine-clean-1/result.json").is_file());

    std::fs::write(path.join("plan.toml"), "[[runs]]\nexperiments = ['sine']\nepoch = 2\n").unwrap();
    let said = String::from_utf8_lossy(&all(path, &["--resume"]).stderr).into_owned();
    assert!(said.contains("plan.toml") && said.contains("epoch"), "{said}");
    let said = String::from_utf8_lossy(&all(path, &["--seed", "2"]).stderr).into_owned();
    assert!(said.contains("write it into the plan"), "{said}");
}
