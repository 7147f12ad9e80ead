//! The example fills the gaps of a table.

use std::process::Command;

#[test]
fn the_example_fills_gaps() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = String::from("id,time,x,y\n");
    let mut gaps = 0;
    for series in 0..12 {
        for step in 0..24 {
            let angle = 0.4 * f64::from(step) + f64::from(series);
            let gap = (step * 7 + series * 3) % 5 == 0;
            gaps += usize::from(gap);
            let y = if gap { String::new() } else { format!("{:.3}", 10.0 + angle.cos()) };
            table += &format!("s{series},{step},{:.3},{y}\n", angle.sin());
        }
    }
    std::fs::write(folder.path().join("table.csv"), table).unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_own-table"))
        .args(["table.csv", "run", "filled.csv"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let (said, log) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{log}");
    assert!(said.contains(&format!("{gaps} gaps filled")), "{said}");
    let filled = std::fs::read_to_string(folder.path().join("filled.csv")).unwrap();
    assert_eq!(filled.lines().count(), gaps + 1);
    let mse = |word: &str| -> f64 {
        let after = said.split(word).nth(1).unwrap().trim_start();
        after.split([',', '\n']).next().unwrap().trim().parse().unwrap()
    };
    // Two waves that are one circle: what x says about y is learnt.
    assert!(mse("MSE") < mse("straight lines"), "{said}");
}
