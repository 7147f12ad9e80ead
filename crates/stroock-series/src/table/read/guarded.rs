//! Calls into code of others that panics on some damaged files.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// What a call returns; nothing where it panics. Whatever it was working on must not be used any more.
///
/// The panic is not reported either: to the user, it is a file that cannot be read. All others are, by whatever hook there
/// was before the first of these calls.
pub(super) fn guarded<T>(call: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |about| {
            if !IS_GUARDED.get() {
                others(about);
            }
        }));
    });
    let before = IS_GUARDED.replace(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(call));
    IS_GUARDED.set(before);
    outcome.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_nothing() {
        assert_eq!(guarded(|| 3), Some(3));
        assert_eq!(guarded(|| -> u8 { panic!("a damaged file") }), None);
        assert_eq!(guarded(|| guarded(|| 1)), Some(Some(1)));
        assert!(!IS_GUARDED.get());
    }
}
