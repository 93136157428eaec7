//! Settings of what is told to other programs.

use std::path::PathBuf;

use clap::Args;

/// Programs that are told what happens.
#[derive(Clone, Default, Args)]
pub struct TellArgs {
    // clap prints a value that it refuses, and an address may hold a key: the parts that use the addresses check them.
    /// Address to which events are posted as signed JSON: reviews, comments and publications of records, and findings of nodes that begin or end
    #[arg(
        id = "webhook",
        long = "webhook",
        env = "PEERLESS_WEBHOOK",
        hide_env_values = true,
        value_name = "URL",
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

    /// Addresses of Alertmanager to which open findings of nodes are sent, separated by commas
    #[arg(
        long = "alertmanager",
        env = "PEERLESS_ALERTMANAGER",
        hide_env_values = true,
        value_name = "URL,…",
        value_delimiter = ','
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_alerts_have_are_refused() {
        assert_eq!(
            label("topology.kubernetes.io/zone"),
            Ok("topology.kubernetes.io/zone".to_owned())
        );
        for wrong in ["", "rack one", "cause", "severity"] {
            assert!(label(wrong).is_err(), "{wrong}");
        }
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
