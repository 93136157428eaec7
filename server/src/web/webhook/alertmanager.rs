//! Sending alerts to Alertmanager.

use serde_json::Value;

use super::client::{Client, NotTaken};
use super::{WebhookError, address};
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
            let refused = |why| WebhookError::Address("--alertmanager", why);
            address::check_plain(url).map_err(refused)?;
            Client::new(&format!("{}{PATH}", url.trim_end_matches('/'))).map_err(refused)
        };
        let clients: Vec<Client> = settings
            .alertmanager
            .iter()
            .map(client)
            .collect::<Result<_, _>>()?;
        Ok(Some(Self(clients)).filter(|all| !all.0.is_empty()))
    }

    /// Sends all alerts to each of them, an empty list where there are none: what each answered, in the order of the settings.
    pub async fn send(&self, alerts: &[Value]) -> Vec<Result<(), NotTaken>> {
        let sent = self.0.iter().map(|client| Self::to(client, alerts));
        futures_util::future::join_all(sent).await
    }

    async fn to(client: &Client, alerts: &[Value]) -> Result<(), NotTaken> {
        let mut refused = Ok(());
        let nothing = alerts.is_empty().then_some(alerts);
        for piece in alerts.chunks(AT_ONCE).chain(nothing) {
            let body = Value::Array(piece.to_vec()).to_string();
            match client.post(&[], body).await {
                Ok(()) => {}
                // One alert that is refused must not withhold those of other requests.
                Err(answered @ NotTaken::Answered(_)) => refused = Err(answered),
                // Each other request would wait as long for nothing.
                Err(none @ NotTaken::NoAnswer(_)) => return Err(none),
            }
        }
        refused
    }
}
