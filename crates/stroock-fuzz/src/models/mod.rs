//! Files of models and of runs.

pub mod config;
pub mod metrics;
pub mod model_file;
pub mod overrides;
pub mod run_folder;
pub mod small;
pub mod state;
pub mod tensors;

use stroock::estimator::FitConfig;
use stroock::run::{RunFolder, StopFlag, to_toml};

use crate::pieces::joined;

/// First inputs of these targets.
pub fn seeds(add: &mut impl FnMut(&'static str, &str, Vec<u8>)) {
    let run = small::run_config();
    let toml = to_toml(&run).expect("the configuration can be written");
    add("config", "fit", toml.clone().into());
    for (name, text) in [
        ("empty", ""),
        ("deep", "a = [[[[[[[[{ b = 1 }]]]]]]]]\n[x.y.z]\nkind = \"latent-sde\"\n"),
        ("numbers", "a = 0xff\nb = 1e400\nc = inf\nd = 2024-01-31T14:05:00Z\ne = 9223372036854775808\n"),
    ] {
        add("config", name, text.into());
    }
    for (name, text) in [
        ("rate", "fit.training.rate=1e-3\nfit.training.epochs=7"),
        ("kind", "fit.model.kind=latent-ode\nfit.model.latent.dim=4"),
        ("size", "fit.model.latent.dim=1000000000000"),
        ("text", "data.read.id=patient\nfit.model.encoder.hidden=\"8\""),
        ("table", "fit.batcher.grid={ kind = \"regular\", points = 3 }"),
    ] {
        add("overrides", name, text.into());
    }
    let file = small::model_file(&run.fit);
    let model = small::unchecked(&file);
    add("model-file", "model", model.clone());
    let mut few = stroock::run::TensorFile::new();
    few.set_format("stroock-model", 2);
    let tensor = stroock::run::Tensor::new(vec![2, 3], vec![0.5_f32; 6]).expect("the shape fits");
    few.push("weight", tensor);
    add("tensors", "few", few.to_bytes().expect("the file can be written"));
    add("tensors", "unchecked", small::unchecked(&few));
    add(
        "metrics",
        "rows",
        b"{\"epoch\":1,\"loss\":3.25,\"by\":\"patience\"}\n{\"epoch\":2,\"loss\":\"NaN\"}\n".to_vec(),
    );
    add("metrics", "half", b"{\"epoch\":1,\"loss\":3.25}\n{\"epoch\":9,\"lo".to_vec());
    let parts = stopped(&run.fit);
    let file = |name: &str| {
        parts.iter().find(|(this, _)| *this == name).map_or(&[][..], |(_, content)| &content[..])
    };
    let state: Vec<(u8, &[u8])> =
        state::FILES.iter().zip(0..).map(|(name, kind)| (kind, file(name))).collect();
    add("state", "stopped", joined(&state));
    add("state", "counters", joined(&[(0, b"{\"epochs\":18446744073709551615,\"steps\":1,\"best\":null}")]));
    let folder: Vec<(u8, &[u8])> = run_folder::FILES[..6]
        .iter()
        .zip(0..)
        .map(|(name, kind)| (kind, if *name == "config.toml" { toml.as_bytes() } else { file(name) }))
        .collect();
    add("run-folder", "stopped", joined(&folder));
    add("run-folder", "model", joined(&[(0, toml.as_bytes()), (2, &model)]));
    add(
        "run-folder",
        "half-saved",
        joined(&[(0, b""), (6, b"{}"), (8, b"1"), (9, b""), (10, b"x"), (11, b"y")]),
    );
}

/// The files of a run of one epoch.
fn stopped(config: &FitConfig) -> Vec<(&'static str, Vec<u8>)> {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let run = RunFolder::create(folder.path()).expect("the folder is free");
    run.write_config("").expect("the configuration can be written");
    config.fit(&small::TABLE, &run, &StopFlag::new(), stroock::run::Progress::hidden).expect("the fit works");
    let read = |name: &'static str| {
        let content = std::fs::read(folder.path().join(name)).expect("the run has all files");
        let content = match name.ends_with("safetensors") {
            true => small::unchecked(
                &stroock::run::TensorFile::from_bytes(name, &content).expect("it can be read"),
            ),
            false => content,
        };
        (name, content)
    };
    state::FILES.map(read).to_vec()
}
