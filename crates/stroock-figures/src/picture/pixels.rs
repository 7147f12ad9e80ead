//! The picture as PNG.

use tiny_skia::{
    FillRule, FilterQuality, GradientStop, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pattern,
    Pixmap, RadialGradient, Rect, Shader, SpreadMode, StrokeDash, Transform,
};

use super::font::{self, width_of};
use super::marks::{Anchor, Fill, Image, Label, Mark, Outline, Shape, Stroke};
use super::{Area, Picture, Point};
use crate::FigureError;
use crate::theme::{Colour, PAPER, PIXELS};

/// Pixels along an axis that a PNG may have.
const MOST: f64 = 20_000.0;
/// Pixels that a PNG may have: 400 MB in memory.
const MOST_IN_ALL: f64 = 1e8;

pub(super) fn document(picture: &Picture) -> Result<Vec<u8>, FigureError> {
    let [width, height] = [picture.width, picture.height].map(|side| side * f64::from(PIXELS));
    let too_large = || FigureError::TooLarge { width, height };
    if !(width <= MOST && height <= MOST && width * height <= MOST_IN_ALL) {
        return Err(too_large());
    }
    let pixmap = Pixmap::new(width as u32, height as u32).ok_or_else(too_large)?;
    let transform = Transform::from_scale(PIXELS as f32, PIXELS as f32);
    let mut board = Board { pixmap, transform, mask: None };
    board.pixmap.fill(skia_colour(PAPER));
    for mark in &picture.marks {
        match mark {
            Mark::Shape(shape) => board.draw_shape(shape),
            Mark::Text(label) => board.draw_text(label),
            Mark::Image(image) => board.draw_image(image),
            Mark::Clip(area) => board.clip(*area),
            Mark::Unclip => board.mask = None,
        }
    }
    // Everything is drawn on an opaque ground, so that there is nothing to divide by the opacity.
    let pixels = board.pixmap.pixels();
    let rgb: Vec<u8> = pixels.iter().flat_map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]).collect();
    encode(board.pixmap.width(), board.pixmap.height(), &rgb)
}

/// A PNG of red, green and blue, row by row.
pub(super) fn encode(width: u32, height: u32, rgb: &[u8]) -> Result<Vec<u8>, FigureError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Balanced);
    encoder.set_filter(png::Filter::NoFilter);
    // So that a document shows it in the size it was drawn for: 96 CSS pixels to the inch.
    let per_metre = (96.0 * f64::from(PIXELS) / 0.0254).round() as u32;
    encoder.set_pixel_dims(Some(png::PixelDimensions {
        xppu: per_metre,
        yppu: per_metre,
        unit: png::Unit::Meter,
    }));
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(rgb)?;
        writer.finish()
    });
    written.map_err(|source| FigureError::Encoding { source })?;
    Ok(bytes)
}

struct Board {
    pixmap: Pixmap,
    transform: Transform,
    mask: Option<Mask>,
}

impl Board {
    fn draw_shape(&mut self, shape: &Shape) {
        let Some(path) = outline_path(&shape.outline) else { return };
        if let Some(fill) = &shape.fill {
            let paint = Paint { shader: shader(fill), anti_alias: true, ..Paint::default() };
            let mask = self.mask.as_ref();
            self.pixmap.fill_path(&path, &paint, FillRule::Winding, self.transform, mask);
        }
        if let Some(stroke) = &shape.stroke {
            let paint = Paint { shader: Shader::SolidColor(skia_colour(stroke.colour)), ..Paint::default() };
            self.pixmap.stroke_path(&path, &paint, &skia_stroke(stroke), self.transform, self.mask.as_ref());
        }
    }

    fn draw_text(&mut self, label: &Label) {
        let Some(path) = font::outline(&label.text, label.size, label.weight) else { return };
        let width = width_of(&label.text, label.size, label.weight);
        let back = match label.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let turn = if label.upwards { -90.0 } else { 0.0 };
        let transform = self
            .transform
            .pre_translate(label.at[0] as f32, label.at[1] as f32)
            .pre_rotate(turn)
            .pre_translate(-back as f32, 0.0);
        let paint = Paint { shader: Shader::SolidColor(skia_colour(label.colour)), ..Paint::default() };
        self.pixmap.fill_path(&path, &paint, FillRule::Winding, transform, self.mask.as_ref());
    }

    fn draw_image(&mut self, image: &Image) {
        let Some(mut cells) = Pixmap::new(image.columns, image.rows) else { return };
        for (cell, rgb) in cells.data_mut().chunks_exact_mut(4).zip(image.rgb.chunks_exact(3)) {
            cell.copy_from_slice(&[rgb[0], rgb[1], rgb[2], 255]);
        }
        let area = image.area;
        let transform = Transform::from_translate(area.left as f32, area.top as f32).pre_scale(
            (area.width() / f64::from(image.columns)) as f32,
            (area.height() / f64::from(image.rows)) as f32,
        );
        let shader = Pattern::new(cells.as_ref(), SpreadMode::Pad, FilterQuality::Nearest, 1.0, transform);
        let paint = Paint { shader, anti_alias: false, ..Paint::default() };
        if let Some(rect) = rectangle(area) {
            self.pixmap.fill_rect(rect, &paint, self.transform, self.mask.as_ref());
        }
    }

    fn clip(&mut self, area: Area) {
        let Some(mut mask) = Mask::new(self.pixmap.width(), self.pixmap.height()) else { return };
        if let Some(rect) = rectangle(area) {
            mask.fill_path(&PathBuilder::from_rect(rect), FillRule::Winding, true, self.transform);
        }
        self.mask = Some(mask);
    }
}

fn rectangle(area: Area) -> Option<Rect> {
    Rect::from_ltrb(area.left as f32, area.top as f32, area.right as f32, area.bottom as f32)
}

fn outline_path(outline: &Outline) -> Option<Path> {
    let mut builder = PathBuilder::new();
    match outline {
        Outline::Lines(lines) => {
            for line in lines {
                add_line(&mut builder, line);
            }
        }
        Outline::Polygon(points) => {
            add_line(&mut builder, points);
            builder.close();
        }
        Outline::Circle { centre, radius } => {
            builder.push_circle(centre[0] as f32, centre[1] as f32, *radius as f32);
        }
    }
    builder.finish()
}

fn add_line(builder: &mut PathBuilder, points: &[Point]) {
    for (index, point) in points.iter().enumerate() {
        let [x, y] = point.map(|coordinate| coordinate as f32);
        if index == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
    }
}

fn shader(fill: &Fill) -> Shader<'static> {
    match fill {
        Fill::Flat(colour) => Shader::SolidColor(skia_colour(*colour)),
        Fill::Radial { centre, radius, stops } => {
            let place = tiny_skia::Point::from_xy(centre[0] as f32, centre[1] as f32);
            let stops =
                stops.iter().map(|(share, colour)| GradientStop::new(*share as f32, skia_colour(*colour)));
            let (spread, identity) = (SpreadMode::Pad, Transform::identity());
            RadialGradient::new(place, place, *radius as f32, stops.collect(), spread, identity)
                .unwrap_or(Shader::SolidColor(skia_colour(PAPER)))
        }
    }
}

fn skia_colour(colour: Colour) -> tiny_skia::Color {
    let [r, g, b] = colour.rgb;
    let opacity = (colour.opacity.clamp(0.0, 1.0) * 255.0).round() as u8;
    tiny_skia::Color::from_rgba8(r, g, b, opacity)
}

fn skia_stroke(stroke: &Stroke) -> tiny_skia::Stroke {
    tiny_skia::Stroke {
        width: stroke.width as f32,
        line_cap: if stroke.dash.is_some() { LineCap::Butt } else { LineCap::Round },
        line_join: LineJoin::Round,
        dash: stroke.dash.and_then(|[dash, gap]| StrokeDash::new(vec![dash as f32, gap as f32], 0.0)),
        ..tiny_skia::Stroke::default()
    }
}
