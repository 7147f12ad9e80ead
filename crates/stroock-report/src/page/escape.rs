//! Texts of the user, made harmless for the places where they stand.

use serde::Serialize;

use crate::ReportError;

/// A text for HTML, between tags or inside of a quoted attribute.
pub(super) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\n' | '\t' => out.push(letter),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

/// Data as JSON inside of a `script` element: without signs that could end the element, or a line of a script.
pub(super) fn json(data: &impl Serialize) -> Result<String, ReportError> {
    let plain = serde_json::to_string(data)?;
    let mut out = String::with_capacity(plain.len());
    for letter in plain.chars() {
        match letter {
            // Outside of strings JSON has none of these.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out += &format!("\\u{:04x}", letter as u32),
            letter => out.push(letter),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_leave_their_place() {
        assert_eq!(
            html("<b title=\"x\" id='y'>&\u{0}"),
            "&lt;b title=&quot;x&quot; id=&#39;y&#39;&gt;&amp; "
        );
    }

    #[test]
    fn json_reads_back_as_it_was() {
        let text = "</script><!-- \u{2028}&\u{2029} \"'\\";
        let json = json(&text).unwrap();
        assert!(!json.contains(['<', '>', '&', '\u{2028}', '\u{2029}']));
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
