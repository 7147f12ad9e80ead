//! `metrics.jsonl`.

use std::fs;

use stroock::run::{Metrics, MetricsLog, MetricsRow};

use crate::scratch::FOLDER;

/// The input is a file, which is read, resumed and appended to.
pub fn run(data: &[u8]) {
    FOLDER.with(|folder| {
        let path = folder.write("metrics.jsonl", data);
        let Ok(before) = Metrics::read(&path) else {
            assert!(MetricsLog::resume(&path, Some(3)).is_err());
            assert_eq!(fs::read(&path).ok().as_deref(), Some(data), "what cannot be read is left as it is");
            return;
        };
        let mut resumed = MetricsLog::resume(&path, Some(3)).expect("what was read can be resumed");
        let _ = resumed.warning();
        resumed.log.append(&MetricsRow::new(4).with("loss", 1.5)).expect("a row can be appended");
        let after = Metrics::read(&path).expect("what was appended to can be read");
        assert_eq!(after.rows.len(), resumed.kept + 1);
        assert_eq!(resumed.kept + resumed.cut, before.rows.len());
    });
}
