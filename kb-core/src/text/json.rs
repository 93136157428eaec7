//! The values of a JSON text that is large and never edited: a report of eight GPUs has some 20,000, most of them texts and keys that
//! stand in it hundreds of times.

use std::sync::Arc;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Number, Value};

/// A value. Equal keys and texts may share their bytes, and members stand in the order of the text: a tree map takes a node of
/// hundreds of bytes for each of the small objects that reports are made of.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string, unescaped.
    Text(Arc<str>),
    /// An array.
    Array(Vec<Self>),
    /// An object; its keys are distinct.
    Object(Vec<(Arc<str>, Self)>),
}

impl Json {
    /// The value of a member.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        members
            .iter()
            .find(|(name, _)| &**name == key)
            .map(|(_, value)| value)
    }

    /// The value at a JSON pointer (RFC 6901), as [`Value::pointer`] finds it.
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        let mut steps = pointer.strip_prefix('/')?.split('/');
        steps.try_fold(self, |value, step| match value {
            Self::Array(items) => items.get(place(step)?),
            _ if step.contains('~') => value.get(&step.replace("~1", "/").replace("~0", "~")),
            _ => value.get(step),
        })
    }

    /// The number, where this is a whole one that fits.
    pub fn as_u64(&self) -> Option<u64> {
        let Self::Number(number) = self else { return None };
        number.as_u64()
    }

    /// The same as a value of `serde_json`.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(bool) => Value::Bool(*bool),
            Self::Number(number) => Value::Number(number.clone()),
            Self::Text(text) => Value::String((**text).to_owned()),
            Self::Array(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Self::Object(members) => {
                let members = members.iter();
                let members = members.map(|(key, value)| ((**key).to_owned(), value.to_value()));
                Value::Object(members.collect::<Map<String, Value>>())
            }
        }
    }

    fn unexpected(&self) -> Unexpected<'_> {
        match self {
            Self::Null => Unexpected::Unit,
            Self::Bool(bool) => Unexpected::Bool(*bool),
            Self::Number(_) => Unexpected::Other("number"),
            Self::Text(text) => Unexpected::Str(text),
            Self::Array(_) => Unexpected::Seq,
            Self::Object(_) => Unexpected::Map,
        }
    }
}

/// A place in an array, written without a sign or a leading zero.
fn place(step: &str) -> Option<usize> {
    let is_plain = !step.starts_with('+') && (step.len() == 1 || !step.starts_with('0'));
    is_plain.then(|| step.parse().ok()).flatten()
}

impl<'de> IntoDeserializer<'de, serde_json::Error> for &'de Json {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for &'de Json {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self {
            Json::Null => visitor.visit_unit(),
            Json::Bool(bool) => visitor.visit_bool(*bool),
            Json::Number(number) => number.deserialize_any(visitor),
            Json::Text(text) => visitor.visit_borrowed_str(text),
            Json::Array(items) => {
                let mut items = SeqDeserializer::new(items.iter());
                let value = visitor.visit_seq(&mut items)?;
                items.end()?;
                Ok(value)
            }
            Json::Object(members) => {
                let members = members.iter().map(|(key, value)| (&**key, value));
                let mut members = MapDeserializer::new(members);
                let value = visitor.visit_map(&mut members)?;
                members.end()?;
                Ok(value)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self {
            Json::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    /// What stands in the values of an enum is a matter of [`Value`]: reports have names alone.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        match self {
            Json::Text(text) => {
                visitor.visit_enum(IntoDeserializer::<Self::Error>::into_deserializer(&**text))
            }
            Json::Object(_) => self.to_value().deserialize_enum(name, variants, visitor),
            _ => Err(serde::de::Error::invalid_type(
                self.unexpected(),
                &"string or map",
            )),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map
        struct identifier
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::super::parse_values;
    use super::*;
    use crate::report::Report;

    const REPORT: &str = include_str!("../../tests/data/reports/h200-x2-healthy.json");

    fn read(text: &str) -> Json {
        parse_values(text, text.len()).unwrap()
    }

    #[test]
    fn values_are_those_of_serde_json() {
        let value: Value = serde_json::from_str(REPORT).unwrap();
        assert_eq!(read(REPORT).to_value(), value);
    }

    #[test]
    fn a_report_is_the_one_in_the_text() {
        let report = Report::deserialize(&read(REPORT)).unwrap();
        assert_eq!(report, serde_json::from_str(REPORT).unwrap());
    }

    #[test]
    fn pointers_lead_where_serde_json_says() {
        let value = json!({ "a": [{ "b/c": 1, "~": 2, "": 3 }, [4]], "0": 5, "1e2": -0.0 });
        let json = read(&value.to_string());
        for pointer in [
            "",
            "/",
            "a",
            "/a",
            "/a/0",
            "/a/00",
            "/a/+0",
            "/a/-",
            "/a/2",
            "/a/0/b~1c",
            "/a/0/b/c",
            "/a/0/~0",
            "/a/0/~",
            "/a/0/",
            "/a/1/0",
            "/a/1/0/0",
            "/0",
            "/1e2",
            "/x/y",
        ] {
            let found = json.pointer(pointer).map(Json::to_value);
            assert_eq!(found.as_ref(), value.pointer(pointer), "{pointer:?}");
        }
    }

    #[test]
    fn types_are_read_and_refused_as_serde_json_does() {
        #[derive(Debug, PartialEq, Deserialize)]
        enum Kind {
            A,
            B(u8),
        }
        #[derive(Debug, PartialEq, Deserialize)]
        struct Name(String);
        #[derive(Debug, PartialEq, Deserialize)]
        struct Read {
            number: f64,
            count: u8,
            maybe: Option<Name>,
            kind: Kind,
            pair: (u8, u8),
        }
        let whole =
            json!({ "number": 1, "count": 2, "maybe": "x", "kind": "A", "pair": [1, 2], "more": [{}] });
        let mut texts = vec![
            whole.clone(),
            json!([1, 2, null, "A", [1, 2]]),
            json!([1, 2, null, "A", [1, 2], 3]),
        ];
        for (key, others) in [
            ("number", json!(["1", null, 1.5])),
            ("count", json!([256, -1, 1.0])),
            ("maybe", json!([null, 1])),
            ("kind", json!([{ "B": 1 }, { "B": 256 }, "B", "C", 1, {}])),
            ("pair", json!([[1], [1, 2, 3], {}])),
        ] {
            for other in others.as_array().unwrap() {
                let mut changed = whole.clone();
                changed[key] = other.clone();
                texts.push(changed);
            }
        }
        for value in texts {
            let json = read(&value.to_string());
            let (ours, theirs) = (Read::deserialize(&json), Read::deserialize(&value));
            assert_eq!(ours.is_ok(), theirs.is_ok(), "{value}");
            assert_eq!(ours.ok(), theirs.ok(), "{value}");
        }
    }
}
