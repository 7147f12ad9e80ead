//! Training steps of the PhysioNet model with any number of channels.

use burn::module::Module;
use burn::tensor::Device;
use stroock::batch::Batch;
use stroock::initial::InitialWeights;
use stroock::model::{ModelSettings, StandardLatentSde};
use stroock::series::Observation;
use stroock::training::Adam;
use stroock_experiments::protocol::{Experiment, Options, Protocol};
use stroock_kernels::noise::NoiseKey;

use super::super::{latent_sde, shapes, step};
use crate::failure::Failure;

const SERIES: usize = 16;

/// A model in training.
pub struct Training {
    protocol: Protocol,
    batch: Batch,
    /// Missing after a step that failed.
    model: Option<StandardLatentSde>,
    adam: Adam,
    epoch: u64,
}

impl Training {
    pub fn new(channels: usize) -> Result<Self, Failure> {
        let options = Options::default();
        let mut protocol = Experiment::Physionet.paper(options);
        if let Some(model) = protocol.model.as_latent_sde_mut() {
            model.observation = Observation::Vector { channels };
        }
        let data = shapes::series(Experiment::Physionet, options, &protocol, SERIES)?;
        let numbers: Vec<usize> = (0..SERIES).collect();
        let batch = protocol.batcher.assemble(&data, &numbers, NoiseKey::new(1, 0))?;
        let device = Device::flex().autodiff();
        let model = latent_sde(&protocol)?.init(&mut InitialWeights::new(1, &device))?.materialize();
        let adam = Adam::new(protocol.training.adam);
        Ok(Self { protocol, batch, model: Some(model), adam, epoch: 0 })
    }

    /// Forward, backward, optimiser.
    pub fn step(&mut self) -> Result<(), Failure> {
        let model = self.model.take().ok_or("the step before has failed")?;
        let (model, _) = step::step(model, &mut self.adam, &self.protocol, &self.batch, self.epoch)?;
        self.model = Some(model);
        self.epoch += 1;
        Ok(())
    }
}
