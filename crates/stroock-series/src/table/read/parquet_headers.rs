//! Headers of a Parquet file, looked through before its reader sees them.
//!
//! The reader passes over what it does not know in loops of as many turns as the file announces, and takes the memory of
//! pages before it has read them: some bytes can keep it busy for hours. Here every header is walked through once. A list
//! must not have more elements than there are bytes left, and a page must not expand beyond all compression.
//!
//! Headers are in the compact protocol of Thrift: numbers in seven bits a byte; fields by kind and number, up to one of
//! kind 0.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

const MAGIC: &[u8; 4] = b"PAR1";
/// Length of the footer, and the magic number.
const END: u64 = 8;
/// Deepest nesting; that of the format is half a dozen.
const DEEPEST: usize = 32;
/// Bytes that any page may have: readers take them whole.
const FREE_PAGE: i64 = 1 << 28;
/// How many times as many bytes as its compressed ones a page may have beyond that: more than any compression makes.
const PAGE_FACTOR: i64 = 2000;
/// Bytes of a page header that are read at first.
const PAGE_HEADER: u64 = 4096;

/// What is wrong with a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeaderFault {
    /// It goes on behind the bytes that there are.
    Short,
    /// It cannot be.
    Wrong,
}

use HeaderFault::{Short, Wrong};

/// Bytes of a header that have not been looked at.
struct Walk<'a>(&'a [u8]);

impl Walk<'_> {
    fn byte(&mut self) -> Result<u8, HeaderFault> {
        let (&first, rest) = self.0.split_first().ok_or(Short)?;
        self.0 = rest;
        Ok(first)
    }

    fn skip(&mut self, count: u64) -> Result<(), HeaderFault> {
        let count = usize::try_from(count).map_err(|_| Short)?;
        self.0 = self.0.get(count..).ok_or(Short)?;
        Ok(())
    }

    fn number(&mut self) -> Result<u64, HeaderFault> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Wrong)
    }

    fn signed(&mut self) -> Result<i64, HeaderFault> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// Goes through a structure; `found` is given the numbers among its fields.
    fn structure(&mut self, depth: usize, found: &mut dyn FnMut(i64, i64)) -> Result<(), HeaderFault> {
        let mut last = 0;
        loop {
            let header = self.byte()?;
            let (kind, step) = (header & 0xf, i64::from(header >> 4));
            if kind == 0 {
                return Ok(());
            }
            last = if step == 0 { self.signed()? } else { last + step };
            match kind {
                4..=6 => found(last, self.signed()?),
                kind => self.value(kind, depth)?,
            }
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Result<(), HeaderFault> {
        let depth = depth.checked_sub(1).ok_or(Wrong)?;
        match kind {
            // In the header of the field; the reader reads none in lists either.
            1 | 2 => Ok(()),
            3 => self.skip(1),
            4..=6 => self.number().map(|_| ()),
            7 => self.skip(8),
            8 => {
                let length = self.number()?;
                self.skip(length)
            }
            9 | 10 => {
                let header = self.byte()?;
                let size = if header >> 4 == 15 { self.number()? } else { u64::from(header >> 4) };
                self.elements(size, &[header & 0xf], depth)
            }
            11 => match self.number()? {
                0 => Ok(()),
                size => {
                    let kinds = self.byte()?;
                    self.elements(size, &[kinds >> 4, kinds & 0xf], depth)
                }
            },
            12 => self.structure(depth, &mut |_, _| ()),
            13 => self.skip(16),
            _ => Err(Wrong),
        }
    }

    fn elements(&mut self, size: u64, kinds: &[u8], depth: usize) -> Result<(), HeaderFault> {
        // The reader may take memory for all of them at once.
        if size > self.0.len() as u64 {
            return Err(Short);
        }
        // None of what is written by anyone: it would be read as nothing at all, so many times.
        if size > 0 && kinds.iter().all(|kind| matches!(kind, 1 | 2)) {
            return Err(Wrong);
        }
        (0..size).try_for_each(|_| kinds.iter().try_for_each(|&kind| self.value(kind, depth)))
    }
}

/// Looks through the footer; whether it can be handed on. A file that ends otherwise is for the reader to refuse.
pub(super) fn is_footer_sound(file: &mut File) -> io::Result<bool> {
    let length = file.seek(SeekFrom::End(0))?;
    let Some(before) = length.checked_sub(END) else { return Ok(true) };
    let mut end = [0; END as usize];
    file.seek(SeekFrom::Start(before))?;
    file.read_exact(&mut end)?;
    let footer = u64::from(u32::from_le_bytes([end[0], end[1], end[2], end[3]]));
    if &end[4..] != MAGIC || footer > before {
        return Ok(true);
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(before - footer))?;
    (&*file).take(footer).read_to_end(&mut bytes)?;
    Ok(Walk(&bytes).structure(DEEPEST, &mut |_, _| ()).is_ok())
}

/// Looks through the headers of the pages of a column, in these bytes of the file.
pub(super) fn are_pages_sound(file: &mut File, start: u64, length: u64) -> io::Result<bool> {
    let (mut at, end) = (start, start.saturating_add(length));
    let mut asked = PAGE_HEADER;
    let mut bytes = Vec::new();
    while at < end {
        bytes.clear();
        file.seek(SeekFrom::Start(at))?;
        (&*file).take(asked.min(end - at)).read_to_end(&mut bytes)?;
        let (mut expanded, mut compressed) = (0, 0);
        let mut walk = Walk(&bytes);
        let walked = walk.structure(DEEPEST, &mut |field, number| match field {
            2 => expanded = number,
            3 => compressed = number,
            _ => {}
        });
        match walked {
            Ok(()) => {}
            Err(Short) if bytes.len() as u64 == asked => {
                asked = asked.saturating_mul(8);
                continue;
            }
            Err(_) => return Ok(false),
        }
        let is_possible = compressed >= 0
            && (0..=compressed.saturating_mul(PAGE_FACTOR).max(FREE_PAGE)).contains(&expanded);
        if !is_possible {
            return Ok(false);
        }
        at = at.saturating_add((bytes.len() - walk.0.len()) as u64).saturating_add(compressed as u64);
        asked = PAGE_HEADER;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(bytes: &[u8]) -> Result<(), HeaderFault> {
        Walk(bytes).structure(DEEPEST, &mut |_, _| ())
    }

    #[test]
    fn structures_end_where_they_say() {
        // Field 1 is the number -1, field 2 a text, field 3 a list of two bytes.
        assert_eq!(walked(&[0x15, 0x01, 0x18, 0x01, b'x', 0x19, 0x23, 7, 8, 0]), Ok(()));
        assert_eq!(walked(&[0x15, 0x01]), Err(Short));
        assert_eq!(walked(&[0x18, 0xff, 0x01, b'x']), Err(Short));
        assert_eq!(walked(&[0x1e, 0]), Err(Wrong));
    }

    #[test]
    fn lists_without_end_are_refused() {
        // 2^31 - 1 truths, structures or maps: the first take no bytes.
        let many = [0xff, 0xff, 0xff, 0xff, 0x07];
        for kind in [1, 2, 12, 11] {
            assert!(walked(&[&[0x19, 0xf0 | kind][..], &many, &[0; 100]].concat()).is_err());
        }
        assert_eq!(walked(&[0x19, 0x41, 0, 0, 0, 0, 0]), Err(Wrong));
        assert_eq!(walked(&[0x1c; 100]), Err(Wrong));
    }
}
