use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

use stroock::run::{Recovery, RunError, RunFolder, Tensor, TensorFile};

fn tensors(epoch: u64) -> TensorFile {
    let mut file = TensorFile::new();
    file.push("weight", Tensor::new(vec![1000], vec![epoch as f64; 1000]).unwrap());
    file
}

fn save(run: &RunFolder, epoch: u64) {
    run.save_last(&tensors(epoch), &tensors(epoch + 1), &epoch).unwrap();
}

/// The epoch of the saved state, whose three files must belong together.
fn saved_epoch(run: &RunFolder) -> Option<u64> {
    let last = run.load_last::<u64>().unwrap()?;
    assert_eq!(last.model.tensors, tensors(last.state).tensors);
    assert_eq!(last.optimiser.tensors, tensors(last.state + 1).tensors);
    Some(last.state)
}

fn new_run(folder: &Path) -> RunFolder {
    let run = RunFolder::create(folder).unwrap();
    run.write_config("seed = 1\n").unwrap();
    run
}

#[test]
fn a_run_is_created_saved_and_opened() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("deep/inside");
    let run = new_run(&path);
    assert_eq!(saved_epoch(&run), None);
    run.save_best(&tensors(7)).unwrap();
    save(&run, 1);
    save(&run, 2);
    drop(run);

    let run = RunFolder::open(&path).unwrap();
    assert_eq!(run.recovery(), Recovery::Nothing);
    assert_eq!(run.read_config().unwrap(), "seed = 1\n");
    assert_eq!(saved_epoch(&run), Some(2));
    assert_eq!(TensorFile::load(&run.paths().model()).unwrap().tensors, tensors(7).tensors);
}

#[test]
fn a_folder_with_a_run_is_not_overwritten() {
    for name in ["config.toml", "metrics.jsonl", "model.safetensors", "last", "last.new", "report.html"] {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join(name), "mine").unwrap();
        let error = RunFolder::create(scratch.path()).unwrap_err();
        assert!(matches!(error, RunError::Occupied { found, .. } if found == name));
        assert!(error.to_string().contains("resume that run, or choose another folder"));
        assert_eq!(fs::read(scratch.path().join(name)).unwrap(), b"mine");
    }
}

#[test]
fn files_that_are_no_run_are_left_alone() {
    let scratch = tempfile::tempdir().unwrap();
    fs::write(scratch.path().join("notes.txt"), "mine").unwrap();
    drop(new_run(scratch.path()));
    RunFolder::open(scratch.path()).unwrap();
    assert_eq!(fs::read(scratch.path().join("notes.txt")).unwrap(), b"mine");
}

#[test]
fn a_folder_without_a_run_cannot_be_opened_and_stays_as_it_is() {
    let scratch = tempfile::tempdir().unwrap();
    assert!(matches!(RunFolder::open(scratch.path()), Err(RunError::NoRun { .. })));
    assert!(matches!(RunFolder::open(scratch.path().join("missing")), Err(RunError::NoRun { .. })));
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn only_one_process_at_a_time_has_a_run() {
    let scratch = tempfile::tempdir().unwrap();
    let run = new_run(scratch.path());
    assert!(matches!(RunFolder::open(scratch.path()), Err(RunError::InUse { .. })));
    assert!(matches!(RunFolder::create(scratch.path()), Err(RunError::InUse { .. })));
    drop(run);
    RunFolder::open(scratch.path()).unwrap();
}

#[test]
fn leftovers_of_a_killed_write_are_removed_and_nothing_else() {
    let scratch = tempfile::tempdir().unwrap();
    drop(new_run(scratch.path()));
    let (ours, theirs) = (".model.safetensors.123-4.tmp", ".notes.tmp");
    for name in [ours, theirs] {
        fs::write(scratch.path().join(name), "half").unwrap();
    }
    RunFolder::open(scratch.path()).unwrap();
    assert!(!scratch.path().join(ours).exists());
    assert!(scratch.path().join(theirs).exists());
}

#[test]
fn a_state_that_cannot_be_saved_leaves_the_one_before() {
    let scratch = tempfile::tempdir().unwrap();
    let run = new_run(scratch.path());
    save(&run, 1);
    let mut diverged = TensorFile::new();
    diverged.push("weight", Tensor::new(vec![1], vec![f64::NAN]).unwrap());
    assert!(matches!(run.save_last(&tensors(2), &diverged, &2), Err(RunError::TensorFile { .. })));
    assert_eq!(saved_epoch(&run), Some(1));
    let error = run.save_last(&tensors(2), &tensors(3), &f64::INFINITY).unwrap_err();
    assert!(matches!(error, RunError::StateNotWritable { .. }), "{error}");
    assert_eq!(saved_epoch(&run), Some(1));
    save(&run, 3);
    assert_eq!(saved_epoch(&run), Some(3));
}

/// Which files of `last.old` (epoch 1), `last` (epoch 2) and `last.new` (epoch 3) are there.
type Folders = [Option<&'static [&'static str]>; 3];

/// Every way in which a kill can leave the folder, made by hand. (The tests inside the crate stop the real code
/// at every change of the disk.)
#[test]
fn opening_recovers_whatever_a_kill_has_left() {
    let (whole, half): (&'static [&str], &'static [&str]) = (&["model", "optimiser", "state"], &["model"]);
    let no_state: &'static [&str] = &["model", "optimiser"];
    let cases: &[(Folders, Option<u64>, Recovery)] = &[
        ([None, None, Some(&[])], None, Recovery::DiscardedHalfSave),
        ([None, None, Some(half)], None, Recovery::DiscardedHalfSave),
        ([None, None, Some(no_state)], None, Recovery::DiscardedHalfSave),
        ([None, None, Some(whole)], Some(3), Recovery::FinishedSave),
        ([None, Some(whole), None], Some(2), Recovery::Nothing),
        ([None, Some(whole), Some(&[])], Some(2), Recovery::DiscardedHalfSave),
        ([None, Some(whole), Some(no_state)], Some(2), Recovery::DiscardedHalfSave),
        ([None, Some(whole), Some(whole)], Some(3), Recovery::FinishedSave),
        ([Some(whole), None, Some(whole)], Some(3), Recovery::FinishedSave),
        ([Some(whole), Some(whole), None], Some(2), Recovery::Nothing),
        ([Some(no_state), Some(whole), None], Some(2), Recovery::Nothing),
        ([Some(half), Some(whole), Some(whole)], Some(3), Recovery::FinishedSave),
        ([Some(whole), None, None], Some(1), Recovery::Nothing),
        ([Some(whole), None, Some(half)], Some(1), Recovery::DiscardedHalfSave),
    ];
    for (case, (folders, survivor, recovery)) in cases.iter().enumerate() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path();
        drop(new_run(path));
        for ((folder, files), epoch) in ["last.old", "last", "last.new"].iter().zip(folders).zip(1..) {
            let Some(files) = files else { continue };
            let folder = path.join(folder);
            fs::create_dir(&folder).unwrap();
            for file in *files {
                match *file {
                    "model" => tensors(epoch).save(&folder.join("model.safetensors")).unwrap(),
                    "optimiser" => tensors(epoch + 1).save(&folder.join("optimiser.safetensors")).unwrap(),
                    _ => fs::write(folder.join("state.json"), epoch.to_string()).unwrap(),
                }
            }
        }
        let run = RunFolder::open(path).unwrap();
        assert_eq!(run.recovery(), *recovery, "case {case}");
        assert_eq!(saved_epoch(&run), *survivor, "case {case}");
        assert!(!path.join("last.new").exists() && !path.join("last.old").exists(), "case {case}");
        save(&run, 9);
        assert_eq!(saved_epoch(&run), Some(9), "case {case}");
    }
}

#[test]
fn a_killed_process_loses_no_state() {
    let scratch = tempfile::tempdir().unwrap();
    drop(new_run(scratch.path()));
    let mut confirmed = 0;
    for round in 0..20 {
        let mut saver = super::child("folder::saves_until_killed", scratch.path()).spawn().unwrap();
        let lines = BufReader::new(saver.stdout.take().unwrap()).lines();
        let epochs = lines.filter_map(|line| line.unwrap().strip_prefix("saved ")?.parse::<u64>().ok());
        confirmed = epochs.take(2).last().expect("the child saves");
        std::thread::sleep(Duration::from_micros(137 * round));
        saver.kill().unwrap();
        saver.wait().unwrap();
        let epoch = saved_epoch(&RunFolder::open(scratch.path()).unwrap()).unwrap();
        assert!(epoch >= confirmed, "epoch {confirmed} was saved, but {epoch} is on the disk");
    }
    assert!(confirmed >= 40, "every process continues where the one before was killed");
}

#[test]
#[ignore = "runs in the process that `a_killed_process_loses_no_state` kills"]
fn saves_until_killed() {
    let Some(folder) = std::env::var_os("RUN_FOLDER") else { return };
    let run = RunFolder::open(Path::new(&folder)).unwrap();
    let first = saved_epoch(&run).map_or(1, |epoch| epoch + 1);
    for epoch in first.. {
        save(&run, epoch);
        // A line that nobody reads any more must not end the process before the kill does.
        use std::io::Write;
        let _ = writeln!(std::io::stdout(), "\nsaved {epoch}");
    }
}

#[test]
fn a_damaged_state_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    let run = new_run(scratch.path());
    save(&run, 1);
    let last = run.paths().last();
    fs::write(last.join("state.json"), "\"text\"").unwrap();
    let error = run.load_last::<u64>().unwrap_err();
    assert!(matches!(&error, RunError::State { path, .. } if path.ends_with("last/state.json")), "{error}");
    fs::write(last.join("state.json"), "1").unwrap();
    fs::remove_file(last.join("optimiser.safetensors")).unwrap();
    assert!(run.load_last::<u64>().unwrap_err().to_string().contains("optimiser.safetensors"));
}
