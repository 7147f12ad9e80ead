//! What of a run is on disk, and when.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use burn::module::Module;
use serde::{Deserialize, Serialize};

use super::{Adam, Average, Moments, TrainingError, World, WorldError};
use crate::model::{FileMetadata, from_file, to_file};
use crate::run::{LastState, RunError, RunFolder, Tensor as StoredTensor, TensorFile};

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
    /// In a folder without an average, one that is asked for starts anew. Of several processes, the first one has the
    /// folder, and tells the others what is in it.
    pub fn open<M: Module>(
        world: &dyn World,
        folder: Option<&'a RunFolder>,
        metadata: Option<&'a FileMetadata>,
        mut model: M,
        mut adam: Adam,
        mut average: Option<Average>,
    ) -> Result<(Self, M, Adam, Option<Average>), TrainingError> {
        let mut state = State::default();
        let mut best = None;
        let stored = folder.map(Stored::load).transpose().map(Option::flatten);
        if let Some(stored) = Stored::of_first(world, stored)? {
            model = from_file(model, &stored.last.model)?;
            state = stored.last.state;
            adam.steps = state.steps;
            adam.moments = moments_of(&stored.last.optimiser)?;
            if let Some(average) = &mut average {
                average.steps = state.averaged;
                average.parameters = averages_of(&stored.last.optimiser)?;
            }
            best = stored.best;
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

    /// Ends an epoch that has been `stored`: all processes must have the same parameters.
    pub fn compare(&self, world: &dyn World, stored: Result<(), TrainingError>) -> Result<(), TrainingError> {
        if world.size() == 1 {
            return stored;
        }
        let mut hash = DefaultHasher::new();
        for (_, tensor) in &self.parameters.tensors {
            tensor
                .entries::<f32>()
                .iter()
                .flat_map(|entries| entries.iter())
                .for_each(|x| x.to_bits().hash(&mut hash));
        }
        let hashes = world.everyones(stored.map(|()| hash.finish().to_ne_bytes().to_vec()))?;
        match hashes.iter().position(|hash| *hash != hashes[0]) {
            Some(rank) => Err(WorldError::Differs { rank, size: world.size() }.into()),
            None => Ok(()),
        }
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

/// What a run folder has to resume from.
struct Stored {
    last: LastState<State>,
    /// The best model, where there is one.
    best: Option<TensorFile>,
}

impl Stored {
    fn load(folder: &RunFolder) -> Result<Option<Self>, TrainingError> {
        let Some(last) = folder.load_last::<State>()? else { return Ok(None) };
        let best = match last.state.best {
            Some(_) => Some(TensorFile::load(&folder.paths().model())?),
            None => None,
        };
        Ok(Some(Self { last, best }))
    }

    /// What the first process has loaded.
    fn of_first(
        world: &dyn World,
        loaded: Result<Option<Self>, TrainingError>,
    ) -> Result<Option<Self>, TrainingError> {
        if world.size() == 1 {
            return loaded;
        }
        let message = loaded.and_then(|loaded| loaded.map_or(Ok(Vec::new()), |stored| stored.to_bytes()));
        match &world.everyones(message)?[0][..] {
            [] => Ok(None),
            bytes => Ok(Some(Self::from_bytes(bytes)?)),
        }
    }

    /// The files one after the other, each after its length.
    fn to_bytes(&self) -> Result<Vec<u8>, TrainingError> {
        let LastState { model, optimiser, state } = &self.last;
        let state = serde_json::to_vec(state).map_err(unreadable)?;
        let best = self.best.as_ref().map_or(Ok(Vec::new()), TensorFile::to_bytes)?;
        let files = [state, model.to_bytes()?, optimiser.to_bytes()?, best];
        Ok(files
            .into_iter()
            .flat_map(|file| [&(file.len() as u64).to_ne_bytes()[..], &file].concat())
            .collect())
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, RunError> {
        let mut rest = bytes;
        let mut file = || -> &[u8] {
            let length = rest.split_first_chunk().map_or(0, |(length, after)| {
                rest = after;
                u64::from_ne_bytes(*length) as usize
            });
            rest.split_off(..length.min(rest.len())).unwrap_or_default()
        };
        let state = serde_json::from_slice(file()).map_err(unreadable)?;
        let [model, optimiser] = [file(), file()].map(|bytes| TensorFile::from_bytes(FIRST_PROCESS, bytes));
        let best = match file() {
            [] => None,
            bytes => Some(TensorFile::from_bytes(FIRST_PROCESS, bytes)?),
        };
        Ok(Self { last: LastState { model: model?, optimiser: optimiser?, state }, best })
    }
}

/// What errors call the files that come from the first process.
const FIRST_PROCESS: &str = "the state of the first process";

fn unreadable(error: serde_json::Error) -> RunError {
    RunError::State { path: FIRST_PROCESS.into(), reason: error.to_string() }
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
