//! The cache gives back what was put in, to the last bit, or makes it anew.

use std::cell::Cell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use stroock::series::{Dataset, Labels, Observation, Series};
use stroock_experiments::data::activity::{self, ActivitySettings, LabelList};
use stroock_experiments::data::cache::{Cache, CacheOrigin, Cached};
use stroock_experiments::data::physionet::{self, PhysionetSettings, ScaleOver};
use stroock_experiments::data::{DataError, DataFolder};
use stroock_testing::golden::shared_folder;

fn dataset(first: f32) -> Dataset {
    let series = Series {
        id: "patient 7".into(),
        times: vec![0.0, 0.7],
        values: vec![first, 0.0, 3.0, 4.0],
        observed: Some(vec![true, false, true, true]),
        ..Series::default()
    };
    Dataset::new(Observation::Vector { channels: 2 }, vec![series]).unwrap()
}

struct Trial {
    folder: tempfile::TempDir,
    made: Cell<u32>,
}

impl Trial {
    fn new() -> Self {
        let trial = Trial { folder: tempfile::tempdir().unwrap(), made: Cell::new(0) };
        trial.write("raw", 60);
        trial
    }

    fn raw(&self) -> PathBuf {
        self.folder.path().join("raw")
    }

    fn write(&self, content: &str, age: u64) {
        fs::write(self.raw(), content).unwrap();
        let file = File::options().write(true).open(self.raw()).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    }

    fn cache(&self) -> Cache {
        Cache::new(self.folder.path().join("cache"))
    }

    fn entry(&self) -> PathBuf {
        let mut entries =
            fs::read_dir(self.folder.path().join("cache")).unwrap().map(|entry| entry.unwrap().path());
        entries.find(|path| path.extension().is_some_and(|ending| ending == "series")).unwrap()
    }

    fn get(&self, cache: &Cache, reader: &str, settings: &str) -> Cached<String> {
        let make = || {
            self.made.set(self.made.get() + 1);
            Ok((dataset(self.made.get() as f32), "notes".to_owned()))
        };
        cache.get(reader, &[self.raw()], &settings, make).unwrap()
    }
}

#[test]
fn an_entry_is_made_once_per_content_settings_and_reader() {
    let trial = Trial::new();
    let cache = trial.cache();
    let first = trial.get(&cache, "reader 1", "a");
    assert_eq!((first.origin.clone(), trial.made.get()), (CacheOrigin::Made, 1));
    let again = trial.get(&cache, "reader 1", "a");
    assert_eq!((again.origin, trial.made.get()), (CacheOrigin::Read, 1));
    assert_eq!((again.dataset, again.notes), (first.dataset, "notes".to_owned()));

    assert_eq!(trial.get(&cache, "reader 1", "b").origin, CacheOrigin::Made);
    assert_eq!(trial.get(&cache, "reader 2", "a").origin, CacheOrigin::Made);
    trial.write("other", 50);
    assert_eq!(trial.get(&cache, "reader 1", "a").origin, CacheOrigin::Made);
    // The old content has its old entry, wherever it lies and whatever its date.
    trial.write("raw", 40);
    assert_eq!(trial.get(&cache, "reader 1", "a").dataset, dataset(1.0));
    assert_eq!(trial.made.get(), 4);
    assert_eq!(cache.clear().unwrap(), 4);
    assert_eq!(trial.get(&cache, "reader 1", "a").origin, CacheOrigin::Made);
}

#[test]
fn a_file_of_the_same_length_written_just_now_is_read_again() {
    let trial = Trial::new();
    let cache = trial.cache();
    trial.write("one", 0);
    let date = fs::metadata(trial.raw()).unwrap().modified().unwrap();
    trial.get(&cache, "reader", "");
    fs::write(trial.raw(), "two").unwrap();
    File::options().write(true).open(trial.raw()).unwrap().set_modified(date).unwrap();
    assert_eq!(trial.get(&cache, "reader", "").origin, CacheOrigin::Made);
}

#[test]
fn fingerprints_are_remembered_but_not_needed() {
    let trial = Trial::new();
    let cache = trial.cache();
    trial.get(&cache, "reader", "");
    let fingerprints = trial.folder.path().join("cache/fingerprints.json");
    let text = fs::read_to_string(&fingerprints).unwrap();
    // SHA-256 of "raw".
    assert!(text.contains("d7439bee24773bcbfa2d0a97947ee36227b10d1022b1a55847e928965bb6bfde"), "{text}");
    fs::write(&fingerprints, "damaged").unwrap();
    assert_eq!(trial.get(&cache, "reader", "").origin, CacheOrigin::Read);
    assert!(fs::read_to_string(&fingerprints).unwrap().contains("sha256"));
}

#[test]
fn damaged_entries_are_made_anew() {
    let trial = Trial::new();
    let cache = trial.cache();
    trial.get(&cache, "reader", "");
    let good = fs::read(trial.entry()).unwrap();
    let damages = (0..good.len()).step_by(7).map(|place| {
        let mut bytes = good.clone();
        bytes[place] ^= 0x40;
        bytes
    });
    let cuts = [0, 5, 20, good.len() - 40, good.len() - 1].map(|length| good[..length].to_vec());
    let longer = [good.clone(), vec![0]].concat();
    for damaged in damages.chain(cuts).chain([longer]) {
        let made = trial.made.get();
        fs::write(trial.entry(), damaged).unwrap();
        let cached = trial.get(&cache, "reader", "");
        assert!(matches!(cached.origin, CacheOrigin::Repaired(_)), "{:?}", cached.origin);
        assert_eq!(trial.made.get(), made + 1);
        assert_eq!(trial.get(&cache, "reader", "").origin, CacheOrigin::Read);
    }
    // An entry under the name of another.
    let name = trial.entry();
    trial.get(&cache, "other reader", "");
    let other = fs::read_dir(name.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let other = other.into_iter().find(|path| path.extension() == name.extension() && *path != name).unwrap();
    for (from, to) in [(&name, &other), (&other, &name)] {
        fs::copy(from, to).unwrap();
    }
    let origins = ["reader", "other reader"].map(|reader| trial.get(&cache, reader, "").origin);
    assert!(
        origins
            .iter()
            .any(|origin| matches!(origin, CacheOrigin::Repaired(why) if why.contains("another key")))
    );
}

#[test]
fn there_need_not_be_a_cache() {
    let trial = Trial::new();
    let cached = trial.get(&Cache::none(), "reader", "");
    assert_eq!((cached.origin, Cache::none().folder()), (CacheOrigin::NotStored(None), None));
    // A file where the folder should be.
    let cached = trial.get(&Cache::new(trial.raw().join("cache")), "reader", "");
    assert!(matches!(cached.origin, CacheOrigin::NotStored(Some(_))), "{:?}", cached.origin);
    assert_eq!(cached.dataset, dataset(2.0));
    assert_eq!(Cache::new(trial.raw().join("cache")).clear().unwrap(), 0);
}

#[test]
fn errors_are_passed_on_and_nothing_is_stored() {
    let trial = Trial::new();
    let fail = || Err::<(Dataset, ()), _>(DataError::StayTwice { id: 7 });
    let error = trial.cache().get("reader", &[trial.raw()], &"", fail).unwrap_err();
    assert!(matches!(error, DataError::StayTwice { id: 7 }));
    let missing = trial.cache().get("reader", &[Path::new("no such file")], &"", fail).unwrap_err();
    assert!(matches!(missing, DataError::Io { .. }));
    assert_eq!(trial.cache().clear().unwrap(), 0);
}

#[test]
fn folders_are_keyed_by_names_and_contents() {
    let trial = Trial::new();
    let folder = trial.folder.path().join("set-a");
    fs::create_dir(&folder).unwrap();
    let origin = || {
        let make = || Ok((dataset(1.0), ()));
        trial.cache().get("reader", &[&folder], &"", make).unwrap().origin
    };
    fs::write(folder.join("1.txt"), "one").unwrap();
    assert_eq!((origin(), origin()), (CacheOrigin::Made, CacheOrigin::Read));
    fs::write(folder.join("1.txt"), "two").unwrap();
    assert_eq!(origin(), CacheOrigin::Made);
    fs::rename(folder.join("1.txt"), folder.join("2.txt")).unwrap();
    assert_eq!(origin(), CacheOrigin::Made);
}

#[test]
fn stays_and_windows_come_back_as_they_were() {
    let Some(shared) = shared_folder() else { return };
    let data = DataFolder::find(Some(&shared.join("data"))).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let cache = Cache::new(scratch.path());

    let settings = PhysionetSettings::six_minutes();
    let load = || physionet::load(&data, &settings, ScaleOver::All, &cache).unwrap();
    let made = load();
    assert_eq!(made.dataset.series().len(), 8_000);
    assert!(load() == made, "the cache gives back something else");
    // Only what is observed is stored: some 17 MB instead of 120.
    let largest =
        fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).max();
    assert!(largest.unwrap() < 25_000_000, "{largest:?}");

    let settings = ActivitySettings::default();
    let made = activity::load(&data, &settings, &cache).unwrap();
    assert!(activity::load(&data, &settings, &cache).unwrap() == made);
    assert_eq!((made.recordings.len(), made.coverage.rows), (2_289, 57_623));
    let other = ActivitySettings { labels: LabelList::Misspelt, ..settings };
    assert!(activity::load(&data, &other, &cache).unwrap() != made);
    assert_eq!(cache.clear().unwrap(), 3);
}

fn any_series(channels: usize) -> impl Strategy<Value = Series> {
    let number = prop_oneof![Just(0.0f32), Just(-0.0), Just(f32::MIN_POSITIVE), -1e9f32..1e9];
    (0usize..12).prop_flat_map(move |count| {
        let mask = || prop::option::of(prop::collection::vec(any::<bool>(), count * channels));
        let classes = prop::collection::vec(prop::option::of(any::<u32>()), count);
        let labels = prop_oneof![
            Just(Labels::None),
            any::<u32>().prop_map(Labels::Class),
            classes.prop_map(Labels::ClassPerTime),
            (0usize..3).prop_flat_map(move |width| {
                let values = prop::collection::vec(any::<f32>(), count * width);
                values.prop_map(move |values| Labels::RealPerTime { width, values })
            }),
        ];
        let values = prop::collection::vec(number.clone(), count * channels);
        let steps = prop::collection::vec(1e-3f64..1e3, count);
        (".{0,9}", steps, values, mask(), mask(), any::<bool>(), labels).prop_map(
            |(id, steps, mut values, observed, withheld, is_zeroed, labels)| {
                let times = steps.iter().scan(-5.0, |time, step| {
                    *time += step;
                    Some(*time)
                });
                if let (true, Some(observed)) = (is_zeroed, &observed) {
                    values.iter_mut().zip(observed).filter(|(_, seen)| !**seen).for_each(|(x, _)| *x = 0.0);
                }
                Series { id, times: times.collect(), values, observed, withheld, labels }
            },
        )
    })
}

/// Everything of a series with its bits, so that equal means equal even for what is not a number.
fn bits(dataset: &Dataset) -> String {
    let of = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let series = dataset.series().iter().map(|series| {
        let labels = match &series.labels {
            Labels::RealPerTime { width, values } => format!("{width} {:?}", of(values)),
            other => format!("{other:?}"),
        };
        let Series { id, times, values, observed, withheld, .. } = series;
        format!("{id:?} {times:?} {:?} {observed:?} {withheld:?} {labels}", of(values))
    });
    format!("{:?} {:?}", dataset.observation(), series.collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_data_set_comes_back_bit_for_bit(
        (channels, series) in (0usize..4).prop_flat_map(|c| (Just(c), prop::collection::vec(any_series(c), 0..5)))
    ) {
        let dataset = Dataset::new(Observation::Vector { channels }, series).unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let cache = Cache::new(scratch.path());
        let get = || cache.get::<_, PathBuf>("any", &[], &(), || Ok((dataset.clone(), 1.5f64))).unwrap();
        prop_assert_eq!(get().origin, CacheOrigin::Made);
        let read = get();
        prop_assert_eq!(read.origin, CacheOrigin::Read);
        prop_assert_eq!(bits(&read.dataset), bits(&dataset));
        prop_assert_eq!(read.notes, 1.5);
    }
}
