//! Times on a grid, and values of one slot averaged.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use stroock::series::{Dataset, Observation, Series};

use super::archive::read_stays;
use super::record::Stay;
use super::scaling::{ScaleOver, Scaling};
use super::{DESCRIPTORS, HOURS, READER, VARIABLE_COUNT};
use crate::data::cache::Cache;
use crate::data::error::DataError;
use crate::data::folder::DataFolder;
use crate::data::source;

/// What the code -1 of a descriptor means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingCode {
    /// A value like any other, as in the published protocol.
    #[default]
    Value,
    /// That the descriptor is missing, as the publisher of the data has it.
    Missing,
}

/// How stays become series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhysionetSettings {
    /// Width of a slot in hours.
    pub step: f64,
    /// What the code -1 of a descriptor means.
    pub missing_code: MissingCode,
}

impl PhysionetSettings {
    /// The published protocol at 6 minutes: 481 grid points.
    pub fn six_minutes() -> Self {
        PhysionetSettings { step: 0.1, missing_code: MissingCode::Value }
    }

    /// The published settings at "1 minute", which is 0.016 h: 3 001 grid points.
    pub fn published_one_minute() -> Self {
        PhysionetSettings { step: 0.016, missing_code: MissingCode::Value }
    }

    /// One minute: 2 881 grid points.
    pub fn one_minute() -> Self {
        PhysionetSettings { step: 1.0 / 60.0, missing_code: MissingCode::Value }
    }

    /// The same with the code -1 read as missing.
    pub fn clean(self) -> Self {
        PhysionetSettings { missing_code: MissingCode::Missing, ..self }
    }

    /// Points of the grid over 48 h, both ends included.
    ///
    /// ```
    /// use stroock_experiments::data::physionet::PhysionetSettings;
    /// assert_eq!(PhysionetSettings::six_minutes().grid_points(), 481);
    /// assert_eq!(PhysionetSettings::one_minute().grid_points(), 2_881);
    /// assert_eq!(PhysionetSettings::published_one_minute().grid_points(), 3_001);
    /// ```
    pub fn grid_points(&self) -> usize {
        (HOURS / self.step).round() as usize + 1
    }

    /// The slot of a minute: hours over the width, rounded, halves to the even one.
    ///
    /// In floating point, as published: a quotient that should be a half may fall to either side of it.
    fn slot(&self, minute: u16) -> u32 {
        let hours = f64::from(minute / 60) + f64::from(minute % 60) / 60.0;
        (hours / self.step).round_ties_even() as u32
    }

    fn check(&self) -> Result<(), DataError> {
        if self.step.is_finite() && (1e-4..=HOURS).contains(&self.step) {
            return Ok(());
        }
        let requirement = "a number of hours from 0.0001 to 48";
        Err(DataError::Setting { name: "step", value: self.step.to_string(), requirement })
    }
}

/// Stays as series in the units of the publisher.
///
/// Times are in hours, the slot times its width. A row exists for every slot with anything in it, and always at
/// 0. What is not observed is 0.
///
/// # Errors
/// When the settings make no sense.
pub fn slot_series(stays: &[Stay], settings: &PhysionetSettings) -> Result<Vec<Series>, DataError> {
    settings.check()?;
    Ok(stays.par_iter().map(|stay| series(stay, settings)).collect())
}

/// Series that are ready for a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// One series per stay in the order of the record ids, scaled.
    pub dataset: Dataset,
    /// How the variables were scaled.
    pub scaling: Scaling,
}

/// Sets a and b of a data folder as [`prepare`] has them, from the cache if they are there.
///
/// # Errors
/// When the files are not there, are not as published, or [`prepare`] refuses.
pub fn load(
    folder: &DataFolder,
    settings: &PhysionetSettings,
    over: ScaleOver<'_>,
    cache: &Cache,
) -> Result<Prepared, DataError> {
    let data_set = source::find("physionet2012")?;
    let archives = [folder.require(data_set, "set-a.tar.gz")?, folder.require(data_set, "set-b.tar.gz")?];
    let cached = cache.get(READER, &archives, &(settings, over), || {
        let prepared = prepare(&read_stays(&archives)?, settings, over)?;
        Ok((prepared.dataset, prepared.scaling))
    })?;
    Ok(Prepared { dataset: cached.dataset, scaling: cached.notes })
}

/// Stays as a data set of scaled series, named by their record ids.
///
/// # Errors
/// When the settings make no sense, or there is no stay of a number to scale over.
pub fn prepare(
    stays: &[Stay],
    settings: &PhysionetSettings,
    over: ScaleOver<'_>,
) -> Result<Prepared, DataError> {
    let mut series = slot_series(stays, settings)?;
    let scaling = Scaling::fit(&series, over)?;
    series.par_iter_mut().for_each(|series| scaling.apply(series));
    let dataset = Dataset::new(Observation::Vector { channels: VARIABLE_COUNT }, series)?;
    Ok(Prepared { dataset, scaling })
}

fn series(stay: &Stay, settings: &PhysionetSettings) -> Series {
    let slots = stay.measurements.iter().map(|measurement| settings.slot(measurement.minute));
    let mut rows: Vec<u32> = std::iter::once(0).chain(slots).collect();
    rows.sort_unstable();
    rows.dedup();

    let mut sums = vec![0.0f64; rows.len() * VARIABLE_COUNT];
    let mut counts = vec![0u32; rows.len() * VARIABLE_COUNT];
    let mut row = 0;
    for measurement in &stay.measurements {
        let slot = settings.slot(measurement.minute);
        // Measurements come in the order of their times: the row is nearly always this one or the next.
        if rows[row] != slot {
            row = rows.binary_search(&slot).unwrap_or(0);
        }
        let variable = usize::from(measurement.variable);
        let is_code = variable < DESCRIPTORS && measurement.value == -1.0;
        if is_code && settings.missing_code == MissingCode::Missing {
            continue;
        }
        sums[row * VARIABLE_COUNT + variable] += f64::from(measurement.value);
        counts[row * VARIABLE_COUNT + variable] += 1;
    }
    let mean = |(&sum, &count): (&f64, &u32)| if count == 0 { 0.0 } else { (sum / f64::from(count)) as f32 };
    Series {
        id: stay.id.to_string(),
        times: rows.iter().map(|&slot| f64::from(slot) * settings.step).collect(),
        values: sums.iter().zip(&counts).map(mean).collect(),
        observed: Some(counts.iter().map(|&count| count > 0).collect()),
        ..Series::default()
    }
}
