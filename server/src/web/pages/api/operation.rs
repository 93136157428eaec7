//! Operations of the document, in groups.

use serde_json::{Map, Value};

use super::kind::{Kind, kind};
use super::{paragraphs, text_at};

/// Operations that belong together, by their first tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub name: String,
    pub operations: Vec<Operation>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// Id of its place on the page.
    pub anchor: String,
    /// Upper case.
    pub method: String,
    pub path: String,
    /// Path without the common beginning.
    pub short_path: String,
    pub summary: String,
    pub description: Vec<String>,
    /// What the caller must show; empty when nothing.
    pub security: String,
    pub parameters: Vec<Parameter>,
    pub bodies: Vec<Body>,
    pub answers: Vec<Answer>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub place: String,
    /// True where it must be there.
    pub required: bool,
    pub kind: Kind,
    pub description: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    pub media_type: String,
    pub kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: String,
    pub description: String,
    pub bodies: Vec<Body>,
}

const METHODS: [&str; 7] = ["get", "post", "put", "patch", "delete", "head", "options"];

pub(super) fn groups(document: &Value) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let Some(paths) = document.get("paths").and_then(Value::as_object) else {
        return groups;
    };
    for (path, item) in paths {
        for method in METHODS {
            let Some(stated) = item.get(method) else { continue };
            let tag = text_at(stated, "/tags/0");
            let name = if tag.is_empty() { "Other".to_owned() } else { tag };
            let operation = operation(document, path, method, stated, item.get("parameters"));
            match groups.iter_mut().find(|group| group.name == name) {
                Some(group) => group.operations.push(operation),
                None => groups.push(Group {
                    name,
                    operations: vec![operation],
                }),
            }
        }
    }
    groups
}

fn operation(
    document: &Value,
    path: &str,
    method: &str,
    stated: &Value,
    shared: Option<&Value>,
) -> Operation {
    let own = stated.get("parameters").and_then(Value::as_array);
    let shared = shared.and_then(Value::as_array);
    let parameters = shared
        .into_iter()
        .chain(own)
        .flatten()
        .map(|stated| parameter(resolve(document, stated)));
    Operation {
        anchor: anchor(method, path),
        method: method.to_uppercase(),
        path: path.to_owned(),
        short_path: path.strip_prefix("/api/v1").unwrap_or(path).to_owned(),
        summary: text_at(stated, "/summary"),
        description: paragraphs(&text_at(stated, "/description")),
        security: security(stated),
        parameters: parameters.collect(),
        bodies: bodies(stated.get("requestBody").map(|body| resolve(document, body))),
        answers: answers(document, stated),
    }
}

fn anchor(method: &str, path: &str) -> String {
    let words = path
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    std::iter::once(method).chain(words).collect::<Vec<_>>().join("-")
}

fn resolve<'a>(document: &'a Value, stated: &'a Value) -> &'a Value {
    let target = stated
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|path| path.strip_prefix('#'));
    target
        .and_then(|pointer| document.pointer(pointer))
        .unwrap_or(stated)
}

fn security(stated: &Value) -> String {
    let schemes = stated
        .get("security")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let named = schemes
        .filter_map(Value::as_object)
        .flat_map(Map::iter)
        .map(|(_, scopes)| {
            let scopes: Vec<&str> = scopes
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            if scopes.is_empty() {
                "a token".to_owned()
            } else {
                format!("a token with the scope {}", scopes.join(", "))
            }
        });
    named.collect::<Vec<_>>().join(" or ")
}

fn parameter(stated: &Value) -> Parameter {
    Parameter {
        name: text_at(stated, "/name"),
        place: text_at(stated, "/in"),
        required: stated.get("required").and_then(Value::as_bool).unwrap_or(false),
        kind: stated.get("schema").map(kind).unwrap_or_default(),
        description: text_at(stated, "/description"),
    }
}

fn bodies(holder: Option<&Value>) -> Vec<Body> {
    let content = holder
        .and_then(|holder| holder.get("content"))
        .and_then(Value::as_object);
    let each = content.into_iter().flatten().map(|(media_type, body)| Body {
        media_type: media_type.clone(),
        kind: body.get("schema").map(kind).unwrap_or_default(),
    });
    each.collect()
}

fn answers(document: &Value, stated: &Value) -> Vec<Answer> {
    let answers = stated.get("responses").and_then(Value::as_object);
    let each = answers.into_iter().flatten().map(|(status, answer)| {
        let answer = resolve(document, answer);
        Answer {
            status: status.clone(),
            description: text_at(answer, "/description"),
            bodies: bodies(Some(answer)),
        }
    });
    each.collect()
}
