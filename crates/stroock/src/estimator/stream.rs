//! The noise of a series: a function of its name.

/// The number that the noise of a series depends on: a hash of its name and its origin, so that what is said about a
/// series does not depend on the others of its table, nor on its place among them.
pub(super) fn stream(id: &str, origin: f64) -> u32 {
    let bytes = id.bytes().chain(origin.to_bits().to_le_bytes());
    // FNV-1a, whose halves are folded into one.
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (hash ^ (hash >> 32)) as u32
}
