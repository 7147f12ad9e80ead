use std::fs;

use proptest::prelude::*;
use stroock::run::{Metric, Metrics, MetricsLog, MetricsRow, RunError};

fn row(epoch: u64) -> MetricsRow {
    MetricsRow::new(epoch)
        .with("loss", 0.1 * epoch as f64)
        .with("zeal", 1)
        .with("best", "yes")
        .with("a", -2.0)
}

#[test]
fn rows_keep_their_order_and_every_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metrics.jsonl");
    let mut log = MetricsLog::create(&path).unwrap();
    log.append(&row(3)).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text, "{\"epoch\":3,\"loss\":0.30000000000000004,\"zeal\":1,\"best\":\"yes\",\"a\":-2.0}\n");
    let read = Metrics::read(&path).unwrap();
    assert_eq!((read.rows, read.half_line), (vec![row(3)], None));
}

#[test]
fn numbers_that_json_does_not_have_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metrics.jsonl");
    let mut log = MetricsLog::create(&path).unwrap();
    let row =
        MetricsRow::new(1).with("up", f64::INFINITY).with("down", f64::NEG_INFINITY).with("none", f64::NAN);
    log.append(&row).unwrap();
    let read = &Metrics::read(&path).unwrap().rows[0];
    assert_eq!(read.values[..2], row.values[..2]);
    assert!(matches!(read.get("none"), Some(Metric::Number(value)) if value.is_nan()));
}

#[test]
fn a_file_that_exists_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metrics.jsonl");
    fs::write(&path, "mine").unwrap();
    assert!(matches!(MetricsLog::create(&path), Err(RunError::Io { .. })));
    assert_eq!(fs::read(&path).unwrap(), b"mine");
}

#[test]
fn a_resumed_run_continues_after_the_epochs_that_its_state_knows() {
    for (last_epoch, kept) in [(None, 0), (Some(1), 1), (Some(2), 2), (Some(4), 4), (Some(9), 4)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        let mut log = MetricsLog::create(&path).unwrap();
        (1..=4).for_each(|epoch| log.append(&row(epoch)).unwrap());

        let mut resumed = MetricsLog::resume(&path, last_epoch).unwrap();
        assert_eq!((resumed.kept, resumed.cut, resumed.warning()), (kept, 4 - kept, None));
        resumed.log.append(&row(10)).unwrap();
        let epochs: Vec<_> = Metrics::read(&path).unwrap().rows.iter().map(|row| row.epoch).collect();
        let expected: Vec<_> = (1..=kept as u64).chain([10]).collect();
        assert_eq!(epochs, expected);
    }
}

#[test]
fn a_run_without_metrics_starts_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metrics.jsonl");
    let mut resumed = MetricsLog::resume(&path, Some(3)).unwrap();
    assert_eq!(resumed.kept, 0);
    resumed.log.append(&row(4)).unwrap();
    assert_eq!(Metrics::read(&path).unwrap().rows, [row(4)]);
}

#[test]
fn a_file_cut_at_any_byte_loses_its_last_row_at_most() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    let mut log = MetricsLog::create(&whole).unwrap();
    (1..=3).for_each(|epoch| log.append(&row(epoch)).unwrap());
    let bytes = fs::read(&whole).unwrap();
    let path = folder.path().join("cut");
    for length in 0..=bytes.len() {
        let complete = bytes[..length].iter().filter(|byte| **byte == b'\n').count();
        let ends_in_a_row = length > 0 && bytes[length - 1] != b'\n';
        fs::write(&path, &bytes[..length]).unwrap();
        let read = Metrics::read(&path).unwrap();
        assert_eq!((read.rows.len(), read.half_line.is_some()), (complete, ends_in_a_row));

        let mut resumed = MetricsLog::resume(&path, Some(3)).unwrap();
        assert_eq!(resumed.warning().is_some(), ends_in_a_row);
        resumed.log.append(&row(4)).unwrap();
        let read = Metrics::read(&path).unwrap();
        assert_eq!((read.rows.len(), read.half_line), (complete + 1, None));
    }
}

#[test]
fn a_damaged_line_in_the_middle_is_named_and_nothing_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metrics.jsonl");
    for damage in ["{\"epoch\":2,", "{\"loss\":1.0}", "[1]", "{\"epoch\":2,\"loss\":{}}", ""] {
        let text = format!("{{\"epoch\":1}}\n{damage}\n{{\"epoch\":3}}\n");
        fs::write(&path, &text).unwrap();
        let error = MetricsLog::resume(&path, Some(3)).unwrap_err();
        assert!(matches!(error, RunError::MetricsLine { line: 2, .. }), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_name_has_one_value() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = MetricsLog::create(&folder.path().join("metrics.jsonl")).unwrap();
    for row in [MetricsRow::new(1).with("a", 1.0).with("a", 2.0), MetricsRow::new(1).with("epoch", 2)] {
        assert!(matches!(log.append(&row), Err(RunError::MetricTwice { epoch: 1, .. })));
    }
}

proptest! {
    #[test]
    fn every_number_is_read_back_to_the_last_bit(value in any::<f64>(), text in any::<String>()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        let row = MetricsRow::new(1).with("value", value).with("text", text.as_str());
        MetricsLog::create(&path).unwrap().append(&row).unwrap();
        let read = Metrics::read(&path).unwrap().rows;
        prop_assert_eq!(read, [row]);
    }
}
