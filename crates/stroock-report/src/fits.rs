//! Fitted series.

use crate::error::{length, ordered};
use crate::thin::{Rounding, kept};
use crate::{Points, ReportError};

/// One variable of one series: what was seen, what was withheld, and what the model says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fit {
    /// Name of the series.
    pub series: String,
    /// Name of the variable.
    pub variable: String,
    /// Its unit; may be empty.
    pub unit: String,
    /// Observations that the encoder saw.
    pub seen: Points,
    /// Observations that it did not see.
    pub withheld: Points,
    /// Times of the mean and the bands, in order.
    pub times: Vec<f64>,
    /// Mean of the posterior at these times.
    pub mean: Vec<f64>,
    /// Intervals at these times, in any order.
    pub bands: Vec<Band>,
    /// Time from which on there is nothing but forecast.
    pub forecast_from: Option<f64>,
}

/// Intervals that hold the value with some probability.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    /// The probability, between 0 and 1.
    pub level: f64,
    /// Lower ends.
    pub lower: Vec<f64>,
    /// Upper ends.
    pub upper: Vec<f64>,
}

/// A fit as it stands on the page, with what was changed for it.
pub(crate) struct Drawn {
    /// The fit, finite, in order of time and thinned.
    pub fit: Fit,
    /// How many numbers were not finite.
    pub lost: usize,
    /// How many places were left out to save room.
    pub thinned: usize,
}

impl Fit {
    pub(crate) fn check(&self, field: &str) -> Result<(), ReportError> {
        self.seen.check(&format!("{field}.seen"))?;
        self.withheld.check(&format!("{field}.withheld"))?;
        let (times, count) = (format!("{field}.times"), self.times.len());
        ordered(&times, &self.times)?;
        length(format!("{field}.mean"), self.mean.len(), times.clone(), count)?;
        for (index, band) in self.bands.iter().enumerate() {
            let field = format!("{field}.bands[{index}]");
            if !(band.level > 0.0 && band.level < 1.0) {
                let requirement = "between 0 and 1";
                return Err(ReportError::Invalid { field: field + ".level", value: band.level, requirement });
            }
            length(format!("{field}.lower"), band.lower.len(), times.clone(), count)?;
            length(format!("{field}.upper"), band.upper.len(), times.clone(), count)?;
            let crossed = (0..count).find(|&place| band.lower[place] > band.upper[place]);
            if let Some(place) = crossed {
                let requirement = "at most the upper end";
                let field = format!("{field}.lower[{place}]");
                return Err(ReportError::Invalid { field, value: band.lower[place], requirement });
            }
        }
        Ok(())
    }

    /// The fit with at most `most` times of the model and `most` observations of each kind, and no more digits
    /// than can be seen.
    pub(crate) fn drawn(&self, most: usize) -> Drawn {
        let (seen, lost_seen) = self.seen.finite();
        let (withheld, lost_withheld) = self.withheld.finite();
        let finite = |index: &usize| {
            let ends = self.bands.iter().flat_map(|band| [band.lower[*index], band.upper[*index]]);
            drawable(self.times[*index]) && drawable(self.mean[*index]) && ends.into_iter().all(drawable)
        };
        let places: Vec<usize> = (0..self.times.len()).filter(finite).collect();
        let mean: Vec<f64> = places.iter().map(|&place| self.mean[place]).collect();
        let stay: Vec<usize> = kept(&mean, most).into_iter().map(|index| places[index]).collect();
        let (thin_seen, thin_withheld) = (seen.thinned(most), withheld.thinned(most));

        let times = places.iter().map(|&place| self.times[place]);
        let times = times.chain(seen.times.iter().copied()).chain(withheld.times.iter().copied());
        let in_time = Rounding::over(times.chain(self.forecast_from));
        let ends = self.bands.iter().flat_map(|band| [&band.lower, &band.upper]);
        let values = ends.flat_map(|list| stay.iter().map(|&place| list[place])).chain(mean);
        let values = values.chain(seen.values.iter().copied()).chain(withheld.values.iter().copied());
        let in_value = Rounding::over(values);
        let pick = |list: &[f64], rounding: &Rounding| -> Vec<f64> {
            stay.iter().map(|&place| rounding.round(list[place])).collect()
        };

        let left = thin_seen.times.len() + thin_withheld.times.len() + stay.len();
        Drawn {
            lost: lost_seen + lost_withheld + self.times.len() - places.len(),
            thinned: seen.times.len() + withheld.times.len() + places.len() - left,
            fit: Fit {
                series: self.series.clone(),
                variable: self.variable.clone(),
                unit: self.unit.clone(),
                seen: thin_seen.rounded(&in_time, &in_value),
                withheld: thin_withheld.rounded(&in_time, &in_value),
                times: pick(&self.times, &in_time),
                mean: pick(&self.mean, &in_value),
                bands: self
                    .bands
                    .iter()
                    .map(|band| Band {
                        level: band.level,
                        lower: pick(&band.lower, &in_value),
                        upper: pick(&band.upper, &in_value),
                    })
                    .collect(),
                forecast_from: self.forecast_from.filter(|from| drawable(*from)),
            },
        }
    }

    /// Whether there is nothing to draw.
    pub(crate) fn is_empty(&self) -> bool {
        self.seen.times.is_empty() && self.withheld.times.is_empty() && self.times.is_empty()
    }
}

/// Whether a number has a place on an axis; huge ones have not, since differences of them overflow.
pub(crate) fn drawable(value: f64) -> bool {
    value.abs() < 1e100
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(count: usize) -> Fit {
        let times: Vec<f64> = (0..count).map(|step| step as f64 / 7.0).collect();
        let mean: Vec<f64> = times.iter().map(|time| time.sin()).collect();
        let band = Band { level: 0.9, lower: mean.iter().map(|m| m - 1.0).collect(), upper: mean.clone() };
        Fit { times, mean, bands: vec![band], ..Fit::default() }
    }

    #[test]
    fn a_long_fit_is_thinned_and_keeps_its_extremes() {
        let mut fit = long(20_000);
        fit.mean[7_777] = 9.5;
        fit.bands[0].upper[7_777] = 9.5;
        let drawn = fit.drawn(300);
        assert!(drawn.fit.times.len() <= 300 && drawn.fit.times.len() > 100);
        assert_eq!(drawn.thinned, 20_000 - drawn.fit.times.len());
        assert!(drawn.fit.mean.contains(&9.5));
        assert_eq!(drawn.fit.times.len(), drawn.fit.bands[0].lower.len());
        assert!(drawn.fit.times.is_sorted());
    }

    #[test]
    fn numbers_that_are_not_finite_are_left_out_and_counted() {
        let mut fit = long(50);
        fit.mean[3] = f64::NAN;
        fit.bands[0].upper[5] = f64::INFINITY;
        fit.seen = Points { times: vec![2.0, 1.0, f64::NAN], values: vec![1.0, f64::NAN, 3.0] };
        let drawn = fit.drawn(300);
        assert_eq!((drawn.lost, drawn.fit.times.len(), drawn.fit.seen.times.len()), (4, 48, 1));
    }

    #[test]
    fn lists_that_do_not_fit_together_are_named() {
        let mut fit = long(5);
        fit.bands[0].upper.pop();
        let error = fit.check("fits[2]").unwrap_err().to_string();
        assert!(error.contains("`fits[2].bands[0].upper` has 4 entries, but 5"), "{error}");
        let mut fit = long(5);
        fit.times[3] = -1.0;
        assert!(matches!(fit.check("fits[0]"), Err(ReportError::Order { index: 3, .. })));
        let mut fit = long(5);
        fit.bands[0].level = 90.0;
        assert!(matches!(fit.check("fits[0]"), Err(ReportError::Invalid { .. })));
    }
}
