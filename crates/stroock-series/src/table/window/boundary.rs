//! Where windows begin.

/// Beyond so many windows from zero a double no longer tells them apart.
const FARTHEST: f64 = (1_u64 << 50) as f64;

/// Whole multiples of the length of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Boundaries {
    length: f64,
    /// `(a, b)` with `length = a / b` for a power of ten `b`.
    decimal: Option<(f64, f64)>,
}

impl Boundaries {
    /// The multiples of a finite, positive length; `None` for any other.
    pub(super) fn new(length: f64) -> Option<Self> {
        if !length.is_finite() || length <= 0.0 {
            return None;
        }
        let decimal = (0..=15)
            .map(|digits| 10_f64.powi(digits))
            .map(|scale| ((length * scale).round(), scale))
            .find(|(numerator, scale)| numerator / scale == length);
        Some(Boundaries { length, decimal })
    }

    /// The last boundary that does not lie after `time`.
    pub(super) fn beginning(&self, time: f64) -> f64 {
        let nearest = (time / self.length).round();
        if nearest.abs() >= FARTHEST {
            return time;
        }
        let boundary = self.multiple(nearest);
        if boundary <= time { boundary } else { self.multiple(nearest - 1.0) }
    }

    /// `index * length`. Lengths are decimals that a person chose, and three windows of 0.1 end at 0.3 as it
    /// is written in a table, not at the 0.30000000000000004 of the product.
    fn multiple(&self, index: f64) -> f64 {
        let product = match self.decimal {
            Some((numerator, scale)) if (index * numerator).abs() < FARTHEST => index * numerator / scale,
            _ => index * self.length,
        };
        product + 0.0 // never the negative zero
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_lie_in_the_window_they_begin() {
        let boundaries = Boundaries::new(0.1).unwrap();
        for index in -1000..1000 {
            let time: f64 = format!("{}e-1", index).parse().unwrap();
            assert_eq!(boundaries.beginning(time), time);
            assert_eq!(boundaries.beginning(time.next_up()), time);
            assert!(boundaries.beginning(time.next_down()) < time);
        }
    }

    #[test]
    fn windows_of_days_begin_at_midnight() {
        let boundaries = Boundaries::new(86_400.0).unwrap();
        assert_eq!(boundaries.beginning(1_262_304_000.0), 1_262_304_000.0);
        assert_eq!(boundaries.beginning(1_262_304_000.0 + 86_399.999), 1_262_304_000.0);
        assert_eq!(boundaries.beginning(-0.001), -86_400.0);
    }

    #[test]
    fn lengths_that_are_none_and_times_that_are_far() {
        for length in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Boundaries::new(length).is_none());
        }
        let boundaries = Boundaries::new(1e-300).unwrap();
        assert_eq!(boundaries.beginning(1e300), 1e300);
        assert_eq!(Boundaries::new(f64::MAX).unwrap().beginning(-1.0), -f64::MAX);
    }
}
