//! Synthetic series with the shapes and the raggedness of each experiment.

use stroock::model::ModelSettings;
use stroock::series::{Dataset, Labels, Observation, Series, SeriesError};
use stroock_experiments::protocol::{Experiment, Options, Protocol};
use stroock_kernels::noise::{NoiseKey, Purpose, Stream};

/// How many times of how many a series has, and how full they are.
struct Raggedness {
    /// Times that a series may have.
    grid: usize,
    /// Units of the user between two of them.
    step: f64,
    /// Times that it has: on average where they are drawn, exactly otherwise.
    times: f64,
    /// Whether the number of times varies from series to series.
    varies: bool,
    /// Share of the values that are observed at these times.
    density: f64,
}

/// `count` series of an experiment, made of random numbers.
pub fn series(
    experiment: Experiment,
    options: Options,
    protocol: &Protocol,
    count: usize,
) -> Result<Dataset, SeriesError> {
    let shape = match experiment {
        // Fifteen of sixteen frames, of which the batches leave out four.
        Experiment::RotatingMnist => exactly(16, 1.0, 15.0),
        Experiment::PendulumAngle | Experiment::PendulumImages => exactly(100, 1.0, 50.0),
        Experiment::Activity => Raggedness { density: 0.25, ..exactly(228, 1.0, 50.0) },
        Experiment::Physionet => Raggedness {
            grid: options.resolution.points(),
            step: options.resolution.hours(),
            times: 72.0,
            varies: true,
            density: 0.147,
        },
        Experiment::Lorenz => exactly(41, 0.025, 41.0),
        Experiment::Sine => exactly(101, 0.01, 16.0),
    };
    let observation = protocol.model.observation();
    let all = (0..count).map(|b| {
        let mut stream = NoiseKey::new(2, 0).stream(Purpose::Caller, b as u32, 0);
        let times = shape.times(&mut stream);
        let entries = times.len() * observation.len();
        let values = (0..entries).map(|_| stream.uniform() as f32).collect();
        let gappy = shape.density < 1.0;
        let observed = gappy.then(|| (0..entries).map(|_| stream.uniform() < shape.density).collect());
        let withheld = withheld(experiment, observation, times.len(), &mut stream);
        let labels = labels(experiment, times.len(), &mut stream);
        let times = times.into_iter().map(|time| time as f64 * shape.step).collect();
        Series { id: b.to_string(), times, values, observed, withheld, labels }
    });
    Dataset::new(observation, all.collect())
}

fn exactly(grid: usize, step: f64, times: f64) -> Raggedness {
    Raggedness { grid, step, times, varies: false, density: 1.0 }
}

impl Raggedness {
    fn times(&self, stream: &mut Stream) -> Vec<usize> {
        if self.varies {
            let share = self.times / self.grid as f64;
            return (0..self.grid).filter(|&j| j == 0 || stream.uniform() < share).collect();
        }
        // Selection sampling: exactly so many of all, each subset as likely as any other.
        let mut wanted = self.times;
        (0..self.grid)
            .filter(|j| {
                let taken = stream.uniform() * ((self.grid - j) as f64) < wanted;
                wanted -= f64::from(u8::from(taken));
                taken
            })
            .collect()
    }
}

/// Half of the frames are not seen where images are interpolated.
fn withheld(
    experiment: Experiment,
    observation: Observation,
    times: usize,
    stream: &mut Stream,
) -> Option<Vec<bool>> {
    (experiment == Experiment::PendulumImages).then(|| {
        let hidden: Vec<bool> = (0..times).map(|i| i >= 3 && stream.uniform() < 0.5).collect();
        hidden.into_iter().flat_map(|hidden| std::iter::repeat_n(hidden, observation.len())).collect()
    })
}

fn labels(experiment: Experiment, times: usize, stream: &mut Stream) -> Labels {
    match experiment {
        Experiment::Activity => {
            Labels::ClassPerTime((0..times).map(|_| Some((stream.uniform() * 7.0) as u32)).collect())
        }
        Experiment::PendulumAngle => {
            let angles = (0..times).map(|_| std::f64::consts::TAU * stream.uniform());
            let values = angles.flat_map(|angle| [angle.sin() as f32, angle.cos() as f32]).collect();
            Labels::RealPerTime { width: 2, values }
        }
        _ => Labels::None,
    }
}
