//! Training in one go and in two parts, which have to end with the same bits.

use std::collections::BTreeMap;

use stroock::batch::Batcher;
use stroock::model::{StandardModel, to_file};
use stroock::run::{Progress, RunFolder, RunLength, StopFlag};
use stroock::series::{Dataset, Split};
use stroock::training::{Trained, Trainer, TrainingConfig};

/// The model after four epochs on ten of fourteen series, and the assertion that it is to the last bit the one of a run that
/// ended after two epochs and went on.
pub fn trained_as_in_parts(
    start: impl Fn() -> StandardModel,
    training: TrainingConfig,
    data: &Dataset,
    batcher: Batcher,
) -> StandardModel {
    let split = Split { train: (0..10).collect(), validation: (10..14).collect(), test: Vec::new() };
    let train = |epochs, folder: &RunFolder| -> Trained<StandardModel> {
        let config = TrainingConfig { epochs, batch_size: 4, rate: 3e-3, ..training };
        let trainer = Trainer { config, data, split: &split, batcher, metadata: None };
        let mut progress = Progress::hidden(RunLength { epochs, steps_per_epoch: 3, done: 0 });
        trainer.run(start(), folder, &StopFlag::new(), &mut progress).unwrap()
    };
    let root = tempfile::tempdir().unwrap();
    let [whole, parts] = ["whole", "parts"].map(|name| RunFolder::create(root.path().join(name)).unwrap());
    let trained = train(4, &whole).model;
    train(2, &parts);
    let resumed = train(4, &parts).model;
    let tensors = |model: &StandardModel| BTreeMap::from_iter(to_file(model).unwrap().tensors);
    assert_eq!(tensors(&resumed), tensors(&trained));
    for name in ["model.safetensors", "last/model.safetensors", "last/optimiser.safetensors"] {
        let [a, b] = [&whole, &parts].map(|run| std::fs::read(run.paths().folder().join(name)).unwrap());
        assert!(a == b, "{name} differs");
    }
    trained
}
