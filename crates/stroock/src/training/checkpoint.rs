//! What of a run is on disk, and when.

use std::collections::BTreeMap;

use burn::module::Module;
use serde::{Deserialize, Serialize};

use super::{Adam, Moments, TrainingError};
use crate::model::{FileMetadata, from_file, to_file};
use crate::run::{RunFolder, Tensor as StoredTensor, TensorFile};

/// What a run must know to go on, beside parameters and moments.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct State {
    pub epochs: u64,
    pub steps: u64,
    pub best: Option<(u64, f64)>,
}

/// The state of a run at the end of its last complete epoch, in memory, and how much of it is on disk.
pub(super) struct Checkpoint<'a> {
    /// Where it goes to; without a folder it stays in memory.
    folder: Option<&'a RunFolder>,
    metadata: Option<&'a FileMetadata>,
    pub state: State,
    parameters: TensorFile,
    adam: Adam,
    /// The best parameters.
    best: TensorFile,
    best_is_saved: bool,
    saved: u64,
}

impl<'a> Checkpoint<'a> {
    /// The start of a run, or where its folder ends, with the model and the optimiser as they are there.
    pub fn open<M: Module>(
        folder: Option<&'a RunFolder>,
        metadata: Option<&'a FileMetadata>,
        mut model: M,
        mut adam: Adam,
    ) -> Result<(Self, M, Adam), TrainingError> {
        let mut state = State::default();
        let mut best = None;
        if let Some(folder) = folder
            && let Some(last) = folder.load_last::<State>()?
        {
            model = from_file(model, &last.model)?;
            state = last.state;
            adam.steps = state.steps;
            adam.moments = moments_of(&last.optimiser)?;
            if state.best.is_some() {
                best = Some(TensorFile::load(&folder.paths().model())?);
            }
        }
        let parameters = to_file(&model)?;
        let checkpoint = Self {
            folder,
            metadata,
            state,
            best: best.unwrap_or_else(|| parameters.clone()),
            best_is_saved: true,
            parameters,
            adam: adam.clone(),
            saved: state.epochs,
        };
        Ok((checkpoint, model, adam))
    }

    /// Notes the end of an epoch with the given score.
    pub fn note<M: Module>(&mut self, model: &M, adam: &Adam, score: f64) -> Result<(), TrainingError> {
        self.state.epochs += 1;
        self.state.steps = adam.steps;
        self.parameters = to_file(model)?;
        self.adam = adam.clone();
        if self.state.best.is_none_or(|(_, best)| score < best) {
            self.state.best = Some((self.state.epochs, score));
            self.best = self.parameters.clone();
            self.best_is_saved = false;
        }
        Ok(())
    }

    /// Brings the best model and the state to resume from to the disk, if they are not there.
    pub fn save(&mut self) -> Result<(), TrainingError> {
        let Some(folder) = self.folder.filter(|_| self.saved != self.state.epochs) else { return Ok(()) };
        if let Some(metadata) = self.metadata {
            [&mut self.best, &mut self.parameters].into_iter().for_each(|file| metadata.note(file));
        }
        if !self.best_is_saved {
            folder.save_best(&self.best)?;
            self.best_is_saved = true;
        }
        folder.save_last(&self.parameters, &file_of(&self.adam)?, &self.state)?;
        self.saved = self.state.epochs;
        Ok(())
    }

    /// The model with the best score so far.
    pub fn best_model<M: Module>(&self, model: M) -> Result<M, TrainingError> {
        Ok(from_file(model, &self.best)?)
    }

    /// The model as it was at the end of the last complete epoch.
    pub fn model<M: Module>(&self, model: M) -> Result<M, TrainingError> {
        Ok(from_file(model, &self.parameters)?)
    }
}

const FIRST: &str = "first.";
const SECOND: &str = "second.";

fn file_of(adam: &Adam) -> Result<TensorFile, TrainingError> {
    let mut file = TensorFile::new();
    for (name, moments) in &adam.moments {
        for (prefix, values) in [(FIRST, &moments.first), (SECOND, &moments.second)] {
            file.push(format!("{prefix}{name}"), StoredTensor::new(vec![values.len()], values.clone())?);
        }
    }
    Ok(file)
}

fn moments_of(file: &TensorFile) -> Result<BTreeMap<String, Moments>, TrainingError> {
    let names = file.tensors.iter().filter_map(|(name, _)| name.strip_prefix(FIRST));
    names
        .map(|name| {
            let values = |prefix: &str| file.entries::<f32>(&format!("{prefix}{name}")).map(<[f32]>::to_vec);
            Ok((name.to_owned(), Moments { first: values(FIRST)?, second: values(SECOND)? }))
        })
        .collect()
}
