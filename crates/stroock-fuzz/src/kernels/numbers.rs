//! Numbers and lengths that an input chooses: mostly usual ones, sometimes those that break things.

use arbitrary::{Result, Unstructured};

const STRANGE: [f64; 14] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN_POSITIVE,
    5e-324,
    -0.0,
    1e30,
    -1e30,
    1e-30,
    3.4e38,
    1e-38,
    1e15,
    1e5,
];

/// A number, one in sixteen of them strange where `strange` says so.
pub fn number(source: &mut Unstructured<'_>, strange: bool) -> Result<f64> {
    let byte: u8 = source.arbitrary()?;
    match byte {
        0..16 if strange => Ok(*source.choose(&STRANGE)?),
        // A few bits are enough, and leave bytes for others.
        byte => Ok((f64::from(byte) - 128.0) / 64.0),
    }
}

/// Numbers.
pub fn numbers(source: &mut Unstructured<'_>, count: usize, strange: bool) -> Result<Vec<f64>> {
    (0..count).map(|_| number(source, strange)).collect()
}

/// A length, now and then one that is a little or far off.
pub fn length(source: &mut Unstructured<'_>, length: usize) -> Result<usize> {
    Ok(match source.arbitrary::<u8>()? {
        0 => length + 1,
        1 => length.saturating_sub(1),
        2 => 0,
        _ => length,
    })
}

/// An extent between bounds, now and then one that nothing fits.
pub fn extent(source: &mut Unstructured<'_>, least: usize, most: usize) -> Result<usize> {
    Ok(match source.arbitrary::<u8>()? {
        0 => 0,
        1 => usize::MAX,
        2 => usize::MAX / 2 + 1,
        3 => 1 << 32,
        byte => least + usize::from(byte) % (most + 1 - least),
    })
}

/// Offsets of `count` runs with at most `most` entries each, now and then in disorder.
pub fn offsets(source: &mut Unstructured<'_>, count: usize, most: usize) -> Result<Vec<usize>> {
    let mut offsets = vec![0];
    for run in 0..count {
        let entries = usize::from(source.arbitrary::<u8>()?) % (most + 1);
        offsets.push(offsets[run] + entries);
    }
    match source.arbitrary::<u8>()? {
        0 => offsets.reverse(),
        1 => offsets[0] = 1,
        2 => offsets.push(usize::MAX),
        3 => offsets.clear(),
        _ => {}
    }
    Ok(offsets)
}

/// Single precision.
pub fn single(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&value| value as f32).collect()
}

/// Largest sum of products that results are compared for: the terms of larger ones cancel to digits, or overflow on the
/// way to a sum that would not, depending on their order.
pub const LARGEST_SUM: f64 = 1e5;

/// A bound of sums of `count` products of these numbers.
pub fn largest_sum(count: usize, first: &[f64], second: &[f64]) -> f64 {
    let most = |values: &[f64]| values.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
    count as f64 * most(first) * most(second)
}

/// Compares results where both are finite, relative to the largest of the expected ones.
pub fn compare(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().filter(|x| x.is_finite()).fold(1.0_f64, |most, x| most.max(x.abs()));
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        if found.is_finite() && expected.is_finite() {
            let error = (found - expected).abs();
            assert!(
                error <= tolerance * scale,
                "{what}[{place}] = {found}, expected {expected}, scale {scale}"
            );
        }
    }
}
