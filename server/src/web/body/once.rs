//! Objects in JSON whose names are the caller's: each may stand there once.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserializer;
use serde::de::{Error, MapAccess, Visitor};

/// Reads names with their values, and refuses a name that stands there twice: nobody knows which of its values is meant.
pub fn each_once<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    deserializer.deserialize_map(EachOnce)
}

struct EachOnce;

impl<'de> Visitor<'de> for EachOnce {
    type Value = BTreeMap<String, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of texts")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut all = BTreeMap::new();
        while let Some((name, value)) = map.next_entry::<String, String>()? {
            if all.contains_key(&name) {
                return Err(A::Error::custom(format_args!(
                    "the name {name:?} stands there twice"
                )));
            }
            all.insert(name, value);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::each_once;

    #[derive(Debug, Deserialize)]
    struct Order {
        #[serde(default, deserialize_with = "each_once")]
        labels: std::collections::BTreeMap<String, String>,
    }

    #[test]
    fn a_name_that_stands_there_twice_is_refused() {
        let read = |text: &str| serde_json::from_str::<Order>(text).map(|order| order.labels.len());
        assert_eq!(read("{}").unwrap(), 0);
        assert_eq!(read(r#"{"labels":{"rack":"r1","row":"r1"}}"#).unwrap(), 2);
        let refused = read(r#"{"labels":{"rack":"r1","rack":"r1"}}"#).unwrap_err();
        assert!(refused.to_string().contains("\"rack\" stands there twice"));
    }
}
