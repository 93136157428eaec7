//! What led to a finding, as JSON that a person can check: bounded, because a rule may name the whole report.

use cel::Value as Cel;
use cel::objects::Key;
use serde_json::{Map, Value, json};

/// Longest evidence of one finding, in bytes of text and numbers.
const MAX_BYTES: usize = 16 * 1024;
const MAX_DEPTH: usize = 12;
const LEFT_OUT: &str = "…";

#[derive(Debug)]
pub(super) struct Evidence {
    items: Vec<Value>,
    bytes_left: usize,
}

impl Evidence {
    pub(super) fn new() -> Self {
        Self {
            items: Vec::new(),
            bytes_left: MAX_BYTES,
        }
    }

    pub(super) fn pointer(&mut self, pointer: &str, value: &Value) {
        self.items.push(json!({ "pointer": pointer, "value": value }));
    }

    pub(super) fn expression(&mut self, text: &str, value: &Cel) {
        let shown = self.show(value, 0);
        self.items.push(json!({ "expression": text, "value": shown }));
    }

    /// An expression that could not be evaluated. Said, because silence would look like proof.
    pub(super) fn failed(&mut self, text: &str, reason: &str) {
        self.items.push(json!({ "expression": text, "error": reason }));
    }

    pub(super) fn into_json(self) -> String {
        Value::Array(self.items).to_string()
    }

    fn show(&mut self, value: &Cel, depth: usize) -> Value {
        if depth > MAX_DEPTH || !self.spend(4) {
            return json!(LEFT_OUT);
        }
        match value {
            Cel::Null => Value::Null,
            Cel::Bool(bool) => json!(bool),
            Cel::Int(number) => json!(number),
            Cel::UInt(number) => json!(number),
            Cel::Float(number) => json!(number),
            Cel::String(text) if self.spend(text.len()) => json!(text.as_str()),
            Cel::List(items) => {
                let mut shown = Vec::new();
                for item in items.iter() {
                    if self.bytes_left == 0 {
                        shown.push(json!(LEFT_OUT));
                        break;
                    }
                    shown.push(self.show(item, depth + 1));
                }
                Value::Array(shown)
            }
            Cel::Map(map) => {
                let mut members: Vec<(String, &Cel)> = map
                    .map
                    .iter()
                    .map(|(key, value)| (key_text(key), value))
                    .collect();
                members.sort_by(|(a, _), (b, _)| a.cmp(b));
                let mut shown = Map::new();
                for (key, value) in members {
                    if self.bytes_left == 0 {
                        shown.insert(LEFT_OUT.to_owned(), json!(LEFT_OUT));
                        break;
                    }
                    let value = self.show(value, depth + 1);
                    shown.insert(key, value);
                }
                Value::Object(shown)
            }
            _ => json!(LEFT_OUT),
        }
    }

    /// Takes bytes off what is left; false, and nothing left, when there are too few.
    fn spend(&mut self, bytes: usize) -> bool {
        let left = self.bytes_left.checked_sub(bytes);
        self.bytes_left = left.unwrap_or(0);
        left.is_some()
    }
}

fn key_text(key: &Key) -> String {
    match key {
        Key::Int(number) => number.to_string(),
        Key::Uint(number) => number.to_string(),
        Key::Bool(bool) => bool.to_string(),
        Key::String(text) => text.to_string(),
    }
}
