//! A program that is told by the webhook or as Alertmanager, and keeps what came.

use std::future::{Ready, ready};
use std::io::Write as _;
use std::sync::{Arc, Mutex};

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use peerless::clock::{Clock as _, FixedClock};
use serde_json::Value;
use sha2::Sha256;
use tempfile::NamedTempFile;
use time::Duration;

use crate::process::until;
use crate::test_app::{NOW, Options, TestApp};

const SECRET: &str = "a secret that is long enough";

/// A request that came, with what it was answered.
#[derive(Debug, Clone)]
pub struct Came {
    pub id: String,
    pub status: u16,
    pub is_signed: bool,
    pub path: String,
    pub body: Value,
}

/// The clock that each request moves on, as if the answer took so long.
type Slow = (Arc<FixedClock>, Duration);

/// A program that is told, and answers with these statuses in turn, then with 204.
#[derive(Clone)]
pub struct Receiver {
    came: Arc<Mutex<Vec<Came>>>,
    answers: Arc<Vec<u16>>,
    slow: Arc<Mutex<Option<Slow>>>,
    pub url: String,
}

impl Receiver {
    pub fn start(answers: &[u16]) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let receiver = Self {
            came: Arc::default(),
            answers: Arc::new(answers.to_vec()),
            slow: Arc::default(),
            url: format!("http://{}", listener.local_addr().unwrap()),
        };
        let data = web::Data::new(receiver.clone());
        let server = HttpServer::new(move || {
            App::new()
                .app_data(data.clone())
                .default_service(web::to(Self::take))
        });
        let server = server
            .workers(1)
            .disable_signals()
            .listen(listener)
            .unwrap()
            .run();
        tokio::spawn(server);
        receiver
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "a handler gets what it asks for by value"
    )]
    fn take(receiver: web::Data<Self>, request: HttpRequest, body: String) -> Ready<HttpResponse> {
        let header = |name: &str| {
            let value = request.headers().get(name).map(|value| value.to_str().unwrap());
            value.unwrap_or_default().to_owned()
        };
        let (id, at) = (header("webhook-id"), header("webhook-timestamp"));
        let mut signer = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
        signer.update(format!("{id}.{at}.{body}").as_bytes());
        let signature = format!("v1,{}", STANDARD.encode(signer.finalize().into_bytes()));
        if let Some((clock, delay)) = receiver.slow.lock().unwrap().as_ref() {
            clock.set(clock.now() + *delay);
        }
        let mut came = receiver.came.lock().unwrap();
        let status = receiver.answers.get(came.len()).copied().unwrap_or(204);
        came.push(Came {
            id,
            status,
            is_signed: header("webhook-signature") == signature,
            path: request.uri().to_string(),
            body: serde_json::from_str(&body).unwrap(),
        });
        let status = actix_web::http::StatusCode::from_u16(status).unwrap();
        // Where a redirect leads, this program would take it.
        ready(
            HttpResponse::build(status)
                .insert_header(("location", "/elsewhere"))
                .finish(),
        )
    }

    pub fn came(&self) -> Vec<Came> {
        self.came.lock().unwrap().clone()
    }

    /// From now on each answer takes this long by the server's clock.
    pub fn slow_down(&self, app: &TestApp, delay: Duration) {
        *self.slow.lock().unwrap() = Some((Arc::clone(&app.clock), delay));
    }

    pub fn of_type(&self, kind: &str) -> Vec<Came> {
        let mut came = self.came();
        came.retain(|came| came.body["type"] == kind);
        came
    }

    /// Lets the server's clock go on, so that what waits for its time is due, until so many events were taken.
    pub async fn taken(&self, app: &TestApp, count: usize) -> Vec<Came> {
        let mut minutes = 0;
        until("the events are taken", || {
            minutes += 1;
            app.clock.set(NOW + Duration::minutes(minutes));
            async { self.came().iter().filter(|came| came.status == 204).count() >= count }
        })
        .await;
        self.came()
    }
}

/// A file with the secret.
pub fn secret() -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    writeln!(file, "{SECRET}").unwrap();
    file
}

pub fn set(options: &mut Options, receiver: &Receiver, secret: &NamedTempFile) {
    options.settings.tell.webhook = Some(format!("{}/hook?key=of-the-address", receiver.url));
    options.settings.tell.webhook_secret_file = Some(secret.path().to_owned());
}

/// Waits until what is done from now on is told.
pub async fn begun(app: &TestApp) {
    until("the queue has begun", || async {
        app.store.delivery_state(NOW).await.unwrap().queued_to.is_some()
    })
    .await;
}

/// Waits for a line of the metrics.
pub async fn metric(app: &TestApp, line: &str) {
    until(line, || async {
        let metrics = app.get("/metrics").await.text().await.unwrap();
        metrics.lines().any(|found| found == line)
    })
    .await;
}
