//! Named schemas of the document with their keys.

use serde_json::Value;

use super::kind::{Kind, anchor, kind};
use super::{paragraphs, text_at};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// Id of its place on the page.
    pub anchor: String,
    pub name: String,
    pub description: Vec<String>,
    pub kind: String,
    /// The values it may have, where they are listed.
    pub values: Vec<String>,
    pub properties: Vec<Property>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    pub name: String,
    /// True where it must be there.
    pub required: bool,
    pub kind: Kind,
    pub description: String,
}

pub(super) fn schemas(document: &Value) -> Vec<Schema> {
    let stated = document.pointer("/components/schemas").and_then(Value::as_object);
    stated
        .into_iter()
        .flatten()
        .map(|(name, stated)| schema(name, stated))
        .collect()
}

fn schema(name: &str, stated: &Value) -> Schema {
    let (mut values, mut properties) = (Vec::new(), Vec::new());
    collect(stated, &mut values, &mut properties);
    // Enums with documented values and structs with flattened parts are written as a list of schemas.
    for key in ["oneOf", "allOf", "anyOf"] {
        for part in stated.get(key).and_then(Value::as_array).into_iter().flatten() {
            collect(part, &mut values, &mut properties);
        }
    }
    Schema {
        anchor: anchor(name),
        name: name.to_owned(),
        description: paragraphs(&text_at(stated, "/description")),
        kind: "One of".to_owned(),
        values,
        properties,
    }
}

fn collect(stated: &Value, values: &mut Vec<String>, properties: &mut Vec<Property>) {
    let listed = stated
        .get("enum")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .chain(stated.get("const"));
    values.extend(listed.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
    let required: Vec<&str> = stated
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, property) in stated
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        properties.push(Property {
            name: name.clone(),
            required: required.contains(&name.as_str()),
            kind: kind(property),
            description: text_at(property, "/description"),
        });
    }
}
