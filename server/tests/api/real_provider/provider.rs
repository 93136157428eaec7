//! The provider: a process that says on its standard error where it listens.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};

use peerless::clock::{Clock as _, SystemClock};
use peerless::config::{OidcArgs, RoleOf};
use reqwest::{Client, Url};
use serde_json::{Value, json};

use super::Begun;
use crate::browser::url_encoded;
use crate::test_app::{TestApp, client};

/// Where the provider sends browsers back to. Tests take them to the port of their own server.
pub(super) const PUBLIC: &str = "http://127.0.0.1:1";
pub(super) const ADA: &str = "subject-of-ada";
pub(super) const EVE: &str = "subject-of-eve";

/// A provider in a process of its own; killed when dropped.
pub(super) struct Provider {
    child: Child,
    /// Kept, for the provider writes to it until its end.
    _log: BufReader<ChildStderr>,
    pub(super) url: String,
    pub(super) client: Client,
}

/// What the provider knows a server by.
#[derive(Clone)]
pub(super) struct Registered {
    pub(super) id: String,
    pub(super) secret: String,
}

impl Provider {
    pub(super) fn start() -> Self {
        Self::start_with(&["--port", "0", "--require-registration", "true"])
    }

    /// One that takes every server for one that it knows.
    pub(super) fn lenient(port: &str) -> Self {
        Self::start_with(&["--port", port])
    }

    fn start_with(arguments: &[&str]) -> Self {
        let program = std::env::var("PEERLESS_TEST_OIDC_PROVIDER").expect("run this with `cargo xtask oidc`");
        let ada = json!({
            "sub": ADA,
            "preferred_username": "ada",
            "name": "Ada Lovelace",
            "email": "ada@example.org",
            "groups": ["everybody", "kb-editors", "gpu-ops"],
        });
        let eve = json!({ "sub": EVE, "preferred_username": "eve", "groups": ["everybody"] });
        let mut child = Command::new(program)
            .args(arguments)
            .args(["--require-nonce", "true"])
            .args([
                "--user-claims",
                &ada.to_string(),
                "--user-claims",
                &eve.to_string(),
            ])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut told = String::new();
        let url = loop {
            let start = told.len();
            assert!(
                log.read_line(&mut told).unwrap() > 0,
                "the provider did not start: {told}"
            );
            let line = told.get(start..).unwrap();
            if let Some((_, rest)) = line.split_once("running on ") {
                break rest.split_whitespace().next().unwrap().to_owned();
            }
        };
        Self {
            child,
            _log: log,
            url,
            client: client(),
        }
    }

    pub(super) fn port(&self) -> String {
        Url::parse(&self.url).unwrap().port().unwrap().to_string()
    }

    pub(super) async fn register(&self) -> Registered {
        let asked = json!({ "redirect_uris": [format!("{PUBLIC}/login/oidc/done")] });
        let request = self.client.post(format!("{}/oauth2/clients", self.url));
        let answer = request
            .header("content-type", "application/json")
            .body(asked.to_string());
        let answer = answer.send().await.unwrap().text().await.unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let text = |name: &str| answer[name].as_str().unwrap().to_owned();
        Registered {
            id: text("client_id"),
            secret: text("client_secret"),
        }
    }

    /// A server that sends people to this provider. Its clock is right, for the provider's is.
    pub(super) async fn app(&self, registered: &Registered) -> TestApp {
        self.app_with(registered, |_| {}).await
    }

    pub(super) async fn app_with(
        &self,
        registered: &Registered,
        change: impl FnOnce(&mut OidcArgs),
    ) -> TestApp {
        let (issuer, registered) = (self.url.clone(), registered.clone());
        let meaning = |value: &str, role: &str| RoleOf {
            value: value.to_owned(),
            role: role.to_owned(),
        };
        let app = TestApp::start_with(move |options| {
            let secret = options.settings.data.data_dir.join("secret");
            std::fs::write(&secret, registered.secret).unwrap();
            options.settings.public_url = Some(PUBLIC.to_owned());
            options.settings.oidc = OidcArgs {
                issuer: Some(issuer),
                client_id: Some(registered.id),
                client_secret_file: Some(secret),
                role_claim: Some("groups".to_owned()),
                roles: vec![meaning("kb-editors", "editor"), meaning("gpu-ops", "operator")],
                ..OidcArgs::default()
            };
            change(&mut options.settings.oidc);
        });
        let app = app.await;
        app.clock.set(SystemClock.now());
        app
    }

    /// What somebody answers on the provider's own page, to which `begun` leads; gives the way back.
    pub(super) async fn answers(&self, begun: &Begun, field: (&str, &str)) -> String {
        let shown = self.client.get(begun.address.clone()).send().await.unwrap();
        assert_eq!(shown.status(), 200, "{}", shown.text().await.unwrap());
        let sent = self
            .client
            .post(begun.address.clone())
            .header("content-type", "application/x-www-form-urlencoded")
            .body(url_encoded(&[field]));
        let sent = sent.send().await.unwrap();
        assert_eq!(sent.status(), 302, "{}", sent.text().await.unwrap());
        let back = sent.headers()["location"].to_str().unwrap();
        let path = back
            .strip_prefix(PUBLIC)
            .unwrap_or_else(|| panic!("led to {back}"));
        path.to_owned()
    }

    pub(super) async fn agrees(&self, begun: &Begun, subject: &str) -> String {
        self.answers(begun, ("sub", subject)).await
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        // Ended already, perhaps.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
