//! How all pictures look: colours, lines, letters.
//!
//! White ground, two thin axes, no boxes and no grids that carry nothing. Colours of groups differ in lightness
//! as well as in hue, so that they stay apart for colour-blind readers and in grey print.

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour {
    /// Red, green and blue.
    pub rgb: [u8; 3],
    /// How much of the ground it covers, from 0 to 1.
    pub opacity: f64,
}

impl Colour {
    /// An opaque colour from `0xRRGGBB`.
    pub const fn hex(code: u32) -> Self {
        Colour { rgb: [(code >> 16) as u8, (code >> 8) as u8, code as u8], opacity: 1.0 }
    }

    /// The same colour with another opacity.
    pub const fn with_opacity(self, opacity: f64) -> Self {
        Colour { opacity, ..self }
    }

    /// The colour with a part `share` of `other` in it, opaque; mixed in OKLab, which keeps hues.
    pub fn mixed(self, other: Colour, share: f64) -> Self {
        let (from, to) = (oklab(self.rgb), oklab(other.rgb));
        let share = share.clamp(0.0, 1.0);
        let lab = [0, 1, 2].map(|axis| from[axis] + share * (to[axis] - from[axis]));
        Colour { rgb: srgb(lab), opacity: 1.0 }
    }

    /// As `#rrggbb`.
    ///
    /// ```
    /// use stroock_figures::theme::Colour;
    /// assert_eq!(Colour::hex(0x0072b2).to_hex(), "#0072b2");
    /// ```
    pub fn to_hex(self) -> String {
        let [r, g, b] = self.rgb;
        format!("#{r:02x}{g:02x}{b:02x}")
    }
}

/// The ground.
pub const PAPER: Colour = Colour::hex(0xffffff);
/// Letters, and data points.
pub const INK: Colour = Colour::hex(0x1f2328);
/// Letters of less weight.
pub const GREY: Colour = Colour::hex(0x57606a);
/// Axes and ticks.
pub const AXIS: Colour = Colour::hex(0x6e7781);
/// Lines that should hardly be seen.
pub const FAINT: Colour = Colour::hex(0xe4e7ea);
/// Ground of a region that is set apart.
pub const SHADE: Colour = Colour::hex(0xf3f1ec);

/// Colours of groups, in order of use: those of Okabe and Ito, with the yellow darkened for white ground.
pub const PALETTE: [Colour; 8] = [
    Colour::hex(0x0072b2),
    Colour::hex(0xd55e00),
    Colour::hex(0x009e73),
    Colour::hex(0xcc79a7),
    Colour::hex(0xe69f00),
    Colour::hex(0x56b4e9),
    Colour::hex(0x6e4aa5),
    Colour::hex(0x8c8c8c),
];

/// Colour of group `index`; from the ninth on they come again.
pub fn palette(index: usize) -> Colour {
    PALETTE[index % PALETTE.len()]
}

/// Width of axes and ticks.
pub const AXIS_WIDTH: f64 = 0.8;
/// Width of a line that carries data.
pub const LINE_WIDTH: f64 = 1.4;
/// Size of the numbers at ticks.
pub const TICK_SIZE: f64 = 10.0;
/// Size of the names of axes, and of legends.
pub const LABEL_SIZE: f64 = 11.0;
/// Size of titles.
pub const TITLE_SIZE: f64 = 12.0;
/// Width of a picture unless something else is asked for, in CSS pixels (1/96 inch).
pub const WIDTH: f64 = 720.0;
/// Pixels of a PNG in one CSS pixel, along each axis.
pub const PIXELS: u32 = 2;

/// A continuous scale of colours over `[0, 1]` whose lightness only rises or only falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourMap {
    /// From dark to light, for lines on white ground: indigo, blue, green, amber.
    Dusk,
    /// From white to dark, for densities: white, blue, navy.
    Depth,
}

impl ColourMap {
    /// The colour at `position`, which is cut to `[0, 1]`.
    pub fn at(self, position: f64) -> Colour {
        const DUSK: [Colour; 5] = [
            Colour::hex(0x352a6e),
            Colour::hex(0x2a5f9e),
            Colour::hex(0x1f9296),
            Colour::hex(0x77b84f),
            Colour::hex(0xf2bd3d),
        ];
        const DEPTH: [Colour; 5] = [
            Colour::hex(0xffffff),
            Colour::hex(0xcfe0ef),
            Colour::hex(0x86b5da),
            Colour::hex(0x2f78b7),
            Colour::hex(0x0b2f63),
        ];
        let stops = match self {
            ColourMap::Dusk => &DUSK,
            ColourMap::Depth => &DEPTH,
        };
        let along = position.clamp(0.0, 1.0) * (stops.len() - 1) as f64;
        let first = (along as usize).min(stops.len() - 2);
        stops[first].mixed(stops[first + 1], along - first as f64)
    }
}

/// From sRGB to OKLab (Ottosson 2020).
fn oklab(rgb: [u8; 3]) -> [f64; 3] {
    let [r, g, b] = rgb.map(|channel| {
        let value = f64::from(channel) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    });
    let l = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b).cbrt();
    let m = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b).cbrt();
    let s = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b).cbrt();
    [
        0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
    ]
}

/// From OKLab to sRGB; what lies outside is cut.
fn srgb([light, a, b]: [f64; 3]) -> [u8; 3] {
    let l = (light + 0.3963377774 * a + 0.2158037573 * b).powi(3);
    let m = (light - 0.1055613458 * a - 0.0638541728 * b).powi(3);
    let s = (light - 0.0894841775 * a - 1.2914855480 * b).powi(3);
    let linear = [
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
    ];
    linear.map(|value| {
        let value = value.clamp(0.0, 1.0);
        let value = if value <= 0.0031308 { 12.92 * value } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 };
        (255.0 * value).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_survive_the_way_to_oklab_and_back() {
        for colour in PALETTE.into_iter().chain([INK, PAPER, Colour::hex(0)]) {
            assert_eq!(srgb(oklab(colour.rgb)), colour.rgb);
        }
    }

    #[test]
    fn lightness_of_a_colour_map_is_monotone() {
        for (map, sign) in [(ColourMap::Dusk, 1.0), (ColourMap::Depth, -1.0)] {
            let lightness: Vec<f64> =
                (0..=40).map(|step| sign * oklab(map.at(f64::from(step) / 40.0).rgb)[0]).collect();
            assert!(lightness.is_sorted(), "{map:?}: {lightness:?}");
            assert!(lightness[40] - lightness[0] > 0.4, "{map:?} has too little contrast");
        }
    }

    #[test]
    fn groups_used_first_differ_in_lightness() {
        let [a, b] = [PALETTE[0], PALETTE[1]].map(|colour| oklab(colour.rgb)[0]);
        assert!((a - b).abs() > 0.05, "{a} {b}");
    }
}
