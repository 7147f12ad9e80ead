//! What went into a measured computation and what came out, as named tensors in one file, so that other programs
//! can be held against it.

use std::path::Path;

use burn::module::Module;
use burn::tensor::{Gradients, Tensor};
use serde::Serialize;
use stroock::batch::{Batch, EncoderInput, InputEntries, Targets};
use stroock::entries::entries;
use stroock::latent::PathGrid;
use stroock::objective::ElboWeights;
use stroock::parameters::{ParameterVisitor, visit_parameters};
use stroock::run::{Tensor as StoredTensor, TensorFile, TensorValues};
use stroock::series::Labels;
use stroock_experiments::protocol::Protocol;
use stroock_kernels::noise::{NoiseKey, increments};
use stroock_kernels::simd::Level;

use crate::failure::Failure;

/// A file of named tensors in the making.
pub struct Record(TensorFile);

impl Record {
    /// An empty record of a kind of computation.
    pub fn new(kind: &str) -> Self {
        let mut file = TensorFile::new();
        file.set_format("stroock-bench-record", 1);
        file.metadata.insert("kind".into(), kind.into());
        Self(file)
    }

    /// The record of a training step, with its settings and its batch.
    pub fn of_step(protocol: &Protocol, weights: &ElboWeights, batch: &Batch) -> Result<Self, Failure> {
        let mut record = Self::new("step");
        record.set("protocol", protocol)?;
        record.set("weights", weights)?;
        record.push_batch(batch)?;
        Ok(record)
    }

    /// Adds a setting as JSON.
    pub fn set(&mut self, key: &str, value: &impl Serialize) -> Result<(), Failure> {
        self.0.metadata.insert(key.into(), serde_json::to_string(value)?);
        Ok(())
    }

    /// Adds numbers with their shape.
    pub fn push(
        &mut self,
        name: &str,
        shape: &[usize],
        values: impl Into<TensorValues>,
    ) -> Result<(), Failure> {
        self.0.push(name, StoredTensor::new(shape.to_vec(), values)?);
        Ok(())
    }

    /// Adds a list of indices.
    pub fn push_indices(&mut self, name: &str, values: &[usize]) -> Result<(), Failure> {
        let values: Vec<i64> = values.iter().map(|&value| value as i64).collect();
        self.push(name, &[values.len()], values)
    }

    /// Adds a tensor.
    pub fn push_tensor<const D: usize>(&mut self, name: &str, tensor: Tensor<D>) -> Result<(), Failure> {
        let shape = tensor.dims();
        self.push(name, &shape, entries(tensor))
    }

    /// Adds parts of a loss as `result.<name>`.
    pub fn push_parts(&mut self, parts: Vec<(&'static str, Tensor<1>)>) -> Result<(), Failure> {
        parts.into_iter().try_for_each(|(name, part)| self.push_tensor(&format!("result.{name}"), part))
    }

    /// Adds the parameters of a module as `parameter.<name>`, and those of their gradients that there are as
    /// `gradient.<name>`.
    pub fn push_module<M: Module>(&mut self, module: &M, gradients: &Gradients) -> Result<(), Failure> {
        let mut collect = Collect { record: self, gradients, failure: None };
        visit_parameters(module, &mut collect);
        collect.failure.map_or(Ok(()), Err)
    }

    /// Adds what an encoder sees.
    pub fn push_input(&mut self, input: &EncoderInput) -> Result<(), Failure> {
        self.push_indices("input.point_offsets", &input.point_offsets)?;
        self.push("input.values", &[input.points(), input.channels()], input.values.clone())?;
        let times: Vec<f64> = input.times.iter().map(|&time| input.distinct_times[time as usize]).collect();
        self.push("input.times", &[times.len()], times)?;
        if let InputEntries::PerChannel { offsets, points } = &input.entries {
            self.push_indices("input.entry_offsets", offsets)?;
            self.push("input.entry_points", &[points.len()], points.clone())?;
        }
        Ok(())
    }

    /// Adds a batch: input, targets, grid, requests and labels.
    pub fn push_batch(&mut self, batch: &Batch) -> Result<(), Failure> {
        self.push_input(&batch.input)?;
        self.push_targets(&batch.targets)?;
        let PathGrid::Shared(times) = &batch.grid else {
            return Err("a record holds one grid for all series".into());
        };
        self.push("grid.times", &[times.len()], times.clone())?;
        self.push_indices("requests.indices", &batch.requests.indices)?;
        let (mut classes, mut numbers, mut width) = (Vec::new(), Vec::new(), 1);
        for labels in &batch.labels {
            match labels {
                Labels::ClassPerTime(of_series) => {
                    classes.extend(of_series.iter().map(|class| class.map_or(-1, i64::from)));
                }
                Labels::RealPerTime { width: of_series, values } => {
                    numbers.extend_from_slice(values);
                    width = *of_series;
                }
                Labels::None | Labels::Class(_) => {}
            }
        }
        if !classes.is_empty() {
            self.push("target.classes", &[classes.len()], classes)?;
        }
        if !numbers.is_empty() {
            self.push("target.values", &[numbers.len() / width, width], numbers)?;
        }
        Ok(())
    }

    fn push_targets(&mut self, targets: &Targets) -> Result<(), Failure> {
        self.push_indices("targets.point_offsets", targets.point_offsets())?;
        self.push("targets.values", &[targets.points(), targets.channels()], targets.values().to_vec())?;
        let counts = targets.counts();
        self.push_indices("targets.counts", &counts)?;
        if counts.iter().sum::<usize>() < targets.values().len() {
            let mut places = Vec::new();
            for series in 0..targets.series() {
                targets.for_each_entry(series, |place, _| places.push(place));
            }
            self.push_indices("targets.places", &places)?;
        }
        Ok(())
    }

    /// Adds the standard normals of paths, `[S, B, T, m]`.
    pub fn push_noise(
        &mut self,
        key: NoiseKey,
        numbers: &[u32],
        samples: usize,
        steps: usize,
        m: usize,
    ) -> Result<(), Failure> {
        let mut noise: Vec<f32> = Vec::with_capacity(samples * numbers.len() * steps * m);
        for sample in 0..samples {
            for &number in numbers {
                noise.extend(increments::<f32>(Level::detect(), key, number, sample as u32, steps, m));
            }
        }
        self.push("noise", &[samples, numbers.len(), steps, m], noise)
    }

    /// Writes the file.
    pub fn save(&self, path: &Path) -> Result<(), Failure> {
        Ok(self.0.save(path)?)
    }
}

struct Collect<'a> {
    record: &'a mut Record,
    gradients: &'a Gradients,
    failure: Option<Failure>,
}

impl ParameterVisitor for Collect<'_> {
    fn visit<const D: usize>(&mut self, name: &str, tensor: Tensor<D>) {
        let gradient = tensor.grad(self.gradients);
        let push = || {
            self.record.push_tensor(&format!("parameter.{name}"), tensor)?;
            match gradient {
                Some(gradient) => self.record.push_tensor(&format!("gradient.{name}"), gradient),
                None => Ok(()),
            }
        };
        if let Err(failure) = push() {
            self.failure.get_or_insert(failure);
        }
    }
}
