//! Paths as an operation on arrays: forward, and backward from the tape that forward keeps.

use numpy::{Element, IntoPyArray, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use stroock_kernels::noise::NoiseKey;
use stroock_kernels::path::{
    Chebyshev, Drift, Gradients, Grid, Memory, Noise, Path, PathError, PathProblem, PathReal, PathSolver,
    PerStep, Prior, Requests, Scheme, Space, Tape,
};

use crate::error::{Failure, wrong};

/// What a path is computed from, but its arrays.
#[derive(Clone)]
struct Settings {
    solver: PathSolver,
    space: Space,
    dim: usize,
    samples: usize,
    series: usize,
    /// The interval of Chebyshev polynomials; a drift for every step without it.
    interval: Option<(f64, f64)>,
    terms: usize,
    sigma: f64,
    seed: u64,
    /// Numbers of the series, which their noise depends on.
    numbers: Vec<u32>,
    /// Offsets and indices of the requests; all states without them.
    requests: Option<(Vec<usize>, Vec<usize>)>,
}

/// The arrays of a path, as they lie in memory.
struct Arrays<'a, T> {
    start: &'a [T],
    drift: &'a [T],
    times: &'a [T],
    noise: Option<&'a [T]>,
}

impl Settings {
    fn problem<'a, T: PathReal>(&'a self, arrays: &Arrays<'a, T>) -> PathProblem<'a, T> {
        let drift: Drift<'a, T> = match self.interval {
            None => PerStep(arrays.drift).into(),
            Some((start, end)) => Chebyshev {
                terms: self.terms,
                interval: (T::of(start), T::of(end)),
                coefficients: arrays.drift,
            }
            .into(),
        };
        PathProblem {
            space: self.space,
            dim: self.dim,
            samples: self.samples,
            grid: Grid::Shared(arrays.times),
            drift,
            prior: Prior::Driftless,
            sigma: T::of(self.sigma),
            start: arrays.start,
            noise: match arrays.noise {
                Some(noise) => Noise::Given(noise),
                None => Noise::Counter {
                    key: NoiseKey::new(self.seed, 0),
                    series: &self.numbers,
                    first_sample: 0,
                },
            },
            requests: match &self.requests {
                None => Requests::All,
                Some((offsets, indices)) => Requests::At { offsets, indices },
            },
        }
    }

    fn forward<T: PathReal>(&self, arrays: &Arrays<'_, T>) -> Result<Path<T>, PathError> {
        self.solver.forward(&self.problem(arrays))
    }

    fn backward<T: PathReal>(
        &self,
        arrays: &Arrays<'_, T>,
        tape: &Tape<T>,
        of_states: &[T],
        of_kl: &[T],
    ) -> Result<Gradients<T>, PathError> {
        self.solver.backward(&self.problem(arrays), tape, of_states, of_kl)
    }
}

enum AnyTape {
    Single(Tape<f32>),
    Double(Tape<f64>),
}

/// What a forward pass keeps for the backward pass.
#[pyclass(frozen, module = "stroock._stroock")]
pub struct PathTape {
    settings: Settings,
    tape: AnyTape,
}

/// A number type of arrays and paths.
trait Number: PathReal + Element {
    fn tape(tape: &AnyTape) -> Option<&Tape<Self>>;
    fn keep(tape: Tape<Self>) -> AnyTape;
}

impl Number for f32 {
    fn tape(tape: &AnyTape) -> Option<&Tape<f32>> {
        match tape {
            AnyTape::Single(tape) => Some(tape),
            AnyTape::Double(_) => None,
        }
    }

    fn keep(tape: Tape<f32>) -> AnyTape {
        AnyTape::Single(tape)
    }
}

impl Number for f64 {
    fn tape(tape: &AnyTape) -> Option<&Tape<f64>> {
        match tape {
            AnyTape::Double(tape) => Some(tape),
            AnyTape::Single(_) => None,
        }
    }

    fn keep(tape: Tape<f64>) -> AnyTape {
        AnyTape::Double(tape)
    }
}

fn array<'py, T: Element>(any: &Bound<'py, PyAny>, name: &str) -> PyResult<PyReadonlyArrayDyn<'py, T>> {
    let array = any.cast::<PyArrayDyn<T>>().map_err(|_| {
        PyTypeError::new_err(format!("`{name}` must be an array of the same kind of numbers as `start`"))
    })?;
    array.try_readonly().map_err(|error| wrong(format!("`{name}`: {error}")))
}

fn numbers<'a, T: Element>(array: &'a PyReadonlyArrayDyn<'_, T>, name: &str) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| wrong(format!("`{name}` must be contiguous")))
}

fn is_single(start: &Bound<'_, PyAny>) -> PyResult<bool> {
    match () {
        _ if start.is_instance_of::<PyArrayDyn<f32>>() => Ok(true),
        _ if start.is_instance_of::<PyArrayDyn<f64>>() => Ok(false),
        _ => Err(PyTypeError::new_err("`start` must be an array of float32 or float64")),
    }
}

type Arguments<'a, 'py> =
    (&'a Bound<'py, PyAny>, &'a Bound<'py, PyAny>, &'a Bound<'py, PyAny>, Option<&'a Bound<'py, PyAny>>);

/// The arrays that Python holds, borrowed for as long as they are read.
struct Borrowed<'py, T: Element> {
    start: PyReadonlyArrayDyn<'py, T>,
    drift: PyReadonlyArrayDyn<'py, T>,
    times: PyReadonlyArrayDyn<'py, T>,
    noise: Option<PyReadonlyArrayDyn<'py, T>>,
}

impl<'py, T: Element> Borrowed<'py, T> {
    fn new((start, drift, times, noise): Arguments<'_, 'py>) -> PyResult<Self> {
        Ok(Self {
            start: array(start, "start")?,
            drift: array(drift, "drift")?,
            times: array(times, "times")?,
            noise: noise.map(|noise| array(noise, "noise")).transpose()?,
        })
    }

    fn arrays(&self) -> PyResult<Arrays<'_, T>> {
        Ok(Arrays {
            start: numbers(&self.start, "start")?,
            drift: numbers(&self.drift, "drift")?,
            times: numbers(&self.times, "times")?,
            noise: self.noise.as_ref().map(|noise| numbers(noise, "noise")).transpose()?,
        })
    }
}

/// How a path is asked for in words.
struct Wish<'a> {
    sigma: f64,
    interval: Option<(f64, f64)>,
    seed: u64,
    at: Option<Vec<usize>>,
    space: &'a str,
    scheme: &'a str,
    reversible: bool,
}

/// Reads a name as configurations have it.
fn named<T: serde::de::DeserializeOwned>(name: &str, argument: &str) -> PyResult<T> {
    serde_json::from_value(serde_json::Value::from(name))
        .map_err(|error| wrong(format!("`{argument}`: {error}")))
}

fn settings(arguments: Arguments<'_, '_>, wish: &Wish<'_>) -> PyResult<Settings> {
    let (start, drift, _, _) = arguments;
    let shape = |any: &Bound<'_, PyAny>| -> PyResult<Vec<usize>> { any.getattr("shape")?.extract() };
    let (samples, series, dim) = match shape(start)?.as_slice() {
        &[series, dim] => (1, series, dim),
        &[samples, series, dim] => (samples, series, dim),
        other => {
            return Err(wrong(format!(
                "`start` is {other:?}, but it must be [series, n] or [samples, series, n]"
            )));
        }
    };
    let drift = shape(drift)?;
    if drift.len() != 3 {
        return Err(wrong(format!("`drift` is {drift:?}, but it must have three axes")));
    }
    let numbers = u32::try_from(series).map_err(|_| wrong("`start` has too many series"))?;
    Ok(Settings {
        solver: PathSolver {
            scheme: named::<Scheme>(wish.scheme, "scheme")?,
            memory: if wish.reversible { Memory::Reversible } else { Memory::Stored },
            ..PathSolver::default()
        },
        space: named::<Space>(wish.space, "space")?,
        dim,
        samples,
        series,
        interval: wish.interval,
        terms: drift[2],
        sigma: wish.sigma,
        seed: wish.seed,
        numbers: (0..numbers).collect(),
        requests: wish.at.as_ref().map(|at| {
            let offsets = (0..=series).map(|b| b * at.len()).collect();
            (offsets, at.repeat(series))
        }),
    })
}

type Forward<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, PathTape);

fn forward<'py, T: Number>(
    py: Python<'py>,
    arguments: Arguments<'_, 'py>,
    settings: Settings,
) -> Result<Forward<'py>, Failure> {
    let borrowed = Borrowed::<T>::new(arguments)?;
    let arrays = borrowed.arrays()?;
    let path = py.detach(|| settings.forward(&arrays))?;
    let (states, kl) = (path.states.into_pyarray(py), path.kl.into_pyarray(py));
    Ok((states.into_any(), kl.into_any(), PathTape { settings, tape: T::keep(path.tape) }))
}

type Backward<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, f64);

fn given_back<'py, T: Number>(py: Python<'py>, gradients: Gradients<T>) -> Backward<'py> {
    let sigma = gradients.sigma.iter().map(|&of_series| of_series.as_f64()).sum();
    (gradients.start.into_pyarray(py).into_any(), gradients.drift.into_pyarray(py).into_any(), sigma)
}

fn backward<'py, T: Number>(
    py: Python<'py>,
    arguments: Arguments<'_, 'py>,
    kept: &PathTape,
    cotangents: (&Bound<'py, PyAny>, &Bound<'py, PyAny>),
) -> Result<Backward<'py>, Failure> {
    let tape = T::tape(&kept.tape).ok_or(PathError::ForeignTape)?;
    let borrowed = Borrowed::<T>::new(arguments)?;
    let arrays = borrowed.arrays()?;
    let (of_states, of_kl) = (array(cotangents.0, "of_states")?, array(cotangents.1, "of_kl")?);
    let (of_states, of_kl) = (numbers(&of_states, "of_states")?, numbers(&of_kl, "of_kl")?);
    let gradients = py.detach(|| kept.settings.backward(&arrays, tape, of_states, of_kl))?;
    Ok(given_back(py, gradients))
}

fn pull_back<'py, T: Number>(
    py: Python<'py>,
    arguments: Arguments<'_, 'py>,
    settings: &Settings,
    cotangents: (&Bound<'py, PyAny>, &Bound<'py, PyAny>),
) -> Result<Backward<'py>, Failure> {
    let borrowed = Borrowed::<T>::new(arguments)?;
    let arrays = borrowed.arrays()?;
    let (of_states, of_kl) = (array(cotangents.0, "of_states")?, array(cotangents.1, "of_kl")?);
    let (of_states, of_kl) = (numbers(&of_states, "of_states")?, numbers(&of_kl, "of_kl")?);
    let gradients = py.detach(|| {
        let path = settings.forward(&arrays)?;
        settings.backward(&arrays, &path.tape, of_states, of_kl)
    })?;
    Ok(given_back(py, gradients))
}

#[pymethods]
impl PathTape {
    /// Gradients by start, drift and sigma, flat, at gradients of the states and of the divergences. The arrays must be
    /// those of the forward pass.
    #[pyo3(signature = (start, drift, times, noise, of_states, of_kl))]
    #[allow(clippy::too_many_arguments, reason = "the arguments of the Python function")]
    fn backward<'py>(
        &self,
        py: Python<'py>,
        start: &Bound<'py, PyAny>,
        drift: &Bound<'py, PyAny>,
        times: &Bound<'py, PyAny>,
        noise: Option<&Bound<'py, PyAny>>,
        of_states: &Bound<'py, PyAny>,
        of_kl: &Bound<'py, PyAny>,
    ) -> PyResult<Backward<'py>> {
        let (arguments, cotangents) = ((start, drift, times, noise), (of_states, of_kl));
        Ok(match is_single(start)? {
            true => backward::<f32>(py, arguments, self, cotangents)?,
            false => backward::<f64>(py, arguments, self, cotangents)?,
        })
    }

    fn __repr__(&self) -> String {
        let Settings { samples, series, dim, .. } = self.settings;
        format!("PathTape(samples={samples}, series={series}, n={dim})")
    }
}

/// States and divergences of paths, flat, and the tape for their gradients.
#[pyfunction]
#[pyo3(signature = (start, drift, times, noise, sigma, interval, seed, at, space, scheme, reversible))]
#[allow(clippy::too_many_arguments, reason = "the arguments of the Python function")]
pub fn path_forward<'py>(
    py: Python<'py>,
    start: &Bound<'py, PyAny>,
    drift: &Bound<'py, PyAny>,
    times: &Bound<'py, PyAny>,
    noise: Option<&Bound<'py, PyAny>>,
    sigma: f64,
    interval: Option<(f64, f64)>,
    seed: u64,
    at: Option<Vec<usize>>,
    space: &str,
    scheme: &str,
    reversible: bool,
) -> PyResult<Forward<'py>> {
    let arguments = (start, drift, times, noise);
    let settings = settings(arguments, &Wish { sigma, interval, seed, at, space, scheme, reversible })?;
    Ok(match is_single(start)? {
        true => forward::<f32>(py, arguments, settings)?,
        false => forward::<f64>(py, arguments, settings)?,
    })
}

/// Gradients by start, drift and sigma without a tape: the path is computed once more.
#[pyfunction]
#[pyo3(signature = (start, drift, times, noise, sigma, interval, seed, at, space, scheme, reversible, of_states, of_kl))]
#[allow(clippy::too_many_arguments, reason = "the arguments of the Python function")]
pub fn path_pull_back<'py>(
    py: Python<'py>,
    start: &Bound<'py, PyAny>,
    drift: &Bound<'py, PyAny>,
    times: &Bound<'py, PyAny>,
    noise: Option<&Bound<'py, PyAny>>,
    sigma: f64,
    interval: Option<(f64, f64)>,
    seed: u64,
    at: Option<Vec<usize>>,
    space: &str,
    scheme: &str,
    reversible: bool,
    of_states: &Bound<'py, PyAny>,
    of_kl: &Bound<'py, PyAny>,
) -> PyResult<Backward<'py>> {
    let (arguments, cotangents) = ((start, drift, times, noise), (of_states, of_kl));
    let settings = settings(arguments, &Wish { sigma, interval, seed, at, space, scheme, reversible })?;
    Ok(match is_single(start)? {
        true => pull_back::<f32>(py, arguments, &settings, cotangents)?,
        false => pull_back::<f64>(py, arguments, &settings, cotangents)?,
    })
}

/// Numbers of a drift in ambient dimension `n`.
#[pyfunction]
pub fn drift_len(space: &str, scheme: &str, n: usize) -> PyResult<usize> {
    Ok(named::<Scheme>(scheme, "scheme")?.drift_len(named(space, "space")?, n))
}
