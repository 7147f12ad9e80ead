//! One binary for all targets; the environment variable `STROOCK_FUZZ_TARGET` names the one that is run. With
//! `STROOCK_FUZZ_SEEDS`, the seeds of all targets are written to that folder, and each target is named on standard output
//! with the longest input that is worth trying.

#![no_main]

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::process::abort;
use std::sync::{LazyLock, Once};

use libfuzzer_sys::fuzz_target;
use stroock_fuzz::{Guarded, Target, named, targets};

#[global_allocator]
static ALLOCATOR: Guarded = Guarded;

static TARGET: LazyLock<&'static Target> = LazyLock::new(|| {
    let name = std::env::var("STROOCK_FUZZ_TARGET").unwrap_or_default();
    named(&name).unwrap_or_else(|| {
        let names: Vec<&str> = targets().map(|target| target.name).collect();
        eprintln!("STROOCK_FUZZ_TARGET is `{name}`, but must be one of {}", names.join(", "));
        std::process::exit(2)
    })
});

/// libFuzzer's hook aborts on any panic, also on one that is caught where it belongs; here those that reach the target
/// are what counts.
static HOOK: Once = Once::new();

/// Writes the seeds and names the targets, where that is asked for, and leaves.
fn list() {
    let Some(corpus) = std::env::var_os("STROOCK_FUZZ_SEEDS").map(PathBuf::from) else { return };
    for seed in stroock_fuzz::seeds() {
        let folder = corpus.join(seed.target);
        fs::create_dir_all(&folder).expect("a folder can be made");
        fs::write(folder.join(seed.name), seed.content).expect("a seed can be written");
    }
    targets().for_each(|target| println!("{} {}", target.name, target.longest));
    std::process::exit(0)
}

fuzz_target!(init: list(), |data: &[u8]| {
    HOOK.call_once(|| panic::set_hook(Box::new(|_| {})));
    if panic::catch_unwind(AssertUnwindSafe(|| (TARGET.run)(data))).is_ok() {
        return;
    }
    // Once more, with the message.
    panic::set_hook(Box::new(|about| eprintln!("{about}\n{}", std::backtrace::Backtrace::force_capture())));
    let _ = panic::catch_unwind(AssertUnwindSafe(|| (TARGET.run)(data)));
    abort();
});
