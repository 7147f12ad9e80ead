//! The picture of the pendulum: a line of width 8 on 128 x 128 pixels, shrunk to 24 x 24.
//!
//! The line is a quadrilateral with corners on whole pixels, filled without grey values; the shrinking makes
//! its edges smooth. Its end is cut to a whole pixel, too, so there are no more than some 430 different
//! pictures, which [`PictureBook`] draws once each.

use std::sync::OnceLock;

use super::lanczos::Lanczos;

/// Rows and columns of a picture.
pub const PICTURE_SIDE: usize = 24;
/// Rows and columns of the canvas that is drawn on.
const CANVAS: usize = 128;
/// Row and column of the point that the pendulum turns about.
const CENTRE: i32 = 64;
/// Length of the line.
const LENGTH: f64 = 55.0;
/// How far a line of width 8 reaches to either side of its middle: half of 7 pixels, rounded down and up.
const REACH: [f64; 2] = [3.0, 4.0];

/// Grey values of a picture, row by row from the top; 255 is the rod.
pub type Picture = [u8; PICTURE_SIDE * PICTURE_SIDE];

/// The picture of a pendulum at an angle: it hangs down at zero, and points to the right at a quarter turn.
///
/// ```
/// let hanging = stroock_experiments::synthetic::picture(0.0);
/// assert!(hanging[20 * 24 + 12] > 100 && hanging[3 * 24 + 12] == 0);
/// ```
pub fn picture(angle: f64) -> Picture {
    draw(end(angle), &Lanczos::new(CANVAS, PICTURE_SIDE))
}

/// All pictures of the pendulum, each drawn when it is first asked for.
#[derive(Debug)]
pub struct PictureBook {
    lanczos: Lanczos,
    pages: Vec<OnceLock<Picture>>,
}

impl Default for PictureBook {
    fn default() -> Self {
        let pages = (0..CANVAS * CANVAS).map(|_| OnceLock::new()).collect();
        Self { lanczos: Lanczos::new(CANVAS, PICTURE_SIDE), pages }
    }
}

impl PictureBook {
    /// What [`picture`] gives.
    pub fn picture(&self, angle: f64) -> &Picture {
        let end = end(angle);
        self.pages[end[1] as usize * CANVAS + end[0] as usize].get_or_init(|| draw(end, &self.lanczos))
    }
}

/// Column and row of the end of the line, cut to whole pixels.
fn end(angle: f64) -> [i32; 2] {
    let (sine, cosine) = angle.sin_cos();
    [sine, cosine].map(|x| (x * LENGTH + f64::from(CENTRE)) as i32)
}

fn draw(end: [i32; 2], lanczos: &Lanczos) -> Picture {
    let mut canvas = vec![0.0; CANVAS * CANVAS];
    fill(&corners(end), &mut canvas);
    let small = lanczos.shrink(&canvas, CANVAS);
    let mut picture = [0; PICTURE_SIDE * PICTURE_SIDE];
    // Stored as 8 bit means that the fraction is cut off.
    picture.iter_mut().zip(small).for_each(|(grey, x)| *grey = (255.0 * x.clamp(0.0, 1.0)) as u8);
    picture
}

/// Corners (column, row) of the line from the centre to `end`, one after the other.
fn corners(end: [i32; 2]) -> [[i32; 2]; 4] {
    let along = [end[0] - CENTRE, end[1] - CENTRE];
    let length = f64::from(along[0]).hypot(f64::from(along[1]));
    let [near, far] = REACH.map(|reach| along.map(|x| half_towards_zero(reach / length * f64::from(x))));
    let corner = |from: [i32; 2], dx: i32, dy: i32| [from[0] + dx, from[1] + dy];
    let centre = [CENTRE; 2];
    [
        corner(centre, -near[1], far[0]),
        corner(end, -near[1], far[0]),
        corner(end, far[1], -near[0]),
        corner(centre, far[1], -near[0]),
    ]
}

/// Fills a convex polygon: in every row the pixels from its left edge to its right edge.
fn fill(corners: &[[i32; 2]; 4], canvas: &mut [f32]) {
    for (row, pixels) in canvas.chunks_exact_mut(CANVAS).enumerate() {
        let y = row as i32;
        let (mut left, mut right) = (f64::INFINITY, f64::NEG_INFINITY);
        for (i, &from) in corners.iter().enumerate() {
            let to = corners[(i + 1) % corners.len()];
            if y < from[1].min(to[1]) || y > from[1].max(to[1]) {
                continue;
            }
            let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
            // The division comes last: a half must come out as a half.
            let crossing = |dy: i32| f64::from(from[0]) + f64::from((y - from[1]) * dx) / f64::from(dy);
            let [x, other] = if dy == 0 { [from[0], to[0]].map(f64::from) } else { [crossing(dy); 2] };
            (left, right) = (left.min(x).min(other), right.max(x).max(other));
        }
        if left <= right {
            // A half belongs to the pixel inside.
            let (first, last) = ((left + 0.5).floor(), (right - 0.5).ceil());
            pixels[first.max(0.0) as usize..(last + 1.0).clamp(0.0, CANVAS as f64) as usize].fill(1.0);
        }
    }
}

/// The nearest whole number, of two the one nearer to zero.
fn half_towards_zero(x: f64) -> i32 {
    ((x.abs() - 0.5).ceil().copysign(x)) as i32
}
