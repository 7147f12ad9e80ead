//! One training step (forward, backward, optimiser) on synthetic data of the paper's shapes and raggedness.

use std::hint::black_box;

use burn::module::Module;
use burn::tensor::Device;
use criterion::{Criterion, criterion_group, criterion_main};
use rand_core::Rng;
use stroock::batch::{Batch, Batcher, GridKind, InputChoice, TimeAxis};
use stroock::decoder::{Mlp, MlpConfig};
use stroock::encoder::{TimeAttentionConfig, TimeAttentionEncoder};
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{LatentSde, LatentSpace, PathDraws};
use stroock::objective::ElboWeights;
use stroock::series::{Dataset, Observation, Series, Target};
use stroock::training::{Adam, AdamConfig};
use stroock_kernels::noise::{NoiseKey, Purpose};
use stroock_kernels::path::{Memory, Space};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Shapes of an experiment.
struct Shapes {
    name: &'static str,
    series: usize,
    channels: usize,
    /// Points of the grid.
    grid: usize,
    /// Observed times of a series, on average.
    times: usize,
    /// Share of the entries that are observed at these times.
    density: f64,
    hidden: usize,
    terms: usize,
    decoder: Vec<usize>,
}

impl Shapes {
    fn data(&self) -> Dataset {
        let series = (0..self.series).map(|b| {
            let mut stream = NoiseKey::new(2, 0).stream(Purpose::Other, b as u32, 0);
            let mut uniform = || f64::from(stream.next_u32()) / 2f64.powi(32);
            let wanted = self.times as f64 / self.grid as f64;
            let times: Vec<f64> = (0..self.grid)
                .filter(|_| uniform() < wanted)
                .map(|j| j as f64 / (self.grid - 1) as f64)
                .collect();
            let entries = times.len() * self.channels;
            Series {
                id: b.to_string(),
                values: (0..entries).map(|_| uniform() as f32).collect(),
                observed: Some((0..entries).map(|_| uniform() < self.density).collect()),
                times,
                target: Target::None,
            }
        });
        Dataset::new(Observation::Vector { channels: self.channels }, series.collect())
            .expect("well-formed series")
    }

    fn batch(&self) -> Batch {
        let axis = TimeAxis { start: 0.0, end: 1.0, horizon: 1.0 };
        let batcher = Batcher {
            input_axis: axis,
            grid_axis: axis,
            grid: GridKind::Regular { points: self.grid },
            input: InputChoice::All,
        };
        let numbers: Vec<usize> = (0..self.series).collect();
        batcher.assemble(&self.data(), &numbers, NoiseKey::new(1, 0)).expect("well-formed series")
    }

    fn model(&self, device: &Device) -> LatentSde<TimeAttentionEncoder, Mlp> {
        let encoder = TimeAttentionConfig {
            channels: self.channels,
            hidden: self.hidden,
            embedding: 128,
            reference_points: 128,
            stretched: false,
        };
        let latent = LatentSpace {
            space: Space::Sphere,
            dim: 16,
            terms: self.terms,
            interval: (0.0, 2.0),
            memory: Memory::Stored,
        };
        let widths = [vec![16], self.decoder.clone(), vec![self.channels]].concat();
        let likelihood = LikelihoodKind::Gaussian { scale: 0.01, kind: ScaleKind::Fixed };
        LatentSde::new(
            encoder.init(device),
            self.hidden,
            latent,
            MlpConfig { widths }.init(device),
            likelihood.init(self.channels, device),
            device,
        )
        .materialize()
    }
}

fn step(criterion: &mut Criterion) {
    let shapes = [
        Shapes {
            name: "physionet 6 min, batch 64",
            series: 64,
            channels: 41,
            grid: 481,
            times: 72,
            density: 0.147,
            hidden: 64,
            terms: 6,
            decoder: vec![100],
        },
        Shapes {
            name: "physionet 1 min, batch 50",
            series: 50,
            channels: 41,
            grid: 3001,
            times: 75,
            density: 0.147,
            hidden: 64,
            terms: 6,
            decoder: vec![100],
        },
        Shapes {
            name: "activity, batch 50",
            series: 50,
            channels: 12,
            grid: 228,
            times: 50,
            density: 0.25,
            hidden: 128,
            terms: 4,
            decoder: vec![],
        },
    ];
    let device = Device::flex().autodiff();
    let mut group = criterion.benchmark_group("step");
    group.sample_size(10);
    for shapes in &shapes {
        let batch = shapes.batch();
        let mut model = Some(shapes.model(&device));
        let mut adam = Adam::new(AdamConfig::default());
        let weights = ElboWeights { kl_start: 1e-4, kl_path: 1e-4, likelihood: 1.0 };
        let mut epoch = 0;
        group.bench_function(shapes.name, |bencher| {
            bencher.iter(|| {
                epoch += 1;
                let current = model.take().expect("the model of the step before");
                let draws = PathDraws { key: NoiseKey::new(1, epoch), samples: 1, first_sample: 0 };
                let bound = current.bound(&batch, draws).expect("a batch of the model's shapes");
                let gradients = bound.losses(weights, &batch).mean().backward();
                model = Some(black_box(adam.step(current, &gradients, 1e-4)));
            });
        });
    }
}

criterion_group!(benches, step);
criterion_main!(benches);
