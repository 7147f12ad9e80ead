//! Positions of four tags on people who walk, fall, lie and sit: the localization data of the UCI repository.
//!
//! 1. [`ActivityFile::read`]: the text file, plain or gzipped, as recordings of plain [`Reading`]s, and how much
//!    of the published file it covers;
//! 2. [`windows`]: readings merged to rows of one tick, rows cut to overlapping windows, as a data set; [`load`]: the
//!    same from a data folder, through a cache.

mod label;
mod record;
mod window;

pub use label::{ACTIVITIES, CLASSES, LabelList};
pub use record::{ActivityFile, Coverage, ROWS, Reading, Recording};
pub use window::{ActivitySettings, ActivityWindows, load, windows};

/// What the reader is and its version, for the key of a cache.
pub const READER: &str = "activity, version 1";

/// The tags in the order of the channels, three each (x, y, z), with where they are worn.
pub const TAGS: [(&str, &str); 4] = [
    ("010-000-024-033", "ankle left"),
    ("010-000-030-096", "ankle right"),
    ("020-000-033-111", "chest"),
    ("020-000-032-221", "belt"),
];

/// Numbers in one observation.
pub const CHANNELS: usize = 3 * TAGS.len();

/// Points of the grid that the relative ticks of the published windows lie on, 0 to 227.
pub const GRID_POINTS: usize = 228;
