//! Stays in intensive care, from the PhysioNet challenge of 2012.
//!
//! 1. [`read_stays`]: the archives (or the folders that they unpack to) as plain [`Stay`]s;
//! 2. [`slot_series`]: times quantised, values of one slot averaged;
//! 3. [`Scaling`]: every variable to about `[0, 1]`;
//! 4. [`prepare`]: all of it, to a data set; [`load`]: the same from a data folder, through a cache;
//! 5. [`write_long`]: the stays as a plain table;
//! 6. [`read_outcomes`], [`with_outcomes`]: who died.

mod archive;
mod export;
mod outcomes;
mod record;
mod scaling;
mod slots;

pub use archive::read_stays;
pub use export::write_long;
pub use outcomes::{Outcome, read_outcomes, with_outcomes};
pub use record::{Measurement, Stay};
pub use scaling::{ScaleOver, Scaling};
pub use slots::{MissingCode, PhysionetSettings, Prepared, load, prepare, slot_series};

/// What the reader is and its version, for the key of a cache.
pub const READER: &str = "physionet2012, version 1";

/// Number of variables.
pub const VARIABLE_COUNT: usize = 41;

/// Length of a stay as recorded.
pub const HOURS: f64 = 48.0;

/// The variables in the order of the channels: five descriptors (weight may come again later), then 36 measured
/// series.
pub const VARIABLES: [&str; VARIABLE_COUNT] = [
    "Age",
    "Gender",
    "Height",
    "ICUType",
    "Weight",
    "Albumin",
    "ALP",
    "ALT",
    "AST",
    "Bilirubin",
    "BUN",
    "Cholesterol",
    "Creatinine",
    "DiasABP",
    "FiO2",
    "GCS",
    "Glucose",
    "HCO3",
    "HCT",
    "HR",
    "K",
    "Lactate",
    "Mg",
    "MAP",
    "MechVent",
    "Na",
    "NIDiasABP",
    "NIMAP",
    "NISysABP",
    "PaCO2",
    "PaO2",
    "pH",
    "Platelets",
    "RespRate",
    "SaO2",
    "SysABP",
    "Temp",
    "TroponinI",
    "TroponinT",
    "Urine",
    "WBC",
];

/// The first so many variables describe the patient at admission.
const DESCRIPTORS: usize = 5;
