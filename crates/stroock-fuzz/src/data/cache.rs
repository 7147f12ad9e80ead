//! Cached data sets.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};
use stroock::series::{Dataset, Labels, Observation, Series};
use stroock_experiments::data::DataError;
use stroock_experiments::data::cache::{Cache, CacheOrigin};

use crate::scratch::FOLDER;

const READER: &str = "fuzzed, version 1";

/// The input is an entry without its checksum, which is added here: it must not be the only thing that protects.
pub fn run(data: &[u8]) {
    FOLDER.with(|folder| {
        let path = folder.path().join("cache");
        let cache = Cache::new(&path);
        let inputs: [&Path; 0] = [];
        let place = path.join(name(&cache));
        fs::write(&place, [data, &Sha256::digest(data)[..]].concat()).expect("an entry can be written");
        let again = cache.get(READER, &inputs, &0, || Ok((dataset(), String::from("made"))));
        if let Ok(cached) = again {
            assert!(cached.notes == "made" || cached.origin == CacheOrigin::Read);
        }
    });
}

/// A small data set with labels of its own.
fn dataset() -> Dataset {
    let series = Series {
        id: "a".into(),
        times: vec![0.0, 0.7],
        values: vec![1.0, 0.0, 3.0, 4.0],
        observed: Some(vec![true, false, true, true]),
        labels: Labels::ClassPerTime(vec![Some(1), None]),
        ..Series::default()
    };
    Dataset::new(Observation::Vector { channels: 2 }, vec![series]).expect("the series is valid")
}

/// Name of the entry, which is made where it is not there.
fn name(cache: &Cache) -> String {
    use std::cell::OnceCell;
    thread_local! { static NAME: OnceCell<String> = const { OnceCell::new() }; }
    NAME.with(|name| name.get_or_init(|| entry(cache).0).clone())
}

/// Name and content of an entry that was just made.
fn entry(cache: &Cache) -> (String, Vec<u8>) {
    let inputs: [&Path; 0] = [];
    let make = || -> Result<_, DataError> { Ok((dataset(), String::from("made"))) };
    cache.get(READER, &inputs, &0, make).expect("an entry can be made");
    let folder = cache.folder().expect("the cache has a folder");
    let mut files = fs::read_dir(folder).expect("the cache can be listed").flatten();
    let file = files.find(|file| file.path().extension().is_some_and(|end| end == "series"));
    let path = file.expect("there is an entry").path();
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    (name, fs::read(path).expect("the entry can be read"))
}

/// An entry without its checksum.
pub fn seed() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let mut content = entry(&Cache::new(folder.path())).1;
    content.truncate(content.len() - 32);
    content
}
