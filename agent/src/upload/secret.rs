//! The token that goes out with a request, and is in no message.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use reqwest::header::HeaderValue;
use serde_json::Value;

use super::ConfigurationError;

const WITHHELD: &str = "(withheld)";

#[derive(Clone)]
struct Held {
    token: String,
    header: HeaderValue,
}

/// None where the request has no token.
#[derive(Clone, Default)]
pub(super) struct Secret(Option<Held>);

impl Secret {
    /// From the file, else from the environment, else none. Its value is in no message.
    pub(super) fn read(file: Option<&Path>) -> Result<Self, ConfigurationError> {
        let refused = |why: String| match file {
            Some(path) => ConfigurationError::File {
                option: "--token-file",
                path: path.to_owned(),
                why,
            },
            None => ConfigurationError::Token { why },
        };
        let text = match file {
            Some(path) => std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?,
            None => match std::env::var("PEERLESS_TOKEN") {
                Ok(text) => text,
                Err(std::env::VarError::NotPresent) => return Ok(Self::default()),
                Err(error) => return Err(refused(error.to_string())),
            },
        };
        let text = text.trim();
        if text.is_empty() {
            return Err(refused("it is empty".to_owned()));
        }
        let mut header = HeaderValue::from_str(&format!("Bearer {text}"))
            .map_err(|_| refused("it holds characters that no token has".to_owned()))?;
        header.set_sensitive(true);
        Ok(Self(Some(Held {
            token: text.to_owned(),
            header,
        })))
    }

    pub(super) fn header(&self) -> Option<&HeaderValue> {
        self.0.as_ref().map(|held| &held.header)
    }

    pub(super) fn withheld(&self, text: &str) -> String {
        match &self.0 {
            Some(held) => text.replace(&held.token, WITHHELD),
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

/// A token that every user of the node can read is everybody's.
pub(super) fn read_by_others(file: &Path) -> Option<String> {
    const OTHERS_READ: u32 = 0o004;
    let mode = std::fs::metadata(file).ok()?.permissions().mode();
    (mode & OTHERS_READ != 0).then(|| {
        let file = file.display();
        format!("--token-file {file} can be read by every user: chmod 600 {file}, and make a new token")
    })
}

#[cfg(test)]
mod tests {
    use super::super::Uploader;
    use super::*;

    #[test]
    fn a_token_that_others_can_read_is_warned_of() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, "abc").unwrap();
        let warned = |mode: u32, server: &str| {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            Uploader::new(server, Some(&file), None)
                .unwrap()
                .warnings()
                .join("; ")
        };
        assert_eq!(warned(0o600, "http://127.0.0.1:9"), "");
        assert!(warned(0o644, "http://127.0.0.1:9").contains("chmod 600"));
        assert!(warned(0o600, "http://kb.example").contains("plain http"));
    }
}
