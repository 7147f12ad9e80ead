//! The numbers to compare with, as published.

use super::RunConfig;
use crate::protocol::{Experiment, Resolution};

/// A published result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// Name of the model.
    pub model: &'static str,
    /// Mean, in the units of the metric.
    pub mean: f64,
    /// Standard deviation over runs, where it is given.
    pub sd: Option<f64>,
}

impl Published {
    /// Whether a system is the published one, or a form of it: what follows a comma says which.
    pub fn is_of(&self, system: &str) -> bool {
        system.strip_prefix(self.model).is_some_and(|form| form.is_empty() || form.starts_with(", "))
    }
}

const fn row(model: &'static str, mean: f64) -> Published {
    Published { model, mean, sd: None }
}

const fn spread(model: &'static str, mean: f64, sd: f64) -> Published {
    Published { model, mean, sd: Some(sd) }
}

/// The name of the paper's own model.
pub const PAPER: &str = "latent SDE on the sphere (paper)";

const ROTATING_MNIST: [Published; 6] = [
    spread(PAPER, 11.5e-3, 0.38e-3),
    row("CNN-ODE", 14.5e-3),
    row("ODE2VAE-KL", 18.8e-3),
    row("ODE2VAE", 19.4e-3),
    row("GPPVAE-joint", 28.8e-3),
    row("GPPVAE-dis", 30.9e-3),
];

const PENDULUM_ANGLE: [Published; 7] = [
    spread(PAPER, 3.84e-3, 0.35e-3),
    spread("mTAND-Enc", 3.20e-3, 0.60e-3),
    row("f-CRU", 3.25e-3),
    spread("S5", 3.41e-3, 0.27e-3),
    row("CRU", 3.74e-3),
    row("mTAND-ODE", 4.65e-3),
    row("ODE-ODE", 15.4e-3),
];

const PENDULUM_IMAGES: [Published; 8] = [
    spread(PAPER, 8.15e-3, 0.06e-3),
    row("CRU", 1.00e-3),
    row("f-CRU", 1.39e-3),
    row("CRU (re-run)", 2.06e-3),
    row("f-CRU (re-run)", 2.61e-3),
    row("mTAND-ODE", 8.23e-3),
    row("ODE-ODE", 15.06e-3),
    spread("mTAND-Full", 15.40e-3, 0.07e-3),
];

const ACTIVITY: [Published; 5] = [
    spread(PAPER, 0.906, 0.004),
    spread("mTAND-Full", 0.911, 0.002),
    spread("mTAND-Enc", 0.907, 0.002),
    row("mTAND-ODE", 0.904),
    row("ODE-ODE", 0.870),
];

/// Shares of observed points of the columns below.
const OBSERVED: [f64; 6] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// A model and its errors (e-5) at the shares of observed points.
type Row = (&'static str, [u32; 6]);

const SIX_MINUTES: [Row; 5] = [
    (PAPER, [314, 306, 301, 294, 300, 155]),
    ("mTAND-ODE", [338, 333, 332, 333, 335, 182]),
    ("mTAND-Full", [361, 353, 348, 355, 358, 49]),
    ("CRU", [511, 481, 560, 554, 585, 177]),
    ("f-CRU", [524, 496, 485, 566, 611, 110]),
];

const ONE_MINUTE: [Row; 5] = [
    (PAPER, [314, 303, 301, 299, 296, 153]),
    ("latent SDE on the sphere (paper, 390 epochs)", [320, 314, 310, 308, 307, 167]),
    ("mTAND-Full", [419, 402, 416, 441, 480, 47]),
    ("CRU", [520, 525, 522, 523, 559, 182]),
    ("f-CRU", [553, 522, 541, 525, 580, 84]),
];

/// All published results of an experiment with the settings of a run, the paper's own first; none where only a
/// figure is published.
///
/// ```
/// use stroock_experiments::protocol::{Experiment, Options};
/// use stroock_experiments::reproduce::{Preset, RunConfig, published::published};
/// let config = RunConfig::new(Experiment::Physionet, Preset::Paper, Options::default());
/// assert_eq!(published(&config)[0].mean, 3.14e-3);
/// ```
pub fn published(config: &RunConfig) -> Vec<Published> {
    match config.experiment {
        Experiment::RotatingMnist => ROTATING_MNIST.to_vec(),
        Experiment::PendulumAngle => PENDULUM_ANGLE.to_vec(),
        Experiment::PendulumImages => PENDULUM_IMAGES.to_vec(),
        Experiment::Activity => ACTIVITY.to_vec(),
        Experiment::Physionet => {
            let rows = match config.options.resolution {
                Resolution::SixMinutes => SIX_MINUTES,
                Resolution::OneMinute => ONE_MINUTE,
            };
            let column = OBSERVED.iter().position(|share| (share - config.options.observed).abs() < 1e-9);
            column.map_or_else(Vec::new, |column| {
                rows.map(|(model, errors)| row(model, f64::from(errors[column]) / 1e5)).to_vec()
            })
        }
        Experiment::Lorenz | Experiment::Sine => Vec::new(),
    }
}

/// The published result of the system that a run is of: the paper's own model, or a rival by its name.
///
/// ```
/// use stroock_experiments::protocol::{Experiment, Options};
/// use stroock_experiments::reproduce::{Preset, RunConfig, published::counterpart};
/// use stroock_experiments::rival::Rival;
/// let options = Options::default();
/// let angle = Experiment::PendulumAngle;
/// assert_eq!(counterpart(&RunConfig::new(angle, Preset::Clean, options)).unwrap().mean, 3.84e-3);
/// let s5 = RunConfig::of_rival(Rival::S5, angle, Preset::Clean, options).unwrap();
/// assert_eq!(counterpart(&s5).unwrap().mean, 3.41e-3);
/// ```
pub fn counterpart(config: &RunConfig) -> Option<Published> {
    let system = config.system().unwrap_or(PAPER);
    published(config).into_iter().find(|row| row.is_of(system))
}
