//! Every input of the corpus, and mutations of it, through every target: no panic, no large allocation.
//! `scripts/fuzz` looks for new ones.

use std::fs;
use std::panic;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use stroock_fuzz::{Guarded, Target, named, seeds, targets};
use stroock_kernels::noise::philox;

#[global_allocator]
static ALLOCATOR: Guarded = Guarded;

/// Longest time that an input may take.
const SLOW: Duration = Duration::from_secs(20);

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

/// The seeds of a target and what is kept beside them.
fn inputs(target: &Target) -> Vec<(String, Vec<u8>)> {
    let seeds = seeds().into_iter().filter(|seed| seed.target == target.name);
    let mut all: Vec<(String, Vec<u8>)> = seeds.map(|seed| (seed.name, seed.content)).collect();
    let kept = fs::read_dir(corpus().join(target.name)).into_iter().flatten();
    all.extend(kept.map(|entry| {
        let path = entry.unwrap().path();
        (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap())
    }));
    all.sort();
    all
}

/// Runs an input; the message names it where it fails.
fn replay(target: &Target, name: &str, content: &[u8]) {
    let start = Instant::now();
    let outcome = panic::catch_unwind(|| (target.run)(content));
    assert!(outcome.is_ok(), "target {}, input {name}: {content:?}", target.name);
    assert!(start.elapsed() < SLOW, "target {}, input {name} takes {:?}", target.name, start.elapsed());
}

#[test]
fn every_input_of_the_corpus_comes_back() {
    for target in targets() {
        let inputs = inputs(target);
        assert!(!inputs.is_empty(), "{} has no inputs", target.name);
        for (name, content) in inputs {
            replay(target, &name, &content);
        }
    }
}

/// Changes a few bytes, or cuts, doubles or removes a piece.
fn mutated(content: &[u8], number: u32) -> Vec<u8> {
    let mut draw = 0;
    let mut random = |below: usize| {
        draw += 1;
        philox([draw, number, 0, 0], [0xf022, 1])[0] as usize % below.max(1)
    };
    let mut content = content.to_vec();
    for _ in 0..=random(4) {
        let (at, length) = (random(content.len()), 1 + random(8));
        let end = (at + length).min(content.len());
        match random(6) {
            0 if !content.is_empty() => content[at] = [0, 255, b'9', b'-', b'"', b'\n'][random(6)],
            1 if !content.is_empty() => content[at] ^= 1 << random(8),
            2 => content.truncate(at),
            3 => drop(content.drain(at..end)),
            4 => {
                let piece = content[at..end].to_vec();
                content.splice(at..at, piece);
            }
            _ => {
                let number: &[u8] =
                    [&b"1e400"[..], b"999999999999", b"-1", b"NaN", b"[[[[", b"\xff\xff"][random(6)];
                content.splice(at..end, number.iter().copied());
            }
        }
    }
    content
}

#[test]
fn mutations_of_the_corpus_come_back() {
    // What needs burn is not under libFuzzer in the gate.
    let asked = std::env::var("STROOCK_REPLAY_SECONDS").ok().and_then(|text| text.parse().ok());
    let (share, most) = asked.map_or((1, 2000), |seconds| (seconds, u32::MAX));
    let share = Duration::from_secs(share);
    for target in targets() {
        let inputs = inputs(target);
        let start = Instant::now();
        for number in (0..most).take_while(|_| start.elapsed() < share) {
            let (name, content) = &inputs[number as usize % inputs.len()];
            replay(target, &format!("{name}, mutation {number}"), &mutated(content, number));
        }
    }
}

#[test]
fn targets_have_names_of_their_own() {
    for target in targets() {
        assert_eq!(named(target.name).map(|found| found.longest), Some(target.longest));
        assert!(seeds().iter().any(|seed| seed.target == target.name), "{} has no seeds", target.name);
    }
}
