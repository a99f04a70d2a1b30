//! JSON as JavaScript writes it: whole numbers have no fraction.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

/// A value in one line.
pub(crate) fn line(value: &impl Serialize) -> String {
    written(value, CompactFormatter)
}

/// A value in indented lines.
pub(crate) fn lines(value: &impl Serialize) -> String {
    written(value, PrettyFormatter::new())
}

fn written(value: &impl Serialize, inner: impl Formatter) -> String {
    let mut bytes = Vec::new();
    // Writing into memory does not fail, and every answer has texts for keys.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut bytes, Numbers(inner)));
    String::from_utf8(bytes).unwrap_or_default()
}

struct Numbers<F>(F);

macro_rules! as_it_is {
    ($($name:ident($($argument:ident: $type:ty),*);)+) => {$(
        fn $name<W: ?Sized + Write>(&mut self, writer: &mut W $(, $argument: $type)*) -> io::Result<()> {
            self.0.$name(writer $(, $argument)*)
        }
    )+};
}

impl<F: Formatter> Formatter for Numbers<F> {
    as_it_is! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        end_object_key();
        begin_object_value();
        end_object_value();
    }

    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        // Rust writes the shortest digits, too, and no exponent; no number here needs one.
        if value == 0.0 { writer.write_all(b"0") } else { write!(writer, "{value}") }
    }
}
