//! Numbers as JavaScript writes them: `300000` and not `300000.0`.

use std::io;

use serde_json::ser::{CompactFormatter, Formatter};

/// Writes compact JSON; only fractions differ from `serde_json`'s own.
pub(crate) struct JavaScript;

impl Formatter for JavaScript {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        #[expect(clippy::cast_possible_truncation, reason = "compared with what it was")]
        let whole = value as i64;
        #[expect(clippy::cast_precision_loss, reason = "the numbers of JavaScript")]
        if whole as f64 == value {
            return self.write_i64(writer, whole);
        }
        CompactFormatter.write_f64(writer, value)
    }
}
