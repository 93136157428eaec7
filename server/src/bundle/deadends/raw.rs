//! JSON objects whose values stay text, in their order.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

#[derive(Debug, Clone, Default)]
pub(super) struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Members<'a> {
    pub(super) fn read(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a str> {
        let (_, value) = self.0.iter().find(|(name, _)| name == key)?;
        Some(value.get())
    }

    pub(super) fn string(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?).ok()
    }

    pub(super) fn object(&self, key: &str) -> Option<Self> {
        Self::read(self.get(key)?)
    }

    pub(super) fn except(&self, keys: &[&str]) -> Vec<(&str, &'a str)> {
        let others = self.0.iter().filter(|(key, _)| !keys.contains(&key.as_str()));
        others.map(|(key, value)| (key.as_str(), value.get())).collect()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Order;
        impl<'de> Visitor<'de> for Order {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Order).map(Members)
    }
}

pub(super) fn object(members: &[(&str, &str)], depth: usize) -> String {
    if members.is_empty() {
        return "{}".to_owned();
    }
    let indent = "  ".repeat(depth + 1);
    let lines: Vec<String> = members
        .iter()
        .map(|(key, value)| format!("{indent}{}: {value}", quoted(key)))
        .collect();
    format!("{{\n{}\n{}}}", lines.join(",\n"), "  ".repeat(depth))
}

pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
