//! What is counted: every kernel forward and backward, at the shapes of the experiments with few series and frames.

use std::hint::black_box;

use stroock_kernels::attention::{AttentionSolver, ValueGradient};
use stroock_kernels::gru::GruSolver;
use stroock_kernels::noise::{NoiseKey, increments};
use stroock_kernels::path::{Memory, PathSolver, Scheme};
use stroock_kernels::simd::Level;
use stroock_kernels::start::{Draws, PowerSphericalStart, StartDistribution};

use crate::problems::encoder::{Ragged, Recurrent};
use crate::problems::layers::{self, Problem};
use crate::problems::path::Batch;

/// The widest vectors that valgrind knows; counts must not depend on the processor.
pub const LEVEL: Level = Level::Avx2;

/// Frames of a batch of images: two vectors of them.
const FRAMES: usize = 16;

/// Series of a batch of paths, or of start points: two vectors of them.
const SERIES: usize = 16;

type Run = Box<dyn FnMut()>;

/// A computation with a name; its problem is made when it is asked for.
pub struct Case {
    pub name: String,
    pub build: Box<dyn Fn() -> Run>,
}

impl Case {
    fn new(name: impl Into<String>, build: impl Fn() -> Run + 'static) -> Self {
        Self { name: name.into(), build: Box::new(build) }
    }
}

pub fn all() -> Vec<Case> {
    let mut all = Vec::new();
    for (dim, steps) in [(16, 16), (16, 480), (3, 480)] {
        for memory in [Memory::Stored, Memory::Reversible] {
            let solver = PathSolver { level: LEVEL, memory, ..PathSolver::default() };
            let name = format!("path/n={dim}/{steps} steps/{memory:?}");
            all.extend(path(name, solver, move || Batch::new(dim, SERIES, 1, steps)));
        }
    }
    for steps in [16, 480] {
        let solver = PathSolver { level: LEVEL, scheme: Scheme::Steered, ..PathSolver::default() };
        let name = format!("path/n=16/{steps} steps/Steered");
        all.extend(path(name, solver, move || Batch::steered(16, SERIES, 1, steps)));
    }
    all.extend(attention());
    all.extend(gru());
    all.extend(network("rotating digits decoder", layers::digits_decoder));
    all.extend(network("pendulum decoder", layers::pendulum_decoder));
    all.extend(noise());
    all
}

const WELL_FORMED: &str = "a well-formed problem";

fn path(name: String, solver: PathSolver, batch: impl Fn() -> Batch + Copy + 'static) -> [Case; 2] {
    let forward = Case::new(format!("{name}/forward"), move || {
        let batch = batch();
        Box::new(move || batch.forward(solver))
    });
    let backward = Case::new(format!("{name}/backward"), move || {
        let batch = batch();
        let path = solver.forward(&batch.problem()).expect(WELL_FORMED);
        let (of_states, of_kl) = batch.cotangents();
        Box::new(move || {
            let gradients = solver.backward(&batch.problem(), &path.tape, &of_states, &of_kl);
            black_box(gradients.expect(WELL_FORMED));
        })
    });
    [forward, backward]
}

fn attention() -> Vec<Case> {
    let solver = AttentionSolver { level: LEVEL };
    let mut cases = vec![Case::new("attention/PhysioNet/forward", move || {
        let ragged = Ragged::new(4);
        Box::new(move || drop(black_box(solver.forward(&ragged.problem()).expect(WELL_FORMED))))
    })];
    for values in [ValueGradient::Skipped, ValueGradient::Computed] {
        cases.push(Case::new(format!("attention/PhysioNet/backward/values {values:?}"), move || {
            let ragged = Ragged::new(4);
            let attended = solver.forward(&ragged.problem()).expect(WELL_FORMED);
            Box::new(move || {
                let gradients = solver.backward(&ragged.problem(), &attended.tape, &ragged.of_output, values);
                black_box(gradients.expect(WELL_FORMED));
            })
        }));
    }
    cases
}

fn gru() -> [Case; 2] {
    let solver = GruSolver { level: LEVEL };
    let recurrent = || Recurrent::new(5, 128, 82, 64);
    let forward = Case::new("gru/128 steps, 82 inputs, 64 units/forward", move || {
        let recurrent = recurrent();
        Box::new(move || drop(black_box(solver.forward(&recurrent.problem()).expect(WELL_FORMED))))
    });
    let backward = Case::new("gru/128 steps, 82 inputs, 64 units/backward", move || {
        let recurrent = recurrent();
        let recurrence = solver.forward(&recurrent.problem()).expect(WELL_FORMED);
        Box::new(move || {
            let gradients = solver.backward(&recurrent.problem(), &recurrence.tape, &recurrent.of_states);
            black_box(gradients.expect(WELL_FORMED));
        })
    });
    [forward, backward]
}

/// All layers of a network in one piece, and each of them alone.
fn network(name: &str, problem: fn(usize) -> Problem) -> Vec<Case> {
    let mut cases: Vec<Case> = both_passes(format!("network/{name}"), move || problem(FRAMES)).into();
    for (index, (layer, _)) in problem(FRAMES).layers().into_iter().enumerate() {
        let single = move || problem(FRAMES).layers().swap_remove(index).1;
        cases.extend(both_passes(format!("network/{name}/{layer}"), single));
    }
    cases
}

fn both_passes(name: String, problem: impl Fn() -> Problem + Copy + 'static) -> [Case; 2] {
    let problem = move || {
        let mut problem = problem();
        problem.network.level = LEVEL;
        problem
    };
    let forward = Case::new(format!("{name}/forward"), move || {
        let problem = problem();
        Box::new(move || drop(black_box(problem.forward())))
    });
    let backward = Case::new(format!("{name}/backward"), move || {
        let problem = problem();
        let made = problem.forward();
        Box::new(move || drop(black_box(problem.backward(&made))))
    });
    [forward, backward]
}

fn noise() -> [Case; 3] {
    const DIM: usize = 16;
    let key = NoiseKey::new(1, 0);
    let increments = Case::new("noise/increments, 480 x 120", move || {
        Box::new(move || drop(black_box(increments::<f32>(LEVEL, key, 0, 0, 480, 120))))
    });
    let start = |pulled_back: bool| -> Run {
        let series: Vec<u32> = (0..SERIES as u32).collect();
        let mu: Vec<f32> = (0..SERIES * DIM).map(|i| f32::from(u8::from(i % (DIM + 1) == 0))).collect();
        let kappa: Vec<f32> = (0..SERIES as i32).map(|b| 1.8f32.powi(b)).collect();
        let (of_points, of_kl) = (vec![1.0; SERIES * DIM], vec![1.0; SERIES]);
        Box::new(move || {
            let draws = Draws { key: NoiseKey::new(1, 0), series: &series, samples: 1, first_sample: 0 };
            let start = PowerSphericalStart { dim: DIM, mu: &mu, kappa: &kappa };
            match pulled_back {
                false => drop(black_box(start.sample(draws).expect(WELL_FORMED))),
                true => drop(black_box(start.pull_back(draws, &of_points, &of_kl).expect(WELL_FORMED))),
            }
        })
    };
    [
        increments,
        Case::new("start points/n=16/forward", move || start(false)),
        Case::new("start points/n=16/backward", move || start(true)),
    ]
}
