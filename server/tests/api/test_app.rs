//! A whole server for one test: its own database in its own folder, a clock that stands still, any free port.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Once;

use kb_core::verdict::Verdict;
use peerless::clock::{FixedClock, SystemRandom};
use peerless::config::{DataArgs, OidcArgs, PolicyArgs, ServeArgs, TellArgs};
use peerless::domain::tokens;
use peerless::startup::{Application, Environment, Seeds, StartupError};
use peerless::store::{By, Causes, Hardware, NewReport, Origin, Scope, SeedRecord, Store, Weight};
use peerless::telemetry::LogFormat;
use peerless::web::body::Patience;
use reqwest::{Method, RequestBuilder, Response};
use tempfile::TempDir;
use time::OffsetDateTime;
use time::macros::datetime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// What the clock of a test says.
pub const NOW: OffsetDateTime = datetime!(2026-01-02 03:04:05 UTC);

pub struct TestApp {
    pub url: String,
    pub port: u16,
    pub folder: TempDir,
    pub clock: Arc<FixedClock>,
    pub store: Arc<dyn Store>,
    /// Key of the link that makes the first administrator.
    pub first_admin: Option<String>,
    pub state: actix_web::web::Data<peerless::web::state::AppState>,
    client: reqwest::Client,
    stop: Option<oneshot::Sender<()>>,
    running: JoinHandle<Result<(), StartupError>>,
}

/// How a test's server differs from the usual.
pub struct Options {
    pub seeds: Vec<SeedRecord>,
    pub settings: ServeArgs,
    pub patience: Patience,
}

impl Options {
    pub fn new(folder: &TempDir) -> Self {
        Self {
            seeds: given_records(),
            settings: settings(folder.path().to_owned()),
            patience: Patience::default(),
        }
    }
}

/// The two records that the project was given: what tests say of lists and numbers must not change with each new one.
pub fn given_records() -> Vec<SeedRecord> {
    let given = [
        "cuda/peer-access-unsupported-by-hardware",
        "tensorflow/gpu-peer-access-error",
    ];
    let mut seeds = peerless::bundle::embedded().unwrap();
    seeds.retain(|seed| given.contains(&seed.id.as_str()));
    assert_eq!(seeds.len(), given.len());
    seeds
}

/// Settings for a server in `data_dir`, without a limit on the rate.
pub fn settings(data_dir: PathBuf) -> ServeArgs {
    ServeArgs {
        listen: "127.0.0.1:0".to_owned(),
        data: DataArgs {
            data_dir,
            database: None,
            sqlite_max_bytes: None,
        },
        public_url: None,
        trusted_proxies: Vec::new(),
        public_fleet: false,
        demo: false,
        enrol_only: false,
        anonymous_writing: false,
        insecure_login: false,
        login_header: None,
        oidc: OidcArgs::default(),
        tell: TellArgs::default(),
        policy: PolicyArgs::default(),
        rate_limit: 0,
        workers: Some(1),
        without_shipped: false,
        tab: None,
        log: LogFormat::Text,
    }
}

/// reqwest is built without a TLS provider of its own.
pub fn client() -> reqwest::Client {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // A server with a provider of OpenID Connect has installed it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .tls_certs_only([])
        .build()
        .unwrap()
}

impl TestApp {
    /// Keeps a report whose body cannot be read.
    pub async fn keep_damaged_report(&self, node: &str, id: &str) {
        let report = NewReport {
            node: node.parse().unwrap(),
            id: id.parse().unwrap(),
            hostname: None,
            body_zstd: b"no zstd".to_vec(),
            body_sha256: format!("{:064}", 1),
            body_bytes: 4096,
            finished_at: NOW,
            received_at: NOW,
            ended_at: None,
            schema: (1, 0),
            simulated: false,
            verdict: Verdict::Healthy,
            weight: Weight::Proof,
            origin: Origin::Run,
            reason: "every check passed".to_owned(),
            gpus: 2,
            measurements: Vec::new(),
            machine: None,
            causes: Causes::default(),
            judged: None,
            hardware: Hardware::default(),
            facets: None,
            baseline: None,
            found: None,
        };
        self.store.save_report(report).await.unwrap();
    }

    /// The usual server, with the two given records.
    pub async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    /// A server that differs.
    pub async fn start_with(change: impl FnOnce(&mut Options)) -> Self {
        let folder = TempDir::new().unwrap();
        let mut options = Options::new(&folder);
        change(&mut options);
        Self::start_in(folder, options).await
    }

    /// A server in a folder that may have been used before.
    pub async fn start_in(folder: TempDir, options: Options) -> Self {
        let clock = Arc::new(FixedClock::at(NOW));
        let environment = Environment {
            clock: clock.clone(),
            random: Arc::new(SystemRandom),
            seeds: Seeds::These(options.seeds),
            patience: options.patience,
        };
        let application = Application::build(&options.settings, environment).await.unwrap();
        let port = application.port();
        let state = application.state();
        let first_admin = application.first_admin().map(str::to_owned);
        let store = Arc::clone(&state.store);
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn(application.run_until_stopped(async {
            let _ = stopped.await;
        }));
        Self {
            url: format!("http://127.0.0.1:{port}"),
            port,
            folder,
            clock,
            store,
            first_admin,
            state,
            client: client(),
            stop: Some(stop),
            running,
        }
    }

    /// Waits for the index, without which the server is not ready.
    pub fn wait_for_index(&self) {
        assert!(!self.state.knowledge.current().index.is_empty());
    }

    /// Stops the server and gives its folder back.
    pub async fn stop(mut self) -> TempDir {
        let _ = self.stop.take().unwrap().send(());
        self.running.await.unwrap().unwrap();
        self.folder
    }

    /// A token with these scopes.
    pub async fn token(&self, scopes: &[Scope]) -> String {
        self.token_until(scopes, None).await
    }

    /// A token that ends.
    pub async fn token_until(&self, scopes: &[Scope], ends: Option<OffsetDateTime>) -> String {
        let by = By::system("test");
        let issued = tokens::issue(
            self.store.as_ref(),
            &SystemRandom,
            tokens::Wanted {
                name: "tester".to_owned(),
                scopes: scopes.to_vec(),
                expires_at: ends,
                ..tokens::Wanted::default()
            },
            &by,
            NOW,
        );
        issued.await.unwrap().text
    }

    /// Any request.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url))
    }

    pub async fn get(&self, path: &str) -> Response {
        self.request(Method::GET, path).send().await.unwrap()
    }

    pub async fn get_with(&self, path: &str, token: &str) -> Response {
        self.request(Method::GET, path)
            .bearer_auth(token)
            .send()
            .await
            .unwrap()
    }

    pub async fn get_json(&self, path: &str) -> serde_json::Value {
        let response = self.get(path).await;
        assert!(response.status().is_success(), "{path}: {}", response.status());
        json(response).await
    }

    pub fn put(&self, path: &str, token: &str) -> RequestBuilder {
        self.request(Method::PUT, path)
            .bearer_auth(token)
            .header("content-type", "application/json")
    }

    pub fn post(&self, path: &str) -> RequestBuilder {
        self.request(Method::POST, path)
    }
}

/// The body as JSON.
pub async fn json(response: Response) -> serde_json::Value {
    serde_json::from_slice(&response.bytes().await.unwrap()).unwrap()
}

/// Asserts a problem: status, code, media type; gives the body.
pub async fn problem(response: Response, status: u16, code: &str) -> serde_json::Value {
    let (found, kind) = (
        response.status().as_u16(),
        response.headers().get("content-type").cloned(),
    );
    let body = response.bytes().await.unwrap();
    let text = String::from_utf8_lossy(&body).into_owned();
    assert_eq!(found, status, "{text}");
    assert_eq!(kind.unwrap(), "application/problem+json", "{text}");
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["code"], code, "{text}");
    assert_eq!(body["status"], status, "{text}");
    body
}
