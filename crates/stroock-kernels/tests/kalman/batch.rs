//! Batches of filter problems.

use rand_core::Rng;
use stroock_kernels::kalman::{Gradients, KalmanError, KalmanProblem, KalmanReal, KalmanSolver, Transition};
use stroock_kernels::noise::{NoiseKey, Purpose};

use crate::reference::orthogonal;

/// What is mixed.
#[derive(Clone, Debug)]
pub enum Mixed<T> {
    Banded { bandwidth: usize },
    Eigenvalues { basis: Vec<T> },
}

#[derive(Clone, Debug)]
pub struct Batch<T> {
    pub half: usize,
    pub offsets: Vec<usize>,
    pub gaps: Vec<T>,
    pub observed: Vec<bool>,
    pub observations: Vec<T>,
    pub initial: Vec<T>,
    pub noise: Vec<T>,
    pub weights: Vec<T>,
    pub biases: Vec<T>,
    pub coefficients: Vec<T>,
    pub mixed: Mixed<T>,
}

/// Numbers uniform in (-size, size) that depend on the seed alone.
pub fn numbers(count: usize, seed: u64, size: f64) -> Vec<f64> {
    let mut stream = NoiseKey::new(seed, 0).stream(Purpose::Caller, 0, 0);
    let mut uniform = || (f64::from(stream.next_u32()) + 0.5) / 2f64.powi(31) - 1.0;
    (0..count).map(|_| uniform() * size).collect()
}

fn positive(count: usize, seed: u64) -> Vec<f64> {
    numbers(count, seed, 0.8).into_iter().map(|x| x + 1.0).collect()
}

impl Batch<f64> {
    /// Series of these many points, some of them observed, with gaps up to `longest`.
    pub fn banded(half: usize, bandwidth: usize, points: &[usize], longest: f64) -> Self {
        let entries = Transition::<f64>::banded_entries(half, bandwidth);
        Self::new(half, points, longest, entries, Mixed::Banded { bandwidth })
    }

    /// The same in a shared basis.
    pub fn eigenvalues(half: usize, points: &[usize], longest: f64) -> Self {
        let n = 2 * half;
        let basis = orthogonal(&numbers(n * n, 3, 0.6), n);
        Self::new(half, points, longest, n, Mixed::Eigenvalues { basis })
    }

    fn new(half: usize, points: &[usize], longest: f64, entries: usize, mixed: Mixed<f64>) -> Self {
        const SETS: usize = 3;
        let mut offsets = vec![0];
        points.iter().for_each(|count| offsets.push(offsets[offsets.len() - 1] + count));
        let (total, n) = (offsets[points.len()], 2 * half);
        let observed: Vec<bool> = numbers(total, 5, 1.0).iter().map(|x| *x > -0.4).collect();
        let count = observed.iter().filter(|&&observed| observed).count();
        let [y, r] = [numbers(count * half, 6, 1.5), positive(count * half, 7)];
        let rows = y.chunks(half).zip(r.chunks(half));
        Self {
            half,
            gaps: numbers(total, 4, 1.0).iter().map(|x| x.abs() * longest).collect(),
            observations: rows.flat_map(|(y, r)| [y, r].concat()).collect(),
            observed,
            offsets,
            initial: positive(n, 8),
            noise: positive(n, 9).iter().map(|x| 0.3 * x).collect(),
            weights: numbers(n * SETS, 10, 0.9),
            biases: numbers(SETS, 11, 0.5),
            coefficients: numbers(SETS * entries, 12, 0.4),
            mixed,
        }
    }

    pub fn single(&self) -> Batch<f32> {
        let single = |values: &[f64]| values.iter().map(|&x| x as f32).collect::<Vec<_>>();
        Batch {
            half: self.half,
            offsets: self.offsets.clone(),
            gaps: single(&self.gaps),
            observed: self.observed.clone(),
            observations: single(&self.observations),
            initial: single(&self.initial),
            noise: single(&self.noise),
            weights: single(&self.weights),
            biases: single(&self.biases),
            coefficients: single(&self.coefficients),
            mixed: match &self.mixed {
                Mixed::Banded { bandwidth } => Mixed::Banded { bandwidth: *bandwidth },
                Mixed::Eigenvalues { basis } => Mixed::Eigenvalues { basis: single(basis) },
            },
        }
    }

    /// Everything that is differentiated.
    pub fn leaves(&mut self) -> Vec<(&'static str, &mut Vec<f64>)> {
        let mut leaves = vec![
            ("observations", &mut self.observations),
            ("initial", &mut self.initial),
            ("noise", &mut self.noise),
            ("weights", &mut self.weights),
            ("biases", &mut self.biases),
            ("coefficients", &mut self.coefficients),
        ];
        if let Mixed::Eigenvalues { basis } = &mut self.mixed {
            leaves.push(("basis", basis));
        }
        leaves
    }
}

impl<T: KalmanReal> Batch<T> {
    pub fn problem(&self) -> KalmanProblem<'_, T> {
        let coefficients = &self.coefficients;
        KalmanProblem {
            half: self.half,
            offsets: &self.offsets,
            gaps: &self.gaps,
            observed: &self.observed,
            observations: &self.observations,
            initial: &self.initial,
            noise: &self.noise,
            weights: &self.weights,
            biases: &self.biases,
            transition: match &self.mixed {
                Mixed::Banded { bandwidth } => Transition::Banded { bandwidth: *bandwidth, coefficients },
                Mixed::Eigenvalues { basis } => Transition::Eigenvalues { basis, coefficients },
            },
        }
    }

    pub fn forward(&self, solver: KalmanSolver) -> Result<Vec<T>, KalmanError> {
        solver.forward(&self.problem())
    }

    /// Beliefs, and gradients of their product with fixed numbers.
    pub fn both(&self, solver: KalmanSolver) -> (Vec<T>, Gradients<T>) {
        let beliefs = self.forward(solver).unwrap();
        let of_beliefs: Vec<T> = factors(beliefs.len()).map(T::of).collect();
        let gradients = solver.backward(&self.problem(), &beliefs, &of_beliefs).unwrap();
        (beliefs, gradients)
    }

    /// Series `b` by itself.
    pub fn alone(&self, b: usize) -> Self {
        let own = self.offsets[b]..self.offsets[b + 1];
        let count = |points: &[bool]| points.iter().filter(|&&observed| observed).count();
        let rows = count(&self.observed[..own.start])..count(&self.observed[..own.end]);
        let n = 2 * self.half;
        Self {
            offsets: vec![0, own.len()],
            gaps: self.gaps[own.clone()].to_vec(),
            observed: self.observed[own].to_vec(),
            observations: self.observations[rows.start * n..rows.end * n].to_vec(),
            ..self.clone()
        }
    }
}

/// The gradient of the losses of these tests.
pub fn factors(count: usize) -> impl Iterator<Item = f64> {
    (0..count).map(|place| (0.7 * place as f64 + 0.3).sin())
}

pub fn loss(beliefs: &[f64]) -> f64 {
    beliefs.iter().zip(factors(beliefs.len())).map(|(belief, factor)| belief * factor).sum()
}

/// Gradients in the order of [`Batch::leaves`].
pub fn by_leaf<T: KalmanReal>(gradients: &Gradients<T>) -> Vec<Vec<f64>> {
    let shared = &gradients.shared;
    let all = [
        &gradients.observations,
        &shared.initial,
        &shared.noise,
        &shared.weights,
        &shared.biases,
        &shared.coefficients,
        &shared.basis,
    ];
    let doubles = |values: &&Vec<T>| values.iter().map(|x| x.as_f64()).collect::<Vec<f64>>();
    all.iter().map(doubles).filter(|values| !values.is_empty()).collect()
}
