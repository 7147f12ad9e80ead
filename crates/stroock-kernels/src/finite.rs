//! The search for numbers that are not finite.

use stroock_geometry::Real;

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
}
