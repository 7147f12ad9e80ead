use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use indicatif::{ProgressDrawTarget, TermLike};
use stroock::run::{Progress, RunLength};

const LENGTH: RunLength = RunLength { epochs: 3, steps_per_epoch: 4, done: 1 };

/// Remembers everything that is written, and where a terminal would have cleared a line.
#[derive(Clone, Debug, Default)]
struct Screen(Arc<Mutex<String>>);

impl Screen {
    fn text(&self) -> String {
        self.0.lock().unwrap().clone()
    }

    fn add(&self, text: &str) -> io::Result<()> {
        self.0.lock().unwrap().push_str(text);
        Ok(())
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.add(std::str::from_utf8(bytes).unwrap())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TermLike for Screen {
    fn width(&self) -> u16 {
        160
    }

    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.add(&format!("{text}\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.add(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.add("\n")
    }

    fn flush(&self) -> io::Result<()> {
        Ok(())
    }
}

fn train(mut progress: Progress) {
    for epoch in 0..2 {
        for _ in 0..4 {
            progress.step(50, 1.25);
        }
        progress.end_epoch(&[("loss", 1.25), ("validation", 2.5 - f64::from(epoch))]);
    }
    progress.say("done");
    progress.finish();
}

#[test]
fn elsewhere_than_on_a_terminal_every_epoch_is_a_line() {
    let screen = Screen::default();
    train(Progress::lines(LENGTH, Box::new(screen.clone())));
    let text = screen.text();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[0].starts_with("epoch 2/3: loss 1.250, validation 2.500, "), "{text}");
    assert!(lines[1].starts_with("epoch 3/3: loss 1.250, validation 1.500, "), "{text}");
    assert!(lines[1].contains(" steps/s, ") && lines[1].ends_with(" series/s, 0 s left"), "{text}");
    assert_eq!(lines[2], "done");
}

#[test]
fn a_terminal_gets_a_bar() {
    let screen = Screen::default();
    let target = ProgressDrawTarget::term_like_with_hz(Box::new(screen.clone()), 255);
    train(Progress::bar(LENGTH, target));
    let text = screen.text();
    assert!(text.contains("epoch 2/3 [") && text.contains("loss 1.250, "), "{text}");
    let last = text.lines().rfind(|line| line.contains("epoch")).unwrap();
    assert!(last.starts_with("epoch 3/3 [====================] loss 1.250, "), "{text}");
    assert!(last.contains("0 s left; before: loss 1.250, validation 2.500"), "{text}");
    assert!(text.contains("done"), "{text}");
}

#[test]
fn a_log_that_cannot_be_written_does_not_end_the_run() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("disk full"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Err(io::Error::other("disk full"))
        }
    }
    train(Progress::lines(LENGTH, Box::new(Full)));
    train(Progress::hidden(LENGTH));
}
