//! The known name closest to a misspelt one.

/// The name with the fewest edits to `given`, if they are few enough to be a slip.
pub(super) fn closest<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (given.chars().count() / 2).clamp(1, 3);
    let distances = names.into_iter().map(|name| (edits(given, name), name));
    distances
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Insertions, deletions and replacements from one text to the other, whatever the case of the letters.
fn edits(from: &str, to: &str) -> usize {
    let (from, to) = (from.to_lowercase(), to.to_lowercase());
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        let names = ["Glucose", "Lactate", "HR", "K"];
        assert_eq!(closest("Glucos", names), Some("Glucose"));
        assert_eq!(closest("hr", names), Some("HR"));
        assert_eq!(closest("Temperature", names), None);
        assert_eq!(closest("", []), None);
    }
}
