//! A strict text as values without spans: for texts that are large and never edited.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::reader::{check_size, parse_within};
use super::{MAX_DEPTH, Position, TextError};

/// Reads one JSON text of at most `max_bytes`, and refuses what [`super::parse`] refuses, with the same error. Keeping no spans, it takes
/// about half as long.
pub fn parse_values(text: &str, max_bytes: usize) -> Result<Value, TextError> {
    check_size(text.len(), max_bytes)?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let strict = Strict { depth: MAX_DEPTH };
    let value = strict.deserialize(&mut reader);
    value
        .and_then(|value| reader.end().map(|()| value))
        .map_err(|error| told(text, max_bytes, &error))
}

/// The error of the reader that knows where each value stands.
fn told(text: &str, max_bytes: usize, error: &serde_json::Error) -> TextError {
    match parse_within(text, max_bytes) {
        Err(told) => told,
        Ok(_) => TextError {
            pointer: String::new(),
            position: Position {
                line: error.line(),
                column: error.column(),
            },
            rule: "syntax",
            reason: error.to_string(),
        },
    }
}

/// Reads a value below which `depth` levels of objects and arrays may follow.
#[derive(Clone, Copy)]
struct Strict {
    depth: usize,
}

impl Strict {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        let depth = self.depth.checked_sub(1);
        depth
            .map(|depth| Self { depth })
            .ok_or_else(|| E::custom("nested too deeply"))
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        without_nul(value).map(|value| Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        without_nul(&value)?;
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let below = self.deeper()?;
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(below)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let below = self.deeper()?;
        let mut values = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            without_nul(&key)?;
            let value = members.next_value_seed(below)?;
            if values.insert(key, value).is_some() {
                return Err(Error::custom("a key stands twice"));
            }
        }
        Ok(Value::Object(values))
    }
}

fn without_nul<E: Error>(text: &str) -> Result<&str, E> {
    if text.as_bytes().contains(&0) {
        return Err(E::custom("NUL"));
    }
    Ok(text)
}
