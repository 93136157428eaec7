//! Sending events to the programs that are told: signed, bounded in time, without redirects. Headers and signature are those of
//! <https://www.standardwebhooks.com>, for which there are libraries in most languages.

mod address;
mod alertmanager;
mod client;
mod secret;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use time::OffsetDateTime;

use crate::config::TellArgs;
use crate::domain::tell::Carrier;
use crate::store::Delivery;
pub use alertmanager::Alertmanagers;
use client::Client;
pub use client::NotTaken;

pub struct Webhook {
    client: Client,
    signer: Hmac<Sha256>,
}

#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// The text of the address is not told: it may hold a key.
    #[error("{0}: {1}")]
    Address(&'static str, String),
    #[error("--webhook-secret-file {0}: {1}")]
    Secret(String, String),
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Webhook").finish_non_exhaustive()
    }
}

impl Webhook {
    /// The webhook of the settings, if there is one. Nothing is sent yet.
    pub fn of(settings: &TellArgs) -> Result<Option<Self>, WebhookError> {
        let (Some(url), Some(file)) = (&settings.webhook, &settings.webhook_secret_file) else {
            return Ok(None);
        };
        let refused = |why| WebhookError::Address("--webhook", why);
        address::check(url).map_err(refused)?;
        let told = |why: String| WebhookError::Secret(file.display().to_string(), why);
        let secret = secret::read(file).map_err(told)?;
        Ok(Some(Self {
            client: Client::new(url).map_err(refused)?,
            signer: Hmac::new_from_slice(&secret).map_err(|error| told(error.to_string()))?,
        }))
    }

    fn signature(&self, id: &str, at: i64, body: &str) -> String {
        let mut signer = self.signer.clone();
        signer.update(format!("{id}.{at}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(signer.finalize().into_bytes()))
    }
}

#[async_trait]
impl Carrier for Webhook {
    async fn carry(&self, event: &Delivery, now: OffsetDateTime) -> Result<(), String> {
        let at = now.unix_timestamp();
        let headers = [
            ("webhook-id", event.id.clone()),
            ("webhook-timestamp", at.to_string()),
            ("webhook-signature", self.signature(&event.id, at, &event.body)),
        ];
        let sent = self.client.post(&headers, event.body.clone()).await;
        sent.map_err(|why| why.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(secret: &str) -> Result<Option<Webhook>, WebhookError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), secret).unwrap();
        Webhook::of(&TellArgs {
            webhook: Some("http://127.0.0.1/key-of-the-address".to_owned()),
            webhook_secret_file: Some(file.path().to_owned()),
            ..TellArgs::default()
        })
    }

    #[test]
    fn the_signature_is_that_of_standard_webhooks() {
        // The example of the specification's own libraries.
        let webhook = of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n");
        let signature = webhook.unwrap().unwrap().signature(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            "{\"test\": 2432232314}",
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn the_example_of_the_documentation_is_signed_with_its_secret() {
        let docs = include_str!("../../../../docs/OPERATIONS.md");
        let after = |word: &str| {
            docs.split_once(word)
                .and_then(|(_, rest)| rest.lines().next())
                .unwrap()
        };
        let body = docs.lines().find(|line| line.starts_with("{\"data\":")).unwrap();
        let (id, at) = (after("\nwebhook-id: "), after("\nwebhook-timestamp: "));
        let webhook = of("an example of a webhook secret").unwrap().unwrap();
        let signature = webhook.signature(id, at.parse().unwrap(), body);
        assert_eq!(signature, after("\nwebhook-signature: "));
    }

    #[test]
    fn neither_secret_nor_address_is_printed() {
        for (wrong, why) in [("too short", "24 bytes"), ("whsec_?", "base64"), ("", "24 bytes")] {
            let told = of(wrong).unwrap_err().to_string();
            assert!(told.contains(why) && !told.contains("too short"), "{told}");
        }
        let webhook = of("a secret of more than thirty characters").unwrap();
        let told = format!("{webhook:?}");
        assert!(!told.contains("key-of") && !told.contains("secret"), "{told}");
    }
}
