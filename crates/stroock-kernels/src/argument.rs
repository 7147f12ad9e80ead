//! What every kernel asks of its arguments: lengths that fit their shapes, finite numbers, offsets in order.

use stroock_geometry::Real;
use thiserror::Error;

/// What is wrong with an argument. Every variant names it.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentError {
    /// There is nothing to compute.
    #[error("`{argument}` is empty; at least one is needed")]
    Empty {
        /// Name of the argument.
        argument: &'static str,
    },
    /// An extent or a stride is zero.
    #[error("`{argument}` is 0 on axis {axis}; it must be at least 1")]
    Zero {
        /// Name of the argument.
        argument: &'static str,
        /// Which entry of the argument.
        axis: usize,
    },
    /// A slice has the wrong length.
    #[error("`{argument}` has {actual} entries, but its shape {shape} asks for {expected}")]
    Length {
        /// Name of the argument.
        argument: &'static str,
        /// The shape in words.
        shape: &'static str,
        /// Length by the other arguments.
        expected: usize,
        /// Given length.
        actual: usize,
    },
    /// A number is not finite.
    #[error("`{argument}` is not finite at index {index}")]
    NotFinite {
        /// Name of the argument.
        argument: &'static str,
        /// Place in the flat slice.
        index: usize,
    },
    /// A result would have more numbers than any memory has.
    #[error("`{argument}` asks for more numbers than there is memory")]
    TooMany {
        /// Name of the argument.
        argument: &'static str,
    },
    /// Offsets do not describe consecutive runs.
    #[error("`{argument}` must start at 0 and never decrease, but entry {index} does not")]
    Offsets {
        /// Name of the argument.
        argument: &'static str,
        /// First entry at fault.
        index: usize,
    },
}

/// Checks that there is at least one of each.
///
/// # Errors
/// For the first of which there is none.
pub fn check_not_empty(
    extents: impl IntoIterator<Item = (&'static str, usize)>,
) -> Result<(), ArgumentError> {
    match extents.into_iter().find(|(_, extent)| *extent == 0) {
        Some((argument, _)) => Err(ArgumentError::Empty { argument }),
        None => Ok(()),
    }
}

/// Checks that no extent of an argument is zero.
pub(crate) fn check_positive(argument: &'static str, extents: &[usize]) -> Result<(), ArgumentError> {
    match extents.iter().position(|&extent| extent == 0) {
        Some(axis) => Err(ArgumentError::Zero { argument, axis }),
        None => Ok(()),
    }
}

/// Checks the number of entries.
///
/// # Errors
/// When there are more or fewer than `expected`; the shape is for the message.
pub fn check_length(
    argument: &'static str,
    shape: &'static str,
    expected: usize,
    actual: usize,
) -> Result<(), ArgumentError> {
    if actual == expected {
        return Ok(());
    }
    Err(ArgumentError::Length { argument, shape, expected, actual })
}

/// The numbers of a result with these extents.
///
/// # Errors
/// When they are more than any memory has.
pub(crate) fn result_length(argument: &'static str, extents: &[usize]) -> Result<usize, ArgumentError> {
    /// Bytes that the address space of a process has, in numbers of double precision.
    const MOST: usize = 1 << 43;
    let length = extents.iter().try_fold(1_usize, |product, &extent| product.checked_mul(extent));
    length.filter(|&length| length <= MOST).ok_or(ArgumentError::TooMany { argument })
}

/// Checks every extent.
///
/// # Errors
/// When one of them is not as expected; the shape in words is for the message.
pub fn check_shape(
    argument: &'static str,
    shape: &'static str,
    expected: &[usize],
    actual: &[usize],
) -> Result<(), ArgumentError> {
    if actual == expected {
        return Ok(());
    }
    let (expected, actual) = (expected.iter().product(), actual.iter().product());
    Err(ArgumentError::Length { argument, shape, expected, actual })
}

/// Checks that all numbers are finite.
pub(crate) fn check_finite<T: Real>(argument: &'static str, values: &[T]) -> Result<(), ArgumentError> {
    match first_not_finite(values) {
        Some(index) => Err(ArgumentError::NotFinite { argument, index }),
        None => Ok(()),
    }
}

/// Checks that offsets start at 0, never decrease, and end at the number of `values`, which are `total`.
///
/// # Errors
/// When they do not; the name of the values is for the message.
pub fn check_offsets(
    argument: &'static str,
    offsets: &[usize],
    total: usize,
    values: &'static str,
) -> Result<(), ArgumentError> {
    let ([0, ..], Some(&last)) = (offsets, offsets.last()) else {
        return Err(ArgumentError::Offsets { argument, index: 0 });
    };
    if let Some(index) = offsets.windows(2).position(|pair| pair[1] < pair[0]) {
        return Err(ArgumentError::Offsets { argument, index: index + 1 });
    }
    check_length(values, "[last offset]", last, total)
}

/// Numbers that are looked at together: without an exit between them, the compiler looks at a vector of
/// them at once.
const BLOCK: usize = 256;

/// The place of the first number that is not finite.
pub(crate) fn first_not_finite<T: Real>(values: &[T]) -> Option<usize> {
    let is_finite = |block: &[T]| block.iter().fold(true, |all, x| all & x.is_finite());
    let first = BLOCK * values.chunks(BLOCK).position(|block| !is_finite(block))?;
    values[first..].iter().position(|x| !x.is_finite()).map(|index| first + index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_place_is_found() {
        let mut values = vec![0f32; 3 * BLOCK + 7];
        assert_eq!(first_not_finite(&values), None);
        for index in [values.len() - 1, 2 * BLOCK, BLOCK + 3, 0] {
            values[index] = if index % 2 == 0 { f32::NAN } else { f32::NEG_INFINITY };
            assert_eq!(first_not_finite(&values), Some(index));
        }
        assert_eq!(first_not_finite::<f64>(&[]), None);
    }

    #[test]
    fn offsets_are_runs_of_all_values() {
        let of = |offsets: &[usize], total| check_offsets("offsets", offsets, total, "values");
        assert_eq!(of(&[0, 0, 2, 5], 5), Ok(()));
        let at = |index| Err(ArgumentError::Offsets { argument: "offsets", index });
        assert_eq!((of(&[], 0), of(&[1, 2], 2), of(&[0, 3, 2], 2)), (at(0), at(0), at(2)));
        let length = check_length("values", "[last offset]", 5, 4);
        assert_eq!(of(&[0, 5], 4), length);
        assert!(length.is_err());
    }
}
