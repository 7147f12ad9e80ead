//! Model files of every released version are read, and predict what they predicted then.
//!
//! A folder for each version holds small tables, a model file of every kind that can be fitted to a table, and its
//! predictions. `scripts/released-models` adds the folder of a new version; those of old ones are never changed.

mod answers;
mod kinds;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use stroock::estimator::Model;
use stroock::run::{Tensor, TensorFile};

use kinds::KINDS;

/// Predictions may differ by so much, as a share of one plus their size: other processors add up in another order.
const TOLERANCE: f64 = 1e-4;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/released")
}

fn versions() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut versions: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    versions.sort();
    versions
}

/// Largest difference of the numbers of two answers, as a share of one plus their size. All else has to be equal.
fn difference(now: &Value, then: &Value, place: &str) -> f64 {
    match (now, then) {
        (Value::Number(now), Value::Number(then)) => {
            let [now, then] = [now, then].map(|number| number.as_f64().unwrap());
            (now - then).abs() / (1.0 + then.abs())
        }
        (Value::Array(now), Value::Array(then)) => {
            assert_eq!(now.len(), then.len(), "{place}");
            let parts = now.iter().zip(then).enumerate();
            parts.map(|(i, (now, then))| difference(now, then, &format!("{place}[{i}]"))).fold(0.0, f64::max)
        }
        (Value::Object(now), Value::Object(then)) => {
            assert!(now.keys().eq(then.keys()), "{place}");
            let parts = then.keys().map(|key| difference(&now[key], &then[key], &format!("{place}.{key}")));
            parts.fold(0.0, f64::max)
        }
        _ => {
            assert_eq!(now, then, "{place}");
            0.0
        }
    }
}

#[test]
fn files_of_every_released_version_predict_what_they_did() {
    let versions = versions();
    assert!(!versions.is_empty(), "there are no model files in {}", folder().display());
    for version in versions {
        let name = version.file_name().unwrap().to_string_lossy().into_owned();
        let mut files = 0;
        for entry in fs::read_dir(&version).unwrap() {
            let file = entry.unwrap().path();
            if file.extension().is_none_or(|extension| extension != "safetensors") {
                continue;
            }
            files += 1;
            let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
            let then: Value =
                serde_json::from_str(&fs::read_to_string(file.with_extension("json")).unwrap()).unwrap();
            let model = Model::load(&file).unwrap_or_else(|error| panic!("{name}, {stem}: {error}"));
            let now = answers::of(&model, &version, &then["asked"]);
            let again = answers::of(&Model::load(&file).unwrap(), &version, &then["asked"]);
            assert_eq!(now, again, "{name}, {stem}: the same file answers differently");
            let most = difference(&now, &then["answers"], &stem);
            println!(
                "{name}, {stem}: {}",
                if most == 0.0 { "the same bits".into() } else { format!("{most:.1e}") }
            );
            assert!(most <= TOLERANCE, "{name}, {stem}: differs by {most:e}");
        }
        assert!(files > 0, "{} has no model file", version.display());
    }
}

/// A copy of a model file whose network has other parameters.
fn stretch(from: &Path, to: &Path) {
    let mut file = TensorFile::load(from).unwrap();
    let is_of_network = |name: &str| !name.starts_with("sampler.") && !name.starts_with("classifier.");
    for (_, tensor) in file.tensors.iter_mut().filter(|(name, _)| is_of_network(name)) {
        if let Some(entries) = tensor.entries::<f32>() {
            let entries: Vec<f32> = entries.iter().map(|entry| 1.05 * entry).collect();
            *tensor = Tensor::new(tensor.shape().to_vec(), entries).unwrap();
        }
    }
    file.save(to).unwrap();
}

/// Run by `scripts/released-models`: fits a small model of every kind and writes what it predicts.
#[test]
#[ignore = "writes the files of this version"]
fn add_the_files_of_this_version() {
    let version = folder().join(env!("CARGO_PKG_VERSION"));
    assert!(!version.exists(), "{} exists, and files of a release are never changed", version.display());
    let unfinished = tempfile::tempdir_in(folder()).unwrap();
    for kind in KINDS {
        let path = unfinished.path().join(kind.name);
        let (fitted, asked) = kind.fit(unfinished.path());
        fitted.save(&path.with_extension("safetensors")).unwrap();
        let answers = answers::of(&fitted, unfinished.path(), &asked);
        let loaded = Model::load(&path.with_extension("safetensors")).unwrap();
        assert_eq!(answers, answers::of(&loaded, unfinished.path(), &asked), "{}", kind.name);
        let other = path.with_extension("other");
        stretch(&path.with_extension("safetensors"), &other);
        let others = answers::of(&Model::load(&other).unwrap(), unfinished.path(), &asked);
        assert!(
            difference(&others, &answers, kind.name) > TOLERANCE,
            "{}: the network is not heard",
            kind.name
        );
        fs::remove_file(other).unwrap();
        let record = serde_json::json!({ "asked": asked, "answers": answers });
        fs::write(path.with_extension("json"), format!("{record}\n")).unwrap();
    }
    fs::rename(unfinished.keep(), version).unwrap();
}
