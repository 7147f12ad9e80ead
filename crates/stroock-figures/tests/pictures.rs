//! Every figure as SVG and as PNG.

mod samples;

use std::collections::BTreeSet;
use std::io::Cursor;
use std::path::Path;

use stroock_figures::theme::{Colour, FAINT, PALETTE};
use stroock_figures::{
    Colouring, FigureError, Globe, Numbers, Picture, SphereFigure, SpherePath, SphereTarget, StripFigure,
    StripRow,
};

/// One of every kind.
fn pictures() -> Result<Vec<(&'static str, Picture)>, FigureError> {
    Ok(vec![
        ("fit", samples::fit().picture()?),
        ("following", samples::following().picture()?),
        ("sphere", samples::sphere().picture()?),
        ("target", samples::target().picture()?),
        ("classes", samples::classes().picture()?),
        ("histogram", samples::histogram().picture()?),
        ("strip", samples::strip().picture()?),
        ("curves", samples::curves().picture()?),
        ("growth", samples::growth().picture()?),
        ("density", samples::density().picture()?),
        ("paths", samples::paths().picture()?),
    ])
}

/// A PNG with its pixels.
struct Pixels {
    width: usize,
    height: usize,
    rgb: Vec<[u8; 3]>,
}

fn decode(bytes: &[u8]) -> Pixels {
    let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().unwrap();
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut data).unwrap();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    let rgb = data.chunks_exact(3).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    Pixels { width: info.width as usize, height: info.height as usize, rgb }
}

/// How often a colour occurs, up to rounding.
fn count(pixels: &Pixels, colour: Colour) -> usize {
    let near = |pixel: &&[u8; 3]| (0..3).all(|channel| pixel[channel].abs_diff(colour.rgb[channel]) <= 2);
    pixels.rgb.iter().filter(near).count()
}

#[test]
fn every_figure_saves_both_formats_in_the_right_size() {
    let folder = tempfile::tempdir().unwrap();
    for (name, picture) in pictures().unwrap() {
        let path = folder.path().join(format!("{name}.png"));
        picture.save(&path).unwrap();
        let pixels = decode(&std::fs::read(&path).unwrap());
        let size = [pixels.width, pixels.height].map(|side| side as f64);
        assert_eq!(size, [2.0 * picture.width(), 2.0 * picture.height()], "{name}");
        let inked = pixels.rgb.iter().filter(|pixel| **pixel != [255; 3]).count() as f64;
        let share = inked / pixels.rgb.len() as f64;
        assert!((0.01..0.9).contains(&share), "{name}: {share} of the picture is inked");
        let colours: BTreeSet<_> = pixels.rgb.iter().collect();
        assert!(colours.len() > 30, "{name}: {} colours", colours.len());

        let path = folder.path().join(format!("{name}.SVG"));
        picture.save(&path).unwrap();
        let svg = std::fs::read_to_string(&path).unwrap();
        let head = format!("width=\"{}\" height=\"{}\"", picture.width(), picture.height());
        assert!(svg.contains(&head) && svg.matches("<path").count() > 3, "{name}");
    }
    let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().ends_with(".tmp")));
}

#[test]
fn the_same_figure_gives_the_same_bytes() {
    for ((name, one), (_, two)) in pictures().unwrap().into_iter().zip(pictures().unwrap()) {
        assert_eq!(one.to_svg().unwrap(), two.to_svg().unwrap(), "{name}");
        assert!(one.to_png().unwrap() == two.to_png().unwrap(), "{name}");
    }
}

#[test]
fn every_svg_is_well_formed_and_has_its_labels() {
    for (name, picture) in pictures().unwrap() {
        let svg = picture.to_svg().unwrap();
        let mut open = Vec::new();
        for tag in svg.split('<').skip(1) {
            let (tag, text) = tag.split_once('>').unwrap();
            assert!(!text.contains('>') && tag.matches('"').count() % 2 == 0, "{name}: {tag}");
            match tag.strip_prefix('/') {
                Some(end) => assert_eq!(open.pop(), Some(end), "{name}"),
                None if tag.ends_with('/') => {}
                None => open.push(tag.split(' ').next().unwrap()),
            }
        }
        assert!(open.is_empty(), "{name}: {open:?}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
    }
    let svg = samples::fit().picture().unwrap().to_svg().unwrap();
    for label in
        ["patient &lt;1&gt;", "heart rate (1/min)", "50 % interval", "90 % interval", "withheld", "forecast"]
    {
        assert!(svg.contains(label), "{label}");
    }
}

#[test]
fn an_unknown_extension_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["fit.pdf", "fit", ".png", "svg"] {
        let error = samples::histogram().save(&folder.path().join(name)).unwrap_err();
        assert!(matches!(error, FigureError::Extension { .. }), "{error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let error = samples::histogram().save(Path::new("/nowhere/at/all/fit.png")).unwrap_err();
    assert!(matches!(error, FigureError::Io { .. }) && error.to_string().contains("/nowhere"), "{error}");
}

#[test]
fn a_file_is_replaced_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.svg");
    std::fs::write(&path, "old").unwrap();
    samples::fit().save(&path).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), samples::fit().picture().unwrap().to_svg().unwrap());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn pixels_of_images_have_their_grey_values_the_right_way_round() {
    let image: Vec<f32> = (0..6).map(|value| value as f32 / 5.0).collect();
    for inverted in [false, true] {
        let figure = StripFigure {
            rows: vec![StripRow { label: "", frames: vec![Some(&image)], marked: &[] }],
            size: [2, 3],
            times: (&[0.0]).into(),
            time: "",
            inverted,
            image_width: 60.0,
            ..StripFigure::default()
        };
        let pixels = decode(&figure.picture().unwrap().to_png().unwrap());
        for (index, value) in image.iter().enumerate() {
            // Margins of 10 CSS pixels, images of 60 x 40, cells of 20 x 20, two pixels each.
            let (x, y) = (20 + 40 * (index % 3) + 20, 20 + 40 * (index / 3) + 20);
            let grey = (255.0 * if inverted { 1.0 - value } else { *value }).round() as u8;
            assert_eq!(pixels.rgb[y * pixels.width + x], [grey; 3], "{index}");
        }
    }
}

#[test]
fn paths_on_the_far_side_are_faded() {
    let arc = |middle: f64| -> Vec<f64> {
        let angles = (-50..=50).map(|step| middle + 0.01 * f64::from(step));
        angles.flat_map(|angle| [angle.cos(), angle.sin(), 0.0]).collect()
    };
    let shown = |middle: f64| {
        let points = arc(middle);
        let path = SpherePath { points: (&points).into(), times: Numbers::default(), classes: &[0] };
        let figure = SphereFigure {
            globes: vec![Globe { paths: vec![path], ..Globe::default() }],
            colouring: Colouring::Class { names: vec![""] },
            centre: [0.0, 10.0],
            ..SphereFigure::default()
        };
        count(&decode(&figure.picture().unwrap().to_png().unwrap()), PALETTE[0])
    };
    let (near, far) = (shown(0.0), shown(std::f64::consts::PI));
    // What remains is the key in the legend.
    assert!(near > far + 200, "{near} {far}");
}

/// The band about a target is a disc of its width: `sin(width)` of the radius of the globe.
#[test]
fn the_band_about_a_target_is_as_wide_as_it_says() {
    let shown = |width: f64, longitude: f64| {
        let (widths, points) = ([width], [1.0, 0.0, 0.0]);
        let target = SphereTarget {
            points: (&points).into(),
            means: (&points).into(),
            widths: (&widths).into(),
            observed: Numbers::default(),
        };
        let figure = SphereFigure {
            globes: vec![Globe { target: Some(target), ..Globe::default() }],
            centre: [longitude, 0.0],
            globe_width: 408.0,
            marked: false,
            ..SphereFigure::default()
        };
        let pixels = decode(&figure.picture().unwrap().to_png().unwrap());
        count(&pixels, Colour::hex(0xc5dcee)) as f64
    };
    // Behind the globe the band has another colour: what remains is the key in the legend.
    let key = shown(0.3, 180.0);
    assert!((100.0..2000.0).contains(&key), "{key}");
    for width in [0.15f64, 0.3, 0.6] {
        // A globe of 408 CSS pixels has a radius of 200 of them, two pixels each.
        let area = std::f64::consts::PI * (400.0 * width.sin()).powi(2);
        let found = shown(width, 0.0) - key;
        // Lines of the graticule go across.
        assert!((0.93 * area..1.001 * area).contains(&found), "{width}: {found} {area}");
    }
}

/// Panels above each other have one axis of time: its numbers stand once, and observed times run through all of them.
#[test]
fn panels_of_what_leads_a_path_share_their_time() {
    let svg = samples::following().picture().unwrap().to_svg().unwrap();
    for label in ["gain", "width", "settled", "of paths", "observed time", "heart rate (1/min)"] {
        assert!(svg.contains(&format!(">{label}<")), "{label}");
    }
    assert_eq!(svg.matches(">time (h)<").count(), 1);
    // No other axis goes so far.
    assert_eq!(svg.matches(">4<").count(), 1);
    let faint = format!("stroke=\"{}\" stroke-width=\"1\"", FAINT.to_hex());
    let lines: Vec<&str> = svg.lines().filter(|line| line.contains(&faint)).collect();
    // Four panels and the key.
    assert_eq!(lines.len(), 5);
    let places = |line: &str| -> Vec<String> {
        let path = line.split('"').nth(1).unwrap();
        path.split(['M', 'L'])
            .filter(|point| !point.is_empty())
            .map(|p| p.split(' ').next().unwrap().to_owned())
            .collect()
    };
    let of_panels: BTreeSet<Vec<String>> = lines[1..].iter().map(|line| places(line)).collect();
    assert_eq!(of_panels.len(), 1, "{of_panels:?}");
    assert_eq!(of_panels.first().unwrap().len(), 4);
}

#[test]
fn densities_are_dark_where_the_draws_are() {
    use stroock_figures::{DensityFigure, DensityPanel};
    let draws = [1.5f32; 20];
    let panel =
        DensityPanel { times: (&[0.0, 1.0]).into(), draws: (&draws).into(), ..DensityPanel::default() };
    let figure = DensityFigure { panels: vec![panel], ..DensityFigure::default() };
    let picture = figure.picture().unwrap();
    let pixels = decode(&picture.to_png().unwrap());
    // In the middle of the panel: the darkest row below the bar of colours.
    let column = pixels.width * 3 / 5;
    let light = |row: &usize| pixels.rgb[row * pixels.width + column].map(u32::from).iter().sum::<u32>();
    let rows: Vec<usize> = (100..pixels.height - 80).collect();
    let darkest = *rows.iter().min_by_key(|row| light(row)).unwrap();
    let top = 2.0 * (picture.height() - 170.0 - 10.0 - 32.5);
    let expected = top + 340.0 * (0.5 - 1.5 / std::f64::consts::TAU);
    assert!((darkest as f64 - expected).abs() < 8.0, "{darkest} {expected}");
}
