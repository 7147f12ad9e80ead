//! Reads event files by the definition of the format, with code that shares nothing with the writer.

use std::fs;
use std::path::Path;

use stroock::run::EventFile;

/// Bit by bit, as the polynomial is defined: the writer uses a table.
fn crc32c(bytes: &[u8]) -> u32 {
    let mut remainder = u32::MAX;
    for bit in bytes.iter().flat_map(|byte| (0..8).map(move |bit| u32::from(byte >> bit & 1))) {
        let out = (remainder ^ bit) & 1;
        remainder >>= 1;
        if out == 1 {
            remainder ^= 0x1edc_6f41_u32.reverse_bits();
        }
    }
    !remainder
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (head, tail) = bytes.split_at(count);
    *bytes = tail;
    head
}

fn checked<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
    let data = take(bytes, count);
    let crc = crc32c(data);
    let masked = crc.rotate_right(15).wrapping_add(0xa282_ead8);
    assert_eq!(u32::from_le_bytes(take(bytes, 4).try_into().unwrap()), masked);
    data
}

fn records(mut file: &[u8]) -> Vec<&[u8]> {
    let mut records = Vec::new();
    while !file.is_empty() {
        let length = u64::from_le_bytes(checked(&mut file, 8).try_into().unwrap());
        records.push(checked(&mut file, length as usize));
    }
    records
}

#[derive(Debug, PartialEq)]
enum Field<'a> {
    Varint(u64),
    Fixed64(f64),
    Bytes(&'a [u8]),
    Fixed32(f32),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    (0..)
        .step_by(7)
        .map(|shift| (shift, take(bytes, 1)[0]))
        .try_fold(0, |value, (shift, byte)| {
            let value = value | u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 { Err(value) } else { Ok(value) }
        })
        .unwrap_err()
}

fn fields(mut message: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message);
        let field = match key & 7 {
            0 => Field::Varint(varint(&mut message)),
            1 => Field::Fixed64(f64::from_le_bytes(take(&mut message, 8).try_into().unwrap())),
            2 => {
                let length = varint(&mut message);
                Field::Bytes(take(&mut message, length as usize))
            }
            5 => Field::Fixed32(f32::from_le_bytes(take(&mut message, 4).try_into().unwrap())),
            other => panic!("wire type {other}"),
        };
        fields.push((key >> 3, field));
    }
    fields
}

fn events(path: &Path) -> Vec<Vec<u8>> {
    records(&fs::read(path).unwrap()).into_iter().map(<[u8]>::to_vec).collect()
}

#[test]
fn an_independent_reader_finds_the_scalars() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = EventFile::create(folder.path()).unwrap();
    file.scalars(1, &[("loss/train", 2.5), ("loss/validation", f64::NAN)]).unwrap();
    file.scalars(300, &[("loss/train", -0.125)]).unwrap();

    let name = file.path().file_name().unwrap().to_str().unwrap();
    let parts: Vec<_> = name.split('.').collect();
    assert_eq!(parts[..3], ["events", "out", "tfevents"]);
    assert!(parts[3].len() == 10 && parts[3].parse::<u64>().is_ok());
    assert_eq!(parts[5], std::process::id().to_string());

    let events = events(file.path());
    let [version, first, second] = &events[..] else { panic!("{} events", events.len()) };
    assert_eq!(fields(version)[1], (3, Field::Bytes(b"brain.Event:2")));

    let first = fields(first);
    let (1, Field::Fixed64(time)) = first[0] else { panic!("no time") };
    assert!(time > 1.7e9);
    assert_eq!(first[1], (2, Field::Varint(1)));
    let (5, Field::Bytes(summary)) = first[2] else { panic!("no summary") };
    let values = fields(summary);
    assert_eq!(values.len(), 2);
    let (1, Field::Bytes(value)) = values[0] else { panic!("no value") };
    assert_eq!(fields(value), [(1, Field::Bytes(b"loss/train")), (2, Field::Fixed32(2.5))]);

    let second = fields(second);
    assert_eq!(second[1], (2, Field::Varint(300)));
    let (5, Field::Bytes(summary)) = second[2] else { panic!("no summary") };
    let [(1, Field::Bytes(value))] = fields(summary)[..] else { panic!("no value") };
    assert_eq!(fields(value), [(1, Field::Bytes(b"loss/train")), (2, Field::Fixed32(-0.125))]);
}

#[test]
fn a_resumed_run_starts_a_file_that_takes_back_later_steps() {
    let folder = tempfile::tempdir().unwrap();
    let first = EventFile::create(folder.path()).unwrap();
    let second = EventFile::resume(folder.path(), 7).unwrap();
    assert!(first.path() < second.path(), "TensorBoard reads them in this order");
    let events = events(second.path());
    let session = fields(&events[1]);
    assert_eq!(session[1], (2, Field::Varint(7)));
    let (7, Field::Bytes(log)) = session[2] else { panic!("no session log") };
    assert_eq!(fields(log), [(1, Field::Varint(1))]);
}

#[test]
fn a_clock_that_was_set_back_does_not_mix_up_the_order() {
    let folder = tempfile::tempdir().unwrap();
    // A file of a run whose clock was years ahead.
    std::fs::write(folder.path().join("events.out.tfevents.2999999999.there.1.0"), "").unwrap();
    let names: Vec<String> = (0..3)
        .map(|_| EventFile::resume(folder.path(), 1).unwrap())
        .map(|events| events.path().file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    let times: Vec<&str> = names.iter().map(|name| name.split('.').nth(3).unwrap()).collect();
    assert_eq!(times, ["3000000000", "3000000001", "3000000002"]);
}
