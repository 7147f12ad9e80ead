//! How many threads a process should have.

use std::fs;
use std::thread::available_parallelism;

/// The threads of one of so many processes on this machine. Where the launcher has bound processes to cores of their own,
/// these are all they have; where it has not, they share.
pub fn share_of_cores(processes: usize) -> usize {
    let own = available_parallelism().map_or(1, usize::from);
    share(own, online().unwrap_or(own), processes)
}

/// The share of a process that may run on `own` of `all` cores.
fn share(own: usize, all: usize, processes: usize) -> usize {
    if own * processes <= all { own } else { (all / processes.max(1)).clamp(1, own) }
}

/// The cores of this machine, where the system says how many.
fn online() -> Option<usize> {
    count(fs::read_to_string("/sys/devices/system/cpu/online").ok()?.trim())
}

/// The length of a list such as `0-3,8,10-11`.
fn count(list: &str) -> Option<usize> {
    let length = |range: &str| -> Option<usize> {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        (last.parse::<usize>().ok()? + 1).checked_sub(first.parse().ok()?)
    };
    list.split(',').map(length).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores_are_counted() {
        assert_eq!(["0", "0-1", "0-3,8,10-11"].map(count), [Some(1), Some(2), Some(7)]);
        assert_eq!(["", "a", "3-1"].map(count), [None; 3]);
    }

    #[test]
    fn bound_processes_use_their_cores_and_others_share() {
        assert_eq!(share(1, 2, 2), 1, "bound to one core each");
        assert_eq!(share(4, 8, 2), 4, "bound to four cores each");
        assert_eq!(share(8, 8, 3), 2, "not bound");
        assert_eq!(share(2, 2, 4), 1, "more processes than cores");
        assert_eq!(share(2, 64, 4), 2, "a limit that is not about cores");
        assert_eq!(share(8, 8, 1), 8);
    }
}
