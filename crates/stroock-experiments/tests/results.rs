//! The table of results in the repository is what its records give.

use std::fs;
use std::path::Path;

use stroock_experiments::reproduce::table;

#[test]
fn results_are_what_the_records_give() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let records = table::collect(&root.join("results")).unwrap();
    let written = fs::read_to_string(root.join("RESULTS.md")).unwrap();
    assert!(!records.is_empty());
    assert!(
        table::markdown(&records) == written,
        "RESULTS.md is not what results/ gives: run `stroock reproduce --table results`"
    );
}
