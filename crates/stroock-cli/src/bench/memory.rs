//! How much memory the process has had at most.

/// The largest resident memory so far in megabytes (10^6 bytes); `None` where the system does not tell.
pub fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some((kibibytes * 1.024).round() / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_some_memory() {
        // Elsewhere nothing is claimed.
        if let Some(peak) = peak_memory_mb() {
            assert!((0.1..1e6).contains(&peak), "{peak}");
        }
    }
}
