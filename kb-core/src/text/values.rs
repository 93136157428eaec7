//! A strict text as values without spans: for texts that are large and never edited.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::json::Json;
use super::reader::{check_size, parse_within};
use super::shared::Shared;
use super::{MAX_DEPTH, Position, TextError};

/// Members of an object up to which a key is looked for among those before it one by one.
const FEW: usize = 64;

/// Reads one JSON text of at most `max_bytes`, and refuses what [`super::parse`] refuses, with the same error. Keeping no spans, and equal
/// texts once, it takes a fraction of the time.
pub fn parse_values(text: &str, max_bytes: usize) -> Result<Json, TextError> {
    check_size(text.len(), max_bytes)?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let mut shared = Shared::default();
    let strict = Strict {
        depth: MAX_DEPTH,
        shared: &mut shared,
    };
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
struct Strict<'s> {
    depth: usize,
    shared: &'s mut Shared,
}

impl Strict<'_> {
    fn deeper<E: Error>(&mut self) -> Result<Strict<'_>, E> {
        let depth = self.depth.checked_sub(1);
        let depth = depth.ok_or_else(|| E::custom("nested too deeply"))?;
        Ok(Strict {
            depth,
            shared: self.shared,
        })
    }

    /// The same for one value among several.
    fn each(&mut self) -> Strict<'_> {
        Strict {
            depth: self.depth,
            shared: self.shared,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Json, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Json;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Json, E> {
        without_nul(value).map(|value| Json::Text(self.shared.text(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Json, A::Error> {
        let mut below = self.deeper()?;
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(below.each())? {
            values.push(value);
        }
        Ok(Json::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Json, A::Error> {
        let mut below = self.deeper()?;
        let mut values: Vec<(Arc<str>, Json)> = Vec::new();
        let mut many = BTreeSet::new();
        while let Some(key) = members.next_key_seed(Key(below.shared))? {
            let is_known = if values.len() <= FEW {
                values.iter().any(|(known, _)| *known == key)
            } else {
                if many.is_empty() {
                    many.extend(values.iter().map(|(known, _)| Arc::clone(known)));
                }
                !many.insert(Arc::clone(&key))
            };
            if is_known {
                return Err(Error::custom("a key stands twice"));
            }
            let value = members.next_value_seed(below.each())?;
            values.push((key, value));
        }
        Ok(Json::Object(values))
    }
}

struct Key<'s>(&'s mut Shared);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Arc<str>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Arc<str>, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Arc<str>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Arc<str>, E> {
        without_nul(key).map(|key| self.0.text(key))
    }
}

fn without_nul<E: Error>(text: &str) -> Result<&str, E> {
    if text.as_bytes().contains(&0) {
        return Err(E::custom("NUL"));
    }
    Ok(text)
}
