//! Settings of what is told to other programs.

use std::path::PathBuf;

use clap::Args;

/// Programs that are told what happens.
#[derive(Clone, Default, Args)]
pub struct TellArgs {
    /// Address that is told of reviews, comments and publications of records, and of what begins and ends on nodes, as signed JSON
    #[arg(
        id = "webhook",
        long = "webhook",
        env = "PEERLESS_WEBHOOK",
        hide_env_values = true,
        value_name = "URL",
        value_parser = address,
        requires = "webhook_secret_file"
    )]
    pub webhook: Option<String>,

    /// File with the secret that signs what --webhook is sent: at least 24 bytes, as they are or as `whsec_` and base64
    #[arg(
        id = "webhook_secret_file",
        long = "webhook-secret-file",
        env = "PEERLESS_WEBHOOK_SECRET_FILE",
        value_name = "FILE",
        requires = "webhook"
    )]
    pub webhook_secret_file: Option<PathBuf>,

    /// Addresses of Alertmanager that are told what is open on nodes, separated by commas
    #[arg(
        long = "alertmanager",
        env = "PEERLESS_ALERTMANAGER",
        value_name = "URL,…",
        value_delimiter = ',',
        value_parser = plain_address
    )]
    pub alertmanager: Vec<String>,

    /// Labels of nodes that make groups: the webhook and Alertmanager get one message for each cause and group. `node` stands for the
    /// node itself [default: one message for each cause]
    #[arg(
        long = "alert-labels",
        env = "PEERLESS_ALERT_LABELS",
        value_name = "NAME,…",
        value_delimiter = ',',
        value_parser = label
    )]
    pub alert_labels: Vec<String>,
}

/// Labels that every alert has.
const OWN_LABELS: [&str; 5] = ["alertname", "cause", "record", "severity", "action"];

fn label(text: &str) -> Result<String, String> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
    if text.is_empty() || text.len() > 63 || !text.bytes().all(is_name) {
        return Err("write names of labels of nodes, such as rack,site".to_owned());
    }
    if OWN_LABELS.contains(&text) {
        return Err(format!(
            "every alert has a label {text} of its own: choose another label of the nodes"
        ));
    }
    Ok(text.to_owned())
}

/// An address without a query, to which a path is added.
fn plain_address(text: &str) -> Result<String, String> {
    if text.contains('?') {
        return Err(
            "write the address of Alertmanager, such as http://alertmanager:9093, without a ?".to_owned(),
        );
    }
    address(text)
}

impl std::fmt::Debug for TellArgs {
    /// The address may hold a key.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("TellArgs")
            .field("webhook", &self.webhook.as_ref().map(|_| "…"))
            .field("webhook_secret_file", &self.webhook_secret_file)
            .field("alertmanager", &self.alertmanager.len())
            .field("alert_labels", &self.alert_labels)
            .finish()
    }
}

/// An address with scheme and host, perhaps a port, a path and a query.
fn address(text: &str) -> Result<String, String> {
    let told =
        "write an address such as https://chat.example.org/hooks/1, without a user name, a password or a #";
    let parsed: http::Uri = text.parse().map_err(|_| told)?;
    let is_http = matches!(parsed.scheme_str(), Some("http" | "https"));
    let has_host = parsed.host().is_some_and(|host| !host.is_empty());
    let has_user = parsed
        .authority()
        .is_some_and(|authority| authority.as_str().contains('@'));
    if is_http && has_host && !has_user && !text.contains('#') {
        Ok(text.to_owned())
    } else {
        Err(told.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_and_a_host_and_no_user() {
        for right in [
            "https://chat.example.org/hooks/1",
            "http://127.0.0.1:9000",
            "https://[::1]:1/x?key=1",
        ] {
            assert_eq!(address(right), Ok(right.to_owned()));
        }
        for wrong in [
            "",
            "chat.example.org/x",
            "ftp://x/",
            "https://",
            "https://me:secret@x/",
            "https://x/#y",
            "https://x y/",
        ] {
            let told = address(wrong).unwrap_err();
            assert!(
                told.contains("https://chat.example.org") && !told.contains("secret"),
                "{wrong}: {told}"
            );
        }
    }

    #[test]
    fn labels_that_alerts_have_are_refused() {
        assert_eq!(
            label("topology.kubernetes.io/zone"),
            Ok("topology.kubernetes.io/zone".to_owned())
        );
        for wrong in ["", "rack one", "cause", "severity"] {
            assert!(label(wrong).is_err(), "{wrong}");
        }
        assert!(plain_address("http://alertmanager:9093/?x").is_err());
    }

    #[test]
    fn the_address_is_not_printed() {
        let settings = TellArgs {
            webhook: Some("https://x/key".to_owned()),
            ..TellArgs::default()
        };
        assert!(!format!("{settings:?}").contains("key"));
    }
}
