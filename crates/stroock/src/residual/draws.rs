//! Draws of a residual at many times together.

use super::chain::{Backward, Event};
use super::dynamics::Dynamics;
use super::gaussian::{Matrix, Vector, root, times_vector};

/// How new measurements differ from their conditional means, together.
#[derive(Clone, Debug)]
pub struct ConditionalDraws {
    steps: Steps,
    /// Standard deviation of the noise, in units of the process.
    noise: f64,
    unit: f64,
}

/// From the last time to the first, for each number that the state may have.
#[derive(Clone, Debug)]
enum Steps {
    One(Chain<1>),
    Two(Chain<2>),
    Three(Chain<3>),
}

#[derive(Clone, Debug)]
struct Chain<const N: usize> {
    steps: Vec<Step<N>>,
    measured: Vector<N>,
}

/// One time of the chain, given the one after it.
#[derive(Clone, Copy, Debug)]
struct Step<const N: usize> {
    slope: Matrix<N>,
    /// Root of the covariance.
    root: Matrix<N>,
    is_asked: bool,
}

impl ConditionalDraws {
    pub(super) fn new(dynamics: &Dynamics, events: &[Event], unit: f64) -> Self {
        let steps = match dynamics.dimension() {
            1 => Steps::One(Chain::new(dynamics, events)),
            2 => Steps::Two(Chain::new(dynamics, events)),
            _ => Steps::Three(Chain::new(dynamics, events)),
        };
        Self { steps, noise: dynamics.noise.sqrt(), unit }
    }

    /// A draw `[Q]`, multiplied by `factor`, for instance one that the shape [chooses](super::Shape::choose). `normal`
    /// gives independent standard normals: for every time, seen or asked for, as many as the state has numbers (one for
    /// each part, and one more for the slope of a smooth one), and one more for every time asked for.
    pub fn draw(&self, factor: f64, normal: &mut impl FnMut() -> f64) -> Vec<f64> {
        let factor = factor * self.unit;
        let mut draws = match &self.steps {
            Steps::One(chain) => chain.draw(factor, self.noise, normal),
            Steps::Two(chain) => chain.draw(factor, self.noise, normal),
            Steps::Three(chain) => chain.draw(factor, self.noise, normal),
        };
        draws.reverse();
        draws
    }
}

impl<const N: usize> Chain<N> {
    fn new(dynamics: &Dynamics, events: &[Event]) -> Self {
        let states = dynamics.filtered::<N>(events);
        let step = |(k, event): (usize, &Event)| {
            let Backward { slope, covariance, .. } = Backward::new(&states[k], states.get(k + 1));
            Step { slope, root: root(&covariance), is_asked: event.seen.is_none() }
        };
        Self { steps: events.iter().enumerate().map(step).rev().collect(), measured: dynamics.measured() }
    }

    /// From the last time to the first.
    fn draw(&self, factor: f64, noise: f64, normal: &mut impl FnMut() -> f64) -> Vec<f64> {
        let (mut draws, mut state) = (Vec::new(), [0.0; N]);
        for step in &self.steps {
            let fresh = times_vector(&step.root, &std::array::from_fn(|_| normal()));
            state = times_vector(&step.slope, &state);
            state.iter_mut().zip(&fresh).for_each(|(entry, fresh)| *entry += fresh);
            if step.is_asked {
                let measured: f64 = self.measured.iter().zip(&state).map(|(of, entry)| of * entry).sum();
                draws.push(factor * (measured + noise * normal()));
            }
        }
        draws
    }
}
