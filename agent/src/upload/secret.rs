//! The token that goes out with a request, and is in no message.

use reqwest::header::HeaderValue;
use serde_json::Value;

const WITHHELD: &str = "(withheld)";

/// None where the request has no token.
#[derive(Clone, Default)]
pub(super) struct Secret(Option<String>);

impl Secret {
    /// Of the value of the header `Authorization`, with or without its scheme in front.
    pub(super) fn of(authorization: Option<&HeaderValue>) -> Self {
        let value = authorization.and_then(|value| value.to_str().ok());
        let token = value.map(|value| value.split_once(' ').map_or(value, |(_, token)| token).trim());
        Self(token.filter(|token| !token.is_empty()).map(str::to_owned))
    }

    pub(super) fn withheld(&self, text: &str) -> String {
        match &self.0 {
            Some(secret) => text.replace(secret.as_str(), WITHHELD),
            None => text.to_owned(),
        }
    }

    /// The same in each text of a value, where it may have been written in escapes.
    pub(super) fn withhold_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.withheld(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.withhold_in(value)),
            Value::Object(values) => values.values_mut().for_each(|value| self.withhold_in(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(WITHHELD)
    }
}
