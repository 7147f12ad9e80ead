//! Adam and AdamW over all parameters of a module, each in one pass.

use std::collections::BTreeMap;

use burn::module::Module;
use burn::tensor::{Gradients, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use super::Gradient;
use crate::entries::entries;
use crate::parameters::{ParameterMapper, map_parameters};

/// Settings of [`Adam`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdamConfig {
    /// Memory of the mean gradient.
    pub beta1: f64,
    /// Memory of the mean square.
    pub beta2: f64,
    /// Added to the root of the mean square.
    pub epsilon: f64,
    /// Decoupled weight decay (AdamW); 0 is plain Adam.
    pub weight_decay: f64,
    /// Largest norm of the whole gradient; longer ones are shortened to it.
    pub clip: Option<f64>,
}

impl Default for AdamConfig {
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.0, clip: None }
    }
}

/// Running means of one parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moments {
    /// Of the gradient.
    pub first: Vec<f32>,
    /// Of its square.
    pub second: Vec<f32>,
}

/// The optimiser of Kingma and Ba (2015), with the decoupled decay of Loshchilov and Hutter (2019).
///
/// Its state is plain data by the names of the parameters, so that it can be written to a file and a
/// resumed run continues exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct Adam {
    config: AdamConfig,
    /// Steps taken.
    pub steps: u64,
    /// Running means by the name of the parameter.
    pub moments: BTreeMap<String, Moments>,
}

impl Adam {
    /// An optimiser that has taken no step.
    pub fn new(config: AdamConfig) -> Self {
        Self { config, steps: 0, moments: BTreeMap::new() }
    }

    /// The module after one step with learning rate `rate`.
    pub fn step<M: Module>(&mut self, module: M, gradients: &Gradients, rate: f64) -> M {
        let gradient = Gradient::of(&module, gradients);
        // Only clipping asks for the norm.
        let norm = self.config.clip.map_or(0.0, |_| gradient.norm());
        self.step_of_norm(module, &gradient, rate, norm)
    }

    /// [`step`](Self::step) for who knows the norm of the gradient already.
    pub fn step_of_norm<M: Module>(&mut self, module: M, gradient: &Gradient, rate: f64, norm: f64) -> M {
        self.steps += 1;
        let shorten = match self.config.clip {
            Some(limit) => (limit / norm.max(f64::MIN_POSITIVE)).min(1.0),
            None => 1.0,
        };
        let gradients = gradient.by_parameter();
        map_parameters(module, &mut Update { adam: self, gradients, rate, shorten: shorten as f32 })
    }
}

struct Update<'a, G> {
    adam: &'a mut Adam,
    /// Of the parameters that are still to come.
    gradients: G,
    rate: f64,
    shorten: f32,
}

impl<'g, G: Iterator<Item = Option<&'g [f32]>>> ParameterMapper for Update<'_, G> {
    fn map<const D: usize>(&mut self, name: &str, parameter: Tensor<D>) -> Tensor<D> {
        let Some(gradient) = self.gradients.next().flatten() else { return parameter };
        let (shape, device) = (parameter.shape(), parameter.device());
        let mut values = entries(parameter);
        self.update(name, &mut values, gradient);
        Tensor::from_data(TensorData::new(values, shape), &device).require_grad()
    }
}

impl<G> Update<'_, G> {
    fn update(&mut self, name: &str, values: &mut [f32], gradient: &[f32]) {
        let Adam { config, steps, moments } = &mut *self.adam;
        let moments = moments.entry(name.to_owned()).or_default();
        moments.first.resize(values.len(), 0.0);
        moments.second.resize(values.len(), 0.0);
        let power = i32::try_from(*steps).unwrap_or(i32::MAX);
        let unbias = |beta: f64| 1.0 - beta.powi(power);
        let rate = (self.rate / unbias(config.beta1)) as f32;
        let root = (1.0 / unbias(config.beta2)).sqrt() as f32;
        let keep = (1.0 - self.rate * config.weight_decay) as f32;
        let [beta1, beta2, epsilon] = [config.beta1, config.beta2, config.epsilon].map(|x| x as f32);
        let shorten = self.shorten;
        let states = moments.first.iter_mut().zip(&mut moments.second);
        for ((value, gradient), (first, second)) in values.iter_mut().zip(gradient).zip(states) {
            let gradient = gradient * shorten;
            *first = beta1 * *first + (1.0 - beta1) * gradient;
            *second = beta2 * *second + (1.0 - beta2) * gradient * gradient;
            *value = keep * *value - rate * *first / (second.sqrt() * root + epsilon);
        }
    }
}
