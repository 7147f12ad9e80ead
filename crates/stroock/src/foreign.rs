//! Errors of the user's own encoders, decoders and models, passed through as they are.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

/// An error of code that this crate does not know. Its sentence and its sources are kept.
///
/// ```
/// use stroock::encoder::EncoderError;
/// use stroock::foreign::ForeignError;
/// let missing = std::io::Error::other("the table of embeddings is missing");
/// let error = EncoderError::from(ForeignError::new(missing));
/// assert_eq!(error.to_string(), "the table of embeddings is missing");
/// ```
#[derive(Clone, Debug)]
pub struct ForeignError(Arc<dyn Error + Send + Sync>);

impl ForeignError {
    /// Wraps any error, or a sentence.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::from(error.into()))
    }

    /// The error itself, where it is an `E`.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl Display for ForeignError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for ForeignError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// Errors of unknown types are compared by what they say.
impl PartialEq for ForeignError {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}
