//! A series as bytes.
//!
//! Lengths, then the name, the times, the mask of what is observed as bits, the observed values, and the labels; numbers as
//! this machine has them, since the file ends with the process. What is withheld is chosen in memory, and is no part of it.

use crate::{Labels, Series};

const NO_LABEL: u8 = 0;
const CLASS: u8 = 1;
const CLASS_PER_TIME: u8 = 2;
const REAL_PER_TIME: u8 = 3;
/// A class that is not known.
const UNKNOWN: u32 = u32::MAX;

/// Appends a series.
pub(super) fn write(series: &Series<f64>, out: &mut Vec<u8>) {
    let Series { id, times, values, observed, labels, .. } = series;
    out.extend((id.len() as u64).to_ne_bytes());
    out.extend((times.len() as u64).to_ne_bytes());
    let kind = match labels {
        Labels::None => NO_LABEL,
        Labels::Class(_) => CLASS,
        Labels::ClassPerTime(_) => CLASS_PER_TIME,
        Labels::RealPerTime { .. } => REAL_PER_TIME,
    };
    out.extend([u8::from(observed.is_some()), kind]);
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(bytemuck::cast_slice(times));
    match observed {
        None => out.extend_from_slice(bytemuck::cast_slice(values)),
        Some(observed) => {
            let bits = |chunk: &[bool]| {
                chunk.iter().enumerate().fold(0_u8, |byte, (bit, &set)| byte | u8::from(set) << bit)
            };
            out.extend(observed.chunks(8).map(bits));
            let present = values.iter().zip(observed).filter(|(_, observed)| **observed);
            present.for_each(|(value, _)| out.extend(value.to_ne_bytes()));
        }
    }
    match labels {
        Labels::None => {}
        Labels::Class(class) => out.extend(class.to_ne_bytes()),
        Labels::ClassPerTime(classes) => {
            classes.iter().for_each(|class| out.extend(class.unwrap_or(UNKNOWN).to_ne_bytes()));
        }
        Labels::RealPerTime { width, values } => {
            out.extend((*width as u64).to_ne_bytes());
            values.iter().for_each(|value| out.extend(value.to_ne_bytes()));
        }
    }
}

/// The series of some bytes; `None` where these are none.
pub(super) fn read(bytes: &[u8], channels: usize) -> Option<Series<f64>> {
    let mut rest = bytes;
    let id_length = usize::try_from(u64::from_ne_bytes(*take(&mut rest)?)).ok()?;
    let count = usize::try_from(u64::from_ne_bytes(*take(&mut rest)?)).ok()?;
    let [has_gaps, kind] = *take(&mut rest)?;
    let id = std::str::from_utf8(take_some(&mut rest, id_length)?).ok()?.to_owned();
    let times = numbers(take_some(&mut rest, count.checked_mul(8)?)?);
    let entries = count.checked_mul(channels)?;
    let (values, observed) = match has_gaps {
        0 => (numbers(take_some(&mut rest, entries.checked_mul(8)?)?), None),
        _ => {
            let bits = take_some(&mut rest, entries.div_ceil(8))?;
            let observed: Vec<bool> =
                (0..entries).map(|place| bits[place / 8] >> (place % 8) & 1 == 1).collect();
            let present = observed.iter().filter(|&&observed| observed).count();
            let mut given = take_some(&mut rest, present.checked_mul(8)?)?.chunks_exact(8).map(number);
            let value = |&observed: &bool| if observed { given.next().unwrap_or(0.0) } else { 0.0 };
            (observed.iter().map(value).collect(), Some(observed))
        }
    };
    let labels = match kind {
        NO_LABEL => Labels::None,
        CLASS => Labels::Class(u32::from_ne_bytes(*take(&mut rest)?)),
        CLASS_PER_TIME => {
            let classes = take_some(&mut rest, count.checked_mul(4)?)?.chunks_exact(4);
            let class = |bytes: &[u8]| u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            Labels::ClassPerTime(
                classes.map(class).map(|class| Some(class).filter(|c| *c != UNKNOWN)).collect(),
            )
        }
        REAL_PER_TIME => {
            let width = usize::try_from(u64::from_ne_bytes(*take(&mut rest)?)).ok()?;
            let values = take_some(&mut rest, count.checked_mul(width)?.checked_mul(4)?)?.chunks_exact(4);
            let value = |bytes: &[u8]| f32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            Labels::RealPerTime { width, values: values.map(value).collect() }
        }
        _ => return None,
    };
    rest.is_empty().then_some(Series { id, times, values, observed, withheld: None, labels })
}

fn take<'a, const N: usize>(bytes: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(first)
}

fn take_some<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (first, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(first)
}

fn number(bytes: &[u8]) -> f64 {
    let mut own = [0; 8];
    own.copy_from_slice(bytes);
    f64::from_ne_bytes(own)
}

fn numbers(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_series_comes_back_to_the_last_bit() {
        let plain = Series {
            id: "ä, 1".into(),
            times: vec![-0.0, 1e-300, 2.0],
            values: vec![0.1, f64::MAX, 3.0, -4.0, 5.0, 6.5],
            ..Series::default()
        };
        let gaps = Series { observed: Some(vec![true, true, false, true, true, true]), ..plain.clone() };
        let gaps = Series { values: vec![0.1, f64::MAX, 0.0, -4.0, 5.0, 6.5], ..gaps };
        let labels = [
            Labels::Class(7),
            Labels::ClassPerTime(vec![None, Some(0), Some(3)]),
            Labels::RealPerTime { width: 2, values: vec![0.5; 6] },
        ];
        let labelled = labels.into_iter().map(|labels| Series { labels, ..gaps.clone() });
        let empty = Series { observed: Some(Vec::new()), ..Series::default() };
        for series in [plain, gaps.clone(), Series::default(), empty].into_iter().chain(labelled) {
            let mut bytes = Vec::new();
            write(&series, &mut bytes);
            assert_eq!(read(&bytes, 2), Some(series.clone()));
            assert!((0..bytes.len()).all(|end| read(&bytes[..end], 2).is_none()), "half a series is none");
        }
    }
}
