//! The state to resume from, `last/`, and its replacement.
//!
//! A folder cannot be replaced in one step. The steps, each of which reaches the disk before the next one:
//!
//! 1. write `last.new/`, its `state.json` as the last file: a folder with `state.json` is complete;
//! 2. rename `last/` to `last.old/`;
//! 3. rename `last.new/` to `last/`;
//! 4. remove `last.old/`.
//!
//! After a kill, `last.new/` is the newest state if it is complete, and the steps are resumed. If it is not,
//! step 2 was never reached: `last/` is what it was. Nothing complete is removed before something newer is
//! complete.

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::atomic::{create_folder, remove_folder, rename, write_atomic};
use super::{RunError, TensorFile};

const LAST: &str = "last";
pub(super) const NEW: &str = "last.new";
pub(super) const OLD: &str = "last.old";

const MODEL: &str = "model.safetensors";
const OPTIMISER: &str = "optimiser.safetensors";
const STATE: &str = "state.json";

/// The state of a run at the end of an epoch.
#[derive(Clone, Debug)]
pub struct LastState<S> {
    /// `last/model.safetensors`: the model as it was then, not the best one.
    pub model: TensorFile,
    /// `last/optimiser.safetensors`: the moments of the optimiser, and the averages of the parameters if there are any.
    pub optimiser: TensorFile,
    /// `last/state.json`: the rest.
    pub state: S,
}

/// What had to be put right because a run was killed while it saved its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Nothing: no save was under way.
    Nothing,
    /// The new state was complete and has taken the place of the old one.
    FinishedSave,
    /// The new state was not complete. The run continues from the state before it, if there is one.
    DiscardedHalfSave,
}

pub(super) fn save<S: Serialize + DeserializeOwned>(
    run: &Path,
    model: &TensorFile,
    optimiser: &TensorFile,
    state: &S,
) -> Result<(), RunError> {
    // An earlier save of this process may have failed halfway, for example on a full disk.
    recover(run)?;

    let unwritable = |reason: serde_json::Error| {
        let (path, reason) = (run.join(LAST).join(STATE), reason.to_string());
        RunError::StateNotWritable { path, reason }
    };
    let state = serde_json::to_vec_pretty(state).map_err(unwritable)?;
    // JSON has no NaN and no infinity: better to learn of them now than when the run is to be resumed.
    serde_json::from_slice::<S>(&state).map_err(unwritable)?;

    let new = run.join(NEW);
    create_folder(&new)?;
    model.save(&new.join(MODEL))?;
    optimiser.save(&new.join(OPTIMISER))?;
    write_atomic(&new.join(STATE), &state)?;
    swap(run)
}

/// `last/state.json` alone.
pub(super) fn load_state<S: DeserializeOwned>(run: &Path) -> Result<Option<S>, RunError> {
    let last = run.join(LAST);
    if !last.is_dir() {
        return Ok(None);
    }
    let path = last.join(STATE);
    let state = fs::read(&path).map_err(RunError::io("read", &path))?;
    let state = serde_json::from_slice(&state)
        .map_err(|error| RunError::State { path, reason: error.to_string() })?;
    Ok(Some(state))
}

pub(super) fn load<S: DeserializeOwned>(run: &Path) -> Result<Option<LastState<S>>, RunError> {
    let last = run.join(LAST);
    let Some(state) = load_state(run)? else { return Ok(None) };
    Ok(Some(LastState {
        model: TensorFile::load(&last.join(MODEL))?,
        optimiser: TensorFile::load(&last.join(OPTIMISER))?,
        state,
    }))
}

/// Brings the folder into order after a kill.
pub(super) fn recover(run: &Path) -> Result<Recovery, RunError> {
    if run.join(NEW).join(STATE).is_file() {
        swap(run)?;
        return Ok(Recovery::FinishedSave);
    }
    let half_save = run.join(NEW).exists();
    discard(&run.join(NEW))?;
    if run.join(LAST).exists() {
        discard(&run.join(OLD))?;
    } else if run.join(OLD).exists() {
        // Our own steps never lead here: the new state was removed by hand.
        rename(&run.join(OLD), &run.join(LAST))?;
    }
    Ok(if half_save { Recovery::DiscardedHalfSave } else { Recovery::Nothing })
}

/// Steps 2 to 4, from wherever they were interrupted. `last.new/` is complete.
fn swap(run: &Path) -> Result<(), RunError> {
    let (last, new, old) = (run.join(LAST), run.join(NEW), run.join(OLD));
    if last.exists() {
        discard(&old)?;
        rename(&last, &old)?;
    }
    rename(&new, &last)?;
    discard(&old)
}

fn discard(folder: &Path) -> Result<(), RunError> {
    if folder.exists() { remove_folder(folder) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::super::atomic::crash;
    use super::super::{RunFolder, Tensor, TensorFile};
    use super::*;

    fn tensors(value: f32) -> TensorFile {
        let mut file = TensorFile::new();
        file.push("weight", Tensor::new(vec![1], vec![value]).unwrap());
        file
    }

    fn save_epoch(run: &RunFolder, epoch: u32) -> Result<(), RunError> {
        run.save_last(&tensors(epoch as f32), &tensors(-(epoch as f32)), &epoch)
    }

    /// Opens the run as a new process would and returns the epoch of its state, which must be consistent.
    fn epoch_on_disk(path: &Path) -> Option<u32> {
        let run = RunFolder::open(path).unwrap();
        assert!(!path.join(NEW).exists() && !path.join(OLD).exists(), "the folder is in order");
        let last = run.load_last::<u32>().unwrap()?;
        assert_eq!(last.model.tensors, tensors(last.state as f32).tensors);
        assert_eq!(last.optimiser.tensors, tensors(-(last.state as f32)).tensors);
        Some(last.state)
    }

    /// Saves a state, with a crash after every possible number of changes to the disk; and opens the run, with
    /// a crash after every possible number of changes again.
    fn crash_everywhere(before: Option<u32>, after: u32) {
        let mut finished = false;
        for save_changes in 0.. {
            for open_changes in 0.. {
                let scratch = tempfile::tempdir().unwrap();
                let path = scratch.path();
                let run = RunFolder::create(path).unwrap();
                run.write_config("").unwrap();
                if let Some(epoch) = before {
                    save_epoch(&run, epoch).unwrap();
                }
                let (result, save_crashed) = crash::after(save_changes, || save_epoch(&run, after));
                finished = !save_crashed;
                drop(run);

                let (_, open_crashed) = crash::after(open_changes, || RunFolder::open(path).map(drop));
                let epoch = epoch_on_disk(path);
                assert!(epoch == before || epoch == Some(after), "{save_changes} {open_changes} {epoch:?}");
                if result.is_ok() {
                    assert_eq!(epoch, Some(after));
                }
                if !open_crashed {
                    break;
                }
            }
            if finished {
                break;
            }
        }
        assert!(finished);
    }

    #[test]
    fn a_crash_at_any_instant_of_the_first_save_leaves_none_or_all_of_it() {
        crash_everywhere(None, 1);
    }

    #[test]
    fn a_crash_at_any_instant_of_a_later_save_leaves_the_old_or_the_new_state() {
        crash_everywhere(Some(1), 2);
    }

    #[test]
    fn a_save_after_a_failed_one_in_the_same_process_works() {
        for changes in 0.. {
            let scratch = tempfile::tempdir().unwrap();
            let run = RunFolder::create(scratch.path()).unwrap();
            run.write_config("").unwrap();
            save_epoch(&run, 1).unwrap();
            let (_, crashed) = crash::after(changes, || save_epoch(&run, 2));
            save_epoch(&run, 3).unwrap();
            drop(run);
            assert_eq!(epoch_on_disk(scratch.path()), Some(3));
            if !crashed {
                break;
            }
        }
    }
}
