//! What a user sees when the disk is full, a folder cannot be written, someone else is there, the clock jumps, or nobody
//! listens: a sentence; and nothing that was made is lost.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use stroock_testing::faults::{Call, Fault, Shim, error_number, signal};

mod command;
mod sensors;

use command::{done, refused};
use sensors::sensors;

const PROGRAM: &str = env!("CARGO_BIN_EXE_stroock");

/// A folder with a table of sensors.
struct Place {
    _folder: tempfile::TempDir,
    at: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        fs::write(at.join("sensors.csv"), sensors(6)).unwrap();
        Self { _folder: folder, at }
    }

    fn shim(&self) -> Shim {
        let folder = self.at.join("shim");
        fs::create_dir_all(&folder).unwrap();
        Shim::build(&folder).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).current_dir(&self.at).stdin(Stdio::null());
        command
    }

    fn fit(&self, epochs: &str) -> Command {
        self.command(&["fit", "sensors.csv", "--out", "run", "--epochs", epochs])
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&self.at)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a command says that fails with an error, and without a panic.
fn sentence(output: &Output) -> String {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    said.lines().find(|line| line.starts_with("error: ")).unwrap_or_else(|| panic!("{said}")).to_owned()
}

#[test]
fn a_full_disk() {
    let place = Place::new();
    let (shim, run) = (place.shim(), place.at.join("run"));
    // Where the second model would be written: one is there by then.
    let log = place.at.join("calls");
    let mut whole = place.command(&["fit", "sensors.csv", "--out", "whole", "--epochs", "3"]);
    shim.load(&mut whole, &place.at.join("whole"));
    shim.log(&mut whole, &log);
    assert!(whole.output().unwrap().status.success());
    let calls = Call::read(&log).unwrap();
    let is_model = |call: &Call| call.name == "write" && call.path.to_string_lossy().contains("/.model.");
    let renamed =
        calls.iter().position(|call| call.name == "rename" && call.path.ends_with("whole/model.safetensors"));
    let renamed = renamed.unwrap();
    let at = renamed + calls[renamed..].iter().position(is_model).unwrap() + 1;
    let mut fit = place.fit("3");
    shim.fault(&mut fit, &run, Fault::From(error_number::ENOSPC), at);
    let said = sentence(&fit.output().unwrap());
    assert!(said.contains("cannot write `run/") && said.contains("No space left on device"), "{said}");
    assert!(said.contains("safetensors`"), "{said}");
    // The model so far answers, and with some room the run goes on.
    done(&["impute", "run", "sensors.csv"], &place.at);
    done(&["fit", "--out", "run", "--resume"], &place.at);
    let model = |run: &str| fs::read(place.at.join(run).join("model.safetensors")).unwrap();
    assert!(model("run") == model("whole"));

    // An answer appears complete or not at all, and what is there stays.
    fs::write(place.at.join("there.csv"), "mine\n").unwrap();
    for (arguments, file) in [
        (&["--output", "filled.csv"][..], "filled.csv"),
        (&["--output", "there.csv", "--overwrite"], "there.csv"),
    ] {
        let before = place.names();
        let mut impute = place.command(&[&["impute", "run", "sensors.csv"][..], arguments].concat());
        shim.fault(&mut impute, &place.at, Fault::From(error_number::ENOSPC), 2);
        let said = sentence(&impute.output().unwrap());
        assert!(said.contains(file) && said.contains("No space left on device"), "{said}");
        assert_eq!(place.names(), before);
    }
    assert_eq!(fs::read_to_string(place.at.join("there.csv")).unwrap(), "mine\n");

    // The standard output on a full disk.
    for arguments in [
        &["impute", "run", "sensors.csv"][..],
        &["sample", "run", "--count", "2"],
        &["describe", "sensors.csv"],
        &["describe", "sensors.csv", "--json"],
        &["evaluate", "run"],
    ] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let said = sentence(&place.command(arguments).stdout(full).output().unwrap());
        assert!(said.contains("No space left on device"), "{arguments:?}: {said}");
    }
}

#[test]
fn a_disk_that_fails() {
    let place = Place::new();
    let (shim, run) = (place.shim(), place.at.join("run"));
    let mut fit = place.fit("2");
    // The file is written, but does not reach the disk.
    shim.fault(&mut fit, &run, Fault::Once(error_number::EIO), 5);
    let said = sentence(&fit.output().unwrap());
    assert!(said.contains("cannot write `run/config.toml`") && said.contains("Input/output error"), "{said}");
    assert!(!run.join("config.toml").exists());
    assert!(place.fit("2").output().unwrap().status.success(), "the same command works afterwards");
}

#[test]
fn a_read_only_disk() {
    let place = Place::new();
    let (shim, run) = (place.shim(), place.at.join("run"));
    let fail = |mut command: Command, under: &Path| {
        shim.fault(&mut command, under, Fault::From(error_number::EROFS), 1);
        sentence(&command.output().unwrap())
    };
    let said = fail(place.fit("1"), &run);
    assert!(said.contains("cannot create the folder `run`: Read-only file system"), "{said}");
    assert!(place.fit("1").output().unwrap().status.success());
    let said = fail(place.command(&["fit", "--out", "run", "--resume"]), &run);
    assert!(said.contains("cannot open `run/.lock`: Read-only file system"), "{said}");
    let said = fail(place.command(&["report", "run"]), &run);
    assert!(said.contains("run/report.html`: Read-only file system"), "{said}");
    let said = fail(place.command(&["impute", "run", "sensors.csv", "--output", "filled.csv"]), &place.at);
    assert!(said.contains("`filled.csv`") && said.contains("Read-only file system"), "{said}");
    // Who only reads is not disturbed.
    let mut impute = place.command(&["impute", "run", "sensors.csv"]);
    shim.fault(&mut impute, &place.at, Fault::From(error_number::EROFS), 1);
    assert!(impute.output().unwrap().status.success());
}

/// The user that owns nothing.
const NOBODY: u32 = 65_534;

#[test]
fn no_permission() {
    let place = Place::new();
    done(&["fit", "sensors.csv", "--out", "run", "--epochs", "1"], &place.at);
    let modes = |mode: u32| {
        for path in [&place.at, &place.at.join("run")] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    modes(0o555);
    // Nothing is forbidden to root, who becomes another one; the program must be where that one can read it.
    let is_root = fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0);
    let scratch = tempfile::tempdir().unwrap();
    let program = scratch.path().join("stroock");
    fs::copy(PROGRAM, &program).unwrap();
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let said = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(&place.at).stdin(Stdio::null());
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        sentence(&command.output().unwrap())
    };
    let new = said(&["fit", "sensors.csv", "--out", "new", "--epochs", "1"]);
    assert!(new.contains("cannot create the folder `new`: Permission denied"), "{new}");
    let resumed = said(&["fit", "--out", "run", "--resume"]);
    assert!(resumed.contains("cannot open `run/.lock`: Permission denied"), "{resumed}");
    fs::set_permissions(place.at.join("sensors.csv"), fs::Permissions::from_mode(0o000)).unwrap();
    let unread = said(&["describe", "sensors.csv"]);
    assert!(unread.contains("sensors.csv") && unread.contains("Permission denied"), "{unread}");
    modes(0o755);
}

/// A fit that has come to its second epoch, and what it says from then on.
fn in_training(place: &Place) -> (Child, BufReader<std::process::ChildStderr>) {
    let mut child = place.fit("1000000").stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("epoch 2/") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "the fit has ended");
    }
    (child, said)
}

fn send(signal: i32, child: &Child) {
    let sent = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn two_processes_and_one_folder() {
    let place = Place::new();
    let (child, mut said) = in_training(&place);
    for arguments in [
        &["fit", "--out", "run", "--resume"][..],
        &["fit", "sensors.csv", "--out", "run"],
        &["demo", "--out", "run"],
        &["reproduce", "sine", "--out", "run"],
        &["reproduce", "sine", "--out", "run", "--resume"],
    ] {
        let said = refused(arguments, 1, &place.at);
        assert!(said.contains("`run` is in use by another process"), "{arguments:?}: {said}");
    }
    // Looking is allowed all the time.
    let (_, warned) = done(&["impute", "run", "sensors.csv"], &place.at);
    assert!(warned.contains("the fit of this model has not ended"), "{warned}");
    send(signal::SIGTERM, &child);
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert_eq!({ child }.wait().unwrap().code(), Some(130), "{rest}");
    // What was there is no place for something new.
    let said = refused(&["fit", "sensors.csv", "--out", "run"], 1, &place.at);
    assert!(said.contains("already holds a run"), "{said}");
    done(&["fit", "--out", "run", "--resume", "--epochs", "1"], &place.at);
}

#[test]
fn signals_while_reading_and_while_training() {
    let place = Place::new();
    for number in [signal::SIGTERM, signal::SIGINT] {
        // Half a table has come, and nothing is made of it yet.
        // Whoever runs the tests in the background may have made the command deaf to Ctrl-C.
        let mut child = Command::new("env")
            .args(["--default-signal=INT,TERM", PROGRAM, "fit", "-", "--out", "unread"])
            .current_dir(&place.at)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut table = child.stdin.take().unwrap();
        table.write_all(&sensors(6).as_bytes()[..500]).unwrap();
        let name = format!("/proc/{}/comm", child.id());
        while fs::read_to_string(&name).unwrap().trim() != "stroock" {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        send(number, &child);
        assert_eq!(child.wait().unwrap().signal(), Some(number));
        assert!(!place.at.join("unread").exists());

        let (mut child, mut said) = in_training(&place);
        send(number, &child);
        let mut rest = String::new();
        said.read_to_string(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
        let last = rest.lines().last().unwrap_or_default();
        assert!(last.starts_with("stopped after epoch "), "{rest}");
        assert!(last.ends_with("; go on with: stroock fit --out run --resume"), "{rest}");
        fs::remove_dir_all(place.at.join("run")).unwrap();
    }
}

#[test]
fn signals_after_training() {
    let place = Place::new();
    let (shim, whole, log) = (place.shim(), place.at.join("whole"), place.at.join("calls"));
    let mut fit = place.command(&["fit", "sensors.csv", "--out", "whole", "--epochs", "1"]);
    shim.load(&mut fit, &whole);
    shim.log(&mut fit, &log);
    assert!(fit.output().unwrap().status.success());
    let calls = Call::read(&log).unwrap();
    let last = |is: &dyn Fn(&Call) -> bool| calls.iter().rposition(is).unwrap() + 1;
    let model = fs::read(whole.join("model.safetensors")).unwrap();
    let places = [
        // Training has ended, and what comes after it begins.
        (last(&|call| call.name == "fdatasync"), false),
        (last(&|call| call.name == "write" && call.about(&whole) == "evaluation.json"), true),
    ];
    for (at, is_fitted) in places {
        let run = place.at.join("run");
        let mut fit = place.fit("1");
        shim.fault(&mut fit, &run, Fault::Signal(signal::SIGTERM), at);
        let output = fit.output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{said}");
        let last = "stopped after epoch 1; go on with: stroock fit --out run --resume";
        assert_eq!(said.lines().last(), Some(last), "{said}");
        assert!(!run.join("report.html").exists());
        assert_eq!(fs::read(run.join("model.safetensors")).unwrap() == model, is_fitted);
        done(&["fit", "--out", "run", "--resume"], &place.at);
        assert!(
            fs::read(run.join("model.safetensors")).unwrap() == model && run.join("report.html").exists()
        );
        fs::remove_dir_all(run).unwrap();
    }
    // The last file is being written: then it is, and the command is done.
    let mut fit = place.fit("1");
    let at = calls.iter().rposition(|call| call.about(&whole) == "report.html").unwrap() + 1;
    shim.fault(&mut fit, &place.at.join("run"), Fault::Signal(signal::SIGTERM), at);
    assert_eq!(fit.output().unwrap().status.code(), Some(0));
}

#[test]
fn a_clock_that_jumps() {
    const YEARS: i64 = 30 * 365 * 86_400;
    let place = Place::new();
    let shim = place.shim();
    done(&["fit", "sensors.csv", "--out", "whole", "--epochs", "2"], &place.at);
    let arguments = ["--set", "training.tensorboard=true"];
    let fit = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        shim.clock(&mut command, YEARS);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    };
    fit(&[&["fit", "sensors.csv", "--out", "run", "--epochs", "1"][..], &arguments].concat());
    fit(&["fit", "--out", "run", "--resume", "--epochs", "2"]);
    let losses = |run: &str| -> Vec<String> {
        let metrics = fs::read_to_string(place.at.join(run).join("metrics.jsonl")).unwrap();
        let numbers = |line: &str| line.split("\"rate\"").next().unwrap().to_owned();
        metrics.lines().take(1).map(numbers).collect()
    };
    assert_eq!(losses("run"), losses("whole"));
    let seconds = fs::read_to_string(place.at.join("run/metrics.jsonl")).unwrap();
    for line in seconds.lines() {
        let after = line.split_once("\"seconds\":").unwrap().1;
        let seconds: f64 = after[..after.find(',').unwrap()].parse().unwrap();
        assert!((0.0..600.0).contains(&seconds), "{line}");
    }
    done(&["impute", "run", "sensors.csv"], &place.at);
}

#[test]
fn nobody_reads_what_is_written() {
    let place = Place::new();
    done(&["fit", "sensors.csv", "--out", "run", "--epochs", "1"], &place.at);
    for arguments in [
        &["--help"][..],
        &["fit", "--help"],
        &["completions", "bash"],
        &["describe", "sensors.csv"],
        &["describe", "sensors.csv", "--json"],
        &["impute", "run", "sensors.csv"],
        &["impute", "run", "sensors.csv", "--wide"],
        &["forecast", "run", "sensors.csv", "--for", "5"],
        // More than a pipe holds.
        &["sample", "run", "--count", "400"],
        &["evaluate", "run"],
        &["report", "run"],
        &["fit", "--out", "run", "--resume"],
        &["reproduce", "sine", "--out", "sine", "--epochs", "1", "--limit", "4"],
        &["data", "list"],
    ] {
        // The standard output, the standard error, or both of them.
        for closed in [[true, false], [false, true], [true, true]] {
            let _ = fs::remove_dir_all(place.at.join("sine"));
            let mut child =
                place.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            if closed[0] {
                drop(child.stdout.take());
            }
            if closed[1] {
                drop(child.stderr.take());
            }
            let output = child.wait_with_output().unwrap();
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{arguments:?} {closed:?}: {said}");
            assert!(!said.contains("panicked"), "{arguments:?} {closed:?}: {said}");
        }
    }
}

#[test]
fn nothing_is_connected() {
    let place = Place::new();
    let closed = |arguments: &[&str]| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec \"$0\" \"$@\" <&- >&- 2>&-", PROGRAM]).args(arguments).current_dir(&place.at);
        shell.status().unwrap().code()
    };
    assert_eq!(closed(&["fit", "sensors.csv", "--out", "run", "--epochs", "1"]), Some(0));
    assert!(place.at.join("run/report.html").exists());
    assert_eq!(closed(&["impute", "run", "sensors.csv", "--output", "filled.csv"]), Some(0));
    assert_eq!(closed(&["describe", "-"]), Some(1));
    let output = place.command(&["describe", "-"]).output().unwrap();
    let said = sentence(&output);
    assert!(said.contains("standard input") || said.contains("`-`"), "{said}");
}
