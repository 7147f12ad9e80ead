//! A classifier as named tensors and text of a model file, and back.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::SeriesClassifier;
use super::convolution::Convolution;
use super::features::{FeatureMap, FeaturePlan};
use super::standard::Standard;
use crate::run::{RunError, Tensor, TensorFile, TensorFileProblem};

/// Key of the metadata.
const KEY: &str = "classifier";
/// What the names of all its tensors begin with.
const PREFIX: &str = "classifier.";

/// What a classifier is made of, and how it was chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassifierDescription {
    /// What rows of features are made of.
    pub plan: FeaturePlan,
    /// Number of classes.
    pub classes: usize,
    /// Labelled series that it was fitted to.
    pub series: usize,
    /// Factor on the scores whose softmax are the probabilities.
    pub sharpness: f64,
    /// Strength of the ridge.
    pub ridge: f64,
    /// Weights of every view, of what is found in it and where, and at the end of the plain numbers.
    pub groups: Vec<f64>,
    /// Mean log loss on series that were left out.
    pub log_loss: f64,
    /// Share of right classes of series that were left out.
    pub accuracy: f64,
    /// How much of the answer is this classifier's, and why.
    pub choice: Choice,
}

/// How much of the probabilities of classes is the classifier's; the rest is that of the latent SDE.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Share of the classifier, from 0 to 1.
    pub share: f64,
    /// Validation series that it was chosen on.
    pub series: usize,
    /// Mean log loss of the classifier on them, when it had not seen them.
    pub classifier_log_loss: f64,
    /// Mean log loss of the latent SDE on them.
    pub model_log_loss: f64,
}

impl Default for Choice {
    /// The classifier alone, chosen on nothing.
    fn default() -> Self {
        Self { share: 1.0, series: 0, classifier_log_loss: 0.0, model_log_loss: 0.0 }
    }
}

/// Why a file holds no usable classifier.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClassifierProblem {
    /// A tensor is missing or of another type.
    #[error(transparent)]
    File(#[from] RunError),
    /// A tensor cannot be stored.
    #[error("the classifier cannot be stored: {0}")]
    Tensor(#[from] TensorFileProblem),
    /// The description cannot be understood or written.
    #[error("the description of the classifier: {reason}")]
    Description {
        /// What is wrong.
        reason: String,
    },
    /// Tensors and description contradict each other.
    #[error("the classifier does not fit together: {what}")]
    Contradiction {
        /// What does not fit.
        what: &'static str,
    },
}

impl SeriesClassifier {
    /// Adds the classifier to a file.
    ///
    /// # Errors
    /// Never for a classifier that was fitted or read.
    pub fn note(&self, file: &mut TensorFile) -> Result<(), ClassifierProblem> {
        let text = serde_json::to_string(&self.description)
            .map_err(|error| ClassifierProblem::Description { reason: error.to_string() })?;
        file.metadata.insert(KEY.into(), text);
        let all = || self.map.convolutions.iter().flatten();
        let count = |count: usize| count as u32;
        let views: Vec<u32> = self.map.convolutions.iter().map(|view| count(view.len())).collect();
        let kernels: Vec<u8> = all().map(|convolution| convolution.kernel).collect();
        let dilations: Vec<u32> = all().map(|convolution| convolution.dilation).collect();
        let channel_counts: Vec<u32> = all().map(|convolution| count(convolution.channels.len())).collect();
        let bias_counts: Vec<u32> = all().map(|convolution| count(convolution.biases.len())).collect();
        let channels: Vec<u32> = all().flat_map(|convolution| &convolution.channels).copied().collect();
        let biases: Vec<f32> = all().flat_map(|convolution| &convolution.biases).copied().collect();
        let width = self.standard.means.len();
        let mut push = |name: &str, tensor: Result<Tensor, TensorFileProblem>| {
            file.push(format!("{PREFIX}{name}"), tensor?);
            Ok::<(), TensorFileProblem>(())
        };
        push("views", Tensor::new(vec![views.len()], views))?;
        push("kernels", Tensor::new(vec![kernels.len()], kernels))?;
        push("dilations", Tensor::new(vec![dilations.len()], dilations))?;
        push("channel_counts", Tensor::new(vec![channel_counts.len()], channel_counts))?;
        push("bias_counts", Tensor::new(vec![bias_counts.len()], bias_counts))?;
        push("channels", Tensor::new(vec![channels.len()], channels))?;
        push("biases", Tensor::new(vec![biases.len()], biases))?;
        push("means", Tensor::new(vec![width], self.standard.means.clone()))?;
        push("factors", Tensor::new(vec![width], self.standard.factors.clone()))?;
        push("centres", Tensor::new(vec![width], self.standard.centres.clone()))?;
        push("weights", Tensor::new(vec![self.classes(), width], self.weights.clone()))?;
        push("intercepts", Tensor::new(vec![self.classes()], self.intercepts.clone()))?;
        Ok(())
    }

    /// Takes the classifier out of a file, where it has one.
    ///
    /// # Errors
    /// When its tensors are missing or do not fit together. Nothing is read beyond what the file holds.
    pub fn take(file: &mut TensorFile) -> Result<Option<Self>, ClassifierProblem> {
        let Some(text) = file.metadata.remove(KEY) else { return Ok(None) };
        let unreadable =
            |error: serde_json::Error| ClassifierProblem::Description { reason: error.to_string() };
        let description: ClassifierDescription = serde_json::from_str(&text).map_err(unreadable)?;
        let found = Self::read(file, description)?;
        file.tensors.retain(|(name, _)| !name.starts_with(PREFIX));
        Ok(Some(found))
    }

    /// Checks that it is one of series of so many channels, with so many classes.
    ///
    /// # Errors
    /// When it is not.
    pub fn check(&self, channels: usize, classes: usize) -> Result<(), ClassifierProblem> {
        match self.description.plan.channels == channels && self.classes() == classes {
            true => Ok(()),
            false => Err(ClassifierProblem::Contradiction {
                what: "it has other channels or classes than the model",
            }),
        }
    }

    fn read(file: &TensorFile, description: ClassifierDescription) -> Result<Self, ClassifierProblem> {
        let wrong = |what| ClassifierProblem::Contradiction { what };
        let name = |name: &str| format!("{PREFIX}{name}");
        let numbers = |tensor: &str| file.entries::<u32>(&name(tensor));
        let (kernels, dilations) = (file.entries::<u8>(&name("kernels"))?, numbers("dilations")?);
        let (channel_counts, bias_counts) = (numbers("channel_counts")?, numbers("bias_counts")?);
        let (mut channels, mut biases) = (numbers("channels")?, file.entries::<f32>(&name("biases"))?);
        let count = kernels.len();
        if [dilations.len(), channel_counts.len(), bias_counts.len()] != [count; 3] {
            return Err(wrong("there are not as many kernels as dilations, channels and thresholds"));
        }
        let plan = &description.plan;
        let (moving, points) = (plan.moving(), plan.grid.points);
        if !plan.grid.is_valid() {
            return Err(wrong("its grid has no usable size"));
        }
        let mut convolutions = Vec::new();
        let counts = channel_counts.iter().zip(bias_counts);
        for ((&kernel, &dilation), (&together, &thresholds)) in kernels.iter().zip(dilations).zip(counts) {
            let short = || wrong("it has fewer channels or thresholds than it names");
            let (now, later) = channels.split_at_checked(together as usize).ok_or_else(short)?;
            let (own, others) = biases.split_at_checked(thresholds as usize).ok_or_else(short)?;
            (channels, biases) = (later, others);
            let convolution = Convolution { kernel, dilation, channels: now.to_vec(), biases: own.to_vec() };
            if !convolution.is_valid(moving, points) {
                return Err(wrong("a kernel, a dilation or a channel does not exist"));
            }
            convolutions.push(convolution);
        }
        let mut views = Vec::new();
        for &size in numbers("views")? {
            if size as usize > convolutions.len() {
                return Err(wrong("its views have more convolutions than there are"));
            }
            let rest = convolutions.split_off(size as usize);
            views.push(std::mem::replace(&mut convolutions, rest));
        }
        if !convolutions.is_empty() || !channels.is_empty() || !biases.is_empty() {
            return Err(wrong("it has more convolutions, channels or thresholds than it names"));
        }
        if views.len() != plan.views.len() || description.groups.len() != 2 * views.len() + 1 {
            return Err(wrong("there are not as many views as it names"));
        }
        let map = FeatureMap { plan: plan.clone(), convolutions: views };
        let (means, factors) = (file.entries::<f32>(&name("means"))?, file.entries::<f32>(&name("factors"))?);
        let centres = file.entries::<f32>(&name("centres"))?;
        let weights = file.entries::<f32>(&name("weights"))?;
        let intercepts = file.entries::<f64>(&name("intercepts"))?;
        let width = map.len();
        if [means.len(), factors.len(), centres.len()] != [width; 3]
            || intercepts.len() != description.classes
            || Some(weights.len()) != width.checked_mul(intercepts.len())
        {
            return Err(wrong("its weights are not as many as its features and classes"));
        }
        if !(description.sharpness > 0.0 && description.sharpness.is_finite()) {
            return Err(wrong("its sharpness is not positive"));
        }
        if !(0.0..=1.0).contains(&description.choice.share) {
            return Err(wrong("its share of the answer does not lie between 0 and 1"));
        }
        Ok(Self {
            standard: Standard {
                means: means.to_vec(),
                factors: factors.to_vec(),
                centres: centres.to_vec(),
            },
            weights: weights.to_vec(),
            intercepts: intercepts.to_vec(),
            sharpness: description.sharpness,
            map,
            description,
        })
    }
}
