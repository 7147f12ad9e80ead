//! What of a run is on disk, and when.

use std::collections::BTreeMap;

use burn::module::Module;
use serde::{Deserialize, Serialize};

use super::{Adam, Moments, TrainingError};
use crate::model::{Description, from_file, to_file};
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
    folder: &'a RunFolder,
    description: Option<&'a Description>,
    pub state: State,
    parameters: TensorFile,
    adam: Adam,
    /// The best parameters, where they are not on disk yet.
    best: Option<TensorFile>,
    saved: u64,
}

impl<'a> Checkpoint<'a> {
    /// The start of a run, or where its folder ends, with the model and the optimiser as they are there.
    pub fn open<M: Module>(
        folder: &'a RunFolder,
        description: Option<&'a Description>,
        mut model: M,
        mut adam: Adam,
    ) -> Result<(Self, M, Adam), TrainingError> {
        let mut state = State::default();
        if let Some(last) = folder.load_last::<State>()? {
            model = from_file(model, &last.model)?;
            state = last.state;
            adam.steps = state.steps;
            adam.moments = moments_of(&last.optimiser)?;
        }
        let parameters = to_file(&model)?;
        let checkpoint = Self {
            folder,
            description,
            state,
            parameters,
            adam: adam.clone(),
            best: None,
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
            self.best = Some(self.parameters.clone());
        }
        Ok(())
    }

    /// Brings the best model and the state to resume from to the disk, if they are not there.
    pub fn save(&mut self) -> Result<(), TrainingError> {
        if self.saved == self.state.epochs {
            return Ok(());
        }
        let mut best = self.best.take();
        if let Some(description) = self.description {
            best.iter_mut().chain([&mut self.parameters]).try_for_each(|file| description.note(file))?;
        }
        if let Some(best) = best {
            self.folder.save_best(&best)?;
        }
        self.folder.save_last(&self.parameters, &file_of(&self.adam)?, &self.state)?;
        self.saved = self.state.epochs;
        Ok(())
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
