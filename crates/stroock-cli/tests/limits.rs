//! Bounds that the environment can move.

use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

#[test]
fn a_compressed_table_that_expands_too_far_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = GzEncoder::new(Vec::new(), Compression::best());
    let rows = "a,0,1.5\n".repeat(100);
    std::io::Write::write_all(&mut file, format!("id,time,x\n{rows}").as_bytes()).unwrap();
    std::fs::write(folder.path().join("bomb.csv.gz"), file.finish().unwrap()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_stroock"));
    let command = command.args(["describe", "bomb.csv.gz"]).current_dir(folder.path());
    let output = command.env("STROOCK_MAX_EXPANDED", "100").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("bomb.csv.gz") && said.contains("STROOCK_MAX_EXPANDED"), "{said}");
}
