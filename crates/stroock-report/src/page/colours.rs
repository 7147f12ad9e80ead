//! The colours of the page by day and by night, from the theme of the figures.

use serde::Serialize;
use stroock_figures::theme::{AXIS, Colour, ColourMap, FAINT, GREY, INK, PALETTE, PAPER, SHADE};

/// Colours by time of the paths on the sphere; as many as the script has levels.
const LEVELS: usize = 24;
/// Share of the ball's colour in what lies on its far side.
const VEIL: f64 = 0.66;

/// The colours that do not carry data.
struct Grounds {
    paper: Colour,
    /// Ground of boxes.
    card: Colour,
    ink: Colour,
    grey: Colour,
    axis: Colour,
    faint: Colour,
    shade: Colour,
    /// What colours of data are mixed with, and how much of it: the dark ones are too dark by night.
    light: (Colour, f64),
    /// How much of the colour of the mean is in its bands, from the widest on.
    bands: [f64; 3],
}

const DAY: Grounds = Grounds {
    paper: PAPER,
    card: Colour::hex(0xf8f9fa),
    ink: INK,
    grey: GREY,
    axis: AXIS,
    faint: FAINT,
    shade: SHADE,
    light: (PAPER, 0.0),
    bands: [0.2, 0.33, 0.46],
};
const NIGHT: Grounds = Grounds {
    paper: Colour::hex(0x14181d),
    card: Colour::hex(0x1b2026),
    ink: Colour::hex(0xe6e9ec),
    grey: Colour::hex(0xa9b2bc),
    axis: Colour::hex(0x7d8894),
    faint: Colour::hex(0x2b323a),
    shade: Colour::hex(0x22262a),
    light: (PAPER, 0.3),
    bands: [0.26, 0.42, 0.56],
};

impl Grounds {
    /// The colour of group `index`.
    fn group(&self, index: usize) -> Colour {
        PALETTE[index].mixed(self.light.0, self.light.1)
    }

    fn variables(&self) -> String {
        let named = [
            ("paper", self.paper),
            ("card", self.card),
            ("ink", self.ink),
            ("grey", self.grey),
            ("axis", self.axis),
            ("faint", self.faint),
            ("shade", self.shade),
            // Links are read as text, which needs more contrast than a line.
            ("link", self.group(0).mixed(self.ink, 0.15)),
        ];
        let named = named.into_iter().map(|(name, colour)| format!("--{name}:{};", colour.to_hex()));
        let groups =
            (0..PALETTE.len()).map(|index| format!("--colour{index}:{};", self.group(index).to_hex()));
        let bands = self.bands.into_iter().enumerate();
        let bands = bands.map(|(rank, share)| {
            format!("--band{rank}:{};", self.paper.mixed(self.group(0), share).to_hex())
        });
        named.chain(groups).chain(bands).collect()
    }
}

/// The variables of the style sheet.
pub(super) fn variables() -> String {
    let (day, night) = (DAY.variables(), NIGHT.variables());
    let dusk: Vec<String> = by_time(&Sphere::DAY).iter().map(|colour| colour.to_hex()).collect();
    let dusk_night: Vec<String> = by_time(&Sphere::NIGHT).iter().map(|colour| colour.to_hex()).collect();
    let bar = |colours: &[String]| format!("--dusk:linear-gradient(to right,{});", colours.join(","));
    // Paper is white at any hour.
    format!(
        ":root{{{day}{}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{night}{}}}}}\n",
        bar(&dusk),
        bar(&dusk_night)
    )
}

/// The colours of the sphere, which is drawn by the script alone.
#[derive(Serialize)]
pub(super) struct Sphere {
    /// The ball, from the lit side to the rim.
    ball: [String; 3],
    rim: String,
    /// Graticule on the near and on the far side.
    grid: [String; 2],
    ink: String,
    /// Colours of the paths by time, on the near and on the far side.
    near: Vec<String>,
    far: Vec<String>,
}

struct Ball {
    stops: [u32; 3],
    rim: u32,
    grid: [u32; 2],
    ink: Colour,
    /// How much the dark end of the scale is lightened.
    lightened: f64,
}

impl Sphere {
    const DAY: Ball = Ball {
        stops: [0xffffff, 0xf4f6f8, 0xd3dae1],
        rim: 0x9aa4ae,
        grid: [0xc6ced6, 0xe0e5ea],
        ink: INK,
        lightened: 0.0,
    };
    const NIGHT: Ball = Ball {
        stops: [0x2c343d, 0x232a32, 0x171c22],
        rim: 0x5b6672,
        grid: [0x48525d, 0x303841],
        ink: NIGHT.ink,
        lightened: 0.5,
    };

    /// The sphere by day and by night.
    pub(super) fn day_and_night() -> [Sphere; 2] {
        [Sphere::DAY, Sphere::NIGHT].map(|ball| {
            let near = by_time(&ball);
            let veiled = |colour: &Colour| colour.mixed(Colour::hex(ball.stops[1]), VEIL).to_hex();
            Sphere {
                ball: ball.stops.map(|stop| Colour::hex(stop).to_hex()),
                rim: Colour::hex(ball.rim).to_hex(),
                grid: ball.grid.map(|line| Colour::hex(line).to_hex()),
                ink: ball.ink.to_hex(),
                far: near.iter().map(veiled).collect(),
                near: near.iter().map(|colour| colour.to_hex()).collect(),
            }
        })
    }
}

fn by_time(ball: &Ball) -> Vec<Colour> {
    let share = |level: usize| level as f64 / (LEVELS - 1) as f64;
    let colour = |level| ColourMap::Dusk.at(share(level)).mixed(PAPER, ball.lightened * (1.0 - share(level)));
    (0..LEVELS).map(colour).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contrast of two colours as the guidelines for accessible pages define it (WCAG 2).
    fn contrast(a: Colour, b: Colour) -> f64 {
        let light = |colour: Colour| {
            let [r, g, b] = colour.rgb.map(|channel| {
                let value = f64::from(channel) / 255.0;
                if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            });
            0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
        };
        let (a, b) = (light(a), light(b));
        a.max(b) / a.min(b)
    }

    #[test]
    fn letters_and_lines_can_be_read_by_day_and_by_night() {
        for grounds in [DAY, NIGHT] {
            for ground in [grounds.paper, grounds.card, grounds.shade] {
                assert!(contrast(grounds.ink, ground) > 7.0);
                assert!(contrast(grounds.grey, ground) > 4.5);
                assert!(contrast(grounds.group(0).mixed(grounds.ink, 0.15), ground) > 4.5);
            }
            for index in [0, 1] {
                assert!(contrast(grounds.group(index), grounds.paper) > 3.0);
            }
        }
    }
}
