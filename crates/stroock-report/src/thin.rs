//! Fewer numbers, and fewer digits, where nobody can see a difference.

/// Places, in order, of at most `most` of the values: from each of equal stretches the first, the lowest and the
/// highest, and the last of all.
pub(crate) fn kept(values: &[f64], most: usize) -> Vec<usize> {
    let count = values.len();
    if count <= most {
        return (0..count).collect();
    }
    let stretches = (most.saturating_sub(1) / 3).max(1);
    let mut places = Vec::with_capacity(most);
    for stretch in 0..stretches {
        let range = stretch * count / stretches..(stretch + 1) * count / stretches;
        let by_value = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]);
        places.extend(
            [Some(range.start), range.clone().min_by(by_value), range.max_by(by_value)].into_iter().flatten(),
        );
    }
    places.push(count - 1);
    places.sort_unstable();
    places.dedup();
    places
}

/// Rounding to decimals that are some thousand times finer than the span of a list.
pub(crate) struct Rounding {
    /// Steps in one, a power of ten; `None` leaves numbers as they are.
    steps: Option<f64>,
}

impl Rounding {
    /// The rounding for these numbers, which are finite.
    pub(crate) fn over(numbers: impl Iterator<Item = f64>) -> Self {
        let (low, high) = numbers
            .filter(|number| number.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        // The size counts as well: a span of rounding errors is none.
        let span = (high - low).max(1e-9 * high.abs().max(low.abs()));
        let power = 4.0 - span.log10().floor();
        let valid = span > 0.0 && span.is_finite() && power.abs() < 200.0;
        Rounding { steps: valid.then(|| 10f64.powf(power)) }
    }

    pub(crate) fn round(&self, number: f64) -> f64 {
        match self.steps {
            // Dividing by a whole power of ten gives the number nearest to a short decimal.
            Some(steps) if steps >= 1.0 && (number * steps).abs() < 9e15 => (number * steps).round() / steps,
            Some(steps) if steps < 1.0 => (number * steps).round() * (1.0 / steps).round(),
            _ => number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_all_stay() {
        assert_eq!(kept(&[3.0, 1.0, 2.0], 3), [0, 1, 2]);
        assert!(kept(&[], 10).is_empty());
    }

    #[test]
    fn many_values_keep_their_ends_and_extremes() {
        let mut values = vec![0.0; 1000];
        (values[123], values[877]) = (5.0, -5.0);
        for most in [1, 4, 10, 100, 999] {
            let places = kept(&values, most);
            assert!(places.len() <= most.max(4), "{most}: {}", places.len());
            assert!([0, 123, 877, 999].iter().all(|place| places.contains(place)), "{most}: {places:?}");
        }
    }

    #[test]
    fn rounding_is_finer_than_the_span_can_show() {
        let numbers = [1_700_000_000.123_456, 1_700_086_400.0];
        let rounding = Rounding::over(numbers.into_iter());
        assert_eq!(rounding.round(numbers[0]), 1_700_000_000.0);
        let rounding = Rounding::over([36.5, 37.9].into_iter());
        assert_eq!(rounding.round(37.123_456_789), 37.1235);
        let rounding = Rounding::over([0.0, 3e9].into_iter());
        assert_eq!(rounding.round(1_234_567_890.0), 1_234_600_000.0);
        assert_eq!(Rounding::over([0.0, 0.0].into_iter()).round(0.0), 0.0);
        assert_eq!(Rounding::over(std::iter::empty()).round(0.125), 0.125);
    }
}
