//! Values as bytes: the messages between the page and a session in a worker. Both ends are the same
//! build, so there is no format to be kept: fields follow one another, and an enum is one byte for
//! its variant, then its fields.
//!
//! Serde does not serve here: much of what the engine tells serialises for people, and not back.

mod engine;
mod report;
mod views;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use taintlab_core::order::{OrderedMap, OrderedSet};

/// A value that can be written as bytes, and read from them.
pub(crate) trait Wire: Sized {
    /// Writes the value.
    fn put(&self, out: &mut Vec<u8>);
    /// Reads a value and moves past it; none if it is not there.
    fn take(from: &mut &[u8]) -> Option<Self>;
}

/// A value as bytes.
pub(crate) fn to_bytes(value: &impl Wire) -> Vec<u8> {
    let mut out = Vec::new();
    value.put(&mut out);
    out
}

/// The value that the bytes hold, and nothing else.
pub(crate) fn from_bytes<T: Wire>(mut bytes: &[u8]) -> Option<T> {
    T::take(&mut bytes).filter(|_| bytes.is_empty())
}

fn bytes<'a>(from: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = from.split_at_checked(length)?;
    *from = rest;
    Some(taken)
}

/// Numbers, in little-endian order.
macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl Wire for $type {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }
            fn take(from: &mut &[u8]) -> Option<Self> {
                let bytes = bytes(from, size_of::<Self>())?;
                bytes.try_into().ok().map(Self::from_le_bytes)
            }
        }
    )*};
}

numbers!(u8, u32, u64, i32, i64, f32, f64);

/// Seven bits in a byte: most values are small.
impl Wire for usize {
    fn put(&self, out: &mut Vec<u8>) {
        let mut rest = *self;
        while rest >= 0x80 {
            out.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let mut value = 0_usize;
        for shift in (0..Self::BITS).step_by(7) {
            let byte = u8::take(from)?;
            value |= Self::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        u8::take(from).map(|byte| byte != 0)
    }
}

impl Wire for () {
    fn put(&self, _: &mut Vec<u8>) {}
    fn take(_: &mut &[u8]) -> Option<Self> {
        Some(())
    }
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    text.len().put(out);
    out.extend(text.as_bytes());
}

fn take_text<'a>(from: &mut &'a [u8]) -> Option<&'a str> {
    let length = usize::take(from)?;
    std::str::from_utf8(bytes(from, length)?).ok()
}

/// Types that can be made from a text.
macro_rules! texts {
    ($($type:ty),*) => {$(
        impl Wire for $type {
            fn put(&self, out: &mut Vec<u8>) {
                put_text(self, out);
            }
            fn take(from: &mut &[u8]) -> Option<Self> {
                take_text(from).map(Into::into)
            }
        }
    )*};
}

texts!(String, Rc<str>);

/// Words of the program: words that are read are kept for good, each once.
impl Wire for &'static str {
    fn put(&self, out: &mut Vec<u8>) {
        put_text(self, out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        thread_local! {
            static KNOWN: std::cell::RefCell<OrderedSet<&'static str>> =
                const { std::cell::RefCell::new(OrderedSet::new()) };
        }
        let text = take_text(from)?;
        KNOWN.with_borrow_mut(|known| {
            if let Some(word) = known.get(text) {
                return Some(*word);
            }
            let word: &'static str = String::leak(text.to_owned());
            known.insert(word);
            Some(word)
        })
    }
}

/// Types that hold one value.
macro_rules! boxes {
    ($($type:ident),*) => {$(
        impl<T: Wire> Wire for $type<T> {
            fn put(&self, out: &mut Vec<u8>) {
                (**self).put(out);
            }
            fn take(from: &mut &[u8]) -> Option<Self> {
                T::take(from).map($type::new)
            }
        }
    )*};
}

boxes!(Box, Rc, Arc);

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(if bool::take(from)? { Some(T::take(from)?) } else { None })
    }
}

impl<T: Wire, E: Wire> Wire for Result<T, E> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_ok().put(out);
        match self {
            Ok(value) => value.put(out),
            Err(error) => error.put(out),
        }
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(if bool::take(from)? { Ok(T::take(from)?) } else { Err(E::take(from)?) })
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        self.iter().for_each(|item| item.put(out));
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        let length = usize::take(from)?;
        // A plain loop: to collect options is code of its own for each type.
        let mut items = Self::new();
        for _ in 0..length {
            items.push(T::take(from)?);
        }
        Some(items)
    }
}

impl<T: Wire + Ord> Wire for OrderedSet<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        self.iter().for_each(|item| item.put(out));
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        let length = usize::take(from)?;
        let mut set = Self::new();
        for _ in 0..length {
            set.insert(T::take(from)?);
        }
        Some(set)
    }
}

impl<T: Wire, const N: usize> Wire for [T; N] {
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|item| item.put(out));
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        let items: Option<Vec<T>> = (0..N).map(|_| T::take(from)).collect();
        items?.try_into().ok()
    }
}

macro_rules! maps {
    ($($map:ident)*) => {$(
        impl<K: Wire + Ord, V: Wire> Wire for $map<K, V> {
            fn put(&self, out: &mut Vec<u8>) {
                self.len().put(out);
                for (key, value) in self {
                    key.put(out);
                    value.put(out);
                }
            }
            fn take(from: &mut &[u8]) -> Option<Self> {
                let length = usize::take(from)?;
                // Not collected: that would sort, in a copy of its own for each type.
                let mut map = Self::new();
                for _ in 0..length {
                    map.insert(K::take(from)?, V::take(from)?);
                }
                Some(map)
            }
        }
    )*};
}

maps! { BTreeMap OrderedMap }

/// Several values.
macro_rules! tuples {
    ($(($($name:ident),*))*) => {$(
        impl<$($name: Wire),*> Wire for ($($name,)*) {
            fn put(&self, out: &mut Vec<u8>) {
                #[expect(non_snake_case, reason = "called as its type")]
                let ($($name,)*) = self;
                $($name.put(out);)*
            }
            fn take(from: &mut &[u8]) -> Option<Self> {
                Some(($($name::take(from)?,)*))
            }
        }
    )*};
}

tuples!((A, B)(A, B, C)(A, B, C, D));

impl Wire for Duration {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_secs().put(out);
        self.subsec_nanos().put(out);
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(Self::new(u64::take(from)?, u32::take(from)?))
    }
}

/// Structs, by the names of all of their fields.
macro_rules! structs {
    ($($name:ident { $($field:ident),* $(,)? })*) => {$(
        impl crate::wire::Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                let Self { $($field),* } = self;
                $(crate::wire::Wire::put($field, out);)*
            }
            fn take(from: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: crate::wire::Wire::take(from)?),* })
            }
        }
    )*};
}

/// Enums, by all of their variants; the names in brackets are arbitrary.
macro_rules! enums {
    ($($name:ident {
        $($variant:ident $(($($item:ident),*))? $({$($field:ident),*})?),* $(,)?
    })*) => {$(
        impl crate::wire::Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                // A variant that was forgotten does not compile.
                match self {
                    $(Self::$variant { .. } => {})*
                }
                let mut tags = 0_u8..;
                $(
                    let tag = tags.next().unwrap_or(u8::MAX);
                    if let Self::$variant $(($($item),*))? $({$($field),*})? = self {
                        out.push(tag);
                        $($(crate::wire::Wire::put($item, out);)*)?
                        $($(crate::wire::Wire::put($field, out);)*)?
                        return;
                    }
                )*
            }
            fn take(from: &mut &[u8]) -> Option<Self> {
                let found = <u8 as crate::wire::Wire>::take(from)?;
                let mut tags = 0_u8..;
                $(
                    if tags.next() == Some(found) {
                        $($(let $item = crate::wire::Wire::take(from)?;)*)?
                        $($(let $field = crate::wire::Wire::take(from)?;)*)?
                        return Some(Self::$variant $(($($item),*))? $({$($field),*})?);
                    }
                )*
                None
            }
        }
    )*};
}

/// Types that serialise both ways, as JSON.
macro_rules! as_json {
    ($($name:ty),* $(,)?) => {$(
        impl crate::wire::Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                crate::wire::Wire::put(&serde_json::to_string(self).unwrap_or_default(), out);
            }
            fn take(from: &mut &[u8]) -> Option<Self> {
                taintlab_manifest::from_json(crate::wire::take_text(from)?).ok()
            }
        }
    )*};
}

pub(crate) use {as_json, enums, structs};
