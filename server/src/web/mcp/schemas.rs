//! What the tools answer, as JSON Schemas: those of the REST interface's description, so that there is one truth.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use rmcp::model::JsonObject;
use serde_json::{Value, json};
use utoipa::OpenApi as _;

use crate::web::api::openapi::Description;

const COMPONENTS: &str = "#/components/schemas/";

pub(super) fn of(name: &str) -> Arc<JsonObject> {
    any_of(&[name])
}

pub(super) fn any_of(names: &[&str]) -> Arc<JsonObject> {
    let all = all();
    let mut wanted: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut definitions = JsonObject::new();
    let mut seen = BTreeSet::new();
    while let Some(name) = wanted.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        let mut schema = all.get(&name).cloned().unwrap_or_else(|| json!({}));
        point_into_definitions(&mut schema, &mut wanted);
        definitions.insert(name, schema);
    }
    let choices = names
        .iter()
        .map(|name| json!({ "$ref": format!("#/$defs/{name}") }));
    let mut root = JsonObject::new();
    // The protocol wants an object at the root.
    root.insert("type".to_owned(), json!("object"));
    root.insert("anyOf".to_owned(), choices.collect());
    root.insert("$defs".to_owned(), Value::Object(definitions));
    Arc::new(root)
}

pub(super) fn record() -> Arc<JsonObject> {
    let schema = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "revision": {"type": "integer", "description": "The published revision."},
            "document": {"type": "object", "description": "The record: cause, workarounds, dead ends, versions, edges."},
            "ext": {"type": "object", "description": "What Peerless adds: codes, patterns, examples, sources."},
            "page": {"type": "string", "description": "Its page, where there is a server."},
            "kb": {"type": "object", "properties": {"seq": {"type": "integer"}}, "required": ["seq"]},
        },
        "required": ["id", "revision", "document", "ext", "kb"],
    });
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    }
}

fn all() -> &'static JsonObject {
    static ALL: OnceLock<JsonObject> = OnceLock::new();
    ALL.get_or_init(|| {
        let described = serde_json::to_value(Description::openapi().components).unwrap_or_default();
        match described.pointer("/schemas") {
            Some(Value::Object(schemas)) => schemas.clone(),
            _ => JsonObject::new(),
        }
    })
}

fn point_into_definitions(value: &mut Value, wanted: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get_mut("$ref")
                && let Some(name) = target.strip_prefix(COMPONENTS).map(str::to_owned)
            {
                *target = format!("#/$defs/{name}");
                wanted.push(name);
            }
            for member in members.values_mut() {
                point_into_definitions(member, wanted);
            }
        }
        Value::Array(items) => {
            for item in items {
                point_into_definitions(item, wanted);
            }
        }
        _ => {}
    }
}
