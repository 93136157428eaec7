//! Sending alerts to Alertmanager.

use serde_json::Value;

use super::WebhookError;
use super::client::Client;
use crate::config::TellArgs;

/// Alerts in one request.
const AT_ONCE: usize = 500;
const PATH: &str = "/api/v2/alerts";

/// The Alertmanagers of the settings: each is told all, as their documentation asks.
pub struct Alertmanagers(Vec<Client>);

impl std::fmt::Debug for Alertmanagers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Alertmanagers({})", self.0.len())
    }
}

impl Alertmanagers {
    /// None where the settings name none. Nothing is sent yet.
    pub fn of(settings: &TellArgs) -> Result<Option<Self>, WebhookError> {
        let client = |url: &String| {
            let url = format!("{}{PATH}", url.trim_end_matches('/'));
            Client::new(&url).map_err(|why| WebhookError::Address("--alertmanager", why))
        };
        let clients: Vec<Client> = settings
            .alertmanager
            .iter()
            .map(client)
            .collect::<Result<_, _>>()?;
        Ok(Some(Self(clients)).filter(|all| !all.0.is_empty()))
    }

    /// Sends all alerts to each of them: what each answered.
    pub async fn send(&self, alerts: &[Value]) -> Vec<Result<(), String>> {
        let sent = self.0.iter().map(|client| Self::to(client, alerts));
        futures_util::future::join_all(sent).await
    }

    async fn to(client: &Client, alerts: &[Value]) -> Result<(), String> {
        for piece in alerts.chunks(AT_ONCE) {
            let body = serde_json::to_string(piece).map_err(|error| error.to_string())?;
            client.post(&[], body).await?;
        }
        Ok(())
    }
}
