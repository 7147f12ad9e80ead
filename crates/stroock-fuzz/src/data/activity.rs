//! The localization data.

use stroock_experiments::data::activity::{ActivityFile, ActivitySettings, LabelList, windows};

use crate::scratch::FOLDER;

/// The input is the text file.
pub fn run(data: &[u8]) {
    FOLDER.with(|folder| {
        let Ok(file) = ActivityFile::read(&folder.write("activity.txt", data)) else { return };
        let _ = file.coverage().to_string();
        let settings = ActivitySettings { window: 2, stride: 1, labels: LabelList::Merged };
        let _ = windows(&file, &settings);
    });
}
