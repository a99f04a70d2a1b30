//! Text aligned in columns, and ages.

use std::time::Duration;

/// Aligns lines whose cells are separated by tabs. A column is as wide as its widest cell in the
/// adjacent lines that have it too, plus `padding`, and at least `minimum`; the last cell of a line
/// belongs to no column. Mirrors `text/tabwriter`.
pub(crate) fn align(text: &str, minimum: usize, padding: usize) -> String {
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    let mut out = String::with_capacity(text.len() * 2);
    let mut widths: Vec<Vec<usize>> =
        lines.iter().map(|line| Vec::with_capacity(line.len())).collect();
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    for column in 0..columns {
        let mut start = 0;
        while start < lines.len() {
            let block = lines.iter().skip(start).take_while(|line| line.len() > column + 1);
            let (mut length, mut width) = (0, minimum);
            for line in block {
                length += 1;
                let cell = line.get(column).map_or(0, |cell| cell.chars().count());
                width = width.max(cell + padding);
            }
            for widths in widths.iter_mut().skip(start).take(length) {
                widths.push(width);
            }
            start += length.max(1);
        }
    }
    for (line, widths) in lines.iter().zip(&widths) {
        for (index, cell) in line.iter().enumerate() {
            out.push_str(cell);
            if let Some(width) = widths.get(index) {
                let used = cell.chars().count();
                out.extend(std::iter::repeat_n(' ', width.saturating_sub(used)));
            }
        }
        out.push('\n');
    }
    out
}

/// Lays out a table as `kubectl get` prints it.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let lines: Vec<String> = rows.iter().map(|row| row.join("\t")).collect();
    if lines.is_empty() { String::new() } else { align(&(lines.join("\n") + "\n"), 6, 3) }
}

/// A duration in at most two units. Mirrors `duration.HumanDuration`.
pub(crate) fn human_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds < 60 * 2 {
        return format!("{seconds}s");
    }
    let two = |large: u64, unit: char, small: u64, other: char| {
        if small == 0 { format!("{large}{unit}") } else { format!("{large}{unit}{small}{other}") }
    };
    let minutes = seconds / 60;
    if minutes < 10 {
        return two(minutes, 'm', seconds % 60, 's');
    }
    if minutes < 60 * 3 {
        return format!("{minutes}m");
    }
    let hours = minutes / 60;
    if hours < 8 {
        return two(hours, 'h', minutes % 60, 'm');
    }
    if hours < 48 {
        return format!("{hours}h");
    }
    if hours < 24 * 8 {
        return two(hours / 24, 'd', hours % 24, 'h');
    }
    if hours < 24 * 365 * 2 {
        return format!("{}d", hours / 24);
    }
    let days = hours / 24;
    if days < 365 * 8 {
        return two(days / 365, 'y', days % 365, 'd');
    }
    format!("{}y", days / 365)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cases of `TestHumanDuration`.
    #[test]
    fn human_durations() {
        const HOUR: u64 = 3600;
        const DAY: u64 = 24 * HOUR;
        for (seconds, text) in [
            (0, "0s"),
            (1, "1s"),
            (70, "70s"),
            (190, "3m10s"),
            (70 * 60, "70m"),
            (47 * HOUR, "47h"),
            (49 * HOUR, "2d1h"),
            (8 * DAY + 2 * HOUR, "8d"),
            (367 * DAY, "367d"),
            (365 * 2 * DAY + 25 * HOUR, "2y1d"),
            (365 * 8 * DAY + 2 * HOUR, "8y"),
            (2 * 60, "2m"),
            (10 * 60, "10m"),
            (3 * HOUR, "3h"),
            (7 * HOUR + 60, "7h1m"),
        ] {
            assert_eq!(human_duration(Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn a_column_ends_at_a_line_that_lacks_it() {
        let text = "Name:\tx\nLabels:\ta=b\n\tc=d\nEvents:\n  Type\tReason\n  ----\t------\n";
        assert_eq!(
            align(text, 0, 2),
            "Name:    x\nLabels:  a=b\n         c=d\nEvents:\n  Type  Reason\n  ----  ------\n"
        );
        let rows = [vec!["NAME".into(), "A".into()], vec!["x".into(), "yy".into()]];
        assert_eq!(table(&rows), "NAME   A\nx      yy\n");
    }
}
