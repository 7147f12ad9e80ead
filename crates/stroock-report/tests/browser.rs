//! The page in a real browser: it comes to life, without an error, and follows its address.
//!
//! Needs Chromium: the program named by `STROOCK_CHROMIUM`, or one of the usual names on the path. Without it the
//! tests are skipped, unless `STROOCK_REQUIRE_BROWSER=1`.

#[path = "../examples/sample_report/data.rs"]
mod sample;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use stroock_report::{Report, Row, Table};

/// The browser, or `None` after saying that the test is skipped.
fn browser() -> Option<PathBuf> {
    let named = std::env::var_os("STROOCK_CHROMIUM").map(PathBuf::from);
    let usual = ["chromium", "chromium-browser", "google-chrome"].map(PathBuf::from);
    let starts = |program: &PathBuf| {
        let version =
            Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    };
    let found = named.into_iter().chain(usual).find(starts);
    if found.is_none() {
        let required = std::env::var("STROOCK_REQUIRE_BROWSER").is_ok_and(|value| value == "1");
        assert!(!required, "STROOCK_REQUIRE_BROWSER=1, but there is no Chromium: set STROOCK_CHROMIUM");
        println!("skipped: there is no Chromium; set STROOCK_CHROMIUM to its path");
    }
    found
}

/// The document after the script has run, and what the browser wrote to its console.
fn opened(browser: &Path, html: &str, fragment: &str) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    std::fs::write(&page, html).unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--enable-logging=stderr", "--v=0", "--window-size=1000,900", "--virtual-time-budget=2000"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg("--dump-dom")
        .arg(format!("file://{}{fragment}", page.display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let log = String::from_utf8_lossy(&output.stderr);
    let console = log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
    (String::from_utf8_lossy(&output.stdout).into_owned(), console)
}

/// The opened document of a report whose script ran through.
fn alive(browser: &Path, report: &Report, fragment: &str) -> String {
    let (dom, console) = opened(browser, &report.html().unwrap(), fragment);
    let root = &dom[..dom.find("<head").unwrap_or(dom.len().min(500))];
    assert!(root.contains("data-ready=\"true\""), "the script did not reach its end: {root}\n{console:?}");
    assert!(!root.contains("data-errors"), "{root}");
    assert!(console.is_empty(), "{console:?}");
    dom
}

/// What stands between two words of the document.
fn between<'d>(dom: &'d str, from: &str, to: &str) -> &'d str {
    let start = dom.find(from).unwrap_or_else(|| panic!("no {from}")) + from.len();
    let end = dom[start..].find(to).unwrap_or_else(|| panic!("no {to} after {from}"));
    &dom[start..start + end]
}

fn fit_plot(dom: &str) -> &str {
    between(dom, "id=\"fit-plot\">", "id=\"fit-readout\"")
}

fn mean(dom: &str) -> &str {
    between(fit_plot(dom), "class=\"mean\" d=\"", "\"")
}

#[test]
fn the_page_comes_to_life_without_errors() {
    let Some(browser) = browser() else { return };
    let dom = alive(&browser, &sample::vital_signs(), "");
    let plot = fit_plot(&dom);
    assert!(plot.contains("heart rate (1/min)") && plot.contains("class=\"mean\" d=\"M"), "{plot}");
    assert_eq!(plot.matches("class=\"band rank").count(), 2);
    assert!(plot.matches("class=\"seen\"").count() > 10);
    assert!(!plot.contains("NaN") && !plot.contains("undefined"));
    let curves = between(&dom, "id=\"curve-plot\">", "id=\"curve-readout\"");
    assert_eq!(curves.matches("class=\"curve colour").count(), 2);
    assert!(curves.contains("kept: epoch 187"));
    assert_eq!(between(&dom, "id=\"bar-high\">", "<"), "48");
}

/// What a reader does, and what they then see.
const READER: &str = include_str!("reader.js");

#[test]
fn the_reader_can_choose_read_and_turn() {
    let Some(browser) = browser() else { return };
    let html = sample::vital_signs()
        .html()
        .unwrap()
        .replace("</body>", &format!("<script>{READER}</script></body>"));
    let (dom, mut console) = opened(&browser, &html, "");
    // Advice about the readings of the canvas here, which the page itself does not take.
    console.retain(|line| !line.contains("willReadFrequently"));
    let root = &dom[..dom.find("<head").unwrap_or(0)];
    assert!(root.contains("data-done=\"true\"") && !root.contains("data-errors"), "{root}");
    assert!(console.is_empty(), "{console:?}");
    let said = |name: &str| between(root, &format!("data-{name}=\""), "\"");
    assert_eq!(said("address"), "#series=stay+133656&amp;variable=glucose");
    assert!(said("read").contains("mean") && said("read").contains("90 %:"), "{}", said("read"));
    assert!(said("epoch").starts_with("epoch 1 "), "{}", said("epoch"));
    assert_eq!(said("still"), "Turn slowly", "the first touch ends the turning");
    assert_eq!(
        [said("inked"), said("turned"), said("regrouped"), said("sideways")],
        ["true", "true", "true", "false"]
    );
}

#[test]
fn the_address_chooses_the_fit() {
    let Some(browser) = browser() else { return };
    let report = sample::vital_signs();
    let other = alive(&browser, &report, "#series=stay+133656&variable=glucose");
    assert!(fit_plot(&other).contains("glucose (mg/dl)") && fit_plot(&other).contains("series stay 133656"));
    let heart_rate = alive(&browser, &report, "#series=stay+133656");
    assert!(fit_plot(&heart_rate).contains("heart rate (1/min)"));
    assert_ne!(mean(&heart_rate), mean(&other));
}

#[test]
fn dates_spheres_and_classes_come_to_life() {
    let Some(browser) = browser() else { return };
    let dates = alive(&browser, &sample::air_quality(), "");
    assert!(fit_plot(&dates).contains("date (Europe/Vienna)") && fit_plot(&dates).contains("Mar"));
    assert!(between(&dates, "id=\"fit-note\">", "<").contains("Thinned"));
    assert!(between(&dates, "id=\"bar-low\">", "<").starts_with("2024-03-01"));
    let sphere = alive(&browser, &sample::on_the_sphere(), "");
    assert!(between(&sphere, "<canvas", ">").contains("width=\""));
    alive(&browser, &sample::activities(), "");
}

#[test]
fn a_usual_table_of_scores_fits_the_page() {
    let Some(browser) = browser() else { return };
    let header = [
        "Variable",
        "Values",
        "RMSE",
        "RMSE, line between neighbours",
        "RMSE, last value",
        "RMSE, training mean",
        "MAE",
        "CRPS",
        "NLL",
        "In 90 % intervals",
        "Their width",
    ];
    let row = |name: &str| {
        let numbers = ["12345", "0.01235", "0.01235", "0.01235", "0.01235", "0.01235", "0.01235", "-1.235"];
        let cells = [&[name][..], &numbers, &["90.1 %", "0.01235"]].concat();
        Row::from(cells.into_iter().map(str::to_owned).collect::<Vec<_>>())
    };
    let mut report = sample::vital_signs();
    report.tables = vec![Table {
        caption: "Values that were held out: 20 % of the values, in runs of 6".into(),
        header: header.map(String::from).to_vec(),
        rows: ["mean arterial pressure", "all, in standard deviations"].map(row).to_vec(),
        ..Table::default()
    }];
    let measure = "<script>const boxes = [...document.querySelectorAll('.scroll')];\
                   document.documentElement.dataset.hidden = Math.max(...boxes.map(box => box.scrollWidth - box.clientWidth));\
                   </script></body>";
    let (dom, _) = opened(&browser, &report.html().unwrap().replace("</body>", measure), "");
    assert_eq!(between(&dom, "data-hidden=\"", "\""), "0", "pixels of a table that are not seen");
}

#[test]
fn hostile_names_do_nothing() {
    let Some(browser) = browser() else { return };
    let name = "</script><script>document.documentElement.dataset.harmed=1</script><img src=x onerror=console.error(1)>";
    let mut report = sample::vital_signs();
    (report.title, report.time_zone, report.time) = (name.into(), name.into(), name.into());
    report.fits[0].series = name.into();
    report.fits[0].variable = name.into();
    report.configuration = name.into();
    report.paths.as_mut().unwrap().groups[0].name = name.into();
    // A series that is not there leaves the first fit.
    let dom = alive(&browser, &report, "#series=nobody&variable=glucose");
    assert!(!dom.contains("data-harmed") && fit_plot(&dom).contains("&lt;img src=x"));
}

#[test]
fn errors_of_a_broken_page_are_seen() {
    let Some(browser) = browser() else { return };
    let html =
        sample::activities().html().unwrap().replace("function start() {", "function start() { nothing();");
    let (dom, console) = opened(&browser, &html, "");
    assert!(dom.contains("data-errors=\"") && !dom.contains("data-ready"));
    assert!(!console.is_empty() && !dom.contains("class=\"scripted\""));
}
