//! The curve `psi(t)` in the open unit ball that the marginals follow, and its adjoint.
//!
//! With the position `w` and the width `eps` linear between knots, and primes for derivatives in time,
//!
//! ```text
//! m = sqrt(|w|^2 + c),   d = w / m,   d' = (w' - <d, w'> d) / m,   g = 1 - |d|^2 = c / m^2,   g' = -2 g <d, w'> / m
//! h = sqrt(eps^2 + 4),   y = 2 / (h + eps),   r = y^2,   r' = -2 r eps' / h
//! psi = r d,   psi' = r' d + r d'
//! a = 1 - |psi|^2 = eps y (1 + r) + r^2 g,   a' = -2 r r' (1 - g) + r^2 g'
//! ```
//!
//! `1 - r = eps y` is what makes the distance `a` from the unit sphere exact for narrow marginals: `1 - |psi|^2` would
//! be what is left of two equal numbers.

use stroock_geometry::Real;

/// Times of the series of a batch: series `b` has `times[offsets[b]..offsets[b + 1]]`.
#[derive(Clone, Copy, Debug)]
pub struct SeriesTimes<'a> {
    /// `[B + 1]`, from 0 to the number of all times.
    pub offsets: &'a [usize],
    /// All times, series after series.
    pub times: &'a [f64],
}

impl<'a> SeriesTimes<'a> {
    /// The times of one series.
    pub(super) fn of_series(&self, series: usize) -> &'a [f64] {
        &self.times[self.offsets[series]..self.offsets[series + 1]]
    }
}

/// The constant `c` under the root of `m = sqrt(|w|^2 + c)`: positions much shorter than `sqrt(c)` have no direction, and
/// the marginal widens to the uniform distribution as `w` passes through 0.
pub const SOFTENING: f64 = 1e-10;

/// Where a time lies between the knots of its series.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    left: usize,
    right: usize,
    /// Share of the right knot.
    share: f64,
    /// One over the distance of the knots; 0 where the curve stands still.
    rate: f64,
}

impl Place {
    /// Before the first and from the last knot on, the curve stands still. At a knot its velocity is that to the right.
    pub fn new(knots: &[f64], time: f64) -> Self {
        let after = knots.partition_point(|&knot| knot <= time);
        if after == 0 || after == knots.len() {
            let end = after.saturating_sub(1);
            return Self { left: end, right: end, share: 0.0, rate: 0.0 };
        }
        let (left, right) = (after - 1, after);
        let distance = knots[right] - knots[left];
        Self { left, right, share: (time - knots[left]) / distance, rate: 1.0 / distance }
    }
}

/// The curve of one series.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve<'a, T> {
    /// `[k]`, increasing.
    pub knots: &'a [f64],
    /// `[k, n]`.
    pub positions: &'a [T],
    /// `[k]`.
    pub widths: &'a [T],
}

/// A point of the curve, its velocity, and what the adjoint needs of the way to them.
#[derive(Clone, Debug)]
pub(super) struct CurvePoint {
    /// `psi`.
    pub psi: Vec<f64>,
    /// `psi'`.
    pub velocity: Vec<f64>,
    /// `a = 1 - |psi|^2`.
    pub gap: f64,
    /// `a'`.
    pub gap_rate: f64,
    place: Place,
    /// `d`, `d'` and `w'`.
    direction: Vec<f64>,
    turning: Vec<f64>,
    motion: Vec<f64>,
    /// `m`, `<d, w'>` and `g`.
    norm: f64,
    along: f64,
    softness: f64,
    /// `r`, `r'`, `eps`, `eps'` and `h`.
    radius: f64,
    radius_rate: f64,
    width: f64,
    width_rate: f64,
    root: f64,
}

/// Gradients with respect to what [`CurvePoint`] gives.
#[derive(Clone, Debug)]
pub(super) struct OfPoint {
    pub psi: Vec<f64>,
    pub velocity: Vec<f64>,
    pub gap: f64,
    pub gap_rate: f64,
}

impl OfPoint {
    pub fn new(dim: usize) -> Self {
        Self { psi: vec![0.0; dim], velocity: vec![0.0; dim], gap: 0.0, gap_rate: 0.0 }
    }

    pub fn clear(&mut self) {
        self.psi.fill(0.0);
        self.velocity.fill(0.0);
        (self.gap, self.gap_rate) = (0.0, 0.0);
    }
}

/// Gradients with respect to the knots of one series.
#[derive(Clone, Debug)]
pub(super) struct OfKnots {
    /// `[k, n]`.
    pub positions: Vec<f64>,
    /// `[k]`.
    pub widths: Vec<f64>,
}

impl CurvePoint {
    pub fn new(dim: usize) -> Self {
        let zeros = || vec![0.0; dim];
        Self {
            psi: zeros(),
            velocity: zeros(),
            gap: 1.0,
            gap_rate: 0.0,
            place: Place { left: 0, right: 0, share: 0.0, rate: 0.0 },
            direction: zeros(),
            turning: zeros(),
            motion: zeros(),
            norm: 1.0,
            along: 0.0,
            softness: 0.0,
            radius: 0.0,
            radius_rate: 0.0,
            width: 1.0,
            width_rate: 0.0,
            root: 2.0,
        }
    }

    /// Moves to the point of the curve at `time`.
    pub fn go_to<T: Real>(&mut self, curve: &Curve<'_, T>, time: f64) {
        let n = self.psi.len();
        let place = Place::new(curve.knots, time);
        let Place { left, right, share, rate } = place;
        self.place = place;

        let (from, to) = (&curve.positions[left * n..][..n], &curve.positions[right * n..][..n]);
        let mut square = 0.0;
        for i in 0..n {
            let (from, to) = (from[i].as_f64(), to[i].as_f64());
            // The position, for now.
            self.direction[i] = (1.0 - share) * from + share * to;
            self.motion[i] = rate * (to - from);
            square += self.direction[i] * self.direction[i];
        }
        let norm = (square + SOFTENING).sqrt();
        let mut along = 0.0;
        for i in 0..n {
            self.direction[i] /= norm;
            along += self.direction[i] * self.motion[i];
        }
        let softness = SOFTENING / (norm * norm);
        let softness_rate = -2.0 * softness * along / norm;

        let (from, to) = (curve.widths[left].as_f64(), curve.widths[right].as_f64());
        let (width, width_rate) = ((1.0 - share) * from + share * to, rate * (to - from));
        let root = width.hypot(2.0);
        let y = 2.0 / (root + width);
        let radius = y * y;
        let radius_rate = -2.0 * radius * width_rate / root;

        for i in 0..n {
            let direction = self.direction[i];
            self.turning[i] = (self.motion[i] - along * direction) / norm;
            self.psi[i] = radius * direction;
            self.velocity[i] = radius_rate * direction + radius * self.turning[i];
        }
        self.gap = (width * y * (1.0 + radius) + radius * radius * softness).min(1.0);
        self.gap_rate = radius * (radius * softness_rate - 2.0 * radius_rate * (1.0 - softness));
        (self.norm, self.along, self.softness) = (norm, along, softness);
        (self.radius, self.radius_rate) = (radius, radius_rate);
        (self.width, self.width_rate, self.root) = (width, width_rate, root);
    }

    /// Adds to the gradients of the knots what those of this point are worth.
    pub fn pull_back(&self, of: &OfPoint, of_knots: &mut OfKnots) {
        let n = self.psi.len();
        let &Self { norm, along, softness, radius, radius_rate, width, width_rate, root, .. } = self;
        let softness_rate = -2.0 * softness * along / norm;

        // a and a', then psi and psi'.
        let mut of_softness = radius * (radius * of.gap + 2.0 * radius_rate * of.gap_rate);
        let of_softness_rate = radius * radius * of.gap_rate;
        let mut of_radius = -2.0 * radius * (1.0 - softness) * of.gap
            + 2.0 * (radius * softness_rate - radius_rate * (1.0 - softness)) * of.gap_rate;
        let [mut psi_along, mut velocity_along, mut velocity_across] = [0.0; 3];
        for i in 0..n {
            psi_along += of.psi[i] * self.direction[i];
            velocity_along += of.velocity[i] * self.direction[i];
            velocity_across += of.velocity[i] * self.turning[i];
        }
        of_radius += psi_along + velocity_across;
        let of_radius_rate = velocity_along - 2.0 * radius * (1.0 - softness) * of.gap_rate;

        // g' and d', of which the gradient is `radius * of.velocity`.
        of_softness -= 2.0 * along / norm * of_softness_rate;
        let of_along = -(2.0 * softness * of_softness_rate + radius * velocity_along) / norm;
        let mut of_norm = (-softness_rate * of_softness_rate - radius * velocity_across) / norm;
        of_norm -= 2.0 * softness / norm * of_softness;

        // d = w / m and m.
        let of_direction = |i: usize| {
            radius * of.psi[i]
                + (radius_rate - along * radius / norm) * of.velocity[i]
                + of_along * self.motion[i]
        };
        let radial: f64 = (0..n).map(|i| of_direction(i) * self.direction[i]).sum();
        of_norm -= radial / norm;
        let Place { left, right, share, rate } = self.place;
        for i in 0..n {
            let of_position = of_direction(i) / norm + of_norm * self.direction[i];
            let of_motion = radius * of.velocity[i] / norm + of_along * self.direction[i];
            of_knots.positions[left * n + i] += (1.0 - share) * of_position - rate * of_motion;
            of_knots.positions[right * n + i] += share * of_position + rate * of_motion;
        }

        // r', r and h.
        of_radius -= 2.0 * width_rate / root * of_radius_rate;
        let of_width_rate = -2.0 * radius / root * of_radius_rate;
        let of_root = -radius_rate / root * of_radius_rate;
        let of_width = (of_root * width - 2.0 * radius * of_radius) / root;
        of_knots.widths[left] += (1.0 - share) * of_width - rate * of_width_rate;
        of_knots.widths[right] += share * of_width + rate * of_width_rate;
    }
}
