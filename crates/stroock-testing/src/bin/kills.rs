//! Kills `stroock fit` and `stroock reproduce` at every call that changes their folders and at random instants, goes on
//! with them, and compares what they end with to runs that were not killed.
//!
//! `kills PROGRAM SCRATCH RESULTS.json [INSTANTS [SEED]]`; `scripts/kills` builds the program and calls this.

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() -> std::io::Result<()> {
    linux::main()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fmt::Write;
    use std::io;
    use std::path::PathBuf;

    use stroock_testing::faults::{Fault, Shim, error_number, signal};
    use stroock_testing::kills::{Campaign, Job, Tally};

    const EPOCHS: u32 = 3;

    /// A few series of two variables, with gaps.
    fn table() -> String {
        let mut text = String::from("sensor,hour,level,flow\n");
        for series in 0..8 {
            for row in 0..12 {
                let hour = f64::from(row) + 0.37 * f64::from((series * 5 + row * 3) % 7) / 7.0;
                let (level, flow) =
                    ((hour + f64::from(series)).sin(), (0.3 * hour * f64::from(series)).cos());
                let flow = if (series + row) % 5 == 0 { String::new() } else { format!("{flow:.4}") };
                let _ = writeln!(text, "s{series},{hour:.3},{level:.4},{flow}");
            }
        }
        text
    }

    /// Writes what was seen of each job, and gives the sum.
    fn write(seen: &[(&str, usize, Tally)], results: &str) -> io::Result<Tally> {
        let (mut all, mut records) = (Tally::default(), serde_json::Map::new());
        for (name, calls, tally) in seen {
            records.insert((*name).into(), serde_json::json!({ "calls": calls, "seen": tally.to_json() }));
            all.add(tally.clone());
        }
        records.insert("kills".into(), all.kills().into());
        records.insert("failed_calls".into(), all.faults().into());
        records.insert("runs_compared".into(), all.compared.into());
        records.insert("defects".into(), all.defects.clone().into());
        std::fs::write(results, serde_json::to_string_pretty(&records)? + "\n")?;
        let (kills, faults, compared, defects) = (all.kills(), all.faults(), all.compared, all.defects.len());
        println!("{kills} kills, {faults} other faults, {compared} runs compared, {defects} defects");
        if let Some(defect) = all.defects.last() {
            println!("  the last of them: {defect}");
        }
        Ok(all)
    }

    pub fn main() -> io::Result<()> {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let [program, scratch, results, more @ ..] = &words[..] else {
            return Err(io::Error::other("kills PROGRAM SCRATCH RESULTS.json [INSTANTS [SEED]]"));
        };
        let number = |place: usize, usual: u64| match more.get(place) {
            Some(text) => text.parse().map_err(|error| io::Error::other(format!("`{text}`: {error}"))),
            None => Ok(usual),
        };
        let (instants, seed) = (number(0, 300)? as usize, number(1, 1)?);
        let (program, scratch) = (PathBuf::from(program).canonicalize()?, PathBuf::from(scratch));
        std::fs::create_dir_all(&scratch)?;
        let shim = Shim::build(&scratch)?;
        let data = scratch.join("table.csv");
        std::fs::write(&data, table())?;
        let data = data.canonicalize()?;
        let faults = [
            Fault::KillBefore,
            Fault::KillAfter,
            Fault::KillHalf,
            Fault::Half,
            Fault::Signal(signal::SIGTERM),
            Fault::Signal(signal::SIGINT),
            Fault::Once(error_number::ENOSPC),
            Fault::From(error_number::ENOSPC),
            Fault::Once(error_number::EIO),
            Fault::From(error_number::EROFS),
        ];
        let mut seen: Vec<(&str, usize, Tally)> = Vec::new();
        for job in [Job::fit(&program, &data, EPOCHS), Job::reproduce(&program, EPOCHS)] {
            let name = job.name;
            let mut campaign = Campaign::begin(job, &shim, &scratch, seed)?;
            let calls = campaign.calls();
            println!("{name}: {calls} calls change the folder");
            seen.push((name, calls, Tally::default()));
            let last = seen.len() - 1;
            for fault in faults {
                campaign.sweep(fault, 1, 1)?;
                println!("{name}: {fault} at every call");
                seen[last].2 = campaign.tally.clone();
                // What was seen so far is kept, should this program be killed itself.
                write(&seen, results)?;
            }
            campaign.at_instants(instants)?;
            seen[last].2 = campaign.tally;
            write(&seen, results)?;
        }
        let all = write(&seen, results)?;
        match all.defects.len() {
            0 => Ok(()),
            count => Err(io::Error::other(format!("{count} defects; the first: {}", all.defects[0]))),
        }
    }
}
