//! Handwritten digits: the published files, hand-made ones, and damaged ones.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use stroock::series::{Labels, Observation};
use stroock_experiments::data::mnist::{Digits, read_images, read_labels};
use stroock_experiments::data::{DataError, DataFolder, FileProblem};
use stroock_testing::golden::shared_folder;

#[test]
fn the_published_digits_are_read() {
    let Some(shared) = shared_folder() else { return };
    let folder = DataFolder::find(Some(&shared.join("data"))).unwrap();
    let digits = Digits::load(&folder).unwrap();
    assert_eq!((digits.images.len(), digits.images.height, digits.images.width), (60_000, 28, 28));
    assert_eq!(digits.images.pixels.iter().map(|&pixel| u64::from(pixel)).sum::<u64>(), 1_567_298_545);
    let counts: Vec<usize> = (0..10).map(|digit| digits.of_digit(digit, 60_000).len()).collect();
    assert_eq!(counts, [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]);

    let threes = digits.threes();
    assert_eq!((threes.len(), &threes[..3]), (1_032, &[7, 10, 12][..]));
    let seven = digits.images.get(7).unwrap();
    assert_eq!(seven.iter().map(|&pixel| u32::from(pixel)).sum::<u32>(), 35_867);
    assert_eq!(digits.images.get(60_000), None);
    let dataset = digits.dataset(&threes).unwrap();
    assert_eq!(dataset.observation(), Observation::Image { channels: 1, height: 28, width: 28 });
    let series = &dataset.series()[0];
    assert_eq!(
        (series.id.as_str(), series.times.as_slice(), &series.labels),
        ("7", &[0.0][..], &Labels::Class(3))
    );
    assert_eq!(series.values.iter().zip(seven).filter(|(x, p)| **x != f32::from(**p) / 255.0).count(), 0);
    assert!(matches!(digits.dataset(&[60_000]), Err(DataError::Setting { .. })));
}

fn images(count: u32, height: u32, width: u32, pixels: &[u8]) -> Vec<u8> {
    let header = [0x0803, count, height, width].map(u32::to_be_bytes);
    [header.as_flattened(), pixels].concat()
}

fn labels(count: u32, labels: &[u8]) -> Vec<u8> {
    [[0x0801, count].map(u32::to_be_bytes).as_flattened(), labels].concat()
}

fn write(folder: &Path, name: &str, content: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path
}

fn packed(content: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(content).unwrap();
    packed.finish().unwrap()
}

#[test]
fn plain_and_packed_files_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let plain = images(2, 1, 3, &[0, 51, 255, 4, 5, 6]);
    let path = write(folder.path(), "plain", &plain);
    let pictures = read_images(&path).unwrap();
    assert_eq!(pictures, read_images(&write(folder.path(), "packed", &packed(&plain))).unwrap());
    assert_eq!((pictures.len(), pictures.get(1)), (2, Some(&[4, 5, 6][..])));

    let digits = Digits::read(&path, &write(folder.path(), "labels", &labels(2, &[3, 9]))).unwrap();
    assert_eq!(digits.dataset(&[0]).unwrap().series()[0].values, [0.0, 0.2, 1.0]);
    let error = Digits::read(&path, &write(folder.path(), "labels", &labels(1, &[3]))).unwrap_err();
    assert!(matches!(error, DataError::File { problem: FileProblem::Labels { found: 1, expected: 2 }, .. }));
}

#[test]
fn damaged_files_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let problem = |content: &[u8]| {
        let path = write(folder.path(), "damaged-idx3-ubyte", content);
        match read_images(&path).unwrap_err() {
            DataError::File { place, problem } => {
                assert!(place.ends_with("damaged-idx3-ubyte"));
                problem
            }
            other => panic!("{other}"),
        }
    };
    let good = images(2, 2, 2, &[1, 2, 3, 4, 5, 6, 7, 8]);
    assert!(matches!(problem(&good[..20]), FileProblem::Length { found: 4, expected: 8 }));
    assert!(matches!(problem(&[&good[..], &[9, 9]].concat()), FileProblem::Length { found: 9, expected: 8 }));
    assert!(matches!(problem(&good[..10]), FileProblem::Unreadable { .. }));
    assert!(matches!(problem(b""), FileProblem::Unreadable { .. }));
    assert!(matches!(problem(&labels(2, &[1, 2])), FileProblem::Format { .. }));
    assert!(matches!(problem(b"<html>no such file"), FileProblem::Format { .. }));
    // A header that promises more than any machine holds.
    assert!(matches!(
        problem(&images(u32::MAX, u32::MAX, 2, &[])),
        FileProblem::Length { .. } | FileProblem::Format { .. }
    ));
    assert!(matches!(problem(&images(u32::MAX, u32::MAX, u32::MAX, &[])), FileProblem::Format { .. }));
    let good = packed(&good);
    assert!(matches!(problem(&good[..good.len() - 3]), FileProblem::Unreadable { .. }));
    let mut flipped = good.clone();
    flipped[good.len() - 6] ^= 1;
    assert!(matches!(problem(&flipped), FileProblem::Unreadable { .. }));
    assert!(matches!(read_labels(&folder.path().join("no")), Err(DataError::Io { .. })));
}
