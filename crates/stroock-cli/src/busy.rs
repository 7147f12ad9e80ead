//! A sign of life while something takes long.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{is_silent, say};

/// How often a terminal is drawn anew, and a log gets a line.
const TICK: Duration = Duration::from_millis(150);
const LINE: Duration = Duration::from_secs(20);

/// Does some work and shows that it goes on: on a terminal by a line with the seconds so far that goes away at the end,
/// elsewhere by a line every 20 seconds.
pub fn busy<R>(text: &str, work: impl FnOnce() -> R) -> R {
    if is_silent() || !stderr().is_terminal() {
        return with_lines(LINE, |seconds| say(&format!("{text}: {seconds} s so far")), work);
    }
    let line = ProgressBar::new_spinner();
    // A template that cannot be parsed would be a mistake in this line; the spinner then keeps its usual looks.
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
        line.set_style(style);
    }
    line.set_message(text.to_owned());
    line.enable_steady_tick(TICK);
    let result = work();
    line.finish_and_clear();
    result
}

/// Does some work, and calls `line` with the seconds so far every so often.
fn with_lines<R>(every: Duration, line: impl Fn(u64) + Send, work: impl FnOnce() -> R) -> R {
    let (done, is_done) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let begun = Instant::now();
            while is_done.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                line(begun.elapsed().as_secs());
            }
        });
        // Dropped at the end, also where the work panics: the lines then end.
        let _done = done;
        work()
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn lines_come_while_work_goes_on_and_end_with_it() {
        let lines = AtomicUsize::new(0);
        let count = |_| {
            lines.fetch_add(1, Ordering::SeqCst);
        };
        // The work ends once it has seen three lines.
        let result = with_lines(Duration::from_millis(2), count, || {
            while lines.load(Ordering::SeqCst) < 3 {
                std::thread::sleep(Duration::from_millis(1));
            }
            "done"
        });
        let seen = lines.load(Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(10));
        assert_eq!((result, lines.load(Ordering::SeqCst)), ("done", seen));
    }
}
