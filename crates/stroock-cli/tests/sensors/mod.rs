//! A table of invented sensors: three variables at times of their own, with gaps, and a state that shows.

use std::fmt::Write;

use rand_core::Rng;
use stroock_kernels::noise::{NoiseKey, Purpose};

/// The class of a sensor by its name.
pub fn state(sensor: &str) -> &'static str {
    let number: usize = sensor.trim_start_matches("sensor ").parse().unwrap();
    if number.is_multiple_of(2) { "calm" } else { "restless" }
}

/// So many sensors as CSV: `sensor,hour,state,temperature,pressure,power`.
pub fn sensors(count: usize) -> String {
    let mut table = String::from("sensor,hour,state,temperature,pressure,power\n");
    for number in 0..count {
        let sensor = format!("sensor {number}");
        let mut stream = NoiseKey::new(3, 0).stream(Purpose::Caller, number as u32, 0);
        let mut uniform = || (stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let phase = std::f64::consts::TAU * uniform();
        let speed = if state(&sensor) == "calm" { 0.1 } else { 0.5 };
        let mut hour = 2.0 * uniform();
        while hour < 48.0 {
            let wave = (speed * hour + phase).sin();
            let values = [20.0 + 5.0 * wave, 1000.0 + 8.0 * wave * wave, 2.0 + wave + 0.1 * uniform()];
            write!(table, "{sensor},{hour:.2},{}", state(&sensor)).unwrap();
            for value in values {
                match uniform() < 0.3 {
                    true => table.push(','),
                    false => write!(table, ",{value:.3}").unwrap(),
                }
            }
            table.push('\n');
            hour += 0.5 + 2.0 * uniform();
        }
    }
    table
}
