//! Text for HTML.

/// Escapes a text for HTML, in one line: an empty line would end the HTML block in Markdown.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' => escaped += "&#10;",
            other => escaped.push(other),
        }
    }
    escaped
}

/// A text of a scenario as HTML; parts in backticks become code.
#[must_use]
pub fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.trim().split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escape(text);
    }
    let part = |(index, part): (usize, &&str)| match index % 2 {
        0 => escape(part),
        _ => format!("<code>{}</code>", escape(part)),
    };
    parts.iter().enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_in_pairs_are_code() {
        assert_eq!(prose("`a<b` & c\n"), "<code>a&lt;b</code> &amp; c");
        assert_eq!(prose("a ` b"), "a ` b");
    }
}
