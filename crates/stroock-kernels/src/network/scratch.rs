//! Working memory that tasks hand on to each other.

use std::sync::Mutex;

/// Scratch for as many tasks as run at the same time. Fresh memory is slow, because the operating system
/// clears it page by page: a task takes over what an earlier one has left.
pub(super) struct Scratch<S> {
    idle: Mutex<Vec<S>>,
}

impl<S> Scratch<S> {
    pub fn new() -> Self {
        Self { idle: Mutex::new(Vec::new()) }
    }

    /// Runs `task` on idle scratch, or on what `make` makes. Its contents are those of an earlier task.
    pub fn with<R>(&self, make: impl FnOnce() -> S, task: impl FnOnce(&mut S) -> R) -> R {
        let idle = || self.idle.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let taken = idle().pop();
        let mut scratch = taken.unwrap_or_else(make);
        let result = task(&mut scratch);
        idle().push(scratch);
        result
    }
}
