//! The files of a table: named one by one, by their folder, or by a pattern.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::table::TableError;

/// Endings of the files of a folder that are read.
const ENDINGS: [&str; 5] = ["csv", "tsv", "txt", "parquet", "pq"];

/// The files behind the given paths, in order: a folder stands for all tables in it and below it, sorted by their
/// paths, and a pattern (`*`, `?`, `[a-z]`, `**` for folders at any depth) for whatever matches it.
///
/// Names that begin with `.` or `_` are left out, as other programs have them for their own purposes. A file that exists is
/// read, whatever signs its name has.
pub(super) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, TableError> {
    let mut found = Vec::new();
    for path in paths {
        match path.metadata() {
            _ if path == Path::new("-") => found.push(path.clone()),
            Ok(about) if about.is_dir() => found.extend(in_folder(path)?),
            Err(_) if path.components().any(is_pattern) => found.extend(matching(path)?),
            // One that does not exist is told when it is opened.
            _ => found.push(path.clone()),
        }
    }
    Ok(found)
}

/// All tables in a folder and below it.
fn in_folder(folder: &Path) -> Result<Vec<PathBuf>, TableError> {
    let mut found = Vec::new();
    walk(folder, &mut |path, is_folder| {
        if !is_folder && is_table(path) {
            found.push(path.to_owned());
        }
        true
    })?;
    found.sort();
    match found.is_empty() {
        true => Err(TableError::NoTables { place: folder.display().to_string() }),
        false => Ok(found),
    }
}

/// The files that match a pattern, and those of the folders that do.
fn matching(pattern: &Path) -> Result<Vec<PathBuf>, TableError> {
    let parts: Vec<Component<'_>> = pattern.components().collect();
    let first = parts.iter().position(|part| is_pattern(*part)).unwrap_or(parts.len());
    let base: PathBuf = parts[..first].iter().collect();
    let wanted: Vec<String> =
        parts[first..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    let start = if base.as_os_str().is_empty() { Path::new(".") } else { &base };
    let mut found = Vec::new();
    walk(start, &mut |path, is_folder| {
        let below = path.strip_prefix(start).unwrap_or(path);
        let names: Vec<String> =
            below.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        if matches(&wanted, &names) {
            found.push((base.join(below), is_folder));
            // What is below a folder that matches belongs to it.
            return false;
        }
        true
    })?;
    found.sort();
    let mut files = Vec::new();
    for (path, is_folder) in found {
        match is_folder {
            true => files.extend(in_folder(&path)?),
            false => files.push(path),
        }
    }
    match files.is_empty() {
        true => Err(TableError::NoTables { place: pattern.display().to_string() }),
        false => Ok(files),
    }
}

/// Calls `visit` with everything below a folder; whether it is to go on below what was visited.
fn walk(folder: &Path, visit: &mut dyn FnMut(&Path, bool) -> bool) -> Result<(), TableError> {
    let name = folder.display().to_string();
    for entry in fs::read_dir(folder).map_err(TableError::io(&name))? {
        let entry = entry.map_err(TableError::io(&name))?;
        if entry.file_name().to_string_lossy().starts_with(['.', '_']) {
            continue;
        }
        // Links to folders are not followed: they may lead back.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if visit(&entry.path(), is_folder) && is_folder {
            walk(&entry.path(), visit)?;
        }
    }
    Ok(())
}

fn is_table(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

fn is_pattern(part: Component<'_>) -> bool {
    matches!(part, Component::Normal(name) if name.to_string_lossy().contains(['*', '?', '[']))
}

/// Whether names of folders and of a file match the parts of a pattern.
fn matches(pattern: &[String], names: &[String]) -> bool {
    match (pattern.split_first(), names.split_first()) {
        (None, None) => true,
        (Some((any, rest)), _) if any == "**" => {
            (0..=names.len()).any(|skipped| matches(rest, &names[skipped..]))
        }
        (Some((part, rest)), Some((name, others))) => {
            let (part, name): (Vec<char>, Vec<char>) = (part.chars().collect(), name.chars().collect());
            name_matches(&part, &name) && matches(rest, others)
        }
        _ => false,
    }
}

/// Whether a name matches a part of a pattern.
fn name_matches(pattern: &[char], name: &[char]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some(('*', rest)), _) => (0..=name.len()).any(|skipped| name_matches(rest, &name[skipped..])),
        (Some(('?', rest)), Some((_, others))) => name_matches(rest, others),
        (Some(('[', rest)), Some((sign, others))) => match class(rest) {
            Some((class, rest)) => is_in(class, *sign) && name_matches(rest, others),
            None => *sign == '[' && name_matches(rest, others),
        },
        (Some((own, rest)), Some((sign, others))) => own == sign && name_matches(rest, others),
        _ => false,
    }
}

/// The signs between brackets, and what follows these; `None` where no bracket closes.
fn class(pattern: &[char]) -> Option<(&[char], &[char])> {
    // A bracket right at the beginning is one of the signs.
    let end = 1 + pattern.iter().skip(1).position(|sign| *sign == ']')?;
    Some((&pattern[..end], &pattern[end + 1..]))
}

fn is_in(class: &[char], sign: char) -> bool {
    let (is_not, mut class) = match class {
        ['!' | '^', rest @ ..] if !rest.is_empty() => (true, rest),
        _ => (false, class),
    };
    let mut found = false;
    while let Some((first, rest)) = class.split_first() {
        class = match rest {
            ['-', last, rest @ ..] => {
                found |= (*first..=*last).contains(&sign);
                rest
            }
            _ => {
                found |= *first == sign;
                rest
            }
        };
    }
    found != is_not
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, name: &str) -> bool {
        let parts = |text: &str| text.split('/').map(String::from).collect::<Vec<_>>();
        matches(&parts(pattern), &parts(name))
    }

    #[test]
    fn patterns_are_those_of_shells() {
        for (pattern, name) in [
            ("*.csv", "a.csv"),
            ("part-?.parquet", "part-7.parquet"),
            ("part-[0-3][a]*", "part-2a.csv"),
            ("[!b]x", "ax"),
            ("**/*.csv", "a.csv"),
            ("**/*.csv", "2024/01/a.csv"),
            ("20[2-9]?/*", "2024/a.csv"),
            ("a[", "a["),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("*.csv", "a.parquet"), ("*", "a/b"), ("?", ""), ("[!b]x", "bx"), ("[0-3]", "7"), ("a", "aa")]
        {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }
}
