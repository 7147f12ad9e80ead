//! Text in columns and in lines of a certain width, whatever the script.

/// Characters of a line of a terminal.
pub(super) const WIDTH: usize = 100;

/// Places a character takes on a terminal: none for marks that sit on another, two for the wide scripts.
fn char_width(character: char) -> usize {
    match character as u32 {
        0x300..=0x36f | 0x483..=0x489 | 0x591..=0x5bd | 0x610..=0x61a | 0x64b..=0x65f => 0,
        0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff | 0xfe20..=0xfe2f => 0,
        0x200b..=0x200f | 0x2060 | 0xfe00..=0xfe0f | 0xfeff | 0x1f3fb..=0x1f3ff => 0,
        0x1100..=0x115f | 0x2e80..=0x303e | 0x3041..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff => 2,
        0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// Places a text takes on a terminal.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// A name in one line: line ends, tabs and other control characters become spaces.
pub(super) fn one_line(name: &str) -> String {
    name.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// The text, cut to `limit` places with an ellipsis towards its end where it is longer: names that begin
/// alike tend to end differently.
pub(super) fn cut(text: &str, limit: usize) -> String {
    if width(text) <= limit {
        return text.into();
    }
    let tail_limit = limit.saturating_sub(1) / 3;
    let tail: Vec<char> = within(text.chars().rev(), tail_limit).collect();
    let head = within(text.chars(), limit.saturating_sub(1 + tail_limit));
    head.chain(['…']).chain(tail.into_iter().rev()).collect()
}

/// The characters that fit into `limit` places.
fn within(characters: impl Iterator<Item = char>, limit: usize) -> impl Iterator<Item = char> {
    let mut taken = 0;
    characters.take_while(move |character| {
        taken += char_width(*character);
        taken <= limit
    })
}

/// Places that a grid of these rows leaves for its first column.
pub(super) fn place_for_names(rows: &[Vec<String>], indent: usize) -> usize {
    let others: usize = column_widths(rows).iter().skip(1).map(|width| width + 2).sum();
    WIDTH.saturating_sub(others + indent)
}

fn column_widths(rows: &[Vec<String>]) -> Vec<usize> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let column =
        |column: usize| rows.iter().filter_map(move |row| row.get(column)).map(|cell| width(cell)).max();
    (0..count).map(|index| column(index).unwrap_or(0)).collect()
}

/// Rows of equal length as lines: the first column to the left and cut to what the others leave, the others
/// to the right.
pub(super) fn grid(rows: &[Vec<String>], indent: usize) -> Vec<String> {
    let widths = column_widths(rows);
    let first = widths.first().map_or(0, |first| (*first).min(place_for_names(rows, indent)).max(8));
    let line = |row: &Vec<String>| {
        let mut line = " ".repeat(indent);
        for (column, cell) in row.iter().enumerate() {
            if column == 0 {
                let name = cut(cell, first);
                line.push_str(&name);
                line.push_str(&" ".repeat(first - width(&name).min(first)));
            } else {
                line.push_str(&" ".repeat(2 + widths[column] - width(cell)));
                line.push_str(cell);
            }
        }
        line.trim_end().to_string()
    };
    rows.iter().map(line).collect()
}

/// `heading` and the words of `text` in lines, those after the first indented by `indent`. A word that is
/// longer than a line has it for itself.
pub(super) fn paragraph(heading: &str, text: &str, indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = heading.to_string();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        if !is_empty && width(&line) + 1 + width(word) > WIDTH {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_have_their_widths() {
        assert_eq!(width("PM2.5 µg/m³"), 11);
        assert_eq!(width("温度"), 4);
        assert_eq!(width("e\u{301}"), 1);
        assert_eq!(cut("温度计读数", 8), "温度…数");
        assert_eq!(cut("temperature 7", 8), "tempe… 7");
        assert_eq!(cut("short", 6), "short");
    }

    #[test]
    fn columns_stand_below_each_other() {
        let row = |cells: &[&str]| cells.iter().map(|cell| cell.to_string()).collect::<Vec<_>>();
        let lines = grid(&[row(&["name", "n"]), row(&["温度", "12"]), row(&["x", "3"])], 2);
        assert_eq!(lines, ["  name       n", "  温度      12", "  x          3"]);
    }

    #[test]
    fn paragraphs_keep_to_the_width() {
        let lines = paragraph("  - ", &"word ".repeat(60), 4);
        assert!(lines.len() > 2 && lines.iter().all(|line| width(line) <= WIDTH));
        assert!(lines[1].starts_with("    word"));
    }
}
