//! Archives of stays in intensive care, and the outcomes.

use std::fs;

use stroock_experiments::data::physionet::{
    PhysionetSettings, ScaleOver, prepare, read_outcomes, read_stays, with_outcomes, write_long,
};

use crate::pieces::pieces;
use crate::scratch::FOLDER;

/// Names of members of an archive by their numbers: also such that lead out of the folder.
const MEMBERS: [&str; 6] = ["set/1.txt", "set/2.txt", "../3.txt", "/4.txt", "set/../../5.txt", "set/notes"];

/// The input is an archive; or it has the files of one, which is made here, and the table of outcomes.
pub fn run(data: &[u8]) {
    FOLDER.with(|folder| {
        let (archive, outcomes) =
            match data.get(257..262) == Some(b"ustar") || data.starts_with(&[0x1f, 0x8b]) {
                true => (data.to_vec(), &[][..]),
                false => packed(data),
            };
        let archive = folder.write("stays/set.tar", &archive);
        let Ok(stays) = read_stays(&[&archive]) else { return };
        assert_eq!(
            fs::read_dir(folder.path().join("stays")).map_or(0, Iterator::count),
            1,
            "nothing is unpacked"
        );
        let _ = write_long(&stays, std::io::sink());
        for settings in [PhysionetSettings::six_minutes(), PhysionetSettings::one_minute()] {
            let Ok(prepared) = prepare(&stays, &settings, ScaleOver::All) else { continue };
            if let Ok(outcomes) = read_outcomes(&folder.write("outcomes.txt", outcomes)) {
                let _ = with_outcomes(&prepared.dataset, &outcomes);
            }
        }
    });
}

/// The archive of the files of an input, and the last file, which is not in it.
fn packed(data: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut archive = tar::Builder::new(Vec::new());
    let mut outcomes = &[][..];
    for (kind, content) in pieces(data) {
        let Some(name) = MEMBERS.get(usize::from(kind)) else {
            outcomes = content;
            continue;
        };
        let mut header = tar::Header::new_ustar();
        // Set as it is: the library refuses to write such names.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(content.len() as u64);
        header.set_entry_type(tar::EntryType::Regular);
        header.set_cksum();
        // Writing into memory does not fail.
        let _ = archive.append(&header, content);
    }
    (archive.into_inner().unwrap_or_default(), outcomes)
}
