//! Values of the engine as JavaScript values.
//!
//! They go over as one JSON text: one crossing of the boundary for each answer, however large, and
//! JavaScript's own parser at its end, which is several times faster than setting properties from
//! here one by one. On the way times become milliseconds.

use std::fmt;

use serde::ser::{
    self, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct,
    SerializeStructVariant, SerializeTuple, SerializeTupleStruct, SerializeTupleVariant,
    Serializer,
};
use taintlab_core::time::parse_duration;
use wasm_bindgen::{JsError, JsValue};

use crate::js;
use crate::taint_js::encode::millis;

/// An answer of a function that can also fail.
#[derive(serde::Serialize)]
pub(crate) struct Answer<'a, T> {
    pub(crate) ok: bool,
    #[serde(flatten)]
    pub(crate) answer: &'a T,
}

/// A value as JavaScript sees it.
///
/// # Errors
/// The value has no JSON form, which would be a mistake of this crate.
pub(crate) fn to_js(value: &impl Serialize) -> Result<JsValue, JsValue> {
    let text = to_json(value).map_err(|error| JsError::new(&error))?;
    js::parse(&text)
}

/// A value as JSON, with times as JavaScript sees them: milliseconds since the start, with
/// fractions.
///
/// # Errors
/// The value has no JSON form.
pub fn to_json(value: &impl Serialize) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(256);
    value
        .serialize(Js(&mut serde_json::Serializer::new(&mut bytes)))
        .map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

/// Passes everything on, but for times.
struct Js<S>(S);

/// A part of a value.
struct Part<'a, T: ?Sized>(&'a T);

impl<T: Serialize + ?Sized> Serialize for Part<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(Js(serializer))
    }
}

/// The number that stands for a time; of a text, as `Span` writes it, the nanoseconds.
fn stored<T: Serialize + ?Sized, E: ser::Error>(value: &T) -> Result<i64, E> {
    value.serialize(Stored).map_err(E::custom)
}

macro_rules! pass {
    ($($method:ident: $type:ty),+ $(,)?) => {
        $(fn $method(self, value: $type) -> Result<S::Ok, S::Error> {
            self.0.$method(value)
        })+
    };
}

impl<S: Serializer> Serializer for Js<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Js<S::SerializeSeq>;
    type SerializeTuple = Js<S::SerializeTuple>;
    type SerializeTupleStruct = Js<S::SerializeTupleStruct>;
    type SerializeTupleVariant = Js<S::SerializeTupleVariant>;
    type SerializeMap = Js<S::SerializeMap>;
    type SerializeStruct = Fields<S>;
    type SerializeStructVariant = Js<S::SerializeStructVariant>;

    pass!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_i64: i64, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32,
        serialize_u64: u64, serialize_f32: f32, serialize_f64: f64, serialize_char: char,
        serialize_str: &str, serialize_bytes: &[u8],
    );

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_none()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_some(&Part(value))
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit()
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit_struct(name)
    }

    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit_variant(name, index, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        match name {
            "Timestamp" | "Moment" | "Span" => self.0.serialize_f64(millis(stored(value)?)),
            _ => self.0.serialize_newtype_struct(name, &Part(value)),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_variant(name, index, variant, &Part(value))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        self.0.serialize_seq(length).map(Js)
    }

    fn serialize_tuple(self, length: usize) -> Result<Self::SerializeTuple, S::Error> {
        self.0.serialize_tuple(length).map(Js)
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        self.0.serialize_tuple_struct(name, length).map(Js)
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        self.0.serialize_tuple_variant(name, index, variant, length).map(Js)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        self.0.serialize_map(length).map(Js)
    }

    fn serialize_struct(
        self,
        name: &'static str,
        length: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        Ok(match name {
            // As serde writes `core::time::Duration`: `secs` and `nanos`.
            "Duration" => Fields::Duration { serializer: self.0, nanos: 0 },
            _ => Fields::Struct(self.0.serialize_struct(name, length)?),
        })
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        self.0.serialize_struct_variant(name, index, variant, length).map(Js)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

macro_rules! elements {
    ($($trait:ident: $method:ident),+) => {
        $(impl<C: $trait> $trait for Js<C> {
            type Ok = C::Ok;
            type Error = C::Error;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
                self.0.$method(&Part(value))
            }
            fn end(self) -> Result<C::Ok, C::Error> {
                self.0.end()
            }
        })+
    };
}

elements!(
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field
);

impl<C: SerializeMap> SerializeMap for Js<C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), C::Error> {
        self.0.serialize_key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        self.0.serialize_value(&Part(value))
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.0.end()
    }
}

impl<C: SerializeStructVariant> SerializeStructVariant for Js<C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), C::Error> {
        self.0.serialize_field(key, &Part(value))
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.0.end()
    }
}

/// The fields of a struct, or of a duration, which becomes a number.
enum Fields<S: Serializer> {
    Struct(S::SerializeStruct),
    Duration { serializer: S, nanos: i64 },
}

impl<S: Serializer> SerializeStruct for Fields<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), S::Error> {
        match self {
            Self::Struct(fields) => fields.serialize_field(key, &Part(value)),
            Self::Duration { nanos, .. } => {
                let number = stored::<T, S::Error>(value)?;
                let unit = if key == "secs" { 1_000_000_000 } else { 1 };
                *nanos = nanos.saturating_add(number.saturating_mul(unit));
                Ok(())
            }
        }
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        match self {
            Self::Struct(fields) => fields.end(),
            Self::Duration { serializer, nanos } => serializer.serialize_f64(millis(nanos)),
        }
    }
}

/// Takes what times are stored as, and nothing else. It is there for every type that is written, so
/// that it must be small.
struct Stored;

/// A time that is stored as something else than nanoseconds or Go's text.
#[derive(Debug)]
struct NotATime;

impl fmt::Display for NotATime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time is stored as a number or as Go's text")
    }
}

impl std::error::Error for NotATime {}

impl ser::Error for NotATime {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

type Never = Impossible<i64, NotATime>;

macro_rules! no_time {
    ($($method:ident($($type:ty),*) -> $answer:ty),+ $(,)?) => {
        $(fn $method(self, $(_: $type),*) -> Result<$answer, NotATime> {
            Err(NotATime)
        })+
    };
}

impl Serializer for Stored {
    type Ok = i64;
    type Error = NotATime;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Never;
    type SerializeStructVariant = Never;

    fn serialize_i64(self, number: i64) -> Result<i64, NotATime> {
        Ok(number)
    }

    fn serialize_u64(self, number: u64) -> Result<i64, NotATime> {
        Ok(i64::try_from(number).unwrap_or(i64::MAX))
    }

    fn serialize_u32(self, number: u32) -> Result<i64, NotATime> {
        Ok(number.into())
    }

    fn serialize_str(self, text: &str) -> Result<i64, NotATime> {
        let duration = parse_duration(text).map_err(|_| NotATime)?;
        Ok(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<i64, NotATime> {
        Err(NotATime)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: &T,
    ) -> Result<i64, NotATime> {
        Err(NotATime)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<i64, NotATime> {
        Err(NotATime)
    }

    no_time!(
        serialize_bool(bool) -> i64,
        serialize_i8(i8) -> i64,
        serialize_i16(i16) -> i64,
        serialize_i32(i32) -> i64,
        serialize_u8(u8) -> i64,
        serialize_u16(u16) -> i64,
        serialize_f32(f32) -> i64,
        serialize_f64(f64) -> i64,
        serialize_char(char) -> i64,
        serialize_bytes(&[u8]) -> i64,
        serialize_none() -> i64,
        serialize_unit() -> i64,
        serialize_unit_struct(&'static str) -> i64,
        serialize_unit_variant(&'static str, u32, &'static str) -> i64,
        serialize_seq(Option<usize>) -> Never,
        serialize_tuple(usize) -> Never,
        serialize_tuple_struct(&'static str, usize) -> Never,
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Never,
        serialize_map(Option<usize>) -> Never,
        serialize_struct(&'static str, usize) -> Never,
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Never,
    );

    fn collect_str<T: fmt::Display + ?Sized>(self, _: &T) -> Result<i64, NotATime> {
        Err(NotATime)
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use taintlab_core::time::{Span, Timestamp};

    use super::*;

    #[derive(serde::Serialize)]
    struct All {
        at: Timestamp,
        duration: Duration,
        span: Span,
        list: Vec<Option<Timestamp>>,
        other: u64,
    }

    #[test]
    fn times_become_milliseconds_wherever_they_are() {
        let all = All {
            at: Timestamp::from_nanos(1_500_000_001),
            duration: Duration::new(2, 5),
            span: Span(Duration::from_secs(300)),
            list: vec![Some(Timestamp::from_secs(1)), None],
            other: 7,
        };
        let expected = "{\"at\":1500.000001,\"duration\":2000.000005,\"span\":300000.0,\
                        \"list\":[1000.0,null],\"other\":7}";
        assert_eq!(to_json(&all).unwrap(), expected);
    }
}
