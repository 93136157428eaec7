//! The type of a value in words: `string (date-time)`, `list of Match`, with a link where it is a named schema.

use serde_json::Value;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kind {
    /// The words; empty where the document says nothing.
    pub text: String,
    pub href: Option<String>,
}

const SCHEMAS: &str = "#/components/schemas/";
/// Types that contain each other are followed no deeper.
const MAX_DEPTH: usize = 4;

pub(super) fn kind(schema: &Value) -> Kind {
    within(schema, 0)
}

pub(super) fn anchor(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    format!("schema-{plain}")
}

fn within(schema: &Value, depth: usize) -> Kind {
    if let Some(name) = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|path| path.strip_prefix(SCHEMAS))
    {
        return Kind {
            text: name.to_owned(),
            href: Some(format!("#{}", anchor(name))),
        };
    }
    if depth == MAX_DEPTH {
        return Kind {
            text: "…".to_owned(),
            href: None,
        };
    }
    for key in ["oneOf", "anyOf", "allOf"] {
        if let Some(choices) = schema.get(key).and_then(Value::as_array) {
            return one_of(choices, depth);
        }
    }
    let names = type_names(schema);
    let is_list = names.iter().any(|name| name == "array");
    if is_list && let Some(items) = schema.get("items") {
        let item = within(items, depth + 1);
        let text = if item.text.is_empty() {
            "list".to_owned()
        } else {
            format!("list of {}", item.text)
        };
        return Kind {
            text,
            href: item.href,
        };
    }
    if let Some(values) = schema
        .get("additionalProperties")
        .filter(|values| values.is_object())
    {
        let value = within(values, depth + 1);
        return Kind {
            text: format!("object of {}", value.text),
            href: value.href,
        };
    }
    let mut text = names.join(" or ");
    if let Some(format) = schema.get("format").and_then(Value::as_str) {
        text = format!("{text} ({format})");
    }
    Kind { text, href: None }
}

fn one_of(choices: &[Value], depth: usize) -> Kind {
    let kinds: Vec<Kind> = choices.iter().map(|choice| within(choice, depth + 1)).collect();
    let words: Vec<&str> = kinds
        .iter()
        .map(|kind| kind.text.as_str())
        .filter(|text| !text.is_empty())
        .collect();
    let mut links = kinds.iter().filter_map(|kind| kind.href.clone());
    // With several named schemas one link would be a lie.
    let href = match (links.next(), links.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    };
    Kind {
        text: words.join(" or "),
        href,
    }
}

/// `type` is a name or, since OpenAPI 3.1, a list of names.
fn type_names(schema: &Value) -> Vec<String> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name.clone()],
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::kind;

    #[test]
    fn types_are_told_in_words() {
        let text = |schema| kind(&schema).text;
        assert_eq!(
            text(json!({"type": "string", "format": "date-time"})),
            "string (date-time)"
        );
        assert_eq!(text(json!({"type": ["string", "null"]})), "string or null");
        assert_eq!(
            text(json!({"type": "array", "items": {"$ref": "#/components/schemas/Match"}})),
            "list of Match"
        );
        assert_eq!(
            text(json!({"type": "object", "additionalProperties": {"type": "string"}})),
            "object of string"
        );
        assert_eq!(text(json!({})), "");
    }

    #[test]
    fn a_nullable_reference_links_to_its_schema() {
        let schema = json!({"oneOf": [{"type": "null"}, {"$ref": "#/components/schemas/a.B"}]});
        assert_eq!(kind(&schema).text, "null or a.B");
        assert_eq!(kind(&schema).href.as_deref(), Some("#schema-a-B"));
    }

    #[test]
    fn nested_types_end_somewhere() {
        let mut schema = json!({"type": "string"});
        for _ in 0..50 {
            schema = json!({"type": "array", "items": schema});
        }
        assert!(kind(&schema).text.ends_with('…'));
    }
}
