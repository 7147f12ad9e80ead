//! Runs in several processes over a real MPI: the bits of one process, whatever happens to them. `scripts/mpi` runs this.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rand_core::Rng;
use stroock_kernels::noise::{NoiseKey, Purpose};

/// What a run leaves behind that does not depend on time, processes and threads.
const FILES: [&str; 4] =
    ["model.safetensors", "last/model.safetensors", "last/optimiser.safetensors", "last/state.json"];

/// Small models on small tables: a run takes seconds.
const EPOCHS: &str = "6";
const FIT: [&str; 8] = [
    "fit",
    "table.csv",
    "--epochs",
    EPOCHS,
    "--set",
    "training.batch_size=16",
    "--set",
    "model.encoder={hidden=16, embedding=16, reference_points=16}",
];

/// Oscillations of 150 sensors at irregular times.
fn table(folder: &Path) {
    let mut text = String::from("id,time,a,b\n");
    for series in 0..150 {
        for i in 0..20 {
            let time = f64::from(i) + 0.4 * f64::from(series * 7 + i).sin();
            let (a, b) = ((0.5 * time + f64::from(series)).sin(), (0.3 * time - f64::from(series)).cos());
            writeln!(text, "s{series},{time:.3},{a:.4},{b:.4}").unwrap();
        }
    }
    fs::write(folder.join("table.csv"), text).unwrap();
}

/// A command in a folder; in `processes` processes, or without a launcher.
fn stroock(folder: &Path, processes: Option<usize>, threads: usize, arguments: &[&str]) -> Command {
    let program = env!("CARGO_BIN_EXE_stroock");
    let mut command = match processes {
        Some(processes) => {
            let launcher = env::var("STROOCK_MPIRUN").unwrap_or_else(|_| "mpirun".into());
            let mut command = Command::new(launcher);
            command.args(["-n", &processes.to_string()]).arg(program);
            command
        }
        None => Command::new(program),
    };
    command
        .args(arguments)
        .current_dir(folder)
        .env("RAYON_NUM_THREADS", threads.to_string())
        // Open MPI: as root in a container, and with more processes than cores. Others do not mind.
        .envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")])
        .envs([("OMPI_MCA_rmaps_base_oversubscribe", "1"), ("OMPI_MCA_mpi_yield_when_idle", "1")]);
    command
}

fn succeed(mut command: Command) -> Output {
    let done = command.output().unwrap();
    assert!(done.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&done.stderr));
    done
}

/// The epochs in the metrics of a run, with their numbers.
fn metrics(run: &Path) -> Vec<String> {
    let text = fs::read_to_string(run.join("metrics.jsonl")).unwrap_or_default();
    text.lines().map(|line| line.split("\"seconds\"").next().unwrap_or_default().to_owned()).collect()
}

fn traces(run: &Path) -> (BTreeMap<&'static str, Vec<u8>>, Vec<String>) {
    (BTreeMap::from(FILES.map(|name| (name, fs::read(run.join(name)).unwrap()))), metrics(run))
}

fn assert_same(run: &Path, expected: &Path) {
    let ((files, metrics), (expected_files, expected_metrics)) = (traces(run), traces(expected));
    assert_eq!(metrics, expected_metrics, "{}", run.display());
    for name in FILES {
        assert!(files[name] == expected_files[name], "{}: {name} differs", run.display());
    }
}

#[test]
fn a_fit_has_the_same_bits_in_any_number_of_processes_and_threads() {
    let folder = tempfile::tempdir().unwrap();
    table(folder.path());
    let fit = |name: &str, processes, threads, more: &[&str]| {
        succeed(stroock(folder.path(), processes, threads, &[&FIT[..], &["--out", name], more].concat()))
    };
    fit("alone", None, 2, &["--set", "training.chunks=4"]);
    for processes in 1..=4 {
        for threads in 1..=2 {
            let name = format!("{processes}x{threads}");
            let done = fit(&name, Some(processes), threads, &[]);
            assert_same(&folder.path().join(&name), &folder.path().join("alone"));
            let printed = String::from_utf8(done.stdout).unwrap();
            assert_eq!(printed.matches("The model: ").count(), 1, "one process prints: {printed}");
            let said = String::from_utf8(done.stderr).unwrap();
            let words = format!(
                "Processes: {processes}; threads of each: {threads}. Should one die, --resume goes on"
            );
            assert_eq!(said.matches(&words).count(), 1, "{said}");
        }
    }
    let config = fs::read_to_string(folder.path().join("4x1/config.toml")).unwrap();
    assert!(config.contains("\nchunks = 4\n"), "{config}");
}

/// 600 series of 80 times and 20 variables: more than the eighth of 64 MB that rows may take.
fn wide_table(folder: &Path) {
    let names: Vec<String> = (0..20).map(|variable| format!("v{variable}")).collect();
    let mut text = format!("id,time,{}\n", names.join(","));
    for row in 0..48_000_i32 {
        let (series, time) = (row % 600, f64::from(row / 600));
        write!(text, "s{series},{time}").unwrap();
        for variable in 0..20 {
            let value = (0.2 * time + f64::from(series * 3 + variable)).sin();
            write!(text, ",{value:.2}").unwrap();
        }
        text.push('\n');
    }
    fs::write(folder.join("table.csv"), text).unwrap();
}

#[test]
fn a_table_that_does_not_fit_into_memory_has_the_same_bits_in_several_processes() {
    let folder = tempfile::tempdir().unwrap();
    wide_table(folder.path());
    let fit = |name: &str, processes, more: &[&str]| {
        let once = ["--out", name, "--epochs", "1", "--window", "none"];
        let arguments: Vec<&str> =
            FIT.iter().copied().filter(|word| !["--epochs", EPOCHS].contains(word)).collect();
        let done = succeed(stroock(folder.path(), processes, 1, &[&arguments[..], &once, more].concat()));
        String::from_utf8(done.stderr).unwrap()
    };
    fit("alone", None, &["--set", "training.chunks=4"]);
    let said = fit("limited", Some(2), &["--memory", "64MB"]);
    assert_eq!(said.matches("temporary file").count(), 1, "{said}");
    assert_same(&folder.path().join("limited"), &folder.path().join("alone"));
}

#[test]
fn an_experiment_has_the_same_bits_and_the_same_test_in_any_number_of_processes() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, processes, more: &[&str]| {
        let arguments = ["reproduce", "sine", "--limit", "30", "--epochs", "3", "--json", "--out", name];
        let done = succeed(stroock(folder.path(), processes, 1, &[&arguments[..], more].concat()));
        let result: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        [result["test"].clone(), result["test_with_draws"].clone(), result["command"].clone()]
    };
    let set = ["--set", "protocol.training.batch_size=8", "--set", "protocol.training.chunks=4"];
    let alone = run("alone", None, &set);
    for processes in [2, 3] {
        let name = processes.to_string();
        assert_eq!(run(&name, Some(processes), &set[..2]), alone);
        assert_same(&folder.path().join(name), &folder.path().join("alone"));
    }
}

/// The processes of a launcher that run the command.
fn ranks(launcher: u32) -> Vec<u32> {
    let children = |pid: u32| -> Vec<u32> {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let text = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
        text.flat_map(|text| text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
            .collect()
    };
    let (mut all, mut next) = (Vec::new(), children(launcher));
    while let Some(pid) = next.pop() {
        next.extend(children(pid));
        all.push(pid);
    }
    all.into_iter().filter(is_there).collect()
}

/// Whether a process runs the command.
fn is_there(pid: &u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "stroock")
}

/// Whether a process ends within some seconds.
fn is_gone(pid: &u32) -> bool {
    (0..500).any(|_| {
        sleep(Duration::from_millis(10));
        !is_there(pid)
    })
}

fn signal(pid: u32, name: &str) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}

/// Waits until something is so, while a run goes on.
fn wait_for(child: &mut Child, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(120), "not in two minutes");
        assert!(child.try_wait().unwrap().is_none(), "the run ended before");
        sleep(Duration::from_millis(2));
    }
}

fn wait_for_end(mut child: Child) -> Output {
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(60), "the launcher does not end");
        sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

fn spawn(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Which process dies when is drawn anew in every test; `STROOCK_SEED` repeats a draw.
#[test]
fn a_run_that_loses_a_process_at_any_time_resumes_in_another_number_of_them() {
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64;
    let seed = env::var("STROOCK_SEED").map_or(clock, |seed| seed.parse().unwrap());
    println!("STROOCK_SEED={seed}");
    let mut draws = NoiseKey::new(seed, 0).stream(Purpose::Caller, 0, 0);
    let mut draw = |below: u64| draws.next_u64() % below;

    let folder = tempfile::tempdir().unwrap();
    table(folder.path());
    let [whole, killed] = ["whole", "killed"].map(|name| folder.path().join(name));
    let long = ["--out", "whole", "--epochs", "20"];
    succeed(stroock(folder.path(), Some(2), 1, &[&FIT[..2], &FIT[4..], &long].concat()));

    let start =
        |processes: usize, arguments: &[&str]| spawn(stroock(folder.path(), Some(processes), 1, arguments));
    let resume = ["fit", "--out", "killed", "--resume"];
    let new = ["--out", "killed", "--epochs", "20"];
    let mut child = start(3, &[&FIT[..2], &FIT[4..], &new].concat());
    let mut processes = 3;
    for next in [2, 4] {
        // From its beginning on, while there is enough left of the run.
        let epochs = metrics(&killed).len() + draw(6) as usize;
        let is_under_way = |ranks: Vec<u32>| ranks.len() == processes && killed.join("config.toml").exists();
        let launcher = child.id();
        wait_for(&mut child, || metrics(&killed).len() >= epochs && is_under_way(ranks(launcher)));
        sleep(Duration::from_millis(draw(400)));
        let all = ranks(launcher);
        assert_eq!(all.len(), processes, "{all:?}");
        let victim = all[draw(processes as u64) as usize];
        println!("killing process {victim} of {all:?} after epoch {}", metrics(&killed).len());
        signal(victim, "-KILL");
        let ended = wait_for_end(child);
        assert!(!ended.status.success());
        let said = String::from_utf8_lossy(&ended.stderr).to_lowercase();
        assert!(said.contains("signal 9") || said.contains("kill"), "{said}");
        assert!(all.iter().all(is_gone), "processes are left: {all:?}");
        (child, processes) = (start(next, &resume), next);
    }
    let done = wait_for_end(child);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_same(&killed, &whole);
}

#[test]
fn a_signal_to_one_process_stops_all_and_the_run_resumes_without_a_launcher() {
    let folder = tempfile::tempdir().unwrap();
    table(folder.path());
    let [whole, stopped] = ["whole", "stopped"].map(|name| folder.path().join(name));
    succeed(stroock(folder.path(), Some(3), 1, &[&FIT[..], &["--out", "whole"]].concat()));

    let mut child = spawn(stroock(folder.path(), Some(4), 1, &[&FIT[..], &["--out", "stopped"]].concat()));
    wait_for(&mut child, || !metrics(&stopped).is_empty());
    signal(ranks(child.id())[1], "-TERM");
    let ended = wait_for_end(child);
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(said.matches("; go on with: stroock fit --out stopped --resume").count(), 1, "{said}");
    assert_eq!(ended.status.code(), Some(130), "{said}");
    succeed(stroock(folder.path(), None, 2, &["fit", "--out", "stopped", "--resume"]));
    assert_same(&stopped, &whole);
}

#[test]
fn mistakes_are_said_once() {
    let folder = tempfile::tempdir().unwrap();
    table(folder.path());
    let refused = |processes: usize, arguments: &[&str], words: &str| {
        let done = stroock(folder.path(), Some(processes), 1, arguments).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(!done.status.success(), "{said}");
        assert_eq!(said.matches(words).count(), 1, "{said}");
    };
    let few = [&FIT[..], &["--out", "few", "--set", "training.chunks=2"]].concat();
    refused(3, &few, "error: `chunks` is 2: a batch is cut into fewer chunks than there are processes (3)");
    refused(2, &["fit", "none.csv", "--out", "none"], "error: cannot read `none.csv`");
    refused(
        2,
        &["reproduce", "all", "--out", "all"],
        "error: only single experiments run in several processes",
    );
}
