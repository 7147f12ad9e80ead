//! Steps of Adam, up.

/// Steps of an ascent.
pub const STEPS: i32 = 300;

/// The moments of the gradients, with a rate that falls to zero.
pub struct Adam {
    moments: Vec<[f64; 2]>,
    step: i32,
}

impl Adam {
    pub fn new() -> Self {
        Self { moments: Vec::new(), step: 0 }
    }

    /// The changes of the parameters, for the gradient that is seen next.
    pub fn changes(&mut self, gradient: &[f64]) -> Vec<f64> {
        self.moments.resize(gradient.len(), [0.0; 2]);
        self.step += 1;
        let rate = 0.05 * (1.0 - f64::from(self.step) / f64::from(STEPS));
        let known = |decay: f64| 1.0 - decay.powi(self.step);
        let change = |([first, second], g): (&mut [f64; 2], &f64)| {
            *first = 0.9 * *first + 0.1 * g;
            *second = 0.99 * *second + 0.01 * g * g;
            rate * (*first / known(0.9)) / ((*second / known(0.99)).sqrt() + 1e-8)
        };
        self.moments.iter_mut().zip(gradient).map(change).collect()
    }
}
