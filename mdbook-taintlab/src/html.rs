//! Text for HTML.

/// A text as HTML shows it, in one line: an empty line would end the HTML block in Markdown.
pub(crate) fn escape(text: &str) -> String {
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
