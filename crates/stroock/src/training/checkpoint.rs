//! What of a run is on disk, and when.

use std::collections::BTreeMap;

use burn::module::Module;
use serde::{Deserialize, Serialize};

use super::{Adam, Average, Moments, TrainingError};
use crate::model::{FileMetadata, from_file, to_file};
use crate::run::{RunFolder, Tensor as StoredTensor, TensorFile};

/// What a run must know to go on, beside parameters, moments and averages.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct State {
    pub epochs: u64,
    pub steps: u64,
    pub best: Option<(u64, f64)>,
    /// Steps that the average is over; 0 without one, as in runs that know nothing of averages.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub averaged: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The state of a run at the end of its last complete epoch, in memory, and how much of it is on disk.
pub(super) struct Checkpoint<'a> {
    /// Where it goes to; without a folder it stays in memory.
    folder: Option<&'a RunFolder>,
    metadata: Option<&'a FileMetadata>,
    pub state: State,
    parameters: TensorFile,
    adam: Adam,
    average: Option<Average>,
    /// The best parameters, averaged where there is an average.
    best: TensorFile,
    best_is_saved: bool,
    saved: u64,
}

impl<'a> Checkpoint<'a> {
    /// The start of a run, or where its folder ends, with the model, the optimiser and the average as they are there.
    ///
    /// In a folder without an average, one that is asked for starts anew.
    pub fn open<M: Module>(
        folder: Option<&'a RunFolder>,
        metadata: Option<&'a FileMetadata>,
        mut model: M,
        mut adam: Adam,
        mut average: Option<Average>,
    ) -> Result<(Self, M, Adam, Option<Average>), TrainingError> {
        let mut state = State::default();
        let mut best = None;
        if let Some(folder) = folder
            && let Some(last) = folder.load_last::<State>()?
        {
            model = from_file(model, &last.model)?;
            state = last.state;
            adam.steps = state.steps;
            adam.moments = moments_of(&last.optimiser)?;
            if let Some(average) = &mut average {
                average.steps = state.averaged;
                average.parameters = averages_of(&last.optimiser)?;
            }
            if state.best.is_some() {
                best = Some(TensorFile::load(&folder.paths().model())?);
            }
        }
        let parameters = to_file(&model)?;
        if let Some(best) = &mut best {
            // A fit that has ended keeps in this file what it learned beside the parameters.
            best.tensors.retain(|(name, _)| parameters.tensors.iter().any(|(own, _)| own == name));
        }
        let checkpoint = Self {
            folder,
            metadata,
            state,
            best: best.unwrap_or_else(|| parameters.clone()),
            best_is_saved: true,
            parameters,
            adam: adam.clone(),
            average: average.clone(),
            saved: state.epochs,
        };
        Ok((checkpoint, model, adam, average))
    }

    /// Notes the end of an epoch: the model as it goes on, and the one that has the given score.
    pub fn note<M: Module>(
        &mut self,
        model: &M,
        adam: &Adam,
        average: Option<&Average>,
        (scored, score): (&M, f64),
    ) -> Result<(), TrainingError> {
        self.state.epochs += 1;
        self.state.steps = adam.steps;
        self.state.averaged = average.map_or(0, |average| average.steps);
        self.parameters = to_file(model)?;
        self.adam = adam.clone();
        self.average = average.cloned();
        if self.state.best.is_none_or(|(_, best)| score < best) {
            self.state.best = Some((self.state.epochs, score));
            self.best = to_file(scored)?;
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
        folder.save_last(&self.parameters, &file_of(&self.adam, self.average.as_ref())?, &self.state)?;
        self.saved = self.state.epochs;
        Ok(())
    }

    /// The model with the best score so far.
    pub fn best_model<M: Module>(&self, model: &M) -> Result<M, TrainingError> {
        Ok(from_file(apart(model), &self.best)?)
    }

    /// The model at the end of the last complete epoch, averaged where there is an average.
    pub fn last_model<M: Module>(&self, model: &M) -> Result<M, TrainingError> {
        let model = from_file(apart(model), &self.parameters)?;
        Ok(match &self.average {
            Some(average) => average.apply(model),
            None => model,
        })
    }
}

/// A copy of a model. Clones would share the running moments of batch normalisations: what is loaded into one would be
/// in all of them.
fn apart<M: Module>(model: &M) -> M {
    model.valid().train()
}

const FIRST: &str = "first.";
const SECOND: &str = "second.";
const AVERAGE: &str = "average.";

fn file_of(adam: &Adam, average: Option<&Average>) -> Result<TensorFile, TrainingError> {
    let mut file = TensorFile::new();
    for (name, moments) in &adam.moments {
        for (prefix, values) in [(FIRST, &moments.first), (SECOND, &moments.second)] {
            file.push(format!("{prefix}{name}"), StoredTensor::new(vec![values.len()], values.clone())?);
        }
    }
    for (name, values) in average.iter().flat_map(|average| &average.parameters) {
        file.push(format!("{AVERAGE}{name}"), StoredTensor::new(vec![values.len()], values.clone())?);
    }
    Ok(file)
}

fn averages_of(file: &TensorFile) -> Result<BTreeMap<String, Vec<f32>>, TrainingError> {
    let names = file.tensors.iter().filter_map(|(name, _)| name.strip_prefix(AVERAGE));
    names
        .map(|name| Ok((name.to_owned(), file.entries::<f32>(&format!("{AVERAGE}{name}"))?.to_vec())))
        .collect()
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
