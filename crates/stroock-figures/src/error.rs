//! Why a picture cannot be drawn or saved.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a picture cannot be drawn or saved.
///
/// A `field` is written as it is reached from the figure, such as `panels[2].bands[0].upper`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FigureError {
    /// A list that must have something in it has nothing.
    #[error("`{field}` is empty, so there is nothing to draw")]
    Empty {
        /// The list.
        field: String,
    },
    /// A list has the wrong length.
    #[error("`{field}` has {actual} entries, but {expected} are needed")]
    Length {
        /// The list.
        field: String,
        /// Length by the other fields.
        expected: usize,
        /// Given length.
        actual: usize,
    },
    /// A number is not finite.
    #[error("`{field}[{index}]` is {value}: only finite numbers can be drawn, leave out what is missing")]
    NotFinite {
        /// The list.
        field: String,
        /// Place in the list.
        index: usize,
        /// The number.
        value: f64,
    },
    /// Times of a line go back.
    #[error("`{field}[{index}]` ({value}) lies before the time in front of it: sort by time")]
    Order {
        /// The list of times.
        field: String,
        /// Place in the list.
        index: usize,
        /// The time.
        value: f64,
    },
    /// A field has a value without a meaning.
    #[error("`{field}` is {value}, but must be {requirement}")]
    Invalid {
        /// The field.
        field: String,
        /// Its value.
        value: String,
        /// What it must be.
        requirement: String,
    },
    /// The name of a file does not tell the kind of picture.
    #[error("cannot tell the kind of picture from `{}`: let the name end in .svg or .png", path.display())]
    Extension {
        /// The file.
        path: PathBuf,
    },
    /// The picture is too large to be made of pixels.
    #[error("a PNG of {width:.0} x {height:.0} pixels is too large: draw fewer panels, or save as .svg")]
    TooLarge {
        /// Width in pixels.
        width: f64,
        /// Height in pixels.
        height: f64,
    },
    /// Pixels could not be encoded.
    #[error("cannot encode the PNG: {source}")]
    Encoding {
        /// What the encoder says.
        source: png::EncodingError,
    },
    /// The disk refuses.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl FigureError {
    pub(crate) fn invalid(
        field: impl Into<String>,
        value: impl std::fmt::Display,
        requirement: impl Into<String>,
    ) -> Self {
        FigureError::Invalid {
            field: field.into(),
            value: value.to_string(),
            requirement: requirement.into(),
        }
    }
}
