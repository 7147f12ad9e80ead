//! A million steps in single precision.

use stroock_kernels::noise::NoiseKey;
use stroock_kernels::path::{
    Chebyshev, Grid, Memory, Noise, PathProblem, PathSolver, Prior, Requests, Scheme, Space,
};
use stroock_kernels::simd::Level;

const STEPS: usize = 1_000_000;

/// How far the states of a few paths are from the sphere, at most.
fn distance(solver: PathSolver, dim: usize, series: usize) -> f64 {
    let times: Vec<f32> = (0..=STEPS).map(|step| step as f32 / 1000.0).collect();
    let m = Space::Sphere.algebra_dim(dim);
    let coefficients: Vec<f32> = (0..series * m * 3).map(|i| (i as f32).sin()).collect();
    let mut start = vec![0.0; series * dim];
    start.iter_mut().step_by(dim).for_each(|x| *x = 1.0);
    let indices: Vec<usize> = (0..=STEPS).step_by(STEPS / 10).collect::<Vec<_>>().repeat(series);
    let offsets: Vec<usize> = (0..=series).map(|b| b * indices.len() / series).collect();
    let numbers: Vec<u32> = (0..series as u32).collect();
    let problem = PathProblem {
        space: Space::Sphere,
        dim,
        samples: 1,
        grid: Grid::Shared(&times),
        drift: Chebyshev { terms: 3, interval: (0.0, 1000.0), coefficients: &coefficients }.into(),
        prior: Prior::Driftless,
        sigma: 1.0,
        start: &start,
        noise: Noise::Counter { key: NoiseKey::new(5, 0), series: &numbers, first_sample: 0 },
        requests: Requests::At { offsets: &offsets, indices: &indices },
    };
    let path = solver.forward(&problem).unwrap();
    assert_eq!(path.states.len(), series * 11 * dim);
    let norm = |state: &[f32]| state.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    path.states.chunks(dim).map(|state| (norm(state) - 1.0).abs()).fold(0.0, f64::max)
}

#[test]
fn a_million_steps_stay_on_the_sphere() {
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        for scheme in [Scheme::default(), Scheme::TangentNoise] {
            // The memory of the states alone would be gigabytes, and they are not wanted.
            let memory = if scheme.reverses() { Memory::Reversible } else { Memory::Stored };
            let solver = PathSolver { level, memory, scheme };
            for (dim, series) in [(3, 8), (16, 1)] {
                let found = distance(solver, dim, series);
                let _ = std::io::Write::write_all(
                    &mut std::io::stderr(),
                    format!("{level:?}, {scheme:?}, n = {dim}: {found:.1e} from the sphere\n").as_bytes(),
                );
                assert!(found <= 1e-5, "{level:?}, {scheme:?}, n = {dim}: {found:e}");
            }
        }
    }
}
