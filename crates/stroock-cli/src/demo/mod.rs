//! `stroock demo`: from generated data to a trained model and a picture, in about two minutes.

mod picture;
mod recovery;
mod settings;

use std::path::Path;

use burn::module::Module;
use burn::tensor::Device;
use serde::Serialize;
use stroock::initial::InitialWeights;
use stroock::model::ModelSettings;
use stroock::run::{Progress, RunFolder, RunLength, StopFlag, resolve, to_toml};
use stroock::series::Scaler;
use stroock::training::{Outcome, Trainer};

use crate::arguments::DemoArguments;
use crate::failure::{Failure, Interrupted};
use crate::output::{print, print_json};
use recovery::Recovery;
use settings::DemoConfig;

/// What the demo has found out.
#[derive(Serialize)]
struct Results<'a> {
    run: String,
    epochs: u64,
    best_epoch: Option<u64>,
    withheld: &'a [Recovery],
    picture: String,
}

pub fn run(arguments: &DemoArguments) -> Result<(), Failure> {
    let (folder, config) = open(arguments)?;
    let buoys = config.data.generate(config.training.seed)?;
    let scaler = Scaler::standard(&buoys.data, &buoys.split.train)?;
    let description = config.description(scaler.clone());
    let data = scaler.apply(&recovery::withhold(buoys.data, &buoys.split.test, config.training.seed)?)?;

    let device = Device::flex().autodiff();
    let model = config.model.init(&mut InitialWeights::new(config.training.seed, &device))?.materialize();
    let metadata = description.metadata()?;
    let trainer = Trainer {
        config: config.training,
        data: &data,
        split: &buoys.split,
        batcher: config.batcher,
        metadata: Some(&metadata),
    };
    let steps_per_epoch = config.training.steps_of_epoch(buoys.split.train.len());
    let length = RunLength { epochs: config.training.epochs, steps_per_epoch, done: trainer.done(&folder)? };
    let mut progress = Progress::on_stderr(length);
    let trained = trainer.run(model, &folder, &StopFlag::on_signals()?, &mut progress)?;
    progress.finish();
    if trained.outcome == Outcome::Stopped {
        let how = format!("go on with: stroock demo --out {} --resume", arguments.out.display());
        return Err(Interrupted::after_epoch(trained.epochs, how).into());
    }

    let best = trained.best_model.valid();
    let recovered = recovery::measure(&best, &description, &data, &buoys.split.test)?;
    let picture = folder.paths().folder().join("fits.png");
    picture::draw(&best, &description, &data, &buoys.motions, &buoys.split.test, &picture)?;
    report(arguments, &trained.best, trained.epochs, &recovered, &picture)
}

/// A new folder with the settings of the arguments, or a folder that is there with its own.
fn open(arguments: &DemoArguments) -> Result<(RunFolder, DemoConfig), Failure> {
    if !arguments.resume {
        let config = arguments.settings.over(&DemoConfig::default())?.with(arguments);
        let folder = RunFolder::create(&arguments.out)?;
        folder.write_config(&to_toml(&config)?)?;
        return Ok((folder, config));
    }
    let folder = RunFolder::open(&arguments.out)?;
    let config: DemoConfig = resolve(Some((&folder.paths().config(), &folder.read_config()?)), &[])?;
    let config = arguments.settings.over(&config)?.with(arguments);
    folder.write_config(&to_toml(&config)?)?;
    Ok((folder, config))
}

fn report(
    arguments: &DemoArguments,
    best: &Option<(u64, f64)>,
    epochs: u64,
    recovered: &[Recovery],
    picture: &Path,
) -> Result<(), Failure> {
    if arguments.json {
        return print_json(&Results {
            run: arguments.out.display().to_string(),
            epochs,
            best_epoch: best.map(|(epoch, _)| epoch),
            withheld: recovered,
            picture: picture.display().to_string(),
        });
    }
    print(&format!(
        "{epochs} epochs. A quarter of the values of unseen series was withheld, and recovered so:"
    ))?;
    print(&recovery::table(recovered))?;
    print(&format!("Fits with their intervals: {}", picture.display()))?;
    print(&format!("The run, with the model and its configuration: {}", arguments.out.display()))
}
