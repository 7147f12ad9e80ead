//! Lists of numbers as figures take them, and what must hold for them.

use crate::FigureError;

/// Largest number that can be drawn.
const LARGEST: f64 = 1e100;

/// A list of numbers in single or double precision.
///
/// ```
/// use stroock_figures::Numbers;
/// let single: Numbers = (&[0.5f32, 1.0]).into();
/// let numbers = vec![0.5f64, 1.0];
/// let double: Numbers = (&numbers).into();
/// assert!(single.iter().eq(double.iter()));
/// assert_eq!(Numbers::default().len(), 0);
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Numbers<'a> {
    /// Single precision.
    Single(&'a [f32]),
    /// Double precision.
    Double(&'a [f64]),
}

impl Default for Numbers<'_> {
    /// No numbers.
    fn default() -> Self {
        Numbers::Double(&[])
    }
}

impl<'a> Numbers<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Numbers::Single(numbers) => numbers.len(),
            Numbers::Double(numbers) => numbers.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = f64> + DoubleEndedIterator + Clone + use<'a> {
        let numbers = *self;
        (0..numbers.len()).map(move |index| numbers.at(index))
    }

    pub(crate) fn at(&self, index: usize) -> f64 {
        match self {
            Numbers::Single(numbers) => f64::from(numbers[index]),
            Numbers::Double(numbers) => numbers[index],
        }
    }

    /// Point `index` of a list `[T, 3]`.
    pub(crate) fn point(&self, index: usize) -> [f64; 3] {
        [0, 1, 2].map(|axis| self.at(3 * index + axis))
    }

    /// Refuses an empty list.
    pub(crate) fn filled(&self, field: &str) -> Result<(), FigureError> {
        not_empty(field, self.len())
    }

    /// Refuses a list of another length, or with a number that is not finite.
    pub(crate) fn check(&self, field: &str, expected: usize) -> Result<(), FigureError> {
        length(field, expected, self.len())?;
        self.finite(field)
    }

    /// Refuses numbers that are not finite, or too large for differences of them to be.
    pub(crate) fn finite(&self, field: &str) -> Result<(), FigureError> {
        match self.iter().enumerate().find(|(_, value)| value.is_nan() || value.abs() > LARGEST) {
            None => Ok(()),
            Some((index, value)) if value.is_finite() => Err(FigureError::invalid(
                format!("{field}[{index}]"),
                format!("{value:e}"),
                format!("at most {LARGEST:e} in size"),
            )),
            Some((index, value)) => Err(FigureError::NotFinite { field: field.to_owned(), index, value }),
        }
    }

    /// Refuses an empty list, numbers that are not finite, and times that go back.
    pub(crate) fn times(&self, field: &str) -> Result<(), FigureError> {
        self.filled(field)?;
        self.finite(field)?;
        match (1..self.len()).find(|&index| self.at(index) < self.at(index - 1)) {
            None => Ok(()),
            Some(index) => Err(FigureError::Order { field: field.to_owned(), index, value: self.at(index) }),
        }
    }
}

/// Values at times.
#[derive(Clone, Copy, Debug, Default)]
pub struct Points<'a> {
    /// Times.
    pub times: Numbers<'a>,
    /// Values at the times.
    pub values: Numbers<'a>,
}

impl Points<'_> {
    pub(crate) fn check(&self, field: &str) -> Result<(), FigureError> {
        self.times.finite(&format!("{field}.times"))?;
        self.values.check(&format!("{field}.values"), self.times.len())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (f64, f64)> {
        self.times.iter().zip(self.values.iter())
    }
}

/// Refuses a list without entries.
pub(crate) fn not_empty(field: &str, count: usize) -> Result<(), FigureError> {
    if count == 0 { Err(FigureError::Empty { field: field.to_owned() }) } else { Ok(()) }
}

/// Refuses a list of another length.
pub(crate) fn length(field: &str, expected: usize, actual: usize) -> Result<(), FigureError> {
    if expected == actual {
        return Ok(());
    }
    Err(FigureError::Length { field: field.to_owned(), expected, actual })
}

impl<'a> From<&'a [f32]> for Numbers<'a> {
    fn from(numbers: &'a [f32]) -> Self {
        Numbers::Single(numbers)
    }
}

impl<'a> From<&'a [f64]> for Numbers<'a> {
    fn from(numbers: &'a [f64]) -> Self {
        Numbers::Double(numbers)
    }
}

impl<'a> From<&'a Vec<f32>> for Numbers<'a> {
    fn from(numbers: &'a Vec<f32>) -> Self {
        Numbers::Single(numbers)
    }
}

impl<'a> From<&'a Vec<f64>> for Numbers<'a> {
    fn from(numbers: &'a Vec<f64>) -> Self {
        Numbers::Double(numbers)
    }
}

impl<'a, const N: usize> From<&'a [f32; N]> for Numbers<'a> {
    fn from(numbers: &'a [f32; N]) -> Self {
        Numbers::Single(numbers)
    }
}

impl<'a, const N: usize> From<&'a [f64; N]> for Numbers<'a> {
    fn from(numbers: &'a [f64; N]) -> Self {
        Numbers::Double(numbers)
    }
}
