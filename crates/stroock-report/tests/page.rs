//! The page as text: what is on it, what is not, and what happens to hostile names.

#[path = "../examples/sample_report/data.rs"]
mod sample;

use stroock_report::{
    Calibration, CalibrationPoint, Confusion, Curve, Fit, LatentPaths, PathGroup, Points, Report,
    ReportError, Row, Table,
};

/// The numbers of the page, as they stand there.
fn data_text(html: &str) -> &str {
    let start = html.find("id=\"data\">").expect("the page has data") + "id=\"data\">".len();
    let length = html[start..].find("</script>").expect("the data end");
    &html[start..start + length]
}

fn data_of(html: &str) -> serde_json::Value {
    serde_json::from_str(data_text(html)).expect("the data are JSON")
}

#[test]
fn every_part_has_its_section_and_its_link() {
    let mut report = sample::vital_signs();
    report.confusion = sample::activities().confusion;
    let html = report.html().unwrap();
    for id in ["fits", "scores", "calibration", "classes", "latent", "training", "configuration"] {
        assert!(html.contains(&format!("<section id=\"{id}\"")), "{id}");
        assert!(html.contains(&format!("<a href=\"#{id}\">")), "{id}");
    }
    assert_eq!(html.matches("class=\"still\"").count(), 3);
    assert!(html.contains("<strong>6.12</strong>"));
    assert!(html.contains("<td class=\"number\">1 871</td>"));
    assert_eq!(data_of(&html)["fits"].as_array().unwrap().len(), 32);
    assert_eq!(html, report.html().unwrap(), "the same report gives the same page");
}

#[test]
fn an_empty_report_is_a_page_without_sections() {
    let html = Report::default().html().unwrap();
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
    assert!(!html.contains("<section") && !html.contains("<nav") && !html.contains("<dl"));
}

#[test]
fn the_page_refers_to_nothing_outside() {
    for report in
        [sample::vital_signs(), sample::on_the_sphere(), sample::air_quality(), sample::activities()]
    {
        let html = report.html().unwrap();
        let allowed = ["http://www.w3.org/2000/svg", "http-equiv=\"Content-Security-Policy\""];
        let rest = allowed.iter().fold(html.clone(), |rest, allowed| rest.replace(allowed, ""));
        for sign in ["http", "url(//", "src=", "@import", "<link", "<iframe", "<base", "fetch(", "eval("] {
            assert!(!rest.contains(sign), "{sign}");
        }
        let hrefs = html.match_indices("href=\"").map(|(at, sign)| &html[at + sign.len()..]);
        for target in hrefs {
            assert!(target.starts_with('#') || target.starts_with("data:image/png"), "{}", &target[..40]);
        }
    }
}

/// A report in which every text is hostile.
fn hostile(name: &str) -> Report {
    let text = || name.to_owned();
    let point = CalibrationPoint { nominal: 0.5, observed: 0.4 };
    Report {
        title: text(),
        subtitle: text(),
        facts: vec![(text(), text())],
        warnings: vec![text()],
        time: text(),
        time_zone: text(),
        curves: vec![Curve { name: text(), epochs: vec![1.0, 2.0], values: vec![2.0, 1.0] }],
        fits: vec![Fit {
            series: text(),
            variable: text(),
            unit: text(),
            seen: Points { times: vec![0.0, 1.0], values: vec![1.0, 2.0] },
            ..Fit::default()
        }],
        tables: vec![Table {
            caption: text(),
            header: vec![text()],
            rows: vec![vec![text()].into()],
            note: text(),
        }],
        calibration: vec![Calibration { name: text(), points: vec![point] }],
        confusion: Some(Confusion { classes: vec![text()], counts: vec![vec![3]] }),
        paths: Some(LatentPaths {
            directions: text(),
            groups: [1.0, 0.5]
                .map(|x| PathGroup { name: text(), times: vec![0.0], paths: vec![vec![[x, 0.0, 0.0]]] })
                .to_vec(),
        }),
        configuration: text(),
        command: text(),
        ..Report::default()
    }
}

#[test]
fn hostile_names_stay_texts() {
    let harmless = hostile("name").html().unwrap();
    for name in [
        "</script><script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "' onmouseover='alert(1)",
        "<!--<script>",
        "]]></svg></title><b>",
        "a\u{2028}b\u{2029}c\u{0}d",
        "&lt;script&gt;",
    ] {
        let html = hostile(name).html().unwrap();
        for tag in ["<script", "</script", "<img", "<b>", "<!--", "</svg", "</title", "<svg", "<path"] {
            assert_eq!(html.matches(tag).count(), harmless.matches(tag).count(), "{tag} in {name}");
        }
        assert!(!html.contains("onerror=alert(1)>"), "{name}");
        assert!(!data_text(&html).contains(['\u{2028}', '\u{2029}']), "{name}");
        assert_eq!(data_of(&html)["fits"][0]["series"], name, "the script gets the name as it is");
    }
}

#[test]
fn long_series_give_a_page_of_sensible_size() {
    let count = 200_000;
    let times: Vec<f64> = (0..count).map(f64::from).collect();
    let values: Vec<f64> = times.iter().map(|time| (time / 900.0).sin() * 12.345_678_9).collect();
    let fit = Fit {
        series: "long".into(),
        seen: Points { times: times.clone(), values: values.clone() },
        times,
        mean: values,
        ..Fit::default()
    };
    let html = Report { fits: vec![fit.clone(); 3], ..Report::default() }.html().unwrap();
    assert!(html.len() < 1_000_000, "{} bytes", html.len());
    assert!(html.contains("Thinned for this page"));
    let short = Fit { times: fit.times[..500].to_vec(), mean: fit.mean[..500].to_vec(), ..Fit::default() };
    let html = Report { fits: vec![short; 2000], ..Report::default() }.html().unwrap();
    assert!(html.len() < 6_000_000, "{} bytes", html.len());
}

#[test]
fn numbers_that_are_not_finite_become_a_warning() {
    let mut report = sample::vital_signs();
    report.curves[0].values[3] = f64::NAN;
    report.fits[0].mean[7] = f64::INFINITY;
    report.fits[1].seen.values[0] = f64::NAN;
    report.paths.as_mut().unwrap().groups[0].paths[0][5][1] = f32::NAN;
    let html = report.html().unwrap();
    assert!(html.contains("Values of the training curves that are not finite, and are not drawn: 1."));
    assert!(html.contains("Places of the fits that are not finite, and are not drawn: 2."));
    assert!(html.contains("Latent paths that are not finite, and are not drawn: 1."));
    let nothing = Fit { times: vec![0.0], mean: vec![f64::NAN], ..Fit::default() };
    let curve = Curve { name: "loss".into(), epochs: vec![1.0], values: vec![f64::NAN] };
    let html = Report { fits: vec![nothing], curves: vec![curve], ..Report::default() }.html().unwrap();
    assert!(!html.contains("<section"), "parts of which nothing is left have no section");
}

#[test]
fn what_does_not_fit_together_is_refused_by_name() {
    let mut report = sample::vital_signs();
    report.fits[3].mean.pop();
    let error = report.html().unwrap_err();
    assert!(error.to_string().contains("`fits[3].mean` has 240 entries, but 241"), "{error}");
    let mut report = sample::vital_signs();
    report.tables[0].rows.push(Row::from(vec!["one".to_owned()]));
    assert!(matches!(report.html(), Err(ReportError::Length { expected: 9, actual: 1, .. })));
    let mut report = sample::vital_signs();
    report.calibration[0].points[2].observed = 1.5;
    assert!(matches!(report.html(), Err(ReportError::Invalid { .. })));
    let mut report = sample::activities();
    report.confusion.as_mut().unwrap().counts[1].pop();
    assert!(report.html().unwrap_err().to_string().contains("confusion.counts[1]"));
}
