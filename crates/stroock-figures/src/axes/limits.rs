//! The numbers that an axis has to show.

/// Smallest and largest number on an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    pub low: f64,
    pub high: f64,
}

impl Limits {
    /// The limits of finite numbers; `None` if there are none.
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Option<Limits> {
        numbers.into_iter().fold(None, |limits: Option<Limits>, value| {
            Some(match limits {
                None => Limits { low: value, high: value },
                Some(limits) => Limits { low: limits.low.min(value), high: limits.high.max(value) },
            })
        })
    }

    pub fn span(&self) -> f64 {
        self.high - self.low
    }

    /// Limits that are never a single number, nor two that can hardly be told apart.
    pub fn opened(self) -> Limits {
        let size = self.low.abs().max(self.high.abs());
        if self.span() > 1e-9 * size && self.span() > 1e-100 {
            return self;
        }
        let more = if size > 1e-99 { 0.05 * size } else { 0.5 };
        Limits { low: self.low - more, high: self.high + more }
    }

    /// Limits with a part `share` of the span added on both sides.
    pub fn padded(self, share: f64) -> Limits {
        let opened = self.opened();
        let more = share * opened.span();
        Limits { low: opened.low - more, high: opened.high + more }
    }

    /// Limits of positive numbers with a part `share` of the span of their logarithms added on both sides.
    pub fn padded_log(self, share: f64) -> Limits {
        let logs = Limits { low: self.low.log10(), high: self.high.log10() };
        let more = if logs.span() > 1e-6 { share * logs.span() } else { 0.1 };
        Limits { low: 10f64.powf(logs.low - more), high: 10f64.powf(logs.high + more) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_always_have_a_span() {
        for value in [0.0, 1.0, -3e50, 1e-200] {
            let limits = Limits::of([value, value]).unwrap().padded(0.05);
            assert!(limits.span() > 0.0 && limits.low <= value && value <= limits.high, "{value}");
        }
        assert_eq!(Limits::of([]), None);
    }

    #[test]
    fn logarithmic_padding_keeps_numbers_positive() {
        let limits = Limits { low: 1e-3, high: 10.0 }.padded_log(0.05);
        assert!(limits.low > 0.0 && limits.low < 1e-3 && limits.high > 10.0);
    }
}
