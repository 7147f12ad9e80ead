//! Round numbers along an axis, and how they are written.

use std::f64::consts::PI;

use super::{Axis, Limits, MARGIN, Scale};
use crate::picture::{Weight, width_of};
use crate::theme::TICK_SIZE;

/// A number with a mark at the axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub value: f64,
    pub label: String,
}

/// The marks of an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ticks {
    pub major: Vec<Tick>,
    /// Marks without a number.
    pub minor: Vec<f64>,
}

impl Ticks {
    /// Ticks of a horizontal axis: as many as there is room for beside each other.
    pub fn across(axis: &Axis) -> Ticks {
        let most = (axis.length() / 36.0).clamp(2.0, 8.0) as usize;
        let fits = |ticks: &Ticks| {
            ticks.major.windows(2).all(|pair| {
                let gap = (axis.place(pair[1].value) - axis.place(pair[0].value)).abs();
                gap >= (width(&pair[0]) + width(&pair[1])) / 2.0 + 8.0
            })
        };
        let mut ticks = Ticks::default();
        for count in (1..=most).rev() {
            ticks = Ticks::new(axis.scale, axis.limits, count);
            if fits(&ticks) {
                break;
            }
        }
        if !fits(&ticks) {
            ticks.major.truncate(1);
        }
        // A number that would stick out of the picture is left out, its mark stays.
        for tick in &mut ticks.major {
            if axis.place(tick.value) + width(tick) / 2.0 > axis.to.max(axis.from) + MARGIN {
                tick.label.clear();
            }
        }
        ticks
    }

    /// Ticks of a vertical axis of this length.
    pub fn up(scale: Scale, limits: Limits, length: f64) -> Ticks {
        Ticks::new(scale, limits, (length / 22.0).clamp(2.0, 6.0) as usize)
    }

    /// About `count` ticks.
    pub fn new(scale: Scale, limits: Limits, count: usize) -> Ticks {
        match scale {
            Scale::Linear => Ticks { major: linear(limits, count), minor: Vec::new() },
            Scale::Logarithmic => logarithmic(limits, count),
        }
    }

    /// Width of the widest number.
    pub fn width(&self) -> f64 {
        self.major.iter().map(width).fold(0.0, f64::max)
    }
}

fn width(tick: &Tick) -> f64 {
    width_of(&tick.label, TICK_SIZE, Weight::Regular)
}

/// At most `count + 1` multiples of 1, 2, 2.5 or 5 times a power of ten.
fn linear(limits: Limits, count: usize) -> Vec<Tick> {
    let least = limits.span() / count.max(1) as f64;
    let power = least.log10().floor();
    // Of the candidates, some power of ten is enough even when the logarithm was rounded.
    let step = [1.0, 2.0, 2.5, 5.0, 10.0, 20.0]
        .map(|digit| digit * 10f64.powf(power))
        .into_iter()
        .find(|step| *step >= least * (1.0 - 1e-9))
        .unwrap_or(least);
    let slack = 1e-6;
    let first = (limits.low / step - slack).ceil();
    let last = (limits.high / step + slack).floor();
    // Where numbers are so large that steps are lost, there are no ticks rather than wrong ones.
    if !(first.abs() < 1e12 && last.abs() < 1e12 && last - first < 100.0) {
        return Vec::new();
    }
    let values: Vec<f64> = (first as i64..=last as i64).map(|index| index as f64 * step).collect();
    let largest = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    // Powers of ten are for sizes; numbers that differ in late digits only are easier to read in full.
    let sized = largest >= 1e7 || step < 0.99e-4;
    let late = largest > 1e4 * step && (1e-4..1e12).contains(&largest) && step > 1e-6;
    let label =
        |value: f64| if sized && !late { scientific(value, step) } else { fixed(value, decimals(step)) };
    values.into_iter().map(|value| Tick { value, label: label(value) }).collect()
}

/// Decimals that tell multiples of `step` apart.
fn decimals(step: f64) -> usize {
    // 2.5 times a power of ten needs one more than the power.
    let whole = |decimals: &i32| {
        let scaled = step * 10f64.powi(*decimals);
        (scaled - scaled.round()).abs() < 1e-6 * scaled && scaled > 0.5
    };
    (0..15).find(whole).unwrap_or(15) as usize
}

/// Numbers with as many decimals as any of them needs, four digits at most.
pub(crate) fn evenly(values: impl Iterator<Item = f64> + Clone) -> Vec<String> {
    let shown: Vec<String> = values.clone().map(plain).collect();
    if shown.iter().any(|text| text.contains('×')) {
        return shown;
    }
    let decimals = |text: &String| text.find('.').map_or(0, |point| text.len() - point - 1);
    let most = shown.iter().map(decimals).max().unwrap_or(0);
    values.map(|value| fixed(value, most)).collect()
}

/// Powers of ten; between them, where they are few, twice and five times them.
fn logarithmic(limits: Limits, count: usize) -> Ticks {
    let slack = 1e-9;
    let first = (limits.low.log10() - slack).ceil() as i32;
    let last = (limits.high.log10() + slack).floor() as i32;
    let decades = (last - first + 1).max(0) as usize;
    let inside = |value: &f64| (limits.low * (1.0 - slack)..=limits.high * (1.0 + slack)).contains(value);
    let multiples = |digits: &[f64]| -> Vec<f64> {
        let powers = (first - 1)..=last;
        let all = powers.flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)));
        all.filter(inside).collect()
    };
    let written = |values: Vec<f64>| {
        let large = values.iter().any(|value| !(0.99e-3..1.1e4).contains(value));
        let label = |value: f64| if large { scientific(value, value) } else { plain(value) };
        values.into_iter().map(|value| Tick { value, label: label(value) }).collect::<Vec<Tick>>()
    };
    if decades <= 2 {
        let some = multiples(&[1.0, 2.0, 5.0]);
        if some.len() < 2 {
            // Less than a factor of three or so: as good as linear.
            return Ticks { major: linear(limits, count), minor: Vec::new() };
        }
        let minor = multiples(&[3.0, 4.0, 6.0, 7.0, 8.0, 9.0]);
        return Ticks { major: written(some), minor };
    }
    let every = decades.div_ceil(count.max(2)) as i32;
    let powers: Vec<i32> = (first..=last).filter(|power| power.rem_euclid(every) == 0).collect();
    let minor = if every > 1 {
        (first..=last).filter(|power| power.rem_euclid(every) != 0).map(|power| 10f64.powi(power)).collect()
    } else if decades <= 5 {
        multiples(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])
    } else {
        Vec::new()
    };
    Ticks { major: written(powers.into_iter().map(|power| 10f64.powi(power)).collect()), minor }
}

/// Ticks of angles from -π to π.
pub(crate) fn pi_ticks() -> Ticks {
    let labels = [(-1.0, "−π"), (-0.5, "−π/2"), (0.0, "0"), (0.5, "π/2"), (1.0, "π")];
    let tick = |(share, label): (f64, &str)| Tick { value: share * PI, label: label.to_owned() };
    Ticks { major: labels.map(tick).to_vec(), minor: Vec::new() }
}

/// A number with as many digits as it needs, four at most.
pub(crate) fn plain(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let power = value.abs().log10().floor();
    if !(-4.0..7.0).contains(&power) {
        return scientific(value, value * 1e-3);
    }
    let text = format!("{value:.*}", (3.0 - power).clamp(0.0, 15.0) as usize);
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    grouped(text)
}

fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let is_zero = text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
    grouped(if is_zero { text.trim_start_matches('-') } else { &text })
}

/// With a sign of minus, and thin spaces between groups of three digits from 10 000 on.
fn grouped(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("−", digits));
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut out = sign.to_owned();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && whole.len() > 4 && (whole.len() - index) % 3 == 0 {
            out.push('\u{2009}');
        }
        out.push(digit);
    }
    out + rest
}

/// Digits times a power of ten, with digits down to `step`.
fn scientific(value: f64, step: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    // The slack keeps 0.000999..., which stands for 0.001, from the next lower power.
    let power = (value.abs().log10() + 1e-9).floor();
    let digits = (power - (step.abs().log10() + 1e-9).floor()).clamp(0.0, 15.0) as usize;
    let text = format!("{:.digits$}", value / 10f64.powf(power));
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    let power = format!("10{}", superscript(power as i32));
    match text {
        "1" => power,
        "-1" => format!("−{power}"),
        _ => format!("{}×{power}", grouped(text)),
    }
}

fn superscript(number: i32) -> String {
    let raised = |letter| match letter {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32(digit as u32 - '0' as u32 + '⁰' as u32).unwrap_or(digit),
    };
    number.to_string().chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, low: f64, high: f64, count: usize) -> Vec<String> {
        Ticks::new(scale, Limits { low, high }, count).major.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn linear_ticks_are_round() {
        assert_eq!(labels(Scale::Linear, 0.0, 1.0, 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(Scale::Linear, -12.0, 11.0, 5), ["−10", "−5", "0", "5", "10"]);
        assert_eq!(labels(Scale::Linear, 0.0, 25_000.0, 3), ["0", "10\u{2009}000", "20\u{2009}000"]);
        assert_eq!(labels(Scale::Linear, 0.0, 3.1e-5, 3), ["0", "2×10⁻⁵"]);
        assert_eq!(labels(Scale::Linear, 0.0, 3.9e8, 4), ["0", "10⁸", "2×10⁸", "3×10⁸"]);
        assert_eq!(labels(Scale::Linear, 75.0, 195.0, 5), ["75", "100", "125", "150", "175"]);
        assert_eq!(labels(Scale::Linear, 0.0, 0.9, 4), ["0.00", "0.25", "0.50", "0.75"]);
        assert_eq!(labels(Scale::Linear, 2e8, 2e8 + 2.0, 2).first().unwrap(), "200\u{2009}000\u{2009}000");
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten() {
        assert_eq!(labels(Scale::Logarithmic, 0.004, 30.0, 6), ["0.01", "0.1", "1", "10"]);
        assert_eq!(labels(Scale::Logarithmic, 0.8e-6, 2.0, 4), ["10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"]);
        assert_eq!(labels(Scale::Logarithmic, 0.015, 0.06, 4), ["0.02", "0.05"]);
        assert_eq!(labels(Scale::Logarithmic, 0.0022, 0.0041, 4), ["0.0025", "0.0030", "0.0035", "0.0040"]);
    }

    #[test]
    fn any_limits_have_few_ticks_inside_of_them() {
        for power in -90..90 {
            let high = 3.7 * 10f64.powi(power);
            for (low, scale) in
                [(-0.7 * high, Scale::Linear), (0.3 * high, Scale::Linear), (1e-3 * high, Scale::Logarithmic)]
            {
                for count in 1..9 {
                    let ticks = Ticks::new(scale, Limits { low, high }, count);
                    assert!(ticks.major.len() <= count + 3, "{low} {high} {count} {ticks:?}");
                    let inside =
                        |tick: &Tick| tick.value >= low - 1e-5 * high && tick.value <= high * 1.00001;
                    assert!(ticks.major.iter().all(inside));
                }
            }
        }
    }

    #[test]
    fn times_in_a_row_have_the_same_decimals() {
        assert_eq!(evenly([0.0, 0.25, 1.0, 12.5].into_iter()), ["0.00", "0.25", "1.00", "12.50"]);
        assert_eq!(evenly([0.0, 24.0].into_iter()), ["0", "24"]);
    }

    #[test]
    fn plain_numbers_have_few_digits() {
        for (value, text) in
            [(0.00153, "0.00153"), (11.5, "11.5"), (1234.5678, "1235"), (-2.0, "−2"), (90.6, "90.6")]
        {
            assert_eq!(plain(value), text);
        }
    }
}
