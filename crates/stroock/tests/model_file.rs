//! Model files: what they hold, and what is wrong with damaged ones.

mod numbers;
#[allow(dead_code, reason = "another test trains the model")]
mod oscillations;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};
use numbers::doubles;
use oscillations::{batcher, oscillations};
use proptest::prelude::*;
use stroock::decoder::MlpConfig;
use stroock::encoder::TimeAttentionConfig;
use stroock::initial::InitialWeights;
use stroock::latent::{DriftKind, LatentConfig};
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{
    DataDescription, DecoderConfig, Description, EncoderConfig, LatentSdeConfig, ModelFileError,
    ModelSettings, PathDraws, StandardModel, Variable, to_file,
};
use stroock::predict::{Draws, Predictor};
use stroock::run::{Tensor as StoredTensor, TensorFile};
use stroock::series::{Observation, Scaler};
use stroock::task::{TaskConfig, TaskKind};
use stroock_kernels::noise::NoiseKey;
use tempfile::TempDir;

fn description() -> Description {
    let attention =
        TimeAttentionConfig { hidden: 6, embedding: 4, reference_points: 5, stretched: true, local_heads: 0 };
    let variable =
        |name: &str, unit: &str| Variable { name: name.into(), unit: unit.into(), ..Variable::default() };
    Description {
        model: LatentSdeConfig {
            observation: Observation::Vector { channels: 2 },
            encoder: EncoderConfig::TimeAttention(attention),
            latent: LatentConfig {
                dim: 3,
                drift: DriftKind::Chebyshev { terms: 2, interval: (0.0, 2.0) },
                ..LatentConfig::default()
            },
            decoder: DecoderConfig::Mlp(MlpConfig { hidden: vec![5], ..MlpConfig::default() }),
            likelihood: LikelihoodKind::Gaussian { scale: 0.1, scale_kind: ScaleKind::PerChannel },
            task: Some(TaskConfig {
                output: TaskKind::ClassPerTime { classes: 2 },
                network: MlpConfig::default(),
            }),
        }
        .into(),
        data: DataDescription {
            variables: vec![variable("heart rate", "1/min"), variable("température", "")],
            time_unit: "hours".into(),
            scaler: Scaler { shift: vec![80.0, 36.6], scale: vec![12.5, 0.1], ..Scaler::identity() },
            batcher: batcher(),
            classes: vec!["well".into(), "ill".into()],
            residual: None,
            table: None,
            forecast: None,
        },
    }
}

fn model(seed: u64, device: &Device) -> StandardModel {
    description().model.init(&mut InitialWeights::new(seed, device)).unwrap().materialize()
}

/// What a model says about series that it has never seen, in the units of the user.
fn predictions(model: &StandardModel, description: &Description) -> Vec<Draws> {
    let draws = PathDraws { key: NoiseKey::new(6, 0), samples: 3, first_sample: 0 };
    let times = vec![vec![0.1, 0.45, 1.3], vec![0.7]];
    Predictor::new(model, &description.data).posterior(&oscillations(9, 2), &[8, 4], &times, draws).unwrap()
}

/// The bytes of a good model file.
static GOOD: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let (_folder, path) = saved();
    fs::read(path).unwrap()
});

/// A folder with a good model file.
fn saved() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    description().save(&model(1, &Device::flex().autodiff()), &path).unwrap();
    (folder, path)
}

fn load(path: &Path) -> Result<(StandardModel, Description), ModelFileError> {
    Description::load(path, &Device::flex())
}

/// The sentence about a file, which begins with its name.
fn refused(path: &Path) -> String {
    let words = load(path).map(|_| ()).unwrap_err().to_string();
    match words.strip_prefix(&format!("`{}`: ", path.display())) {
        Some(words) => words.to_owned(),
        None => panic!("{words}"),
    }
}

/// The sentence about a good file after a change.
fn refused_after(change: impl FnOnce(&mut TensorFile)) -> String {
    let (_folder, path) = saved();
    let mut file = TensorFile::load(&path).unwrap();
    change(&mut file);
    file.save(&path).unwrap();
    refused(&path)
}

/// The sentence after a change of the text of a metadata key.
fn refused_after_edit(key: &str, from: &str, to: &str) -> String {
    refused_after(|file| {
        let text = file.metadata.get_mut(key).unwrap();
        assert!(text.contains(from), "{text}");
        *text = text.replacen(from, to, 1);
    })
}

#[test]
fn a_loaded_model_gives_the_same_numbers_on_new_series() {
    let (_folder, path) = saved();
    let original = model(1, &Device::flex().autodiff());
    let expected = predictions(&original, &description());
    assert_ne!(predictions(&model(2, &Device::flex()), &description()), expected);
    for device in [Device::flex(), Device::flex().autodiff()] {
        let (model, found): (_, Description) = Description::load(&path, &device).unwrap();
        assert_eq!(found, description());
        assert_eq!(predictions(&model, &found), expected);
        assert_eq!(predictions(&model.valid(), &found), expected);
    }
    // Saved again, it is the same file.
    let (loaded, found) = load(&path).unwrap();
    let again = path.with_file_name("again.safetensors");
    found.save(&loaded, &again).unwrap();
    assert!(fs::read(again).unwrap() == fs::read(path).unwrap());
}

#[test]
fn a_loaded_model_can_be_trained_on() {
    let (_folder, path) = saved();
    let (model, found): (_, Description) = Description::load(&path, &Device::flex().autodiff()).unwrap();
    let model = model.as_latent_sde().unwrap();
    let batch = found.data.batcher.assemble(&oscillations(3, 2), &[0, 1], NoiseKey::new(1, 0)).unwrap();
    let draws = PathDraws { key: NoiseKey::new(1, 0), samples: 1, first_sample: 0 };
    let bound = model.bound(&batch, draws).unwrap();
    let gradients = bound.losses(Default::default(), &batch).mean().backward();
    let gradient = model.process.drift.weight.val().grad(&gradients).expect("a gradient");
    assert!(doubles(gradient).iter().any(|g| *g != 0.0));
}

#[test]
fn the_metadata_say_everything_about_the_data() {
    let (_folder, path) = saved();
    let file = TensorFile::load(&path).unwrap();
    assert_eq!(file.text("format").unwrap(), "stroock-model");
    assert_eq!(file.text("format_version").unwrap(), "2");
    assert_eq!(file.text("kind").unwrap(), "latent-sde");
    let [model, data] = ["model", "data"].map(|key| file.text(key).unwrap());
    for words in [
        r#""name":"heart rate","unit":"1/min""#,
        r#""name":"température","unit":"""#,
        r#""time_unit":"hours""#,
        r#""scaler":{"shift":[80.0,36.6],"scale":[12.5,0.1]}"#,
        r#""start":-0.1,"end":1.1"#,
        r#""classes":["well","ill"]"#,
    ] {
        assert!(data.contains(words), "{words} is not in {data}");
    }
    for words in
        [r#""kind":"time-attention","hidden":6"#, r#""dim":3"#, r#""sigma":0.1"#, r#""class-per-time""#]
    {
        assert!(model.contains(words), "{words} is not in {model}");
    }
    // Nothing but the parameters, under their names.
    let names: Vec<&str> = file.tensors.iter().map(|(name, _)| &name[..]).collect();
    assert!(
        names.contains(&"LatentSde.process.sigma")
            && names.contains(&"LatentSde.likelihood.gaussian.ln_scale"),
        "{names:?}"
    );
    assert_eq!(names.len(), to_file(&load(&path).unwrap().0).unwrap().tensors.len());
}

#[test]
fn files_that_are_cut_short_or_something_else_are_refused() {
    let (_folder, path) = saved();
    let bytes = fs::read(&path).unwrap();
    for cut in (0..bytes.len()).step_by(37) {
        fs::write(&path, &bytes[..cut]).unwrap();
        let words = refused(&path);
        assert!(words.starts_with(&format!("is cut short: it has {cut} bytes of ")), "{words}");
        assert!(words.ends_with("; copy or download it again"), "{words}");
    }
    fs::write(&path, [&bytes[..], b"more"].concat()).unwrap();
    assert_eq!(refused(&path), "is not a safetensors file (it has 4 bytes too many at its end)");
    fs::write(&path, "time,value\n0.0,1.0\n").unwrap();
    assert!(refused(&path).starts_with("is not a safetensors file (it announces a header of "));
    fs::remove_file(&path).unwrap();
    let words = load(&path).unwrap_err().to_string();
    assert!(words.contains("cannot open") && words.contains("model.safetensors"), "{words}");
}

#[test]
fn another_kind_and_another_version_are_named() {
    let words = refused_after(|file| file.set_format("stroock-optimiser", 1));
    assert_eq!(words, "is a file of the kind `stroock-optimiser`, but `stroock-model` is needed here");
    let words = refused_after(|file| file.set_format("stroock-model", 7));
    assert_eq!(words, "has format version 7, but this version of stroock reads 2: use the one that wrote it");
    let words = refused_after(|file| file.metadata.clear());
    assert!(words.starts_with("has no metadata `format`: it was not written by stroock"), "{words}");
    let words = refused_after(|file| _ = file.metadata.insert("kind".into(), "recurrent".into()));
    assert!(words == "holds a model of kind `recurrent`, not `latent-sde`", "{words}");
    let words = refused_after(|file| _ = file.metadata.remove("data"));
    assert!(words.starts_with("has no metadata `data`"), "{words}");
}

#[test]
fn metadata_that_cannot_be_understood_are_named() {
    let words = refused_after_edit("data", r#""time_unit":"#, r#""time_units":"#);
    assert!(
        words.starts_with("the metadata `data` cannot be understood: unknown field `time_units`"),
        "{words}"
    );
    let words = refused_after_edit("model", "{", "[");
    assert!(words.starts_with("the metadata `model` cannot be understood: "), "{words}");
    let words = refused_after_edit("model", r#""dim":3"#, r#""dim":-3"#);
    assert!(words.starts_with("the metadata `model` cannot be understood: "), "{words}");
    let words = refused_after_edit("model", r#""dim":3"#, r#""dim":1"#);
    assert_eq!(words, "`latent.dim` is 1; a path needs at least 2 dimensions there");
}

#[test]
fn tensors_of_another_model_are_named() {
    let words = refused_after_edit("model", r#""dim":3"#, r#""dim":4"#);
    assert_eq!(words, "tensor `LatentSde.process.mu.weight` is f32 [6, 3], but f32 [6, 4] is needed");
    let words = refused_after(|file| file.tensors.retain(|(name, _)| name != "LatentSde.process.sigma"));
    assert_eq!(
        words,
        "lacks tensor `LatentSde.process.sigma`: it belongs to a model with another configuration"
    );
    let words = refused_after(|file| {
        file.push("LatentSde.process.prior", StoredTensor::new(vec![2], vec![1.0_f32; 2]).unwrap());
    });
    assert_eq!(
        words,
        "has the unexpected tensor `LatentSde.process.prior`: it belongs to a model with another configuration"
    );
    let words = refused_after(|file| {
        let sigma = file.tensors.iter_mut().find(|(name, _)| name == "LatentSde.process.sigma").unwrap();
        sigma.1 = StoredTensor::new(vec![1], vec![0.1_f64]).unwrap();
    });
    assert_eq!(words, "tensor `LatentSde.process.sigma` is f64 [1], but f32 [1] is needed");
}

#[test]
fn numbers_that_are_not_finite_are_neither_read_nor_written() {
    let (_folder, path) = saved();
    let good = fs::read(&path).unwrap();
    let mut bytes = good.clone();
    let last = bytes.len() - 4;
    bytes[last..].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&path, &bytes).unwrap();
    let words = refused(&path);
    assert!(
        words.starts_with("tensor `LatentSde.task.network.layers") && words.contains("is not finite"),
        "{words}"
    );

    fs::write(&path, &good).unwrap();
    let mut diverged = model(1, &Device::flex());
    let StandardModel::LatentSde(sde) = &mut diverged else { panic!("a latent SDE") };
    sde.process.sigma = Param::from_tensor(Tensor::full([1], f64::NAN, &Device::flex()));
    let words = description().save(&diverged, &path).unwrap_err().to_string();
    assert!(
        words.ends_with("tensor `LatentSde.process.sigma` is not finite at index 0 (it is NaN)"),
        "{words}"
    );
    assert!(fs::read(&path).unwrap() == good, "a diverged model has replaced a good one");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_read_or_refused_without_a_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        in_header in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        let mut bytes = GOOD.clone();
        // The length of the header is in the first bytes.
        let header = 8 + usize::from(bytes[0]) + 256 * usize::from(bytes[1]);
        for (place, byte) in damage {
            let place = place.index(if in_header { header } else { bytes.len() });
            bytes[place] = byte;
        }
        fs::write(&path, &bytes).unwrap();
        match load(&path) {
            Ok((model, _)) => prop_assert!(to_file(&model).is_ok()),
            Err(error) => prop_assert!(error.to_string().contains("model.safetensors")),
        }
    }
}
