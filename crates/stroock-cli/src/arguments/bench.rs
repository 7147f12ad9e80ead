//! What can be measured.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use stroock_experiments::protocol::Experiment;
use stroock_experiments::rival::Rival;

use super::{GrowthArguments, Minutes, experiments, rivals};

#[derive(Debug, Subcommand)]
pub enum Bench {
    /// One training step of an experiment: forward, backward, optimiser
    #[command(after_help = "Examples:\n  stroock bench step physionet --minutes 6 --batch-size 50\n  \
        stroock bench step physionet --model latent-ode")]
    Step(StepArguments),
    /// The latent path alone, forward and backward
    #[command(after_help = "Example:\n  stroock bench path --steps 480 --series 50 --dim 16")]
    Path(PathArguments),
    /// Time attention and recurrent unit at the shapes of PhysioNet, forward and backward
    #[command(after_help = "Example:\n  stroock bench encoder --batch-size 50")]
    Encoder(EncoderArguments),
    /// Posterior samples of an experiment: encode, draw paths, decode
    #[command(after_help = "Example:\n  stroock bench sample physionet --batch-size 50 --samples 10")]
    Sample(DrawArguments),
    /// How time and memory grow with steps, series, samples, dimension and channels
    #[command(after_help = "Example:\n  stroock bench growth --out growth")]
    Growth(GrowthArguments),
    /// Training steps of an experiment in the processes that a launcher of MPI has started
    #[command(after_help = "Example:\n  mpirun -n 2 stroock bench processes physionet --batch-size 50")]
    Processes(ProcessesArguments),
}

#[derive(Debug, Args)]
pub struct StepArguments {
    /// Which experiment; all of them if none is named
    #[arg(value_parser = experiments())]
    pub experiment: Option<Experiment>,
    /// Another system of the paper's tables in the place of its model
    #[arg(long, value_name = "NAME", value_parser = rivals(), requires = "experiment")]
    pub model: Option<Rival>,
    /// Series a step; the experiment's own batch size if not given
    #[arg(long)]
    pub batch_size: Option<usize>,
    /// Resolution of PhysioNet's times
    #[arg(long, value_enum, default_value_t = Minutes::Six)]
    pub minutes: Minutes,
    /// Steps that are measured
    #[arg(long, default_value_t = 20)]
    pub repeat: usize,
    /// Take the batch of the first step in every step, instead of drawing anew what the encoder sees
    #[arg(long)]
    pub same_batch: bool,
    /// Measure nothing, and write the parameters, batch, noise and results of the first step to a file
    #[arg(long, value_name = "FILE", requires = "experiment")]
    pub record: Option<PathBuf>,
    /// Leave the noise of the paths out of the record
    #[arg(long, requires = "record")]
    pub no_noise: bool,
    /// One JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct PathArguments {
    /// Steps of the grid
    #[arg(long, default_value_t = 480)]
    pub steps: usize,
    /// Series of the batch
    #[arg(long, default_value_t = 50)]
    pub series: usize,
    /// Ambient dimension of the sphere
    #[arg(long, default_value_t = 16)]
    pub dim: usize,
    /// Keep one state instead of all of them for the backward pass
    #[arg(long)]
    pub reversible: bool,
    /// Passes that are measured
    #[arg(long, default_value_t = 50)]
    pub repeat: usize,
    /// Measure nothing, and write inputs, noise, states and gradients of one pass to a file
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// One JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct EncoderArguments {
    /// Series of the batch
    #[arg(long, default_value_t = 50)]
    pub batch_size: usize,
    /// Passes that are measured
    #[arg(long, default_value_t = 50)]
    pub repeat: usize,
    /// Measure nothing, and write parameters, inputs, representations and gradients of one pass to a file
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// One JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct DrawArguments {
    /// Which experiment
    #[arg(value_parser = experiments(), default_value = "physionet")]
    pub experiment: Experiment,
    /// Series of the batch
    #[arg(long, default_value_t = 50)]
    pub batch_size: usize,
    /// Paths a series
    #[arg(long, default_value_t = 10)]
    pub samples: usize,
    /// Resolution of PhysioNet's times
    #[arg(long, value_enum, default_value_t = Minutes::Six)]
    pub minutes: Minutes,
    /// Batches that are measured
    #[arg(long, default_value_t = 50)]
    pub repeat: usize,
    /// One JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ProcessesArguments {
    /// Which experiment
    #[arg(value_parser = experiments(), default_value = "physionet")]
    pub experiment: Experiment,
    /// Series a step; the experiment's own batch size if not given
    #[arg(long)]
    pub batch_size: Option<usize>,
    /// Pieces that a batch is cut into [default: with a launcher one for 16 series, 4 to 12; else 1]
    #[arg(long)]
    pub chunks: Option<usize>,
    /// Resolution of PhysioNet's times
    #[arg(long, value_enum, default_value_t = Minutes::Six)]
    pub minutes: Minutes,
    /// Epochs of ten steps that are measured
    #[arg(long, default_value_t = 10)]
    pub repeat: usize,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
