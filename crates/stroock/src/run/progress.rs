//! What a user sees of a run while it goes on.
//!
//! On a terminal, a bar over all steps of the run that is redrawn in place:
//!
//! ```text
//! epoch 12/100 [==>      ] loss 1.234, 12.3 steps/s, 615 series/s, 6 min left; before: validation 1.301
//! ```
//!
//! Elsewhere (a log file, a batch system), one line per epoch:
//!
//! ```text
//! epoch 12/100: loss 1.234, validation 1.301, 12.3 steps/s, 615 series/s, 6 min left
//! ```

use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, Instant};

#[cfg(feature = "progress")]
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long a run is, and where it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLength {
    /// Epochs of the whole run.
    pub epochs: u64,
    /// Steps of one epoch.
    pub steps_per_epoch: u64,
    /// Epochs that were done before: 0, unless the run is resumed.
    pub done: u64,
}

/// The display of a run.
///
/// ```
/// use stroock::run::{Progress, RunLength};
///
/// let length = RunLength { epochs: 2, steps_per_epoch: 3, done: 0 };
/// let mut progress = Progress::on_stderr(length);
/// for _ in 0..2 {
///     for _ in 0..3 {
///         progress.step(50, 1.25); // a batch of 50 series with this loss
///     }
///     progress.end_epoch(&[("loss", 1.25), ("validation", 1.5)]);
/// }
/// progress.finish();
/// ```
#[derive(Debug)]
pub struct Progress {
    display: Display,
    pace: Pace,
    started: Instant,
    /// Epochs that are complete.
    epochs: u64,
    /// What the last epoch gave, in words.
    last_epoch: String,
}

/// Where a run is, for a display of another program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment<'a> {
    /// Epochs that are complete.
    pub epoch: u64,
    /// Epochs of the whole run.
    pub epochs: u64,
    /// Share of the steps of the whole run that are done.
    pub share: f64,
    /// What there is to say.
    pub text: &'a str,
    /// Whether something has come to its end, and not one of many steps.
    pub is_mark: bool,
}

/// What shows moments.
type Show = Box<dyn FnMut(Moment<'_>) + Send>;

/// The time from one step that is shown by another program to the next one.
const PAUSE: Duration = Duration::from_millis(100);

enum Display {
    #[cfg(feature = "progress")]
    Bar(ProgressBar),
    Lines(Box<dyn Write + Send>),
    Called {
        show: Show,
        shown: Option<Instant>,
    },
    Hidden,
}

impl Progress {
    /// A bar if the standard error is a terminal, lines on the standard error if not.
    pub fn on_stderr(length: RunLength) -> Self {
        #[cfg(feature = "progress")]
        if io::IsTerminal::is_terminal(&io::stderr()) {
            return Self::bar(length, ProgressDrawTarget::stderr());
        }
        Self::lines(length, Box::new(io::stderr()))
    }

    /// A bar.
    #[cfg(feature = "progress")]
    pub fn bar(length: RunLength, target: ProgressDrawTarget) -> Self {
        let steps = length.epochs.saturating_mul(length.steps_per_epoch);
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        // A template that cannot be parsed would be a mistake in this line; the bar then keeps its usual looks.
        if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:20}] {wide_msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        Self::new(length, Display::Bar(bar))
    }

    /// One line per epoch.
    pub fn lines(length: RunLength, writer: Box<dyn Write + Send>) -> Self {
        Self::new(length, Display::Lines(writer))
    }

    /// A display of the caller, which is told of the ends of epochs, of phases, and of steps ten times a second at most.
    /// It is called by the thread that trains, between two steps.
    ///
    /// ```
    /// use stroock::run::{Progress, RunLength};
    ///
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let length = RunLength { epochs: 2, steps_per_epoch: 1, done: 0 };
    /// let mut progress = Progress::called(length, move |moment| {
    ///     let _ = sender.send((moment.share, moment.is_mark));
    /// });
    /// progress.step(50, 1.25);
    /// progress.end_epoch(&[("loss", 1.25)]);
    /// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [(0.5, false), (0.5, true)]);
    /// ```
    pub fn called(length: RunLength, show: impl FnMut(Moment<'_>) + Send + 'static) -> Self {
        Self::new(length, Display::Called { show: Box::new(show), shown: None })
    }

    /// Nothing at all.
    pub fn hidden(length: RunLength) -> Self {
        Self::new(length, Display::Hidden)
    }

    fn new(length: RunLength, display: Display) -> Self {
        let pace = Pace { length, steps: 0, series: 0 };
        Progress { display, pace, started: Instant::now(), epochs: length.done, last_epoch: String::new() }
    }

    /// Notes a step on a batch of so many series.
    pub fn step(&mut self, series: u64, loss: f64) {
        self.pace.steps += 1;
        self.pace.series += series;
        if let Display::Called { shown, .. } = &self.display {
            if shown.is_none_or(|shown| shown.elapsed() >= PAUSE) {
                let pace = self.pace.words(self.started.elapsed());
                let text = format!("loss {}, {pace}{}", Short(loss), self.last_epoch);
                self.call(&text, false);
            }
            return;
        }
        self.redraw(loss);
    }

    /// Tells the display of the caller where the run is.
    fn call(&mut self, text: &str, is_mark: bool) {
        let RunLength { epochs, steps_per_epoch, done } = self.pace.length;
        let all = epochs.saturating_mul(steps_per_epoch).max(1);
        let steps = done.saturating_mul(steps_per_epoch).saturating_add(self.pace.steps);
        let share = (steps as f64 / all as f64).min(1.0);
        if let Display::Called { show, shown } = &mut self.display {
            show(Moment { epoch: self.epochs, epochs, share, text, is_mark });
            *shown = Some(Instant::now());
        }
    }

    #[cfg(not(feature = "progress"))]
    fn redraw(&self, _: f64) {}

    #[cfg(feature = "progress")]
    fn redraw(&self, loss: f64) {
        let Display::Bar(bar) = &self.display else { return };
        let RunLength { epochs, steps_per_epoch, done } = self.pace.length;
        let pace = self.pace.words(self.started.elapsed());
        bar.set_prefix(format!("epoch {}/{epochs}", epochs.min(self.epochs + 1)));
        bar.set_message(format!("loss {}, {pace}{}", Short(loss), self.last_epoch));
        bar.set_position(done.saturating_mul(steps_per_epoch).saturating_add(self.pace.steps));
    }

    /// Notes the end of an epoch, and shows what it gave.
    pub fn end_epoch(&mut self, metrics: &[(&str, f64)]) {
        self.epochs += 1;
        let words: Vec<_> = metrics.iter().map(|(name, value)| format!("{name} {}", Short(*value))).collect();
        let words = words.join(", ");
        if let Display::Called { .. } = &self.display {
            let pace = self.pace.words(self.started.elapsed());
            let separator = if words.is_empty() { "" } else { ", " };
            self.call(&format!("{words}{separator}{pace}"), true);
        }
        if let Display::Lines(writer) = &mut self.display {
            let (epoch, epochs) = (self.epochs, self.pace.length.epochs);
            let pace = self.pace.words(self.started.elapsed());
            let separator = if words.is_empty() { "" } else { ", " };
            // A log that cannot be written is no reason to lose a run.
            let _ = writeln!(writer, "epoch {epoch}/{epochs}: {words}{separator}{pace}");
            let _ = writer.flush();
        }
        self.last_epoch = if words.is_empty() { words } else { format!("; before: {words}") };
    }

    /// Says what is done after the last epoch, which may take a while, too.
    pub fn phase(&mut self, text: &str) {
        match &mut self.display {
            #[cfg(feature = "progress")]
            Display::Bar(bar) => bar.set_message(format!("{text}{}", self.last_epoch)),
            Display::Lines(writer) => {
                let _ = writeln!(writer, "{text}");
                let _ = writer.flush();
            }
            Display::Called { .. } => self.call(text, true),
            Display::Hidden => {}
        }
    }

    /// Prints a line of text without disturbing the bar.
    pub fn say(&mut self, text: &str) {
        match &mut self.display {
            #[cfg(feature = "progress")]
            Display::Bar(bar) => bar.println(text),
            Display::Lines(writer) => {
                let _ = writeln!(writer, "{text}");
            }
            Display::Called { .. } => self.call(text, true),
            Display::Hidden => {}
        }
    }

    /// Ends the display and leaves it on the screen as it is.
    pub fn finish(self) {
        #[cfg(feature = "progress")]
        if let Display::Bar(bar) = self.display {
            bar.abandon();
        }
    }
}

/// How much was done, of how much.
#[derive(Debug)]
struct Pace {
    length: RunLength,
    /// Steps of this process.
    steps: u64,
    /// Series in the batches of these steps.
    series: u64,
}

impl Pace {
    /// Rates and the time left, if all that follows goes as fast as what was done in the time `elapsed`.
    fn words(&self, elapsed: Duration) -> String {
        let RunLength { epochs, steps_per_epoch, done } = self.length;
        let all = epochs.saturating_sub(done).saturating_mul(steps_per_epoch);
        let seconds = elapsed.as_secs_f64().max(f64::MIN_POSITIVE);
        let rate = |count: u64| count as f64 / seconds;
        let left = all.saturating_sub(self.steps) as f64 / rate(self.steps);
        let (steps, series) = (Short(rate(self.steps)), Short(rate(self.series)));
        format!("{steps} steps/s, {series} series/s, {} left", Span(left))
    }
}

/// A number with four significant digits.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        if size == 0.0 || !size.is_finite() {
            write!(f, "{}", self.0)
        } else if (1e-3..1e6).contains(&size) {
            let digits = (3 - size.log10().floor() as i32).max(0) as usize;
            write!(f, "{:.digits$}", self.0)
        } else {
            write!(f, "{:.3e}", self.0)
        }
    }
}

/// A time in seconds, in the unit that suits it.
struct Span(f64);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MINUTE: f64 = 60.0;
        const HOUR: f64 = 60.0 * MINUTE;
        const DAY: f64 = 24.0 * HOUR;
        match self.0 {
            seconds if !seconds.is_finite() => f.write_str("unknown time"),
            seconds if seconds < 1.5 * MINUTE => write!(f, "{seconds:.0} s"),
            seconds if seconds < 1.5 * HOUR => write!(f, "{:.0} min", seconds / MINUTE),
            seconds if seconds < 1.5 * DAY => write!(f, "{:.1} h", seconds / HOUR),
            seconds => write!(f, "{:.1} days", seconds / DAY),
        }
    }
}

impl fmt::Debug for Display {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            #[cfg(feature = "progress")]
            Display::Bar(_) => "Bar",
            Display::Lines(_) => "Lines",
            Display::Called { .. } => "Called",
            Display::Hidden => "Hidden",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let words =
            [1.23456, 12.3456, 1234.56, 0.012345, 1.5e-7, -2.0, 0.0, f64::NAN].map(|x| Short(x).to_string());
        assert_eq!(words, ["1.235", "12.35", "1235", "0.01235", "1.500e-7", "-2.000", "0", "NaN"]);
    }

    #[test]
    fn times_have_a_suitable_unit() {
        let words = [4.4, 89.0, 360.0, 7200.0, 200_000.0, f64::NAN].map(|x| Span(x).to_string());
        assert_eq!(words, ["4 s", "89 s", "6 min", "2.0 h", "2.3 days", "unknown time"]);
    }

    #[test]
    fn what_comes_after_the_epochs_is_said() {
        let (reader, writer) = io::pipe().unwrap();
        let length = RunLength { epochs: 1, steps_per_epoch: 1, done: 0 };
        let mut progress = Progress::lines(length, Box::new(writer));
        progress.step(2, 0.5);
        progress.end_epoch(&[("loss", 0.5)]);
        progress.phase("comparing methods");
        progress.finish();
        let lines = io::read_to_string(reader).unwrap();
        assert!(
            lines.starts_with("epoch 1/1: loss 0.5000, ") && lines.ends_with("\ncomparing methods\n"),
            "{lines}"
        );
    }

    #[test]
    fn time_left_counts_the_steps_of_this_process_only() {
        let length = RunLength { epochs: 10, steps_per_epoch: 100, done: 5 };
        let pace = Pace { length, steps: 100, series: 5000 };
        let words = pace.words(Duration::from_secs(10));
        assert_eq!(words, "10.00 steps/s, 500.0 series/s, 40 s left");
    }
}
